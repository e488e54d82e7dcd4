import { createGantryClient } from '@gantry/client';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import { PASSWORD, type TestService } from './service.ts';

// Concurrent changes of other users are shown and not overwritten. A URL opens its object even outside the list.

let made = 0;
const watch = (service: TestService, reason = 'Stolen') =>
  service.admin.api.watchlist.create.mutate({ pattern: `SEEN ${++made}`, reason });

test('a plate that another user changed is saved only after the user has seen that change', async ({
  service,
  openAs,
}) => {
  const { id, pattern } = await watch(service);
  const page = await openAs('OPERATOR', `/watchlist?part=plates&plate=${id}`);
  const form = page.getByRole('dialog', { name: pattern });
  await form.getByLabel('Reason').fill('Found again');
  await service.admin.api.watchlist.update.mutate({ id, priority: 'CRITICAL' });
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = form.getByRole('alert').filter({ hasText: 'Somebody was faster' });
  await expect(conflict).toContainText(/First Administrator.* changed it (now|.* ago) \(.*UTC\+00:00/);
  await expect(conflict).toContainText('Request id');
  await expect(form.getByLabel('Reason')).toHaveValue('Found again');
  expect(await service.admin.api.watchlist.getById.query({ id })).toMatchObject({ reason: 'Stolen' });
  await form.getByRole('button', { name: 'Save my changes too' }).click();
  await expect(form).toHaveCount(0);
  expect(await service.admin.api.watchlist.getById.query({ id })).toMatchObject({
    reason: 'Found again',
    priority: 'CRITICAL',
    updatedBy: { name: 'Operator Tester' },
  });
});

test('retention rules that another user changed are not overwritten', async ({ service, openAs }) => {
  const page = await openAs('ADMIN', '/administration/storage');
  await page.getByLabel('Images', { exact: true }).selectOption('days');
  await page.getByLabel('Days for Images').fill('400');
  await page.getByRole('button', { name: 'Preview the change' }).click();
  const dialog = page.getByRole('dialog', { name: 'What these rules would remove' });
  await expect(dialog).toBeVisible();
  const dana = createGantryClient(service.url);
  const email = 'dana@example.org';
  const { api } = service.admin;
  const dto = { email, password: PASSWORD, firstName: 'Dana', lastName: 'Weber', role: 'ADMIN' } as const;
  await api.users.create.mutate(dto);
  await dana.login(email, PASSWORD);
  await dana.api.storage.setRetention.mutate({ reports: 800 });
  try {
    await dialog.getByRole('button', { name: 'Save these rules' }).click();
    await expect(dialog.getByRole('alert')).toContainText(/Dana Weber changed the rules (now|.* ago) \(/);
    expect(await api.storage.getRetention.query()).toMatchObject({ images: null, reports: 800 });
  } finally {
    await api.storage.setRetention.mutate({ images: null, reports: null });
  }
});

test.describe('an address opens', () => {
  const NOTHING = 'Page not found';
  const expectNothing = async (page: Page, url: string) => {
    await page.goto(url);
    await expect(page.getByText(NOTHING)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Close' }).last().click();
    await expect(page.getByText(NOTHING)).toHaveCount(0);
  };

  test('an alert and a plate that are not in the list, and reports an unknown one', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const entry = await watch(service, 'Not in the list');
    const { apiKey } = await service.sensor({ type: 'ANPR' });
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: entry.pattern,
    });
    const question = { entryId: entry.id };
    const alerts = () => service.admin.api.watchlist.getAlerts.query(question);
    await expect.poll(async () => (await alerts()).total).toBe(1);
    const [alert] = (await alerts()).alerts;
    const page = await openAs('OPERATOR', `/watchlist?acknowledged=true&alert=${alert?.id}`);
    await expect(page.getByRole('complementary')).toContainText('Not in the list');
    // The pane shows the result of an action in it.
    await page.keyboard.press('1');
    await expect(page.getByRole('complementary')).toContainText('Operator Tester');
    await page.goto(`${service.url}/watchlist?part=plates&search=nothing-like-this&plate=${entry.id}`);
    await expect(page.getByRole('dialog', { name: entry.pattern })).toBeVisible();
    await expectNothing(page, `${service.url}/watchlist?alert=no-such-alert`);
    await expectNothing(page, `${service.url}/watchlist?part=plates&plate=no-such-plate`);
  });

  test('a delivery and an entry of the activity log', { tag: '@long' }, async ({ service, openAs }) => {
    const { api } = service.admin;
    const { id } = await api.webhooks.create.mutate({
      url: 'http://127.0.0.1:9/nobody',
      kinds: ['sensor.statusChanged'],
    });
    const { deliveryId } = await api.webhooks.test.mutate({ id });
    const page = await openAs('ADMIN', `/administration/webhooks/${id}?status=DEAD&delivery=${deliveryId}`);
    await expect(page.getByRole('complementary')).toContainText(deliveryId);
    await expectNothing(page, `${service.url}/administration/webhooks/${id}?delivery=no-such-delivery`);
    const { activities } = await api.users.getActivityLog.query({ action: 'webhooks.create' });
    await page.goto(`${service.url}/administration/activity?action=auth.logout&entry=${activities[0]?.id}`);
    await expect(page.getByRole('complementary')).toBeVisible();
    await expectNothing(page, `${service.url}/administration/activity?entry=0`);
    await api.webhooks.delete.mutate({ id });
  });

  test('the sensors of one location', async ({ service, openAs }) => {
    const location = await service.admin.api.locations.create.mutate({ name: 'Ring gate' });
    const here = await service.sensor({ name: 'At the gate', locationId: location.id });
    await service.sensor({ name: 'Far from the gate' });
    const page = await openAs('OPERATOR', `/sensors?locationId=${location.id}`);
    await expect(page.getByText('1 sensor', { exact: true })).toBeVisible();
    await expect(page.getByRole('row', { name: here.name })).toBeVisible();
    await expect(page.getByText('Ring gate').first()).toBeVisible();
  });
});
