import { randomUUID } from 'node:crypto';
import { nextStatus, type SensorSignal, type SensorStatus, sensorStatus } from '@gantry/contract/sensors';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { intervalFor, nameIssues } from '../src/sensors/heartbeat.ts';
import { touchSensors } from '../src/sensors/last-seen-store.ts';
import { sweepOnce } from '../src/sensors/status.ts';
import { eventually, expectBetween, type Gantry, sharedGantry, startGantry } from './harness.ts';
import { lengthOf } from './test-length.ts';

interface SensorJson {
  id: string;
  apiKey: string;
  status: SensorStatus;
  lastHeartbeat: string | null;
  lastCommunication: string | null;
  updatedAt: string;
}
interface ChangeJson {
  from: SensorStatus | null;
  to: SensorStatus;
  at: string;
  reason: string;
  changedBy: unknown;
}

const TIMEOUT = 90;
const CRITICAL = { code: 'LENS', message: 'Lens is broken', severity: 'critical' };
const WARNING = { code: 'DUST', message: 'Lens is dusty', severity: 'warning' };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const devicesOf = (service: Gantry) => {
  const asOperator = async (procedure: string, input: object) =>
    service.ok(procedure, input, { token: await service.tokenFor('OPERATOR') });
  return {
    create: (): Promise<SensorJson> =>
      asOperator('sensors.create', { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA' }),
    set: (id: string, status: SensorStatus) => asOperator('sensors.update', { id, status }),
    read: (id: string) => service.ok<SensorJson>('sensors.getById', { id }),
    signs: (id: string) => asOperator('sensors.getSignsOfLife', { id }),
    history: async (id: string): Promise<ChangeJson[]> =>
      (await asOperator('sensors.getStatusHistory', { id, take: 100 })).history.reverse(),
    heartbeat: (apiKey: string, rest: object = {}) => service.ok('sensors.heartbeat', { apiKey, ...rest }),
    /** Sweeps like a service that has been running for a long time. */
    sweep: async (timeoutSeconds = TIMEOUT) => {
      await service.pool.query(`
        INSERT INTO sensor_watch (watched_since, looked_at) VALUES ('-infinity', now())
        ON CONFLICT (only_row) DO UPDATE SET watched_since = '-infinity', looked_at = now()`);
      await sweepOnce(service.app.context, timeoutSeconds);
    },
    /** Moves all contacts of the sensor into the past. */
    age: (id: string, seconds: number) =>
      service.pool.query(
        `UPDATE sensors SET status_since = status_since - $2 * interval '1 second',
           last_heartbeat = last_heartbeat - $2 * interval '1 second',
           last_event_at = last_event_at - $2 * interval '1 second' WHERE id = $1`,
        [id, seconds],
      ),
  };
};

const gantry = await sharedGantry({
  config: { HEARTBEAT_TIMEOUT_SECONDS: String(TIMEOUT) },
  overrides: { timings: { writeContactsMs: 200 } },
});
const devices: ReturnType<typeof devicesOf> = devicesOf(gantry);

describe('the status machine', () => {
  const signal = fc.constantFrom<SensorSignal>('heartbeat', 'event', 'criticalIssue', 'silence');
  const status = fc.constantFrom<SensorStatus>(...sensorStatus.options);

  it('keeps MAINTENANCE whatever a sensor does', () => {
    fc.assert(fc.property(signal, (given) => nextStatus[given].MAINTENANCE === 'MAINTENANCE'));
  });

  it('stays in the same status when a signal is repeated', () => {
    fc.assert(
      fc.property(signal, status, (given, from) => {
        const table: Record<SensorStatus, SensorStatus> = nextStatus[given];
        expect(table[table[from]]).toBe(table[from]);
      }),
    );
  });

  it('depends, outside MAINTENANCE, only on the last message', () => {
    fc.assert(
      fc.property(fc.array(signal), status, (signals, from) => {
        fc.pre(from !== 'MAINTENANCE');
        const step = (at: SensorStatus, given: SensorSignal): SensorStatus => nextStatus[given][at];
        expect(step(signals.reduce(step, from), 'heartbeat')).toBe('ONLINE');
        expect(step(signals.reduce(step, from), 'criticalIssue')).toBe('ERROR');
      }),
    );
  });

  it('changes only ONLINE on silence', () => {
    const ended = sensorStatus.options.filter((from) => nextStatus.silence[from] !== from);
    expect(ended).toEqual(['ONLINE']);
    expect(nextStatus.silence.ONLINE).toBe('OFFLINE');
  });

  it('describes the service, in any order of signals and changes by hand', async () => {
    const act = async (sensor: SensorJson, from: SensorStatus, action: SensorSignal | SensorStatus) => {
      if (action === 'silence') {
        const expected = nextStatus.silence[from];
        await devices.age(sensor.id, TIMEOUT + 1);
        // The service's own sweeper may hold the lock at the moment.
        const sweepAndRead = () => devices.sweep().then(() => devices.read(sensor.id));
        return (await eventually(sweepAndRead, (read) => read.status === expected)).status;
      }
      if (action === 'heartbeat') return (await devices.heartbeat(sensor.apiKey)).status;
      if (action === 'event') {
        const lastEvent = async () => (await devices.signs(sensor.id)).lastEventAt;
        const before = await lastEvent();
        await gantry.ingest(sensor.apiKey);
        // Events are recorded, and change the status, a little later than they are answered.
        await eventually(lastEvent, (at) => at !== before);
        const expected = nextStatus.event[from];
        const read = () => devices.read(sensor.id);
        return (await eventually(read, ({ status }) => status === expected)).status;
      }
      if (action === 'criticalIssue') {
        return (await devices.heartbeat(sensor.apiKey, { issues: [WARNING, CRITICAL] })).status;
      }
      return (await devices.set(sensor.id, action)).status;
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(signal, status), { maxLength: 12 }), async (actions) => {
        const sensor = await devices.create();
        let at: SensorStatus = 'OFFLINE';
        const changes: [SensorStatus | null, SensorStatus][] = [[null, 'OFFLINE']];
        for (const action of actions) {
          const expected: SensorStatus =
            action in nextStatus ? nextStatus[action as SensorSignal][at] : (action as SensorStatus);
          expect(await act(sensor, at, action)).toBe(expected);
          if (expected !== at) changes.push([at, expected]);
          at = expected;
        }
        expect((await devices.read(sensor.id)).status).toBe(at);
        expect((await devices.history(sensor.id)).map(({ from, to }) => [from, to])).toEqual(changes);
      }),
      { numRuns: lengthOf({ gate: 10, full: 25 }) },
    );
  });
});

