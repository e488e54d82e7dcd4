import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

// A pixel: what matters here is that the image arrives.
const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const SOON = { timeout: 30_000 };

let count = 0;
/** A list with one plate, and as many reads of it as are given. */
async function listWithReads(service: TestService, reads: readonly string[], plate: string) {
  const { api } = service.admin;
  const name = `Stolen ${++count}`;
  // Each read is a hit of its own.
  const list = await api.hotlists.create.mutate({
    name,
    priority: 'CRITICAL',
    tolerance: 'CONFUSABLE',
    repeatMinutes: 0,
  });
  await api.hotlists.addEntry.mutate({ hotlistId: list.id, plate, reason: 'Stolen' });
  const { apiKey } = await service.sensor();
  for (const licensePlateNumber of reads)
    await api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber,
      images: [IMAGE],
    });
  const hits = async () => (await api.hits.getAll.query({ hotlistId: list.id, sortOrder: 'asc' })).hits;
  await expect.poll(async () => (await hits()).length, SOON).toBe(reads.length);
  return { ...list, hits };
}

/** Waits until the pane shows a hit with its image, before which nobody can decide. */
async function untilShown(page: Page, plate: string): Promise<Locator> {
  const pane = page.getByRole('region', { name: 'Details of the hit' });
  await expect(pane.getByText(plate, { exact: false }).first()).toBeVisible(SOON);
  await expect(pane.getByRole('button').first()).toBeEnabled(SOON);
  return pane;
}

test('a file is imported in four steps, and its version can be taken back', async ({ service, openAs }) => {
  test.slow();
  const { api } = service.admin;
  const { id } = await api.hotlists.create.mutate({ name: `Imported ${++count}` });
  await api.hotlists.addEntry.mutate({ hotlistId: id, plate: 'MÜ 1*', reason: 'By hand' });
  const page = await openAs('OPERATOR', `/hotlists/${id}`);
  await page.getByRole('button', { name: 'Import a file' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('File (CSV or text)').setInputFiles({
    name: 'list.txt',
    mimeType: 'text/plain',
    // windows-1252, fixed widths, CR LF.
    buffer: Buffer.from('M\xdc 22     AT31.01.2027\r\nMU 33     DE\r\n', 'latin1'),
  });
  await expect(dialog.getByRole('alert')).toContainText('choose another encoding', SOON);
  await dialog.getByLabel('Encoding').selectOption('WINDOWS-1252');
  await dialog.getByLabel('Layout').selectOption('FIXED');
  await dialog.getByLabel('Header lines').fill('0');
  const column = async (name: string, start: number, length: number) => {
    const group = dialog.getByRole('group', { name, exact: true });
    await group.getByLabel('From character').fill(String(start));
    await group.getByLabel('Length').fill(String(length));
  };
  await column('Column of the plate', 1, 10);
  await column('Column of the region', 11, 2);
  await column('Column of the last day', 13, 10);
  await dialog.getByLabel('Format of dates').fill('dd.MM.yyyy');
  await dialog.getByLabel('Time zone of dates').fill('Europe/Vienna');
  await dialog.getByLabel('Time zone of dates').blur();
  const preview = dialog.getByRole('region', { name: 'The first lines as they are read' });
  await expect(preview).toContainText('MÜ 22', SOON);
  await expect(preview).toContainText('2027');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Compare with the list' }).click();
  await expect(dialog.getByRole('status')).toHaveText('Compared', SOON);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await expect(dialog.getByRole('status')).toHaveText('Applied', SOON);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByRole('row').filter({ hasText: 'list.txt' })).toContainText('Applied');
  await page.getByRole('link', { name: 'Entries' }).click();
  const entries = page.getByRole('row');
  await expect(entries.filter({ hasText: 'MÜ 22' })).toBeVisible(SOON);
  // A file cannot list patterns, and leaves them.
  await expect(entries.filter({ hasText: 'MÜ 1*' })).toBeVisible();
  await page.getByRole('link', { name: 'Imports' }).click();
  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore version 1' }).click();
  await page.getByRole('link', { name: 'Entries' }).click();
  await expect(entries.filter({ hasText: 'MÜ 22' })).toHaveCount(0, SOON);
  await expect(entries.filter({ hasText: 'MÜ 1*' })).toBeVisible();
});

test('a file that a guard refuses says why, and is applied with a reason only', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await api.hotlists.create.mutate({ name: `Guarded ${++count}` });
  for (const plate of ['GU 1', 'GU 2', 'GU 3'])
    await api.hotlists.addEntry.mutate({ hotlistId: id, plate, reason: 'By hand' });
  const page = await openAs('OPERATOR', `/hotlists/${id}?part=imports&imported=new`);
  const dialog = page.getByRole('dialog');
  await dialog
    .getByLabel('File (CSV or text)')
    .setInputFiles({ name: 'short.csv', mimeType: 'text/csv', buffer: Buffer.from('plate\nGU 9\n') });
  await dialog.getByRole('button', { name: 'Compare with the list' }).click(SOON);
  await expect(dialog.getByRole('status')).toHaveText('Refused', SOON);
  await expect(dialog).toContainText('fewer than half of the 3 that the list has');
  await expect(dialog.getByRole('button', { name: 'Apply' })).toBeDisabled();
  await dialog.getByLabel('Reason to apply it all the same').fill('The others were found');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await expect(dialog.getByRole('status')).toHaveText('Applied', SOON);
});

