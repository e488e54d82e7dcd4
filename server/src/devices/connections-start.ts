import { EventEmitter } from 'node:events';
import { Mapper } from '@gantry/device-formats/mapper';
import { channels } from '../platform/database/notify.ts';
import { mappingProgram } from '../platform/installation.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import { type ConnectionDirectory, createDirectory } from './directory.ts';
import { findByTokenHash, findByUsername, findConnection, listKnownConnections } from './store.ts';

/**
 * Announces that messages are due, or that messages of a connection have changed. A null id means any connection: it
 * follows a gap in the notifications.
 */
export type MessageSignals = EventEmitter<{ due: []; changed: [connectionId: string | null] }>;

/** The services of this module. */
export interface ConnectionServices {
  readonly connections: ConnectionDirectory;
  readonly mapper: Mapper;
  readonly messageSignals: MessageSignals;
}

export async function startConnections(foundation: Foundation): Promise<ConnectionServices> {
  const { devices } = foundation.core;
  const connections = await createDirectory({
    load: () => listKnownConnections(devices),
    findByToken: (tokenHash) => findByTokenHash(devices, tokenHash),
    findByUsername: (username) => findByUsername(devices, username),
    findById: (id) => findConnection(devices, id),
  });
  keepFresh(foundation, channels.connections, connections.refresh, 'the connections could not be reloaded');
  const mapper = new Mapper(mappingProgram);
  foundation.resources.onClose(() => mapper[Symbol.dispose]());

  // Every open stream of messages adds a listener, so their number is not limited here.
  const messageSignals: MessageSignals = new EventEmitter({ captureRejections: false });
  messageSignals.setMaxListeners(0);
  foundation.listener.on(
    channels.messages,
    (connectionId) => {
      if (connectionId === '') messageSignals.emit('due');
      else messageSignals.emit('changed', connectionId);
    },
    () => {
      messageSignals.emit('due');
      messageSignals.emit('changed', null);
    },
  );
  return { connections, mapper, messageSignals };
}
