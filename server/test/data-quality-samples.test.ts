import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { noteObserved } from '../src/traffic/presence-store.ts';
import { judgeNext } from '../src/traffic/quality/samples.ts';
import { startTrafficRollUp } from '../src/traffic/roll-up.ts';
import { keepTrafficSince, removeDaysNotKept } from '../src/traffic/slots-store.ts';
import { eventually, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const { db, log, clock, settings } = gantry.app.context;
const token = await gantry.tokenFor('OPERATOR');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const register = async (point?: object): Promise<{ id: string; apiKey: string; locationId: string }> => {
  const { id: locationId } = await ask('locations.create', { name: `Ring ${randomUUID()}`, speedLimit: 50 });
  if (point) await ask('points.create', { locationId, name: 'Ring', ...point });
  const sensor = { name: 'Loop', deviceId: randomUUID(), type: 'RADAR', locationId };
  return { ...(await ask('sensors.create', sensor)), locationId };
};

const DAY = '2026-03-10';
const MIDNIGHT = Date.parse(`${DAY}T00:00:00Z`);
const iso = (time: number): string => new Date(time).toISOString();

/** Successive samples of a lane. */
const samples = (parts: readonly object[], seconds = 30, from = MIDNIGHT): object[] =>
  parts.map((part, n) => ({ start: iso(from + n * seconds * 1_000), seconds, lane: 2, volume: 1, ...part }));
const times = <Part>(count: number, part: Part): Part[] => Array.from({ length: count }, () => part);
const send = async (apiKey: string, periods: readonly object[]): Promise<void> => {
  for (let n = 0; n < periods.length; n += 1_000) {
    const answer = await gantry.ok('counts.ingest', { apiKey, periods: periods.slice(n, n + 1_000) });
    expect(answer.success ? null : answer.results).toBeNull();
  }
};
const flagsOf = async (sensorId: string, rule: string, range = { startDate: DAY, endDate: DAY }) =>
  (await ask('traffic.getDataQuality', { sensorId, ...range })).flags.filter(
    (flag: { rule: string }) => flag.rule === rule,
  );

const zone = () => settings.current().timezone;
/** Stores what is found in the days that are due, as the service does in the background. */
const judge = async (): Promise<void> => {
  await rollUpAllTraffic(gantry, 100);
  while (await judgeNext(db, { log, zone: zone(), now: clock.now() }));
};

interface Case {
  readonly rule: string;
  readonly what: string;
  readonly below: readonly object[];
  readonly above: readonly object[];
  readonly flag: object;
  readonly point?: object;
}

/** Minutes of a day, of which those between 05:00 and 22:00 have as many vehicles as are known. */
const minutes = (known: number): object[] =>
  samples(
    Array.from({ length: 1_440 }, (_, n) => ({ volume: n >= 300 + known && n < 1_320 ? null : 1 })),
    60,
  );

const CASES: readonly Case[] = [
  {
    rule: 'R3',
    what: '38 vehicles in 30 s on a lane',
    below: samples([{ volume: 37 }]),
    above: samples([{ volume: 38 }]),
    flag: { severity: 'REJECT', value: 38, threshold: 38, lane: 2, until: '2026-03-11T00:00:30.000Z' },
  },
  {
    rule: 'R4',
    what: 'two minutes of full occupancy on a main line',
    below: samples([...times(4, { occupancy: 100 }), { occupancy: 9 }]),
    above: samples([...times(5, { occupancy: 100 }), { occupancy: 9 }]),
    flag: { severity: 'REJECT', value: 2.5, threshold: 2, until: '2026-03-11T00:02:30.000Z' },
  },
  {
    rule: 'R4',
    what: 'half an hour of full occupancy on a ramp',
    point: { facility: 'RAMP_ON', lanes: 1 },
    below: samples([...times(60, { occupancy: 100 }), { occupancy: 9 }]),
    above: samples([...times(61, { occupancy: 100 }), { occupancy: 9 }]),
    flag: { value: 30.5, threshold: 30 },
  },
  {
    rule: 'R5',
    what: 'the same occupancy for a day',
    below: samples([...times(96, { occupancy: 7 }), { occupancy: 8 }], 900, MIDNIGHT - 900_000),
    above: samples([...times(97, { occupancy: 7 }), { occupancy: 8 }], 900, MIDNIGHT - 900_000),
    flag: { severity: 'REJECT', value: 24.25, threshold: 24 },
  },
  {
    rule: 'R6',
    what: 'jumps of occupancy',
    below: samples([{ occupancy: 0 }, { occupancy: 74 }]),
    above: samples([{ occupancy: 0 }, { occupancy: 75 }]),
    flag: { severity: 'SUSPECT', value: 90, threshold: 60 },
  },
  {
    rule: 'R7',
    what: 'too few samples in 17 hours',
    below: minutes(612),
    above: minutes(611),
    flag: { severity: 'REJECT', value: 0.599, threshold: 0.6 },
  },
  {
    rule: 'R8',
    what: 'empty samples in town',
    point: { setting: 'URBAN' },
    below: samples([...times(59, { occupancy: 0 }), ...times(41, { occupancy: 5 })]),
    above: samples([...times(60, { occupancy: 0 }), ...times(40, { occupancy: 5 })]),
    flag: { severity: 'REJECT', value: 0.6, threshold: 0.59 },
  },
  {
    rule: 'R8',
    what: 'empty samples where nothing is entered',
    below: samples([...times(90, { occupancy: 0 }), ...times(10, { occupancy: 5 })]),
    above: samples([...times(91, { occupancy: 0 }), ...times(9, { occupancy: 5 })]),
    flag: { value: 0.91, threshold: 0.9 },
  },
  {
    rule: 'R9',
    what: 'many vehicles in many samples',
    below: samples([...times(2, { volume: 21 }), ...times(8, { volume: 20 })]),
    above: samples([...times(3, { volume: 21 }), ...times(7, { volume: 20 })]),
    flag: { severity: 'REJECT', value: 0.3, threshold: 0.2 },
  },
  {
    rule: 'R10',
    what: 'occupancy without vehicles',
    below: samples([...times(2, { volume: 0, occupancy: 5 }), ...times(98, { occupancy: 5 })]),
    above: samples([...times(3, { volume: 0, occupancy: 5 }), ...times(97, { occupancy: 5 })]),
    flag: { severity: 'SUSPECT', value: 0.03, threshold: 0.02 },
  },
  {
    rule: 'R14',
    what: 'mean speeds above 1.5 times the limit',
    below: samples([{ speed: { mean: 75 } }]),
    above: samples([{ speed: { mean: 75.1 } }]),
    flag: { severity: 'SUSPECT', value: 75.1, threshold: 75 },
  },
  {
    rule: 'R14',
    what: 'standing traffic on an empty road',
    below: samples([{ speed: { mean: 4 }, occupancy: 10 }]),
    above: samples([{ speed: { mean: 4 }, occupancy: 9 }]),
    flag: { value: 4, threshold: 5 },
  },
  {
    rule: 'R15',
    what: 'lengths that no vehicle has',
    below: samples([{ byLength: [{ from: 20, to: 40, count: 1 }] }]),
    above: samples([{ byLength: [{ from: 40, count: 1 }] }]),
    flag: { severity: 'INFO', value: 40, threshold: 40 },
  },
];

describe('samples', () => {
  it.each(CASES)('$rule finds $what', async ({ rule, point, below, above, flag }) => {
    const [first, second] = await Promise.all([register(point), register(point)]);
    await Promise.all([send(first.apiKey, below), send(second.apiKey, above)]);
    expect(await flagsOf(first.id, rule)).toEqual([]);
    expect(await flagsOf(second.id, rule)).toMatchObject([flag]);
  });

  it('do not make a day of which a count is only a part one with too few (R7)', async () => {
    const { id, apiKey } = await register();
    await send(apiKey, samples(times(120, {}), 60, MIDNIGHT + 7 * 3_600_000));
    expect(await flagsOf(id, 'R7')).toEqual([]);
  });

  it.each([DAY, '2026-03-29', '2025-10-26'])(
    'are too few in the hours of the clock, also when clocks change (%s)',
    async (day) => {
      const admin = await gantry.tokenFor('ADMIN');
      const setZone = (timezone: string) =>
        gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, { token: admin });
      await setZone('Europe/Berlin');
      const [whole, part] = [await register(), await register()];
      const at = (clock: string, parts: readonly object[]) =>
        parts.map((one) => ({ start: `${day}T${clock}:00`, seconds: 60, volume: 1, ...one }));
      for (const { apiKey } of [whole, part])
        await send(apiKey, [
          ...at('04:50', [{}]),
          ...Array.from({ length: 10 }, (_, n) => at(`12:0${n}`, [{}])).flat(),
        ]);
      await send(whole.apiKey, at('22:10', [{}]));
      await send(part.apiKey, at('21:50', [{}]));
      const range = { startDate: day, endDate: day };
      const found = [await flagsOf(whole.id, 'R7', range), await flagsOf(part.id, 'R7', range)];
      await setZone('UTC');
      expect(found).toMatchObject([[{ threshold: 0.6 }], []]);
    },
  );

  it('longer than a minute are of several lanes where these are not known', async () => {
    const [unknown, known] = await Promise.all([register(), register({ lanes: 2 })]);
    const many = samples([{ volume: 2_400, lane: undefined }], 900);
    await Promise.all([send(unknown.apiKey, many), send(known.apiKey, many)]);
    expect(await flagsOf(unknown.id, 'R3')).toEqual([]);
    expect(await flagsOf(known.id, 'R3')).toMatchObject([{ value: 40 }]);
  });
});

