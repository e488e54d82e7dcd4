import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

const YEAR = new Date().getUTCFullYear() - 1;
const HOLE = `${YEAR}-02-10`;
const HOUR_MS = 3_600_000;
const HOURS = (Date.UTC(YEAR + 1, 0) - Date.UTC(YEAR, 0)) / HOUR_MS;

let counted: Promise<string> | null = null;

/** A street with 10 vehicles an hour for a year, and 100 from 08:00 to 09:00; nothing is known of 10 February. */
async function countedStreet(service: TestService): Promise<string> {
  const { api } = service.admin;
  const { id } = await api.locations.create.mutate({ name: 'Jahresstraße' });
  const { apiKey } = await service.sensor({ type: 'RADAR', locationId: id });
  const periods = Array.from({ length: HOURS }, (_, at) => new Date(Date.UTC(YEAR, 0) + at * HOUR_MS))
    .filter((start) => !start.toISOString().startsWith(HOLE))
    .map((start) => ({
      start: start.toISOString(),
      seconds: 3_600,
      volume: start.getUTCHours() === 8 ? 100 : 10,
    }));
  for (let at = 0; at < periods.length; at += 1_000)
    await api.counts.ingest.mutate({ apiKey, periods: periods.slice(at, at + 1_000) });
  return `/traffic/annual?locationId=${id}&startDate=${YEAR}-02-08&endDate=${YEAR}-02-14`;
}

test.describe('the daily and annual averages', () => {
  // A year of counts is sent.
  test.slow();

  test('leave out days with a reason, and give AADT, factors and design hours by the method that is asked', async ({
    service,
    openAs,
  }) => {
    counted ??= countedStreet(service);
    const page = await openAs('VIEWER', await counted);
    const tile = (name: string) => page.locator('dt', { hasText: name }).locator('xpath=..').first();
    await expect(tile('Average daily traffic (ADT)')).toContainText('330veh/day');
    await expect(tile('Average daily traffic (ADT)')).toContainText('n = 6 complete days');
    await expect(tile('Average daily traffic (ADT)')).toContainText('1 day is in no mean');
    await expect(page.getByRole('row', { name: HOLE })).toContainText('No data.');
    const aadt = tile('Annual average daily traffic (AADT)');
    await expect(aadt).toContainText('330veh/day');
    await expect(aadt).toContainText('n = 12 of 12 months · FHWA');
    await expect(tile('Design hour factor (K30)')).toContainText('0.3030');
    await expect(tile('Design hour volume (DHV)')).toContainText('100veh/h');
    await aadt.getByRole('button').click();
    await expect(page.getByRole('dialog')).toContainText('330.000');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('row', { name: /^January 1\.000/ })).toBeVisible();
    await page
      .getByRole('button', { name: /^Show the figures as a table: Hours with most vehicles/ })
      .click();
    await expect(page.getByRole('row', { name: /^30 .* 08:00/ })).toHaveText(/10030\.3%K30$/);
    await page.getByLabel('Method of the year').selectOption('Mean of complete days');
    await expect(page).toHaveURL(/method=SIMPLE/);
    await expect(aadt).toContainText(`n = ${HOURS / 24 - 1} complete days`);
    await page.getByLabel('Year', { exact: true }).selectOption(String(YEAR - 1));
    await expect(page.getByText(`Nothing is known of ${YEAR - 1}`)).toBeVisible();
  });

  test('are accessible, and fit on a phone', { tag: '@long' }, async ({ service, openAs }) => {
    counted ??= countedStreet(service);
    for (const look of [
      { theme: 'dark', language: 'en' },
      { theme: 'light', language: 'ar', width: 390 },
    ] as const) {
      const page = await openAs('VIEWER', await counted, look);
      await expect(page.getByRole('table').nth(1)).toBeVisible();
      await expectAccessible(page);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBe(0);
      await page.context().close();
    }
  });
});
