import type { Page, Route } from '@playwright/test';
import { expect, expectAccessible, openAlone, test } from './fixtures.ts';
import { ADMIN, PASSWORD, startService, type TestService } from './service.ts';

test.describe('the overview of a new service', () => {
  let service: TestService;
  test.beforeAll(async () => {
    test.setTimeout(120_000);
    service = await startService();
  });
  test.afterAll(() => service?.stop());

  test('shows the first steps when there is no sensor', async ({ page }) => {
    await page.goto(service.url);
    await page.getByLabel('E-mail').fill(ADMIN);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const steps = page.getByRole('region', { name: 'First steps' });
    await expect(steps).toContainText(`curl ${service.url}/trpc/events.ingest`);
    await expect(steps).toContainText('npm run simulate');
    await expectAccessible(page);
    await steps.getByRole('button', { name: 'Create a sensor' }).click();
    await expect(page.getByRole('dialog', { name: 'New sensor' })).toBeVisible();
  });

  test('lists the alarms as their page does, says why there can be none, and acknowledges them', async ({
    browser,
  }) => {
    test.slow();
    const { api } = service.admin;
    await service.sensor();
    const page = await openAlone(browser, service, '/?places=list');
    const attention = page.getByRole('region', { name: 'Needs attention first' });
    await expect(attention).toContainText('No rule of alarms is enabled');
    await expect(attention.getByRole('link', { name: 'Enable rules' })).toBeVisible();
    const attend = (minSeverity: 'LOW' | 'CRITICAL', severity: 'MEDIUM' | 'CRITICAL') =>
      api.alarmRules.create.mutate({
        name: `Nobody attends ${minSeverity}`,
        condition: { source: 'INCIDENT_UNATTENDED', minSeverity, lacking: 'ACKNOWLEDGEMENT' },
        severity,
      });
    await attend('CRITICAL', 'CRITICAL');
    for (let n = 1; n <= 9; n++)
      await api.incidents.create.mutate({ title: `Burst pipe ${n}`, type: 'OTHER', severity: 'LOW' });
    await page.reload();
    // There are incidents, so that it does not say that nothing needs attention.
    await expect(attention).toContainText('No alarm is firing.');
    await api.incidents.create.mutate({ title: 'Fire in the tunnel', type: 'OTHER', severity: 'CRITICAL' });
    await attend('LOW', 'MEDIUM');
    const rows = attention.getByRole('listitem');
    await expect(rows).toHaveCount(8, { timeout: 40_000 });
    const first = rows.first();
    await expect(first).toContainText('Fire in the tunnel');
    await expect(first).toContainText('Critical');
    await expect(first).toContainText('Firing');
    await expect(attention).toContainText('3 more alarms');
    await expectAccessible(page);
    const { alarms } = await api.alarms.getAll.query({ state: 'FIRING' });
    expect(alarms.map(({ place }) => place).slice(0, 8)).toEqual(
      await rows.getByRole('link').allTextContents(),
    );
    await first.getByRole('button', { name: 'Acknowledge: Fire in the tunnel' }).click();
    await expect(first).toContainText((await api.auth.me.query()).lastName);
    await expect(first.getByRole('button')).toHaveCount(0);

    await attention.getByRole('link', { name: '3 more alarms' }).click();
    await expect(page).toHaveURL(/\/alarms\?suppressed=false/);
    const listed = page.getByRole('row').filter({ hasText: 'Fire in the tunnel' });
    await expect(listed.getByRole('button', { name: /^Acknowledge/ })).toHaveCount(1);
    await page.goto(`${service.url}/?kiosk=1`);
    await expect(first).toContainText('Fire in the tunnel');
    await expect(attention.getByRole('button')).toHaveCount(0);
    for (let n = 0; n < 8; n++)
      await api.incidents.create.mutate({ title: `Row ${n}`, type: 'OTHER', severity: 'CRITICAL' });
    await expectWholeRows(page, ['Needs attention first']);
    await page.context().close();
  });
});

