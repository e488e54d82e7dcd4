import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createRandom, mix } from '@gantry/simulator/src/random.ts';
import { Command } from 'commander';
import { BenchmarkFailed } from '../failure.ts';
import { describeMachine } from '../machine.ts';
import { numberBetween } from '../option-values.ts';
import { publish } from '../results.ts';
import { stopOnSignals } from '../stop.ts';
import { figure, formatTable } from '../table.ts';
import { createWorkFolder } from '../work-folder.ts';
import { clock } from './cases/clock.ts';
import { database } from './cases/database.ts';
import { disk } from './cases/disk.ts';
import { killing } from './cases/killing.ts';
import { network } from './cases/network.ts';
import { resources } from './cases/resources.ts';
import { serving } from './cases/serving.ts';
import type { Fault } from './fault.ts';
import { type Outcome, runFault } from './scene.ts';

const faults: readonly Fault[] = [
  ...killing,
  ...database,
  ...network,
  ...disk,
  ...resources,
  ...serving,
  ...clock,
];

interface Options {
  readonly seed?: number;
  readonly only?: string;
  readonly quick: boolean;
  readonly random?: number;
  readonly folder?: string;
  readonly json: boolean;
  readonly save: boolean;
}

const DURATION = /^(\d+(?:\.\d+)?)(s|m|h)$/;

/** Parses a duration such as `90s`, `10m` or `2h`. @returns milliseconds */
function parseDuration(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined) throw new BenchmarkFailed(`Give a time such as 90s, 10m or 2h, not ${text}`);
  return Number(amount) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h'];
}

function chosen({ only, quick }: Options): readonly Fault[] {
  if (only === undefined) return quick ? faults.filter(({ isQuick }) => isQuick) : faults;
  const names = only.split(',');
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name));
  if (unknown.length > 0)
    throw new BenchmarkFailed(
      `There is no fault ${unknown.join(', ')}. Known faults: ${faults.map(({ name }) => name).join(', ')}`,
    );
  return faults.filter(({ name }) => names.includes(name));
}

/** The faults in order; with `--random` they are drawn until the time is over. */
function* drawn(options: Options, seed: number): Generator<Fault> {
  const some = chosen(options);
  if (options.random === undefined) {
    yield* some;
    return;
  }
  const random = createRandom(seed);
  const end = performance.now() + options.random;
  while (performance.now() < end) {
    const fault = some[Math.floor(random.next() * some.length)];
    if (fault) yield fault;
  }
}

function verdictOf({ skipped, breaches }: Outcome): string {
  return skipped === null ? (breaches.length === 0 ? 'kept' : 'BROKEN') : `skipped: ${skipped}`;
}

function tableOf(outcomes: readonly Outcome[]): string {
  return formatTable(
    [
      { title: 'fault' },
      { title: 'sent', figures: true },
      { title: 'acknowledged', figures: true },
      { title: 'lost', figures: true },
      { title: 'doubled', figures: true },
      { title: 'back after, s', figures: true },
      { title: 'promise' },
    ],
    outcomes.map((outcome) => [
      outcome.title,
      figure(outcome.audit?.sent ?? Number.NaN),
      figure(outcome.audit?.acknowledged ?? Number.NaN),
      outcome.audit?.lost ?? '–',
      outcome.audit?.doubled ?? '–',
      Number.isFinite(outcome.recoverySeconds) ? outcome.recoverySeconds.toFixed(1) : '–',
      verdictOf(outcome),
    ]),
  );
}

async function run(options: Options): Promise<void> {
  const seed = options.seed ?? Math.floor(Math.random() * 1_000_000);
  process.stderr.write(`Seed ${seed}: give it with --seed to see the same faults again.\n`);
  const signal = stopOnSignals();
  await using workFolder = await createWorkFolder(options.folder);
  const outcomes: Outcome[] = [];
  for (const fault of drawn(options, seed)) {
    const started = performance.now();
    const folder = await mkdtemp(join(workFolder.path, 'scene-'));
    const outcome = await runFault(fault, folder, mix(seed, outcomes.length), signal);
    outcomes.push(outcome);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(`${fault.name}: ${verdictOf(outcome)} (${seconds} s)\n`);
    for (const each of outcome.breaches) process.stderr.write(`  ${each}\n`);
  }
  const broken = outcomes.filter(({ breaches }) => breaches.length > 0).length;
  const tried = outcomes.filter(({ skipped }) => skipped === null).length;
  await publish(
    {
      name: 'faults',
      date: new Date(),
      machine: await describeMachine('embedded'),
      options: {
        seed,
        ...(options.quick && { quick: true }),
        ...(options.random && { random: options.random }),
      },
      text: `${tableOf(outcomes)}\n\n${tried - broken} of ${tried} faults survived.`,
      data: { seed, outcomes },
    },
    options,
  );
  if (!options.json) process.stdout.write(`${tried - broken} passed, ${broken} failed\n`);
  if (broken > 0) throw new BenchmarkFailed('The promise was broken: see above.');
}

export const faultsCommand = new Command('faults')
  .description('Injects faults under load, and compares acknowledged with stored events.')
  .option('--seed <number>', 'the same seed gives the same faults', numberBetween(0, 999_999_999))
  .option('--only <names>', 'faults by their names, separated by commas')
  .option('--quick', 'the selection that continuous integration runs: about a minute', false)
  .option('--random <time>', 'draw faults at random for a time, such as 10m', parseDuration)
  .option('--folder <path>', 'folder for the data, on a disk')
  .option('--json', 'print the results as JSON', false)
  .option('--save', 'keep the results in bench/results', false)
  .action(run);
