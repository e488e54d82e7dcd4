import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, expectAccessible, test } from './fixtures.ts';
import { PASSWORD } from './service.ts';

/** Starts a receiver of webhooks that responds to every request with this status and body. */
function receiver(status: number, answer: string): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.statusCode = status;
    response.end(answer);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

test.describe('users', () => {
  test('are added, changed and deleted after a dialog that names the consequence', async ({ openAs }) => {
    const page = await openAs('ADMIN', '/administration');
    await expect(page).toHaveURL(/\/administration\/users$/);
    await page.getByRole('button', { name: 'Add user' }).click();
    const form = page.getByRole('dialog', { name: 'Add user' });
    await form.getByLabel('E-mail address').fill('dana@example.org');
    await form.getByLabel('First password').fill('short');
    await form.getByLabel('First name').fill('Dana');
    await form.getByLabel('Last name').fill('Reyes');
    await form.getByRole('button', { name: 'Add user' }).click();
    // The error is shown at the field, and the input is kept.
    await expect(form.getByText('Use at least 8 characters')).toBeVisible();
    await expect(form.getByLabel('First name')).toHaveValue('Dana');
    await form.getByLabel('First password').fill(PASSWORD);
    await form.getByRole('button', { name: 'Add user' }).click();
    const pane = page.getByRole('complementary', { name: 'User' });
    await expect(pane).toContainText('dana@example.org');
    await expect(page).toHaveURL(/user=/);

    await pane.getByRole('button', { name: 'Change role' }).click();
    const role = page.getByRole('dialog', { name: 'Change role' });
    await role.getByLabel('Role').selectOption('OPERATOR');
    await expect(role).toContainText('Manage incidents');
    await expect(role).toContainText('signed out everywhere');
    await role.getByRole('button', { name: 'Change role' }).click();
    await expect(pane.getByText('Operator', { exact: true })).toBeVisible();

    await pane.getByRole('button', { name: 'Reset password' }).click();
    const reset = page.getByRole('dialog');
    await reset.getByRole('button', { name: 'Reset password' }).click();
    await expect(reset).toContainText('only this once');
    await reset.getByRole('button', { name: 'Close' }).click();

    await pane.getByRole('button', { name: 'Delete' }).click();
    const remove = page.getByRole('dialog', { name: 'Delete this user?' });
    await expect(remove).toContainText('every entry of the activity log');
    await remove.getByRole('button', { name: 'Delete user' }).click();
    await expect(pane).toBeHidden();
    await expect(page.getByRole('cell', { name: 'Dana Reyes' })).toHaveCount(0);
  });

  test('are shown one at a time on a phone, and "Back" leads to the list', async ({ service, openAs }) => {
    await service.userOf('FIELD');
    const page = await openAs('ADMIN', '/administration/users', { width: 390 });
    await page.getByRole('cell', { name: 'Field Tester' }).click();
    const pane = page.getByRole('complementary', { name: 'User' });
    await expect(pane).toContainText('field@example.org');
    await page.goBack();
    await expect(pane).toBeHidden();
    await expect(page).toHaveURL(/\/administration\/users$/);
  });

  test('list and end their own sessions', async ({ service, openAs }) => {
    const page = await openAs('VIEWER', '/?places=list');
    const email = await service.userOf('VIEWER');
    await service.admin.api.auth.login.mutate({ email, password: PASSWORD });
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Where you are signed in' }).click();
    await expect(page.getByText('This one')).toBeVisible();
    const ends = page.getByRole('button', { name: 'End', exact: true });
    await expect(ends.first()).toBeVisible();
    const before = await ends.count();
    await ends.first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    await expect(ends).toHaveCount(before - 1);
  });
});

test('the activity log shows users and actions, and links to the object', async ({ service, openAs }) => {
  const sensor = await service.sensor({ name: 'Log camera' });
  const page = await openAs('ADMIN', '/administration/activity?action=sensors.create');
  await page.getByRole('row').filter({ hasText: 'Log camera' }).click();
  const pane = page.getByRole('complementary', { name: 'Details' });
  await expect(pane).toContainText('Added a sensor');
  await expect(pane.getByRole('link', { name: sensor.id })).toHaveAttribute('href', `/sensors/${sensor.id}`);
  await expect(page).toHaveURL(/entry=/);
  await page.reload();
  await expect(pane).toContainText('Added a sensor');
  const email = await service.userOf('ANALYST');
  await page.goto(`${service.url}/administration/activity?action=users.create`);
  await page.getByRole('row').filter({ hasText: email }).click();
  await expect(pane.getByText('Analyst', { exact: true })).toBeVisible();
});

