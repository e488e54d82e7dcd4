import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

const LOOKS = [
  { theme: 'dark', language: 'en' },
  { theme: 'light', language: 'ar' },
] as const;

/** The year of the last May that is over. Events in the future are refused. */
const now = new Date();
const YEAR = now.getUTCMonth() > 4 ? now.getUTCFullYear() : now.getUTCFullYear() - 1;

let streets = 0;

/** Creates a street with a radar, where 40 vehicles drove 31 to 70 km/h on 12 May. */
async function streetInMay(service: TestService, vehicleType = 'CAR') {
  const { api } = service.admin;
  const name = `Lindenstraße ${++streets}`;
  const location = await api.locations.create.mutate({ name, speedLimit: 50 });
  const { apiKey } = await service.sensor({ type: 'RADAR', locationId: location.id, name: `Radar ${name}` });
  await api.events.ingestBatch.mutate({
    apiKey,
    events: Array.from({ length: 40 }, (_, at) => ({
      eventType: 'SPEED_DETECTION',
      vehicleSpeed: 31 + at,
      vehicleType,
      timestamp: new Date(Date.UTC(YEAR, 4, 12, 8, at)).toISOString(),
    })),
  });
  const input = {
    locationId: location.id,
    startDate: `${YEAR}-05-01`,
    endDate: `${YEAR}-05-31`,
    interval: 'day',
  } as const;
  await expect.poll(async () => (await api.traffic.getFlow.query(input)).volume).toBe(40);
  const address = `/traffic?locationId=${location.id}&startDate=${input.startDate}&endDate=${input.endDate}`;
  return { name, address, flow: await api.traffic.getFlow.query(input) };
}

async function saved(page: Page, button: string): Promise<Buffer> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  return readFile(await (await download).path());
}

