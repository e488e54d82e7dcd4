import { crc32, deflateSync } from 'node:zlib';
import { expect, type Page } from '@playwright/test';
import type { TestService } from './service.ts';

// The expected effect of each shortcut, page by page, for the test that presses all of them (shortcuts.spec.ts).

/** The objects of a page in a trial. Each trial creates its own, so that trials do not depend on each other. */
export interface Made {
  readonly address: string;
  /** The ids of the objects in the list, or of the object that the page shows. */
  readonly ids?: readonly string[];
}

export interface Trial extends Made {
  readonly page: Page;
  readonly service: TestService;
  /** Presses the shortcut. */
  press(): Promise<void>;
}

/** Presses a shortcut and checks its effect. */
export type Try = (trial: Trial) => Promise<void>;
/** The trials of a page, by the keys in the notation of the sheet. */
export type Tries = Readonly<Record<string, Try>>;

export interface PageStory {
  readonly name: string;
  make(service: TestService): Promise<Made>;
  readonly tries: Tries;
}

let count = 0;
const unique = (): string => `K${Date.now().toString(36)}${++count}`;
/** Creates `n` objects one after the other, so that their order is known. */
async function several<Result>(n: number, make: (at: number) => Promise<Result>): Promise<Result[]> {
  const made: Result[] = [];
  for (let at = 0; at < n; at++) made.push(await make(at));
  return made;
}
const idOf = ({ id }: { readonly id: string }): string => id;

const opens =
  (name: string | RegExp): Try =>
  async ({ page, press }) => {
    await press();
    await expect(page.getByRole('dialog', { name })).toBeVisible();
  };
const leadsTo =
  (address: RegExp): Try =>
  async ({ page, press }) => {
    await press();
    await expect(page).toHaveURL(address);
  };
const leaves =
  (parameter: string): Try =>
  async ({ page, press }) => {
    await expect(page).toHaveURL(new RegExp(`[?&]${parameter}=`));
    await press();
    await expect(page).not.toHaveURL(new RegExp(`[?&]${parameter}=`));
  };

/** The keys of the rows or cards, in the order on the page. */
const rowsOf = (page: Page): Promise<string[]> =>
  page
    .locator('[data-key], [data-card]')
    .evaluateAll((all) =>
      all.map((row) => row.getAttribute('data-key') ?? row.getAttribute('data-card') ?? ''),
    );
const isAt = async (page: Page, parameter: string, row: number) =>
  // In the URL, an id of digits alone is in quotation marks.
  expect
    .poll(() => new URL(page.url()).searchParams.get(parameter)?.replaceAll('"', ''))
    .toBe((await rowsOf(page))[row]);
const go = async ({ page }: Trial, parameter: string, row: number) => {
  await expect(page.locator('[data-key], [data-card]')).not.toHaveCount(0);
  for (let at = 0; at <= row; at++) {
    await page.keyboard.press('j');
    await isAt(page, parameter, at);
  }
};

/** The trials of the keys that move the cursor of a list. */
const moves = (down: Try, up: Try): Tries => ({ j: down, k: up, '↓': down, '↑': up });

/** The trials of a list whose cursor is in the URL. */
const list = (parameter: string, opened?: RegExp): Tries => ({
  ...moves(
    async (trial) => {
      await go(trial, parameter, 0);
      await trial.press();
      await isAt(trial.page, parameter, 1);
    },
    async (trial) => {
      await go(trial, parameter, 1);
      await trial.press();
      await isAt(trial.page, parameter, 0);
    },
  ),
  ...(opened && {
    async Enter(trial) {
      await go(trial, parameter, 0);
      await leadsTo(opened)(trial);
    },
  }),
});

/** The trials of the same keys while the first row is open. */
const fromOpen = (parameter: string): Tries =>
  moves(
    async ({ page, press }) => {
      await press();
      await isAt(page, parameter, 1);
    },
    async ({ page, press }) => {
      await page.keyboard.press('j');
      await isAt(page, parameter, 1);
      await press();
      await isAt(page, parameter, 0);
    },
  );

/** Expects the given row, and no other, to be marked as the current one. */
const isCurrent = async (page: Page, row: number) =>
  expect
    .poll(() =>
      page
        .locator('tr[data-key][aria-current]')
        .evaluateAll((all) => all.map((each) => each.getAttribute('data-key'))),
    )
    .toEqual([(await rowsOf(page))[row]]);
