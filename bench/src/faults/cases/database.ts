import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { query } from '../../database.ts';
import type { Fault, Scene } from '../fault.ts';
import { descendantsOf, isRunning, signalTree } from '../processes.ts';

const BACKENDS = `SELECT pid FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname = current_database()`;

async function untilGone(pid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    if (!(await isRunning(pid))) return true;
    await sleep(50);
  }
  return !(await isRunning(pid));
}

async function untilAnother({ postmaster, target }: Scene, former: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const pid = await postmaster().catch(() => former);
    if (pid !== former && (await target.isReady())) return;
    await sleep(100);
  }
}

/** Number of concurrent callers that a locked table blocks, as in a large control room. */
const LOCKED_OUT_CALLERS = 500;

export const database: readonly Fault[] = [
  {
    name: 'terminate-backends',
    title: 'database connections terminated one by one for 5 s',
    isQuick: false,
    recoversWithin: 10,
    async run({ databaseUrl, random }) {
      const until = performance.now() + 5_000;
      while (performance.now() < until) {
        const backends = await query<{ pid: number }>(await databaseUrl(), BACKENDS);
        const { pid } = backends[Math.floor(random() * backends.length)] ?? { pid: 0 };
        if (pid > 0) await query(await databaseUrl(), `SELECT pg_terminate_backend(${pid})`);
        await sleep(50 + random() * 100);
      }
    },
  },
  {
    name: 'kill-backend',
    title: 'one PostgreSQL backend killed (kill -9), so that the server restarts',
    recoversWithin: 30,
    isQuick: false,
    async run({ databaseUrl, random }) {
      const backends = await query<{ pid: number }>(await databaseUrl(), BACKENDS);
      const { pid } = backends[Math.floor(random() * backends.length)] ?? { pid: 0 };
      if (pid > 0) process.kill(pid, 'SIGKILL');
    },
  },
  {
    name: 'kill-server',
    title: 'PostgreSQL killed as a whole (kill -9)',
    recoversWithin: 30,
    isQuick: false,
    async run(scene) {
      const pid = await scene.postmaster();
      await signalTree(pid, 'SIGKILL');
      await untilAnother(scene, pid);
    },
  },
  {
    name: 'stop-server',
    title: 'PostgreSQL stopped fast, immediately and smartly, in a loop',
    recoversWithin: 30,
    isQuick: false,
    async run(scene) {
      for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGINT'] as const) {
        const pid = await scene.postmaster();
        process.kill(pid, signal);
        // A smart shutdown waits until all connections are closed, but a service keeps its connections open.
        if (!(await untilGone(pid, 5_000))) process.kill(pid, 'SIGINT');
        await untilGone(pid, 20_000);
        await untilAnother(scene, pid);
        await sleep(1_000);
      }
    },
  },
  {
    name: 'freeze-database',
    title: 'PostgreSQL stopped by SIGSTOP for 50 s',
    recoversWithin: 10,
    isQuick: false,
    async run({ postmaster, onEnd }) {
      const pid = await postmaster();
      onEnd(() => signalTree(pid, 'SIGCONT'));
      const frozen = [pid, ...(await descendantsOf(pid))];
      for (const each of frozen) process.kill(each, 'SIGSTOP');
      await sleep(50_000);
      await signalTree(pid, 'SIGCONT');
    },
  },
  {
    name: 'lock-events',
    title: `LOCK TABLE events for 20 s under ${LOCKED_OUT_CALLERS} callers`,
    recoversWithin: 10,
    isQuick: false,
    async run({ databaseUrl, client, target, breach }) {
      const locker = new pg.Client({ connectionString: await databaseUrl() });
      await locker.connect();
      await locker.query('BEGIN');
      await locker.query('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
      const headers = { authorization: `Bearer ${client.token}` };
      const ask = async (): Promise<number> => {
        const signal = AbortSignal.timeout(40_000);
        const { status } = await fetch(`${target.url}/trpc/events.getAll`, { headers, signal });
        return status;
      };
      const asking = Promise.all(Array.from({ length: LOCKED_OUT_CALLERS }, () => ask().catch(() => null)));
      const start = performance.now();
      await sleep(1_000);
      // The health check must answer promptly, however many calls are waiting.
      const asked = performance.now();
      await fetch(`${target.url}/trpc/system.health`, { signal: AbortSignal.timeout(10_000) }).catch(() =>
        breach('system.health did not answer within 10 s while events were locked'),
      );
      if (performance.now() - asked > 5_000)
        breach('system.health took more than 5 s while events were locked');
      await sleep(20_000 - (performance.now() - start));
      await locker.query('ROLLBACK');
      await locker.end();
      const statuses = await asking;
      const wrong = statuses.filter((status) => status === null || ![200, 408, 429, 503].includes(status));
      if (wrong.length > 0)
        breach(
          `${wrong.length} of ${statuses.length} callers got ${[...new Set(wrong)].join(', ')} (null: no answer)`,
        );
    },
  },
  {
    name: 'use-up-connections',
    title: 'all connections of PostgreSQL taken by others for 8 s',
    recoversWithin: 10,
    isQuick: false,
    async run({ databaseUrl }) {
      const takers: pg.Client[] = [];
      const take = async (): Promise<boolean> => {
        const taker = new pg.Client({ connectionString: await databaseUrl() });
        taker.on('error', () => undefined);
        try {
          await taker.connect();
          takers.push(taker);
          return true;
        } catch {
          return false;
        }
      };
      while (takers.length < 1_000 && (await take()));
      // The connections of the service are terminated, so that others take the free slots first.
      const own = takers[0];
      await own?.query(`SELECT pg_terminate_backend(pid) FROM (${BACKENDS}) AS them WHERE pid NOT IN
        (SELECT pid FROM pg_stat_activity WHERE application_name = '')`);
      const until = performance.now() + 8_000;
      while (performance.now() < until) if (!(await take())) await sleep(50);
      await Promise.all(takers.map((taker) => taker.end().catch(() => undefined)));
    },
  },
];
