import type { Route } from '@playwright/test';
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

  test('puts a critical alert before older ones of low priority at once, and says the priority in words', async ({
    browser,
  }) => {
    const { api } = service.admin;
    const raise = async (pattern: string, priority: 'LOW' | 'CRITICAL') => {
      await api.watchlist.create.mutate({ pattern, reason: 'Amber alert', priority });
      const { apiKey } = await service.sensor({ name: `Gate ${pattern}` });
      await api.events.ingest.mutate({
        apiKey,
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber: pattern,
      });
    };
    for (let n = 1; n <= 9; n++) await raise(`34 LOW ${n}`, 'LOW');
    const page = await openAlone(browser, service, '/?places=list');
    const attention = page.getByRole('region', { name: 'Needs attention first' });
    await expect(attention).toContainText('34 LOW 1');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await raise('34 AMBER 1', 'CRITICAL');
    const first = attention.getByRole('listitem').first();
    await expect(first).toContainText('34 AMBER 1');
    await expect(first).toContainText('Critical');
    await first.click();
    await expect(page.getByRole('complementary')).toContainText('Amber alert');
    await page.goto(`${service.url}/?kiosk=1`);
    await expect(first).toContainText('Gate 34 AMBER 1');
    await expect(first).toContainText('Critical');
    await expect(attention).not.toContainText('Amber alert');
    await page.context().close();
  });
});

test.describe('the overview', () => {
  test('shows first what needs attention, and the places with their problems', async ({
    service,
    openAs,
  }) => {
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
    const attention = page.getByRole('region', { name: 'Needs attention first' });
    await expect(attention.getByRole('listitem').filter({ hasText: 'Fire in the tunnel' })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Newest incidents' })).toContainText('Fire in the tunnel');
    await page.getByRole('button', { name: /Tunnel of a story/ }).click();
    const card = page.getByRole('region', { name: 'Tunnel of a story' });
    await expect(card).toContainText('Silent in the tunnel');
    await expect(card).toContainText('Fire in the tunnel');
    await expectAccessible(page);
  });

  test('lists the most urgent first, and leads to the rest in the same order', async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    for (let n = 1; n <= 7; n++)
      await api.incidents.create.mutate({ title: `Burst pipe ${n}`, type: 'OTHER', severity: 'CRITICAL' });
    await api.watchlist.create.mutate({ pattern: '06 ATT 1', reason: 'Stolen', priority: 'HIGH' });
    for (let n = 1; n <= 9; n++) {
      const { apiKey } = await service.sensor();
      await api.events.ingest.mutate({
        apiKey,
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber: '06 ATT 1',
      });
    }
    await expect.poll(async () => (await api.watchlist.getAlerts.query()).total).toBeGreaterThan(8);
    const page = await openAs('OPERATOR', '/?places=list');
    const attention = page.getByRole('region', { name: 'Needs attention first' });
    // Others may acknowledge alerts meanwhile, so the page and the service are compared repeatedly.
    const open = ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS'] as const;
    await expect(async () => {
      const [incidents, alerts] = await Promise.all([
        api.incidents.getAll.query({ status: [...open], severity: ['CRITICAL', 'HIGH'], sortBy: 'priority' }),
        api.watchlist.getAlerts.query({ acknowledged: false, sortBy: 'priority' }),
      ]);
      const hrefs = await attention
        .getByRole('listitem')
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      const listed = incidents.incidents.filter(({ id }) => hrefs.some((href) => href.includes(id)));
      // The most urgent ones, in the order of the service.
      expect(listed).toEqual(incidents.incidents.slice(0, listed.length));
      expect(hrefs).toHaveLength(8);
      const more = incidents.total - listed.length;
      const ofAlerts = alerts.alerts.filter(({ id }) => hrefs.some((href) => href.includes(id))).length;
      if (more > 0) await expect(attention).toContainText(`${more} more incident`, { timeout: 1_000 });
      await expect(attention).toContainText(`${alerts.total - ofAlerts} more alert`, { timeout: 1_000 });
    }).toPass({ timeout: 20_000 });
    const tile = page.getByRole('link', { name: /^Alerts waiting/ });
    await expect(tile).toHaveAttribute('href', '/watchlist?acknowledged=false&sortBy=priority');
    await attention.getByRole('link', { name: /more alert/ }).click();
    await expect(page).toHaveURL(/\/watchlist\?acknowledged=false&sortBy=priority/);
    await expect(page.getByRole('columnheader', { name: 'Priority' })).toHaveAttribute(
      'aria-sort',
      'descending',
    );
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
    for (const size of [
      { width: 1440, height: 900 },
      { width: 1920, height: 1080 },
    ]) {
      await page.setViewportSize(size);
      for (const name of ['Needs attention first', 'Newest events', 'Newest incidents']) {
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
