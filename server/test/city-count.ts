import { readFileSync } from 'node:fs';
import { MINUTE_MS } from '@gantry/contract/durations';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { Gantry } from './harness.ts';

// The turning movement count of the city of Toronto (data/README.md), as devices would send it.

const ZONE = '-05:00';
export const CITY_ZONE = 'America/Toronto';
export const CITY_DAY = '2018-02-27';

const CLASSES: Record<string, string> = {
  CARS: 'CAR',
  TRUCK: 'TRUCK',
  BUS: 'BUS',
  PEDS: 'PEDESTRIAN',
  BIKE: 'BICYCLE',
  OTHER: 'OTHER',
};

/** What a quarter hour counted of a class on a movement. */
interface Counted {
  readonly start: number;
  readonly movement: { readonly from: string; readonly turn?: string };
  readonly class: string;
  readonly count: number;
}

const rows: Record<string, string>[] = parse(
  readFileSync(new URL('data/turning-movements.csv', import.meta.url), 'utf8'),
  { columns: true },
);

const quarters: Counted[][] = rows.map(({ start, ...counts }) =>
  Object.entries(counts).map(([column, count]) => {
    const [from = '', name = '', turn] = column.split('_');
    return {
      start: Date.parse(`${start}:00${ZONE}`),
      movement: turn ? { from, turn } : { from },
      class: CLASSES[name] ?? 'UNCLASSIFIED',
      count: Number(count),
    };
  }),
);

/** Sends it as counts of quarter hours, by movement. */
export async function sendCityCounts(gantry: Gantry, apiKey: string): Promise<void> {
  const periods = quarters.flatMap((quarter) => {
    const names = new Set(quarter.map(({ movement }) => JSON.stringify(movement)));
    return [...names].map((name) => {
      const parts = quarter.filter(({ movement }) => JSON.stringify(movement) === name);
      const counts = Object.fromEntries(parts.map((part) => [part.class, part.count]));
      return {
        start: new Date(parts[0]?.start ?? 0).toISOString(),
        seconds: 900,
        movement: JSON.parse(name),
        byClass: { scheme: 'BASIC', counts },
      };
    });
  });
  const { success } = await gantry.ok('counts.ingest', { apiKey, periods });
  expect(success).toBe(true);
}

/** Sends every road user as an event, evenly spread over its quarter hour. */
export async function sendCityVehicles(gantry: Gantry, apiKey: string): Promise<void> {
  for (const quarter of quarters) {
    const users = quarter.flatMap((part) => Array.from({ length: part.count }, () => part));
    const every = (15 * MINUTE_MS) / users.length;
    const events = users.map(({ start, movement, class: code }, n) => ({
      eventType: 'VEHICLE_DETECTION',
      timestamp: new Date(Math.floor(start + n * every)).toISOString(),
      vehicleClass: { scheme: 'BASIC', code },
      movement,
    }));
    const [from, until] = [quarter[0]?.start ?? 0, (quarter[0]?.start ?? 0) + 15 * MINUTE_MS];
    const observed = { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
    for (let n = 0; n < events.length; n += 500) {
      const { success } = await gantry.ok('events.ingestBatch', {
        apiKey,
        observed,
        events: events.slice(n, n + 500),
      });
      expect(success).toBe(true);
    }
  }
}
