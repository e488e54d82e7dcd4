import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Group, type GroupedAlarm, plan } from '../../src/alarms/plan.ts';
import { createPool } from '../../src/platform/database/pool.ts';
import { createTestDatabase, eventually, startGantry } from '../harness.ts';
import { startedProcesses } from '../started-processes.ts';
import { isLong } from '../test-length.ts';
import { spawnWithTimings, untilItServes } from './service-process.ts';

const rule = {
  name: 'Offline',
  condition: { source: 'SENSOR_STATUS', statuses: ['OFFLINE'] },
  severity: 'HIGH',
};

describe('a process that is killed while it evaluates alarms', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-alarms-'));
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database.drop();
    await rm(scratch, { recursive: true, force: true });
  });

  it('leaves the round to others, two of which evaluate and tell each alarm once', async () => {
    const pool = createPool(database.url, 2, () => undefined);
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(scratch, 'data') };
    const timings = { evaluateAlarmsMs: 100 };
    const doomed = await untilItServes(spawnWithTimings(scratch, settings, timings));
    const token = await doomed.tokenFor('ADMIN');
    const { id: userId } = await doomed.ok('auth.me', undefined, { token });
    const steps = [{ afterMinutes: 0, to: [{ userId }] }];
    const policy = { name: 'Control room', steps, groupWaitSeconds: 0 };
    const { id: policyId } = await doomed.ok('policies.create', policy, { token });
    for (let n = 0; n < 5; n++) await doomed.registerSensor();
    const blocker = await pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK alarm_evaluation IN SHARE MODE');
    await doomed.ok('alarmRules.create', { ...rule, policyId }, { token });
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE alarm_evaluation%'`;
    await eventually(
      async () => (await pool.query(waiting)).rowCount,
      (rows) => rows === 1,
    );
    doomed.process.kill('SIGKILL');
    await doomed.ended;
    await blocker.query('COMMIT');
    blocker.release();
    await eventually(
      async () => (await pool.query(waiting)).rowCount,
      (rows) => rows === 0,
    );

    const told: string[] = [];
    const overrides = {
      timings,
      announce: async (
        _: unknown,
        { groupId, step, total }: { groupId: string; step: number; total: number },
      ) => {
        told.push(`${groupId} ${step} ${total}`);
        return { recipients: 1 };
      },
    };
    const config = { DATABASE_URL: database.url };
    await using _one = await startGantry({ config, overrides });
    await using _other = await startGantry({ config, overrides });
    await eventually(
      async () => told.length,
      (n) => n > 0,
    );
    const rounds = async () =>
      Number(
        (await pool.query('SELECT extract(epoch FROM evaluated_at) AS at FROM alarm_evaluation')).rows[0]?.at,
      );
    const first = await rounds();
    await eventually(rounds, (at) => at > first + 1);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/ 0 5$/);
    const fired = `SELECT FROM changes WHERE topic = 'alarms' AND body -> 'json' ->> 'state' = 'FIRING'`;
    expect((await pool.query(fired)).rowCount).toBe(5);
    expect((await pool.query('SELECT FROM alarms')).rowCount).toBe(5);
    expect((await pool.query('SELECT FROM alarm_groups')).rowCount).toBe(1);
    await pool.end();
  });
});

/** A message: the alarms that fire, and those that ended. */
type Told = readonly [firing: string, cleared: string];

/** What happens to the alarms of a group at a time. */
interface Happening {
  readonly fire?: readonly string[];
  readonly end?: readonly string[];
  readonly silence?: string;
  readonly release?: string;
}

const WAIT_S = 1.5;
const INTERVAL_S = 3;
const REPEAT_MS = 7_500;
/** Between two happenings: each is told, and then repeated once, whatever the phase of the interval. */
const GAP_S = 14;
/** No flush, 1.5 s after a group began and every 3 s from then on, is near another thing that happens. */
const PHASE_S = 0.5;

