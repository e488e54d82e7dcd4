import type { Connection } from '@gantry/contract/connections';
import type { Core } from '../platform/context.ts';
import type { ListedConnection } from './store.ts';
import { topicsWarning } from './topic.ts';

/** A connection as the API shows it. */
export function connectionView(
  { config }: Pick<Core, 'config'>,
  { deviceId, ...connection }: ListedConnection,
): Connection {
  return { ...connection, topicsWarning: topicsWarning(connection, deviceId, config) };
}
