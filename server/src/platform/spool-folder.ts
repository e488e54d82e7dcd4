import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';

// The folder of messages that wait on disk. devices/spool writes and reads it, and operations/doctor checks it.

/**
 * How the name of a segment ends; before that are the time at which its first message was received (Unix milliseconds), the
 * number of its messages, and a UUID.
 */
const SEGMENT_SUFFIX = '.messages';

/** How the name of one message in the former format ends; before that are the time of its receipt and its id. */
const FORMER_SUFFIX = '.message';

/** How the name of a message that was left aside ends. */
export const ASIDE_SUFFIX = '.damaged';

/** The digits of the time in a name. */
const TIME_DIGITS = 15;

export function spoolFolderOf(dataDir: string): string {
  return join(dataDir, 'gateway-spool');
}

/** A name for a new segment. */
export function segmentName(receivedAt: number, messages: number): string {
  return `${String(receivedAt).padStart(TIME_DIGITS, '0')}-${messages}-${randomUUID()}${SEGMENT_SUFFIX}`;
}

/** When the first message of a file was received, in Unix milliseconds. */
export function receivedAtOf(name: string): number {
  return Number(name.slice(0, TIME_DIGITS));
}

export function isFormer(name: string): boolean {
  return name.endsWith(FORMER_SUFFIX);
}

/** The names of the files with messages that wait, in the order of their receipt. */
export async function listWaiting(folder: string): Promise<string[]> {
  const names = (await ignoreErrno(readdir(folder), 'ENOENT', 'EACCES')) ?? [];
  return names.filter((name) => name.endsWith(SEGMENT_SUFFIX) || isFormer(name)).sort();
}

/** The number of messages in files of these names. */
export function countMessages(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (isFormer(name) ? 1 : Number(name.split('-')[1])), 0);
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
  const waiting = await listWaiting(folder);
  return {
    messages: countMessages(waiting),
    bytes,
    oldestAt: waiting[0] === undefined ? null : receivedAtOf(waiting[0]),
    aside: names.filter((name) => name.endsWith(ASIDE_SUFFIX)).length,
  };
}