const SCRIPTS: readonly (readonly Happening[])[] = [
  [{ fire: ['a'] }, { fire: ['b', 'c'] }, { end: ['b'] }, { end: ['a', 'c'] }, { fire: ['a'] }],
  [{ fire: ['a', 'b'] }, { silence: 'a' }, { release: 'a' }, { end: ['a', 'b'] }],
  [{ fire: ['a'] }, { silence: 'a' }, { fire: ['b'] }, { release: 'a' }, { end: ['a', 'b'] }],
  [
    { fire: ['a', 'b', 'c', 'd'] },
    { end: ['a'], fire: ['e'] },
    { silence: 'b' },
    { end: ['c', 'd', 'e'] },
    { release: 'b' },
  ],
  [{ silence: 'a' }, { fire: ['a'] }, { fire: ['b'] }, { end: ['b'] }, { release: 'a' }],
];
const LENGTH_S = Math.max(...SCRIPTS.map(({ length }) => length)) * GAP_S;

const sorted = (keys: readonly string[]): string => [...keys].sort().join('');

/** The messages of Gantry about a script. */
const planned = (script: readonly Happening[]): Told[] => {
  const policy = {
    id: 'p',
    steps: [{ afterMinutes: 0, to: [{ userId: 'u' }], whileNot: 'ACKNOWLEDGED' as const }],
    waitMs: WAIT_S * 1_000,
    intervalMs: INTERVAL_S * 1_000,
    repeatMs: REPEAT_MS,
    notifyClear: true,
  };
  let [alarms, groups, next]: [GroupedAlarm[], Group[], number] = [[], [], 0];
  const silenced = new Set<string>();
  const told: Told[] = [];
  const keyOf = ({ identity }: { identity: string }) => identity.slice(2);
  for (let now = 0; now < LENGTH_S * 1_000; now += 100) {
    const at = now / 1_000 - PHASE_S;
    const { fire = [], end = [], silence, release } = (at % GAP_S === 0 && script[at / GAP_S]) || {};
    if (silence) silenced.add(silence);
    if (release) silenced.delete(release);
    alarms = alarms.map((alarm) =>
      alarm.isFiring && end.includes(keyOf(alarm)) ? { ...alarm, isFiring: false } : alarm,
    );
    for (const key of fire)
      alarms.push({
        ...{
          id: `${next++}`,
          identity: `r:${key}`,
          policyId: 'p',
          groupKey: 'g:',
          groupId: null,
          severity: 1,
        },
        ...{ isFiring: true, firedAt: now, isAcknowledged: false, isSettled: false, isSuppressed: false },
      });
    alarms = alarms.map((alarm) => ({ ...alarm, isSuppressed: silenced.has(keyOf(alarm)) }));
    const result = plan({ policies: [policy], groups, alarms, newId: () => `${next++}` }, now);
    const byId = new Map([...groups, ...result.groups].map((group) => [group.id, group]));
    groups = [...byId.values()].filter(({ closedAt }) => closedAt === null);
    const joined = new Map(result.joins.map(({ alarmId, groupId }) => [alarmId, groupId]));
    for (const { alarmIds } of result.messages) {
      const about = alarms.filter(({ id }) => alarmIds.includes(id));
      const [firing, cleared] = [true, false].map((is) =>
        sorted(about.filter(({ isFiring }) => isFiring === is).map(keyOf)),
      );
      told.push([firing ?? '', cleared ?? '']);
    }
    const settled = new Set(result.settled);
    alarms = alarms
      .map((alarm) => ({ ...alarm, groupId: joined.get(alarm.id) ?? alarm.groupId }))
      .filter(({ id }) => !settled.has(id));
  }
  return told;
};

const run = promisify(execFile);

/** The program, installed if it is not there; null if that is impossible. */
const findAlertmanager = async (): Promise<string | null> => {
  const find = () => run('which', ['prometheus-alertmanager']).then(({ stdout }) => stdout.trim());
  return find().catch(() =>
    run('apt-get', ['install', '--yes', '--no-install-recommends', 'prometheus-alertmanager'])
      .then(find)
      .catch(() => null),
  );
};