test('a webhook is added, tested and disabled; its secret is shown once', async ({ openAs }) => {
  const server = await receiver(500, '<b>Out of order</b>');
  const { port } = server.address() as AddressInfo;
  const page = await openAs('ADMIN', '/administration/webhooks');
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const form = page.getByRole('dialog', { name: 'Add webhook' });
  // A URL in the operator's own network is refused, and the error is shown at the field.
  await form.getByLabel('Address').fill('http://10.0.0.1/');
  await form.getByLabel(/New violation/).check();
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await expect(form.getByLabel('Address')).toHaveAttribute('aria-invalid', 'true');
  await form.getByLabel('Address').fill(`http://127.0.0.1:${port}/`);
  await form.getByRole('button', { name: 'Add webhook' }).click();
  const created = page.getByRole('dialog', { name: 'The webhook was added' });
  await expect(created.getByText(/^whsec_/)).toBeVisible();
  await created.getByRole('button', { name: 'Show the webhook' }).click();
  await expect(page).toHaveURL(/\/administration\/webhooks\/[0-9a-f-]+/);
  await expect(page.getByText(/whsec_/)).toHaveCount(0);

  await page.getByRole('button', { name: 'Send a test' }).click();
  const answer = page.getByRole('dialog', { name: 'Test of the webhook' });
  await expect(answer).toContainText('The receiver did not take the test', { timeout: 30_000 });
  await expect(answer).toContainText('<b>Out of order</b>');
  await answer.getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByRole('row').filter({ hasText: 'Retrying' })).toHaveCount(1);

  await page.getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('button', { name: 'Send a test' })).toBeDisabled();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click();
  await expect(page).toHaveURL(/\/administration\/webhooks$/);
  server.close();
});

test('a delivery is shown as retried only once an attempt has failed', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    waiting.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/slow`;
  const { id } = await api.webhooks.create.mutate({ url, kinds: ['incident.changed'] });
  // The attempt ends after ten seconds, so the browser has loaded what it can before.
  const page = await openAs('ADMIN', `/administration/webhooks/${id}`);
  await page.goto(`${service.url}/administration/webhooks`);
  const hook = page.getByRole('row').filter({ hasText: url });
  await expect(hook).toBeVisible();
  const { deliveryId } = await api.webhooks.test.mutate({ id });
  await expect.poll(() => waiting.length).toBe(1);
  await page.reload();
  await expect(hook).toContainText('Pending');
  await page.goto(`${service.url}/administration/webhooks/${id}?delivery=${deliveryId}`);
  const shown = [page.getByRole('row').filter({ hasText: 'Test' }), page.getByRole('complementary')];
  for (const part of shown) await expect(part).toContainText('Pending');
  for (const response of waiting.splice(0)) response.writeHead(500).end();
  for (const part of shown) await expect(part).toContainText('Retrying');
  await page.goto(`${service.url}/administration/webhooks`);
  await expect(hook).toContainText('Retrying');
  await api.webhooks.delete.mutate({ id });
  server.close();
});

test('changing a webhook leaves alone what has changed since the dialog was opened', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await api.webhooks.create.mutate({
    url: 'http://127.0.0.1:9/',
    kinds: ['watchlist.alert', 'event.violation'],
    filter: { minSeverity: 'HIGH', eventType: 'TRAFFIC_VIOLATION' },
  });
  const page = await openAs('ADMIN', `/administration/webhooks/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Description').fill('Of the control room');
  await api.webhooks.update.mutate({
    id,
    url: 'http://127.0.0.1:9/others',
    kinds: ['incident.changed'],
    filter: { minSeverity: 'LOW' },
  });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await api.webhooks.getById.query({ id })).toMatchObject({
    url: 'http://127.0.0.1:9/others',
    description: 'Of the control room',
    kinds: ['incident.changed'],
    filter: { minSeverity: 'LOW' },
  });
  await api.webhooks.delete.mutate({ id });
});

