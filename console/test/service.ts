import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGantryClient, type GantryClient } from '@gantry/client';
import type { Role } from '@gantry/contract/permissions';
import { programPath, TEST_TIMINGS } from '../../server/test/build-programs.ts';

/** Intervals that stories would wait for, in milliseconds, which are not settings. */
const TIMINGS = { evaluateAlarmsMs: 500, turnWorksMs: 500, openCasesMs: 1_000, rollUpTrafficMs: 1_000 };
const START_MS = 90_000;

export const PASSWORD = 'Correct-Horse-7-Battery';
export const ADMIN = 'admin@gantry.local';

/** The ways in which a test can end a service unexpectedly. */
export type Ending = 'process killed' | 'all killed' | 'all terminated';

/** A real service with its own database, as `npm start` runs it. */
export interface TestService {
  readonly url: string;
  /** A client that is signed in as the administrator. */
  readonly admin: GantryClient;
  /** The e-mail address of a user with the role, who is created if necessary. The password is `PASSWORD`. */
  userOf(role: Role): Promise<string>;
  /** Creates a sensor. The given fields replace the defaults. */
  sensor(given?: {
    name?: string;
    type?: 'CAMERA' | 'RADAR' | 'ANPR' | 'SPEED_DETECTOR' | 'EDGE_CONTROLLER';
    locationId?: string;
    requiresHeartbeats?: boolean;
    coordinates?: { latitude: number; longitude: number };
  }): Promise<{ id: string; name: string; apiKey: string }>;
  /**
   * Ends the service: its process alone with SIGKILL, or together with all of its descendants, with SIGKILL (as in a
   * power failure) or with SIGTERM (as in a shutdown of the machine).
   */
  kill(way?: Ending): Promise<void>;
  /** Starts the service again at the same URL. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a service in a temporary folder. @param settings environment variables in addition to those of all tests */
export async function startService(settings: Record<string, string> = {}): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-console-'));
  // The user that runs PostgreSQL in place of root must be able to enter it: otherwise the database lies elsewhere.
  await chmod(folder, 0o711);
  let child = launch(folder, { PORT: '0', ...settings });
  const url = await untilItServes(child);
  const { port } = new URL(url);
  const admin = createGantryClient(url);
  await admin.login(ADMIN, PASSWORD);
  const users = new Map<Role, string>();
  let sensors = 0;

  return {
    url,
    admin,
    async userOf(role) {
      if (role === 'ADMIN') return ADMIN;
      const known = users.get(role);
      if (known !== undefined) return known;
      const email = `${role.toLowerCase()}@example.org`;
      const name = role.charAt(0) + role.slice(1).toLowerCase();
      await admin.api.users.create.mutate({
        email,
        password: PASSWORD,
        firstName: name,
        lastName: 'Tester',
        role,
      });
      users.set(role, email);
      return email;
    },
    sensor(given = {}) {
      const n = ++sensors;
      return admin.api.sensors.create.mutate({
        name: `Sensor ${n}`,
        deviceId: `device-${n}-${port}`,
        type: 'CAMERA',
        ...given,
      });
    },
    async kill(way = 'process killed') {
      if (way === 'process killed') await end(child, 'SIGKILL');
      else await endAll(child, way === 'all killed' ? 'SIGKILL' : 'SIGTERM');
    },
    async restart() {
      child = launch(folder, { PORT: port, ...settings });
      await untilItServes(child);
    },
    async stop() {
      await end(child, 'SIGTERM');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function launch(folder: string, settings: Record<string, string>): ChildProcess {
  const { PATH, HOME } = process.env;
  return spawn(process.execPath, ['--enable-source-maps', programPath('service')], {
    cwd: folder,
    env: {
      PATH,
      HOME,
      ADMIN_PASSWORD: PASSWORD,
      LOG_LEVEL: 'warn',
      DATA_DIR: folder,
      BACKUP_DIR: join(folder, 'backups'),
      BACKUP_SCHEDULE: 'manual',
      DRAIN_SECONDS: '0',
      [TEST_TIMINGS]: JSON.stringify(TIMINGS),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function untilItServes(child: ChildProcess): Promise<string> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (printed += text));
  const deadline = Date.now() + START_MS;
  for (;;) {
    const url = /listens on ([^\s"]+)/.exec(printed)?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`It did not start: ${printed}`);
    await sleep(50);
  }
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** Sends the signal to the process and all of its descendants, and waits until all have exited. */
async function endAll(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  // PostgreSQL has its own process group, so a signal to the group of the service would not reach it.
  const all = child.pid === undefined ? [] : withDescendants(child.pid);
  for (const pid of all) send(pid, signal);
  while (all.some((pid) => send(pid, 0))) await sleep(50);
}

/** @returns whether the process exists */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function withDescendants(first: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const all = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const found = [first];
  for (const parent of found) found.push(...all.filter(([, of]) => of === parent).map(([pid = 0]) => pid));
  return found;
}
