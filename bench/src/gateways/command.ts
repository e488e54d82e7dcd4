import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { describeMachine } from '../machine.ts';
import { onStage, type StageOptions } from '../on-stage.ts';
import { addCommonOptions, numberBetween } from '../option-values.ts';
import { type Output, publish } from '../results.ts';
import { stopOnSignals } from '../stop.ts';
import { watchCameras } from './cameras.ts';
import { checkImages } from './processed.ts';
import { lineOf, memoryOf, ratiosOf, reportOf, sampleLine } from './report.ts';
import { runRounds, WAYS, type Way } from './rounds.ts';

interface Options extends StageOptions, Output {
  readonly connections: number;
  readonly warmup: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly cameras: number;
  readonly minutes: number;
  readonly every: number;
  readonly image: number;
  readonly only?: Way[];
  readonly seed: number;
}

function wayList(text: string): Way[] {
  const names = text.split(',');
  if (names.every((name): name is Way => Object.hasOwn(WAYS, name))) return names;
  throw new InvalidArgumentError(`Use some of ${Object.keys(WAYS).join(', ')}, separated by commas.`);
}

async function run(options: Options): Promise<void> {
  const { databaseUrl, folder, json, save, ...load } = options;
  const signal = stopOnSignals();
  const ways = load.only ?? (Object.keys(WAYS) as Way[]);
  const given = { ...load, ways, warmupSeconds: load.warmup, imageBytes: load.image * 1000, signal };
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const results = await onStage(options, async (stage, workFolder) => {
    const measurements = await runRounds(stage, workFolder, {
      ...given,
      onMeasured: (each) => say(lineOf(each)),
    });
    const samples = await watchCameras(stage, { ...given, onSample: (each) => say(sampleLine(each)) });
    const images = await checkImages(stage.databaseUrl, join(workFolder, 'gantry', 'images', 'segments'));
    say(`${images} images are as they were sent`);
    return {
      name: 'gateways',
      date: new Date(),
      machine: await describeMachine(stage.postgresql),
      options: { ...load, database: databaseUrl === undefined ? 'embedded' : 'given' },
      text: `${reportOf(measurements, samples)}\n\n${images} different images were stored, and each was read afterwards as it was sent.`,
      data: { measurements, ratios: ratiosOf(measurements), samples, memory: memoryOf(samples), images },
    };
  });
  await publish(results, { json, save });
}

export const gatewaysCommand = new Command('gateways')
  .description(
    'Measures messages of cameras through gateways, against events.ingest, and memory under many cameras.',
  )
  .option('--connections <number>', 'concurrent requests', numberBetween(1, 1024), 64)
  .option('--warmup <seconds>', 'load before each measurement', numberBetween(0, 600, { whole: false }), 1)
  .option('--seconds <seconds>', 'length of each measurement', numberBetween(0.1, 3600, { whole: false }), 8)
  .option('--rounds <number>', 'how often each is measured; 0 for the cameras only', numberBetween(0, 100), 3)
  .option('--cameras <number>', 'cameras that send a message per second', numberBetween(1, 5_000), 500)
  .option(
    '--minutes <minutes>',
    'how long they send; 0 for the rounds only',
    numberBetween(0, 600, { whole: false }),
    3,
  )
  .option(
    '--every <seconds>',
    'time between samples of the cameras',
    numberBetween(0.1, 600, { whole: false }),
    10,
  )
  .option('--image <kB>', 'size of an image', numberBetween(1, 5_000), 200)
  .option('--only <names>', 'what is sent, in this order, such as ingest,platerecognizer', wayList)
  .option('--seed <number>', 'the same seed gives the same vehicles', numberBetween(0, 999_999), 1)
  .option('--workers <number>', 'processes that Gantry serves with', numberBetween(1, 64), 1)
  .action(run);

addCommonOptions(gatewaysCommand);