test('retention is saved only after a preview, and a hold protects its events', async ({
  service,
  openAs,
}) => {
  const { apiKey } = await service.sensor();
  const { api } = service.admin;
  for (const day of [1, 2, 3]) {
    await api.events.ingest.mutate({
      apiKey,
      eventType: 'SPEED_DETECTION',
      licensePlateNumber: `OLD ${day}`,
      timestamp: new Date(Date.UTC(2026, 0, day)).toISOString(),
    });
  }
  await expect
    .poll(async () => (await api.events.getAll.query({ licensePlateNumber: 'OLD*' })).total)
    .toBe(3);

  const page = await openAs('ADMIN', '/administration/holds');
  await page.getByRole('button', { name: 'Set a hold' }).click();
  const form = page.getByRole('dialog', { name: 'Set a hold' });
  await form.getByLabel('Reason').fill('Case 114');
  await form.getByLabel('From').fill('2026-01-01T00:00');
  await form.getByLabel('Until').fill('2026-01-01T23:59');
  await form.getByRole('button', { name: 'Set a hold' }).click();
  const pane = page.getByRole('complementary', { name: 'Legal hold' });
  await expect(pane).toContainText('Case 114');
  await expect(pane).toContainText('1 event');

  await page.getByRole('link', { name: 'Storage' }).click();
  await page.getByLabel('Events', { exact: true }).selectOption('days');
  await page.getByLabel('Days for Events').fill('30');
  await page.getByRole('button', { name: 'Preview the change' }).click();
  const preview = page.getByRole('dialog', { name: 'What these rules would remove' });
  await expect(preview).toContainText('It would remove 2 events now');
  await expect(preview).toContainText('1 event is due but stays');
  await preview.getByRole('button', { name: 'Save these rules' }).click();
  await expect(preview).toBeHidden();

  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click();
  await expect(page.getByText('Removed: 2 events')).toBeVisible({ timeout: 60_000 });
  expect((await api.events.getAll.query({ licensePlateNumber: 'OLD*' })).total).toBe(1);

  await page.goto(`${service.url}/administration/holds`);
  await page.getByRole('row').filter({ hasText: 'Case 114' }).click();
  await pane.getByRole('button', { name: 'Release the hold' }).click();
  const release = page.getByRole('dialog', { name: 'Release this hold?' });
  await expect(release).toContainText('cannot be restored');
  await release.getByRole('button', { name: 'Release the hold' }).click();
  await expect(pane).toContainText('Released by');
  await api.storage.setRetention.mutate({ events: { default: null } });
});

test('the time zone is found by name, previewed before it is saved, and applies to all users', async ({
  service,
  openAs,
}) => {
  const page = await openAs('ADMIN', '/administration/settings');
  await page.getByLabel('Choose another time zone').fill('kolkata');
  await page.getByRole('option', { name: /Asia\/Kolkata|Asia\/Calcutta/ }).click();
  await page.getByLabel('Dates', { exact: true }).selectOption('DD.MM.YYYY');
  const look = page.getByRole('region', { name: 'How times will look' });
  await expect(look).toContainText('UTC+05:30');
  await expect(look).toContainText(/15\.01\.\d{4}/);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Change time zone' }).click();
  await expect(page.getByTitle('Show times in UTC')).toContainText('UTC+05:30');
  await service.admin.api.system.timezone.updateTimezoneSettings.mutate({
    timezone: 'UTC',
    dateFormat: 'YYYY-MM-DD',
  });
});

const changedTimes = 'settings of time that another user changes meanwhile stay, and so does what was chosen';
// It waits until the settings are ten seconds old.
test(changedTimes, { tag: ['@long'] }, async ({ service, openAs }) => {
  const { timezone } = service.admin.api.system;
  const before = await timezone.getTimezoneSettings.query();
  const page = await openAs('ADMIN', '/administration/settings');
  await page.getByLabel('Dates', { exact: true }).selectOption('DD/MM/YYYY');
  await timezone.updateTimezoneSettings.mutate({ timezone: 'Asia/Kathmandu' });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'saved' })).toBeVisible();
  const saved = { ...before, timezone: 'Asia/Kathmandu', dateFormat: 'DD/MM/YYYY' };
  expect(await timezone.getTimezoneSettings.query()).toEqual(saved);

  await page.getByLabel('Dates', { exact: true }).selectOption('MM/DD/YYYY');
  await timezone.updateTimezoneSettings.mutate({ timezone: before.timezone });
  const form = page.getByRole('region', { name: 'Times and dates' });
  // The settings are refetched when the window becomes visible, if they are more than ten seconds old.
  await expect(async () => {
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await expect(form).toContainText(before.timezone, { timeout: 500 });
  }).toPass();
  await expect(page.getByLabel('Dates', { exact: true })).toHaveValue('MM/DD/YYYY');
  await timezone.updateTimezoneSettings.mutate(before);
});

