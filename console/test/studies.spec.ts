import { readFile } from 'node:fs/promises';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

/** A Tuesday of the last year that is over, so that its counts are old and no day of it is still going on. */
const YEAR = new Date().getUTCFullYear() - 1;
const firstTuesday = new Date(Date.UTC(YEAR, 2, 1 + ((9 - new Date(Date.UTC(YEAR, 2, 1)).getUTCDay()) % 7)));
const DAY = firstTuesday.toISOString().slice(0, 10);

let streets = 0;

/**
 * Creates a street that a detector counted on a day: 10 vehicles northbound and 5 southbound in each quarter hour, more
 * from 07:30 to 08:30 and from 16:00 to 17:00, nothing known from 11:00 to 12:00, and two thirds from 13:00 to 14:00.
 */
async function countedStreet(service: TestService) {
  const { api } = service.admin;
  const name = `Ringstraße ${++streets}`;
  const { id } = await api.locations.create.mutate({ name });
  const { apiKey } = await service.sensor({ type: 'RADAR', locationId: id, name: `Loop ${name}` });
  const periods = Array.from({ length: 96 }, (_, at) => at)
    .filter((at) => at < 44 || at >= 48)
    .flatMap((at) =>
      (['NB', 'SB'] as const).map((direction) => {
        const busy = { 30: 20, 31: 30, 32: 40, 33: 10, 64: 20, 65: 20, 66: 20, 67: 20 }[at] ?? 0;
        return {
          start: new Date(firstTuesday.getTime() + at * 900_000).toISOString(),
          seconds: 900,
          direction,
          volume: (direction === 'NB' ? 10 : 5) + busy,
          ...(at >= 52 && at < 56 && { samples: 60, expectedSamples: 90 }),
        };
      }),
    );
  const { results } = await api.counts.ingest.mutate({ apiKey, periods });
  expect(results.filter((result) => 'error' in result)).toEqual([]);
  return { name, id, address: `/traffic/counts?locationId=${id}&startDate=${DAY}&endDate=${DAY}` };
}

test.describe('counts', () => {
  test('show every quarter hour, what is not known of it, and the peak hours', async ({
    service,
    openAs,
  }) => {
    const { name, address } = await countedStreet(service);
    const page = await openAs('ANALYST', '/traffic');
    await page.getByLabel('Location, point or sensor').fill(name);
    await page.getByRole('option', { name, exact: true }).click();
    await page.getByRole('link', { name: 'Counts', exact: true }).click();
    await expect(page).toHaveURL(/\/traffic\/counts\?locationId=/);
    await page.goto(service.url + address);
    const table = page.getByRole('region', { name: /^Counts: / }).getByRole('table');
    const row = (time: string) => table.getByRole('row', { name: new RegExp(`^${time}`) });
    await expect(table.getByRole('row')).toHaveCount(98);
    // NB, SB, both, the hour that begins here, the peak it belongs to.
    await expect(row('07:30')).toHaveText(/^07:30–07:45302555260AMValid$/);
    await expect(row('11:15')).toHaveText(/^11:15–11:30––––Gap$/);
    await expect(row('13:00')).toContainText('Partial 66% known');
    await expect(row('16:45')).toContainText('PM');
    const peak = page.locator('dt', { hasText: 'Peak hour, AM' }).locator('xpath=..');
    await expect(peak).toContainText('260');
    await expect(peak).toContainText('07:30–08:30');
    await expect(peak).toContainText('PHF 0.68');
    await expect(peak).toContainText('n = 16 valid quarter hours');
    await peak.getByRole('button', { name: 'How this was computed: Peak hour, AM' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('traffic.getPeakHours');
    await expect(dialog).toContainText('0.6842');
    await expect(dialog).toContainText('not given: the day is not complete');
  });

  test('go to a spreadsheet with gaps as empty cells, and keep the choice in the address', async ({
    service,
    openAs,
  }) => {
    const { address } = await countedStreet(service);
    const page = await openAs('VIEWER', `${address}&columns=total&am=08:00-10:00`);
    const card = page.getByRole('region', { name: /^Counts: / }).first();
    await expect(page.getByText('08:00–09:00')).toBeVisible();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await card.getByRole('button', { name: 'Copy for a spreadsheet' }).click();
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\r\n');
    expect(copied).toHaveLength(97);
    expect(copied[45]).toBe(`${DAY}\t11:00\t11:15\t\t\tGAP\t0`);
    expect(copied[33]).toBe(`${DAY}\t08:00\t08:15\t95\tAM\tVALID\t1`);
    const download = page.waitForEvent('download');
    await card.getByRole('button', { name: /^Download as CSV/ }).click();
    const file = await readFile(await (await download).path(), 'utf8');
    expect(file).toContain(`${DAY}T11:00:00+00:00,${DAY}T11:15:00+00:00,,,GAP,0`);
    expect(file).toContain('# Time zone: UTC');
    await page.getByLabel('Interval').selectOption('1 hour');
    await expect(page).toHaveURL(/interval=60min.*/);
    await expect(card.getByRole('row', { name: /^08:00–09:00/ })).toContainText('Valid');
  });

  test('are accessible, and fit on a phone', { tag: '@long' }, async ({ service, openAs }) => {
    const { address } = await countedStreet(service);
    for (const look of [
      { theme: 'dark', language: 'en' },
      { theme: 'light', language: 'ar', width: 390 },
    ] as const) {
      const page = await openAs('VIEWER', address, look);
      await expect(page.getByRole('table')).toBeVisible();
      await expectAccessible(page);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBe(0);
      await page
        .getByRole('button', { name: /How this|كيف حُسب/ })
        .first()
        .click();
      await expect(page.getByRole('dialog')).toBeVisible();
      await expectAccessible(page);
      await page.context().close();
    }
  });
});
