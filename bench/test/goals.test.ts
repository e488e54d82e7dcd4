import { describe, expect, it } from 'vitest';
import { judge } from '../src/ingest/goals.ts';
import { CONTESTANTS, type Contestant, type Measurement } from '../src/ingest/measurement.ts';

/** A round in which Gantry meets every goal, with rates exactly at their limits, except for the figures in `own`. */
const roundOf = (round: number, own: Partial<Record<Contestant, Partial<Measurement>>>): Measurement[] => {
  const base = {
    groupSize: null,
    p50: 1,
    p999: 20,
    p99: 10,
    memory: 100,
    generatorLoad: 0.5,
    generatorMicros: 10,
    nodeMicros: 60,
    postgresMicros: 40,
    idle: 0.2,
    workers: null,
    acknowledged: 1,
  };
  const rates = { floor: 20_000, stock: 1_500, insert: 1_125, single: 9_000, batch: 180 };
  return (Object.keys(CONTESTANTS) as Contestant[]).map((contestant) => ({
    contestant,
    round,
    ...base,
    requestsPerSecond: rates[contestant],
    eventsPerSecond: rates[contestant] * (contestant === 'batch' ? 100 : 1),
    ...own[contestant],
  }));
};

const metOf = (measurements: readonly Measurement[]): boolean[] => judge(measurements).map(({ met }) => met);

describe('the goals of ingestion', () => {
  it('are met at exactly their limits', () => {
    expect(metOf(roundOf(1, {}))).toEqual([true, true, true, true, true, true]);
    expect(judge(roundOf(1, {})).map(({ median }) => median)).toEqual([0.45, 6, 8, 1, 2, 100]);
  });

  it('are missed one by one', () => {
    expect(metOf(roundOf(1, { floor: { requestsPerSecond: 20_001 } }))[0]).toBe(false);
    expect(metOf(roundOf(1, { stock: { requestsPerSecond: 1_501 } }))[1]).toBe(false);
    expect(metOf(roundOf(1, { insert: { requestsPerSecond: 1_126 } }))[2]).toBe(false);
    expect(metOf(roundOf(1, { single: { p99: 50 } }))[3]).toBe(false);
    expect(metOf(roundOf(1, { batch: { eventsPerSecond: 17_999 } }))[4]).toBe(false);
    expect(metOf(roundOf(1, { single: { memory: 350 } }))[5]).toBe(false);
    expect(metOf(roundOf(1, { batch: { memory: 350 } }))[5]).toBe(false);
  });

  it('use the median of the ratios of the rounds', () => {
    // In the second round the machine is slow, which affects both sides of the ratio.
    const slow = { floor: { requestsPerSecond: 10_000 }, single: { requestsPerSecond: 4_500 } };
    const lame = { single: { requestsPerSecond: 2_000 } };
    const measurements = [...roundOf(1, {}), ...roundOf(2, slow), ...roundOf(3, lame)];
    expect(judge(measurements)[0]).toMatchObject({ median: 0.45, lowest: 0.1, highest: 0.45, met: true });
  });
});
