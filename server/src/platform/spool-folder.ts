import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreErrno } from './errno.ts';

// The folder of messages that wait on disk. gateways/spool writes and reads it, and operations/doctor examines it.

/** How the name of a complete message ends; before that are the time of its receipt (Unix milliseconds) and its id. */
export const MESSAGE_SUFFIX = '.message';

/** How the name of a message that was left aside ends. */
export const ASIDE_SUFFIX = '.damaged';

/** The digits of the time in the name of a message. */
export const TIME_DIGITS = 15;

export function spoolFolderOf(dataDir: string): string {
  return join(dataDir, 'gateway-spool');
}

/** What waits in the folder. */
export interface SpoolState {
  readonly messages: number;
  /** The size of all files, which GATEWAY_SPOOL_MB limits. */
  readonly bytes: number;
  /** When the oldest message was received (Unix milliseconds); null if there is none. */
  readonly oldestAt: number | null;
  /** The number of messages that were left aside. */
  readonly aside: number;
}

/** Reads the names and sizes of the files. A folder that does not exist is an empty one. */
export async function readSpoolState(folder: string): Promise<SpoolState> {
  const names = (await ignoreErrno(readdir(folder), 'ENOENT', 'EACCES')) ?? [];
  let bytes = 0;
  for (const name of names) {
    bytes += (await ignoreErrno(stat(join(folder, name)), 'ENOENT', 'EACCES'))?.size ?? 0;
  }
  const messages = names.filter((name) => name.endsWith(MESSAGE_SUFFIX)).sort();
  return {
    messages: messages.length,
    bytes,
    oldestAt: messages[0] === undefined ? null : Number(messages[0].slice(0, TIME_DIGITS)),
    aside: names.filter((name) => name.endsWith(ASIDE_SUFFIX)).length,
  };
}
