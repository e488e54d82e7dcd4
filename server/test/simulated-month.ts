import { randomUUID } from 'node:crypto';
import { MINUTE_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import type { Gantry } from './harness.ts';

// A month of traffic with known figures: rush hours, speeds from a known distribution, planned gaps, a quiet hour
// that is not a gap, recurring plates, and the night in which the clocks change.

export const ZONE = 'Europe/Vienna';
export const SPEED_LIMIT = 50;

/** A reported event, as recorded by the test. */
export interface Passage {
  readonly time: number;
  readonly sensor: number;
  readonly eventType: string;
  readonly vehicleType: string | null;
  readonly vehicleSpeed: number | null;
  readonly plate: string | null;
}

export interface SimulatedMonth {
  readonly from: number;
  readonly until: number;
  readonly locationId: string;
  readonly sensorIds: readonly string[];
  readonly passages: readonly Passage[];
  /** The gaps of each sensor, as [from, until) in Unix milliseconds, in the order of `sensorIds`. */
  readonly silent: readonly (readonly (readonly [number, number])[])[];
}

/** A generator of the same numbers in every run (mulberry32), at least 0 and less than 1. */
export const seeded = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

/** Vehicles per hour and sensor by the local hour: two rush hours, none before 5:00, half as many at weekends. */
const volumeAt = (time: number): number => {
  const { hour, weekday } = DateTime.fromMillis(time, { zone: ZONE });
  const ofDay = hour < 5 ? 0 : hour === 7 || hour === 8 ? 9 : hour === 17 ? 12 : 3;
  return weekday > 5 ? Math.floor(ofDay / 2) : ofDay;
};

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const KINDS = ['VEHICLE_DETECTION', 'SPEED_DETECTION', 'PLATE_RECOGNITION', 'TRAFFIC_VIOLATION', 'INCIDENT'];
const VEHICLES = ['CAR', 'CAR', 'CAR', 'TRUCK', 'BUS', null];

const at = (iso: string): number => DateTime.fromISO(iso, { zone: ZONE }).toMillis();

/** Plates that recur this often; all others occur once. */
export const REPEATED: readonly (readonly [plate: string, times: number])[] = [
  ['W-12345A', 9],
  ['GU 777 XY', 6],
  ['L-AIR1', 4],
];

/** Reports March 2026 to a service, through its API, from two sensors of one location. */
export const simulateMonth = async (gantry: Gantry): Promise<SimulatedMonth> => {
  const token = await gantry.tokenFor('ADMIN');
  await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: ZONE }, { token });
  const location = { name: 'Gürtel', address: 'Gürtel 12', speedLimit: SPEED_LIMIT };
  const { id: locationId } = await gantry.ok('locations.create', location, { token });
  const register = (name: string) =>
    gantry.ok('sensors.create', { name, deviceId: randomUUID(), type: 'RADAR', locationId }, { token });
  const sensors = [await register('North'), await register('South')];

  const [from, until] = [at('2026-03-01'), at('2026-04-01')];
  const silent: [number, number][][] = [
    [
      [at('2026-03-10T06:00'), at('2026-03-10T09:00')],
      [at('2026-03-20'), at('2026-03-21')],
    ],
    [[at('2026-03-20'), at('2026-03-21')]],
  ];
  const random = seeded(7);
  const passages: Passage[] = [];
  for (let hour = from; hour < until; hour += 60 * MINUTE_MS) {
    for (const [sensor, gaps] of silent.entries()) {
      if (gaps.some(([start, end]) => hour >= start && hour < end)) continue;
      for (let n = 0; n < volumeAt(hour); n++) {
        const eventType = KINDS[Math.floor(random() * KINDS.length)] ?? '';
        passages.push({
          time: hour + Math.floor(random() * 60 * MINUTE_MS),
          sensor,
          eventType,
          vehicleType: VEHICLES[Math.floor(random() * VEHICLES.length)] ?? null,
          vehicleSpeed: random() < 0.9 ? Math.max(0, 47 + 9 * normal(random)) : null,
          plate: eventType === 'PLATE_RECOGNITION' ? `ZZ ${passages.length}` : null,
        });
      }
    }
  }
  const readable = passages.flatMap(({ plate }, n) => (plate === null ? [] : [n]));
  let next = 0;
  for (const [plate, times] of REPEATED)
    for (let n = 0; n < times; n++) {
      const which = readable[next++ * 7] ?? 0;
      const passage = passages[which];
      if (passage) passages[which] = { ...passage, plate };
    }

  for (const [sensor, { apiKey }] of sensors.entries()) {
    const mine = passages.filter((passage) => passage.sensor === sensor);
    for (let n = 0; n < mine.length; n += 500) {
      const events = mine.slice(n, n + 500).map(({ time, plate, eventType, vehicleType, vehicleSpeed }) => ({
        timestamp: new Date(time).toISOString(),
        eventType,
        vehicleType,
        vehicleSpeed,
        licensePlateNumber: plate,
      }));
      const { success } = await gantry.ok('events.ingestBatch', { apiKey, events });
      if (!success) throw new Error('Not every event of the month was stored');
    }
  }
  // Inserts the status history, according to which the sensors were ONLINE except in the gaps.
  for (const [sensor, { id }] of sensors.entries()) {
    const changes = [
      [from - 60 * MINUTE_MS, 'ONLINE'],
      ...(silent[sensor] ?? []).flatMap(([start, end]) => [
        [start, 'OFFLINE'],
        [end, 'ONLINE'],
      ]),
      [until + 60 * MINUTE_MS, 'OFFLINE'],
    ];
    await gantry.pool.query('UPDATE sensors SET created_at = $2 WHERE id = $1', [id, new Date(from - 1)]);
    for (const [time, status] of changes)
      await gantry.pool.query(
        `INSERT INTO sensor_status_history (sensor_id, to_status, at, reason) VALUES ($1, $2, $3, 'simulated')`,
        [id, status, new Date(Number(time))],
      );
  }
  return { from, until, locationId, sensorIds: sensors.map(({ id }) => id), passages, silent };
};