const goTo = async ({ page }: Trial, row: number) => {
  await expect(page.locator('tr[data-key]')).not.toHaveCount(0);
  for (let at = 0; at <= row; at++) {
    await page.keyboard.press('j');
    await isCurrent(page, at);
  }
};

/** The trials of a list whose cursor is not in the URL. */
const plainList = (enter: Try): Tries => ({
  ...moves(
    async (trial) => {
      await goTo(trial, 0);
      await trial.press();
      await isCurrent(trial.page, 1);
    },
    async (trial) => {
      await goTo(trial, 1);
      await trial.press();
      await isCurrent(trial.page, 0);
    },
  ),
  async Enter(trial) {
    await goTo(trial, 0);
    await enter(trial);
  },
});

const report = async ({ admin: { api } }: TestService): Promise<void> => {
  const range = { startDate: '2026-01-01', endDate: '2026-01-02' };
  const { id } = await api.reports.generate.mutate({ kind: 'INCIDENTS', format: 'CSV', ...range });
  await expect.poll(async () => (await api.reports.getById.query({ id })).status).toBe('DONE');
};
const schedule = ({ admin: { api } }: TestService) =>
  api.reports.createSchedule.mutate({ kind: 'DAILY_SUMMARY', format: 'PDF', every: 'DAILY', hour: 6 });

const selection = (parameter: string): Tries => ({
  async x(trial) {
    await go(trial, parameter, 0);
    await trial.press();
    await expect(trial.page.locator('tr[data-key] input:checked')).toHaveCount(1);
  },
  async '⇧ x'(trial) {
    await go(trial, parameter, 0);
    await trial.page.keyboard.press('x');
    await trial.page.keyboard.press('j');
    await isAt(trial.page, parameter, 1);
    await trial.press();
    await expect(trial.page.locator('tr[data-key] input:checked')).toHaveCount(2);
  },
});

const filters = (parameter: string): Tries => ({ f: opens('Filter'), Escape: leaves(parameter) });

const statusOf = ({ service }: Trial, id: string | undefined) =>
  service.admin.api.incidents.getById.query({ id: id ?? '' });
/** Presses the shortcut and expects the service to have the incident in this state. */
const incidentBecomes =
  (at: number, expected: Record<string, unknown>): Try =>
  async (trial) => {
    await trial.press();
    await expect.poll(() => statusOf(trial, trial.ids?.[at])).toMatchObject(expected);
  };
/** The trials of the commands of an incident, after `select` has moved the cursor to one of the ids. */
const incidentCommands = (select: (trial: Trial, at: number) => Promise<void>): Tries => {
  const after =
    (at: number, attempt: Try): Try =>
    async (trial) => {
      await select(trial, at);
      await attempt(trial);
    };
  return {
    '1': after(0, incidentBecomes(0, { status: 'ACKNOWLEDGED' })),
    '2': after(1, incidentBecomes(1, { status: 'IN_PROGRESS' })),
    '3': after(2, opens('Resolve')),
    m: after(0, incidentBecomes(0, { assignedTo: { name: 'First Administrator' } })),
    n: after(0, opens('Add note')),
  };
};
/** Creates an incident that is open, one that is acknowledged, and one that is in progress. */
async function incidents(service: TestService): Promise<{ readonly title: string; readonly ids: string[] }> {
  const title = unique();
  const { incidents: calls } = service.admin.api;
  const ids = (
    await several(3, (at) =>
      calls.create.mutate({ title: `${title} ${at}`, type: 'COLLISION', severity: 'HIGH' }),
    )
  ).map(idOf);
  for (const id of ids.slice(1)) await calls.acknowledge.mutate({ id });
  await calls.start.mutate({ id: ids[2] ?? '' });
  return { title, ids };
}
const goToIncident = async ({ page, ids }: Trial, at: number) => {
  const url = new URL(page.url());
  url.searchParams.set('incident', ids?.[at] ?? '');
  await page.goto(url.href);
  await expect(page.locator('[data-key], [data-card]')).not.toHaveCount(0);
};
const boardAcross = (back: boolean): Try => {
  return async (trial) => {
    await go(trial, 'incident', 0);
    if (back) {
      await trial.page.keyboard.press('l');
      await isAt(trial.page, 'incident', 1);
    }
    await trial.press();
    await isAt(trial.page, 'incident', back ? 0 : 1);
  };
};
/** Creates two cards in one column, and moves the cursor between them. */
const boardAlong =
  (back: boolean): Try =>
  async (trial) => {
    const { title } = await incidents(trial.service);
    const open = await several(2, (at) =>
      trial.service.admin.api.incidents.create.mutate({
        title: `${title} open ${at}`,
        type: 'OTHER',
        severity: 'LOW',
      }),
    );
    await trial.page.goto(`${trial.service.url}/incidents?search=${title} open`);
    await expect(trial.page.locator('[data-card]')).toHaveCount(open.length);
    await go(trial, 'incident', back ? 1 : 0);
    await trial.press();
    await isAt(trial.page, 'incident', back ? 0 : 1);
  };

