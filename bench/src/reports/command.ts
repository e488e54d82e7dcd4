import { DAY_MS } from '@gantry/contract/durations';
import { Command } from 'commander';
import { checkCounts } from '../counts.ts';
import { makeBodies, textsOf } from '../ingest/bodies.ts';
import { describeMachine } from '../machine.ts';
import { onStage, type StageOptions } from '../on-stage.ts';
import { addCommonOptions, numberBetween } from '../option-values.ts';
import { fillHistory } from '../query/fill.ts';
import { type Output, publish } from '../results.ts';
import { startPacer } from '../soak/pacer.ts';
import type { Stage } from '../stage.ts';
import { stopOnSignals } from '../stop.ts';
import { fillTraffic } from './fill-traffic.ts';
import { measureReports, type Phase } from './measure.ts';
import { judge, lineOf, reportOf } from './report.ts';

interface Options extends StageOptions, Output {
  readonly rate: number;
  readonly connections: number;
  readonly events: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
}

const BODIES = 8192;
const SPAN_MS = 30 * DAY_MS;
const SENSORS = 50;

async function measure(stage: Stage, options: Options): Promise<Phase[]> {
  const { rate, connections, events, seconds, rounds, seed } = options;
  const until = Date.now();
  const from = until - SPAN_MS;
  process.stderr.write('Creating the data for the reports …\n');
  await fillHistory(stage.databaseUrl, { events, sensors: SENSORS, from, until, seed });
  await fillTraffic(stage.databaseUrl);

  const signal = stopOnSignals();
  const url = `${stage.gantry.url}/trpc/events.ingest`;
  const bodies = makeBodies(
    stage.sensors.map(({ apiKey }) => apiKey),
    BODIES,
    seed,
  );
  const before = await stage.count();
  const pacer = startPacer({ url, textOf: textsOf(bodies, null), rate, connections });
  const phases = await measureReports(stage.gantry.client, pacer, {
    seconds,
    rounds,
    range: { startDate: new Date(from), endDate: new Date(until) },
    signal,
    onPhase: (phase) => process.stderr.write(`${lineOf(phase)}\n`),
  });
  await pacer.finish();
  checkCounts('Gantry', pacer.acknowledged, before, await stage.count());
  return phases;
}

async function run(options: Options): Promise<void> {
  const { databaseUrl, folder, json, save, ...load } = options;
  const results = await onStage(options, async (stage) => {
    const phases = await measure(stage, options);
    const kept = judge(phases);
    return {
      name: 'reports',
      date: new Date(),
      machine: await describeMachine(stage.postgresql),
      options: { ...load, database: databaseUrl === undefined ? 'embedded' : 'given' },
      text: reportOf(load.rate, phases, kept),
      data: { ...kept, phases },
    };
  });
  await publish(results, { json, save });
}

export const reportsCommand = new Command('reports')
  .description('Applies a constant load with and without reports, and compares the speed of ingestion.')
  .option('--rate <number>', 'events per second', numberBetween(1, 100_000), 5_000)
  .option('--connections <number>', 'connections of the devices', numberBetween(1, 1024), 64)
  .option('--events <number>', 'events that the reports are about', numberBetween(1, 100_000_000), 300_000)
  .option('--seconds <seconds>', 'minimum length of each period', numberBetween(1, 3600), 20)
  .option('--rounds <number>', 'phases without and with reports', numberBetween(1, 100), 3)
  .option('--seed <number>', 'the same seed gives the same events', numberBetween(0, 999_999), 1)
  .option('--workers <number>', 'processes that Gantry serves with', numberBetween(1, 64), 1)
  .action(run);

addCommonOptions(reportsCommand);
