import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchmarkFailed } from './failure.ts';

/** The number by which Linux identifies a file system in memory. */
const TMPFS = 0x01021994;

/** A new folder on a disk for the data of one run. Disposing removes it. */
export interface WorkFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates a work folder.
 * @param parent the parent folder; /var/tmp by default, which is on a disk even where /tmp is in memory
 * @throws BenchmarkFailed when the parent folder is in memory, where commits are too cheap for meaningful figures
 */
export async function createWorkFolder(parent?: string): Promise<WorkFolder> {
  const home = parent ?? (process.platform === 'win32' ? tmpdir() : '/var/tmp');
  const { type } = await statfs(home);
  if (type === TMPFS) {
    throw new BenchmarkFailed(`${home} is in memory: give a folder on a disk with --folder`);
  }
  const path = await mkdtemp(join(home, 'gantry-bench-'));
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(path, 0o711);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
