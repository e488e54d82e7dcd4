import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';
import { smallerThan } from './targets.ts';

let made = 0;

/** Opens an incident with a unique title. */
function open(service: TestService, given: { assignedTo?: string; description?: string } = {}) {
  return service.admin.api.incidents.create.mutate({
    title: `Story ${++made} of incidents`,
    type: 'COLLISION',
    severity: 'HIGH',
    ...given,
  });
}

/** Blocks the stream of a page, so that the page keeps showing the state that it loaded. */
const keepNews = (page: Page) => page.route('**/trpc/live.onAny**', (route) => route.abort());

const isNarrowEnough = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

test.describe('the board', () => {
  test('moves an incident through all states by keyboard', async ({ service, openAs }) => {
    const { title } = await open(service);
    const page = await openAs('OPERATOR', `/incidents?search=${encodeURIComponent(title)}`);
    const column = (name: string) => page.getByRole('region', { name, exact: true });
    await expect(column('Open').getByText(title)).toBeVisible();
    await page.keyboard.press('j');
    await page.keyboard.press('1');
    await expect(column('Acknowledged').getByText(title)).toBeVisible();
    await page.keyboard.press('2');
    await expect(column('In progress').getByText(title)).toBeVisible();
    await page.keyboard.press('3');
    await page.getByLabel('Note (optional)').fill('Lanes are open');
    await page.keyboard.press('Control+Enter');
    await expect(column('Resolved').getByText(title)).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1 })).toContainText(title);
    await expect(page.getByText('Lanes are open')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page).toHaveURL(/\/incidents\?.*search=/);
  });

  test('is read again as a whole after its columns could not be read', async ({ service, openAs }) => {
    const { title } = await open(service);
    const page = await openAs('OPERATOR', '/account');
    // The stream would cause a refetch of the columns.
    await keepNews(page);
    const columns = /incidents\.getAll/;
    await page.route(columns, (route) => route.fulfill({ status: 500, body: 'broken' }));
    await page.goto(`${service.url}/incidents?search=${encodeURIComponent(title)}`);
    const retry = page.getByRole('button', { name: 'Try again' });
    await expect(retry).toBeVisible();
    await page.unroute(columns);
    await retry.click();
    await expect(page.getByRole('link', { name: title })).toBeVisible();
    await expect(retry).toHaveCount(0);
  });

  test('has its commands within the cards, also where their names are long', async ({ service, openAs }) => {
    const { id, title } = await open(service);
    await service.admin.api.incidents.acknowledge.mutate({ id });
    await service.admin.api.incidents.start.mutate({ id });
    const path = `/incidents?search=${encodeURIComponent(title)}`;
    const page = await openAs('OPERATOR', path, { language: 'tr', width: 1024 });
    const card = page.locator(`[data-card="${id}"]`);
    const [outer, inner] = [await card.boundingBox(), await card.getByRole('button').boundingBox()];
    expect(outer && inner && inner.x + inner.width <= outer.x + outer.width).toBe(true);
  });

  test('switches to a list that stays in the address, and filters by several states', async ({
    service,
    openAs,
  }) => {
    const { title } = await open(service);
    const search = encodeURIComponent(title);
    const page = await openAs('ADMIN', `/incidents?search=${search}&status=["OPEN","CLOSED"]`);
    await expect(page.getByRole('link', { name: title })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Acknowledged' })).toHaveCount(0);
    await page.keyboard.press('v');
    await expect(page).toHaveURL(/view=list/);
    await expect(page.getByRole('cell', { name: title })).toBeVisible();
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    await expect(page.getByRole('cell', { name: 'First Administrator' })).toBeVisible();
    await page.keyboard.press('z');
    await expect(page.getByRole('cell', { name: 'Nobody' })).toBeVisible();
  });
});

