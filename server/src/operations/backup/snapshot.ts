import { areEventsDistributed } from '../../platform/database/nodes.ts';
import { pauseEvents, takeSnapshotOfNodes } from '../../platform/database/nodes-snapshot.ts';
import { AppError } from '../../platform/error.ts';
import { type CopyConnection, openCopyConnection } from './connection.ts';
import { beginSnapshot, beginTransaction } from './exclusion-store.ts';
import { BackupRefused } from './refusal.ts';

/**
 * Begins the transaction of a backup on the connection. On a cluster, storing of events pauses for some milliseconds,
 * until every node has its snapshot.
 * @returns whether events are distributed over the nodes of a cluster
 * @throws BackupRefused when the nodes cannot be read as of one moment
 */
export async function takeSnapshot(
  { client, db }: CopyConnection,
  connectionString: string,
): Promise<boolean> {
  const isDistributed = await areEventsDistributed(db);
  if (!isDistributed) {
    await beginSnapshot(client);
    return false;
  }
  // Closing the connection ends the pause.
  await using pause = await openCopyConnection(connectionString);
  await beginTransaction(pause.client);
  try {
    await pauseEvents(pause.db);
  } catch (error) {
    throw error instanceof AppError ? new BackupRefused(error.message, { cause: error }) : error;
  }
  await beginSnapshot(client);
  await takeSnapshotOfNodes(db);
  return true;
}
