import { HOUR_MS } from '@gantry/contract/durations';
import { describe, expect, it } from 'vitest';
import { gather, UsualHours } from '../src/alarms/gather.ts';
import { resolveTime } from '../src/platform/time.ts';
import { eventually, sharedGantry } from './harness.ts';
import { createShiftedTime } from './shifted-time.ts';

// The checks of SENSOR_PLAUSIBILITY against what sensors sent: each finds the sensor that fails it, and no other one.

const time = createShiftedTime();
// No whole hour ends during the tests, which advance the time by minutes. Minutes are counted for a quarter of an hour.
if (time.now() % HOUR_MS > HOUR_MS - 1_200_000) time.advance(-600_000);
const gantry = await sharedGantry({
  overrides: {
    clock: time.sources,
    timings: { evaluateAlarmsMs: 50, rollUpTrafficMs: 50, writeContactsMs: 50, sweepSensorsMs: 600_000 },
    announce: async () => ({ recipients: 1 }),
  },
});
const admin = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input?: unknown) => gantry.ok(procedure, input, { token: admin });
// Counts are kept by hours of UTC, which are not whole hours here.
await ask('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Kolkata' });
const WEEK_MS = 7 * 24 * HOUR_MS;
const { id: locationId } = await ask('locations.create', { name: 'Bridge' });

let made = 0;
const addSensor = (fields: object = {}) =>
  ask('sensors.create', {
    name: `Sensor ${made}`,
    deviceId: `sensor-${made++}`,
    type: 'RADAR',
    locationId,
    ...fields,
  });
type Sensor = Awaited<ReturnType<typeof addSensor>>;
/** Events of a sensor at these times (Unix milliseconds). */
const send = async ({ apiKey }: Sensor, times: readonly number[], fields: (n: number) => object) => {
  const events = times.map((at, n) => ({ timestamp: new Date(at).toISOString(), ...fields(n) }));
  for (let n = 0; n < events.length; n += 500)
    await gantry.ok('events.ingestBatch', { apiKey, events: events.slice(n, n + 500) });
};
const detection = () => ({ eventType: 'VEHICLE_DETECTION' });
const speed = (vehicleSpeed: number) => () => ({ eventType: 'SPEED_DETECTION', vehicleSpeed });
/** Counts of whole hours of a detector. */
const count = ({ apiKey }: Sensor, starts: readonly number[], volume: number) =>
  gantry.ok('counts.ingest', {
    apiKey,
    periods: starts.map((start) => ({ start: new Date(start).toISOString(), seconds: 3_600, volume })),
  });
const every = (from: number, stepMs: number, count: number) =>
  Array.from({ length: count }, (_, n) => from + n * stepMs);
const isCounted = (sensor: Sensor, hour: number) =>
  eventually(
    () =>
      gantry.count(
        `traffic_bins WHERE minutes = 60 AND sensor_id = '${sensor.id}' AND slot = '${new Date(hour).toISOString()}'`,
      ),
    (n) => Number(n) > 0,
  );
const setStatus = (sensor: Sensor, status: string) =>
  gantry.pool.query('UPDATE sensors SET status = $2 WHERE id = $1', [sensor.id, status]);
const setOnline = (sensor: Sensor) => setStatus(sensor, 'ONLINE');

/** The sensors that fail a check, by name, with the value. */
const failing = async (check: string, expected: readonly Sensor[]) => {
  const condition = { source: 'SENSOR_PLAUSIBILITY', checks: [check] };
  const rule = await ask('alarmRules.create', { name: check, condition, severity: 'LOW' });
  time.advance(60_000);
  const read = async () =>
    (await ask('alarms.getAll', { ruleId: rule.id })).alarms as { place: string; value: number }[];
  const found = await eventually(read, (alarms) => alarms.length >= expected.length && expected.length > 0);
  await ask('alarmRules.delete', { id: rule.id });
  expect(found.map(({ place }) => place).sort()).toEqual(expected.map(({ name }) => name).sort());
  return found.map(({ value }) => value);
};

const thisHour = () => Math.floor(time.now() / HOUR_MS) * HOUR_MS;
/** The last whole hour. */
const lastHour = () => thisHour() - HOUR_MS;
/** The last hour that was whole on local clocks, half an hour from those of UTC. */
const localHour = () => Math.floor((time.now() - HOUR_MS / 2) / HOUR_MS) * HOUR_MS - HOUR_MS / 2;
const weeksBefore = (at: number) => [1, 2, 3, 4].map((weeks) => at - weeks * WEEK_MS);

