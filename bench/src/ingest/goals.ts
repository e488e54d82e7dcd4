import { median } from '../percentile.ts';
import type { Contestant, Measurement } from './measurement.ts';

type Round = Readonly<Record<Contestant, Measurement>>;

/** A figure with a goal, computed separately in every round. */
interface Goal {
  readonly name: string;
  readonly of: (round: Round) => number;
  readonly sense: 'at least' | 'under';
  readonly limit: number;
}

const GOALS: readonly Goal[] = [
  {
    name: 'ingest / floor, requests',
    of: ({ single, floor }) => rate(single) / rate(floor),
    sense: 'at least',
    limit: 0.45,
  },
  {
    name: 'ingest / stock tRPC, requests',
    of: ({ single, stock }) => rate(single) / rate(stock),
    sense: 'at least',
    limit: 6,
  },
  {
    name: 'ingest / an INSERT each, requests',
    of: ({ single, insert }) => rate(single) / rate(insert),
    sense: 'at least',
    limit: 8,
  },
  {
    name: 'ingest / floor, p99',
    of: ({ single, floor }) => single.p99 / floor.p99,
    sense: 'under',
    limit: 5,
  },
  {
    name: 'ingestBatch / ingest, events',
    of: ({ batch, single }) => batch.eventsPerSecond / single.eventsPerSecond,
    sense: 'at least',
    limit: 2,
  },
  {
    name: 'resident memory of Gantry, MB',
    of: ({ batch, single }) => Math.max(batch.memory, single.memory),
    sense: 'under',
    limit: 350,
  },
];

/** The result of a goal: the median of the rounds, their range, and whether the median meets it. */
export interface Verdict {
  readonly name: string;
  readonly goal: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  readonly met: boolean;
}

/** Evaluates the goals. Every round must have all five measurements. */
export function judge(measurements: readonly Measurement[]): Verdict[] {
  const rounds = new Map<number, Partial<Record<Contestant, Measurement>>>();
  for (const measurement of measurements) {
    const round = rounds.get(measurement.round) ?? {};
    round[measurement.contestant] = measurement;
    rounds.set(measurement.round, round);
  }
  return GOALS.map(({ of, ...goal }) =>
    verdictOf(
      goal,
      [...rounds.values()].map((round) => of(round as Round)),
    ),
  );
}

/** Compares the median of a figure in all rounds with its goal. */
export function verdictOf(
  { name, sense, limit }: Pick<Goal, 'name' | 'sense' | 'limit'>,
  values: readonly number[],
): Verdict {
  const middle = median(values);
  return {
    name,
    goal: `${sense} ${limit}`,
    median: middle,
    lowest: Math.min(...values),
    highest: Math.max(...values),
    met: sense === 'under' ? middle < limit : middle >= limit,
  };
}

function rate({ requestsPerSecond }: Measurement): number {
  return requestsPerSecond;
}