const freePort = async (): Promise<number> => {
  const server = createSocketServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

// It takes as long as its scripts, in real time: long runs only.
describe.runIf(isLong)('groups, repetitions and silences', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-alertmanager-'));
  afterAll(() => rm(scratch, { recursive: true, force: true }));

  it('are those of Prometheus Alertmanager', { timeout: 180_000 }, async ({ skip }) => {
    const program = await findAlertmanager();
    if (program === null) return skip('prometheus-alertmanager cannot be installed here');
    const told = SCRIPTS.map((): Told[] => []);
    const sink = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { groupLabels, alerts } = JSON.parse(body) as {
        groupLabels: { group: string };
        alerts: { status: string; labels: { key: string } }[];
      };
      const keys = (status: string) =>
        sorted(alerts.filter((each) => each.status === status).map(({ labels }) => labels.key));
      told[Number(groupLabels.group)]?.push([keys('firing'), keys('resolved')]);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(sink, 'listening');
    const config = join(scratch, 'config.yml');
    await writeFile(
      config,
      JSON.stringify({
        route: {
          receiver: 'sink',
          group_by: ['group'],
          group_wait: `${WAIT_S * 1_000}ms`,
          group_interval: `${INTERVAL_S}s`,
          repeat_interval: `${REPEAT_MS}ms`,
        },
        receivers: [
          {
            name: 'sink',
            webhook_configs: [{ url: `http://127.0.0.1:${(sink.address() as AddressInfo).port}` }],
          },
        ],
      }),
    );
    const address = `127.0.0.1:${await freePort()}`;
    const flags = [
      `--config.file=${config}`,
      `--storage.path=${scratch}/data`,
      `--web.listen-address=${address}`,
    ];
    const manager = spawn(program, [...flags, '--cluster.listen-address='], { stdio: 'ignore' });
    startedProcesses.add(manager);
    const ended = once(manager, 'exit');
    const send = (path: string, body: unknown, method = 'POST') =>
      fetch(`http://${address}/api/v2/${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    try {
      await eventually(
        () =>
          fetch(`http://${address}/-/ready`).then(
            ({ ok }) => ok,
            () => false,
          ),
        (isReady) => isReady,
      );
      const play = async (script: readonly Happening[], group: number): Promise<void> => {
        const silences = new Map<string, string>();
        const alerts = (keys: readonly string[], times: object) =>
          keys.map((key) => ({ labels: { alertname: 'r', group: `${group}`, key }, ...times }));
        for (const { fire = [], end = [], silence, release } of script) {
          const now = new Date();
          const later = new Date(now.getTime() + 3_600_000).toISOString();
          if (silence) {
            const matchers = [
              { name: 'group', value: `${group}`, isRegex: false },
              { name: 'key', value: silence, isRegex: false },
            ];
            const given = {
              matchers,
              startsAt: now.toISOString(),
              endsAt: later,
              createdBy: 'test',
              comment: 'test',
            };
            silences.set(
              silence,
              ((await (await send('silences', given)).json()) as { silenceID: string }).silenceID,
            );
          }
          if (release) await send(`silence/${silences.get(release)}`, undefined, 'DELETE');
          const startsAt = now.toISOString();
          await send('alerts', [
            ...alerts(fire, { startsAt, endsAt: later }),
            ...alerts(end, { endsAt: startsAt }),
          ]);
          await sleep(GAP_S * 1_000);
        }
      };
      await Promise.all(SCRIPTS.map(play));
    } finally {
      manager.kill('SIGKILL');
      await ended;
      startedProcesses.delete(manager);
      sink.close();
    }
    expect(told.map((each) => each.length)).not.toContain(0);
    for (const [n, script] of SCRIPTS.entries()) expect(planned(script), `script ${n}`).toEqual(told[n]);
  });
});
