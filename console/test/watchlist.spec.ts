import type { Severity } from '@gantry/contract/events';
import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

let made = 0;

/** Adds a unique plate to the watchlist, and has it read `times` times, each time by another sensor. */
async function raise(service: TestService, times = 1, priority: Severity = 'CRITICAL'): Promise<string> {
  const plate = `WL${++made} ${1000 + made}`;
  await service.admin.api.watchlist.create.mutate({
    pattern: plate,
    reason: 'Stolen, report 26-0042',
    priority,
  });
  for (let n = 0; n < times; n += 1) {
    const { apiKey } = await service.sensor({ name: `Plates ${made}`, type: 'ANPR' });
    await read(service, apiKey, plate);
  }
  return plate;
}

const read = (service: TestService, apiKey: string, licensePlateNumber: string) =>
  service.admin.api.events.ingest.mutate({ apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber });

/** The cell with the plate as read. The name of the checkbox of the row contains the plate, too. */
const plateIn = (row: Locator, plate: string) =>
  row.getByRole('cell', { name: new RegExp(`^${plate}`) }).first();

/** Counts the tones that the pages of a browser context play, from the next load on. */
async function countTones(page: Page): Promise<void> {
  await page.context().addInitScript(() => {
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (when) {
      const counted = globalThis as { tones?: number };
      counted.tones = (counted.tones ?? 0) + 1;
      start.call(this, when);
    };
  });
}

const tones = (tab: Page) => tab.evaluate(() => (globalThis as { tones?: number }).tones ?? 0);

