import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { distribute } from '../../src/platform/database/distribute/distribute.ts';
import { GANTRY } from '../build-programs.ts';

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs the command with only these settings in an empty folder, and checks that it leaves nothing there. */
export const runCommand = async (settings: Record<string, string>, ...args: string[]): Promise<Ended> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-distribute-'));
  const { PATH, HOME } = process.env;
  const ended = await new Promise<Ended>((resolve) => {
    const child = execFile(
      process.execPath,
      [GANTRY, 'db', 'distribute', ...args],
      { cwd: folder, env: { PATH, HOME, ...settings } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
  return ended;
};

/** Distributes a database in this process. @returns the output of the command */
export const runDistribution = async (
  { url }: { url: string },
  { shards = null, isDryRun = false }: { shards?: number | null; isDryRun?: boolean } = {},
): Promise<string> => {
  const lines: string[] = [];
  await distribute({ connectionString: url, shards, isDryRun, say: (line) => lines.push(line) });
  return lines.join('\n');
};