describe('sensors.heartbeat', () => {
  it('returns exactly the documented keys', async () => {
    const { apiKey } = await devices.create();
    const before = Date.now();
    const { status, body } = await gantry.call('sensors.heartbeat', { apiKey });
    expect(status).toBe(200);
    expect(body.result.data.json).toEqual({
      success: true,
      status: 'ONLINE',
      serverTime: expect.stringMatching(ISO),
      intervalSeconds: TIMEOUT / 3,
    });
    expect(body.result.data.meta.values).toEqual({ serverTime: ['Date'] });
    expectBetween(body.result.data.json.serverTime, before, Date.now());
  });

  it('makes an OFFLINE sensor ONLINE, once', async () => {
    const { id, apiKey } = await devices.create();
    const first = await devices.heartbeat(apiKey);
    await devices.heartbeat(apiKey);
    const [, ...changes] = await devices.history(id);
    expect(changes).toEqual([
      { from: 'OFFLINE', to: 'ONLINE', at: first.serverTime, reason: 'heartbeat', changedBy: null },
    ]);
  });

  it('moves lastHeartbeat and lastCommunication', async () => {
    const { id, apiKey } = await devices.create();
    for (let n = 0; n < 2; n++) {
      const { serverTime } = await devices.heartbeat(apiKey);
      expect(await devices.read(id)).toMatchObject({
        lastHeartbeat: serverTime,
        lastCommunication: serverTime,
      });
    }
  });

  it('stores what the device reports about itself until it reports something else', async () => {
    const { id, apiKey } = await devices.create();
    const said = { firmware: '1.2.3', ipAddress: '10.2.0.9:8080', macAddress: '00:1B:44:11:3A:B7' };
    await devices.heartbeat(apiKey, said);
    expect(await devices.read(id)).toMatchObject(said);
    await devices.heartbeat(apiKey);
    await devices.heartbeat(apiKey, { firmware: null, ipAddress: '  ' });
    expect(await devices.read(id)).toMatchObject(said);
    await devices.heartbeat(apiKey, { firmware: '1.2.4' });
    expect(await devices.read(id)).toMatchObject({ ...said, firmware: '1.2.4' });
  });

  it('counts as an update only when it changes more than the times of contact', async () => {
    const { id, apiKey } = await devices.create();
    const isUpdate = async (rest: object) => {
      await gantry.pool.query(`UPDATE sensors SET updated_at = '2020-01-01' WHERE id = $1`, [id]);
      await devices.heartbeat(apiKey, rest);
      return !(await devices.read(id)).updatedAt.startsWith('2020-01-01');
    };
    expect(await isUpdate({})).toBe(true);
    expect(await isUpdate({})).toBe(false);
    expect(await isUpdate({ firmware: '2' })).toBe(true);
    expect(await isUpdate({ firmware: '2' })).toBe(false);
    expect(await isUpdate({ issues: [CRITICAL] })).toBe(true);
    expect(await isUpdate({ issues: [CRITICAL] })).toBe(false);
  });

  it('makes a sensor with a critical issue ERROR until it reports without one', async () => {
    const { id, apiKey } = await devices.create();
    await devices.heartbeat(apiKey);
    const other = { code: 'DISK', message: '  ', severity: 'critical' };
    expect((await devices.heartbeat(apiKey, { issues: [WARNING, CRITICAL, other] })).status).toBe('ERROR');
    expect((await devices.heartbeat(apiKey, { issues: [CRITICAL] })).status).toBe('ERROR');
    expect((await devices.heartbeat(apiKey, { issues: [WARNING] })).status).toBe('ONLINE');
    const [, , ...changes] = await devices.history(id);
    expect(changes).toMatchObject([
      { from: 'ONLINE', to: 'ERROR', reason: 'critical issue: LENS (Lens is broken), DISK' },
      { from: 'ERROR', to: 'ONLINE', reason: 'heartbeat' },
    ]);
  });

  it('leaves MAINTENANCE unchanged, and still counts as contact', async () => {
    const { id, apiKey } = await devices.create();
    await devices.set(id, 'MAINTENANCE');
    expect((await devices.heartbeat(apiKey)).status).toBe('MAINTENANCE');
    expect((await devices.heartbeat(apiKey, { issues: [CRITICAL] })).status).toBe('MAINTENANCE');
    expect((await devices.read(id)).lastHeartbeat).not.toBeNull();
    expect(await devices.history(id)).toHaveLength(2);
  });

  it('accepts values at their limits', async () => {
    const { id, apiKey } = await devices.create();
    const issue = { code: 'c'.repeat(100), message: 'm'.repeat(1000), severity: 'critical' };
    const said = { firmware: 'f'.repeat(100), ipAddress: 'h'.repeat(255), macAddress: 'm'.repeat(50) };
    await devices.heartbeat(apiKey, { ...said, issues: Array(50).fill(issue) });
    expect(await devices.read(id)).toMatchObject(said);
    const [, change] = await devices.history(id);
    expect(change?.reason).toMatch(/^critical issue: c+ \(m+…$/);
    expect(change?.reason.length).toBeLessThan(600);
  });

  it.each([
    { firmware: 'f'.repeat(101) },
    { firmware: 1 },
    { ipAddress: 'h'.repeat(256) },
    { macAddress: 'm'.repeat(51) },
    { macAddress: '\u0000' },
    { issues: Array(51).fill(WARNING) },
    { issues: [{ ...WARNING, severity: 'fatal' }] },
    { issues: [{ ...WARNING, code: '' }] },
    { issues: [{ ...WARNING, message: 'm'.repeat(1001) }] },
    { issues: [{ ...WARNING, message: '\ud800' }] },
    { issues: [CRITICAL.code] },
    { issues: CRITICAL },
  ])('refuses values beyond their limits and changes nothing (%#)', async (rest) => {
    const { id, apiKey } = await devices.create();
    const { status, body } = await gantry.call('sensors.heartbeat', { apiKey, ...rest });
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path.split('.')[0]).toBe(Object.keys(rest)[0]);
    expect(await devices.read(id)).toMatchObject({ status: 'OFFLINE', lastHeartbeat: null });
  });

  it('requests heartbeats often enough that one may be lost', () => {
    expect([1, 2, 3, 5, 6, 90, 86_400].map(intervalFor)).toEqual([1, 1, 1, 1, 2, 30, 28_800]);
  });

  it('lists issues in one line of limited length and valid text', () => {
    const issue = fc.record({
      code: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
      message: fc.string({ unit: 'grapheme', maxLength: 1000 }),
      severity: fc.constant('critical' as const),
    });
    fc.assert(
      fc.property(fc.array(issue, { minLength: 1, maxLength: 50 }), (issues) => {
        const line = nameIssues(issues);
        expect(line.isWellFormed()).toBe(true);
        expect(line.length).toBeLessThanOrEqual(500);
        expect(line.startsWith(issues[0]?.code.slice(0, 50) ?? '')).toBe(true);
      }),
    );
  });
});

