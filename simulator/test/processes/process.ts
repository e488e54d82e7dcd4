import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { GANTRY } from '../../../server/test/build-programs.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A program of the simulator in a process of its own. */
export interface Run {
  /** Its output so far, on standard output and standard error. */
  text(): string;
  /** Resolves when it has written the expected text; fails when it ends without it. */
  until(pattern: RegExp): Promise<string>;
  interrupt(): void;
  /** Resolves with its exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Starts a program without the service's environment variables, in a folder that may have a `.env`. */
export const run = (
  program: 'simulate' | 'demo',
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = ROOT,
): Run => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [GANTRY, program, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  const watchers = new Set<() => void>();
  const hear = (chunk: Buffer): void => {
    written += chunk.toString();
    for (const watcher of watchers) watcher();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));

  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(written);
        if (!match) return;
        watchers.delete(look);
        resolve(match[1] ?? match[0]);
      };
      watchers.add(look);
      void ended.then(() => reject(new Error(`It ended without ${pattern}:\n${written}`)));
      look();
    });

  return { text: () => written, until, ended, interrupt: () => child.kill('SIGINT') };
};
