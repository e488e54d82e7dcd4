import { randomUUID } from 'node:crypto';
import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { runChecks } from '../src/operations/consistency/checks.ts';
import { locks } from '../src/platform/database/locks.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { recountDay } from '../src/traffic/recount-store.ts';
import { rollUpTraffic } from '../src/traffic/roll-up-store.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { seeded } from './simulated-month.ts';
import { lengthOf } from './test-length.ts';

// Several events of a sensor with one passageId are one vehicle, in whatever order they come, go and are rolled up.

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input?: object) => gantry.ok(procedure, input, { token });
const { db } = gantry.app.context;

const DAY = '2026-03-10';
const RANGE = { startDate: DAY, endDate: DAY };
const MIDNIGHT = Date.parse(`${DAY}T00:00Z`);
const at = (time: string): number => Date.parse(`${DAY}T${time}Z`);

const register = async (type = 'CAMERA') => {
  const { id: locationId } = await ask('locations.create', { name: randomUUID() });
  const { id: sensorId, apiKey } = await ask('sensors.create', {
    name: type,
    deviceId: randomUUID(),
    type,
    locationId,
  });
  return { locationId, sensorId, apiKey };
};
type Camera = Awaited<ReturnType<typeof register>>;

interface Sent {
  readonly eventType: string;
  readonly at: number;
  readonly passageId?: string | undefined;
  readonly vehicleSpeed?: number | undefined;
  readonly vehicleType?: string | undefined;
  readonly lane?: number | undefined;
  readonly headway?: number;
}

/** @returns the ids of the events */
const send = async ({ apiKey }: Camera, sent: readonly Sent[]): Promise<string[]> => {
  const events = sent.map(({ at: time, ...fields }) => ({
    timestamp: new Date(time).toISOString(),
    ...fields,
  }));
  const ids: string[] = [];
  for (let n = 0; n < events.length; n += 500) {
    const { success, results } = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: events.slice(n, n + 500),
    });
    expect(success).toBe(true);
    ids.push(...results.map(({ eventId }: { eventId: string }) => eventId));
  }
  return ids;
};

const found = (passageId: string, time: number, fields: object = {}): Sent => ({
  eventType: 'VEHICLE_DETECTION',
  at: time,
  passageId,
  ...fields,
});
const measured = (passageId: string, time: number, vehicleSpeed = 50): Sent => ({
  ...found(passageId, time, { vehicleSpeed }),
  eventType: 'SPEED_DETECTION',
});
const read = (passageId: string, time: number): Sent => ({
  ...found(passageId, time),
  eventType: 'PLATE_RECOGNITION',
});
const fined = (passageId: string, time: number): Sent => ({
  ...found(passageId, time),
  eventType: 'TRAFFIC_VIOLATION',
});

/** The flow of a day, which must be the same before and after the roll-up, group by group. */
const flowOf = async (
  { locationId }: Pick<Camera, 'locationId'>,
  range: object = { ...RANGE, interval: '15min' },
) => {
  const question = { locationId, ...range };
  const before = await ask('traffic.getFlow', question);
  await rollUpAllTraffic(gantry, 1);
  expect(await ask('traffic.getFlow', question)).toEqual(before);
  return before;
};
const volumesOf = (flow: { points: { start: string; volume: number | null }[] }): Record<string, number> =>
  Object.fromEntries(
    flow.points.flatMap(({ start, volume }) => (volume ? [[start.slice(11, 16), volume]] : [])),
  );

/** What `gantry db check` finds in traffic. */
const differences = async () => {
  const results = await runChecks({
    connectionString: gantry.app.context.config.DATABASE_URL ?? '',
    features: [],
    limit: 10,
    onResult: () => undefined,
  });
  return results.flatMap(({ name, differences: found }) => (name.startsWith('traffic by') ? found : []));
};

