import { Command } from 'commander';
import { describeMachine } from '../machine.ts';
import type { StageOptions } from '../on-stage.ts';
import { addCommonOptions, listOf, numberBetween } from '../option-values.ts';
import { type Output, publish } from '../results.ts';
import { stopOnSignals } from '../stop.ts';
import { judge } from './goals.ts';
import { lineOf, reportOf } from './report.ts';
import { runRounds } from './rounds.ts';
import { onStages } from './stages.ts';

interface Options extends Omit<StageOptions, 'workers'>, Output {
  readonly workers: readonly [number, ...number[]];
  readonly connections: number;
  readonly batchConnections: number;
  readonly batchSize: number;
  readonly warmup: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
}

async function run(options: Options): Promise<void> {
  const { databaseUrl, folder, json, save, ...load } = options;
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
  .description('Measures ingestion in events per second, against a baseline and common alternatives.')
  .option('--connections <number>', 'concurrent requests', numberBetween(1, 1024), 128)
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
  .action(run);

addCommonOptions(ingestCommand);
