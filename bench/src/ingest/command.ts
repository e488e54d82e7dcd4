import { Command } from 'commander';
import { BenchmarkFailed } from '../failure.ts';
import { describeMachine } from '../machine.ts';
import type { StageOptions } from '../on-stage.ts';
import { addCommonOptions, listOf, numberBetween } from '../option-values.ts';
import { type Output, publish } from '../results.ts';
import { runSoak } from '../soak/run.ts';
import { SENSORS } from '../stage.ts';
import { stopOnSignals } from '../stop.ts';
import { judge } from './goals.ts';
import { compareListed, listedReport } from './listed.ts';
import { lineOf, reportOf } from './report.ts';
import { runRounds } from './rounds.ts';
import { onStages } from './stages.ts';

/** Number of connections by default: of the comparison, and of a constant load. */
const CONNECTIONS = 128;
const SOAK_CONNECTIONS = 64;

interface Options extends Omit<StageOptions, 'workers'>, Output {
  readonly workers: readonly [number, ...number[]];
  readonly connections?: number;
  readonly batchConnections: number;
  readonly batchSize: number;
  readonly warmup: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
  /** Minutes of a constant load instead of the comparison. */
  readonly soak?: number;
  readonly rate?: number;
  readonly every: number;
  readonly sensors: number;
  readonly image?: number;
  /** Plates on hotlists and rules of alarms, whose cost is measured instead of the comparison. */
  readonly hotlists?: number;
  readonly rules: number;
  readonly hits: number;
}

async function run({ soak: minutes, rate, every, sensors, image, ...all }: Options): Promise<void> {
  const { hotlists, rules, hits, ...options } = all;
  if (hotlists !== undefined) return runListed({ ...all, hotlists, rate: rate ?? HIT_RATE });
  if (minutes !== undefined) {
    const { databaseUrl, folder, json, save, seed, workers, connections = SOAK_CONNECTIONS } = options;
    const [processes, ...others] = workers;
    if (others.length > 0) throw new BenchmarkFailed('--soak takes one number of --workers');
    await runSoak({
      minutes,
      connections,
      every,
      seed,
      sensors,
      workers: processes,
      ...(rate !== undefined && { rate }),
      ...(image !== undefined && { imageBytes: image * 1000 }),
      ...(databaseUrl !== undefined && { databaseUrl }),
      ...(folder !== undefined && { folder }),
      json,
      save,
    });
    return;
  }
  await compare(options);
}

/** Events per second of the load with hits. */
const HIT_RATE = 1_000;

type ListedRun = Omit<Options, 'soak' | 'every' | 'sensors' | 'image'> & {
  readonly hotlists: number;
  readonly rate: number;
};

async function runListed({ databaseUrl, folder, json, save, workers: _, ...load }: ListedRun): Promise<void> {
  const signal = stopOnSignals();
  const given = { ...load, connections: load.connections ?? CONNECTIONS };
  const found = await compareListed({
    ...given,
    ...(databaseUrl !== undefined && { databaseUrl }),
    ...(folder !== undefined && { folder }),
    warmupSeconds: load.warmup,
    signal,
    onMeasured: (measurement) => process.stderr.write(`${lineOf(measurement)}\n`),
  });
  const { postgresql, ...data } = found;
  const results = {
    name: 'ingest-hotlists',
    date: new Date(),
    machine: await describeMachine(postgresql),
    options: { ...given, database: databaseUrl === undefined ? 'embedded' : 'given' },
    text: listedReport(found),
    data,
  };
  await publish(results, { json, save });
}

async function compare(
  options: Omit<Options, 'soak' | 'rate' | 'every' | 'sensors' | 'image' | 'hotlists' | 'rules' | 'hits'>,
): Promise<void> {
  const { databaseUrl, folder, json, save, connections = CONNECTIONS, ...others } = options;
  const load = { ...others, connections };
  const signal = stopOnSignals();
  const results = await onStages(options, async (stages) => {
    const measurements = await runRounds(stages, {
      ...load,
      warmupSeconds: load.warmup,
      signal,
      onMeasured: (measurement) => process.stderr.write(`${lineOf(measurement)}\n`),
    });
    // The goals apply to the first number of workers, which is the lowest.
    const [first] = options.workers;
    const verdicts = judge(measurements.filter(({ workers }) => workers === null || workers === first));
    return {
      name: 'ingest',
      date: new Date(),
      machine: await describeMachine(stages[0].postgresql),
      options: { ...load, database: databaseUrl === undefined ? 'embedded' : 'given' },
      text: reportOf(measurements, verdicts),
      data: { measurements, verdicts },
    };
  });
  await publish(results, { json, save });
}

export const ingestCommand = new Command('ingest')
  .description(
    'Measures ingestion in events per second, against a baseline and common alternatives, or under a constant load.',
  )
  .option(
    '--connections <number>',
    `concurrent requests (default: ${CONNECTIONS}; with --soak, ${SOAK_CONNECTIONS})`,
    numberBetween(1, 1024),
  )
  .option('--batch-connections <number>', 'the same for batches', numberBetween(1, 128), 16)
  .option('--batch-size <number>', 'events in a batch', numberBetween(1, 1000), 100)
  .option('--warmup <seconds>', 'load before each measurement', numberBetween(0, 600, { whole: false }), 2)
  .option('--seconds <seconds>', 'length of each measurement', numberBetween(0.1, 3600, { whole: false }), 10)
  .option('--rounds <number>', 'how often each server is measured', numberBetween(1, 100), 3)
  .option('--seed <number>', 'the same seed gives the same events', numberBetween(0, 999_999), 1)
  .option(
    '--workers <numbers>',
    'processes that Gantry serves with; several, as 1,2,4, are compared',
    listOf(numberBetween(1, 64)),
    [1],
  )
  .option(
    '--soak <minutes>',
    'a constant load for a long time instead, with checks of memory and latency',
    numberBetween(0.1, 10_000, { whole: false }),
  )
  .option(
    '--rate <number>',
    'with --soak or --hits: events per second (default with --soak: half of the maximum)',
    numberBetween(1, 100_000),
  )
  .option('--every <seconds>', 'with --soak: time from one sample to the next', numberBetween(1, 3600), 60)
  .option(
    '--image <kB>',
    'with --soak: one event in ten has a new image of this size (default: none)',
    numberBetween(1, 5_000),
  )
  .option(
    '--sensors <number>',
    'with --soak: sensors that report, each at a location of its own',
    numberBetween(1, 10_000),
    SENSORS,
  )
  .option(
    '--hotlists <number>',
    'instead, Gantry with so many plates on hotlists beside one without any',
    numberBetween(1, 5_000_000),
  )
  .option('--rules <number>', 'with --hotlists: rules of alarms that it has, too', numberBetween(0, 200), 200)
  .option(
    '--hits <per cent>',
    `with --hotlists: afterwards, reads at a constant --rate (default: ${HIT_RATE}/s), of which so many hit a list`,
    numberBetween(0, 100, { whole: false }),
    0,
  )
  .action(run);

addCommonOptions(ingestCommand);
