import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGantryClient } from '@gantry/client';
import type { BrowserContext, Page } from '@playwright/test';
import { expect, expectAccessible, test, violationsIn } from './fixtures.ts';
import { photo } from './images.ts';
import { PASSWORD, type TestService } from './service.ts';

// What people in the field do on a phone, with and without a connection.

const phone = { width: 390, isTouched: true } as const;
/** The names are isolated from the direction of the language. */
const ROAD = /O-3.? · km .?12\.5.? · northbound/;
const CAR = { latitude: 41.02013, longitude: 28.97 };

async function idOf(service: TestService, role: 'FIELD' | 'OPERATOR'): Promise<string> {
  const email = await service.userOf(role);
  const { users } = await service.admin.api.users.getAll.query({ search: email });
  return users[0]?.id ?? '';
}

let made = 0;
/** An incident at a place on a road, which is assigned to the user in the field. */
async function assigned(service: TestService, fields: object = {}) {
  const n = ++made;
  const { api } = service.admin;
  const { id: locationId } = await api.locations.create.mutate({
    name: `Field bridge ${n}`,
    address: 'Ring road',
    coordinates: { latitude: 41.01, longitude: 28.97 },
    road: 'O-3',
    kilometre: 12.5,
    direction: 'NB',
  });
  // With a point, so that no title is part of another one.
  const title = `Field story ${n}.`;
  const { id } = await api.incidents.create.mutate({
    title,
    type: 'OBSTRUCTION',
    severity: 'HIGH',
    locationId,
    assignedTo: await idOf(service, 'FIELD'),
    ...fields,
  });
  return { id, title };
}

const notesOf = async (service: TestService, id: string) =>
  (await service.admin.api.incidents.getById.query({ id })).timeline.filter(
    ({ action }) => action === 'addNote',
  );
const textsOf = async (service: TestService, id: string) =>
  (await notesOf(service, id)).map(({ note }) => note);

const cardOf = (page: Page, title: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) });
const unsent = (page: Page) => page.getByRole('list', { name: 'Not sent yet' }).getByRole('listitem');

async function write(page: Page, title: string, text: string, images: ReturnType<typeof photo>[] = []) {
  const card = cardOf(page, title);
  await card.getByRole('heading').getByRole('button').click();
  await card.getByRole('button', { name: 'Note or photo' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note').fill(text);
  if (images.length > 0) {
    await dialog.locator('input[capture]').setInputFiles(images);
    await expect(dialog.getByRole('img')).toHaveCount(images.length);
  }
  await dialog.getByRole('button', { name: 'Send' }).click();
  await expect(dialog).toHaveCount(0);
}

/** Expects that axe finds nothing, and that what is read has a contrast of at least 7. */
async function expectReadableInSunlight(page: Page): Promise<void> {
  await expectAccessible(page);
  expect(
    await violationsIn(page, { runOnly: { type: 'rule', values: ['color-contrast-enhanced'] } }, 'main'),
  ).toEqual([]);
}

/** Waits until the console can start without a connection. */
async function isReady(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 50));
  });
}

test('the top bar of a phone has room for announcements, the time and a lost connection', async ({
  service,
  openAs,
}) => {
  const { timezone } = service.admin.api.system;
  await timezone.updateTimezoneSettings.mutate({ use24HourFormat: false });
  try {
    const page = await openAs('FIELD', '/mine', phone);
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await assigned(service);
    await expect(page.getByRole('button', { name: /new announcement/ })).toBeVisible();
    await page.context().setOffline(true);
    await expect(page.getByRole('banner').getByText('No connection')).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  } finally {
    await timezone.updateTimezoneSettings.mutate({ use24HourFormat: true });
  }
});

