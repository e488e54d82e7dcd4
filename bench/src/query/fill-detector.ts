import type { GantryClient } from '@gantry/client';
import { MINUTE_MS } from '@gantry/contract/durations';
import { createRandom, mix } from '@gantry/simulator/src/random.ts';
import { trafficLevel } from '@gantry/simulator/src/traffic.ts';
import { registerSensors } from '../sensors.ts';
import type { HistoryOptions } from './history.ts';

const QUARTER_MS = 15 * MINUTE_MS;
const PERIODS_AT_ONCE = 1_000;
const DIRECTIONS = ['NB', 'SB'] as const;

/** The classes of speeds that the detector reports, in km/h, with the share of the vehicles in each. */
const SPEEDS = [0.01, 0.04, 0.1, 0.25, 0.33, 0.17, 0.07, 0.02, 0.01].map((share, n) => ({
  from: 10 * n + 10,
  to: 10 * n + 20,
  share,
}));
const TRUCKS = 0.08;
const BUSES = 0.02;

/** Vehicles in a quarter of an hour at the usual level of traffic. */
const USUAL = 120;

/**
 * Reports the quarter hours of a whole history as a detector that counts two directions, classes of vehicles and of speeds.
 * It is the only sensor of its location.
 */
export async function fillDetector(
  client: GantryClient,
  { from, until, seed }: HistoryOptions,
): Promise<void> {
  const [detector] = await registerSensors(client, 1, 'detector');
  if (detector === undefined) return;
  const random = createRandom(mix(seed, 5));
  const periodAt = (start: number, direction: (typeof DIRECTIONS)[number]) => {
    const volume = Math.round(USUAL * trafficLevel(start) * (0.8 + 0.4 * random.next()));
    const [truck, bus] = [Math.floor(volume * TRUCKS), Math.floor(volume * BUSES)];
    const bins = SPEEDS.map(({ share, ...bin }) => ({ ...bin, count: Math.floor(volume * share) }));
    const measured = bins.reduce((sum, { count }) => sum + count, 0);
    return {
      start: new Date(start).toISOString(),
      seconds: QUARTER_MS / 1_000,
      direction,
      byClass: { scheme: 'BASIC' as const, counts: { CAR: volume - truck - bus, TRUCK: truck, BUS: bus } },
      ...(measured > 0 && { speed: { mean: 52, measured, bins } }),
    };
  };
  const starts = Array.from({ length: (until - from) / QUARTER_MS }, (_, n) => from + n * QUARTER_MS);
  const periods = starts.flatMap((start) => DIRECTIONS.map((direction) => periodAt(start, direction)));
  for (let n = 0; n < periods.length; n += PERIODS_AT_ONCE)
    await client.api.counts.ingest.mutate({
      apiKey: detector.apiKey,
      periods: periods.slice(n, n + PERIODS_AT_ONCE),
    });
}