describe('a sensor is found that', () => {
  it('is ONLINE and has seen no vehicle for longer than at this hour of the week, SILENT', async () => {
    const [silent, away, seldom, busy, counter] = [
      await addSensor(),
      await addSensor(),
      await addSensor(),
      await addSensor(),
      await addSensor(),
    ];
    const now = time.now();
    const hour = localHour();
    for (const then of weeksBefore(hour)) await count(counter, every(then - 3 * HOUR_MS, HOUR_MS, 7), 9);
    await count(counter, [hour - 7 * HOUR_MS], 9);
    await count(counter, every(hour - 6 * HOUR_MS, HOUR_MS, 6), 0);
    await setOnline(counter);
    for (const then of weeksBefore(now)) {
      for (const sensor of [silent, away])
        await send(sensor, every(then - 3 * HOUR_MS, HOUR_MS, 7), detection);
      // It sees nobody around this hour in other weeks either.
      await send(seldom, [then - 12 * HOUR_MS, then + 8 * HOUR_MS], detection);
    }
    for (const sensor of [silent, away]) await send(sensor, [now - 7 * HOUR_MS], detection);
    await send(seldom, [now - 7 * HOUR_MS], detection);
    await send(busy, [now - 7 * HOUR_MS, now - 2 * HOUR_MS], detection);
    for (const sensor of [silent, away, seldom, busy]) {
      await setStatus(sensor, sensor === away ? 'OFFLINE' : 'ONLINE');
      await isCounted(sensor, Math.floor((now - 7 * HOUR_MS) / HOUR_MS) * HOUR_MS);
    }
    const found = await failing('SILENT', [silent, counter]);
    for (const hours of found) {
      expect(hours).toBeGreaterThan(5);
      expect(hours).toBeLessThan(8);
    }
  });

  it('but not on the nights after clocks were set back, if it sees none on others', async () => {
    const night = await addSensor();
    await setOnline(night);
    const hourOn = (day: string, hour: number) => resolveTime(`${day}T0${hour}:00`, 'Europe/Berlin');
    for (const day of ['2025-10-20', '2025-10-13', '2025-10-06', '2025-09-29'])
      await count(night, [hourOn(day, 0) - 3 * HOUR_MS, hourOn(day, 5), hourOn(day, 6)], 9);
    await count(night, [hourOn('2025-10-27', 0) - 3 * HOUR_MS], 9);
    const { settings, ...context } = gantry.app.context;
    const inBerlin = { current: () => ({ ...settings.current(), timezone: 'Europe/Berlin' }) };
    const silentAt = async (now: number) => {
      const condition = { source: 'SENSOR_PLAUSIBILITY', checks: ['SILENT'] } as const;
      const rules = [{ condition }] as unknown as Parameters<typeof gather>[1];
      const parts = { ...context, settings: inBerlin } as unknown as Parameters<typeof gather>[0];
      const { implausible } = await gather(parts, rules, new UsualHours(), now);
      return implausible?.get('SILENT')?.has(night.id);
    };
    expect(await silentAt(hourOn('2025-10-27', 5) - 60_000)).toBe(false);
    expect(await silentAt(hourOn('2025-10-27', 5) + 1_800_000)).toBe(true);
  });

  it('repeats one speed or one plate, STUCK', async () => {
    const [stuck, away, even, standing, plate, platoon] = [
      await addSensor(),
      await addSensor(),
      await addSensor(),
      await addSensor(),
      await addSensor({ type: 'ANPR' }),
      await addSensor({ type: 'ANPR' }),
    ];
    const times = every(time.now() - 300_000, 5_000, 40);
    for (const sensor of [stuck, away]) await send(sensor, times, speed(57));
    await send(even, times, (n) => ({ eventType: 'SPEED_DETECTION', vehicleSpeed: n === 35 ? 58 : 57 }));
    await send(standing, times, speed(0));
    const read = (licensePlateNumber: string) => ({ eventType: 'PLATE_RECOGNITION', licensePlateNumber });
    await send(plate, times.slice(0, 20), () => read('B AB 123'));
    await send(platoon, times, (n) => read(`B AB ${n}`));
    for (const sensor of [stuck, even, standing, plate, platoon]) await setOnline(sensor);
    await setStatus(away, 'OFFLINE');
    await failing('STUCK', [stuck, plate]);
  });

  it('counts more vehicles than a lane carries, CHATTER', async () => {
    const [chatter, lanes, anywhere] = [
      await addSensor(),
      await addSensor(),
      await addSensor({ locationId: undefined }),
    ];
    const minute = Math.floor(time.now() / 60_000) * 60_000;
    const times = every(minute, 500, 40);
    const on = (lane: string) => ({ eventType: 'VEHICLE_DETECTION', lane });
    await send(chatter, times, () => on('1'));
    await send(anywhere, times, () => on('1'));
    await send(lanes, times, (n) => on(String(n % 2)));
    await eventually(
      () => gantry.count(`traffic_bins WHERE minutes = 1 AND vehicles = 40`),
      (n) => Number(n) === 2,
    );
    // Traffic is counted at locations.
    expect(await failing('CHATTER', [chatter])).toEqual([40]);
  });

  it('counts far more vehicles than in four weeks, SPIKE', async () => {
    const [spike, usual, few] = [await addSensor(), await addSensor(), await addSensor()];
    const hour = lastHour();
    for (const then of weeksBefore(hour)) {
      await send(spike, every(then, 60_000, 12), detection);
      await send(usual, every(then, 60_000, 20), detection);
      await send(few, every(then, 60_000, 1), detection);
    }
    await send(spike, every(hour, 30_000, 61), detection);
    await send(usual, every(hour, 30_000, 61), detection);
    await send(few, every(hour, 30_000, 49), detection);
    for (const sensor of [spike, usual, few]) await isCounted(sensor, hour);
    // Detectors that count from one local hour to the next, of which no hour of UTC has more than a half.
    const [peak, even] = [await addSensor(), await addSensor()];
    const local = hour - HOUR_MS / 2;
    for (const sensor of [peak, even]) await count(sensor, weeksBefore(local), 20);
    await count(peak, [local], 101);
    await count(even, [local], 100);
    expect((await failing('SPIKE', [spike, peak])).sort()).toEqual([101, 61]);
  });

  it('has a wrong clock, CLOCK', async () => {
    const [slow, right] = [await addSensor(), await addSensor()];
    for (let n = 0; n < 60; n++) {
      const now = time.now();
      await send(slow, [now - 180_000], () => ({ eventType: 'VEHICLE_DETECTION', lane: String(n) }));
      await send(right, [now - 1_000], () => ({ eventType: 'VEHICLE_DETECTION', lane: String(n) }));
      time.advance(1_000);
    }
    // The check is evaluated once a minute, so that it would find only a minute later what is written after it.
    await eventually(
      () =>
        gantry.count(`sensor_clocks WHERE sensor_id IN ('${slow.id}', '${right.id}') AND state <> 'UNKNOWN'`),
      (n) => n === 2,
    );
    const [seconds = 0] = await failing('CLOCK', [slow]);
    expect(seconds).toBeGreaterThan(170);
    expect(seconds).toBeLessThan(190);
  });

  it('reads far fewer plates than usual, READ_RATE', async () => {
    const [blind, away, sharp, detector] = [
      await addSensor({ type: 'ANPR' }),
      await addSensor({ type: 'ANPR' }),
      await addSensor({ type: 'ANPR' }),
      await addSensor(),
    ];
    const hour = lastHour();
    const plates = (share: number) => (n: number) =>
      n % 10 < share * 10
        ? { eventType: 'PLATE_RECOGNITION', licensePlateNumber: `B AB ${n}` }
        : { eventType: 'VEHICLE_DETECTION' };
    for (const then of weeksBefore(hour)) {
      for (const sensor of [blind, away]) await send(sensor, every(then, 60_000, 50), plates(0.8));
      await send(sharp, every(then, 60_000, 50), plates(0.8));
      await send(detector, every(then, 60_000, 50), plates(0));
    }
    for (const sensor of [blind, away]) await send(sensor, every(hour, 60_000, 50), plates(0.3));
    await send(sharp, every(hour, 60_000, 50), plates(0.5));
    await send(detector, every(hour, 60_000, 50), plates(0));
    for (const sensor of [blind, away, sharp, detector]) {
      await setStatus(sensor, sensor === away ? 'OFFLINE' : 'ONLINE');
      await isCounted(sensor, hour);
    }
    const [share] = await failing('READ_RATE', [blind]);
    expect(share).toBeCloseTo(0.3, 5);
  });
});
