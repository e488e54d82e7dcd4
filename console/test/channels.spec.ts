import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { type MailServer, startMailServer } from '../../server/test/mail-server.ts';
import { expect, expectAccessible, openAlone, test } from './fixtures.ts';
import { startService, type TestService } from './service.ts';

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

    // Other stories may leave channels.
    const item = list.getByRole('listitem').filter({ hasText: 'Control room' });
    await item.getByRole('button', { name: 'Send a test' }).click();
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
    await expect(item).toHaveCount(0);
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

test('an override puts somebody else on duty, and another one stays as it was, to the hour that clocks show twice', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  await service.userOf('OPERATOR');
  const { users } = await api.users.getAll.query();
  const idOf = (role: string) => users.find((user) => user.role === role)?.id ?? '';
  const { id } = await api.rotas.create.mutate({
    name: 'Road patrol',
    timezone: 'Europe/Berlin',
    layers: [{ members: [idOf('ADMIN')], start: '2026-01-01', handover: '08:00', days: 7, hours: null }],
    // It ends at 02:30 after clocks went back, which they show for the second time.
    overrides: [{ from: '2036-10-25T12:00:00Z', until: '2036-10-26T01:30:00Z', userId: null }],
  });
  const page = await openAs('ADMIN', '/administration/rotas');
  await page.getByRole('region', { name: 'Road patrol' }).getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: 'Edit rota' });
  await expect(form.getByLabel('Until', { exact: true })).toHaveValue('2036-10-26T02:30');
  await form.getByRole('button', { name: 'Add an override' }).click();
  await form.getByLabel('From', { exact: true }).nth(1).fill('tomorrow');
  await form.getByLabel('Until', { exact: true }).nth(1).fill('2036-03-30T08:00');
  await form.getByLabel('On duty', { exact: true }).nth(1).selectOption('Operator Tester');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.locator('.text-critical')).toContainText('2026-01-31');
  await expectAccessible(page);
  await form.getByLabel('From', { exact: true }).nth(1).fill('2036-03-29T20:00');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toContainText('has no confirmed contact');
  await form.getByRole('button', { name: 'Save nevertheless' }).click();
  await expect(form).toHaveCount(0);
  expect((await api.rotas.getById.query({ id })).overrides).toEqual([
    { from: new Date('2036-10-25T12:00:00Z'), until: new Date('2036-10-26T01:30:00Z'), userId: null },
    {
      from: new Date('2036-03-29T19:00:00Z'),
      until: new Date('2036-03-30T06:00:00Z'),
      userId: idOf('OPERATOR'),
    },
  ]);
  await api.rotas.delete.mutate({ id });
});

