import { createRandom, mix } from '@gantry/simulator/src/random.ts';
import { percentile } from '../percentile.ts';
import { type Answer, type Asker, createAsker } from './asker.ts';
import { checkAnswer } from './checks.ts';
import type { Histories, History } from './histories.ts';
import type { ListInput, Question } from './questions.ts';
import { drawSample, type Sample } from './sample.ts';

/** The durations of a query at one size, in milliseconds. */
export interface Timing {
  readonly events: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Measurement {
  readonly question: Question;
  /** In the order of the sizes. */
  readonly timings: readonly Timing[];
}

export interface MeasureOptions {
  /** How often each query is sent at each size. */
  readonly asks: number;
  /** How many of the answers are compared with the result of plain SQL. */
  readonly checks: number;
  readonly signal: AbortSignal;
  readonly onMeasured: (measurement: Measurement) => void;
}

interface Asked {
  readonly history: History;
  readonly asker: Asker;
  readonly sample: Sample;
}

const WARMUP_SHARE = 0.2;

/** Variation around the given depth, as a fraction of the length of the list, so that different pages are requested. */
const SPREAD = 0.004;

/** Measures all queries. @throws BenchmarkFailed when an answer is wrong */
export async function measureQuestions(
  histories: Histories,
  questions: readonly Question[],
  options: MeasureOptions,
): Promise<Measurement[]> {
  const marks = questions.filter(({ isMutation }) => isMutation).length;
  const unprocessed = Math.ceil(marks * (options.asks + 16) * (1 + WARMUP_SHARE) + 32);
  const asked: Asked[] = [];
  try {
    for (const history of histories.list) {
      const { gantry, databaseUrl } = history;
      asked.push({
        history,
        asker: createAsker(gantry.url, gantry.client.token ?? ''),
        sample: await drawSample(databaseUrl, history.options, unprocessed),
      });
    }
    const measurements: Measurement[] = [];
    for (const question of questions) {
      const measurement = await measureQuestion(asked, question, options);
      options.onMeasured(measurement);
      measurements.push(measurement);
    }
    return measurements;
  } finally {
    for (const { asker } of asked) asker.close();
  }
}

/** Makes the arguments of `count` calls of a query, which are the same at every size as far as possible. */
async function prepare(
  { asker, sample }: Asked,
  { procedure, input, depth }: Question,
  count: number,
): Promise<ListInput[]> {
  const random = createRandom(mix(count, 4));
  const inputs: ListInput[] = [];
  const totals = new Map<string, number>();
  for (let number = 0; number < count; number++) {
    const made = input(sample, random);
    if (depth === undefined) {
      inputs.push(made);
      continue;
    }
    const known = JSON.stringify(made);
    const total =
      totals.get(known) ?? Number((await asker.query(procedure, { ...made, take: 1 })).value.total);
    totals.set(known, total);
    const share = depth + (random.next() - 0.5) * SPREAD;
    inputs.push({ ...made, skip: Math.max(0, Math.floor(total * share)) });
  }
  return inputs;
}

function ask({ asker }: Asked, { procedure, isMutation }: Question, input: ListInput): Promise<Answer> {
  return isMutation ? asker.mutate(procedure, input) : asker.query(procedure, input);
}

/** Sends one query to all histories in turn, so that disturbances of the machine affect all. */
async function measureQuestion(
  asked: readonly Asked[],
  question: Question,
  { asks, checks, signal }: MeasureOptions,
): Promise<Measurement> {
  const atOnce = question.atOnce ?? 1;
  const rounds = Math.ceil(Math.min(asks, question.mostAsks ?? asks) / atOnce);
  const warmup = Math.ceil(rounds * WARMUP_SHARE);
  const runs = await Promise.all(
    asked.map(async (one) => ({
      one,
      inputs: await prepare(one, question, (rounds + warmup) * atOnce),
      times: [] as number[],
    })),
  );
  for (let round = 0; round < warmup + rounds; round++) {
    signal.throwIfAborted();
    for (const { one, inputs, times } of runs) {
      const batch = inputs.slice(round * atOnce, (round + 1) * atOnce);
      const answers = await Promise.all(batch.map((input) => ask(one, question, input)));
      if (round >= warmup) times.push(...answers.map(({ ms }) => ms));
      const isChecked = !question.isMutation && round < checks;
      if (isChecked) await checkAnswer(one.history.databaseUrl, question, batch[0] ?? {}, answers[0]?.value);
    }
  }
  const timings = runs.map(({ one, times }) => {
    const sorted = times.sort((a, b) => a - b);
    return {
      events: one.history.options.events,
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
    };
  });
  return { question, timings };
}
