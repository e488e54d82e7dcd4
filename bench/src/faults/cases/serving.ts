import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { query } from '../../database.ts';
import { findFreePort } from '../../free-port.ts';
import type { Fault, Scene } from '../fault.ts';
import { ADMIN, createTarget, type Target } from '../target.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Time limit for a service to stop, in milliseconds. */
const STOP_MS = 25_000;

/** A stream of events of type INCIDENT, as used by a screen in a control room. */
interface Screen {
  readonly messages: number;
  readonly isOpen: boolean;
  close(): void;
}

async function openScreen(
  url: string,
  token: string,
  lastEventId: string | null,
): Promise<Screen & { lastId: string | null }> {
  const leaving = new AbortController();
  const input = encodeURIComponent(JSON.stringify({ json: { eventType: 'INCIDENT' } }));
  const response = await fetch(`${url}/trpc/events.onIngested?input=${input}`, {
    signal: leaving.signal,
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...(lastEventId !== null && { 'last-event-id': lastEventId }),
    },
  });
  if (response.status !== 200) throw new Error(`A stream was answered ${response.status}`);
  const screen = { messages: 0, isOpen: true, lastId: lastEventId, close: () => leaving.abort() };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      for (const line of decoder.decode(chunk, { stream: true }).split('\n'))
        if (line.startsWith('id:')) {
          screen.messages++;
          screen.lastId = line.slice(3).trim();
        }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      screen.isOpen = false;
    });
  return screen;
}

async function readToken(response: Response): Promise<string> {
  return String(JSON.parse(await response.text()).result.data.json.token);
}