test('the table of roles scrolls within the page of a phone', async ({ openAs }) => {
  const page = await openAs('ADMIN', '/administration/roles', { width: 390 });
  await expect(page.getByRole('row', { name: /Manage Sensors/i })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('other roles cannot open the administration pages', async ({ openAs }) => {
  const page = await openAs('OPERATOR', '/administration/users');
  await expect(page.getByText('Your role does not include this page')).toBeVisible();
});

test.describe('axe finds nothing', () => {
  const parts = [
    'users',
    'roles',
    'activity',
    'webhooks',
    'storage',
    'holds',
    'backups',
    'map',
    'settings',
    'system',
    'doctor',
  ];
  for (const look of [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'ar' },
  ] as const) {
    test(`in the administration, ${look.theme}, ${look.language}`, {
      tag: ['@long'],
    }, async ({ service, openAs }) => {
      test.slow();
      const page = await openAs('ADMIN', '/account/sessions', look);
      await expect(page.getByRole('listitem').first()).toBeVisible();
      await expectAccessible(page);
      for (const part of parts) {
        await page.goto(`${service.url}/administration/${part}`);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expectAccessible(page);
      }
    });
  }
});

test('days are added to the calendar, a wrong line is named, and a day is deleted', async ({ openAs }) => {
  const page = await openAs('ADMIN', '/administration/calendar?year=2031');
  await page.getByRole('button', { name: 'Add days' }).first().click();
  const form = page.getByRole('dialog');
  const days = form.getByLabel('Days', { exact: true });
  await days.fill('2031-01-01 New Year\n2031-13-01 No month');
  await form.getByRole('button', { name: 'Add days' }).click();
  await expect(form.getByText(/^Line 2: /)).toBeVisible();
  await days.fill('2031-01-01 New Year\n2031-04-23 Children’s Day');
  await form.getByRole('button', { name: 'Add days' }).click();
  await expect(page.getByText('2 days are in the calendar')).toBeVisible();
  const row = page.getByRole('row').filter({ hasText: 'New Year' });
  await expect(row).toContainText('Holiday');
  await row.getByRole('button', { name: 'Delete 2031-01-01 New Year' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
  await expect(page.getByRole('row').filter({ hasText: 'Children’s Day' })).toBeVisible();
});

test.describe('the audit of looks at plates', () => {
  test('draws a sample, takes a verdict for each entry, and saves the sample as CSV', async ({ openAs }) => {
    const searching = await openAs('OPERATOR', '/events?licensePlateNumber=AUDIT+77');
    await searching.getByLabel('Reason for the search').fill('Case 12');
    await searching.getByRole('button', { name: 'Search', exact: true }).click();
    await expect(searching.getByText('This search was recorded')).toBeVisible();
    const page = await openAs('ADMIN', '/administration/audit');
    await page.getByRole('button', { name: 'Draw a sample' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Draw a sample' });
    const today = new Date();
    await dialog.getByLabel('From').fill(today.toISOString().slice(0, 10));
    await dialog.getByLabel('Until').fill(today.toISOString().slice(0, 10));
    await dialog.getByLabel('Number of entries').fill('500');
    await dialog.getByRole('button', { name: 'Draw a sample' }).click();
    await expect(page).toHaveURL(/sample=/);
    await page.getByRole('cell', { name: 'AUDIT 77' }).click();
    const pane = page.getByRole('complementary', { name: 'Details' });
    await pane.getByRole('combobox', { name: 'Verdict' }).selectOption('UNJUSTIFIED');
    await pane.getByLabel('Note').fill('Nobody knows why');
    await pane.getByRole('button', { name: 'Record the verdict' }).click();
    await expect(pane.getByText('Nobody knows why')).toBeVisible();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const file = await (await saving).createReadStream();
    let text = '';
    for await (const part of file) text += String(part);
    expect(text).toContain('AUDIT 77');
    expect(text).toContain('Unjustified');
    await expectAccessible(page);
  });
});
