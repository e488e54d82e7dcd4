import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { PASSWORD, type TestService } from './service.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const newIncident = (service: TestService) =>
  service.admin.api.incidents.create.mutate({ title: 'Kept notes', type: 'OTHER', severity: 'LOW' });

/** What the browser has stored of unsent input: texts, and the number of images. */
const stored = (page: Page) =>
  page.evaluate(async () => {
    const texts = Object.keys(localStorage).filter((key) => /^gantry\.kept\.[^.]+\.[^.]+\./.test(key));
    const names = (await indexedDB.databases()).map(({ name }) => name);
    if (!names.includes('gantry')) return { texts: texts.map((key) => localStorage.getItem(key)), files: 0 };
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('gantry');
      request.onsuccess = () => resolve(request.result);
    });
    const files = await new Promise<number>((resolve) => {
      const request = database.transaction('kept-files').objectStore('kept-files').count();
      request.onsuccess = () => resolve(request.result);
    });
    database.close();
    return { texts: texts.map((key) => localStorage.getItem(key)), files };
  });

test.describe('what is entered survives a reload', () => {
  test('as a note with its photograph, until it is sent', async ({ service, openAs }) => {
    const { id } = await newIncident(service);
    await service.admin.api.incidents.acknowledge.mutate({ id });
    const page = await openAs('OPERATOR', `/incidents/${id}`, { width: 390, isTouched: true });
    await page.getByLabel('Note', { exact: true }).fill('Two lanes closed');
    await page.locator('input[type=file]').first().setInputFiles({
      name: 'scene.png',
      mimeType: 'image/png',
      buffer: PNG,
    });
    const images = page.locator('form img');
    await expect(images).toHaveCount(1);
    await expect.poll(async () => (await stored(page)).files).toBe(1);
    await page.reload();
    await expect(page.getByLabel('Note', { exact: true })).toHaveValue('Two lanes closed');
    await expect(images).toHaveCount(1);
    await page.getByRole('button', { name: 'Add note' }).click();
    await expect(page.getByRole('listitem').filter({ hasText: 'Two lanes closed' })).toBeVisible();
    await expect.poll(() => stored(page)).toEqual({ texts: [], files: 0 });
    await page.reload();
    await expect(page.getByLabel('Note', { exact: true })).toHaveValue('');
  });

  test('as a form in a dialog, until it is cancelled, and without its passwords', async ({ openAs }) => {
    const page = await openAs('ADMIN', '/administration/users');
    const open = () => page.getByRole('button', { name: 'Add user' }).first().click();
    await open();
    await page.getByLabel('E-mail').fill('half@example.org');
    await page.getByLabel('First password').fill('Secret-Horse-7-Battery');
    await page.getByLabel('First name').fill('Half');
    await page.getByLabel('Role').selectOption('OPERATOR');
    await page.reload();
    await open();
    await expect(page.getByLabel('E-mail')).toHaveValue('half@example.org');
    await expect(page.getByLabel('First name')).toHaveValue('Half');
    await expect(page.getByLabel('Role')).toHaveValue('OPERATOR');
    await expect(page.getByLabel('First password')).toHaveValue('');
    expect(JSON.stringify(await page.evaluate(() => ({ ...localStorage })))).not.toContain('Secret-Horse');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(async () => (await stored(page)).texts).toEqual([]);
    await open();
    await expect(page.getByLabel('E-mail')).toHaveValue('');
  });

  test('with choices, dates and objects that were looked up', async ({ service, openAs }) => {
    const { name } = await service.sensor({ name: 'Kept sensor' });
    const page = await openAs('ADMIN', '/incidents');
    await page.getByRole('button', { name: 'New incident' }).click();
    await page.getByLabel('Title').fill('Lorry on its side');
    await page.getByLabel('Severity').selectOption('CRITICAL');
    await page.getByLabel('Sensor').fill(name);
    await page.getByRole('option', { name }).click();
    // The address contains the form, so the reload opens it again.
    await page.reload();
    await expect(page.getByLabel('Title')).toHaveValue('Lorry on its side');
    await expect(page.getByLabel('Severity')).toHaveValue('CRITICAL');
    await expect(page.getByText(name, { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Open incident' }).click();
    await expect(page.getByRole('heading', { name: 'Lorry on its side' })).toBeVisible();
    await expect.poll(async () => (await stored(page)).texts).toEqual([]);
  });

  test('in each of two tabs on its own, and what a closed tab left is taken over', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const { id } = await newIncident(service);
    const first = await openAs('OPERATOR', `/incidents/${id}`);
    const second = await first.context().newPage();
    await second.goto(first.url());
    await first.getByLabel('Note', { exact: true }).fill('From the first tab');
    await second.getByLabel('Note', { exact: true }).fill('From the second tab');
    await first.reload();
    await second.reload();
    await expect(first.getByLabel('Note', { exact: true })).toHaveValue('From the first tab');
    await expect(second.getByLabel('Note', { exact: true })).toHaveValue('From the second tab');
    await second.getByLabel('Note', { exact: true }).fill('');
    await first.close();
    await second.reload();
    await expect(second.getByLabel('Note', { exact: true })).toHaveValue('From the first tab');
  });

  test('and is neither seen by another user nor left behind by signing out', async ({ service, openAs }) => {
    const { id } = await newIncident(service);
    const page = await openAs('OPERATOR', `/incidents/${id}`);
    await page.getByLabel('Note', { exact: true }).fill('For my eyes only');
    // Another user signs in while the input of the first one is stored.
    const other = await service.admin.api.auth.login.mutate({
      email: await service.userOf('ADMIN'),
      password: PASSWORD,
    });
    const own = await page.evaluate(() => localStorage.getItem('gantry.session'));
    await page.evaluate((session) => localStorage.setItem('gantry.session', session), JSON.stringify(other));
    await page.reload();
    await expect(page.getByLabel('Note', { exact: true })).toHaveValue('');
    await page.evaluate((session) => localStorage.setItem('gantry.session', session ?? ''), own);
    await page.reload();
    await expect(page.getByLabel('Note', { exact: true })).toHaveValue('For my eyes only');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect(page.getByLabel('Password', { exact: true })).toBeVisible();
    expect(await stored(page)).toEqual({ texts: [], files: 0 });
  });
});

test('a form in a dialog begins in its first field', async ({ openAs }) => {
  const page = await openAs('ADMIN', '/sensors/faults');
  const dialog = page.getByRole('dialog');
  await expect(page.getByRole('heading', { level: 1, name: 'Faults' })).toBeVisible();
  await page.keyboard.press('n');
  await expect(dialog.getByLabel('Sensor')).toBeFocused();
});