/** Vehicles at equal distances from a time. */
const vehicles = (count: number, everyMs: number, more: object = { lane: 1 }, from = MIDNIGHT): object[] =>
  Array.from({ length: count }, (_, n) => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp: iso(from + n * everyMs),
    ...more,
  }));
const sendVehicles = async (apiKey: string, events: readonly object[]): Promise<void> => {
  const { success, results } = await gantry.ok('events.ingestBatch', { apiKey, events });
  expect(success ? null : results).toBeNull();
};

describe('single vehicles', () => {
  const ODD: readonly Case[] = [
    {
      rule: 'R3',
      what: '38 vehicles in 30 s on a lane',
      below: vehicles(37, 789),
      above: vehicles(38, 789),
      flag: { severity: 'REJECT', value: 38, lane: 1 },
    },
    {
      rule: 'R4',
      what: 'a vehicle that stands on the detector',
      below: vehicles(1, 0, { lane: 1, occupancyMs: 120_000 }),
      above: vehicles(1, 0, { lane: 1, occupancyMs: 126_000 }),
      flag: { severity: 'REJECT', value: 2.1, threshold: 2 },
    },
    {
      rule: 'R14',
      what: 'mean speeds above 1.5 times the limit',
      below: vehicles(3, 1_000, { vehicleSpeed: 75 }),
      above: vehicles(3, 1_000, { vehicleSpeed: 75.1 }),
      flag: { severity: 'SUSPECT', threshold: 75 },
    },
    {
      rule: 'R15',
      what: 'lengths above 40 m',
      below: vehicles(1, 0, { vehicleLength: 40 }),
      above: vehicles(1, 0, { vehicleLength: 40.1 }),
      flag: { severity: 'INFO', value: 40.1, threshold: 40 },
    },
    {
      rule: 'R15',
      what: 'lengths below half a metre',
      below: vehicles(1, 0, { vehicleLength: 0.5 }),
      above: vehicles(1, 0, { vehicleLength: 0.4 }),
      flag: { severity: 'INFO', value: 0.4, threshold: 0.5 },
    },
  ];

  it.each(ODD)('$rule finds $what', async ({ rule, below, above, flag }) => {
    const [first, second] = await Promise.all([register(), register()]);
    await Promise.all([sendVehicles(first.apiKey, below), sendVehicles(second.apiKey, above)]);
    expect(await flagsOf(first.id, rule)).toEqual([]);
    expect(await flagsOf(second.id, rule)).toMatchObject([flag]);
  });

  it('without a lane are of a road whose lanes are not known', async () => {
    const { id, apiKey } = await register();
    await sendVehicles(apiKey, vehicles(100, 100, {}));
    expect(await flagsOf(id, 'R3')).toEqual([]);
    const day = { sensorId: id, startDate: DAY, endDate: DAY };
    expect((await ask('traffic.getFlow', { ...day, interval: 'day' })).volume).toBe(100);
  });
});