/** A PNG of one pixel, in base64. @param red value of its red channel */
function pixel(red: number): string {
  const chunk = (type: string, content: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, red, 0, 0]))),
    chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
}

async function events(
  service: TestService,
): Promise<{ readonly violationType: string; readonly ids: string[] }> {
  const violationType = unique();
  const { apiKey } = await service.sensor();
  const { results } = await service.admin.api.events.ingestBatch.mutate({
    apiKey,
    events: [0, 1, 2].map((at) => ({
      eventType: 'TRAFFIC_VIOLATION' as const,
      violationType,
      licensePlateNumber: `34 K ${at}`,
      timestamp: new Date(Date.now() - 60_000 - at * 1_000).toISOString(),
      images: [pixel(100 + count), pixel(200)],
    })),
  });
  return { violationType, ids: results.map((result) => ('eventId' in result ? result.eventId : '')) };
}
const decides =
  (decision: string): Try =>
  async ({ service, press, ids }) => {
    await press();
    const ask = () => service.admin.api.events.getReviews.query({ eventIds: [ids?.[0] ?? ''] });
    await expect.poll(async () => (await ask()).reviews.map((review) => review.decision)).toEqual([decision]);
  };
const seesAfter =
  (before: readonly string[], seen: { readonly zoom: string } | { readonly image: number }): Try =>
  async ({ page, press }) => {
    await expect(page.getByRole('img', { name: /^Image 1 of 2/ })).toBeVisible();
    for (const key of before) await page.keyboard.press(key);
    await press();
    await expect(
      'zoom' in seen
        ? page.getByText(seen.zoom)
        : page.getByRole('img', { name: new RegExp(`^Image ${seen.image} of 2`) }),
    ).toBeVisible();
  };

async function alerts(service: TestService): Promise<{ readonly entryId: string; readonly ids: string[] }> {
  const plate = unique();
  const { id: entryId } = await service.admin.api.watchlist.create.mutate({
    pattern: plate,
    reason: 'A story',
    priority: 'LOW',
  });
  const alertsOf = async () => (await service.admin.api.watchlist.getAlerts.query({ entryId })).alerts;
  for (let n = 0; n < 2; n++) {
    // A second read by the same sensor would be counted in the first alert.
    const { apiKey } = await service.sensor({ type: 'ANPR' });
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: plate,
    });
  }
  await expect.poll(async () => (await alertsOf()).length).toBe(2);
  return { entryId, ids: (await alertsOf()).map(idOf) };
}
const alertCommands: Tries = {
  async '1'(trial) {
    await go(trial, 'alert', 0);
    const [first] = await rowsOf(trial.page);
    await trial.press();
    const ask = async () => (await trial.service.admin.api.watchlist.getAlerts.query({ take: 100 })).alerts;
    await expect.poll(async () => (await ask()).find(({ id }) => id === first)?.acknowledgedAt).toBeTruthy();
  },
  async n(trial) {
    await go(trial, 'alert', 0);
    await trial.press();
    await expect(trial.page.getByRole('textbox', { name: /note/i })).toBeFocused();
  },
};

const UUID = '[0-9a-f]{8}-[0-9a-f-]{27}';
const asMap: Try = leadsTo(/view=map/);
const days: Tries = { '[': leadsTo(/startDate=2026-04-01/), ']': leadsTo(/startDate=2026-06-01/) };
const MAY = 'startDate=2026-05-01&endDate=2026-05-31';
const is = (address: string) => async (): Promise<Made> => ({ address });

