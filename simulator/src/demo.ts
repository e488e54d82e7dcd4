import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isBlockedPort } from '@gantry/contract/blocked-ports';
import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { Command } from 'commander';
import { virtualCounter } from './counter.ts';
import { workThroughPast } from './demo/control-room.ts';
import { ensurePoints, keepCounting, sendCounts } from './demo/counting.ts';
import { type DemoFeatures, findFeatures } from './demo/features.ts';
import { followNews } from './demo/news.ts';
import { readMark, writeMark } from './demo/progress-mark.ts';
import { ensureRoadMap } from './demo/road-map.ts';
import { type Service, startService } from './demo/service.ts';
import { type Colleague, gatherStaff, type Staff } from './demo/staff.ts';
import { type DemoLogin, ensureDemoUsers, loginsFile } from './demo/users.ts';
import { ensureWatchlist } from './demo/watchlist.ts';
import type { Device } from './device.ts';
import { ensureSensors, type Fleet, prepareFleet } from './fleet.ts';
import { sendHistory } from './history.ts';
import { numberBetween } from './number-between.ts';
import { readInitialPassword } from './password.ts';
import { TIME_ZONE } from './places.ts';
import { createRandom } from './random.ts';
import { keepBeating } from './reporting.ts';
import { keepTrying } from './retry.ts';
import { createScreen } from './screen.ts';
import { devicePrefix } from './sensor.ts';
import { assemble, type Crew, historyLine, logIn, runCrew, SimulationError, watch } from './simulation.ts';
import { stopOnSignals } from './stop.ts';

/** Differs from the default of `npm run simulate`, so that both can run on one service. */
const SEED = 7;
const SENSORS = 12;

/** Some 25,000 events in 30 days: enough for every page and chart, and fast to create. */
const HISTORY_PACE = { rate: 0.0023, steady: false, images: true };
const LIVE_PACE = { rate: 1, steady: false, images: true };

/** The settings of a service where the places of the demo are. */
const LOCAL_SETTINGS = {
  timezone: TIME_ZONE,
  use24HourFormat: false,
  dateFormat: 'MM/DD/YYYY',
  firstDayOfWeek: 0,
} as const;

const given = new Set(Object.keys(process.env));
const { DATA_DIR } = process.env;
if (existsSync('.env')) process.loadEnvFile('.env');
const dataDir = resolve(DATA_DIR || 'data-demo');

/** Settings in .env that the demo uses, too. */
const SHARED = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'ADMIN_EMAIL', 'ADMIN_PASSWORD']);

// The other settings in .env name the database, backups, images and brokers of the real service, which the demo must
// not touch. The service reads .env itself, and an empty setting counts as unset.
const ofTheService = Object.keys(process.env).filter((name) => !given.has(name) && !SHARED.has(name));
const env = {
  ...process.env,
  ...Object.fromEntries(ofTheService.map((name) => [name, ''])),
  DATA_DIR: dataDir,
  // Speeds are posted and studied in miles per hour where the places are.
  SPEED_UNITS: given.has('SPEED_UNITS') ? process.env.SPEED_UNITS : 'MPH',
  LOG_LEVEL: process.env.LOG_LEVEL || 'warn',
};
const adminEmail = process.env.ADMIN_EMAIL || 'admin@gantry.local';

const screen = createScreen(process.stdout);
const { signal, stop } = stopOnSignals();
/** Whether the service has ended although nobody stopped the demo. */
let endedByItself = false;

/**
 * Performs a step of the preparation, and repeats it as a whole after a temporary failure, such as SERVICE_UNAVAILABLE.
 * @throws SimulationError when the demo is stopped meanwhile
 */
async function persist<Result>(step: () => Promise<Result>): Promise<Result> {
  const random = createRandom(SEED);
  const onRetry = (error: Error) => screen.say(`${error.message}. Trying again`);
  const done = await keepTrying(async () => ({ result: await step() }), { signal, random, onRetry });
  if (!done) throw new SimulationError('Stopped');
  return done.result;
}

async function logInAsAdmin(url: string): Promise<Colleague> {
  const password = process.env.ADMIN_PASSWORD || (await readInitialPassword(dataDir));
  if (!password) {
    throw new SimulationError(
      `There is no ${dataDir}/initial-admin-password: give the password of ${adminEmail} with ADMIN_PASSWORD`,
    );
  }
  const client = await logIn(url, adminEmail, password);
  const { id } = await client.api.auth.me.query();
  return { id, client, logInAgain: () => client.login(adminEmail, password) };
}

function printWelcome(url: string, logins: readonly DemoLogin[], isNew: boolean): void {
  screen.say(`\nThe demo is ready: open ${url}`);
  const adminPassword = process.env.ADMIN_PASSWORD ? 'ADMIN_PASSWORD' : `${dataDir}/initial-admin-password`;
  const passwords = loginsFile(dataDir);
  screen.say(`  ${adminEmail.padEnd(24)} ADMIN     (the password is in ${adminPassword})`);
  for (const { email, password, role } of logins) {
    screen.say(
      `  ${email.padEnd(24)} ${role.padEnd(9)} ${isNew ? password : `(the password is in ${passwords})`}`,
    );
  }
  screen.say(`${isNew ? `  Passwords are kept in ${passwords}. ` : '  '}Ctrl-C stops everything.\n`);
}

