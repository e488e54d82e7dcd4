import { expect, type Page } from '@playwright/test';
import { png } from './images.ts';
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
  /** The path of the page, as the router names it. */
  readonly path: string;
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
/** Presses the shortcut and expects the service to know the time of the incident. */
const timeIsSet =
  (name: string): Try =>
  async (trial) => {
    await trial.press();
    const ask = async () => (await statusOf(trial, trial.ids?.[0])).work.times;
    await expect.poll(async () => (await ask()).find((time) => time.name === name)?.at).toBeTruthy();
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
const pixel = (red: number): string => png({ width: 1, height: 1 }, () => [red, 0, 0]);

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
  'g p': leadsTo(/\/works/),
  'g w': leadsTo(/\/watchlist/),
  'g h': leadsTo(/\/hits/),
  'g c': leadsTo(/\/cases/),
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

/** Makes sure that at least two alarms are firing that nobody has acknowledged. Rounds of rules are seconds apart. */
async function alarms({ admin: { api } }: TestService): Promise<void> {
  const count = async () => {
    const asked = { state: 'FIRING', severity: 'HIGH', acknowledged: false } as const;
    return (await api.alarms.getAll.query(asked)).total;
  };
  const { rules } = await api.alarmRules.getAll.query();
  if (!rules.some(({ name }) => name === ALARM_RULE))
    await api.alarmRules.create.mutate({
      name: ALARM_RULE,
      condition: { source: 'INCIDENT_UNATTENDED', minSeverity: 'CRITICAL', lacking: 'ACKNOWLEDGEMENT' },
      severity: 'HIGH',
    });
  if ((await count()) >= 2) return;
  await several(3, () =>
    api.incidents.create.mutate({ title: unique(), type: 'OBSTRUCTION', severity: 'CRITICAL' }),
  );
  await expect.poll(count, { timeout: 40_000 }).toBeGreaterThanOrEqual(3);
}
const ALARM_RULE = 'Of the shortcuts';

/** Makes sure that at least two hits are in the state. */
async function hits(service: TestService, state: 'NEW' | 'CONFIRMED'): Promise<void> {
  const { api } = service.admin;
  const listed = async (of: 'NEW' | 'CONFIRMED') => (await api.hits.getAll.query({ state: of })).hits;
  if ((await listed(state)).length >= 2) return;
  const plate = unique();
  const { id: hotlistId } = await api.hotlists.create.mutate({ name: plate, repeatMinutes: 0 });
  await api.hotlists.addEntry.mutate({ hotlistId, plate, reason: 'A story' });
  const { apiKey } = await service.sensor({ type: 'ANPR' });
  await several(3, () =>
    api.events.ingest.mutate({ apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber: plate }),
  );
  const ofList = async () => (await listed('NEW')).filter(({ hotlist }) => hotlist.id === hotlistId);
  await expect.poll(async () => (await ofList()).length, { timeout: 30_000 }).toBe(3);
  if (state === 'CONFIRMED') for (const { id } of await ofList()) await api.hits.confirm.mutate({ id });
}
/** Waits until the first hit is shown and may be decided on. @returns its id */
async function shownHit(page: Page): Promise<string> {
  await expect(page.locator('[data-key]')).not.toHaveCount(0);
  await isAt(page, 'hit', 0);
  const pane = page.getByRole('region', { name: 'Details of the hit' });
  await expect(pane.getByRole('button').first()).toBeEnabled();
  return (await rowsOf(page))[0] ?? '';
}
/** Presses the shortcut and expects the service to have the first hit like this. */
const hitBecomes =
  (expected: Record<string, unknown>): Try =>
  async ({ page, service, press }) => {
    const id = await shownHit(page);
    await press();
    await expect.poll(() => service.admin.api.hits.getById.query({ id })).toMatchObject(expected);
  };
const focusesNote: Try = async ({ page, press }) => {
  await shownHit(page);
  await press();
  await expect(page.getByRole('textbox', { name: 'Note' })).toBeFocused();
};
const hitMoves: Tries = Object.fromEntries(
  Object.entries(fromOpen('hit')).map(([keys, one]) => [
    keys,
    async (trial: Trial) => {
      await shownHit(trial.page);
      await one(trial);
    },
  ]),
);

/** Creates a hotlist with two entries. @returns its id */
async function hotlist({ admin: { api } }: TestService): Promise<string> {
  const name = unique();
  const { id: hotlistId } = await api.hotlists.create.mutate({ name });
  await several(2, (at) =>
    api.hotlists.addEntry.mutate({ hotlistId, plate: `${name} ${at}`, reason: 'A story' }),
  );
  return hotlistId;
}
const hotlistCommands: Tries = { n: opens('Add a plate'), i: opens('Import a file') };

async function works({ admin: { api } }: TestService): Promise<{ search: string; ids: string[] }> {
  const search = unique();
  const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
  const made = await several(2, (n) =>
    api.works.create.mutate({ title: `${search} ${n}`, road: search, startsAt: at(1 + n), endsAt: at(5) }),
  );
  return { search, ids: made.map(idOf) };
}
async function faults(service: TestService): Promise<string> {
  const search = unique();
  const { id: sensorId } = await service.sensor();
  await several(2, (at) =>
    service.admin.api.faults.report.mutate({ sensorId, text: `${search} ${at}`, code: `${at}` }),
  );
  return search;
}
const studiesOf = ({ admin: { api } }: TestService): Promise<string[]> =>
  several(2, async () => {
    const { id: locationId } = await api.locations.create.mutate({ name: unique() });
    const range = { startDate: '2026-05-01', endDate: '2026-05-02' };
    return (await api.studies.create.mutate({ kind: 'VOLUME', title: unique(), locationId, ...range })).id;
  });
/** Looks plates up and draws samples of that. @returns their ids */
async function samples({ admin: { api } }: TestService): Promise<string[]> {
  for (let n = 0; n < 2; n++) await api.events.getAll.query({ licensePlateNumber: unique() });
  const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  return (await several(2, () => api.audit.drawSample.mutate({ from: day(-1), until: day(1), n: 5 }))).map(
    idOf,
  );
}
async function notices({ admin: { api } }: TestService): Promise<void> {
  const { id } = await api.channels.create.mutate({
    name: unique(),
    kind: 'HTTP',
    url: 'http://127.0.0.1:9/',
  });
  await several(2, () => api.channels.test.mutate({ id }));
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
  { name: 'overview', path: '/', make: is('/'), tries: { w: leadsTo(/kiosk=1/) } },
  {
    name: 'events',
    path: '/events',
    async make(service) {
      const { violationType, ids } = await events(service);
      return { address: `/events?violationType=${violationType}`, ids };
    },
    tries: { ...eventTries, ...filters('violationType') },
  },
  {
    name: 'events, one of them open',
    path: '/events',
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
    path: '/incidents',
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
    path: '/incidents',
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
    path: '/incidents/$incidentId',
    async make(service) {
      const { ids } = await incidents(service);
      const { agencies } = service.admin.api;
      if ((await agencies.getAll.query({})).agencies.length === 0)
        await agencies.create.mutate({ name: unique(), kind: 'TOW' });
      return { address: `/incidents/${ids[0]}`, ids };
    },
    tries: {
      v: timeIsSet('verifiedAt'),
      d: timeIsSet('dispatchedAt'),
      a: timeIsSet('arrivedAt'),
      o: timeIsSet('lanesOpenAt'),
      l: timeIsSet('lastLeftAt'),
      async u({ page, press }) {
        const agency = page.getByRole('combobox', { name: 'Agency' });
        await expect(agency).toBeVisible();
        await press();
        await expect(agency).toBeFocused();
      },
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
    path: '/watchlist',
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
    path: '/watchlist',
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
    name: 'cases',
    path: '/cases',
    async make(service) {
      const { violationType, ids } = await events(service);
      await several(2, (at) => service.admin.api.cases.open.mutate({ eventId: ids[at] ?? '' }));
      return { address: `/cases?violationType=${violationType}` };
    },
    tries: { ...filters('violationType'), ...plainList(leadsTo(/\/cases\/\d{4}-\d{6}$/)) },
  },
  {
    name: 'one case',
    path: '/cases/$caseId',
    async make(service) {
      const { id } = await service.admin.api.incidents.create.mutate({ title: unique(), type: 'OTHER' });
      const { number } = await service.admin.api.cases.open.mutate({ incidentId: id });
      return { address: `/cases/${number}` };
    },
    tries: { '1': opens('Check'), '3': opens('Reject') },
  },
  {
    name: 'hits that wait for a decision',
    path: '/hits',
    async make(service) {
      await hits(service, 'NEW');
      return { address: '/hits?state=NEW' };
    },
    tries: {
      ...hitMoves,
      c: hitBecomes({ state: 'CONFIRMED' }),
      'r 1': hitBecomes({ state: 'REJECTED', code: 'MISREAD' }),
      'r 2': hitBecomes({ state: 'REJECTED', code: 'OTHER_REGION' }),
      'r 3': hitBecomes({ state: 'REJECTED', code: 'OTHER_VEHICLE' }),
      'r 4': hitBecomes({ state: 'REJECTED', code: 'LIST_OUTDATED' }),
      'r 5': hitBecomes({ state: 'REJECTED', code: 'TEST' }),
      // Needs a note.
      'r 6': focusesNote,
      n: focusesNote,
    },
  },
  {
    name: 'hits that are confirmed',
    path: '/hits',
    async make(service) {
      await hits(service, 'CONFIRMED');
      return { address: '/hits?state=CONFIRMED' };
    },
    tries: {
      ...hitMoves,
      'o 1': hitBecomes({ outcome: 'STOPPED' }),
      'o 2': hitBecomes({ outcome: 'FOUND' }),
      'o 3': hitBecomes({ outcome: 'PASSED_ON' }),
      'o 4': hitBecomes({ outcome: 'NOT_FOUND' }),
      'o 5': hitBecomes({ outcome: 'NOT_PURSUED' }),
      n: focusesNote,
    },
  },
  {
    name: 'hotlists',
    path: '/hotlists',
    async make(service) {
      const { total } = await service.admin.api.hotlists.getAll.query({});
      await several(Math.max(0, 2 - total), () => hotlist(service));
      return { address: '/hotlists' };
    },
    tries: { n: opens('New hotlist'), ...list('list', new RegExp(`/hotlists/${UUID}$`)) },
  },
  {
    name: 'entries of a hotlist',
    path: '/hotlists/$hotlistId',
    make: async (service) => ({ address: `/hotlists/${await hotlist(service)}` }),
    tries: { ...hotlistCommands, ...plainList(opens(/^K/)) },
  },
  {
    name: 'imports of a hotlist',
    path: '/hotlists/$hotlistId',
    async make(service) {
      const { hotlists: calls } = service.admin.api;
      const id = await hotlist(service);
      for (let n = 1; n <= 2; n++) {
        await calls.revert.mutate({ id, version: 1 });
        await expect
          .poll(async () => (await calls.getImports.query({ id })).imports.map(({ state }) => state))
          .toEqual(Array.from({ length: n }, () => expect.stringMatching(/APPLIED|UNCHANGED/)));
      }
      return { address: `/hotlists/${id}?part=imports` };
    },
    tries: { ...hotlistCommands, ...plainList(opens('Restored version 1')) },
  },
  {
    name: 'alarms',
    path: '/alarms',
    async make(service) {
      await alarms(service);
      return { address: '/alarms?severity=HIGH' };
    },
    tries: {
      ...filters('severity'),
      ...plainList(leadsTo(new RegExp(`/incidents/${UUID}$`))),
      async '1'(trial) {
        await goTo(trial, 0);
        const [first] = await rowsOf(trial.page);
        await trial.press();
        const ask = async () => (await trial.service.admin.api.alarms.getAll.query({ take: 100 })).alarms;
        await expect
          .poll(async () => (await ask()).find(({ id }) => id === first)?.acknowledgedAt)
          .toBeTruthy();
      },
      async '2'(trial) {
        await goTo(trial, 0);
        await opens('Silence alarms')(trial);
      },
    },
  },
  {
    name: 'log',
    path: '/log',
    async make({ admin: { api } }) {
      await api.log.add.mutate({ text: unique(), kind: 'FAULT' });
      return { address: '/log?kind=FAULT' };
    },
    tries: filters('kind'),
  },
  {
    name: 'performance of incidents',
    path: '/incidents/performance',
    make: is(`/incidents/performance?${MAY}&severity=HIGH`),
    tries: { ...filters('severity'), ...days },
  },
  {
    name: 'works',
    path: '/works',
    make: async (service) => ({ address: `/works?search=${(await works(service)).search}` }),
    tries: {
      ...filters('search'),
      n: opens('Plan works'),
      ...plainList(leadsTo(new RegExp(`/works/${UUID}$`))),
    },
  },
  {
    name: 'works, as a calendar',
    path: '/works',
    // A Wednesday: weeks begin on the Monday or the Sunday before.
    make: is('/works?part=calendar&week=2026-05-06'),
    tries: {
      n: opens('Plan works'),
      '[': leadsTo(/week=2026-04-2[67]/),
      ']': leadsTo(/week=2026-05-1[01]/),
    },
  },
  {
    name: 'one of the works',
    path: '/works/$worksId',
    make: async (service) => ({ address: `/works/${(await works(service)).ids[0]}` }),
    tries: { e: opens('Edit works') },
  },
  {
    name: 'faults',
    path: '/sensors/faults',
    make: async (service) => ({ address: `/sensors/faults?search=${await faults(service)}` }),
    tries: { ...filters('search'), n: opens('Report a fault'), ...plainList(opens('Fault')) },
  },
  {
    name: 'sensors',
    path: '/sensors',
    async make(service) {
      const { search, ids } = await sensors(service);
      return { address: `/sensors?search=${search}`, ids };
    },
    tries: {
      ...filters('search'),
      v: asMap,
      n: opens('New sensor'),
      ...list('sensor', new RegExp(`/sensors/${UUID}$`)),
      ...selection('sensor'),
    },
  },
  {
    name: 'sensors, on the map',
    path: '/sensors',
    async make(service) {
      const { search, ids } = await sensors(service);
      return { address: `/sensors?view=map&search=${search}`, ids };
    },
    tries: { ...filters('search'), v: leaves('view'), n: opens('New sensor') },
  },
  {
    name: 'one sensor',
    path: '/sensors/$sensorId',
    async make(service) {
      const { ids } = await sensors(service);
      return { address: `/sensors/${ids[0]}`, ids };
    },
    tries: { e: opens('Edit sensor') },
  },
  {
    name: 'a connection of a sensor',
    path: '/sensors/$sensorId/connections/$connectionId',
    async make(service) {
      const { connection, ids } = await connected(service);
      return { address: `${connection}?status=REFUSED`, ids };
    },
    tries: { ...filters('status'), ...list('message'), e: opens('Edit connection') },
  },
  {
    name: 'a connection of a sensor, one message open',
    path: '/sensors/$sensorId/connections/$connectionId',
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
    path: '/locations',
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
    path: '/locations/$locationId',
    async make(service) {
      const { ids } = await locations(service);
      return { address: `/locations/${ids[0]}`, ids };
    },
    tries: { e: opens('Edit location') },
  },
  {
    name: 'traffic',
    path: '/traffic',
    make: is(`/traffic?${MAY}`),
    tries: { ...days, p: toPlace },
  },
  ...['counts', 'speeds', 'headways', 'annual', 'intersection', 'quality'].map((part) => ({
    name: `traffic, ${part}`,
    path: `/traffic/${part}`,
    make: is(`/traffic/${part}?${MAY}`),
    tries: { ...days, p: toPlace },
  })),
  {
    name: 'studies',
    path: '/traffic/studies',
    async make(service) {
      await studiesOf(service);
      return { address: '/traffic/studies?status=DRAFT' };
    },
    tries: {
      ...filters('status'),
      n: opens('New study'),
      ...list('study', new RegExp(`/traffic/studies/${UUID}$`)),
    },
  },
  {
    name: 'one study',
    path: '/traffic/studies/$studyId',
    make: async (service) => ({ address: `/traffic/studies/${(await studiesOf(service))[0]}` }),
    tries: {},
  },
  { name: 'analytics', path: '/reports', make: is(`/reports?${MAY}`), tries: days },
  {
    name: 'files',
    path: '/reports/files',
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
    path: '/reports/schedules',
    async make(service) {
      await several(2, () => schedule(service));
      return { address: '/reports/schedules' };
    },
    tries: { n: opens('New schedule'), ...plainList(opens('Change the schedule')) },
  },
  {
    name: 'users',
    path: '/administration/users',
    async make(service) {
      await several(1, () => service.userOf('FIELD'));
      await service.userOf('OPERATOR');
      return { address: '/administration/users?search=example.org' };
    },
    tries: { ...filters('search'), ...list('user'), n: opens('Add user') },
  },
  {
    name: 'activity',
    path: '/administration/activity',
    async make(service) {
      await sensors(service);
      return { address: '/administration/activity?startDate=2020-01-01' };
    },
    tries: { ...filters('startDate'), ...list('entry') },
  },
  {
    name: 'webhooks',
    path: '/administration/webhooks',
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
    path: '/administration/webhooks/$webhookId',
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
    path: '/administration/holds',
    async make(service) {
      const { ids } = await events(service);
      await several(2, (at) =>
        service.admin.api.storage.setHold.mutate({ reason: unique(), eventIds: [ids[at] ?? ''] }),
      );
      return { address: '/administration/holds?released=false' };
    },
    tries: { ...filters('released'), ...list('hold'), n: opens('Set a hold') },
  },
  {
    name: 'audit',
    path: '/administration/audit',
    async make(service) {
      await samples(service);
      return { address: '/administration/audit' };
    },
    tries: { n: opens('Draw a sample'), ...plainList(leadsTo(/[?&]sample=/)) },
  },
  {
    name: 'audit, one sample open',
    path: '/administration/audit',
    make: async (service) => ({ address: `/administration/audit?sample=${(await samples(service))[0]}` }),
    tries: list('entry'),
  },
  {
    name: 'notices',
    path: '/administration/notices',
    async make(service) {
      await notices(service);
      return { address: '/administration/notices?kind=TEST' };
    },
    tries: { ...filters('kind'), ...list('notice') },
  },
  ...(
    [
      ['/administration/channels', 'Add channel'],
      ['/administration/calendar', 'Add days'],
      ['/administration/agencies', 'Add agency'],
      ['/administration/plans', 'Add plan'],
      ['/administration/rotas', 'Add rota'],
      ['/administration/alarms', 'Add rule'],
    ] as const
  ).map(([path, dialog]) => ({ name: path, path, make: is(path), tries: { n: opens(dialog) } })),
  ...[
    '/mine',
    '/shift',
    '/administration/cases',
    '/administration/roles',
    '/administration/storage',
    '/administration/settings',
    '/administration/system',
    '/administration/backups',
    '/administration/map',
    '/administration/doctor',
    '/account',
    '/account/sessions',
  ].map((path) => ({ name: path, path, make: is(path), tries: {} })),
];

async function toPlace({ page, press }: Trial): Promise<void> {
  await press();
  await expect(page.getByLabel('Location, point or sensor')).toBeFocused();
}

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
