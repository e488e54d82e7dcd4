import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, expectAccessible, test } from './fixtures.ts';

test.describe('channels', () => {
  test('are added, tested and deleted, and the log shows the message', async ({ openAs }) => {
    const server = createServer((request, response) => {
      request.resume();
      response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const page = await openAs('ADMIN', '/administration/channels');
    await page.getByRole('button', { name: 'Add channel' }).first().click();
    const form = page.getByRole('dialog', { name: 'Add channel' });
    await form.getByLabel('Kind').selectOption('HTTP');
    await form.getByLabel('Name').fill('Control room');
    await form.getByLabel('Address').fill('http://10.0.0.1/');
    await form.getByRole('button', { name: 'Add channel' }).click();
    await expect(form.getByText('is not on the public internet')).toBeVisible();
    await form.getByLabel('Address').fill(`http://127.0.0.1:${port}/`);
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Add channel' }).click();
    const list = page.getByRole('list', { name: 'Channels' });
    await expect(list).toContainText('Control room');

    await list.getByRole('button', { name: 'Send a test' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await expect(dialog).toContainText('The test was taken.');
    await dialog.getByText('Close', { exact: true }).click();
    await page.getByRole('link', { name: 'Messages' }).first().click();
    await page.getByRole('cell', { name: 'Test of Control room' }).click();
    await expect(page.getByRole('complementary', { name: 'Message' })).toContainText('This is a test');
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Channels' }).click();
    await page.getByRole('button', { name: 'Delete Control room' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete channel' }).click();
    await expect(page.getByText('No channels yet')).toBeVisible();
    server.close();
  });
});

test.describe('rotas', () => {
  test('say before they are saved when nobody is on duty', async ({ openAs }) => {
    const page = await openAs('ADMIN', '/administration/rotas');
    await page.getByRole('button', { name: 'Add rota' }).first().click();
    const form = page.getByRole('dialog', { name: 'Add rota' });
    await form.getByLabel('Name').fill('Engineers');
    await form.getByLabel('Add a member').selectOption({ index: 1 });
    await form.getByLabel('Only from').fill('08:00');
    await form.getByLabel('until').fill('17:00');
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form.getByRole('alert')).toContainText('Nobody is on duty:');
    await form.getByRole('button', { name: 'Save nevertheless' }).click();
    await expect(page.getByRole('heading', { name: 'Engineers' })).toBeVisible();
    await expect(page.getByRole('list', { name: 'Shifts' })).toContainText('Nobody');
    await page.getByRole('button', { name: 'Delete Engineers' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete rota' }).click();
    await expect(page.getByText('No rotas yet')).toBeVisible();
  });
});

test.describe('contacts', () => {
  test('are refused while no channel reaches them, and listed', async ({ openAs }) => {
    const page = await openAs('FIELD', '/account');
    await page.getByRole('button', { name: 'Add contact' }).click();
    const form = page.getByRole('dialog', { name: 'Add contact' });
    await form.getByLabel('Address').fill('me@example.org');
    await form.getByRole('button', { name: 'Add contact' }).click();
    await expect(form.getByText('No channel reaches contacts of the kind EMAIL')).toBeVisible();
    await expectAccessible(page);
  });
});