describe('the sweeper', () => {
  it('waits for the whole time-out, counted from the last heartbeat or the start of the status', async () => {
    const { id, apiKey } = await devices.create();
    await devices.heartbeat(apiKey);
    await devices.age(id, TIMEOUT - 5);
    await devices.sweep();
    expect((await devices.read(id)).status).toBe('ONLINE');
    await devices.heartbeat(apiKey);
    await devices.age(id, TIMEOUT - 5);
    await devices.sweep();
    expect((await devices.read(id)).status).toBe('ONLINE');
    await devices.age(id, 10);
    await devices.set(id, 'MAINTENANCE');
    await devices.set(id, 'ONLINE');
    await devices.sweep();
    expect((await devices.read(id)).status).toBe('ONLINE');
  });

  it('records one change however many processes sweep at once', async () => {
    const silent = await Promise.all(Array.from({ length: 5 }, () => devices.create()));
    for (const { id, apiKey } of silent) {
      await devices.heartbeat(apiKey);
      await devices.age(id, TIMEOUT + 1);
    }
    await Promise.all(Array.from({ length: 6 }, () => devices.sweep()));
    for (const { id } of silent) {
      await eventually(
        () => devices.read(id),
        ({ status }) => status === 'OFFLINE',
      );
      const [, , ...changes] = await devices.history(id);
      expect(changes).toMatchObject([
        { from: 'ONLINE', to: 'OFFLINE', reason: 'no heartbeat or event for 90 seconds', changedBy: null },
      ]);
    }
  });

  it('does not wait for a sensor that is being changed', async () => {
    const [held, free] = [await devices.create(), await devices.create()];
    for (const { id, apiKey } of [held, free]) {
      await devices.heartbeat(apiKey);
      await devices.age(id, TIMEOUT + 1);
    }
    const other = await gantry.pool.connect();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM sensors WHERE id = $1 FOR UPDATE', [held.id]);
    await eventually(
      () => devices.sweep().then(() => devices.read(free.id)),
      ({ status }) => status === 'OFFLINE',
    );
    await other.query('ROLLBACK');
    other.release();
  });
});