/** The radar that counts quarter hours. Its calls are not in the figures of the fleet. */
async function prepareCounter({ client }: Colleague, url: string): Promise<Device> {
  const prefix = devicePrefix(SEED);
  const { sensors } = await ensureSensors(client.api, prefix, [virtualCounter(SEED, prefix)]);
  const [device] = assemble(url, sensors, signal).devices;
  if (!device) throw new Error('No counter was registered');
  await ensurePoints(client.api, device.sensor);
  return device;
}

/** The fleet after its past events were sent and the control room has worked on them. */
interface Prepared {
  readonly crew: Crew;
  /** The time from which the fleet continues, in Unix milliseconds. */
  readonly from: number;
}

async function prepare(
  url: string,
  { sensors, created }: Fleet,
  counter: Device,
  staff: Staff,
  features: DemoFeatures,
  historyDays: number,
): Promise<Prepared> {
  const crew = assemble(url, sensors, signal);

  const to = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const start = to - historyDays * DAY_MS;
  // If sensors had to be registered, this is another database, which does not contain the earlier events.
  const mark = created > 0 ? null : await readMark(dataDir);
  const from = Math.max(start, Math.min(mark ?? start, to));
  // The watchlist must exist before the history is sent, which raises the alerts.
  if (features.watchlist) await persist(() => ensureWatchlist(staff.operator.client.api, to));
  if (from < to) {
    await sendHistory(crew.devices, { from, to }, HISTORY_PACE, (share) => {
      screen.show(historyLine(share, crew.tally));
    });
    screen.say(historyLine(1, crew.tally));
  }
  await sendCounts(counter, { from, to });
  if (!signal.aborted)
    await persist(() => workThroughPast(staff, features, { from, to }, screen.say, signal));
  return { crew, from: to };
}

async function demonstrate({ url }: Service, historyDays: number): Promise<void> {
  const admin = await persist(() => logInAsAdmin(url));
  const { api } = admin.client;
  const { logins, isNew } = await persist(() => ensureDemoUsers(api, dataDir));
  const fleet = await persist(() => prepareFleet(api, SEED, SENSORS));
  if (fleet.created > 0)
    await persist(() => api.system.timezone.updateTimezoneSettings.mutate(LOCAL_SETTINGS));
  await persist(() => ensureRoadMap(url, admin.client, signal));
  const staff = await persist(() => gatherStaff(url, logins, admin));
  try {
    const features = await persist(() => findFeatures(staff.operator.client.api));
    const counter = await persist(() => prepareCounter(admin, url));
    const { crew, from } = await prepare(url, fleet, counter, staff, features, historyDays);
    if (signal.aborted) return;
    await writeMark(dataDir, from);

    printWelcome(url, logins, isNew);
    const news = followNews(staff.operator, features, screen.say);
    const watching = watch(crew, screen, LIVE_PACE);
    const counting = [keepCounting(counter, from), keepBeating(counter, 0)];
    await runCrew(crew, from, LIVE_PACE).finally(async () => {
      counter.dismiss();
      await Promise.all(counting);
      await news.stop();
      watching.stop();
    });
    await writeMark(dataDir, Date.now());
  } finally {
    await staff.leave();
  }
}

async function playDemo(program: readonly string[], { historyDays }: Options): Promise<void> {
  const host = process.env.HOST || '127.0.0.1';
  const port = Number(process.env.PORT || 4000);
  if (!(port > 0)) throw new SimulationError('The demo needs a fixed PORT: choose one above 0');
  if (isBlockedPort(port)) {
    throw new SimulationError(`Browsers refuse to connect to port ${port}: choose another PORT for the demo`);
  }
  const service = await startService({ program, env, host, port, dataDir, signal });
  void service.ended.then(() => {
    endedByItself = !signal.aborted;
    stop();
  });
  try {
    await demonstrate(service, historyDays);
  } catch (error) {
    if (!endedByItself) throw error;
  } finally {
    await service.stop();
    screen.say(`The demo has stopped. Its data is kept in ${dataDir}`);
  }
  if (endedByItself) throw new SimulationError(`The service ended by itself: see ${service.log}`);
}

const command = new Command('gantry demo')
  .description(
    'Start a service of its own on PORT (4000) with sensors, past events and sample users, and let sensors report to it until Ctrl-C. Its data is kept in DATA_DIR (./data-demo). Of .env it uses HOST, PORT, LOG_LEVEL, ADMIN_EMAIL and ADMIN_PASSWORD only.',
  )
  .option('--history-days <days>', 'days of past events', numberBetween(1, 365, true), 30)
  // Exit code 2 for wrong arguments, as in the other commands.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

interface Options {
  readonly historyDays: number;
}

/**
 * Runs the demo until it is stopped, and ends the process.
 * @param program the arguments of Node.js that start its service
 */
export async function run(args: readonly string[], program: readonly string[]): Promise<void> {
  try {
    await playDemo(program, command.parse(args, { from: 'user' }).opts<Options>());
    process.exit(0);
  } catch (error) {
    screen.end();
    if (signal.aborted && !endedByItself && error instanceof SimulationError) process.exit(0);
    if (!(error instanceof Error)) throw error;
    const isExplained = error instanceof SimulationError || error.name === 'GantryError';
    process.stderr.write(`${isExplained ? error.message : error.stack}\n`);
    process.exit(1);
  }
}
