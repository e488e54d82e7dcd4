import { expect, expectAccessible, test } from './fixtures.ts';

test.describe('an announcement', () => {
  test('names a new incident on every page, links to it, and is counted until it is seen', async ({
    service,
    openAs,
  }) => {
    const page = await openAs('OPERATOR', '/events');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const { apiKey } = await service.sensor({ name: 'Tunnel north' });
    const report = (description: string, severity: 'LOW' | 'CRITICAL') =>
      service.admin.api.events.ingest.mutate({ apiKey, eventType: 'INCIDENT', description, severity });
    await report('Debris on the carriageway', 'LOW');
    const notice = page.locator('[data-announcement=incident]');
    await expect(notice).toContainText(/New incident, Low: .?Debris on the carriageway at Tunnel north/);
    await expect(page).toHaveTitle(/^\(1\) /);
    // A more severe report raises the incident, and this is announced, too.
    await report('Vehicle on fire', 'CRITICAL');
    await expect(notice.last()).toContainText(/Incident is now Critical: .?Vehicle on fire at Tunnel north/);
    await expect(page.locator('[aria-live=assertive]')).toContainText('Vehicle on fire');
    await expectAccessible(page);
    await page.getByRole('button', { name: '1 new announcement' }).click();
    await page.getByRole('menuitem', { name: /Vehicle on fire/ }).click();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Vehicle on fire');
    await expect(page.getByRole('main')).toContainText('Critical');
    await expect(page).not.toHaveTitle(/^\(/);
  });

  test('tells a field worker of an incident that is assigned to them, but nobody of their own actions', async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    const page = await openAs('FIELD', '/events', { width: 390 });
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const { assignees } = await api.incidents.getAssignees.query();
    const field = assignees.find(({ role }) => role === 'FIELD');
    const { id } = await api.incidents.create.mutate({
      title: 'Burst pipe',
      type: 'OTHER',
      severity: 'HIGH',
    });
    await api.incidents.assign.mutate({ id, userId: field?.id ?? '' });
    const notice = page.locator('[data-announcement=assignment]');
    await expect(notice).toContainText(/Assigned to you, High: .?Burst pipe/);
    await notice.getByRole('link').click();
    await expect(page).toHaveURL(new RegExp(`/incidents/${id}`));
  });

  test('counts many sensors that fail at once, instead of naming each', async ({ service, openAs }) => {
    const { api } = service.admin;
    const page = await openAs('OPERATOR', '/events');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const issues = [{ code: 'DISK', message: 'Disk full', severity: 'critical' as const }];
    const sensors = await Promise.all(Array.from({ length: 12 }, () => service.sensor()));
    const notices = page.locator('[data-announcement=sensor]');
    await Promise.all(sensors.map(({ apiKey }) => api.sensors.heartbeat.mutate({ apiKey, issues })));
    await expect(notices.first()).toContainText(/(\d+ sensors have failed|Sensor reports an error)/);
    await expect(page.getByRole('button', { name: '12 new announcements' })).toBeVisible();
    expect(await notices.count()).toBeLessThanOrEqual(3);
    // Once they work again, nothing is left to see.
    for (const { apiKey } of sensors) await api.sensors.heartbeat.mutate({ apiKey });
    await expect(page.getByRole('button', { name: /new announcement/ })).toHaveCount(0);
  });

  test('is a notification of the browser where the user has allowed it, without a plate', async ({
    service,
    openAs,
  }) => {
    const page = await openAs('OPERATOR', '/events');
    await page.context().addInitScript(() => {
      const shown: string[] = [];
      class Fake extends EventTarget {
        static permission = 'default';
        static requestPermission() {
          Fake.permission = 'granted';
          return Promise.resolve('granted');
        }
        constructor(_: string, { body }: { body: string }) {
          super();
          shown.push(body);
        }
      }
      Object.assign(globalThis, { Notification: Fake, shown });
    });
    await page.reload();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Browser notifications' }).click();
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    });
    const { api } = service.admin;
    await api.watchlist.create.mutate({ pattern: '35 NOTE 1', reason: 'Stolen', priority: 'HIGH' });
    const { apiKey } = await service.sensor({ name: 'Gate of the notice' });
    await api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: '35 NOTE 1',
    });
    const shown = () => page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown.join());
    await expect.poll(shown).toContain('Gate of the notice');
    expect(await shown()).not.toContain('35 NOTE 1');
  });
});