describe('lastCommunication', () => {
  const moment = (iso: string) => new Date(`${iso}T00:00:00.000Z`);

  const touch = (contacts: [string, Date][], events: [string, number][] = []) =>
    touchSensors(
      gantry.pool,
      {
        byKey: new Map(contacts),
        byPreviousKey: new Map(),
        byConnection: new Map(),
        events: new Map(events.map(([id, at]) => [id, { at, type: 'PLATE_RECOGNITION' }])),
      },
      TIMEOUT,
    );

  it('is a liveness signal directly after the registration, although two clocks differ by some milliseconds', async () => {
    const { id } = await devices.create();
    const { rows } = await gantry.pool.query('SELECT created_at FROM sensors WHERE id = $1', [id]);
    const touchAt = (at: number) => touch([[id, new Date(at)]], [[id, at]]);
    const registeredAt = rows[0].created_at.getTime();
    expect(await touchAt(registeredAt - 2_000)).toEqual([]);
    expect(await touchAt(registeredAt - 20)).toEqual([id]);
  });

  it('of many sensors moves forward, never back, and unknown sensors are ignored', async () => {
    const [one, two] = [await devices.create(), await devices.create()];
    await touch([
      [one.id, moment('2026-01-02')],
      [randomUUID(), moment('2026-01-02')],
    ]);
    expect(await devices.read(one.id)).toMatchObject({ lastCommunication: '2026-01-02T00:00:00.000Z' });
    expect(await devices.read(two.id)).toMatchObject({ lastCommunication: null });
    await touch([
      [one.id, moment('2026-01-01')],
      [two.id, moment('2026-01-03')],
    ]);
    expect(await devices.read(one.id)).toMatchObject({ lastCommunication: '2026-01-02T00:00:00.000Z' });
    expect(await devices.read(two.id)).toMatchObject({
      lastCommunication: '2026-01-03T00:00:00.000Z',
      lastHeartbeat: null,
    });
    await touch([]);
  });

  it('is written by many processes at once without a deadlock', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => devices.create()));
    const contacts = made.map(({ id }): [string, Date] => [id, moment('2026-01-02')]);
    const shuffled = () =>
      new Map(
        contacts
          .map((entry) => [Math.random(), entry] as const)
          .sort(([a], [b]) => a - b)
          .map(([, entry]) => entry),
      );
    await Promise.all(
      Array.from({ length: 30 }, () =>
        touchSensors(
          gantry.pool,
          {
            byKey: shuffled(),
            byPreviousKey: shuffled(),
            byConnection: shuffled(),
            events: new Map(
              [...shuffled()].map(([id, at]) => [id, { at: at.getTime(), type: 'PLATE_RECOGNITION' }]),
            ),
          },
          TIMEOUT,
        ),
      ),
    );
    for (const { id } of made)
      expect(await devices.read(id)).toMatchObject({ lastCommunication: '2026-01-02T00:00:00.000Z' });
  });

  it('follows an event within seconds', async () => {
    const { id, apiKey } = await devices.create();
    await gantry.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
    await eventually(
      () => devices.read(id),
      ({ lastCommunication, lastHeartbeat }) => lastCommunication !== null && lastHeartbeat === null,
    );
  });
});

