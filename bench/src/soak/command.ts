import { Command } from 'commander';
import { describeMachine } from '../machine.ts';
import { onStage, type StageOptions } from '../on-stage.ts';
import { addCommonOptions, numberBetween } from '../option-values.ts';
import { type Output, publish } from '../results.ts';
import { SENSORS } from '../stage.ts';
import { stopOnSignals } from '../stop.ts';
import { lineOf, reportOf, slowSeconds } from './report.ts';
import { soak } from './soak.ts';
import { judgeSoak } from './verdict.ts';

interface Options extends StageOptions, Output {
  readonly minutes: number;
  readonly rate?: number;
  readonly connections: number;
  readonly every: number;
  readonly seed: number;
  readonly sensors: number;
}

async function run(options: Options): Promise<void> {
  const { databaseUrl, folder, json, save, ...load } = options;
  const signal = stopOnSignals();
  const isEmbedded = databaseUrl === undefined;
  const results = await onStage(options, async (stage, workFolder) => {
    const { rate, stored, samples, seconds } = await soak(stage, {
      ...load,
      folder: workFolder,
      isEmbedded,
      signal,
      onSample: (sample) => process.stderr.write(`${lineOf(sample)}\n`),
      onBrokenOff: (seconds) => process.stderr.write(`${slowSeconds(seconds).join('\n')}\n`),
    });
    const judgements = judgeSoak(samples);
    return {
      name: 'soak',
      date: new Date(),
      machine: await describeMachine(stage.postgresql),
      options: { ...load, rate, database: isEmbedded ? 'embedded' : 'given' },
      text: reportOf({ rate, stored, samples, seconds }, judgements),
      data: { rate, stored, samples, judgements, seconds },
    };
  });
  await publish(results, { json, save });
}

export const soakCommand = new Command('soak')
  .description('Applies a constant load for a long time, and checks memory and latency.')
  .option('--minutes <minutes>', 'duration', numberBetween(0.1, 10_000, { whole: false }), 10)
  .option('--rate <number>', 'events per second (default: half of the maximum)', numberBetween(1, 100_000))
  .option('--connections <number>', 'connections of the devices', numberBetween(1, 1024), 64)
  .option('--every <seconds>', 'time from one sample to the next', numberBetween(1, 3600), 60)
  .option('--seed <number>', 'the same seed gives the same events', numberBetween(0, 999_999), 1)
  .option(
    '--sensors <number>',
    'sensors that report, each at a location of its own',
    numberBetween(1, 10_000),
    SENSORS,
  )
  .option('--workers <number>', 'processes that Gantry serves with', numberBetween(1, 64), 1)
  .action(run);

addCommonOptions(soakCommand);