/** The shortcuts that are the same on every page. */
export const everywhere: Tries = {
  '?': opens('Keyboard shortcuts'),
  '/': opens('Search'),
  async u({ page, press }) {
    const clock = page.getByTitle('Show times in UTC');
    const was = (await clock.getAttribute('aria-pressed')) === 'true';
    await press();
    await expect(clock).toHaveAttribute('aria-pressed', String(!was));
    await page.keyboard.press('u');
    await expect(clock).toHaveAttribute('aria-pressed', String(was));
  },
  // Where the page has another use for n, it is not listed here.
  n: opens('New log entry'),
  '⇧ n': opens('New log entry'),
  'g o': leadsTo(/:\d+\/(\?|$)/),
  'g e': leadsTo(/\/events/),
  'g i': leadsTo(/\/incidents/),
  'g w': leadsTo(/\/watchlist/),
  'g h': leadsTo(/\/hits/),
  'g m': leadsTo(/\/alarms/),
  'g j': leadsTo(/\/log/),
  'g d': leadsTo(/\/shift/),
  'g s': leadsTo(/\/sensors/),
  'g l': leadsTo(/\/locations/),
  'g t': leadsTo(/\/traffic/),
  'g r': leadsTo(/\/reports/),
  'g a': leadsTo(/\/administration/),
};

async function sensors(service: TestService): Promise<{ readonly search: string; readonly ids: string[] }> {
  const search = unique();
  const made = await several(2, (at) => service.sensor({ name: `${search} ${at}` }));
  return { search, ids: made.map(idOf) };
}
/** Creates a connection with two unreadable messages. @returns their ids, newest first */
async function connected(
  service: TestService,
): Promise<{ readonly connection: string; readonly ids: string[] }> {
  const { connections } = service.admin.api;
  const { id: sensorId } = await service.sensor();
  const { id, url } = await connections.create.mutate({ sensorId, format: 'hikvision' });
  await several(2, () => fetch(url, { method: 'POST', body: '<!DOCTYPE a><a/>' }));
  const asked = async () => (await connections.getMessages.query({ connectionId: id })).messages;
  await expect.poll(async () => (await asked()).map(({ status }) => status)).toEqual(['REFUSED', 'REFUSED']);
  return { connection: `/sensors/${sensorId}/connections/${id}`, ids: (await asked()).map(idOf) };
}
async function locations(service: TestService): Promise<{ readonly search: string; readonly ids: string[] }> {
  const search = unique();
  const made = await several(2, (at) =>
    service.admin.api.locations.create.mutate({ name: `${search} ${at}` }),
  );
  return { search, ids: made.map(idOf) };
}

const eventTries: Tries = {
  f: opens('Filter'),
  ...list('event'),
  ...selection('event'),
  async n({ page, service, press, address }) {
    const violationType = new URLSearchParams(address.split('?')[1]).get('violationType') ?? '';
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const { apiKey } = await service.sensor();
    await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'TRAFFIC_VIOLATION', violationType });
    await expect(page.getByRole('button', { name: /1 new/ })).toBeVisible();
    const before = (await rowsOf(page)).length;
    await press();
    await expect.poll(async () => (await rowsOf(page)).length).toBe(before + 1);
  },
};

