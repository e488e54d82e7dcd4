import { execFile } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The environment of a benchmark. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  /** Gigabytes, rounded. */
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly postgresql: string;
  /** The commit of the checkout, followed by `+` if files were changed since; `unknown` outside a checkout. */
  readonly commit: string;
}

/** Describes this machine and the software. @param postgresql the version that the database reports */
export async function describeMachine(postgresql: string): Promise<Machine> {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    postgresql,
    commit: await findCommit(),
  };
}

async function findCommit(): Promise<string> {
  try {
    const { stdout: commit } = await run('git', ['rev-parse', '--short=12', 'HEAD']);
    const { stdout: changes } = await run('git', ['status', '--porcelain']);
    return commit.trim() + (changes.trim() === '' ? '' : '+');
  } catch {
    // Unknown without git or a repository; the figures do not depend on it.
    return 'unknown';
  }
}