describe('a service with a time-out of one second', () => {
  let quick: Gantry;
  let own: ReturnType<typeof devicesOf>;
  beforeAll(async () => {
    quick = await startGantry({
      config: { HEARTBEAT_TIMEOUT_SECONDS: '1' },
      overrides: { timings: { sweepSensorsMs: 200 } },
    });
    own = devicesOf(quick);
  });
  afterAll(() => quick.stop());

  it('sets a silent sensor OFFLINE after at most five more seconds, keeps the others, and sets it ONLINE again', async () => {
    const [silent, lively, broken, serviced, manual] = await Promise.all(
      Array.from({ length: 5 }, () => own.create()),
    );
    if (!silent || !lively || !broken || !serviced || !manual) throw new Error('five were made');
    const { serverTime, intervalSeconds } = await own.heartbeat(silent.apiKey);
    expect(intervalSeconds).toBe(1);
    await own.heartbeat(broken.apiKey, { issues: [CRITICAL] });
    await own.heartbeat(serviced.apiKey);
    await own.set(serviced.id, 'MAINTENANCE');
    await own.set(manual.id, 'ONLINE');

    await eventually(
      async () => {
        await own.heartbeat(lively.apiKey);
        return [await own.read(silent.id), await own.read(manual.id)];
      },
      (sensors) => sensors.every(({ status }) => status === 'OFFLINE'),
    );
    const [, , fell] = await own.history(silent.id);
    expect(fell).toMatchObject({
      from: 'ONLINE',
      to: 'OFFLINE',
      reason: 'no heartbeat or event for 1 second',
    });
    const after = Date.parse(fell?.at ?? '') - Date.parse(serverTime);
    expect(after).toBeGreaterThanOrEqual(1_000);

    expect((await own.read(lively.id)).status).toBe('ONLINE');
    expect((await own.read(broken.id)).status).toBe('ERROR');
    expect((await own.read(serviced.id)).status).toBe('MAINTENANCE');
    expect((await own.heartbeat(silent.apiKey)).status).toBe('ONLINE');
    expect((await own.history(silent.id)).map(({ to }) => to)).toEqual([
      'OFFLINE',
      'ONLINE',
      'OFFLINE',
      'ONLINE',
    ]);
    expect((await own.history(lively.id)).map(({ to }) => to)).toEqual(['OFFLINE', 'ONLINE']);
  });
});
