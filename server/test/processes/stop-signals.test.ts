import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isAlive } from '@gantry/embedded-postgres/processes';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { copyDataFolder } from '../data-folders.ts';
import { ADMIN, Caller, eventually } from '../harness.ts';
import { lengthOf } from '../test-length.ts';

// `npm start` as in a terminal, in a process group of its own: Ctrl-C reaches the group, and npm forwards it once
// more.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gantry-signals-'));
// If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
chmodSync(scratch, 0o711);

interface Npm {
  readonly process: ChildProcess;
  readonly url: string;
  readonly dataDir: string;
  readonly output: () => string;
  readonly ended: Promise<unknown>;
}

const started: Pick<Npm, 'process'>[] = [];
const { PATH, HOME } = process.env;

const startWithNpm = async (settings: Readonly<Record<string, string>>): Promise<Npm> => {
  const dataDir = join(scratch, randomUUID());
  await copyDataFolder(inject('dataFolderTemplate'), dataDir);
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: {
      PATH,
      HOME,
      PORT: '0',
      DATA_DIR: dataDir,
      ADMIN_PASSWORD: ADMIN.password,
      LOG_LEVEL: 'info',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  started.push({ process: child });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const ended = once(child, 'exit');
  const url = await eventually(
    async () => /listens on ([^\s"]+)/.exec(printed)?.[1] ?? '',
    (found) => found !== '' || child.exitCode !== null,
  );
  if (url === '') throw new Error(`It did not start: ${printed}`);
  return { process: child, url, dataDir, output: () => printed, ended };
};

const postmasterOf = ({ dataDir }: Npm): number =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

const signalGroup = ({ process: { pid } }: Pick<Npm, 'process'>, signal: NodeJS.Signals): void => {
  if (pid !== undefined) process.kill(-pid, signal);
};

const isGroupGone = ({ process: { pid } }: Pick<Npm, 'process'>): boolean => {
  try {
    return !process.kill(-(pid ?? 0), 0);
  } catch {
    return true;
  }
};

/** Sends events until the service refuses them. @param onStored called for each acknowledged one */
const sendUntilRefused = async (caller: Caller, apiKey: string, onStored: () => void): Promise<void> => {
  for (;;) {
    const answer = await caller
      .call('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })
      .catch(() => null);
    if (answer?.status !== 200) return;
    onStored();
  }
};
const STOPPING = 'stopping: finishing accepted requests';

afterAll(async () => {
  for (const npm of started) if (!isGroupGone(npm)) signalGroup(npm, 'SIGKILL');
  await rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

describe.concurrent('npm start', () => {
  const signals = [
    { signal: 'SIGINT', workers: '2' },
    { signal: 'SIGINT', workers: '1' },
    { signal: 'SIGTERM', workers: '2' },
    { signal: 'SIGTERM', workers: '1' },
    { signal: 'SIGHUP', workers: '1' },
  ] as const;
  it.each(signals.slice(0, lengthOf({ gate: 1, full: signals.length })))(
    'finishes and stops PostgreSQL when its group receives $signal under load, with $workers workers',
    async ({ signal, workers }) => {
      const npm = await startWithNpm({ WORKERS: workers });
      const database = postmasterOf(npm);
      const caller = new Caller(npm.url);
      const apiKey = await caller.registerSensor();
      let acknowledged = 0;
      const count = (): void => {
        acknowledged++;
      };
      const sending = Promise.all(Array.from({ length: 8 }, () => sendUntilRefused(caller, apiKey, count)));
      await eventually(
        async () => acknowledged,
        (n) => n > 20,
      );

      signalGroup(npm, signal);
      // As when the keys are pressed again, or when a supervisor also signals the process.
      await sleep(30);
      if (!isGroupGone(npm)) signalGroup(npm, signal);

      await sending;
      await eventually(
        async () => isGroupGone(npm),
        (gone) => gone,
      );
      await eventually(
        () => isAlive(database),
        (alive) => !alive,
      );
      expect(npm.output()).toContain(STOPPING);
      expect(npm.output()).not.toMatch(/EPIPE|cannot start|"level":(50|60)/);
    },
  );

  it('ends at once, with PostgreSQL, on a second signal after two seconds', async () => {
    const npm = await startWithNpm({});
    const database = postmasterOf(npm);
    // A request whose body never arrives delays an orderly end.
    const hanging = fetch(`${npm.url}/trpc/events.ingest`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) }),
      duplex: 'half',
    } as RequestInit).catch(() => null);
    await sleep(300);
    signalGroup(npm, 'SIGTERM');
    await eventually(
      async () => npm.output(),
      (text) => text.includes(STOPPING),
    );
    await sleep(2_500);
    expect(isGroupGone(npm)).toBe(false);
    signalGroup(npm, 'SIGTERM');
    await eventually(
      async () => isGroupGone(npm),
      (gone) => gone,
      // An orderly end would wait 18 seconds for the request.
      10_000,
    );
    await hanging;
    await eventually(
      () => isAlive(database),
      (alive) => !alive,
    );
  });
});