test.describe('an alert', () => {
  test('is in the title of every page until it is opened, and is acknowledged with a note', async ({
    service,
    openAs,
  }) => {
    const page = await openAs('OPERATOR', '/events');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const plate = await raise(service);
    await expect(page).toHaveTitle('(1) Events · Gantry');
    await page.getByRole('button', { name: '1 new announcement' }).click();
    await page.getByRole('menuitem', { name: 'Show all alerts' }).click();
    const row = page.getByRole('row').filter({ hasText: plate });
    await expect(row).toContainText('Open');
    await expect(page).toHaveTitle('Alerts · Watchlist · Gantry');
    await page.setViewportSize({ width: 390, height: 900 });
    await expect(row.getByText(/^Plates \d/).filter({ visible: true })).toHaveCount(1);
    await expect(row.getByText(/^\d{4}-\d\d-\d\d /).filter({ visible: true })).toHaveCount(1);
    const list = page.getByRole('region', { name: 'Alerts' });
    expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await plateIn(row, plate).click();
    await page.keyboard.press('n');
    await page.keyboard.type('Patrol is informed');
    await page.keyboard.press('Control+Enter');
    const pane = page.getByRole('complementary');
    await expect(pane).toContainText('Operator Tester');
    await expect(pane).toContainText('Patrol is informed');
    // The list shows only open alerts.
    await expect(row).toHaveCount(0);

    await page.getByRole('button', { name: /^Undo/ }).click();
    await expect(row).toContainText('Open');
    await expect(pane.getByRole('button', { name: 'Acknowledge' })).toBeEnabled();
  });

  test('that another user acknowledged first names that user, and keeps the note', async ({
    service,
    openAs,
  }) => {
    const plate = await raise(service);
    const page = await openAs('OPERATOR', '/');
    await page.route('**/trpc/live.onAny**', (route) => route.abort());
    await page.goto(`${service.url}/watchlist`);
    await plateIn(page.getByRole('row').filter({ hasText: plate }), plate).click();
    await page.getByLabel('Note (optional)').fill('I saw it too');
    const { alerts } = await service.admin.api.watchlist.getAlerts.query({});
    const [alert] = alerts.filter(({ licensePlateNumber }) => licensePlateNumber === plate);
    await service.admin.api.watchlist.acknowledgeAlert.mutate({ id: alert?.id ?? '' });
    await page.getByRole('complementary').getByRole('button', { name: 'Acknowledge' }).click();
    await expect(page.getByRole('complementary').getByRole('alert')).toContainText(
      /First Administrator.* acknowledged it (now|.* ago) \(.*UTC\+00:00/,
    );
    await expect(page.getByLabel('Note (optional)')).toHaveValue('I saw it too');
  });

  test('that leaves the list because another user acknowledged it keeps the note that is being written', async ({
    service,
    openAs,
  }) => {
    const plate = await raise(service);
    const page = await openAs('OPERATOR', '/watchlist?acknowledged=false');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const row = page.getByRole('row').filter({ hasText: plate });
    await plateIn(row, plate).click();
    const note = page.getByLabel('Note (optional)');
    await note.fill('I saw it too');
    const { alerts } = await service.admin.api.watchlist.getAlerts.query({ acknowledged: false });
    const [alert] = alerts.filter(({ licensePlateNumber }) => licensePlateNumber === plate);
    await service.admin.api.watchlist.acknowledgeAlert.mutate({ id: alert?.id ?? '' });
    await expect(row).toHaveCount(0);
    const pane = page.getByRole('complementary');
    await expect(pane).toContainText('First Administrator');
    await expect(note).toHaveValue('I saw it too');
    await expect(pane.getByRole('button', { name: 'Acknowledge' })).toBeDisabled();
  });

  test('is acknowledged together with all that match', async ({ service, openAs }) => {
    const plate = await raise(service, 3);
    const { entries } = await service.admin.api.watchlist.getAll.query({ search: plate });
    const page = await openAs('OPERATOR', `/watchlist?entryId=${entries[0]?.id}`);
    await expect(page.getByRole('row').filter({ hasText: plate })).toHaveCount(3);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Select all open alerts that match' }).click();
    const bulk = page.getByRole('region', { name: 'Selected alerts' });
    await bulk.getByLabel('Note (optional)').fill('One vehicle');
    // The refetch of the list is slow. The offer to undo must not wait for it.
    await page.route(/watchlist\.getAlerts/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await route.continue().catch(() => undefined);
    });
    const warnsBeforeLeaving = () =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/trpc/watchlist.acknowledgeAlertBatch*', async (route) => {
      await held;
      await route.continue();
    });
    await bulk.getByRole('button', { name: 'Acknowledge' }).click();
    await expect.poll(warnsBeforeLeaving).toBe(true);
    goOn();
    await expect(bulk).toContainText('3 of 3 acknowledged');
    expect(await warnsBeforeLeaving()).toBe(false);
    await expect(page.getByRole('button', { name: /^Undo/ })).toBeVisible({ timeout: 1_000 });
    const { alerts } = await service.admin.api.watchlist.getAlerts.query({ entryId: entries[0]?.id });
    expect(alerts.map(({ note }) => note)).toEqual(['One vehicle', 'One vehicle', 'One vehicle']);

    await page.keyboard.press('z');
    await expect(bulk).toContainText('3 of 3 open again');
    await expect(page.getByRole('row').filter({ hasText: 'Open' })).toHaveCount(3);
  });

  test('is left out of all that match when it is selected no longer', async ({ service, openAs }) => {
    const plate = await raise(service, 3);
    const { entries } = await service.admin.api.watchlist.getAll.query({ search: plate });
    const page = await openAs('OPERATOR', `/watchlist?entryId=${entries[0]?.id}`);
    const boxes = page.getByRole('row').filter({ hasText: plate }).getByRole('checkbox');
    await expect(boxes).toHaveCount(3);
    for (const box of await boxes.all()) await box.click();
    await page.getByRole('button', { name: 'Select all open alerts that match' }).click();
    await boxes.nth(1).click();
    const bulk = page.getByRole('region', { name: 'Selected alerts' });
    await expect(bulk).toContainText('2 selected');
    await bulk.getByRole('button', { name: 'Acknowledge' }).click();
    await expect(bulk).toContainText('2 of 2 acknowledged');

    // If the list shows only acknowledged alerts, no open alert matches.
    await page.goto(`${service.url}/watchlist?entryId=${entries[0]?.id}&acknowledged=true`);
    await expect(boxes).toHaveCount(2);
    await boxes.first().click();
    await expect(bulk).toContainText('1 selected');
    await expect(page.getByRole('button', { name: 'Select all open alerts that match' })).toHaveCount(0);
  });

  test('that could not be acknowledged is named once another one is shown, and one is acknowledged once', async ({
    service,
    openAs,
  }) => {
    const plate = await raise(service, 2);
    const { entries } = await service.admin.api.watchlist.getAll.query({ search: plate });
    const page = await openAs('OPERATOR', `/watchlist?entryId=${entries[0]?.id}`, { language: 'tr' });
    const rows = page.getByRole('row').filter({ hasText: plate });
    await expect(rows).toHaveCount(2);
    const [first, second] = [0, 1].map((at) => plateIn(rows.nth(at), plate));
    const note = page.getByLabel('Not (isteğe bağlı)');
    await first?.click();
    await note.fill('Ekip yolda');
    await second?.click();
    await expect(note).toHaveValue('');
    await first?.click();
    await expect(note).toHaveValue('Ekip yolda');
    let calls = 0;
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/trpc/watchlist.acknowledgeAlert*', async (route) => {
      calls++;
      await held;
      await (calls === 1 ? route.abort() : route.continue());
    });
    await page.keyboard.press('1');
    await page.keyboard.press('j');
    await expect(rows.nth(1)).toHaveAttribute('aria-current', 'true');
    goOn();
    await expect(page.getByText(`${plate} alarmı onaylanamadı. Hizmete ulaşılamıyor.`)).toBeVisible();
    await page.keyboard.press('1');
    await page.keyboard.press('1');
    await expect(rows.nth(1)).toContainText('Operator Tester');
    await expect(page.getByText('Başka biri daha hızlı davrandı')).toHaveCount(0);
    expect(calls).toBe(2);
  });
});

