import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

const YEAR = new Date().getUTCFullYear() - 1;
const [BEFORE, AFTER] = [`${YEAR}-03-04`, `${YEAR}-03-11`];

let streets = 0;

/** Creates a street with a limit of 50 km/h on which 100 vehicles drove 40 to 59 km/h, and a week later 38 to 57. */
async function measuredStreet(service: TestService) {
  const { api } = service.admin;
  const { id } = await api.locations.create.mutate({ name: `Gartenstraße ${++streets}`, speedLimit: 50 });
  const { apiKey } = await service.sensor({ type: 'RADAR', locationId: id });
  const passages = [BEFORE, AFTER].flatMap((day, week) =>
    Array.from({ length: 100 }, (_, at) => ({
      eventType: 'SPEED_DETECTION',
      vehicleSpeed: 40 - 2 * week + (at % 20),
      vehicleType: at < 20 ? 'truck' : 'car',
      timestamp: new Date(Date.parse(`${day}T08:00:00Z`) + at * 60_000).toISOString(),
    })),
  );
  await api.events.ingestBatch.mutate({ apiKey, events: passages });
  const study = { locationId: id, startDate: BEFORE, endDate: AFTER };
  await expect.poll(async () => (await api.traffic.getSpeedStudy.query(study)).n).toBe(200);
  return `/traffic/speeds?locationId=${id}`;
}

const tileOf = (page: Page) => (name: string) =>
  page.locator('dt', { hasText: name }).locator('xpath=..').first();

/** Reads a text without the characters that isolate numbers in texts of the other direction. */
const textOf = (part: Locator) => async () =>
  ((await part.textContent()) ?? '').replaceAll(/[\u2066-\u2069]/g, '');

