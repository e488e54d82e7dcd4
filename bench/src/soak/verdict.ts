import { median } from '../percentile.ts';
import type { Sample } from './sample.ts';

/** An assessment of a run, with the figures it is based on. */
export interface Judgement {
  readonly question: string;
  readonly found: string;
  readonly good: boolean;
}

/** The slope of the least-squares line through the points; 0 for fewer than two. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (spread === 0 || points.length < 2) return 0;
  return points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

const MAX_MEMORY_MB = 350;

/** Maximum growth over the second half that counts as flat, as a fraction of the memory in use. */
const FLAT_SHARE = 0.05;

/** Maximum ratio of the latencies of the second half to those of the first. */
const MAX_SLOWER = 1.5;

/** Assesses a run from its samples, of which there must be at least two. */
export function judgeSoak(samples: readonly Sample[]): Judgement[] {
  const [first, second] = [samples.slice(0, samples.length >> 1), samples.slice(samples.length >> 1)];
  const idle = Math.max(...samples.map(({ idleInTransaction }) => idleInTransaction));
  return [
    ...judgeMemory(second),
    judgeLatency(first, second, 'p50'),
    judgeLatency(first, second, 'p99'),
    judgeTail(samples),
    { question: 'no transaction is left idle', found: `at most ${idle}`, good: idle === 0 },
  ];
}

function judgeMemory(second: readonly Sample[]): Judgement[] {
  const mean = second.reduce((sum, { memory }) => sum + memory, 0) / second.length;
  const slope = slopeOf(second.map(({ minute, memory }) => [minute, memory]));
  const minutes = (second.at(-1)?.minute ?? 0) - (second[0]?.minute ?? 0);
  const highest = Math.max(...second.map(({ memory }) => memory));
  return [
    {
      question: 'memory is flat in the second half',
      found: `${slope.toFixed(2)} MB/min around ${mean.toFixed(0)} MB`,
      good: slope * minutes <= FLAT_SHARE * mean,
    },
    {
      question: `memory stays under ${MAX_MEMORY_MB} MB`,
      found: `at most ${highest.toFixed(0)} MB`,
      good: highest < MAX_MEMORY_MB,
    },
  ];
}

/** The maximum p99 of a sample as a multiple of its p50, in addition to the p99 of the disk. */
const TAIL = 10;

function judgeTail(samples: readonly Sample[]): Judgement {
  const over = samples.filter(({ p50, p99, disk }) => p99 > TAIL * p50 + disk);
  const worst = Math.max(...samples.map(({ p99 }) => p99));
  return {
    question: `p99 of every sample is under ${TAIL} times its p50 plus the p99 of the disk`,
    found: `${over.length} of ${samples.length} are over it; the highest p99 is ${worst.toFixed(0)} ms`,
    good: over.length === 0,
  };
}

function judgeLatency(first: readonly Sample[], second: readonly Sample[], key: 'p50' | 'p99'): Judgement {
  const [before, after] = [first, second].map((half) => median(half.map((sample) => sample[key])));
  return {
    question: `${key} does not grow`,
    found: `${before?.toFixed(1)} ms in the first half, ${after?.toFixed(1)} ms in the second`,
    good: (after ?? Number.NaN) <= MAX_SLOWER * (before ?? Number.NaN),
  };
}