test('a read from a backlog is marked, plays no sound and can be filtered out; further reads are counted', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const page = await openAs('OPERATOR', '/watchlist');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const pattern = `BL ${Date.now() % 100_000}`;
  const { id } = await api.watchlist.create.mutate({ pattern, reason: 'Stolen', priority: 'HIGH' });
  const { apiKey } = await service.sensor({ name: 'Gate of the backlog', type: 'ANPR' });
  const readAgo = (minutes: number) =>
    api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: pattern,
      timestamp: new Date(Date.now() - minutes * 60_000).toISOString(),
    });
  await readAgo(3 * 24 * 60);
  await readAgo(3 * 24 * 60 - 5);
  const rows = page.getByRole('row').filter({ hasText: pattern });
  await expect(rows).toContainText('From a backlog');
  await expect(rows).toContainText('3 days ago');
  await expect(rows).toContainText('× 2');
  await expect(page.locator('[data-announcement=alert]')).toHaveCount(0);
  await readAgo(0);
  await expect(page.locator('[data-announcement=alert]')).toContainText(pattern);
  await expect(rows).toHaveCount(2);
  await page.goto(`${service.url}/watchlist?entryId=${id}&backlog=false`);
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('Open');
  await page.goto(`${service.url}/watchlist?entryId=${id}&backlog=true`);
  await plateIn(rows, pattern).click();
  await expect(page.getByRole('complementary')).toContainText('more than 15 minutes late');
  await expect(page.getByRole('complementary')).toContainText('Reads');
  await expectAccessible(page);
});

test('the sound is off by default, and plays in one tab of the browser once it is switched on', {
  tag: '@long',
}, async ({ service, openAs }) => {
  const page = await openAs('OPERATOR', '/watchlist');
  await countTones(page);
  await page.reload();
  const other = await page.context().newPage();
  await other.goto(`${service.url}/watchlist`);
  const isShown = async (plate: string) => {
    for (const tab of [page, other])
      await expect(tab.getByRole('row').filter({ hasText: plate })).toBeVisible();
  };
  await isShown(await raise(service));
  expect([await tones(page), await tones(other)]).toEqual([0, 0]);

  await page.getByRole('button', { name: 'Sound off' }).click();
  await page.getByLabel('Play a sound for new alerts').click();
  await page.keyboard.press('Escape');
  // Browsers allow sound in the second tab, too, after the user has clicked in it.
  await other.getByRole('heading', { level: 1 }).click();
  await expect(other.getByRole('button', { name: 'Sound on' })).toBeVisible();
  await isShown(await raise(service));
  await expect.poll(async () => (await tones(page)) + (await tones(other))).toBeGreaterThan(0);
  expect(Math.min(await tones(page), await tones(other))).toBe(0);

  const before = (await tones(page)) + (await tones(other));
  await page.getByRole('button', { name: 'Sound on' }).click();
  await page.getByRole('dialog', { name: 'Sound' }).getByLabel('Critical').click();
  await isShown(await raise(service));
  expect((await tones(page)) + (await tones(other))).toBe(before);
});

