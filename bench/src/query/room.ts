import { statfs } from 'node:fs/promises';
import { BenchmarkFailed } from '../failure.ts';

/** What an event takes with its indexes, and what the log of the database takes besides, in bytes. */
const BYTES_PER_EVENT = 1_000;
const LOG_BYTES = 4e9;

/**
 * Makes sure that the disk of a folder has room for so many new events.
 * @throws BenchmarkFailed when it has not, saying how much is needed and how much there is
 */
export async function checkRoom(folder: string, events: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [needed, free] = [events * BYTES_PER_EVENT + LOG_BYTES, bavail * bsize];
  if (events === 0 || needed <= free) return;
  throw new BenchmarkFailed(
    `${events.toLocaleString('en-US')} events need about ${gigabytes(needed)} of disk, and ${folder} has ` +
      `${gigabytes(free)}: ask for fewer with --events, or name another disk with --folder`,
  );
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
