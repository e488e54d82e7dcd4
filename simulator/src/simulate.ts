import { existsSync } from 'node:fs';
import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { Command, InvalidArgumentError, Option } from 'commander';
import { prepareFleet } from './fleet.ts';
import { sendHistory } from './history.ts';
import { actAs } from './makers/acting.ts';
import { connectFleet } from './makers/connect.ts';
import { type MakerName, makerNames, makers } from './makers/makers.ts';
import { numberBetween } from './number-between.ts';
import { readInitialPassword } from './password.ts';
import { pause } from './retry.ts';
import { count, createScreen } from './screen.ts';
import { assemble, type Crew, historyLine, logIn, runCrew, SimulationError, watch } from './simulation.ts';
import { stopOnSignals } from './stop.ts';
import type { Pace } from './stream.ts';

function address(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Use an address such as http://127.0.0.1:4000.');
}

const command = new Command('gantry simulate')
  .description('A fleet of virtual roadside sensors that report to a Gantry service.')
  .option('--url <address>', 'the service', address, 'http://127.0.0.1:4000')
  .option('--email <e-mail>', 'user who registers the sensors (ADMIN or OPERATOR)', 'admin@gantry.local')
  .addOption(
    new Option('--password <password>', 'default: the one in data/initial-admin-password').env(
      'GANTRY_PASSWORD',
    ),
  )
  .option('--sensors <number>', 'number of sensors', numberBetween(1, 10_000, true), 20)
  .option(
    '--seed <number>',
    'the same seed gives the same fleet and traffic',
    numberBetween(0, 999_999, true),
    1,
  )
  .option('--rate <factor>', "multiplies every sensor's eventsPerMin", numberBetween(0.001, 10_000, false), 1)
  .option('--steady', 'the same traffic at every hour, without rush hours', false)
  .option('--images', 'cameras send small images of violations and incidents', false)
  .addOption(
    new Option(
      '--as <format>',
      'send what cameras of this maker send, with their repetitions, to connections that are made for it',
    ).choices(makerNames),
  )
  .option('--json', 'print the result as JSON, and progress on standard error', false)
  .option('--duration <seconds>', 'stop after this time', numberBetween(1, 31_536_000, true))
  .option('--history-days <days>', 'first send this many days of history', numberBetween(0, 3650, true), 0)
  .option(
    '--history-rate <factor>',
    'share of events kept in the history',
    numberBetween(0.0001, 1, false),
    0.01,
  )
  // Exit code 2 for wrong arguments, as in the other commands.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

interface Options {
  readonly url: string;
  readonly email: string;
  readonly password?: string;
  readonly sensors: number;
  readonly seed: number;
  readonly rate: number;
  readonly steady: boolean;
  readonly images: boolean;
  readonly json: boolean;
  readonly as?: MakerName;
  readonly duration?: number;
  readonly historyDays: number;
  readonly historyRate: number;
}

async function findPassword(given: string | undefined): Promise<string> {
  const dataDir = process.env.DATA_DIR || 'data';
  const password = given || (await readInitialPassword(dataDir));
  if (password) return password;
  throw new SimulationError(
    `No password: give it with --password or GANTRY_PASSWORD (there is no ${dataDir}/initial-admin-password)`,
  );
}

/**
 * Lets the devices act as those of a maker until they are stopped.
 * @returns 0 as the number of unsent events, because these devices keep no backlog
 */
async function runAs(
  { devices }: Crew,
  name: MakerName,
  addresses: ReadonlyMap<string, string>,
  from: number,
  pace: Pace,
): Promise<number> {
  await Promise.all(
    devices.map((device) => {
      const address = addresses.get(device.sensor.deviceId) ?? '';
      return actAs({ device, maker: makers[name], address }, from, pace);
    }),
  );
  return 0;
}

async function simulate(options: Options): Promise<void> {
  const { url, email, seed, rate, steady, images, json } = options;
  const screen = createScreen(json ? process.stderr : process.stdout);
  const { signal, stop } = stopOnSignals();

  const client = await logIn(url, email, await findPassword(options.password));
  const { sensors, created } = await prepareFleet(client.api, seed, options.sensors);
  const addresses = options.as && (await connectFleet(client.api, sensors, options.as));
  await client.logout();
  screen.say(
    `${count(sensors.length)} sensors at ${url}: ${created} registered, ${sensors.length - created} known`,
  );

  const crew = assemble(url, sensors, signal);
  const { tally } = crew;
  let from = Date.now();
  if (options.historyDays > 0) {
    from = Math.floor(from / MINUTE_MS) * MINUTE_MS;
    const past = { from: from - options.historyDays * DAY_MS, to: from };
    const thinned = { rate: rate * options.historyRate, steady, images };
    await sendHistory(crew.devices, past, thinned, (share) => screen.show(historyLine(share, tally)));
    const known = tally.duplicates > 0 ? ` (${count(tally.duplicates)} known already)` : '';
    screen.say(`${historyLine(1, tally)}${known}`);
  }

  const started = performance.now();
  const before = tally.sent;
  if (options.duration !== undefined) void pause(options.duration * 1000, signal).then(stop);
  const pace = { rate, steady, images };
  const watching = watch(crew, screen, pace);
  const running =
    options.as && addresses ? runAs(crew, options.as, addresses, from, pace) : runCrew(crew, from, pace);
  const unsent = await running.finally(() => watching.stop());
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  screen.say(
    `Sent ${count(tally.sent - before)} events in ${seconds} s, ${count(tally.heartbeats)} heartbeats, ` +
      `${count(tally.refused)} refused, ${count(tally.retries)} retries${unsent > 0 ? `, ${count(unsent)} not sent` : ''}`,
  );
  if (tally.lastRefusal) screen.say(`Last refusal: ${tally.lastRefusal}`);
  if (json) {
    const { sent, heartbeats, refused, retries, duplicates } = tally;
    const result = { sent, heartbeats, refused, retries, duplicates, unsent, seconds: Number(seconds) };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  }
}

/** Runs the simulation with these arguments, until it is over or stopped, and ends the process. */
export async function run(args: readonly string[]): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  try {
    await simulate(command.parse(args, { from: 'user' }).opts<Options>());
    process.exit(0);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isExplained = error instanceof SimulationError || error.name === 'GantryError';
    process.stderr.write(`${isExplained ? error.message : error.stack}\n`);
    process.exit(1);
  }
}
