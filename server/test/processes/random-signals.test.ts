import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { copyDataFolder } from '../data-folders.ts';
import { eventually } from '../harness.ts';
import { lengthOf } from '../test-length.ts';

// `npm start`, asked to stop at a random moment between its first instant and some time after it serves.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LATEST_MS = 9_000;
const scratch = mkdtempSync(join(tmpdir(), 'gantry-random-signals-'));
// If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
chmodSync(scratch, 0o711);
afterAll(() => rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

/** The processes whose command line or environment names the folder: npm, the service, its workers and PostgreSQL. */
const processesOf = async (folder: string): Promise<string[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const read = (name: string): Promise<string> =>
        readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
      const [command, environment, stat] = await Promise.all([
        read('cmdline'),
        read('environ'),
        read('stat'),
      ]);
      const isOver = /\) Z /.test(stat);
      return !isOver && (command.includes(folder) || environment.includes(folder)) ? `${pid} ${command}` : '';
    }),
  );
  return found.filter((each) => each !== '');
};

const CASES = [
  ['SIGINT', '2'],
  ['SIGTERM', '1'],
  ['SIGINT', '1'],
  ['SIGTERM', '2'],
] as const;

describe.skipIf(process.platform !== 'linux')('npm start, asked to stop at a random moment', () => {
  it.concurrent.each(CASES.slice(0, lengthOf({ gate: 2, full: CASES.length })))(
    'leaves no process and prints no stack (%s to its group, %s workers)',
    async (signal, workers) => {
      for (let round = 0; round < lengthOf({ gate: 1, full: 20 }); round++) {
        const dataDir = join(scratch, randomUUID());
        await copyDataFolder(inject('dataFolderTemplate'), dataDir);
        const { PATH, HOME } = process.env;
        const npm = spawn('npm', ['start'], {
          cwd: ROOT,
          env: { PATH, HOME, PORT: '0', DATA_DIR: dataDir, WORKERS: workers },
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
        });
        let output = '';
        for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text) => (output += text));
        const ended = once(npm, 'exit');
        const delay = randomInt(LATEST_MS);
        await sleep(delay);
        process.kill(-(npm.pid ?? 0), signal);
        await ended;
        const left = await eventually(
          () => processesOf(dataDir),
          (pids) => pids.length === 0,
          30_000,
        );
        expect({ delay, left, output }).toMatchObject({
          left: [],
          output: expect.not.stringMatching(/^\s+at .*:\d+|EPIPE|cannot start|did not stop|"level":(50|60)/m),
        });
        await rm(dataDir, { recursive: true, force: true });
      }
    },
    1_200_000,
  );
});
