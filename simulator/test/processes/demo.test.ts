import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGantryClient, type GantryClient } from '@gantry/client';
import { DAY_MS } from '@gantry/contract/durations';
import { type IncidentStatus, incidentStatus } from '@gantry/contract/incidents';
import { expect, it } from 'vitest';
import { createTestDatabase, eventually } from '../../../server/test/harness.ts';
import { lengthOf } from '../../../server/test/test-length.ts';
import { run } from './process.ts';

const DAYS = lengthOf({ gate: 7, full: 30 });

/** What the control room of the demo has done so far. */
const workDone = async ({ incidents, watchlist }: GantryClient['api']) => {
  const { total, byStatus } = await incidents.getStats.query();
  const { entries } = await watchlist.getAll.query();
  const alerts = await watchlist.getAlerts.query();
  const { total: seen } = await watchlist.getAlerts.query({ acknowledged: true });
  const { incidents: closed } = await incidents.getAll.query({ status: 'CLOSED', sortOrder: 'asc' });
  const { timeline } = await incidents.getById.query({ id: closed[0]?.id ?? '' });
  const statuses = new Map(byStatus.map(({ status, count }) => [status, count]));
  return { total, statuses, entries, alerts, seen, closed, timeline };
};

const expectIn = (value: number, low: number, high: number): void => {
  expect(value).toBeGreaterThan(low);
  expect(value).toBeLessThan(high);
};

/** The figures of the road with a counter, over the last complete days. */
const expectBelievableFigures = async ({ locations, traffic }: GantryClient['api']) => {
  const found = await locations.getAll.query({ search: 'Great Seneca Hwy @ Longdraft Rd' });
  const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  const place = { locationId: found.locations[0]?.id ?? '', startDate: dayAgo(DAYS - 1), endDate: dayAgo(2) };
  const { bins } = await traffic.getCounts.query({ ...place, interval: 'day', by: ['direction', 'lane'] });
  expect(bins).toHaveLength(DAYS - 2);
  for (const { status, volume, cells } of bins) {
    expect(status).toBe('VALID');
    expectIn(volume ?? 0, 20_000, 34_000);
    expect(cells.map(({ direction, lane }) => `${direction} ${lane}`).sort()).toEqual([
      'NB 1',
      'NB 2',
      'SB 1',
      'SB 2',
    ]);
    for (const cell of cells) expectIn(cell.volume / (volume ?? 0), 0.22, 0.28);
  }
  const { days } = await traffic.getPeakHours.query(place);
  const windows = days.flatMap((day) => day.windows);
  for (const { peakHourFactor, t } of windows) {
    // In a month, four quarters of one day may be almost alike.
    expectIn(peakHourFactor ?? 0, 0.82, 1);
    expectIn(t ?? 0, 0.03, 0.12);
  }
  expectIn(windows.reduce((sum, each) => sum + (each.peakHourFactor ?? 0), 0) / windows.length, 0.86, 0.98);
  const study = await traffic.getSpeedStudy.query({ ...place, units: 'KMH' });
  expectIn(study.v85 ?? 0, 78, 88);
};

const findFreePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

