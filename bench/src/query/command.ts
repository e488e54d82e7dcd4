import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { BenchmarkFailed } from '../failure.ts';
import { describeMachine } from '../machine.ts';
import { addCommonOptions, numberBetween } from '../option-values.ts';
import { type Output, publish, type Results } from '../results.ts';
import { stopOnSignals } from '../stop.ts';
import { createWorkFolder } from '../work-folder.ts';
import { checkTotals } from './fill.ts';
import { openHistories } from './histories.ts';
import { measureQuestions } from './measure.ts';
import { QUESTIONS } from './questions.ts';
import { judge, lineOf, reportOf } from './report.ts';

const MAX_EVENTS = 1_000_000_000;
const events = numberBetween(1_000, MAX_EVENTS);

function sizeList(text: string): number[] {
  const sizes = text.split(',').map(events);
  if (sizes.every((size, at) => at === 0 || size > (sizes[at - 1] ?? 0))) return sizes;
  throw new InvalidArgumentError('Name the sizes from small to large.');
}

interface Options extends Output {
  readonly events: number;
  readonly sizes?: number[];
  readonly spanDays: number;
  readonly sensors: number;
  readonly seed: number;
  readonly asks: number;
  readonly checks: number;
  readonly only?: string;
  readonly databaseUrl?: string;
  readonly folder?: string;
  readonly keep?: string;
}

/** The sizes to compare: those given, by default a hundredth, a tenth and the whole. */
function sizesOf({ events, sizes }: Options): number[] {
  return (
    sizes ?? [
      ...new Set([events / 100, events / 10, events].map((size) => Math.max(1_000, Math.round(size)))),
    ]
  );
}

async function openFolder({ keep, folder }: Options) {
  if (keep === undefined) return createWorkFolder(folder);
  const path = resolve(keep);
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  await mkdir(path, { recursive: true, mode: 0o711 });
  return { path, [Symbol.asyncDispose]: async () => undefined };
}

async function run(options: Options): Promise<void> {
  const { spanDays, sensors, seed, asks, checks, only, databaseUrl, keep } = options;
  const questions = QUESTIONS.filter(
    ({ group, name }) => only === undefined || `${group}: ${name}`.includes(only),
  );
  if (questions.length === 0)
    throw new BenchmarkFailed(
      `No query has ${JSON.stringify(only)} in its name. Their groups are ${[...new Set(QUESTIONS.map(({ group }) => group))].join(', ')}.`,
    );
  const signal = stopOnSignals();
  const print = (line: string): void => void process.stderr.write(`${line}\n`);
  const work = await openFolder(options);
  let results: Results;
  try {
    const histories = await openHistories({
      folder: work.path,
      server: databaseUrl,
      sizes: sizesOf(options),
      spanDays,
      sensors,
      seed,
      isKept: keep !== undefined,
      onProgress: print,
    });
    try {
      const measurements = await measureQuestions(histories, questions, {
        asks,
        checks,
        signal,
        onMeasured: (measurement) => print(lineOf(measurement)),
      });
      for (const { databaseUrl: filled, options: history } of histories.list)
        await checkTotals(filled, history.events);
      results = {
        name: 'query',
        date: new Date(),
        machine: await describeMachine(histories.postgresql),
        options: { sizes: sizesOf(options).join(' '), spanDays, sensors, seed, asks, checks },
        text: reportOf(measurements),
        data: measurements.map((measurement) => ({ ...measurement, verdict: judge(measurement) })),
      };
    } finally {
      await histories[Symbol.asyncDispose]();
    }
  } finally {
    await work[Symbol.asyncDispose]();
  }
  await publish(results, options);
}

export const queryCommand = new Command('query')
  .description('Measures query times at a hundredth, a tenth and the whole of a long history.')
  .option('--events <number>', 'the length of the history', events, 10_000_000)
  .option('--sizes <numbers>', 'other sizes to compare, separated by commas', sizeList)
  .option('--span-days <days>', 'the time that the history covers', numberBetween(2, 3_650), 365)
  .option('--sensors <number>', 'number of sensors', numberBetween(1, 10_000), 200)
  .option('--seed <number>', 'the same seed gives the same history', numberBetween(0, 999_999), 1)
  .option('--asks <number>', 'how often each question is asked', numberBetween(1, 100_000), 200)
  .option('--checks <number>', 'how many answers are compared with plain SQL', numberBetween(0, 100), 2)
  .option('--only <text>', 'only queries whose name contains this text')
  .option('--keep <path>', 'keep the histories in this folder, and reuse existing ones')
  .action(run);

addCommonOptions(queryCommand);