describe('what is found in a day', () => {
  it('is the same when the service has stored it, and changes with late data', async () => {
    const { id, apiKey, locationId } = await register();
    await send(apiKey, samples([{ volume: 38 }, { volume: 3 }]));
    const range = { startDate: '2026-03-09', endDate: '2026-03-12' };
    const before = await flagsOf(id, 'R3', range);
    expect(before).toHaveLength(1);
    await judge();
    expect(await flagsOf(id, 'R3', range)).toEqual(before);
    expect(
      (await gantry.pool.query('SELECT FROM traffic_flags WHERE sensor_id = $1', [id])).rows,
    ).not.toEqual([]);

    const volumes = async (more: object = {}) => {
      const { bins } = await ask('traffic.getCounts', { locationId, ...range, interval: 'day', ...more });
      return bins.map((bin: { volume: number | null }) => bin.volume);
    };
    expect(await volumes()).toEqual([null, null, null, null]);
    expect(await volumes({ flags: 'include' })).toEqual([null, 41, null, null]);
    const flow = await ask('traffic.getFlow', { locationId, ...range, interval: 'day' });
    expect(flow.points.map(({ status }: { status: string }) => status)).toEqual([
      'GAP',
      'EXCLUDED',
      'GAP',
      'GAP',
    ]);

    await send(apiKey, samples([{ volume: 8 }]));
    expect(await flagsOf(id, 'R3', range)).toEqual([]);
    expect(await volumes()).toEqual([null, 11, null, null]);
    await judge();
    expect(await flagsOf(id, 'R3', range)).toEqual([]);
    expect(await volumes()).toEqual([null, 11, null, null]);
  });

  it('waits if it takes too long to judge, and other days are judged before it', async () => {
    const [slow, quick] = [await register(), await register()];
    const { pool } = gantry;
    // What a statement that takes too long says.
    await pool.query(`
      CREATE FUNCTION too_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'too long' USING ERRCODE = '57014'; END $$;
      CREATE TRIGGER too_long BEFORE INSERT ON traffic_flags FOR EACH ROW WHEN (NEW.sensor_id = '${slow.id}') EXECUTE FUNCTION too_long()`);
    await send(slow.apiKey, samples([{ volume: 38 }]));
    await send(quick.apiKey, samples([{ volume: 38 }], 30, MIDNIGHT + 86_400_000));
    const unjudged = async (sensorId: string) =>
      (
        await pool.query(
          `SELECT attempts, round(extract(epoch FROM due_at - now()) / 60)::int AS minutes FROM traffic_unjudged WHERE sensor_id = $1`,
          [sensorId],
        )
      ).rows;
    await judge();
    expect(await unjudged(quick.id)).toEqual([]);
    expect(await unjudged(slow.id)).toEqual([{ attempts: 1, minutes: 1 }]);
    const quality = { sensorId: slow.id, startDate: DAY, endDate: DAY };
    expect(await ask('traffic.getDataQuality', quality)).toMatchObject({ unjudgedDays: 1 });

    await pool.query('UPDATE traffic_unjudged SET due_at = now() WHERE sensor_id = $1', [slow.id]);
    await judge();
    expect(await unjudged(slow.id)).toEqual([{ attempts: 2, minutes: 2 }]);

    await pool.query('DROP TRIGGER too_long ON traffic_flags; DROP FUNCTION too_long()');
    await pool.query('UPDATE traffic_unjudged SET due_at = now() WHERE sensor_id = $1', [slow.id]);
    await judge();
    expect(await unjudged(slow.id)).toEqual([]);
    expect(await flagsOf(slow.id, 'R3')).toHaveLength(1);
  });

  it('is out of studies of speeds, the flow and the ranking of locations until somebody accepts it', async () => {
    const { id, apiKey, locationId } = await register();
    const fast = vehicles(38, 700, { lane: 1, vehicleSpeed: 90 });
    await sendVehicles(apiKey, [
      ...fast,
      ...vehicles(40, 60_000, { lane: 1, vehicleSpeed: 40 }, MIDNIGHT + 90_000_000),
    ]);
    const range = { startDate: DAY, endDate: '2026-03-11' };
    const study = async () => (await ask('traffic.getSpeedStudy', { locationId, ...range, units: 'KMH' })).n;
    const flow = async () => (await ask('traffic.getFlow', { locationId, ...range, interval: 'day' })).volume;
    const top = async (): Promise<number> =>
      (await ask('traffic.getTopLocations', { ...range, by: 'volume', limit: 100 })).locations.find(
        (location: { locationId: string }) => location.locationId === locationId,
      )?.volume;
    expect([await study(), await flow()]).toEqual([40, 40]);
    await judge();
    expect(await top()).toBe(40);
    const whole = { sensorId: id, startDate: DAY, endDate: DAY, decision: 'ACCEPT', reason: 'A race' };
    await ask('traffic.reviewData', whole);
    expect([await study(), await flow(), await top()]).toEqual([78, 78, 78]);
    const [flag] = await flagsOf(id, 'R3');
    expect(flag.decision).toBeNull();
    await ask('traffic.reviewData', { ...whole, endDate: '2026-03-11', decision: 'REJECT' });
    expect([await study(), await flow()]).toEqual([0, null]);
  });
});

describe('retention', () => {
  it('removes what was found and observed together with the counts of the day', async () => {
    const { id, apiKey } = await register();
    const from = MIDNIGHT - 86_400_000 * 60;
    await send(apiKey, samples([{ volume: 38 }], 30, from));
    await noteObserved(db, id, { from, until: from + 3_600_000 });
    const flags = () => gantry.pool.query('SELECT FROM traffic_flags WHERE sensor_id = $1', [id]);
    {
      await using _ = startTrafficRollUp({
        db,
        log,
        now: clock.now,
        zone,
        everyMs: 50,
        notePending: () => undefined,
      });
      await eventually(flags, ({ rows }) => rows.length > 0);
    }
    await inTransaction(db, async (tx) => {
      await keepTrafficSince(tx, MIDNIGHT - 86_400_000 * 30);
      await removeDaysNotKept(tx, null, 1_000);
    });
    expect((await flags()).rows).toEqual([]);
    expect(await gantry.count(`traffic_observed WHERE sensor_id = '${id}'`)).toBe(0);
  });
});
