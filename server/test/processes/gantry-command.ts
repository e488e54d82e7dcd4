import { execFile } from 'node:child_process';
import { GANTRY } from '../build-programs.ts';

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs `gantry` with only these settings, without a terminal.
 * @param input its standard input
 */
export const runGantry = (
  folder: string,
  settings: Readonly<Record<string, string>>,
  args: readonly string[],
  input = '',
): Promise<Ended> =>
  new Promise((resolve) => {
    const { PATH, HOME } = process.env;
    const child = execFile(
      process.execPath,
      [GANTRY, ...args],
      { cwd: folder, env: { PATH, HOME, ...settings }, maxBuffer: 1 << 26 },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err }),
    );
    child.stdin?.end(input);
  });

/**
 * Runs `gantry` with its standard output lost.
 * @param output where the shell sends it: `| true` or `> /dev/full`
 * @returns what it wrote to standard error, and its exit code at the end, such as `code 0`
 */
export const runGantryWithoutOutput = (
  folder: string,
  settings: Readonly<Record<string, string>>,
  args: readonly string[],
  output: string,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const { PATH, HOME } = process.env;
    const script = `{ "$0" "$@"; echo "code $?" >&3; } 3>&2 ${output}`;
    execFile(
      'sh',
      ['-c', script, process.execPath, GANTRY, ...args],
      { cwd: folder, env: { PATH, HOME, ...settings } },
      (error, _out, err) => (error === null ? resolve(err.trim()) : reject(error)),
    );
  });