test('while the tone of an alert is playing, only a more urgent alert plays another one', {
  tag: '@long',
}, async ({ service, openAs }) => {
  const page = await openAs('OPERATOR', '/watchlist');
  await countTones(page);
  await page.context().addInitScript(() => {
    localStorage.setItem('gantry.watchlist.sound', JSON.stringify({ on: true, muted: [] }));
    // The time of the tones stands still, so that the first one never ends.
    Object.defineProperty(BaseAudioContext.prototype, 'currentTime', { get: () => 1 });
  });
  await page.reload();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.getByRole('heading', { level: 1 }).click();
  await expect(page.getByRole('button', { name: 'Sound on' })).toBeVisible();
  const heardAfter = async (priority: Severity) => {
    const plate = await raise(service, 1, priority);
    await expect(page.getByRole('row').filter({ hasText: plate })).toBeVisible();
    return tones(page);
  };
  const low = await heardAfter('LOW');
  expect(low).toBeGreaterThan(0);
  const high = await heardAfter('HIGH');
  expect(high).toBeGreaterThan(low);
  expect(await heardAfter('MEDIUM')).toBe(high);
  expect(await heardAfter('HIGH')).toBe(high);
  const critical = await heardAfter('CRITICAL');
  expect(critical).toBeGreaterThan(high);
  expect(await heardAfter('CRITICAL')).toBeGreaterThan(critical);
});

test('an alert that was acknowledged before it was received counts as new once this is undone', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const plates = [await raise(service), await raise(service)];
  const { alerts } = await api.watchlist.getAlerts.query({});
  const [first = '', second = ''] = plates.map(
    (plate) => alerts.find(({ licensePlateNumber }) => licensePlateNumber === plate)?.id,
  );
  const page = await openAs('OPERATOR', '/events');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const bell = page.getByRole('button', { name: /new announcement/ });
  await api.watchlist.acknowledgeAlert.mutate({ id: first });
  // The new alert comes after the acknowledgement in the stream.
  await raise(service);
  await expect(bell).toHaveText('1');
  await api.watchlist.undoAcknowledgeAlertBatch.mutate({ ids: [first] });
  await expect(bell).toHaveText('2');

  // One that the user acknowledges has been seen.
  await bell.click();
  await page.getByRole('menuitem', { name: 'Show all alerts' }).click();
  await expect(page.getByText(/^\d+ alerts$/)).toBeVisible();
  await page.getByRole('row').filter({ hasText: plates[1] }).getByRole('checkbox').click();
  await page
    .getByRole('region', { name: 'Selected alerts' })
    .getByRole('button', { name: 'Acknowledge' })
    .click();
  await expect(page.getByRole('button', { name: /^Undo/ })).toBeVisible();
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await api.watchlist.undoAcknowledgeAlertBatch.mutate({ ids: [second] });
  await raise(service);
  await expect(bell).toHaveText('1');
});

test('an alert whose acknowledgement is undone counts as new again if it was not opened, and plays no sound', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const page = await openAs('OPERATOR', '/events');
  await countTones(page);
  await page.evaluate(() =>
    localStorage.setItem('gantry.watchlist.sound', JSON.stringify({ on: true, muted: [] })),
  );
  await page.reload();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.getByRole('heading', { level: 1 }).click();
  const plate = await raise(service);
  const bell = page.getByRole('button', { name: /new announcement/ });
  await expect(bell).toHaveText('1');
  await expect.poll(() => tones(page)).toBeGreaterThan(0);
  const heard = await tones(page);

  const { alerts } = await api.watchlist.getAlerts.query({});
  const id = alerts.find(({ licensePlateNumber }) => licensePlateNumber === plate)?.id ?? '';
  const acknowledge = () => api.watchlist.acknowledgeAlert.mutate({ id });
  const undo = () => api.watchlist.undoAcknowledgeAlertBatch.mutate({ ids: [id] });
  await acknowledge();
  await expect(bell).toHaveCount(0);
  await undo();
  await expect(bell).toHaveText('1');
  expect(await tones(page)).toBe(heard);

  await bell.click();
  await page.getByRole('menuitem', { name: 'Show all alerts' }).click();
  const row = page.getByRole('row').filter({ hasText: plate });
  await expect(row).toContainText('Open');
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await acknowledge();
  await undo();
  // The next alert comes after both changes in the stream.
  await raise(service);
  await expect(bell).toHaveText('1');
  await expect.poll(() => tones(page)).toBe(2 * heard);
});

