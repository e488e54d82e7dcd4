import { DAY_MS } from '@gantry/contract/durations';
import type { Locator, Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';

// The examples in docs/console.md, with the numbers of clicks that are stated there.

/** Uses the mouse and counts the clicks. */
function mouseOf() {
  let clicks = 0;
  return {
    clicks: () => clicks,
    async click(target: Locator) {
      clicks += 1;
      await target.click();
    },
    async type(field: Locator, text: string) {
      clicks += 1;
      await field.click();
      await field.fill(text);
    },
    /** Two clicks: one opens the list, and one selects the option. */
    async choose(list: Locator, label: string) {
      clicks += 2;
      await list.selectOption({ label });
    },
  };
}

const TUESDAY = 2;
const noonOf = (daysAgo: number) =>
  `${new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10)}T12:00:00Z`;

const pageLink = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });

test('the speeding vehicles of last Tuesday at one place: 8 clicks', async ({ service, openAs }) => {
  const { api } = service.admin;
  const { id: locationId, name } = await api.locations.create.mutate({ name: 'Gate of the example' });
  const { apiKey } = await service.sensor({ type: 'RADAR', locationId });
  const tuesday = noonOf((new Date().getUTCDay() + 7 - TUESDAY) % 7 || 7);
  const send = (timestamp: string, violationType: 'SPEEDING' | 'RED_LIGHT') =>
    api.events.ingest.mutate({
      apiKey,
      eventType: 'TRAFFIC_VIOLATION',
      violationType,
      vehicleSpeed: 91,
      timestamp,
    });
  await send(tuesday, 'SPEEDING');
  await send(tuesday, 'SPEEDING');
  await send(tuesday, 'RED_LIGHT');
  await send(noonOf(8 + TUESDAY), 'SPEEDING');

  const page = await openAs('VIEWER', '/?places=list');
  const mouse = mouseOf();
  await mouse.click(pageLink(page, 'Events'));
  await mouse.click(page.getByRole('button', { name: 'Filter', exact: true }));
  const form = page.getByRole('dialog', { name: 'Filter' });
  await mouse.type(form.getByLabel('Violation'), 'Speeding');
  await mouse.click(page.getByRole('option', { name: 'Speeding', exact: true }));
  await mouse.type(form.getByLabel('Location'), 'of the example');
  await mouse.click(page.getByRole('option', { name }));
  await mouse.type(form.getByLabel('From'), tuesday.slice(0, 10));
  await mouse.type(form.getByLabel('Until'), tuesday.slice(0, 10));
  await page.keyboard.press('Escape');
  await expect(page.getByText('2 events')).toBeVisible();
  expect(mouse.clicks()).toBe(8);
});