test.describe('a new service with a mail server', () => {
  let service: TestService;
  let mail: MailServer;
  test.beforeAll(async () => {
    test.setTimeout(120_000);
    mail = await startMailServer();
    service = await startService({ SMTP_URL: mail.url, SMTP_FROM: 'gantry@example.org' });
  });
  test.afterAll(async () => {
    await service?.stop();
    await mail?.[Symbol.asyncDispose]();
  });
  const texts = () => mail.messages.map(({ part }) => part('text/plain').toString()).join();

  test('it takes the steps of the documentation, at most five, from nothing to e-mail about an alarm', async ({
    browser,
  }) => {
    test.slow();
    const steps: ((page: Page) => Promise<void>)[] = [
      async (page) => {
        await page.goto(`${service.url}/administration/channels`);
        await page.getByRole('button', { name: 'Add channel' }).first().click();
        const form = page.getByRole('dialog', { name: 'Add channel' });
        await form.getByLabel('Name').fill('Night desk');
        await form.getByLabel('Recipients', { exact: true }).fill('night@example.org');
        await form.getByRole('button', { name: 'Add channel' }).click();
      },
      async (page) => {
        await page.getByRole('button', { name: 'Send a test' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Send a test' }).click();
        await expect(dialog).toContainText('The test was taken.');
        expect(mail.messages.map(({ to }) => to)).toEqual([['night@example.org']]);
        await dialog.getByText('Close', { exact: true }).click();
      },
      async (page) => {
        await page.goto(`${service.url}/administration/alarms`);
        await page.getByRole('button', { name: 'Add policy' }).click();
        const form = page.getByRole('dialog', { name: 'Add policy' });
        await form.getByLabel('Name').fill('Everybody');
        await expect(form.getByRole('list', { name: 'Is told' })).toContainText('Night desk');
        // So that the test need not wait for further alarms.
        await form.locator('summary').click();
        await form.getByLabel('Wait for further alarms, in seconds').fill('0');
        await form.getByRole('button', { name: 'Save' }).click();
        await expect(form).toHaveCount(0);
      },
      async (page) => {
        await page.getByRole('button', { name: 'Enable Critical incident not acknowledged' }).click();
        const form = page.getByRole('dialog', { name: 'Edit rule' });
        // So that the test need not wait for five minutes.
        await form.getByLabel('For so many minutes').fill('0');
        await form.getByRole('button', { name: 'Save' }).click();
      },
    ];
    const documented = readFileSync(new URL('../../docs/console.md', import.meta.url), 'utf8')
      .split('\n## ')
      .find((part) => part.startsWith('Alarms\n'));
    expect(documented?.match(/^\d\. /gm)).toHaveLength(steps.length);
    expect(steps.length).toBeLessThanOrEqual(5);
    const page = await openAlone(browser, service, '/');
    for (const step of steps) await step(page);
    await expect(page.getByRole('region', { name: 'Nobody is told of alarms' })).toHaveCount(0);
    await service.admin.api.incidents.create.mutate({
      title: 'Lorry on fire',
      type: 'COLLISION',
      severity: 'CRITICAL',
    });
    await expect(() => expect(texts()).toContain('Lorry on fire')).toPass({ timeout: 60_000 });
    await page.context().close();
  });

  test('a contact is confirmed by the code that was sent to it, and its quiet hours are changed and removed', async ({
    browser,
  }) => {
    await service.admin.api.channels.create.mutate({ kind: 'SMTP', name: 'Mail to contacts' });
    const page = await openAlone(browser, service, '/account');
    await page.getByRole('button', { name: 'Add contact' }).click();
    const form = page.getByRole('dialog', { name: 'Add contact' });
    await form.getByLabel('Address').fill('me@example.org');
    await form.getByLabel('Language of the messages').selectOption('Turkish');
    await form.getByLabel('Quiet from').fill('25:00');
    await form.getByLabel('until').fill('06:00');
    await form.getByRole('button', { name: 'Add contact' }).click();
    await expect(form.getByText('Use a time of day such as 22:00')).toBeVisible();
    await form.getByLabel('Quiet from').fill('22:00');
    await form.getByRole('button', { name: 'Add contact' }).click();
    const confirm = page.getByRole('dialog', { name: 'Confirm the contact' });
    await confirm.getByLabel('Code').fill('000000');
    await confirm.getByRole('button', { name: 'Confirm' }).click();
    await expect(confirm.getByRole('alert').or(confirm.locator('.text-critical')).first()).toBeVisible();
    await expectAccessible(page);
    const sent = () =>
      mail.messages
        .find(({ to }) => to.includes('me@example.org'))
        ?.part('text/plain')
        .toString();
    await expect.poll(sent).toMatch(/\d{6}/);
    await confirm.getByLabel('Code').fill(/\d{6}/.exec(sent() ?? '')?.[0] ?? '');
    await confirm.getByRole('button', { name: 'Confirm' }).click();
    await expect(page.getByText('The contact is confirmed')).toBeVisible();
    const item = page.getByRole('list', { name: 'Contacts' }).getByRole('listitem');
    await expect(item).toContainText('22:00 – 06:00');
    await expect(item).toContainText('Turkish');
    await expect(item).not.toContainText('Not confirmed');
    await page.getByRole('button', { name: 'Edit me@example.org' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit' });
    await edit.getByLabel('Quiet from').fill('');
    await edit.getByLabel('until').fill('');
    await edit.getByRole('button', { name: 'Save' }).click();
    await expect(item).not.toContainText('quiet');
    await page.getByRole('button', { name: 'Delete me@example.org' }).click();
    await expect(page.getByText('No contacts')).toBeVisible();
    await page.context().close();
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
