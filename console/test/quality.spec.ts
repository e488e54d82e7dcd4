import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

const YEAR = new Date().getUTCFullYear() - 1;
const DAY = `${YEAR}-03-04`;
const RANGE = `startDate=${YEAR}-03-03&endDate=${YEAR}-03-05`;

let roads = 0;

/** By how much the page is wider than the window. */
const overflowOf = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** A road whose detector counted on three days, without a vehicle from 06:00 to 12:00 of the second one. */
async function doubtfulRoad({ admin: { api }, sensor }: TestService) {
  const name = `Doubtful road ${++roads}`;
  const { id } = await api.locations.create.mutate({ name });
  const { apiKey } = await sensor({ type: 'RADAR', locationId: id, name: `Loop of ${name}` });
  const periods = Array.from({ length: 3 * 24 }, (_, at) => ({
    start: new Date(Date.parse(`${YEAR}-03-03T00:00:00Z`) + at * 3_600_000).toISOString(),
    ...{ seconds: 3_600, direction: 'NB' as const, volume: at >= 30 && at < 36 ? 0 : 20 + (at % 5) },
  }));
  const { results } = await api.counts.ingest.mutate({ apiKey, periods });
  expect(results.filter((result) => 'error' in result)).toEqual([]);
  return { name, id };
}

test('what a rule rejected is found by day, and accepted with a reason', async ({ service, openAs }) => {
  const { name, id } = await doubtfulRoad(service);
  const page = await openAs('OPERATOR', `/traffic/quality?locationId=${id}&${RANGE}`);
  const map = page.getByRole('region', { name: `Quality by day` });
  const row = map.getByRole('row').filter({ hasText: name }).first();
  await row.getByRole('button', { name: new RegExp(`${DAY}, Partial.*R1`) }).click();
  await expect(page).toHaveURL(new RegExp(`day=${DAY}`));
  const flags = page.getByRole('region', { name: 'What rules found' }).last();
  const flag = flags.getByRole('row').filter({ hasText: 'No vehicle for hours' });
  await expect(flag).toContainText('6 h (threshold 4 h)');
  await expect(flag).toContainText(`${DAY} 06:00–12:00`);

  await flag.getByRole('button', { name: 'Decide on R1' }).click();
  const form = page.getByRole('dialog');
  await expect(form).toContainText(`Loop of ${name}`);
  await form.getByLabel('Decision').selectOption('ACCEPT');
  // The reason is required.
  await form.getByRole('button', { name: 'Record decision' }).click();
  await expect(form.getByLabel('Reason')).toBeFocused();
  await form.getByLabel('Reason').fill('The road was closed for a marathon');
  await form.getByRole('button', { name: 'Record decision' }).click();
  await expect(page.getByText('The data are accepted')).toBeVisible();
  await expect(flag).toContainText('Accepted');
  await expect(row.getByRole('button', { name: new RegExp(`${DAY}, Valid`) })).toBeVisible();
  const decisions = page.getByRole('region', { name: 'Decisions about this time' }).last();
  const decision = decisions.getByRole('row').filter({ hasText: 'marathon' });
  await expect(decision).toContainText('Operator Tester');

  // Another decision about the same time wins; the former one stays in the list.
  await decision.getByRole('button', { name: 'Decide anew' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('It was not closed');
  await page.getByRole('dialog').getByRole('button', { name: 'Record decision' }).click();
  await expect(flag).toContainText('Rejected');
  await expect(decisions.getByRole('row')).toHaveCount(3);
});

test('a valid day is rejected by a person, and who may not decide only reads', async ({
  service,
  openAs,
}) => {
  const { id } = await doubtfulRoad(service);
  const address = `/traffic/quality?locationId=${id}&${RANGE}`;
  const page = await openAs('OPERATOR', `${address}&day=${YEAR}-03-05`);
  await page.getByRole('button', { name: 'Decide on this day' }).click();
  const form = page.getByRole('dialog');
  await expect(form.getByLabel('Until')).toHaveValue(`${YEAR}-03-05 24:00`);
  await form.getByLabel('Reason').fill('The loop was damaged');
  await form.getByRole('button', { name: 'Record decision' }).click();
  await expect(
    page.getByRole('button', { name: new RegExp(`${YEAR}-03-05, Rejected`) }).first(),
  ).toBeVisible();

  const reader = await openAs('ANALYST', address);
  await expect(reader.getByText('The loop was damaged')).toBeVisible();
  await expect(reader.getByRole('button', { name: /Decide/ })).toHaveCount(0);
});

test('the page without a place lists the sensors that do not work and the days of locations', async ({
  service,
  openAs,
}) => {
  const { name, id } = await doubtfulRoad(service);
  const page = await openAs('ANALYST', '/traffic/quality');
  // While the days are judged, which may take seconds, the table has its width and shows that it waits.
  await page.route(/traffic\.getDataQuality/, () => undefined);
  await page.goto(`${service.url}/traffic/quality?${RANGE}`);
  const waiting = page.getByRole('region', { name: 'Quality by day' }).last().getByRole('cell').first();
  await expect(waiting).toBeVisible();
  expect((await waiting.boundingBox())?.width).toBeGreaterThan(50);
  await page.unroute(/traffic\.getDataQuality/);
  await page.goto(`${service.url}/traffic/quality?${RANGE}`);
  const table = page.getByRole('region', { name: 'Not working now' }).last();
  await expect(table.getByRole('row').filter({ hasText: `Loop of ${name}` })).toContainText('No data');
  const map = page.getByRole('region', { name: 'Quality by day' });
  // It holds the texts for screen readers of its days: beyond its edge, they made the whole page scroll sideways.
  await expect(map.last()).toHaveCSS('position', 'relative');
  await map.getByRole('link', { name, exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`locationId=${id}`));
  await expect(page.getByRole('heading', { name: 'What rules found' })).toBeVisible();
});

test('the quality of data is accessible, and fits on a phone', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const { id } = await doubtfulRoad(service);
  for (const look of [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'ar', width: 390 },
  ] as const)
    for (const path of ['/traffic/quality', `/traffic/quality?locationId=${id}&${RANGE}`]) {
      const page = await openAs('OPERATOR', path, look);
      await expect(page.getByRole('table').first()).toBeVisible();
      await expectAccessible(page);
      expect(await overflowOf(page)).toBe(0);
      await page.context().close();
    }
});
