import { readFile } from 'node:fs/promises';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

const YEAR = new Date().getUTCFullYear() - 1;
const DAY = `${YEAR}-03-04`;

let streets = 0;

/** A street with one direction whose detector counted 12 vehicles in each quarter hour of a day. */
async function countedStreet({ admin: { api }, sensor }: TestService) {
  const name = `Studied street ${++streets}`;
  const { id } = await api.locations.create.mutate({ name });
  const { apiKey } = await sensor({ type: 'RADAR', locationId: id, name: `Radar of ${name}` });
  const periods = Array.from({ length: 96 }, (_, at) => ({
    start: new Date(Date.parse(`${DAY}T00:00:00Z`) + at * 900_000).toISOString(),
    ...{ seconds: 900, direction: 'NB' as const, volume: 12 },
  }));
  const { results } = await api.counts.ingest.mutate({ apiKey, periods });
  expect(results.filter((result) => 'error' in result)).toEqual([]);
  return { name, id, apiKey, periods };
}

test('a study is made from counts, frozen, signed by another person, and verified', async ({
  service,
  openAs,
}) => {
  const { name, id, apiKey, periods } = await countedStreet(service);
  const page = await openAs('ANALYST', `/traffic/counts?locationId=${id}&startDate=${DAY}&endDate=${DAY}`);
  await page.getByRole('button', { name: 'Make a study' }).click();
  const form = page.getByRole('dialog');
  await expect(form.getByLabel('Title')).toHaveValue(`Count, ${name}`);
  await form.getByLabel('Notes').fill('Dry, no works');
  await form.getByRole('button', { name: 'Create draft' }).click();
  await expect(page).toHaveURL(/\/traffic\/studies\/[\w-]+/);
  await expect(page.getByText('Figures of the present data')).toBeVisible();
  await expect(page.getByText('1,152 (1 day)').first()).toBeVisible();
  await page.getByRole('button', { name: 'Freeze' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click();
  await expect(page.getByText('You are the author: another person has to review')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Sign' })).toHaveCount(0);
  const address = new URL(page.url()).pathname;

  const reviewer = await openAs('OPERATOR', '/traffic/studies?status=FROZEN');
  await reviewer.getByRole('link', { name: `Count, ${name}` }).click();
  await expect(reviewer).toHaveURL(new RegExp(address));
  await reviewer.getByRole('button', { name: 'Verify' }).click();
  await expect(reviewer.getByText('The data match')).toBeVisible();
  await reviewer.getByRole('button', { name: 'Sign' }).click();
  const sign = reviewer.getByRole('dialog');
  await expect(sign).toContainText('Operator Tester');
  await sign.getByRole('button', { name: 'Sign' }).click();
  await expect(reviewer.getByText('Signed', { exact: true })).toBeVisible();
  await expect(reviewer.getByRole('button', { name: 'Delete' })).toHaveCount(0);

  // A correction that arrives later: the study keeps its figures, and says what has changed.
  const [first] = periods;
  if (first) await service.admin.api.counts.ingest.mutate({ apiKey, periods: [{ ...first, volume: 20 }] });
  await reviewer.getByRole('button', { name: 'Verify' }).click();
  await expect(reviewer.getByText('The data do not match')).toBeVisible();
  await expect(reviewer.getByText('The frozen figures stay as they are')).toBeVisible();
  const differences = reviewer.getByRole('region', { name: 'Differences' });
  await expect(differences.getByRole('row').filter({ hasText: '12' }).first()).toContainText('20');
  await expect(reviewer.getByText('1,152 (1 day)').first()).toBeVisible();

  const download = reviewer.waitForEvent('download');
  await reviewer.getByRole('button', { name: 'CSV', exact: true }).last().click();
  const file = await readFile(await (await download).path(), 'utf8');
  expect(file).toContain(`${DAY}T00:15`);
});

test('a study is created from the list, rejected with a reason, and deleted', async ({ service, openAs }) => {
  const { name } = await countedStreet(service);
  const page = await openAs('ANALYST', '/traffic/studies');
  await page.getByRole('button', { name: 'New study' }).first().click();
  await expect(page).toHaveURL(/create=true/);
  const form = page.getByRole('dialog');
  await form.getByLabel('Kind').selectOption('Peak hours');
  await form.getByLabel('Title').fill(`Peaks of ${name}`);
  await form.getByRole('button', { name: 'Create draft' }).click();
  // Without a place, the form says so and keeps what was entered.
  await expect(form.getByText('Choose a location, measuring point or sensor')).toBeVisible();
  await form.getByLabel('Place').fill(name);
  await page.getByRole('option', { name, exact: true }).click();
  await form.getByRole('button', { name: 'Create draft' }).click();
  await expect(page.getByRole('heading', { level: 1, name: `Peaks of ${name}` })).toBeVisible();
  await page.getByRole('button', { name: 'Freeze' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click();
  await page.getByRole('button', { name: 'Withdraw' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('Wrong day');
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
  await expect(page.getByText('Reason: Wrong day')).toBeVisible();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL(/\/traffic\/studies(?:\?|$)/);
  await expect(page.getByRole('link', { name: `Peaks of ${name}` })).toHaveCount(0);
});

test('studies are accessible, and fit on a phone', { tag: '@long' }, async ({ service, openAs }) => {
  const { id } = await countedStreet(service);
  const { id: study } = await service.admin.api.studies.create.mutate({
    ...{ kind: 'VOLUME', title: 'Accessible', locationId: id, startDate: DAY, endDate: DAY },
  });
  for (const look of [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'ar', width: 390 },
  ] as const)
    for (const path of ['/traffic/studies', `/traffic/studies/${study}`]) {
      const page = await openAs('ANALYST', path, look);
      await expect(page.getByRole('table').first()).toBeVisible();
      await expectAccessible(page);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBe(0);
      await page.context().close();
    }
});