export const stories: readonly PageStory[] = [
  { name: 'overview', make: is('/'), tries: { w: leadsTo(/kiosk=1/) } },
  {
    name: 'events',
    async make(service) {
      const { violationType, ids } = await events(service);
      return { address: `/events?violationType=${violationType}`, ids };
    },
    tries: { ...eventTries, ...filters('violationType') },
  },
  {
    name: 'events, one of them open',
    async make(service) {
      const { violationType, ids } = await events(service);
      return { address: `/events?violationType=${violationType}&event=${ids[0]}`, ids };
    },
    tries: {
      ...eventTries,
      ...fromOpen('event'),
      async x(trial) {
        await trial.press();
        await expect(trial.page.locator('tr[data-key] input:checked')).toHaveCount(1);
      },
      async '⇧ x'(trial) {
        await trial.page.keyboard.press('x');
        await trial.page.keyboard.press('j');
        await isAt(trial.page, 'event', 1);
        await trial.press();
        await expect(trial.page.locator('tr[data-key] input:checked')).toHaveCount(2);
      },
      Escape: leaves('event'),
      '1': decides('CONFIRMED'),
      '2': opens(/^Reject/),
      '3': decides('SECOND_LOOK'),
      async a({ service, press, ids }) {
        await press();
        const ask = () => service.admin.api.events.getById.query({ id: ids?.[0] ?? '' });
        await expect.poll(async () => (await ask()).archived).toBe(true);
      },
      i: opens('New incident'),
      '[': seesAfter([']'], { image: 1 }),
      ']': seesAfter([], { image: 2 }),
      '+': seesAfter([], { zoom: '150 %' }),
      '-': seesAfter(['+', '+'], { zoom: '150 %' }),
      async v({ page, press }) {
        await press();
        await expect(page.getByRole('button', { name: 'Leave full screen' })).toBeVisible();
      },
    },
  },
  {
    name: 'incidents, as a board',
    async make(service) {
      const { title, ids } = await incidents(service);
      return { address: `/incidents?search=${title}`, ids };
    },
    tries: {
      ...filters('search'),
      c: opens('New incident'),
      v: leadsTo(/view=list/),
      j: boardAlong(false),
      k: boardAlong(true),
      '↓': boardAlong(false),
      '↑': boardAlong(true),
      l: boardAcross(false),
      h: boardAcross(true),
      '→': boardAcross(false),
      '←': boardAcross(true),
      async Enter(trial) {
        await go(trial, 'incident', 0);
        await leadsTo(new RegExp(`/incidents/${UUID}$`))(trial);
      },
      ...incidentCommands(goToIncident),
    },
  },
  {
    name: 'incidents, as a list',
    async make(service) {
      const { title, ids } = await incidents(service);
      return { address: `/incidents?view=list&search=${title}`, ids };
    },
    tries: {
      ...filters('search'),
      c: opens('New incident'),
      v: leaves('view'),
      ...list('incident', new RegExp(`/incidents/${UUID}$`)),
      ...incidentCommands(goToIncident),
    },
  },
  {
    name: 'one incident',
    async make(service) {
      const { ids } = await incidents(service);
      return { address: `/incidents/${ids[0]}`, ids };
    },
    tries: {
      ...incidentCommands(async ({ page, service, ids }, at) => {
        await page.goto(`${service.url}/incidents/${ids?.[at]}`);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      }),
      async n({ page, press }) {
        await press();
        await expect(page.getByLabel('Note', { exact: true })).toBeFocused();
      },
      // Returns to the previous page, which is the one that the test shows before each trial.
      Escape: leadsTo(/\/account\/sessions$/),
    },
  },
  {
    name: 'alerts of the watchlist',
    async make(service) {
      const { entryId, ids } = await alerts(service);
      return { address: `/watchlist?entryId=${entryId}`, ids };
    },
    tries: {
      ...filters('entryId'),
      ...list('alert', /\/events\?event=/),
      ...selection('alert'),
      ...alertCommands,
    },
  },
  {
    name: 'plates of the watchlist',
    async make(service) {
      const search = unique();
      const pattern = (at: number) => ({
        pattern: `${search}${at}`,
        reason: 'A story',
        priority: 'LOW' as const,
      });
      await several(2, (at) => service.admin.api.watchlist.create.mutate(pattern(at)));
      return { address: `/watchlist?part=plates&search=${search}` };
    },
    tries: {
      ...filters('search'),
      c: opens('Watch a plate'),
      // The plate under the cursor is opened in a dialog, where the shortcuts are inactive.
      ...moves(toFirstPlate, toFirstPlate),
    },
  },
  {
    name: 'sensors',
    async make(service) {
      const { search, ids } = await sensors(service);
      return { address: `/sensors?search=${search}`, ids };
    },
    tries: {
      ...filters('search'),
      v: asMap,
      n: opens('New sensor'),
      ...list('sensor', new RegExp(`/sensors/${UUID}$`)),
    },
  },
  {
    name: 'sensors, on the map',
    async make(service) {
      const { search, ids } = await sensors(service);
      return { address: `/sensors?view=map&search=${search}`, ids };
    },
    tries: { ...filters('search'), v: leaves('view'), n: opens('New sensor') },
  },
  {
    name: 'one sensor',
    async make(service) {
      const { ids } = await sensors(service);
      return { address: `/sensors/${ids[0]}`, ids };
    },
    tries: { e: opens('Edit sensor') },
  },
  {
    name: 'a connection of a sensor',
    async make(service) {
      const { connection, ids } = await connected(service);
      return { address: `${connection}?status=REFUSED`, ids };
    },
    tries: { ...filters('status'), ...list('message'), e: opens('Edit connection') },
  },
  {
    name: 'a connection of a sensor, one message open',
    async make(service) {
      const { connection, ids } = await connected(service);
      return { address: `${connection}?message=${ids[0]}`, ids };
    },
    tries: {
      f: opens('Filter'),
      Escape: leaves('message'),
      e: opens('Edit connection'),
      ...fromOpen('message'),
    },
  },
  {
    name: 'locations',
    async make(service) {
      const { search, ids } = await locations(service);
      return { address: `/locations?search=${search}`, ids };
    },
    tries: {
      ...filters('search'),
      v: asMap,
      n: opens('New location'),
      ...list('location', new RegExp(`/locations/${UUID}$`)),
    },
  },
  {
    name: 'one location',
    async make(service) {
      const { ids } = await locations(service);
      return { address: `/locations/${ids[0]}`, ids };
    },
    tries: { e: opens('Edit location') },
  },
  {
    name: 'traffic',
    make: is(`/traffic?${MAY}`),
    tries: {
      ...days,
      async p({ page, press }) {
        await press();
        await expect(page.getByLabel('Location, point or sensor')).toBeFocused();
      },
    },
  },
  { name: 'analytics', make: is(`/reports?${MAY}`), tries: days },
  {
    name: 'files',
    async make(service) {
      await several(2, () => report(service));
      return { address: '/reports/files?kind=INCIDENTS' };
    },
    tries: {
      ...filters('kind'),
      n: opens('Generate a report'),
      ...plainList(async ({ page, press }) => {
        const download = page.waitForEvent('download');
        await press();
        await download;
      }),
    },
  },
  {
    name: 'schedules',
    async make(service) {
      await several(2, () => schedule(service));
      return { address: '/reports/schedules' };
    },
    tries: { n: opens('New schedule'), ...plainList(opens('Change the schedule')) },
  },
  {
    name: 'users',
    async make(service) {
      await several(1, () => service.userOf('FIELD'));
      await service.userOf('OPERATOR');
      return { address: '/administration/users?search=example.org' };
    },
    tries: { ...filters('search'), ...list('user'), n: opens('Add user') },
  },
  {
    name: 'activity',
    async make(service) {
      await sensors(service);
      return { address: '/administration/activity?startDate=2020-01-01' };
    },
    tries: { ...filters('startDate'), ...list('entry') },
  },
  {
    name: 'webhooks',
    async make(service) {
      await several(2, () => webhook(service));
      return { address: '/administration/webhooks' };
    },
    tries: {
      n: opens('Add webhook'),
      ...plainList(leadsTo(new RegExp(`/webhooks/${UUID}`))),
    },
  },
  {
    name: 'one webhook',
    async make(service) {
      const { id } = await webhook(service);
      const asked = () => service.admin.api.webhooks.getDeliveries.query({ webhookId: id });
      for (let n = 0; n < 2; n++) await service.admin.api.webhooks.test.mutate({ id });
      await expect.poll(async () => (await asked()).total).toBe(2);
      return { address: `/administration/webhooks/${id}?kind=test`, ids: [id] };
    },
    tries: { ...filters('kind'), ...list('delivery') },
  },
  {
    name: 'holds',
    async make(service) {
      const { ids } = await events(service);
      await several(2, (at) =>
        service.admin.api.storage.setHold.mutate({ reason: unique(), eventIds: [ids[at] ?? ''] }),
      );
      return { address: '/administration/holds?released=false' };
    },
    tries: { ...filters('released'), ...list('hold'), n: opens('Set a hold') },
  },
  ...[
    '/administration/roles',
    '/administration/storage',
    '/administration/settings',
    '/administration/system',
    '/administration/backups',
    '/administration/doctor',
    '/account',
    '/account/sessions',
  ].map((address) => ({ name: address, make: is(address), tries: {} })),
];

async function toFirstPlate({ page, press }: Trial): Promise<void> {
  await press();
  await isAt(page, 'plate', 0);
}

function webhook(service: TestService) {
  return service.admin.api.webhooks.create.mutate({
    url: `http://127.0.0.1:9/${unique()}`,
    kinds: ['event.violation'],
  });
}