/** Tokens of several users, each of whom may open a limited number of streams. */
async function tokensOfUsers({ client, target }: Scene, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < count; n++) {
    const email = `screen-${n}@gantry.local`;
    await client.api.users.create.mutate({
      email,
      password: ADMIN.password,
      firstName: 'Screen',
      lastName: String(n),
      role: 'VIEWER',
    });
    const response = await fetch(`${target.url}/trpc/auth.login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ json: { email, password: ADMIN.password } }),
    });
    tokens.push(await readToken(response));
  }
  return tokens;
}

/** Copies a folder with owners and links, which the database requires. */
function copy(from: string, to: string) {
  return promisify(execFile)('cp', ['-a', from, to]);
}

/** A copy of the program with one more migration, like a newer version. */
async function makeNewerVersion(folder: string): Promise<string> {
  const server = join(folder, 'newer', 'server');
  await mkdir(server, { recursive: true });
  for (const part of ['dist', 'migrations', 'package.json'])
    await cp(join(ROOT, 'server', part), join(server, part), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'newer', 'node_modules'));
  const own = await readdir(join(ROOT, 'server')).then((names) => names.includes('node_modules'));
  if (own) await symlink(join(ROOT, 'server', 'node_modules'), join(server, 'node_modules'));
  await writeFile(
    join(server, 'migrations', '9999-trial.sql'),
    'ALTER TABLE sensors ADD COLUMN trial integer;\nALTER TABLE events ADD COLUMN trial integer;\n',
  );
  return join(server, 'dist', 'main.js');
}

const STREAMS = { users: 40, ofEach: 50 };
const OPENED_AT_ONCE = 100;

/**
 * Time limit for every stream to receive a message after all were opened, in milliseconds. It takes half a second
 * when the two cores are shared with as much other work; with ten times as much, the processes get hardly any time.
 */
const MESSAGE_WITHIN_MS = 10_000;

/**
 * Waits until every stream has received a message, up to the time limit.
 * @returns the number of streams that have not
 */
async function countWaiting(screens: readonly Screen[]): Promise<number> {
  const deadline = performance.now() + MESSAGE_WITHIN_MS;
  for (;;) {
    const waiting = screens.filter(({ messages }) => messages === 0).length;
    if (waiting === 0 || performance.now() > deadline) return waiting;
    await sleep(50);
  }
}

export const serving: readonly Fault[] = [
  {
    name: 'sigterm',
    title:
      'SIGTERM under load with 30 open streams: ready fails first, what is in flight is answered, exit within 25 s',
    recoversWithin: 10,
    isQuick: false,
    async run({ target, client, breach }) {
      const token = client.token ?? '';
      await Promise.all(Array.from({ length: 30 }, () => openScreen(target.url, token, null)));
      await sleep(500);
      const seen: string[] = [];
      let watching = true;
      const watch = async (): Promise<void> => {
        while (watching) {
          const status = await fetch(`${target.url}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
            (response) => String(response.status),
            () => 'refused',
          );
          if (seen.at(-1) !== status) seen.push(status);
          await sleep(10);
        }
      };
      const watcher = watch();
      const { ended, ms } = await target.stop();
      watching = false;
      await watcher;
      if (ended !== 0) breach(`asked to stop, the service ended with ${ended}`);
      if (ms > STOP_MS) breach(`asked to stop, the service took ${(ms / 1000).toFixed(1)} s`);
      if (!seen.includes('503'))
        breach(`/ready said ${seen.join(', ')} while the service stopped, and never 503`);
      await target.start();
    },
  },
  {
    name: 'rolling',
    title: 'two processes restarted in turn behind a round-robin proxy',
    recoversWithin: 10,
    isQuick: false,
    proxies: true,
    isDouble: true,
    async run({ target, second, breach }) {
      if (!second) return;
      for (let round = 0; round < 2; round++) {
        for (const process of [target, second]) {
          const { ended, ms } = await process.stop();
          if (ended !== 0 || ms > STOP_MS)
            breach(`a process took ${ms.toFixed(0)} ms and ended with ${ended}`);
          await process.start();
          await sleep(500);
        }
      }
    },
  },
  {
    name: 'migration',
    title: 'a newer version migrates the schema while the older one serves',
    isQuick: false,
    recoversWithin: 10,
    proxies: true,
    async run({ folder, databaseUrl, onEnd, breach }) {
      const program = await makeNewerVersion(folder);
      const dataDir = join(folder, 'newer-data');
      await mkdir(dataDir);
      const newer: Target = createTarget({
        dataDir,
        port: await findFreePort(),
        env: { DATABASE_URL: await databaseUrl(), JWT_SECRET: 'x'.repeat(40) },
        program,
      });
      onEnd(() => newer.stop());
      await newer.start();
      const columns = await query(
        await databaseUrl(),
        `SELECT FROM information_schema.columns WHERE column_name = 'trial'`,
      );
      if (columns.length === 0) breach('the migration of the newer version was not applied');
    },
  },
  {
    name: 'streams',
    title: `${STREAMS.users * STREAMS.ofEach} streams reconnecting at once after the service was killed`,
    recoversWithin: 10,
    isQuick: false,
    async run(scene) {
      const { target, breach } = scene;
      const tokens = await tokensOfUsers(scene, STREAMS.users);
      const wanted = tokens.flatMap((token) => Array.from({ length: STREAMS.ofEach }, () => token));
      const screens: Awaited<ReturnType<typeof openScreen>>[] = [];
      for (let at = 0; at < wanted.length; at += OPENED_AT_ONCE) {
        const some = wanted.slice(at, at + OPENED_AT_ONCE);
        screens.push(...(await Promise.all(some.map((token) => openScreen(target.url, token, null)))));
      }
      await sleep(1_000);
      await target.kill();
      await target.start();
      const openAgain = async (token: string, n: number): Promise<Screen> => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await openScreen(target.url, token, screens[n]?.lastId ?? null);
          } catch (error) {
            if (attempt === 20) throw error;
            await sleep(250 * attempt);
          }
        }
      };
      const again = await Promise.allSettled(wanted.map(openAgain));
      const open = again.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const refused = wanted.length - open.length;
      if (refused > 0) breach(`${refused} of ${wanted.length} streams could not be opened again`);
      const waiting = await countWaiting(open);
      if (waiting > 0)
        breach(
          `${waiting} of ${wanted.length} streams received nothing within ${MESSAGE_WITHIN_MS / 1_000} s of reconnecting`,
        );
      for (const screen of open) screen.close();
    },
  },
  {
    name: 'restore',
    title: 'a backup (a copy of the data folder, made while stopped) restored after the folder was lost',
    recoversWithin: 30,
    isQuick: false,
    async run({ target, folder }) {
      await target.stop();
      const backup = join(folder, 'backup');
      await copy(target.dataDir, backup);
      await rm(target.dataDir, { recursive: true });
      await copy(backup, target.dataDir);
      await target.start();
    },
  },
];
