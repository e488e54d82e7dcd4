import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** A file system in memory, which Linux offers. */
const MEMORY = '/dev/shm';
/** The free space that is required, in bytes. A run needs only part of it. */
const ENOUGH_BYTES = 6 * 1024 ** 3;

/** Whether there is a file system in memory with enough room, from which programs may be executed. */
const isUsable = async (): Promise<boolean> => {
  const found = await statfs(MEMORY).catch(() => null);
  if (found === null || found.bavail * found.bsize < ENOUGH_BYTES) return false;
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  const options = mounts.findLast(([, folder]) => folder === MEMORY)?.[3] ?? 'noexec';
  return !options.split(',').includes('noexec');
};

/**
 * Moves the temporary folder of a run into memory if that is possible: databases and data folders are copied hundreds
 * of times, which takes a third of the processor time there.
 * @returns a function that removes the folder and restores TMPDIR
 */
export const moveTemporaryFolder = async (): Promise<() => Promise<void>> => {
  const before = process.env.TMPDIR;
  if (!(await isUsable())) return async () => undefined;
  const folder = await mkdtemp(join(MEMORY, 'gantry-tests-'));
  // If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
  await chmod(folder, 0o711);
  process.env.TMPDIR = folder;
  return async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
};