/** Expects that no list of the wall display ends with a part of a row, because nobody can scroll it. */
async function expectWholeRows(page: Page, names: readonly string[]): Promise<void> {
  for (const size of [
    { width: 1440, height: 900 },
    { width: 1920, height: 1080 },
  ]) {
    await page.setViewportSize(size);
    for (const name of names) {
      const list = page.getByRole('region', { name }).locator('ul');
      await expect(list.locator('> li[inert]').first()).toBeAttached();
      const ends = await list.evaluate((element) => ({
        list: element.getBoundingClientRect().bottom,
        page: innerHeight,
        rows: [...element.querySelectorAll(':scope > li:not([inert])')].map(
          (row) => row.getBoundingClientRect().bottom,
        ),
      }));
      expect(ends.rows.length).toBeGreaterThan(1);
      expect(Math.max(...ends.rows)).toBeLessThanOrEqual(Math.min(ends.list, ends.page) + 0.5);
    }
  }
}

test.describe('the overview', () => {
  test('shows the places with their problems', async ({ service, openAs }) => {
    const location = await service.admin.api.locations.create.mutate({
      name: 'Tunnel of a story',
      coordinates: { latitude: 39.9, longitude: 32.8 },
    });
    await service.sensor({ name: 'Silent in the tunnel', locationId: location.id });
    await service.admin.api.incidents.create.mutate({
      title: 'Fire in the tunnel',
      type: 'OTHER',
      severity: 'CRITICAL',
      locationId: location.id,
    });
    const page = await openAs('OPERATOR', '/?places=list');
    await expect(page.getByRole('region', { name: 'Newest incidents' })).toContainText('Fire in the tunnel');
    await page.getByRole('button', { name: /Tunnel of a story/ }).click();
    const card = page.getByRole('region', { name: 'Tunnel of a story' });
    await expect(card).toContainText('Silent in the tunnel');
    await expect(card).toContainText('Fire in the tunnel');
    await expectAccessible(page);
  });

  test('counts the alerts that wait, and leads to them, the most urgent first', async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    await api.watchlist.create.mutate({ pattern: '06 ATT 1', reason: 'Stolen', priority: 'HIGH' });
    const { apiKey } = await service.sensor();
    await api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: '06 ATT 1',
    });
    await expect.poll(async () => (await api.watchlist.getAlerts.query()).total).toBeGreaterThan(0);
    const page = await openAs('OPERATOR', '/?places=list');
    const tile = page.getByRole('link', { name: /^Alerts waiting/ });
    await expect(tile).toHaveAttribute('href', '/watchlist?acknowledged=false&sortBy=priority');
    await tile.click();
    await expect(page.getByRole('columnheader', { name: 'Priority' })).toHaveAttribute(
      'aria-sort',
      'descending',
    );
  });

  test('shows no alarms to those who may not acknowledge them', async ({ service, openAs }) => {
    await service.sensor();
    const page = await openAs('VIEWER', '/?places=list');
    await expect(page.getByRole('region', { name: 'Locations' }).first()).toBeVisible();
    await expect(page.getByRole('region', { name: 'Needs attention first' })).toHaveCount(0);
  });

  test('shows new events as they arrive; its wall display hides plates and the navigation', async ({
    service,
    openAs,
  }) => {
    const { apiKey } = await service.sensor({ name: 'Gate of a story' });
    const page = await openAs('ADMIN', '/');
    const events = page.getByRole('region', { name: 'Newest events' });
    await expect(events).toBeVisible();
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: '06 STORY 7',
    });
    await expect(events).toContainText('06 STORY 7');
    // The list is paused under the pointer, and says so. The wall display is not: nobody is there to move it away.
    await events.getByRole('list').hover();
    await expect(events).toContainText('Paused');
    const second = await service.sensor({ name: 'Second gate' });
    const passAt = (apiKey: string) =>
      service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
    await passAt(second.apiKey);
    await page.keyboard.press('w');
    await expect(page).toHaveURL(/kiosk=1/);
    await expect(events).toContainText('Second gate');
    await events.getByRole('list').hover();
    const third = await service.sensor({ name: 'Third gate' });
    await passAt(third.apiKey);
    await expect(events).toContainText('Third gate');
    await expect(events).not.toContainText('Paused');
    await expect(events).not.toContainText('06 STORY 7');
    await expect(page.getByRole('navigation')).toHaveCount(0);
    await expectAccessible(page);
    // Nobody can scroll a wall display, so no list ends with a part of a row.
    for (let n = 0; n < 8; n++) {
      await service.admin.api.incidents.create.mutate({
        title: `Row ${n}`,
        type: 'OTHER',
        severity: 'CRITICAL',
      });
      await passAt(third.apiKey);
    }
    await expectWholeRows(page, ['Newest events', 'Newest incidents']);
    await page.getByRole('link', { name: 'Leave the wall display' }).click();
    await expect(page.getByRole('navigation')).toBeVisible();
  });
});

