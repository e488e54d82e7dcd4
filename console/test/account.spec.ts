import { execFileSync } from 'node:child_process';
import { createGantryClient } from '@gantry/client';
import { codeOf } from './codes.ts';
import { expect, expectAccessible, openAlone, test } from './fixtures.ts';
import { PASSWORD, startService } from './service.ts';

test('a second factor is set up, asked for, replaced by a recovery code, and switched off', async ({
  service,
  page,
}) => {
  const email = 'factor@example.org';
  await service.admin.api.users.create.mutate({
    email,
    password: PASSWORD,
    firstName: 'Second',
    lastName: 'Factor',
    role: 'VIEWER',
  });
  const signIn = async () => {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const signOut = async () => {
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
  };
  await page.goto(`${service.url}/account`);
  await signIn();
  const panel = page.getByRole('region', { name: 'Second factor' });
  await panel.getByRole('button', { name: 'Set up' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Password', { exact: true }).fill('Wrong-horse-1');
  await dialog.getByRole('button', { name: 'Next' }).click();
  await expect(dialog.getByText('The password is wrong')).toBeVisible();
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Next' }).click();
  await expect(dialog.getByRole('img', { name: 'QR code' }).locator('path')).toHaveAttribute('d', /^M/);
  // Some phones cannot read codes that are light on dark.
  await expect(dialog.getByRole('img', { name: 'QR code' }).locator('rect')).toHaveAttribute('fill', '#fff');
  const secret = (await dialog.locator('code').innerText()).replaceAll(' ', '');
  await expectAccessible(page);
  await dialog.getByLabel('Code', { exact: true }).fill('000000');
  await dialog.getByRole('button', { name: 'Switch on' }).click();
  await expect(dialog.getByText('The code is wrong')).toBeVisible();
  await dialog.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await dialog.getByRole('button', { name: 'Switch on' }).click();
  const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await expect(codes).toHaveCount(10);
  const [recovery = '', second = ''] = await codes.allInnerTexts();
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toBe('gantry-recovery-codes.txt');
  await dialog.getByRole('button', { name: 'I have stored them' }).click();
  await expect(panel).toContainText('10 left');

  await signOut();
  await signIn();
  const code = page.getByLabel('Code', { exact: true });
  await expect(code).toBeFocused();
  await expect(code).toHaveAttribute('autocomplete', 'one-time-code');
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue(PASSWORD);
  await expectAccessible(page);
  await code.fill('000000');
  await page.keyboard.press('Enter');
  await expect(page.getByText('The code is wrong')).toBeVisible();
  await code.fill(codeOf(secret, 1));
  await page.keyboard.press('Enter');
  await expect(panel.or(page.getByRole('heading', { name: 'Overview' }))).toBeVisible();

  await signOut();
  await signIn();
  await code.fill(recovery);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Your account' }).click();
  await expect(panel).toContainText('9 left');
  await panel.getByRole('button', { name: 'Switch off' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByLabel('Code', { exact: true }).fill(second);
  await dialog.getByRole('button', { name: 'Switch off' }).click();
  await expect(panel.getByRole('button', { name: 'Set up' })).toBeVisible();
});

test('an administrator resets the second factor of a user who lost it', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const email = 'lost@example.org';
  const name = { firstName: 'Lost', lastName: 'Phone' };
  const { id } = await service.admin.api.users.create.mutate({
    email,
    password: PASSWORD,
    ...name,
    role: 'VIEWER',
  });
  const user = createGantryClient(service.url);
  await user.login(email, PASSWORD);
  const { secret } = await user.api.secondFactor.start.mutate({ password: PASSWORD });
  await user.api.secondFactor.confirm.mutate({ code: codeOf(secret) });
  await expect(createGantryClient(service.url).login(email, PASSWORD)).rejects.toThrow();
  const page = await openAs('ADMIN', `/administration/users?user=${id}`);
  const pane = page.getByRole('complementary', { name: 'User' });
  await pane.getByRole('button', { name: 'Reset second factor' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Lost Phone can sign in with the password alone');
  await dialog.getByRole('button', { name: 'Reset second factor' }).click();
  await expect(page.getByText('The second factor of Lost Phone was reset')).toBeVisible();
  await createGantryClient(service.url).login(email, PASSWORD);
});

test('an API token is created, used by a program, and revoked', async ({ service, openAs }) => {
  const page = await openAs('OPERATOR', '/account', { width: 390 });
  await page.getByRole('button', { name: 'New token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Night export');
  await expect(dialog.getByLabel('Role').getByRole('option', { name: 'Administrator' })).toHaveCount(0);
  await dialog.getByLabel('Role').selectOption('VIEWER');
  await dialog.getByLabel('Password', { exact: true }).fill('wrong');
  await dialog.getByRole('button', { name: 'New token' }).click();
  await expect(dialog).toContainText('The password is wrong');
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'New token' }).click();
  const token = await dialog.getByText(/^gantry_\w+/).innerText();
  const call = async () =>
    (await fetch(`${service.url}/trpc/events.getAll`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  expect(await call()).toBe(200);
  await dialog.getByRole('button', { name: 'Close' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'Night export' });
  await expect(row).toContainText('Viewer');
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await row.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(dialog).toBeHidden();
  await expect(row).toHaveCount(0);
  expect(await call()).toBe(401);
});

test('the command that restores a backup can be pasted, whatever the folder is named', async ({ openAs }) => {
  const page = await openAs('ADMIN', '/account');
  const folder = '/srv/it\'s a "backup"';
  await page.route(/backups\.getAll/, async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    const named = `"folder":${JSON.stringify(folder)}`;
    await route.fulfill({ response, body: body.replaceAll(/"folder":"[^"]*"/g, () => named) });
  });
  await page.goto(new URL('/administration/backups', page.url()).href);
  const command = await page.getByRole('region', { name: 'Restore' }).locator('code').innerText();
  const pasted = execFileSync('sh', ['-c', command.replace(/^gantry restore/, "printf '%s|'")]);
  expect(pasted.toString()).toBe(`${folder}|`);
});

test('the page of backups says for whom each one is encrypted', async ({ browser }) => {
  test.slow();
  const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
  const service = await startService({ BACKUP_ENCRYPT_TO: recipient });
  try {
    const page = await openAlone(browser, service, '/administration/backups');
    const latest = page.getByRole('region', { name: 'Latest complete backup' });
    await expect(latest).toContainText(`Encrypted for ${recipient}`);
    await expect(latest).not.toContainText('BACKUP_ENCRYPT_TO');
    await page.getByRole('button', { name: 'Back up now' }).click();
    const made = page.getByRole('list', { name: 'All backups' }).getByRole('listitem');
    await expect(made).toContainText(`Encrypted for ${recipient}`, { timeout: 60_000 });
    const restore = page.getByRole('region', { name: 'Restore' });
    await expect(restore.locator('code')).toHaveText(/^gantry restore --identity gantry-backup\.key \//);
    await expect(restore).toContainText('The newest backup is encrypted');
    await expectAccessible(page);
    await page.context().close();
  } finally {
    await service.stop();
  }
});

test('a backup is made, and the installation is checked', { tag: '@long' }, async ({ openAs }) => {
  const page = await openAs('ADMIN', '/administration/backups', { theme: 'light' });
  await expect(page.getByText('There is no complete backup yet')).toBeVisible();
  await page.getByRole('button', { name: 'Back up now' }).click();
  const made = page.getByRole('list', { name: 'All backups' }).getByRole('listitem');
  await expect(made.filter({ hasText: 'Completed' })).toHaveCount(1, { timeout: 60_000 });
  await expect(page.getByRole('region', { name: 'Restore' })).toContainText('gantry restore /');
  await expect(made.filter({ hasText: 'Not encrypted' })).toHaveCount(1);
  await expect(page.getByRole('region', { name: 'Latest complete backup' })).toContainText(
    'BACKUP_ENCRYPT_TO',
  );
  await expect(page.getByText('There is no complete backup yet')).toHaveCount(0);
  await expectAccessible(page);

  const latest = page.getByRole('region', { name: 'Latest complete backup' }).locator('time').first();
  const before = await latest.getAttribute('datetime');
  await page.getByRole('button', { name: 'Back up now' }).click();
  await expect(latest).not.toHaveAttribute('datetime', before ?? '', { timeout: 60_000 });
  // Relative times are updated only periodically. A backup after the latest update must still be shown as past.
  expect(await latest.textContent()).toMatch(/^(now|.* ago)/);

  await page.getByRole('link', { name: 'Diagnostics' }).click();
  await expect(page.getByRole('list', { name: 'Should be considered' })).toContainText('ADMIN_PASSWORD');
  await expect(page.getByText('What to do:').first()).toBeVisible();
  await page.getByRole('button', { name: 'Check again' }).click();
  await expect(page.getByRole('button', { name: 'Check again' })).toBeEnabled();
  await expectAccessible(page);
});
