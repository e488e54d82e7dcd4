import { Command } from 'commander';
import { describeMachine } from '../machine.ts';
import { onStage, type StageOptions } from '../on-stage.ts';
import { addCommonOptions, numberBetween } from '../option-values.ts';
import { type Output, publish } from '../results.ts';
import { stopOnSignals } from '../stop.ts';
import { judge } from './goals.ts';
import { lineOf, reportOf } from './report.ts';
import { runRounds } from './rounds.ts';

interface Options extends StageOptions, Output {
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
  const results = await onStage(options, async (stage) => {
    const measurements = await runRounds(stage, {
      ...load,
      warmupSeconds: load.warmup,
      signal,
      onMeasured: (measurement) => process.stderr.write(`${lineOf(measurement)}\n`),
    });
    const verdicts = judge(measurements);
    return {
      name: 'ingest',
      date: new Date(),
      machine: await describeMachine(stage.postgresql),
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
  .option('--workers <number>', 'processes that Gantry serves with', numberBetween(1, 64), 1)
  .action(run);

addCommonOptions(ingestCommand);