test.describe('traffic', () => {
  test('shows the V85 of a street in May, starting from the start page', async ({ service, openAs }) => {
    const { name, flow } = await streetInMay(service);
    const page = await openAs('ANALYST', '/');
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.getByLabel('Location, point or sensor').fill(name);
    await page.getByRole('option', { name, exact: true }).click();
    await page.getByLabel('Period', { exact: true }).selectOption({ label: `May ${YEAR}` });
    const v85 = page.locator('dt', { hasText: /^V85$/ }).locator('xpath=..');
    await expect(v85).toContainText(`${Math.round((flow.v85 ?? 0) * 10) / 10}`);
    await expect(v85).toContainText('Over the limit');
    await expect(v85).toContainText('n = 40 speeds');
    await expect(page).toHaveURL(new RegExp(`startDate=${YEAR}-05-01&endDate=${YEAR}-05-31`));
    await page.reload();
    await expect(v85).toContainText('km/h');
  });

  test('has a table for each chart, and downloads of both', async ({ service, openAs }) => {
    const { address } = await streetInMay(service, '=HYPERLINK("x")');
    const page = await openAs('VIEWER', address);
    const volume = page.getByRole('region', { name: 'Volume', exact: true });
    await expect(volume.getByRole('img')).toBeVisible();
    await expect(volume).toContainText('n = 40 vehicles');
    await expect(volume.locator('canvas')).toBeVisible();
    const image = await saved(page, 'Download as PNG: Volume');
    expect(image.subarray(1, 4).toString()).toBe('PNG');
    await volume.getByRole('button', { name: 'Show the figures as a table: Volume' }).click();
    const rows = volume.getByRole('row');
    await expect(rows).toHaveCount(32);
    await expect(rows.filter({ hasText: `${YEAR}-05-12` })).toContainText('40');
    // Nothing was measured on this day, which is not the same as 0 vehicles.
    await expect(rows.filter({ hasText: `${YEAR}-05-11` })).toContainText('–');
    const file = (await saved(page, 'Download as CSV: Volume')).toString();
    expect(file).toContain(`\r\n${YEAR}-05-12T00:00:00+00:00,40,`);
    expect(file).toContain(`\r\n${YEAR}-05-11T00:00:00+00:00,,`);
    expect(file).toContain('# Time zone: UTC');
    const types = (await saved(page, 'Download as CSV: Vehicles by type')).toString();
    expect(types).toContain(`"'=HYPERLINK(""x"")",40,1`);
  });

  test('saves an image of a chart directly after its table was closed', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const { address } = await streetInMay(service);
    const page = await openAs('VIEWER', address);
    const volume = page.getByRole('region', { name: 'Volume', exact: true });
    await expect(volume.locator('canvas')).toBeVisible();
    await volume.getByRole('button', { name: /^Show the figures as a table/ }).click();
    await expect(volume.getByRole('table')).toBeVisible();
    await volume.evaluate(async (card) => {
      const buttons = [...card.querySelectorAll('button')];
      buttons.find((button) => button.title.startsWith('Show the chart'))?.click();
      await Promise.resolve();
      buttons.find((button) => button.textContent === 'PNG')?.click();
    });
    await expect(volume.locator('canvas')).toBeVisible();
    await expect(page.getByText(/Cannot read properties/)).toHaveCount(0);
  });

  test('lets the keyboard step through the figures of a chart, and announces them', async ({
    service,
    openAs,
  }) => {
    const { address } = await streetInMay(service);
    const page = await openAs('VIEWER', address);
    const volume = page.getByRole('region', { name: 'Volume', exact: true });
    await expect(volume.locator('canvas')).toBeVisible();
    const said = volume.getByRole('status').filter({ hasText: /\d/ });
    const dayOf = (n: number) => new RegExp(`-05-${String(n).padStart(2, '0')} `);
    await volume.getByRole('img').focus();
    await page.keyboard.press('End');
    await expect(said).toHaveText(dayOf(31));
    await page.keyboard.press('Home');
    await expect(said).toHaveText(dayOf(1));
    for (let day = 1; day < 12; day++) await page.keyboard.press('ArrowRight');
    await expect(said).toHaveText(/40/);
    await page.keyboard.press('ArrowLeft');
    await expect(said).toHaveText(dayOf(11));
    await expect(said).not.toHaveText(/40/);
    await page.keyboard.press('Escape');
    await expect(said).toHaveCount(0);
  });

  test('compares two periods, and names the time zone of its hours', async ({ service, openAs }) => {
    const { address } = await streetInMay(service);
    await service.admin.api.system.timezone.updateTimezoneSettings.mutate({ timezone: 'Europe/Berlin' });
    const page = await openAs('ANALYST', `${address}&compare=before&interval=nonsense`);
    await expect(page.getByText('were not understood')).toContainText('interval');
    const comparison = page.getByRole('region', { name: 'Comparison' });
    await expect(comparison.getByRole('row', { name: /^Vehicles/ })).toContainText('40');
    await expect(comparison).toContainText(`${YEAR}-04-01 – ${YEAR}-04-30`);
    await page.setViewportSize({ width: 390, height: 900 });
    // A day in a column header stays on one line.
    expect((await comparison.locator('thead').boundingBox())?.height).toBeLessThan(80);
    await page.setViewportSize({ width: 1440, height: 900 });
    const volume = page.getByRole('region', { name: 'Volume', exact: true });
    await expect(volume).toContainText('Europe/Berlin UTC+02:00');
    await page.keyboard.press('u');
    await expect(volume).toContainText('Europe/Berlin UTC+02:00');
    await expect(volume).toContainText('those of the service (Europe/Berlin), not UTC');
    await page.keyboard.press('u');
    await service.admin.api.system.timezone.updateTimezoneSettings.mutate({ timezone: 'UTC' });
  });

  test('writes the days of a comparison in their own order after Arabic words, and whole', {
    tag: '@long',
  }, async ({ service, openAs }) => {
    const { address } = await streetInMay(service);
    const page = await openAs('ANALYST', `${address}&compare=before`, { language: 'ar' });
    const days = `${YEAR}-05-01 – ${YEAR}-05-31`;
    const title = page.getByRole('heading', { level: 2 }).filter({ hasText: days });
    await expect(title).toBeVisible();
    const lastDay = title.getByText(`${YEAR}-05-31`, { exact: true });
    const [year = 0, month = 0] = await lastDay.evaluate(({ firstChild }) => {
      const text = firstChild as Text;
      return [0, 5].map((at) => {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 2);
        return range.getBoundingClientRect().left;
      });
    });
    expect(year).toBeLessThan(month);
    const heads = page.getByRole('columnheader').filter({ hasText: days });
    for (const head of await heads.all())
      expect(await head.locator('bdi').evaluate((of) => of.scrollHeight <= of.clientHeight)).toBe(true);
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).first().click();
    expect(await readFile(await (await file).path(), 'utf8')).not.toMatch(/[\u2066-\u2069]/);
  });

  test('shows the figures of one place as outdated until those of another one are there', {
    tag: '@long',
  }, async ({ service, openAs }) => {
    const first = await streetInMay(service);
    const second = await streetInMay(service);
    const page = await openAs('ANALYST', first.address);
    const save = page.getByRole('button', { name: 'Download as CSV: Volume' });
    await expect(save).toBeVisible();
    let answer = () => {};
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/trpc/*traffic.getFlow*', async (route) => {
      await mayAnswer;
      await route.continue();
    });
    await page.getByLabel('Location, point or sensor').fill(second.name);
    await page.getByRole('option', { name: second.name, exact: true }).click();
    // The figures of the first location are inert, so that nobody downloads them as those of the second.
    const figures = page.locator('.stale[inert]', { hasText: 'V85' });
    await expect(figures).toBeVisible();
    answer();
    await expect(figures).toHaveCount(0);
    await expect(save).toBeVisible();
  });

  test('says of one level of traffic the same on every page', async ({ service, openAs }) => {
    const { api } = service.admin;
    const name = 'Street without speeds';
    const { id: locationId } = await api.locations.create.mutate({ name });
    // It is not ONLINE, so that a vehicle without a speed does not mean that traffic is free.
    const { apiKey } = await service.sensor({ locationId, requiresHeartbeats: true });
    await api.events.ingest.mutate({
      apiKey,
      eventType: 'VEHICLE_DETECTION',
      timestamp: new Date(Date.now() - 60_000).toISOString(),
    });
    const volume = async () =>
      (await api.traffic.getLive.query()).locations.find((each) => each.locationId === locationId)?.volume;
    await expect.poll(volume).toBe(1);
    const page = await openAs('VIEWER', '/traffic');
    const row = page.getByRole('row').filter({ hasText: name }).filter({ hasText: 'No speeds' });
    await expect(row).toBeVisible();
    await page.goto(`${service.url}/locations?search=${name}`);
    await expect(row).toBeVisible();
    await page.goto(`${service.url}/locations/${locationId}`);
    await expect(page.getByRole('region', { name: 'Traffic now' })).toContainText('No speeds');
  });

  test('is accessible for all places and for one', { tag: ['@long'] }, async ({ service, openAs }) => {
    const { address, name } = await streetInMay(service);
    // Locations with known traffic come before the others, of which other tests create more than the list shows.
    const levelNow = async () => {
      const { locations } = await service.admin.api.traffic.getLive.query();
      return locations.find(({ locationName }) => locationName === name)?.level;
    };
    await expect.poll(levelNow).toBe('FREE');
    for (const look of LOOKS) {
      const page = await openAs('ADMIN', '/traffic', look);
      await expect(page.getByRole('link', { name }).first()).toBeVisible();
      await expectAccessible(page);
      await page.goto(service.url + address);
      await expect(page.locator('canvas').first()).toBeVisible();
      await expectAccessible(page);
      await page.context().close();
    }
  });

  test('can be used on a phone', async ({ service, openAs }) => {
    const { address } = await streetInMay(service);
    const page = await openAs('FIELD', address, { width: 390 });
    await expect(page.locator('canvas').first()).toBeVisible();
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
  });
});