describe('events with one passageId are one vehicle', () => {
  it('with what each of them says of it', async () => {
    const camera = await register();
    await send(camera, [
      found('a', at('08:00'), { vehicleType: 'truck', lane: 2 }),
      measured('a', at('08:00') + 700),
      read('a', at('08:00') + 900),
      fined('a', at('08:00') + 950),
      measured('b', at('08:01'), 70),
    ]);
    expect(await flowOf(camera)).toMatchObject({ volume: 2, measured: 2, meanSpeed: 60 });
    const counts = await ask('traffic.getCounts', {
      locationId: camera.locationId,
      ...RANGE,
      interval: 'day',
      by: ['class', 'lane'],
    });
    expect(counts.bins[0].cells).toHaveLength(2);
    expect(counts.bins[0].cells).toContainEqual({ lane: 2, class: expect.anything(), volume: 1 });
    expect(
      await ask('traffic.getSpeedStudy', { locationId: camera.locationId, ...RANGE, units: 'KMH' }),
    ).toMatchObject({
      n: 2,
      mean: 60,
      max: 70,
    });
  });

  it.each([
    ['together', false],
    ['in an earlier and a later roll-up', true],
  ])('if they come %s, also the later one first, and in two quarters of an hour', async (_, isApart) => {
    const camera = await register();
    const later = [measured('a', at('08:15') + 1_000), measured('b', at('09:00'))];
    const earlier = [found('a', at('08:14') + 59_000), found('b', at('08:59') + 59_900)];
    await send(camera, later);
    if (isApart) {
      expect(volumesOf(await flowOf(camera))).toEqual({ '08:15': 1, '09:00': 1 });
    }
    await send(camera, earlier);
    expect(volumesOf(await flowOf(camera))).toEqual({ '08:00': 1, '08:45': 1 });
    expect(await ask('traffic.getFlow', { locationId: camera.locationId, ...RANGE })).toMatchObject({
      volume: 2,
      measured: 2,
      meanSpeed: 50,
    });
  });

  it.each([
    ['before', false],
    ['after', true],
  ])('until one is deleted %s the roll-up: the other counts, at its own time', async (_, isRolledUp) => {
    const camera = await register();
    const [first, second, third, fourth] = await send(camera, [
      found('a', at('08:14') + 59_000),
      measured('a', at('08:15') + 1_000),
      found('b', at('10:00')),
      measured('b', at('10:00') + 500),
    ]);
    if (isRolledUp) await rollUpAllTraffic(gantry, 10);
    await ask('events.delete', { id: first });
    await ask('events.delete', { id: fourth });
    expect(volumesOf(await flowOf(camera))).toEqual({ '08:15': 1, '10:00': 1 });
    expect(await ask('traffic.getFlow', { locationId: camera.locationId, ...RANGE })).toMatchObject({
      volume: 2,
      measured: 1,
    });
    await ask('events.delete', { id: second });
    await ask('events.delete', { id: third });
    expect(volumesOf(await flowOf(camera))).toEqual({});
  });

  it('once for an assignment that counts all of their types', async () => {
    const camera = await register();
    const { id: pointId } = await ask('points.create', {
      locationId: camera.locationId,
      name: 'NB',
      direction: 'NB',
    });
    const countedTypes = ['VEHICLE_DETECTION', 'PLATE_RECOGNITION', 'TRAFFIC_VIOLATION'];
    await ask('assignments.create', { sensorId: camera.sensorId, pointId, countedTypes });
    await send(camera, [
      ...[found, measured, read, fined].map((event, n) => event('all', at('08:00') + n)),
      ...[measured, read].map((event, n) => event('read', at('08:02') + n)),
      fined('fined', at('08:03')),
      measured('measured', at('08:04')),
      read('other', at('08:05')),
    ]);
    expect(volumesOf(await flowOf(camera))).toEqual({ '08:00': 4 });
    expect(await ask('traffic.getSpeedStudy', { pointId, ...RANGE, units: 'KMH' })).toMatchObject({
      n: 2,
      mean: 50,
    });
    expect(await ask('traffic.getHeadways', { pointId, ...RANGE })).toMatchObject({ n: 3 });
  });

  it('for each sensor, and again more than 15 minutes later', async () => {
    const [one, other] = [await register(), await register()];
    const times = ['08:00', '08:15', '08:30', '08:46', '09:02'].map(at);
    await send(
      one,
      times.map((time) => found('7', time)),
    );
    await send(
      other,
      times.map((time) => found('7', time + 1)),
    );
    for (const camera of [one, other])
      expect(volumesOf(await flowOf(camera))).toEqual({ '08:00': 1, '08:45': 1, '09:00': 1 });
    // What joins two passages makes them one.
    await send(one, [found('7', at('08:40'))]);
    expect(volumesOf(await flowOf(one))).toEqual({ '08:00': 1, '09:00': 1 });
  });

  // Without a second try: once a passage was found, the service expects more.
  it('in the last minutes, in headways and in what rules judge', { retry: 0 }, async () => {
    const camera = await register();
    const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
    const live = async () =>
      (await ask('traffic.getLive')).locations.find(
        (each: { locationId: string }) => each.locationId === camera.locationId,
      );
    await send(camera, [
      found('a', now),
      measured('a', now + 100),
      measured('b', now + 200),
      found('c', now + 300),
    ]);
    expect(await live()).toMatchObject({ volume: 3, measured: 2 });
    await rollUpAllTraffic(gantry, 10);
    expect(await live()).toMatchObject({ volume: 3, measured: 2 });

    const vehicles = Array.from({ length: 37 }, (_, n) => at('08:00') + n * 700);
    await send(
      camera,
      vehicles.flatMap((time, n) => [found(`v${n}`, time, { lane: 1 }), measured(`v${n}`, time + 300)]),
    );
    const headways = await ask('traffic.getHeadways', { sensorId: camera.sensorId, ...RANGE });
    expect(headways).toMatchObject({ n: 36, mean: 0.7 });
    const flags = async () =>
      (await ask('traffic.getDataQuality', { sensorId: camera.sensorId, ...RANGE })).flags;
    expect((await flags()).filter(({ rule }: { rule: string }) => rule === 'R3')).toEqual([]);
    await send(camera, [found('v37', at('08:00') + 25_950, { lane: 1 })]);
    expect((await flags()).filter(({ rule }: { rule: string }) => rule === 'R3')).toMatchObject([
      { value: 38 },
    ]);
  });
});