test.describe('a concurrent change by another user', () => {
  test('is shown with its author and is not overwritten', async ({ service, openAs }) => {
    const { id } = await open(service);
    const page = await openAs('OPERATOR', '/?places=list');
    await keepNews(page);
    await page.goto(`${service.url}/incidents/${id}`);
    await expect(page.getByRole('button', { name: 'Acknowledge' })).toBeVisible();
    await service.admin.api.incidents.acknowledge.mutate({ id, note: 'Seen on camera' });
    await page.keyboard.press('1');
    const conflict = page.getByRole('alert').filter({ hasText: 'Somebody was faster' });
    await expect(conflict).toContainText('First Administrator');
    await expect(conflict).toContainText('Seen on camera');
    await expect(conflict).toContainText('Request id');
    await expect(page.getByRole('button', { name: 'Start work' })).toBeVisible();
  });

  test('does not discard the input, and both changes are kept', async ({ service, openAs }) => {
    const { id } = await open(service);
    const page = await openAs('OPERATOR', '/?places=list');
    await keepNews(page);
    await page.goto(`${service.url}/incidents/${id}`);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit' });
    await dialog.getByLabel('Title').fill('Typed by the operator');
    await service.admin.api.incidents.update.mutate({ id, severity: 'CRITICAL' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog.getByRole('alert')).toContainText('Somebody was faster');
    await expect(dialog.getByRole('alert')).toContainText('Critical');
    await expect(dialog.getByLabel('Title')).toHaveValue('Typed by the operator');
    await dialog.getByRole('button', { name: 'Save my changes too' }).click();
    await expect(dialog).toBeHidden();
    const { title, severity } = await service.admin.api.incidents.getById.query({ id });
    expect([title, severity]).toEqual(['Typed by the operator', 'CRITICAL']);
  });

  test('keeps the note of a command that was refused, and offers to add it', async ({ service, openAs }) => {
    const { id } = await open(service);
    await service.admin.api.incidents.acknowledge.mutate({ id });
    await service.admin.api.incidents.start.mutate({ id });
    const page = await openAs('OPERATOR', '/?places=list');
    await keepNews(page);
    await page.goto(`${service.url}/incidents/${id}`);
    await page.getByRole('button', { name: 'Resolve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resolve' });
    await dialog.getByLabel('Note (optional)').fill('Tow truck has left');
    await service.admin.api.incidents.resolve.mutate({ id });
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await expect(dialog.getByRole('alert')).toContainText('Somebody was faster');
    await dialog.getByRole('button', { name: 'Keep it as a note' }).click();
    await expect(page.getByText('Tow truck has left')).toBeVisible();
    const { status, timeline } = await service.admin.api.incidents.getById.query({ id });
    expect(status).toBe('RESOLVED');
    expect(timeline.at(-1)).toMatchObject({ action: 'addNote', note: 'Tow truck has left' });
  });
});

/** Assigns an incident to somebody else, whereupon a FIELD user may not add notes, or to nobody. */
async function giveTo(service: TestService, id: string, whom: 'somebody' | 'nobody'): Promise<void> {
  const { api } = service.admin;
  await api.incidents.assign.mutate({
    id,
    userId: whom === 'nobody' ? null : (await api.auth.me.query()).id,
  });
}

test('a note is added once, however often its keys are pressed', async ({ service, openAs }) => {
  const { id } = await service.admin.api.incidents.create.mutate({ type: 'OTHER', title: 'Sent twice' });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  let calls = 0;
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/trpc/incidents.addNote*', async (route) => {
    calls++;
    await mayAnswer;
    await route.continue();
  });
  const note = page.getByLabel('Note', { exact: true });
  await note.fill('Once');
  await note.press('Control+Enter');
  await expect(page.getByRole('button', { name: 'Add note' })).toBeDisabled();
  await note.press('Control+Enter');
  // Input that is entered now would be cleared when the note is saved.
  await expect(note).not.toBeEditable();
  answer();
  await expect(note).toHaveValue('');
  await expect(page.getByText('Once', { exact: true })).toHaveCount(1);
  expect(calls).toBe(1);
});

