import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchmarkFailed } from './failure.ts';

/** The number by which Linux tells that a folder is in memory, not on a disk. */
const TMPFS = 0x01021994;

/** A new folder on a disk, for the data of one run. Disposing removes it. */
export interface WorkFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * @param parent where to make it; /var/tmp by default, which is on a disk where /tmp may be in memory
 * @throws BenchmarkFailed when that is no disk, because a commit there costs nothing and the figures would mean nothing
 */
export async function createWorkFolder(parent?: string): Promise<WorkFolder> {
  const home = parent ?? (process.platform === 'win32' ? tmpdir() : '/var/tmp');
  const { type } = await statfs(home);
  if (type === TMPFS) {
    throw new BenchmarkFailed(`${home} is in memory: name a folder on a disk with --folder`);
  }
  const path = await mkdtemp(join(home, 'gantry-bench-'));
  // Run by root, PostgreSQL is another user, who must be able to enter.
  await chmod(path, 0o711);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
