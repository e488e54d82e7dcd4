import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AlarmDetail } from '@gantry/contract/alarms';
import type { Notice } from '@gantry/contract/notices';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { startMailServer } from '../mail-server.ts';
import { isLong } from '../test-length.ts';
import { type ServiceProcess, spawnService, untilItServes } from './service-process.ts';

// A night of a city: 300 sensors that send heartbeats, people who get mail, and a service that is killed three times. It takes
// minutes, because alarms are evaluated every ten seconds.

const PLACES = 60;
const EACH = 5;
/** Places without power. */
const DISTRICT = 20;
/** How long a sensor may be silent, and how long the rule then waits. In seconds. */
const [SILENT_S, FOR_S] = [30, 40];
const DAY_MS = 86_400_000;
const BEAT_MS = 8_000;
/** The messages about incidents that are open. */
const TOLD = `severity = 'CRITICAL' AND kind IN ('FIRST', 'CHANGED')`;

interface Device {
  readonly n: number;
  readonly place: number;
  readonly id: string;
  readonly apiKey: string;
}

describe.runIf(isLong)('a night of a city', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-night-'));
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let pool: pg.Pool;
  let mail: Awaited<ReturnType<typeof startMailServer>>;
  let service: ServiceProcess;
  let token = '';
  let kills = 0;

  const start = async (): Promise<void> => {
    service = await untilItServes(
      spawnService(scratch, {
        DATABASE_URL: database.url,
        DATA_DIR: join(scratch, 'data'),
        JWT_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
        SMTP_URL: mail.url,
        SMTP_FROM: 'gantry@example.org',
        PUBLIC_URL: 'https://gantry.example.org',
        HEARTBEAT_TIMEOUT_SECONDS: String(SILENT_S),
      }),
    );
  };
  const killAndStart = async (): Promise<void> => {
    kills++;
    service.process.kill('SIGKILL');
    await service.ended;
    await start();
  };
  const ok = <Output>(procedure: string, input?: unknown): Promise<Output> =>
    service.ok(procedure, input, { token });
  const rowsOf = async <Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> =>
    (await pool.query<Row>(statement)).rows;
  const countOf = async (table: string): Promise<number> =>
    Number((await rowsOf<{ n: string }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n);
  const until = (table: string, n: number) =>
    eventually(
      () => countOf(table),
      (found) => found === n,
      300_000,
    );

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool(database.url, 2, () => undefined);
    mail = await startMailServer();
    await start();
    token = await service.tokenFor('ADMIN');
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    await mail[Symbol.asyncDispose]();
    await pool.end();
    await database.drop();
    await rm(scratch, { recursive: true, force: true });
  });

  /** A device repeats what was not answered. */
  const report = async ({ apiKey }: Device, event: object): Promise<void> => {
    const given = { apiKey, timestamp: new Date().toISOString(), idempotencyKey: randomUUID(), ...event };
    for (;;) {
      try {
        const { status } = await service.call('events.ingest', given);
        if (status === 200) return;
      } catch {
        // The service is away.
      }
      await sleep(200);
    }
  };

  /** Lets devices send heartbeats while they have power. */
  const beat = (devices: readonly Device[], hasPower: (device: Device) => boolean) => {
    let isOver = false;
    const beating = (async () => {
      while (!isOver) {
        const began = performance.now();
        const sending = devices.filter(hasPower);
        for (let at = 0; at < sending.length && !isOver; at += 30)
          await Promise.all(
            sending
              .slice(at, at + 30)
              .map(({ apiKey }) => service.call('sensors.heartbeat', { apiKey }).catch(() => undefined)),
          );
        await sleep(Math.max(0, BEAT_MS - (performance.now() - began)));
      }
    })();
    return async () => {
      isOver = true;
      await beating;
    };
  };

  const addDevices = async (): Promise<Device[]> => {
    const devices: Device[] = [];
    for (let place = 0; place < PLACES; place++) {
      const { id: locationId } = await ok<{ id: string }>('locations.create', { name: `Place ${place}` });
      for (let n = place * EACH; n < (place + 1) * EACH; n++) {
        const fields = { name: `Loop ${n}`, deviceId: `loop-${n}`, type: 'CAMERA', locationId };
        devices.push({ n, place, ...(await ok<{ id: string; apiKey: string }>('sensors.create', fields)) });
      }
    }
    return devices;
  };

  const addPolicy = async (name: string, userIds: readonly string[], seconds: number): Promise<string> => {
    const steps = [{ afterMinutes: 0, to: userIds.map((userId) => ({ userId })) }];
    const intervals = { groupWaitSeconds: seconds / 2, groupIntervalSeconds: seconds };
    return (await ok<{ id: string }>('policies.create', { name, steps, ...intervals })).id;
  };

  it('is few messages, none late and none lost, and the log explains each alarm and message', async () => {
    const devices = await addDevices();
    await service.tokenFor('OPERATOR');
    const { users } = await ok<{ users: { id: string; role: string }[] }>('users.getAll', {});
    const userIds = users.filter(({ role }) => role === 'ADMIN' || role === 'OPERATOR').map(({ id }) => id);
    for (const [n, id] of userIds.entries())
      await pool.query(
        `INSERT INTO contacts (user_id, kind, address, language, verified_at) VALUES ($1, 'EMAIL', $2, 'en', now())`,
        [id, `duty${n}@example.org`],
      );
    // Users are reached through it.
    await ok('channels.create', { name: 'Mail', kind: 'SMTP', to: ['desk@example.org'] });
    const room = await addPolicy('Control room', userIds, 60);
    const urgent = await addPolicy('Urgent', userIds, 10);
    const lists = await addPolicy('Lists', userIds, 60);
    const addRule = (name: string, fields: object) =>
      ok('alarmRules.create', { name, severity: 'MEDIUM', ...fields });
    const offline = { source: 'SENSOR_STATUS', statuses: ['OFFLINE', 'ERROR'] };
    await addRule('Sensor offline', { condition: offline, forSeconds: FOR_S, policyId: room });
    await addRule('Place offline', {
      condition: { ...offline, of: 'PLACE' },
      forSeconds: FOR_S,
      severity: 'HIGH',
      policyId: room,
    });
    await addRule('Critical incident', {
      condition: { source: 'INCIDENT_UNATTENDED', minSeverity: 'CRITICAL', lacking: 'ACKNOWLEDGEMENT' },
      severity: 'CRITICAL',
      policyId: urgent,
    });
    await addRule('Hit', { condition: { source: 'HIT' }, severity: 'HIGH', policyId: lists });
    const { id: hotlistId } = await ok<{ id: string }>('hotlists.create', {
      name: 'Stolen',
      verification: 'NEVER',
    });
    const plates = Array.from({ length: 10 }, (_, n) => `NI ${1_000 + n}`);
    for (const plate of plates) await ok('hotlists.addEntry', { hotlistId, plate, reason: 'Stolen' });

    const silent = new Set<number>();
    let isDistrictDark = false;
    const stopBeating = beat(
      devices,
      ({ n, place }) => !silent.has(n) && !(isDistrictDark && place < DISTRICT),
    );
    const online = `sensors WHERE status = 'ONLINE'`;
    try {
      await until(online, PLACES * EACH);

      // Dropouts of loops, each shorter than the rule allows.
      for (let n = 150; n < 180; n += 3) silent.add(n);
      await until(online, PLACES * EACH - silent.size);
      silent.clear();
      await until(online, PLACES * EACH);
      expect(mail.messages).toEqual([]);

      // Mains failure of a district; the service is killed as it begins, and again once it is seen.
      isDistrictDark = true;
      await sleep(1_000);
      await killAndStart();
      await until(
        `alarms WHERE state = 'FIRING' AND location_id IS NOT NULL AND sensor_id IS NULL`,
        // Of each rule: that of sensors has one for all sensors of a place.
        2 * DISTRICT,
      );
      await killAndStart();
      // Two incidents, which the control room acknowledges when it was told of both.
      for (const n of [1, 2]) {
        await report(devices.at(-n) as Device, { eventType: 'INCIDENT', severity: 'CRITICAL' });
        await until('incidents', n);
        await until(`notices WHERE ${TOLD} AND status = 'SENT'`, n * userIds.length);
      }
      for (const { id } of await rowsOf<{ id: string }>('SELECT id FROM incidents'))
        await ok('incidents.acknowledge', { id });

      // Forty reads of ten listed vehicles, and the service is killed among them.
      const reads = Array.from({ length: 40 }, (_, n) => ({
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber: plates[n % plates.length],
      }));
      for (const [n, read] of reads.entries()) {
        if (n === 15) await killAndStart();
        await report(devices[200 + (n % 50)] as Device, read);
      }
      await until('events_to_follow_up', 0);
      await until(`notices WHERE status = 'PENDING'`, 0);
      await eventually(
        async () =>
          (await rowsOf<{ n: string }>(`SELECT count(DISTINCT key) AS n FROM alarms WHERE source = 'HIT'`))[0]
            ?.n,
        (n) => Number(n) === 10,
        120_000,
      );

      isDistrictDark = false;
      await until(online, PLACES * EACH);
      await until(`alarms WHERE state IN ('PENDING', 'FIRING') AND source = 'SENSOR_STATUS'`, 0);
      await until(`notices WHERE status = 'PENDING'`, 0);
    } finally {
      await stopBeating();
    }
    expect(kills).toBe(3);

    // Nothing is lost.
    expect(await rowsOf('SELECT count(*)::int AS n, count(DISTINCT id)::int AS ids FROM events')).toEqual([
      { n: 42, ids: 42 },
    ]);
    expect(
      await rowsOf('SELECT count(*)::int AS hits, sum(sightings)::int AS reads FROM watchlist_alerts'),
    ).toEqual([{ hits: 10, reads: 40 }]);

    // At most three messages for each recipient and cause, and each that the log has as sent has arrived.
    const { notices, total } = await ok<{
      notices: (Omit<Notice, 'createdAt'> & { createdAt: string })[];
      total: number;
    }>('notices.getAll', { take: 100 });
    expect(notices).toHaveLength(total);
    expect(notices.filter(({ status }) => status !== 'SENT')).toEqual([]);
    const counts = new Map<string, number>();
    for (const { recipient, groupId } of notices)
      counts.set(`${recipient} ${groupId}`, (counts.get(`${recipient} ${groupId}`) ?? 0) + 1);
    expect([...counts].filter(([, n]) => n > 3)).toEqual([]);
    // The incidents, the hits, and the district as one or two groups, for two recipients.
    expect(counts.size).toBeLessThanOrEqual(2 * 4);
    const arrived = mail.messages.map(({ headers }) => headers.get('message-id') ?? '');
    for (const { id } of notices)
      expect(arrived.filter((each) => each.includes(id)).length).toBeGreaterThan(0);
    expect(arrived.filter((each) => !notices.some(({ id }) => each.includes(id)))).toEqual([]);
    expect(arrived.length - notices.length).toBeLessThanOrEqual(2 * kills);

    // Whoever is needed at once is told within a minute, by the times of the database.
    const [late] = await rowsOf<{ seconds: number }>(
      `SELECT max(extract(epoch FROM told.at - opened.at))::float8 AS seconds FROM
        (SELECT row_number() OVER (ORDER BY opened_at) AS n, opened_at AS at FROM incidents) AS opened JOIN
        (SELECT row_number() OVER (ORDER BY max(sent_at)) AS n, max(sent_at) AS at FROM notices
          WHERE ${TOLD} GROUP BY kind) AS told USING (n)`,
    );
    expect(late?.seconds).toBeLessThanOrEqual(60);

    // The log says of each alarm that fired that people were told of it, or why not.
    const { alarms } = await ok<{ alarms: { id: string }[] }>('alarms.getAll', {
      from: new Date(Date.now() - DAY_MS).toISOString(),
      take: 100,
    });
    const causes = new Map<string, number>();
    for (const { id } of alarms) {
      const alarm = await ok<
        Omit<AlarmDetail, 'toldAt' | 'firedAt'> & { toldAt: string | null; firedAt: string }
      >('alarms.getById', { id });
      const why =
        alarm.inhibitedBy?.cause ??
        (alarm.silencedBy !== null ? 'SILENCE' : alarm.toldAt !== null ? 'TOLD' : 'UNEXPLAINED');
      causes.set(`${alarm.ruleName} ${why}`, (causes.get(`${alarm.ruleName} ${why}`) ?? 0) + 1);
    }
    expect(Object.fromEntries([...causes].filter(([cause]) => cause.endsWith('UNEXPLAINED')))).toEqual({});
    expect(causes.get('Critical incident TOLD')).toBe(2);
    expect(causes.get('Hit TOLD')).toBe(10);
  }, 900_000);
});
