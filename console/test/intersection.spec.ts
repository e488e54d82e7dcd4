import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

/** A Tuesday of the last year. */
const YEAR = new Date().getUTCFullYear() - 1;
const tuesday = new Date(Date.UTC(YEAR, 2, 1 + ((9 - new Date(Date.UTC(YEAR, 2, 1)).getUTCDay()) % 7)));
const DAY = tuesday.toISOString().slice(0, 10);

const codes: Readonly<Record<string, string>> = {
  ...{ CARS: 'CAR', TRUCK: 'TRUCK', BUS: 'BUS', PEDS: 'PEDESTRIAN', BIKE: 'BICYCLE' },
};

interface Period {
  readonly start: string;
  readonly seconds: number;
  readonly movement: { readonly from: 'N'; readonly turn?: 'L' };
  readonly byClass: { readonly scheme: 'BASIC'; readonly counts: Record<string, number> };
}

/** The study of a city (server/test/data), on the day of the tests: eight hours in quarter hours. */
function periodsOfStudy(): Period[] {
  const file = new URL('../../server/test/data/turning-movements.csv', import.meta.url);
  const [head = [], ...rows] = readFileSync(file, 'utf8')
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  return rows.flatMap((row) => {
    const found = new Map<string, Period>();
    for (const [at, column] of head.entries()) {
      const [from = '', name = '', turn] = column.split('_');
      const code = codes[name];
      if (code === undefined) continue;
      const key = `${from}${turn}`;
      const movement = { from: from as 'N', ...(turn && { turn: turn as 'L' }) };
      const start = `${DAY}T${row[0]?.slice(-5)}:00Z`;
      const period: Period = found.get(key) ?? {
        ...{ start, seconds: 900, movement },
        byClass: { scheme: 'BASIC', counts: {} },
      };
      period.byClass.counts[code] = Number(row[at]);
      found.set(key, period);
    }
    return [...found.values()];
  });
}

let intersections = 0;

async function countedIntersection({ admin: { api }, sensor }: TestService) {
  const name = `Danforth Avenue ${++intersections}`;
  const { id } = await api.locations.create.mutate({ name });
  const { apiKey } = await sensor({ locationId: id, name: `Camera ${name}` });
  const { results } = await api.counts.ingest.mutate({ apiKey, periods: periodsOfStudy() });
  expect(results.filter((result) => 'error' in result)).toEqual([]);
  return { name, address: `/traffic/intersection?locationId=${id}&startDate=${DAY}&endDate=${DAY}` };
}

test('an intersection is drawn with its peak hours, as its city printed them', async ({
  service,
  openAs,
}) => {
  const { name, address } = await countedIntersection(service);
  const page = await openAs('VIEWER', address);
  const tile = page.locator('dt', { hasText: 'Peak hour of the intersection' }).locator('xpath=..');
  // The busiest hour of the day comes first.
  await expect(tile).toContainText('1,555');
  await page.getByRole('button', { name: /^AM peak .08:00–09:00/ }).click();
  await expect(page).toHaveURL(/part=AM/);
  await expect(tile).toContainText('1,399');
  await expect(tile).toContainText('PHF 0.87');
  const drawing = page.getByRole('img', { name: /^Drawing of the intersection: turning movements, AM peak/ });
  for (const text of ['794', '370', '972', '394', '809'])
    await expect(drawing.getByText(text, { exact: true })).toBeVisible();
  const table = page.getByRole('region', { name: 'Movements' });
  await expect(table.getByRole('row', { name: /^E \(WB\) Through/ })).toHaveText(
    'E (WB)Through79456.8%0.923.5%766208',
  );
  await expect(table.getByRole('row', { name: /^All/ })).toContainText('1,399');
  const legs = page.getByRole('region', { name: /^Legs: .AM peak/ }).first();
  await expect(legs.getByRole('row', { name: /^W/ })).toHaveText('W3948091,2039817');
  await tile.getByRole('button', { name: /^How this was computed/ }).click();
  await expect(page.getByRole('dialog')).toContainText('0.8657');
  await page.keyboard.press('Escape');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: /^Download as CSV: Turning movements/ }).click();
  const file = await readFile(await (await download).path(), 'utf8');
  expect(file).toContain('E (WB),Through,794,');
  expect(file).toContain(name);
});

test('an intersection shows its intervals, and says what it does not know', async ({ service, openAs }) => {
  const { address } = await countedIntersection(service);
  const page = await openAs('VIEWER', `${address}&interval=60min&am=20:00-22:00&part=AM`);
  await expect(page.getByText('This window has no peak hour')).toBeVisible();
  await page.getByRole('button', { name: 'Show the day' }).click();
  await expect(page.getByText(/n = \d+ of 24 intervals · 33.3% known/).first()).toBeVisible();
  const bins = page.getByRole('region', { name: /^Intervals: / }).first();
  await expect(bins.getByRole('row', { name: /^08:00–09:00/ })).toContainText('1,399');
  await expect(bins.getByRole('row', { name: /^03:00–04:00/ })).toContainText('Gap');
  const { id } = await service.admin.api.locations.create.mutate({ name: 'Street without movements' });
  await page.goto(`${service.url}/traffic/intersection?locationId=${id}&startDate=${DAY}&endDate=${DAY}`);
  await expect(page.getByText('Nothing is known of this time')).toBeVisible();
});

test('an intersection is accessible, and fits on a phone', { tag: '@long' }, async ({ service, openAs }) => {
  const { address } = await countedIntersection(service);
  for (const look of [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'ar', width: 390 },
  ] as const) {
    const page = await openAs('VIEWER', address, look);
    await expect(page.getByRole('img').first()).toBeVisible();
    await expectAccessible(page);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    await page.context().close();
  }
});