test.describe('the speed study', () => {
  test('says V85 with its interval, the pace, who was over the limit, and whether the sample is large enough', async ({
    service,
    openAs,
  }) => {
    const address = await measuredStreet(service);
    const page = await openAs(
      'ANALYST',
      `${address}&startDate=${BEFORE}&endDate=${BEFORE}&method=NEAREST_RANK`,
    );
    const tile = tileOf(page);
    // The 85th of 100 vehicles, and the 78th and the 92nd.
    await expect.poll(textOf(tile('V85'))).toContain('56.0km/h');
    await expect.poll(textOf(tile('V85'))).toContain('95 % confidence: 55.0–58.0 km/h');
    await expect.poll(textOf(tile('V85'))).toContain('n = 100 speeds · nearest rank');
    await expect.poll(textOf(tile('Pace'))).toContain('40–50km/h');
    await expect.poll(textOf(tile('Over the limit'))).toContain('45.0%');
    await expect.poll(textOf(tile('Over the limit'))).toContain('+5: 20.0%');
    await expect.poll(textOf(tile('Sample'))).toContain('Large enough: V85 to ±2 km/h needs');
    await tile('V85').getByRole('button').click();
    await expect(page.getByRole('dialog')).toContainText('traffic.getSpeedStudy');
    await page.keyboard.press('Escape');
    // The chart has the same figures as a table.
    await page.getByRole('button', { name: 'Show the figures as a table: Distribution of speeds' }).click();
    await expect(page.getByRole('row', { name: /^56 / })).toHaveText(/^5655%85%$/);
    await page.getByLabel('Units').selectOption('mph');
    await expect.poll(textOf(tile('V85'))).toContain('34.8mph');
    await page.getByLabel('Vehicles', { exact: true }).selectOption('Truck');
    await expect
      .poll(textOf(tile('V85')))
      .toContain('Percentiles need at least 30 speeds, and there are 20.');
    await expect(page).toHaveURL(/units=MPH.*vehicleClass=TRUCK|vehicleClass=TRUCK.*units=MPH/);
  });

  test('reads percentiles from classes, and says which classes are none', async ({ service, openAs }) => {
    const address = await measuredStreet(service);
    const page = await openAs(
      'VIEWER',
      `${address}&startDate=${BEFORE}&endDate=${BEFORE}&method=CLASSED&classes=36-45,46-55,56-65`,
    );
    await page.getByRole('button', { name: 'Show the figures as a table: Distribution of speeds' }).click();
    await expect(page.getByRole('row', { name: /^46–55 / })).toHaveText('46–555050%80%');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as CSV: Figures of the study' }).click();
    const file = await readFile(await (await download).path(), 'utf8');
    expect(file).toMatch(/^V50,\d/m);
    expect(file).toContain('Method,interpolated within classes');
    await page.getByLabel('Classes, such as 31-35, 36-40').fill('46-55, 36-45');
    await expect(page.getByText('These are no speed classes')).toBeVisible();
  });

  test('compares two periods, with the results of the tests in words', async ({ service, openAs }) => {
    const address = await measuredStreet(service);
    const page = await openAs(
      'VIEWER',
      `${address}&startDate=${AFTER}&endDate=${AFTER}&beforeStart=${BEFORE}&beforeEnd=${BEFORE}`,
    );
    await page.getByRole('link', { name: 'Before and after' }).click();
    await expect(page).toHaveURL(/view=compare/);
    const tile = tileOf(page);
    await expect.poll(textOf(tile('Change of the mean speed'))).toContain('-2.0km/h');
    await expect.poll(textOf(tile('Change of the mean speed'))).toContain('49.5 → 47.5');
    await expect.poll(textOf(tile('Change of the mean speed'))).toMatch(/Significant at 5 % \(p = 0\.01/);
    await expect.poll(textOf(tile('Change of V85'))).toContain('Not significant at 5 %');
    await expect.poll(textOf(tile('Change of the share over the limit'))).toContain('-10.0percentage points');
    await expect(page.getByRole('row', { name: /^Mean speed/ })).toContainText('49.547.5-2.0');
  });

  test('is accessible, and fits on a phone', { tag: '@long' }, async ({ service, openAs }) => {
    const address = await measuredStreet(service);
    for (const look of [
      { theme: 'dark', language: 'en' },
      { theme: 'light', language: 'ar', width: 390 },
    ] as const)
      for (const view of ['', '&view=compare']) {
        const page = await openAs('ANALYST', `${address}&startDate=${BEFORE}&endDate=${BEFORE}${view}`, look);
        await expect(page.getByRole('table').first()).toBeVisible();
        await expectAccessible(page);
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(overflow).toBe(0);
        await page.context().close();
      }
  });
});

test.describe('headways and density', () => {
  /** A street in mph with a point of two lanes, on which vehicles of 80 km/h followed each other every 3 s for five minutes. */
  async function followedStreet(service: TestService) {
    const { api } = service.admin;
    const name = `Bahnhofstraße ${++streets}`;
    const { id } = await api.locations.create.mutate({ name, speedLimit: 50, speedUnits: 'MPH' });
    const { id: sensorId, apiKey } = await service.sensor({ type: 'RADAR', locationId: id });
    const point = await api.points.create.mutate({
      locationId: id,
      name: 'Bridge',
      direction: 'NB',
      lanes: 2,
    });
    await api.assignments.create.mutate({ sensorId, pointId: point.id });
    await api.events.ingestBatch.mutate({
      apiKey,
      events: Array.from({ length: 200 }, (_, at) => ({
        eventType: 'VEHICLE_DETECTION',
        vehicleSpeed: 80.4672,
        lane: 1 + (at % 2),
        timestamp: new Date(Date.parse(`${BEFORE}T08:00:00Z`) + 1_500 * at).toISOString(),
      })),
    });
    const range = { pointId: point.id, startDate: BEFORE, endDate: BEFORE };
    await expect.poll(async () => (await api.traffic.getHeadways.query(range)).n).toBe(198);
    return { name, point, range: `startDate=${BEFORE}&endDate=${BEFORE}` };
  }

  test('are those of a measuring point, found by its name, in the units of its place', async ({
    service,
    openAs,
  }) => {
    const { name, point, range } = await followedStreet(service);
    const page = await openAs('VIEWER', `/traffic/headways?${range}`);
    await expect(page.getByText('Choose a location, measuring point or sensor')).toBeVisible();
    await page.getByLabel('Location, point or sensor').fill(name);
    await page.getByRole('option', { name: `${name} · Bridge (measuring point)` }).click();
    await expect(page).toHaveURL(new RegExp(`pointId=${point.id}`));
    const tile = tileOf(page);
    await expect.poll(textOf(tile('Mean headway'))).toContain('3.0s');
    await expect
      .poll(textOf(tile('Mean headway')))
      .toContain('n = 198 headways · derived from successive vehicles');
    await expect.poll(textOf(tile('Under 4 s'))).toContain('100.0%');
    await expect.poll(textOf(tile('Greatest density'))).toContain('veh/mi/lane');
    await tile('Mean headway').getByRole('button').click();
    await expect(page.getByRole('dialog')).toContainText('traffic.getHeadways');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('region', { name: 'Headways by lane' }).getByRole('row')).toHaveCount(3);
    await page.getByRole('link', { name: 'Overview', exact: true }).last().click();
    const v85 = page.locator('dt', { hasText: /^V85$/ }).locator('xpath=..');
    await expect.poll(textOf(v85)).toContain('50.0mph');
  });

  test('are accessible, and fit on a phone', { tag: '@long' }, async ({ service, openAs }) => {
    const { point, range } = await followedStreet(service);
    for (const look of [
      { theme: 'dark', language: 'en' },
      { theme: 'light', language: 'ar', width: 390 },
    ] as const) {
      const page = await openAs('VIEWER', `/traffic/headways?pointId=${point.id}&${range}`, look);
      await expect(page.locator('dt')).toHaveCount(5);
      await expectAccessible(page);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBe(0);
      await page.context().close();
    }
  });
});