describe('whatever happens to events', () => {
  const random = seeded(82);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const TYPES = [
    'VEHICLE_DETECTION',
    'SPEED_DETECTION',
    'PLATE_RECOGNITION',
    'TRAFFIC_VIOLATION',
    'INCIDENT',
  ];
  const sourceOf = (type: string): number =>
    type === 'PLATE_RECOGNITION' ? 2 : type === 'TRAFFIC_VIOLATION' || type === 'INCIDENT' ? 3 : 1;

  interface Stored extends Sent {
    readonly id: string;
    readonly sensorId: string;
  }

  /** The vehicles of some events, computed one by one. */
  const vehiclesOf = (events: readonly Stored[]) => {
    const inOrder = events.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    const passages: { key: string; first: number; last: number; events: Stored[] }[] = [];
    for (const event of inOrder) {
      if (event.eventType === 'INCIDENT') continue;
      const key = `${event.sensorId} ${event.passageId ?? event.id}`;
      const known = passages.findLast((each) => each.key === key);
      if (known && event.at - known.last <= 15 * MINUTE_MS) {
        known.last = event.at;
        if (event.at - known.first <= 15 * MINUTE_MS) known.events.push(event);
      } else passages.push({ key, first: event.at, last: event.at, events: [event] });
    }
    return passages.flatMap((passage) => {
      const types = [...new Set(passage.events.map(({ eventType }) => eventType))].sort();
      const isUsual =
        types.length === 1 && ['VEHICLE_DETECTION', 'PLATE_RECOGNITION'].includes(types[0] ?? '');
      const firstOf = <Value>(of: (event: Stored) => Value | undefined): Value | undefined =>
        passage.events.map(of).find((value) => value !== undefined);
      const speed = firstOf(({ vehicleSpeed }) => (vehicleSpeed === 0 ? undefined : vehicleSpeed));
      return [1, 2, 3].flatMap((source) => {
        const own = passage.events.find(({ eventType }) => sourceOf(eventType) === source);
        if (!own) return [];
        const kind = [
          firstOf(({ vehicleType }) => vehicleType) ?? '',
          firstOf(({ lane }) => lane) ?? '',
          isUsual ? '' : types.join('+'),
        ];
        const slot = Math.floor(own.at / 300_000) * 300_000;
        return [
          `${own.sensorId} ${source} ${new Date(slot).toISOString()} ${kind.join('|')} ${speed ?? '-'}`,
        ];
      });
    });
  };

  const countedOf = (names: readonly string[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
    return Object.fromEntries(Object.entries(counts).sort());
  };

  const rolledUp = async (sensorIds: readonly string[]): Promise<Record<string, number>> => {
    const { rows } = await gantry.pool.query<{ name: string; n: number }>(
      `SELECT concat(sensor_id, ' ', source, ' ', to_char(slot AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ' ',
           vehicle_type, '|', lane, '|', event_type, ' ', CASE measure WHEN -1 THEN '-' ELSE measure::text END) AS name, sum(value)::int AS n
         FROM traffic_bins, unnest(cells, measures, sums) AS one (cell, measure, value) JOIN traffic_cells ON id = cell
         WHERE minutes = 5 AND sensor_id = ANY ($1) AND measure >= -1 GROUP BY 1`,
      [sensorIds],
    );
    return Object.fromEntries(rows.map(({ name, n }) => [name, n] as const).sort());
  };

  afterEach(async () => {
    await rollUpAllTraffic(gantry, 100);
  });

  it('the counts are those of the vehicles in what is left', async () => {
    const cameras = [await register(), await register()];
    const stored: Stored[] = [];
    const start = MIDNIGHT + 86_400_000 * 2 - 2 * 3_600_000;
    const some = (): Sent => ({
      eventType: pick(TYPES),
      at: start + Math.floor(random() * 4 * 3_600_000),
      passageId: random() < 0.2 ? undefined : `p${Math.floor(random() * 12)}`,
      vehicleSpeed: pick([undefined, undefined, 0, 40, 90]),
      vehicleType: pick([undefined, 'CAR', 'truck']),
      lane: pick([undefined, 1, 2]),
    });
    const ids = cameras.map(({ sensorId }) => sensorId);
    const flowNow = async () =>
      Promise.all(
        cameras.map(({ locationId }) =>
          ask('traffic.getFlow', {
            locationId,
            startDate: '2026-03-11',
            endDate: '2026-03-12',
            interval: '15min',
          }),
        ),
      );
    for (let round = 0; round < lengthOf({ gate: 25, full: 100 }); round++) {
      for (const camera of cameras) {
        const sent = Array.from({ length: 1 + Math.floor(random() * 12) }, some);
        const sentIds = await send(camera, sent);
        stored.push(
          ...sent.map((event, n) => ({ ...event, id: sentIds[n] ?? '', sensorId: camera.sensorId })),
        );
      }
      if (random() < 0.6) await rollUpTraffic(db, 1 + Math.floor(random() * 4));
      for (let n = Math.floor(random() * 8); n > 0 && stored.length > 0; n--) {
        const [gone] = stored.splice(Math.floor(random() * stored.length), 1);
        await ask('events.delete', { id: gone?.id });
      }
      if (random() < 0.3) await rollUpTraffic(db, 1 + Math.floor(random() * 4));
      if (random() < 0.15) {
        const day = MIDNIGHT + DAY_MS * pick([1, 2]);
        await inTransaction(db, async (tx) => {
          await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
          await recountDay(tx, { from: day, until: day + DAY_MS }, sql`true`);
        });
      }
      if (round % 5 !== 4) continue;
      const pending = await flowNow();
      await rollUpAllTraffic(gantry, 3);
      expect(await rolledUp(ids)).toEqual(countedOf(vehiclesOf(stored)));
      expect(await flowNow()).toEqual(pending);
    }
    const counted = vehiclesOf(stored).length;
    expect(counted).toBeLessThan(stored.length);
    expect(await differences()).toEqual([]);
  }, 600_000);
});