test('the vehicles more than 30 km/h over the limit, last Tuesday from 14:00 to 15:00, at one place: 6 clicks', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const name = 'Bend of the example';
  const { id: locationId } = await api.locations.create.mutate({ name, speedLimit: 50 });
  const { apiKey } = await service.sensor({ type: 'RADAR', locationId });
  const { apiKey: elsewhere } = await service.sensor({ type: 'RADAR' });
  const day = noonOf((new Date().getUTCDay() + 7 - TUESDAY) % 7 || 7).slice(0, 10);
  const send = (key: string, time: string, vehicleSpeed: number) =>
    api.events.ingest.mutate({
      apiKey: key,
      eventType: 'SPEED_DETECTION',
      vehicleSpeed,
      timestamp: `${day}T${time}:00Z`,
    });
  await send(apiKey, '14:00', 80);
  await send(apiKey, '14:59', 120);
  await send(apiKey, '14:30', 79);
  await send(apiKey, '15:01', 120);
  await send(elsewhere, '14:30', 120);

  const page = await openAs('VIEWER', '/?places=list');
  const mouse = mouseOf();
  await mouse.click(pageLink(page, 'Events'));
  await mouse.click(page.getByRole('button', { name: 'Filter', exact: true }));
  const form = page.getByRole('dialog', { name: 'Filter' });
  await mouse.type(form.getByLabel('Over the limit, at least (km/h)'), '30');
  await mouse.type(form.getByLabel('Location'), 'bend of');
  await mouse.click(page.getByRole('option', { name }));
  await mouse.type(form.getByLabel('From'), `${day} 14:00`);
  // The button of the calendar is between the two fields.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await expect(form.getByLabel('Until')).toBeFocused();
  await page.keyboard.type(`${day} 15:00`);
  await page.keyboard.press('Escape');
  await expect(page.getByText('2 events')).toBeVisible();
  expect(mouse.clicks()).toBe(6);

  // The link and a saved view keep all of it.
  const other = await openAs('OPERATOR', page.url().slice(service.url.length));
  await expect(other.getByText('2 events')).toBeVisible();
  await other.getByRole('button', { name: 'Views' }).click();
  await other.getByRole('menuitem', { name: 'Save this view…' }).click();
  await other.getByLabel('Name').fill('Fast on Tuesday');
  await other.getByRole('button', { name: 'Save view' }).click();
  await other.goto(`${service.url}/events?minSpeed=2000`);
  await expect(other.getByText('0 events')).toBeVisible();
  await other.getByRole('button', { name: 'Views' }).click();
  await other.getByRole('menuitem', { name: 'Fast on Tuesday' }).click();
  await expect(other.getByText('2 events')).toBeVisible();
  await expect(other).toHaveURL(/minExcess=30/);
});

test('who acknowledged the last incident: 2 clicks', async ({ service, openAs }) => {
  const { api } = service.admin;
  const { id, title } = await api.incidents.create.mutate({
    title: 'Of the example',
    type: 'OTHER',
    severity: 'LOW',
  });
  await api.incidents.acknowledge.mutate({ id });
  const page = await openAs('OPERATOR', '/?places=list');
  const mouse = mouseOf();
  await mouse.click(pageLink(page, 'Incidents'));
  await mouse.click(
    page.getByRole('region', { name: 'Acknowledged', exact: true }).getByRole('link').first(),
  );
  await expect(page.getByRole('heading', { level: 1 })).toContainText(title);
  await expect(page.getByRole('listitem').filter({ hasText: 'Acknowledged' })).toContainText(
    'First Administrator',
  );
  expect(mouse.clicks()).toBe(2);
});

test('the V85 of a street in May: 4 clicks', async ({ service, openAs }) => {
  const { api } = service.admin;
  const now = new Date();
  const year = now.getUTCMonth() > 4 ? now.getUTCFullYear() : now.getUTCFullYear() - 1;
  const { id: locationId, name } = await api.locations.create.mutate({ name: 'Street of the example' });
  const { apiKey } = await service.sensor({ type: 'RADAR', locationId });
  const drive = (timestamp: string) => ({
    eventType: 'SPEED_DETECTION' as const,
    vehicleSpeed: 50,
    timestamp,
  });
  const inMay = Array.from({ length: 40 }, () => drive(`${year}-05-12T08:00:00Z`));
  await api.events.ingestBatch.mutate({ apiKey, events: [...inMay, drive(noonOf(1))] });
  const range = { locationId, startDate: `${year}-05-01`, endDate: `${year}-05-31` };
  await expect.poll(async () => (await api.traffic.getFlow.query(range)).v85).not.toBeNull();

  const page = await openAs('VIEWER', '/?places=list');
  const mouse = mouseOf();
  await mouse.click(pageLink(page, 'Traffic'));
  // The overview, which is shown until the traffic page is loaded, also has links with this name.
  await expect(page.getByRole('heading', { name: 'Traffic', exact: true })).toBeVisible();
  await mouse.click(page.getByRole('link', { name }).first());
  await mouse.choose(page.getByLabel('Period', { exact: true }), `May ${year}`);
  await expect(page.locator('dt', { hasText: /^V85$/ }).locator('xpath=..')).toContainText(/\d/);
  expect(mouse.clicks()).toBe(4);
});