test('the console begins with the incidents of a FIELD user, the place in words, and big buttons', async ({
  service,
  openAs,
}) => {
  const { id, title } = await assigned(service, { severity: 'CRITICAL' });
  const page = await openAs('FIELD', '/', { ...phone, theme: 'light', isKept: true });
  const messages: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  await expect(page).toHaveURL(/\/mine$/);
  const card = cardOf(page, title);
  await expect(card).toContainText('Critical');
  await expect(card).toContainText(/Field bridge \d+/);
  await expect(card).toContainText(ROAD);
  await card.getByRole('heading').getByRole('button').click();
  await expect(card.getByRole('link', { name: 'Directions' })).toHaveAttribute(
    'href',
    `geo:41.01,28.97?q=41.01,28.97(${encodeURIComponent(title)})`,
  );

  // Each target of the page is at least 48 pixels high, and what is read has a contrast of at least 7.
  const heights = await page
    .locator('main :is(a, button)')
    .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
  expect(heights.length).toBeGreaterThan(5);
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(48);
  await expectReadableInSunlight(page);

  // What the user records is what the control room sees, and a tap by mistake is taken back.
  const timeOf = async (name: string) =>
    (await service.admin.api.incidents.getById.query({ id })).work.times.find((each) => each.name === name)
      ?.at;
  await card.getByRole('button', { name: 'On the way' }).click();
  await expect.poll(() => timeOf('dispatchedAt')).toBeInstanceOf(Date);
  await card.getByRole('button', { name: 'Arrived' }).click();
  await expect.poll(() => timeOf('arrivedAt')).toBeInstanceOf(Date);
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expect.poll(() => timeOf('arrivedAt')).toBeNull();
  await expect(card.getByRole('button', { name: 'Arrived' })).toBeVisible();
  await expect(card.getByRole('button', { name: 'On the way' })).toHaveCount(0);

  // An assignment that the control room makes meanwhile appears by itself.
  const next = await assigned(service);
  await expect(cardOf(page, next.title)).toBeVisible();

  await page.reload();
  await expect(page).toHaveURL(/\/mine$/);
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  expect(messages).toEqual([]);
});

for (const look of [
  { theme: 'dark', language: 'ar' },
  { theme: 'light', language: 'tr' },
] as const)
  test(`the page is readable in sunlight, ${look.theme}, in ${look.language}, also with what waits`, async ({
    service,
    openAs,
  }) => {
    const { title } = await assigned(service, { severity: 'CRITICAL' });
    const page = await openAs('FIELD', '/mine', { ...phone, ...look });
    const card = cardOf(page, title);
    await card.getByRole('heading').getByRole('button').click();
    await page.context().setOffline(true);
    // On the way, and arrived: the next step stands in the place of the one before.
    const step = card.getByRole('button').nth(1);
    const first = await step.innerText();
    await step.click();
    await expect(step).not.toHaveText(first);
    await step.click();
    await expect(page.locator('main ol li')).toHaveCount(2);
    await expectReadableInSunlight(page);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    ).toBe(true);
    await page.context().setOffline(false);
    await expect(page.locator('main ol li')).toHaveCount(0, { timeout: 60_000 });
  });

test('the position is asked for by a tap only, and stays on the phone', async ({ service, openAs }) => {
  const { title } = await assigned(service);
  const page = await openAs('FIELD', '/mine', phone);
  await page.context().grantPermissions(['geolocation']);
  await page.context().setGeolocation(CAR);
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
  const card = cardOf(page, title);
  await expect(card).toBeVisible();
  await expect(card.getByText('as the crow flies')).toHaveCount(0);
  await page.getByRole('button', { name: 'Show how far it is' }).click();
  await expect(card.getByText('1.1 km away as the crow flies')).toBeVisible();
  expect(sent.filter((each) => each.includes('41.02013'))).toEqual([]);
});