test('a note that was started is kept while other pages are shown, and it is said if it could not be added', async ({
  service,
  openAs,
}) => {
  const { id, title } = await open(service);
  const page = await openAs('FIELD', `/incidents/${id}`);
  const note = page.getByLabel('Note', { exact: true });
  const leave = async () => {
    await page.getByRole('link', { name: 'Sensors', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Sensors' })).toBeVisible();
  };
  await note.fill('Two lanes');
  await leave();
  await page.goBack();
  await expect(note).toHaveValue('Two lanes');
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const call = '**/trpc/incidents.addNote*';
  await page.route(call, async (route) => {
    await held;
    await route.continue();
  });
  await note.press('Control+Enter');
  await leave();
  await giveTo(service, id, 'somebody');
  goOn();
  await expect(
    page.getByText(new RegExp(`${title}.? was not added. This incident is assigned to`)),
  ).toBeVisible();
  await giveTo(service, id, 'nobody');
  await page.goBack();
  await expect(note).toHaveValue('Two lanes');
  await expect(page.getByRole('button', { name: 'Add note' })).toBeEnabled();
  await note.press('Control+Enter');
  await expect(note).toHaveValue('');
  await leave();
  await page.goBack();
  await expect(page.getByText('Two lanes')).toHaveCount(1);
  await expect(note).toHaveValue('');
});

test('a note that could not be added is put back before the next one that was started meanwhile', {
  tag: '@long',
}, async ({ service, openAs }) => {
  const { id } = await open(service);
  const page = await openAs('FIELD', `/incidents/${id}`);
  const note = page.getByLabel('Note', { exact: true });
  const leave = async () => {
    await page.getByRole('link', { name: 'Sensors', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Sensors' })).toBeVisible();
  };
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const call = '**/trpc/incidents.addNote*';
  await page.route(call, async (route) => {
    await held;
    await giveTo(service, id, 'somebody');
    await route.continue();
  });
  await note.fill('Two lanes');
  await note.press('Control+Enter');
  await leave();
  await page.goBack();
  await expect(note).toHaveValue('');
  await note.pressSequentially('Now three');
  goOn();
  await expect(page.getByText('was not added')).toBeVisible();
  await expect(note).toHaveValue('Two lanes\nNow three');
  await expect(note).toBeFocused();
  await page.unroute(call);
  await giveTo(service, id, 'nobody');
  await leave();
  await page.goBack();
  await expect(note).toHaveValue('Two lanes\nNow three');
  await expect(page.getByRole('button', { name: 'Add note' })).toBeEnabled();
  await note.press('Control+Enter');
  await expect(note).toHaveValue('');
  await expect(page.getByText(/Two lanes\s+Now three/)).toHaveCount(1);
});

test('an incident is acknowledged once, and then assigned, however quickly the keys are pressed', async ({
  service,
  openAs,
}) => {
  const { id } = await open(service);
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  await expect(page.getByRole('button', { name: 'Acknowledge' })).toBeVisible();
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let calls = 0;
  await page.route('**/trpc/incidents.acknowledge*', async (route) => {
    calls++;
    await mayAnswer;
    await route.continue();
  });
  await page.keyboard.press('1');
  await page.keyboard.press('1');
  await page.keyboard.press('m');
  answer();
  await expect(page.getByText('Assigned to Operator Tester')).toBeVisible();
  await expect(page.getByText('Somebody was faster')).toHaveCount(0);
  expect(calls).toBe(1);
});

test('another user sees changes without a reload, and reassigns the incident', async ({
  service,
  openAs,
}) => {
  const { id, title } = await open(service);
  await service.userOf('FIELD');
  const one = await openAs('OPERATOR', `/incidents/${id}`);
  const other = await openAs('ADMIN', `/incidents?search=${encodeURIComponent(title)}`);
  await expect(other.getByRole('region', { name: 'Open', exact: true }).getByText(title)).toBeVisible();
  await expect(one.getByRole('button', { name: 'Acknowledge' })).toBeVisible();
  await one.keyboard.press('1');
  await expect(other.getByRole('region', { name: 'Acknowledged' }).getByText(title)).toBeVisible();
  await one.getByRole('button', { name: 'Assign …' }).click();
  await one.getByLabel('Assign to somebody else').fill('Field');
  await one.getByRole('option', { name: 'Field Tester' }).click();
  await expect(other.getByText('Field Tester')).toBeVisible();
  await one.keyboard.press('z');
  await expect(other.getByText('Field Tester')).toHaveCount(0);
  const { assignedTo, timeline } = await service.admin.api.incidents.getById.query({ id });
  expect(assignedTo).toBeNull();
  expect(timeline.filter(({ action }) => action === 'assign')).toHaveLength(2);
});

test('a new incident is prefilled from its event, which is attached as evidence', async ({
  service,
  openAs,
}) => {
  const { id: sensorId, apiKey } = await service.sensor({ name: 'Camera of the new incident' });
  const { eventId } = await service.admin.api.events.ingest.mutate({
    apiKey,
    eventType: 'TRAFFIC_VIOLATION',
    violationType: 'WRONG_WAY',
    // The violation type takes precedence.
    metadata: { incidentType: 'COLLISION' },
    severity: 'CRITICAL',
    location: { latitude: 41.01, longitude: 28.97 },
  });
  const page = await openAs('OPERATOR', `/incidents?new=1&eventId=${eventId}&title=Wrong+way+at+the+bridge`);
  const dialog = page.getByRole('dialog', { name: 'New incident' });
  await expect(dialog.getByLabel('Title')).toHaveValue('Wrong way at the bridge');
  await expect(dialog.getByLabel('Type')).toHaveValue('WRONG_WAY_DRIVER');
  await expect(dialog.getByLabel('Severity')).toHaveValue('CRITICAL');
  await expect(dialog.getByLabel('Latitude')).toHaveValue('41.01');
  await dialog.getByRole('button', { name: 'Open incident' }).click();
  await expect(page).toHaveURL(/\/incidents\/[0-9a-f-]{36}$/);
  const id = page.url().split('/').at(-1) ?? '';
  const incident = await service.admin.api.incidents.getById.query({ id });
  expect(incident).toMatchObject({ type: 'WRONG_WAY_DRIVER', sensorId, eventCount: 1 });
  await page.goBack();
  await expect(page).toHaveURL(`${service.url}/incidents`);
  await expect(page.getByRole('heading', { name: 'Incidents' })).toBeVisible();
  await expect(dialog).toHaveCount(0);
});

test.describe('a role', () => {
  test('is offered only permitted actions, and the reason for the others', async ({ service, openAs }) => {
    const me = await service.admin.api.auth.me.query();
    const { id } = await open(service, { assignedTo: me.id });
    const page = await openAs('FIELD', `/incidents/${id}`);
    const why = page.locator('p', { hasText: 'Assigned to somebody else.' });
    await expect(why).toContainText('an operator or an administrator can assign it to you');
    await expect(page.getByRole('button', { name: 'Acknowledge' })).toHaveCount(0);
    await expect(page.getByLabel('Note', { exact: true })).toHaveCount(0);
  });

  test('FIELD is not told that an incident is of somebody else which was merged into another', async ({
    service,
    openAs,
  }) => {
    const [twin, kept] = [await open(service), await open(service)];
    await service.admin.api.incidents.merge.mutate({ id: twin.id, into: kept.id });
    const page = await openAs('FIELD', `/incidents/${twin.id}`);
    await expect(page.locator('p', { hasText: 'Merged into' }).first()).toBeVisible();
    await expect(page.getByText('Assigned to somebody else.')).toHaveCount(0);
  });

  test('FIELD keeps a note that is being written when the incident is assigned to somebody else', async ({
    service,
    openAs,
  }) => {
    const { id } = await open(service);
    const page = await openAs('FIELD', `/incidents/${id}`);
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const note = page.getByLabel('Note', { exact: true });
    await note.fill('Lane two is blocked');
    const me = await service.admin.api.auth.me.query();
    await service.admin.api.incidents.assign.mutate({ id, userId: me.id });
    await expect(page.getByRole('button', { name: 'Acknowledge' })).toHaveCount(0);
    await expect(note).toHaveValue('Lane two is blocked');
    await expect(page.getByRole('button', { name: 'Add note' })).toBeDisabled();
    const form = page.locator('form').filter({ has: note });
    await expect(form).toContainText('Assigned to somebody else.');
  });

  test('without the permission sees which one is required, and no link to the page', async ({ openAs }) => {
    const page = await openAs('VIEWER', '/incidents');
    await expect(page.getByText('It needs the permission Manage Incidents')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Incidents' })).toHaveCount(0);
    await expect(page.getByRole('link', { name: 'Watchlist' })).toHaveCount(0);
  });

  test('FIELD acknowledges incidents and adds notes on a phone', async ({ service, openAs }) => {
    const { id, title } = await open(service);
    const path = `/incidents?search=${encodeURIComponent(title)}`;
    const page = await openAs('FIELD', path, { width: 390, isTouched: true });
    await expect(page.getByRole('button', { name: 'Acknowledge' })).toBeVisible();
    expect.soft(await smallerThan(page.getByRole('main'), 40)).toEqual([]);
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    // The card is moving to another column. A click at its previous position would miss it.
    const acknowledged = page.getByRole('region', { name: 'Acknowledged' });
    await acknowledged.getByRole('link', { name: title }).click();
    await page.getByLabel('Note', { exact: true }).fill('On site');
    expect.soft(await smallerThan(page.getByRole('main'), 40)).toEqual([]);
    await page.getByRole('button', { name: 'Add note' }).click();
    await expect(page.getByRole('listitem').filter({ hasText: 'On site' })).toBeVisible();
    expect(await isNarrowEnough(page)).toBe(true);
    const { status, timeline } = await service.admin.api.incidents.getById.query({ id });
    expect(status).toBe('ACKNOWLEDGED');
    expect(timeline.at(-1)).toMatchObject({ action: 'addNote', note: 'On site' });
  });
});

test('any text is shown as plain text and does not break the layout', async ({ service, openAs }) => {
  const { id } = await open(service, { description: `<img src=x onerror=alert(1)>${'x'.repeat(4000)}` });
  await service.admin.api.incidents.addNote.mutate({ id, note: `a${'\u0301'.repeat(1900)}` });
  await service.admin.api.incidents.update.mutate({ id, title: 'w'.repeat(200) });
  for (const width of [1440, 390]) {
    const page = await openAs('OPERATOR', `/incidents/${id}`, { width });
    await expect(page.getByText('<img src=x')).toBeVisible();
    expect(await isNarrowEnough(page)).toBe(true);
  }
});

test('an incident out of an event is at the location of its sensor, however quickly it is opened', async ({
  service,
  openAs,
}) => {
  const { id: locationId } = await service.admin.api.locations.create.mutate({ name: 'Slow location' });
  const { apiKey } = await service.sensor({ locationId });
  const { eventId } = await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'INCIDENT' });
  const page = await openAs('OPERATOR', '/account');
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/sensors\.getById/, async (route) => {
    await mayAnswer;
    await route.continue();
  });
  await page.goto(`${service.url}/events?event=${eventId}`);
  await page.getByRole('button', { name: 'New incident' }).click();
  await page.getByRole('dialog').getByLabel('Title').press('Enter');
  await expect(page.getByRole('dialog').getByRole('button', { name: /incident/ })).toBeDisabled();
  answer();
  await expect(page).toHaveURL(/\/incidents\/[0-9a-f-]{36}$/);
  const id = page.url().split('/').at(-1) ?? '';
  expect(await service.admin.api.incidents.getById.query({ id })).toMatchObject({ locationId });
});

test.describe('axe finds nothing', () => {
  // All combinations of theme and text direction with LONG_TESTS.
  const isLong = process.env.LONG_TESTS === 'true';
  for (const theme of ['dark', 'light'] as const) {
    for (const language of ['en', 'ar'] as const) {
      if (!isLong && (theme === 'dark') !== (language === 'en')) continue;
      test(`on the incidents in ${theme} and ${language}`, {
        tag: '@long',
      }, async ({ service, openAs }) => {
        const { id, title } = await open(service);
        await service.admin.api.incidents.acknowledge.mutate({ id, note: 'Seen' });
        const page = await openAs('ADMIN', '/incidents', { theme, language });
        await expect(page.getByText(title)).toBeVisible();
        await expectAccessible(page);
        for (const path of ['/incidents?view=list', '/incidents?new=1', `/incidents/${id}`]) {
          await page.goto(service.url + path);
          await expect(page.getByText(title).first()).toBeVisible();
          await expectAccessible(page);
        }
      });
    }
  }
});
