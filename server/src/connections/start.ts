import { channels } from '../platform/database/notify.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import { type ConnectionDirectory, createDirectory } from './directory.ts';
import { findByTokenHash, findByUsername, findConnection, listKnownConnections } from './store.ts';

/** The services of this room. */
export interface ConnectionServices {
  readonly connections: ConnectionDirectory;
}

export async function startConnections(foundation: Foundation): Promise<ConnectionServices> {
  const { devices } = foundation.core;
  const connections = await createDirectory({
    load: () => listKnownConnections(devices),
    findByToken: (tokenHash) => findByTokenHash(devices, tokenHash),
    findByUsername: (username) => findByUsername(devices, username),
    findById: (id) => findConnection(devices, id),
  });
  keepFresh(foundation, channels.connections, connections.refresh, 'the connections could not be read again');
  return { connections };
}
