import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { BenchmarkFailed } from '../failure.ts';
import { describeMachine } from '../machine.ts';
import { addCommonOptions, numberBetween } from '../option-values.ts';
import { openHistories } from '../query/histories.ts';
import { type Output, publish } from '../results.ts';
import { stopOnSignals } from '../stop.ts';
import { createWorkFolder } from '../work-folder.ts';
import { measureConsole } from './measure.ts';
import { reportOf, shortfallsOf } from './report.ts';

interface Options extends Output {
  readonly events: number;
  readonly sensors: number;
  readonly rounds: number;
  readonly minutes: number;
  readonly rate: number;
  readonly databaseUrl?: string;
  readonly folder?: string;
  readonly keep?: string;
}

async function run({ databaseUrl, folder, keep, json, save, ...options }: Options): Promise<void> {
  const { events, sensors, rounds, minutes, rate } = options;
  const signal = stopOnSignals();
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  const kept = keep === undefined ? null : resolve(keep);
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  if (kept !== null) await mkdir(kept, { recursive: true, mode: 0o711 });
  await using work = kept === null ? await createWorkFolder(folder) : null;
  await using histories = await openHistories({
    folder: kept ?? work?.path ?? '',
    server: databaseUrl,
    sizes: [events],
    spanDays: 365,
    sensors,
    seed: 1,
    isKept: keep !== undefined,
    onProgress,
  });
  const [history] = histories.list;
  if (!history) throw new BenchmarkFailed('There is no history');
  const measured = await measureConsole(history, { rounds, minutes, rate, signal, onProgress });
  const results = {
    name: 'console',
    date: new Date(),
    machine: await describeMachine(histories.postgresql),
    options,
    text: reportOf(measured),
    data: { ...measured, interactions: [...measured.interactions], shortfalls: shortfallsOf(measured) },
  };
  await publish(results, { json, save });
}

export const consoleCommand = new Command('console')
  .description(
    'Measures how fast the console is in Chromium, over a long history and while events stream in.',
  )
  .option('--events <number>', 'the length of the history', numberBetween(1_000, 100_000_000), 1_000_000)
  .option('--sensors <number>', 'number of sensors that report', numberBetween(1, 10_000), 2_000)
  .option('--rounds <number>', 'how often each page is opened', numberBetween(1, 100), 5)
  .option(
    '--minutes <minutes>',
    'how long the live list is watched',
    numberBetween(0.05, 600, { whole: false }),
    30,
  )
  .option('--rate <number>', 'events per second that stream in', numberBetween(1, 10_000), 50)
  .option('--keep <path>', 'keep the history in this folder, and reuse an existing one')
  .action(run);

addCommonOptions(consoleCommand);
