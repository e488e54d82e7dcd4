import { statfs } from 'node:fs/promises';
import { BenchmarkFailed } from '../failure.ts';

/** The space for an event with its indexes, and for the WAL, in bytes. */
const BYTES_PER_EVENT = 1_000;
const LOG_BYTES = 4e9;

/**
 * Checks that the disk of a folder has room for the new events.
 * @throws BenchmarkFailed with the required and the available space if it has not
 */
export async function checkRoom(folder: string, events: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [needed, free] = [events * BYTES_PER_EVENT + LOG_BYTES, bavail * bsize];
  if (events === 0 || needed <= free) return;
  throw new BenchmarkFailed(
    `${events.toLocaleString('en-US')} events need about ${gigabytes(needed)} of disk, and ${folder} has ` +
      `${gigabytes(free)}: request fewer with --events, or give another disk with --folder`,
  );
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