test('notes, photos and times that are recorded without a connection wait, survive a reload, and are sent in order', async ({
  service,
  openAs,
}) => {
  const { id, title } = await assigned(service);
  const page = await openAs('FIELD', '/mine', { ...phone, isKept: true });
  await expect(cardOf(page, title)).toBeVisible();
  await isReady(page);
  await page.context().setOffline(true);
  await write(page, title, 'First, without a connection');
  await write(page, title, 'Second, with a photo', [photo('one.bmp', 90, 600)]);
  await cardOf(page, title).getByRole('button', { name: 'Arrived' }).click();
  await expect(unsent(page)).toHaveCount(3);
  await expect(unsent(page).nth(1)).toContainText('2 of 3');
  await expect(unsent(page).nth(1)).toContainText('with 1 image');
  await expect(unsent(page).nth(1)).toContainText('Waits for the connection');
  await expectAccessible(page);

  await page.reload();
  await expect(unsent(page)).toHaveCount(3);
  await expect(cardOf(page, title)).toContainText(ROAD);
  await expect(page.getByText('No connection. As it was at')).toBeVisible();
  await write(page, title, 'Third, after a reload');
  await expect(unsent(page)).toHaveCount(4);
  expect(await textsOf(service, id)).toEqual([]);

  await page.context().setOffline(false);
  await expect(unsent(page)).toHaveCount(0, { timeout: 60_000 });
  const notes = await notesOf(service, id);
  expect(notes.map(({ note }) => note)).toEqual([
    'First, without a connection',
    'Second, with a photo',
    'Third, after a reload',
  ]);
  expect(notes[1]?.details?.images).toHaveLength(1);
  const { work } = await service.admin.api.incidents.getById.query({ id });
  expect(work.times.find(({ name }) => name === 'arrivedAt')?.at).toBeInstanceOf(Date);
  // Nothing that the service answered is kept with the files of the console.
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return all.flat().map(({ url }) => new URL(url).pathname);
  });
  expect(kept).toContain('/');
  expect(kept.filter((path) => !/^\/(assets\/.*|icon\.svg)?$/.test(path))).toEqual([]);
});

test('no page of the console is kept for where the service itself answers', async ({ openAs }) => {
  const page = await openAs('FIELD', '/mine', { ...phone, isKept: true });
  await isReady(page);
  // Failures are expected in this one.
  const other = await page.context().newPage();
  await page.context().setOffline(true);
  const { origin } = new URL(page.url());
  for (const path of ['/docs', '/login/oidc/callback', '/openapi.json'])
    await expect(other.goto(origin + path)).rejects.toThrow('ERR_INTERNET_DISCONNECTED');
});