test('the settings of a list are changed, and a search of past reads is ordered', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await listWithReads(service, [], 'SE 1111');
  const page = await openAs('ADMIN', `/hotlists/${id}`);
  await page.getByRole('button', { name: 'Settings' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Verification').selectOption('WHEN_UNSURE');
  await dialog.getByLabel('Confidence of a sure read, in %').fill('90');
  await dialog.getByLabel('Files come by themselves').selectOption('URL');
  await dialog.getByLabel('Address').fill('http://example.org/list.csv');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText('Use an address with https')).toBeVisible();
  await dialog.getByLabel('Files come by themselves').selectOption('FOLDER');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The settings are saved')).toBeVisible();
  expect(await api.hotlists.getById.query({ id })).toMatchObject({
    verification: 'WHEN_UNSURE',
    minConfidence: 90,
    source: { type: 'FOLDER', mode: 'COMPLETE' },
  });
  await page.getByRole('link', { name: 'Look-backs' }).click();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await expect(page.getByRole('row').filter({ hasText: '1 / 1' })).toContainText('Finished', SOON);
  await expectAccessible(page);
});

test('hits are confirmed and rejected by key, one at a time, and have an outcome', async ({
  service,
  openAs,
}) => {
  test.slow();
  // The second one is rejected: of 8 and B.
  const { hits } = await listWithReads(service, ['HK 1180', 'HK 11B0'], 'HK 1180');
  const [first, second] = await hits();
  const page = await openAs('OPERATOR', `/hits?hit=${first?.id}`);
  await untilShown(page, 'HK 1180');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Reject: Misread');
  await page.keyboard.press('Escape');
  await expectAccessible(page);
  await page.keyboard.press('c');
  await expect.poll(async () => (await hits()).map(({ state }) => state), SOON).toEqual(['CONFIRMED', 'NEW']);
  await expect(page.getByText('Confirmed: HK 1180')).toBeVisible();
  await expect(page.getByRole('status').getByRole('button', { name: 'Open a case' })).toBeVisible();

  await page.goto(`${service.url}/hits?hit=${second?.id}`);
  const pane = await untilShown(page, 'HK 1180');
  await expect(pane.locator('mark')).toHaveText(['B', '8']);
  await page.keyboard.press('r');
  await page.keyboard.press('1');
  await expect
    .poll(async () => (await hits()).map(({ state, code }) => [state, code]), SOON)
    .toEqual([
      ['CONFIRMED', null],
      ['REJECTED', 'MISREAD'],
    ]);

  // What is shown is in the address, so that no hit that arrives takes its place.
  await page.goto(`${service.url}/hits?state=CONFIRMED`);
  await expect(page).toHaveURL(/[?&]hit=/, SOON);

  await page.goto(`${service.url}/hits?state=CONFIRMED&hit=${first?.id}`);
  await untilShown(page, 'HK 1180');
  await page.keyboard.press('o');
  await page.keyboard.press('1');
  await expect.poll(async () => (await hits())[0]?.outcome, SOON).toBe('STOPPED');
});

test('the queue follows the keys to hits that are not in view', async ({ service, openAs }) => {
  const reads = Array.from({ length: 16 }, (_, n) => `QU 1${String(n).padStart(3, '0')}`);
  const { api } = service.admin;
  const { id: hotlistId } = await api.hotlists.create.mutate({ name: 'Long queue', priority: 'LOW' });
  for (const plate of reads) await api.hotlists.addEntry.mutate({ hotlistId, plate, reason: 'Stolen' });
  const { apiKey } = await service.sensor();
  for (const licensePlateNumber of reads)
    await api.events.ingest.mutate({ apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber });
  const waiting = async () => (await api.hits.getAll.query({ hotlistId })).total;
  await expect.poll(waiting, SOON).toBe(reads.length);
  const page = await openAs('OPERATOR', '/hits?state=ALL');
  const queued = page.getByRole('list', { name: 'Queue of hits' }).getByRole('button');
  await expect(queued.first()).toHaveAttribute('aria-current', 'true');
  for (let n = 0; n < 15; n++) {
    await page.keyboard.press('j');
    await expect(queued.nth(n + 1)).toHaveAttribute('aria-current', 'true');
  }
  await expect(queued.nth(15)).toBeInViewport({ ratio: 1 });
});

test('somebody who may not verify sees released hits only, and no commands', async ({ service, openAs }) => {
  const { hits } = await listWithReads(service, ['FI 1111', 'FI 1111'], 'FI 1111');
  const [released, waiting] = await hits();
  await service.admin.api.hits.confirm.mutate({ id: released?.id ?? '' });
  const page = await openAs('FIELD', `/hits?hit=${released?.id}`);
  const pane = page.getByRole('region', { name: 'Details of the hit' });
  await expect(pane).toContainText('FI 1111', SOON);
  await expect(pane.getByRole('button')).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Hotlists' })).toHaveCount(0);
  await page.goto(`${service.url}/hits?hit=${waiting?.id}`);
  await expect(page.getByRole('list', { name: 'Queue of hits' })).toBeVisible();
  await expect(pane).toHaveCount(0);
  const hotlists = await openAs('FIELD', '/hotlists');
  await expect(hotlists.getByText('Manage Hotlists').first()).toBeVisible();
  const viewer = await openAs('VIEWER', '/hits');
  await expect(viewer.getByText('Manage Incidents').first()).toBeVisible();
});