test('a location without coordinates is where its sensors are', async ({ service, openAs }) => {
  const name = 'Street without coordinates';
  const { id: locationId } = await service.admin.api.locations.create.mutate({ name });
  await service.sensor({ locationId, coordinates: { latitude: 38.42, longitude: 27.14 } });
  const page = await openAs('VIEWER', '/?places=list');
  await expect(page.getByRole('region', { name: 'Locations' }).getByRole('button', { name })).toBeVisible();
});

test('says that the places could not be read, and reads them again', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const name = 'Street that is read again';
  await service.admin.api.locations.create.mutate({ name, coordinates: { latitude: 40, longitude: 30 } });
  await service.sensor();
  const page = await openAs('VIEWER', '/account');
  let asked = 0;
  const refuse = (route: Route) => {
    asked += 1;
    return route.fulfill({ status: 502, body: 'Bad gateway' });
  };
  await page.route(/locations\.getAll/, refuse);
  await page.route(/reports\.getAnalytics/, refuse);
  await page.goto(`${service.url}/?places=list`);
  const places = page.getByRole('region', { name: 'Locations' });
  await expect(places.getByRole('alert')).toContainText('The service cannot be reached at the moment');
  expect(asked).toBeGreaterThan(2);
  await page.unroute(/locations\.getAll/);
  await places.getByRole('button', { name: 'Try again' }).click();
  await expect(places.getByRole('button', { name })).toBeVisible();
  await expect(places.getByRole('alert')).toHaveCount(0);
  await expect(page.getByRole('link', { name: /^Events since .*cannot be reached/ })).toBeVisible();
});

const unread = 'says that the incidents and the numbers could not be read';
test(unread, { tag: ['@long'] }, async ({ service, openAs }) => {
  await service.sensor();
  const page = await openAs('OPERATOR', '/account');
  await page.route(/(incidents|watchlist|sensors)\.get(All|Alerts)(,|\?)/, (route) =>
    route.fulfill({ status: 502, body: 'Bad gateway' }),
  );
  await page.goto(`${service.url}/?places=list`);
  const places = page.getByRole('region', { name: 'Locations' });
  // The calls for the figures and then those for the places are tried four times each.
  await expect(places.getByRole('alert')).toContainText('The service cannot be reached at the moment', {
    timeout: 30_000,
  });
  await expect(page.getByRole('link', { name: /^Sensors online.*cannot be reached/ })).toBeVisible();
  await expect(page.getByRole('link', { name: /^Alerts waiting.*cannot be reached/ })).toBeVisible();
});

test('shows the most severe of many open incidents on the map', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  test.setTimeout(180_000);
  const { api } = service.admin;
  const name = 'Bridge of an old incident';
  const { id: locationId } = await api.locations.create.mutate({
    name,
    coordinates: { latitude: 40.1, longitude: 30.1 },
  });
  await service.sensor();
  await api.incidents.create.mutate({ title: 'Damaged', type: 'OTHER', severity: 'CRITICAL', locationId });
  for (let n = 0; n < 100; n++)
    await api.incidents.create.mutate({ title: `Minor ${n}`, type: 'OTHER', severity: 'LOW' });
  const page = await openAs('OPERATOR', '/?places=list');
  await expect(page.getByRole('button', { name })).toContainText('1 incident');
});