test('a note whose answer was lost is added once, also if two tabs send it', async ({ service, openAs }) => {
  const { id, title } = await assigned(service);
  const page = await openAs('FIELD', '/mine', phone);
  await expect(cardOf(page, title)).toBeVisible();
  let lost = 0;
  await page.context().route('**/trpc/incidents.addNote', async (route) => {
    if (lost++ > 1) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await write(page, title, 'The answer is lost', [photo('lost.bmp', 40, 600)]);
  await expect(unsent(page)).toHaveCount(1);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect(unsent(other)).toHaveCount(1);
  await expect(unsent(other)).toHaveCount(0, { timeout: 60_000 });
  await expect(unsent(page)).toHaveCount(0);
  expect(lost).toBeGreaterThan(2);
  expect(await textsOf(service, id)).toEqual(['The answer is lost']);
});

test('two tabs that wrote without a connection send everything once', async ({ service, openAs }) => {
  const { id, title } = await assigned(service);
  const page = await openAs('FIELD', '/mine', phone);
  const other = await page.context().newPage();
  await other.goto(page.url());
  for (const each of [page, other]) await expect(cardOf(each, title)).toBeVisible();
  await page.context().setOffline(true);
  for (const n of [1, 2]) {
    await write(page, title, `Tab one, ${n}`);
    await write(other, title, `Tab two, ${n}`);
  }
  await expect(unsent(page)).toHaveCount(4);
  await page.context().setOffline(false);
  await expect(unsent(page)).toHaveCount(0, { timeout: 60_000 });
  await expect(unsent(other)).toHaveCount(0);
  expect(await textsOf(service, id)).toEqual(['Tab one, 1', 'Tab two, 1', 'Tab one, 2', 'Tab two, 2']);
});

/** Signs another user in, in all tabs, without the old one having signed out. */
async function become(
  service: TestService,
  context: BrowserContext,
  role: 'FIELD' | 'OPERATOR',
): Promise<void> {
  const { token, user } = await service.admin.api.auth.login.mutate({
    email: await service.userOf(role),
    password: PASSWORD,
  });
  const [page] = context.pages();
  await page?.evaluate((session) => localStorage.setItem('gantry.session', JSON.stringify(session)), {
    token,
    user,
  });
  await page?.goto(`${service.url}/mine`);
}

test('what one user wrote is neither shown to another one on the same phone nor sent by them', async ({
  service,
  openAs,
}) => {
  const { id, title } = await assigned(service);
  const page = await openAs('FIELD', '/mine', phone);
  await expect(cardOf(page, title)).toBeVisible();
  await page.route('**/trpc/incidents.addNote', (route) => route.abort());
  await write(page, title, 'Only for the one who wrote it');
  await expect(unsent(page)).toHaveCount(1);
  await page.unroute('**/trpc/incidents.addNote');
  await become(service, page.context(), 'OPERATOR');
  await expect(page.getByRole('heading', { level: 1, name: 'Assigned to me' })).toBeVisible();
  await expect(page.getByText('Nothing is assigned to you')).toBeVisible();
  await expect(page.getByText('Only for the one who wrote it')).toHaveCount(0);
  expect(await textsOf(service, id)).toEqual([]);
  await become(service, page.context(), 'FIELD');
  await expect
    .poll(() => textsOf(service, id), { timeout: 60_000 })
    .toEqual(['Only for the one who wrote it']);
  expect((await notesOf(service, id))[0]?.by?.name).toBe('Field Tester');
});

test('a session that has ended lets entries wait until the same person signs in', async ({
  service,
  openAs,
}) => {
  const { id, title } = await assigned(service);
  const page = await openAs('FIELD', '/mine', phone);
  await expect(cardOf(page, title)).toBeVisible();
  const token = await page.evaluate(() => JSON.parse(localStorage.getItem('gantry.session') ?? '').token);
  await page.context().setOffline(true);
  await write(page, title, 'Before the session ended');
  await createGantryClient({ url: service.url, token }).api.auth.logout.mutate();
  await page.context().setOffline(false);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  expect(await textsOf(service, id)).toEqual([]);
  await dialog.locator('[type=submit]').click();
  await expect.poll(() => textsOf(service, id), { timeout: 60_000 }).toEqual(['Before the session ended']);
});

test('what the service refuses stays with the reason, and is edited or discarded', async ({
  service,
  openAs,
}) => {
  const { id, title } = await assigned(service);
  const { api } = service.admin;
  const page = await openAs('FIELD', '/mine', phone);
  await expect(cardOf(page, title)).toBeVisible();
  await page.context().setOffline(true);
  await write(page, title, 'Refused', [photo('kept.bmp', 20, 600)]);
  await api.incidents.assign.mutate({ id, userId: await idOf(service, 'OPERATOR') });
  await page.context().setOffline(false);
  await expect(unsent(page)).toContainText('Not accepted: This incident is assigned to Operator Tester', {
    timeout: 60_000,
  });
  // It is discarded, and put back.
  await unsent(page).getByRole('button', { name: 'Discard' }).click();
  await expect(unsent(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expect(unsent(page)).toHaveCount(1);
  await api.incidents.assign.mutate({ id, userId: null });
  await unsent(page).getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Note')).toHaveValue('Refused');
  await expect(dialog.getByRole('img')).toHaveCount(1);
  await dialog.getByLabel('Note').fill('Accepted');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await expect.poll(() => textsOf(service, id), { timeout: 60_000 }).toEqual(['Accepted']);
  await expect(unsent(page)).toHaveCount(0);
});

test('a note on an incident that was merged meanwhile goes to the one that stays', async ({
  service,
  openAs,
}) => {
  const [one, into] = [await assigned(service), await assigned(service)];
  const page = await openAs('FIELD', '/mine', phone);
  await expect(cardOf(page, one.title)).toBeVisible();
  await page.context().setOffline(true);
  await write(page, one.title, 'About the merged one');
  await service.admin.api.incidents.merge.mutate({ id: one.id, into: into.id });
  await page.context().setOffline(false);
  await expect.poll(() => textsOf(service, into.id), { timeout: 60_000 }).toEqual(['About the merged one']);
  await expect(unsent(page)).toHaveCount(0);
});

test('a fault is written into the log, and signing out asks before it deletes what was not sent', async ({
  service,
  openAs,
}) => {
  const page = await openAs('FIELD', '/mine', phone);
  const writeFault = async (text: string) => {
    await page.getByRole('button', { name: 'Fault or visit' }).click();
    await page.getByRole('dialog').getByLabel('What you found').fill(text);
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };
  await writeFault('Cabinet 7 is open');
  await expect
    .poll(async () => (await service.admin.api.log.getAll.query({ search: 'Cabinet 7' })).entries)
    .toMatchObject([{ kind: 'FAULT', text: 'Cabinet 7 is open', isLate: false }]);
  await page.route('**/trpc/log.add*', (route) => route.abort());
  await writeFault('Never sent');
  await expect(unsent(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign out' });
  await expect(dialog).toContainText('1 entry is not sent yet. Signing out deletes it.');
  await dialog.getByRole('button', { name: 'Sign out and delete them' }).click();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  const left = await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('gantry-outbox');
      request.onsuccess = () => resolve(request.result);
    });
    const count = await new Promise<number>((resolve) => {
      const request = database.transaction('entries').objectStore('entries').count();
      request.onsuccess = () => resolve(request.result);
    });
    return {
      count,
      names: Object.keys(localStorage).filter((name) => localStorage.getItem(name)?.includes('Field story')),
    };
  });
  expect(left).toEqual({ count: 0, names: [] });
});

/** A proxy that serves the console of the service as another build, and can be stopped. */
async function proxyOf(
  service: TestService,
): Promise<{ url: string; build: string; isDown: boolean; server: Server }> {
  const state = { url: '', build: 'one', isDown: false, server: createServer() };
  state.server.on('request', async (request, response) => {
    if (state.isDown) return void request.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = { ...request.headers };
    for (const name of ['host', 'connection', 'if-none-match', 'if-modified-since', 'content-length'])
      delete headers[name];
    const asked = await fetch(service.url + request.url, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const sent = Object.fromEntries(asked.headers);
    for (const name of ['content-length', 'content-encoding', 'transfer-encoding', 'etag']) delete sent[name];
    if (request.url?.startsWith('/trpc/live')) {
      response.writeHead(asked.status, sent);
      const reader = asked.body?.getReader();
      request.on('close', () => void reader?.cancel().catch(() => undefined));
      for (;;) {
        const part = await reader?.read().catch(() => undefined);
        if (!part || part.done) return response.end();
        response.write(part.value);
      }
    }
    const body = Buffer.from(await asked.arrayBuffer());
    const isText = /javascript|html/.test(sent['content-type'] ?? '') && !request.url?.startsWith('/assets/');
    const text = () =>
      body
        .toString()
        .replace('<title>', `<meta name="build" content="${state.build}"><title>`)
        .replace("'gantry-shell-", `'gantry-shell-${state.build}-`);
    response.writeHead(asked.status, sent).end(isText ? text() : body);
  });
  await new Promise<void>((resolve) => state.server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(state.server.address() as AddressInfo).port}`;
  return state;
}

test('a new build is offered, no page shows the old one, and what waits is sent by the new one', async ({
  service,
  openAs,
}) => {
  const { id, title } = await assigned(service);
  const proxy = await proxyOf(service);
  try {
    const page = await openAs('FIELD', '/mine', { ...phone, isKept: true, url: proxy.url });
    const build = () => page.locator('meta[name=build]').getAttribute('content');
    await expect(cardOf(page, title)).toBeVisible();
    await isReady(page);
    proxy.isDown = true;
    proxy.server.closeAllConnections();
    await write(page, title, 'Written in the old build');
    await page.reload();
    await expect(unsent(page)).toHaveCount(1);
    expect(await build()).toBe('one');
    proxy.build = 'two';
    proxy.isDown = false;
    await expect(page.getByText('A new version of the console is ready.')).toBeVisible({ timeout: 60_000 });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Load it' }).click();
    await expect.poll(build).toBe('two');
    await expect.poll(() => textsOf(service, id), { timeout: 60_000 }).toEqual(['Written in the old build']);
    // Without a connection, the new build is the one that is kept, and the only one.
    proxy.isDown = true;
    proxy.server.closeAllConnections();
    await page.reload();
    await expect(cardOf(page, title)).toBeVisible();
    expect(await build()).toBe('two');
    expect(await page.evaluate(() => caches.keys())).toHaveLength(1);
  } finally {
    proxy.server.closeAllConnections();
    proxy.server.close();
  }
});