test('on the narrowest phone, the list of alerts is no wider than the screen', async ({
  service,
  openAs,
}) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.watchlist.create.mutate({
    pattern: 'NARROW1',
    reason: 'Stolen',
    priority: 'CRITICAL',
  });
  await service.admin.api.events.ingest.mutate({
    apiKey,
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber: 'NARROW1',
  });
  const page = await openAs('OPERATOR', '/watchlist', { width: 320, isTouched: true });
  const list = page.getByRole('region', { name: 'Alerts' });
  await expect(list.locator('tr[data-key]').first()).toBeVisible();
  expect(await list.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
});

test('Back closes a watched plate, as it does a pane', async ({ service, openAs }) => {
  await service.admin.api.watchlist.create.mutate({ pattern: 'BACK1', reason: 'Stolen', priority: 'LOW' });
  const page = await openAs('OPERATOR', '/watchlist?part=plates');
  await page.getByRole('cell', { name: 'BACK1' }).click();
  await expect(page.getByRole('dialog', { name: 'BACK1' })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(/part=plates$/);
  await expect(page.getByRole('cell', { name: 'BACK1' })).toBeVisible();
});

test('a plate is watched, changed and taken off the list', async ({ service, openAs }) => {
  const page = await openAs('ADMIN', '/watchlist?part=plates');
  await page.getByRole('button', { name: 'Watch a plate' }).first().click();
  const form = page.getByRole('dialog', { name: 'Watch a plate' });
  await form.getByLabel('Watched plate').fill('*');
  await form.getByLabel('Reason').fill('Missing person');
  await form.getByLabel('Valid until').fill('2031-01-31');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toContainText('Give at least two letters or digits');
  await form.getByLabel('Watched plate').fill('ZZ 77*');
  await form.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row').filter({ hasText: 'ZZ 77*' });
  await expect(row).toContainText('2031-01-31');
  await row.getByRole('cell', { name: 'ZZ 77*' }).click();
  const change = page.getByRole('dialog', { name: 'ZZ 77*' });
  await change.getByLabel('Priority').selectOption('HIGH');
  await change.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('High');
  const { entries } = await service.admin.api.watchlist.getAll.query({ search: 'ZZ 77' });
  expect(entries[0]?.validUntil?.toISOString()).toBe('2031-01-31T23:59:59.999Z');
  await row.getByRole('cell', { name: 'ZZ 77*' }).click();
  await change.getByRole('button', { name: 'Delete' }).click();
  await page
    .getByRole('dialog', { name: /Take ZZ 77/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect(row).toHaveCount(0);
});

test('FIELD sees the plates and cannot change them', async ({ service, openAs }) => {
  const plate = await raise(service);
  const page = await openAs('FIELD', '/watchlist?part=plates', { width: 390 });
  await page.getByRole('cell', { name: plate }).click();
  const dialog = page.getByRole('dialog', { name: plate });
  await expect(dialog.getByLabel('Reason')).toBeDisabled();
  await expect(dialog.getByRole('button', { name: 'Save' })).toHaveCount(0);
});

test.describe('axe finds nothing', () => {
  // All combinations of theme and text direction with LONG_TESTS.
  const isLong = process.env.LONG_TESTS === 'true';
  for (const theme of ['dark', 'light'] as const) {
    for (const language of ['en', 'ar'] as const) {
      if (!isLong && (theme === 'dark') !== (language === 'en')) continue;
      test(`on the watchlist in ${theme} and ${language}`, {
        tag: '@long',
      }, async ({ service, openAs }) => {
        const plate = await raise(service);
        const { alerts } = await service.admin.api.watchlist.getAlerts.query({});
        const page = await openAs('ADMIN', `/watchlist?alert=${alerts[0]?.id}`, { theme, language });
        await expect(page.getByText(plate).first()).toBeVisible();
        await expectAccessible(page);
        for (const path of ['/watchlist?part=plates', '/watchlist?part=plates&plate=new']) {
          await page.goto(service.url + path);
          await expect(page.getByText(plate).first()).toBeVisible();
          await expectAccessible(page);
        }
      });
    }
  }
});