it('the demo fills a service, allows logins, and restarts with its data', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'gantry-demo-'));
  // The `.env` of a real service, in which a backup would be due at once. The demo must ignore it.
  const home = await mkdtemp(join(tmpdir(), 'gantry-home-'));
  await writeFile(join(home, '.env'), `BACKUP_DIR=${join(home, 'backups')}\nBACKUP_SCHEDULE=6h\n`);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    ALLOW_UNSAFE_DATABASE: 'true',
    PORT: String(port),
  };

  /** Incidents that were opened before this have been resolved or closed. */
  const twoDaysAgo = new Date(Date.now() - 2 * DAY_MS);
  const demo = run('demo', ['--history-days', String(DAYS)], env, home);
  await demo.until(/The demo is ready/);
  await demo.until(/Ctrl-C stops everything/);
  const logins = [...demo.text().matchAll(/^ {2}(\w+@gantry\.local) +([A-Z]+) +(\S+)$/gm)].map(
    ([, email = '', role, password = '']) => ({ email, role, password }),
  );
  expect(logins.map(({ role }) => role)).toEqual(['OPERATOR', 'ANALYST', 'FIELD', 'VIEWER']);
  for (const { email, role, password } of logins) {
    expect((await createGantryClient(url).login(email, password)).role).toBe(role);
  }
  expect((await stat(join(dataDir, 'demo-users'))).mode & 0o777).toBe(0o600);

  // The log of the service is in a file of its own.
  expect(demo.text()).not.toContain('{"level"');
  expect((await stat(join(dataDir, 'service.log'))).size).toBeGreaterThan(0);

  const operator = createGantryClient(url);
  await operator.login(logins[0]?.email ?? '', logins[0]?.password ?? '');
  const { events, sensors } = operator.api;
  const stats = await events.getStats.query();
  expect(stats.total).toBeGreaterThan(DAYS * 660);
  expect(stats.total).toBeLessThan(DAYS * 1_060);
  expect(stats.byType).toHaveLength(6);
  expect(stats.archived).toBeGreaterThan(lengthOf({ gate: 55, full: 300 }));
  expect(stats.processed).toBeGreaterThan(stats.archived);
  const [reviewed] = (await events.getAll.query({ processed: true, take: 1 })).events;
  const { images } = await operator.api.storage.getStats.query();
  expect(images.count).toBeGreaterThan(50);
  const { timezone } = await operator.api.system.timezone.getTimezoneSettings.query();
  expect(timezone).toBe('America/New_York');
  const { processedBy } = await events.getById.query({ id: reviewed?.id ?? '' });
  expect(processedBy?.name).toBe('Olivia Park');

  const work = await workDone(operator.api);
  expect(work.total).toBeGreaterThan(lengthOf({ gate: 12, full: 70 }));
  expect(work.total).toBeLessThan(DAYS * 8.4);
  const olderWith = async (status: readonly IncidentStatus[]): Promise<number> =>
    (await operator.api.incidents.getAll.query({ endDate: twoDaysAgo, status: [...status], take: 1 })).total;
  const older = await olderWith(incidentStatus.options);
  expect(older).toBeGreaterThan((DAYS - 2) * 1.5);
  expect(await olderWith(['CLOSED', 'RESOLVED'])).toBe(older);
  expect(await olderWith(['CLOSED'])).toBeGreaterThan(older * 0.6);
  expect(await olderWith(['RESOLVED'])).toBeGreaterThanOrEqual(lengthOf({ gate: 0, full: 1 }));
  // A short history may have no collision.
  expect(work.closed.some(({ title }) => /^[A-Z][\w ]+ at .+ @ /.test(title))).toBe(true);
  expect(
    work.closed.every(({ assignedTo }) => /^(Olivia Park|Felix Stone)$/.test(assignedTo?.name ?? '')),
  ).toBe(true);
  const done = work.timeline.filter(({ action }) => action !== 'attachEvent');
  expect(done.map(({ action }) => action)).toEqual([
    'create',
    'acknowledge',
    'assign',
    'start',
    'resolve',
    'close',
  ]);
  expect(done.map(({ by }) => by === null)).toEqual([true, false, false, false, false, false]);
  expect(done[1]).toMatchObject({ by: { name: 'Olivia Park' }, note: expect.any(String) });
  expect(demo.text()).toMatch(/Incidents: [0-9]+, of which .*closed/);

  expect(work.entries).toHaveLength(7);
  expect(work.entries.every(({ createdBy }) => createdBy.name === 'Olivia Park')).toBe(true);
  expect(work.alerts.total).toBeGreaterThan(lengthOf({ gate: 4, full: 30 }));
  expect(work.alerts.total).toBeLessThan(DAYS * 8.4);
  expect(work.seen).toBeGreaterThan(work.alerts.total * lengthOf({ gate: 0.5, full: 0.7 }));
  expect(demo.text()).toMatch(/Watchlist: 7 plates, [0-9]+ alerts, [0-9]+ of them open/);

  // A few sensors may be in ERROR: at any time, a virtual sensor may report a critical issue.
  const silent = async () => (await sensors.getAll.query({ status: 'OFFLINE' })).total;
  await eventually(silent, (now) => now === 0);
  expect((await sensors.getAll.query()).total).toBe(13);

  await expectBelievableFigures(operator.api);

  const byHand = /^\d\d:\d\d:\d\d New incident, MEDIUM: Flood$/m;
  let floods = 0;
  // News that exceed ten lines a minute are left out.
  for (; floods < 30 && !byHand.test(demo.text()); floods++) {
    await operator.api.incidents.create.mutate({ title: 'Flood', type: 'WEATHER' });
    await eventually(
      async () => demo.text(),
      (text) => byHand.test(text),
      4_000,
    ).catch(() => undefined);
  }
  expect(demo.text()).toMatch(byHand);

  demo.interrupt();
  expect(await demo.ended).toBe(0);
  expect(await readdir(home)).toEqual(['.env']);
  await rm(home, { recursive: true });
  await expect(fetch(`${url}/ready`)).rejects.toThrow();

  const again = run('demo', ['--history-days', String(DAYS)], env);
  await again.until(/Ctrl-C stops everything/);
  expect(again.text()).not.toContain(logins[0]?.password);
  await operator.login(logins[0]?.email ?? '', logins[0]?.password ?? '');
  const later = await events.getStats.query();
  expect(later.total).toBeGreaterThanOrEqual(stats.total);
  // The fleet reported meanwhile, for as long as this took; a second history would have doubled the events.
  expect(later.total - stats.total).toBeLessThan(stats.total / 2);
  expect((await sensors.getAll.query()).total).toBe(13);
  const workLater = await workDone(operator.api);
  expect(workLater.entries).toEqual(work.entries);
  expect(workLater.total - work.total - floods).toBeLessThan(20);
  expect(workLater.alerts.total - work.alerts.total).toBeLessThan(50);
  expect(workLater.timeline).toEqual(work.timeline);
  again.interrupt();
  expect(await again.ended).toBe(0);

  await database.drop();
  await rm(dataDir, { recursive: true });
});

it('the demo refuses a port at which no browser can open it, before it starts a service', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gantry-demo-'));
  const demo = run('demo', [], { DATA_DIR: dataDir, PORT: '4190' });
  expect(await demo.ended).toBe(1);
  expect(demo.text()).toBe('Browsers refuse to connect to port 4190: choose another PORT for the demo\n');
  expect(await readdir(dataDir)).toEqual([]);
  await rm(dataDir, { recursive: true });
});
