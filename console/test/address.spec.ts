import { expect, test } from './fixtures.ts';
import { smallerThan } from './targets.ts';

/** Every page, with a query parameter that it does not have, or with a value that is invalid there. */
const PAGES = [
  ['/', 'places=globe'],
  ['/events', 'sortBy=colour'],
  ['/incidents', 'view=cards'],
  ['/incidents/INCIDENT', 'tab=2'],
  ['/watchlist', 'priority=URGENT'],
  ['/sensors', 'status=ASLEEP'],
  ['/sensors/SENSOR', 'eventType=SPEED_DETECTION'],
  ['/sensors/SENSOR/connections/CONNECTION', 'status=LOST'],
  ['/locations', 'view=globe'],
  ['/locations/LOCATION', 'view=map'],
  ['/traffic', 'startDate=2026-02-30'],
  ['/reports', 'interval=fortnight'],
  ['/reports/files', 'status=LOST'],
  ['/reports/schedules', 'status=DONE'],
  ['/administration/users', 'role=KING'],
  ['/administration/roles', 'role=ADMIN'],
  ['/administration/activity', 'startDate=yesterday'],
  ['/administration/audit', 'verdict=CLEAR'],
  ['/administration/webhooks', 'status=DEAD'],
  ['/administration/webhooks/WEBHOOK', 'status=BROKEN'],
  ['/administration/storage', 'month=5'],
  ['/administration/holds', 'released=perhaps'],
  ['/administration/settings', 'zone=UTC'],
  ['/administration/system', 'page=2'],
  ['/administration/backups', 'page=2'],
  ['/administration/map', 'page=2'],
  ['/administration/doctor', 'level=worst'],
  ['/account', 'part=tokens'],
  ['/account/sessions', 'user=1'],
] as const;

const unknownParameter = 'every page ignores an unknown parameter in its address and names it';
test(unknownParameter, { tag: ['@long'] }, async ({ service, openAs }) => {
  test.setTimeout(180_000);
  const { api } = service.admin;
  const { id: sensorId } = await service.sensor();
  const location = await api.locations.create.mutate({ name: `Address ${Date.now()}` });
  const incident = await api.incidents.create.mutate({
    title: 'Debris',
    type: 'OBSTRUCTION',
    severity: 'LOW',
  });
  const webhook = await api.webhooks.create.mutate({
    url: 'http://127.0.0.1:9/',
    kinds: ['incident.changed'],
  });
  const connection = await api.connections.create.mutate({ sensorId, format: 'hikvision' });
  const ids: Record<string, string> = {
    SENSOR: sensorId,
    CONNECTION: connection.id,
    LOCATION: location.id,
    INCIDENT: incident.id,
    WEBHOOK: webhook.id,
  };
  const page = await openAs('ADMIN', '/account/sessions', { width: 390 });
  for (const [path, bad] of PAGES) {
    const address = path.replace(/[A-Z]+/g, (name) => ids[name] ?? name);
    await page.goto(`${service.url}${address}?${bad}`);
    const [name = ''] = bad.split('=');
    await test.step(path, async () => {
      const notice = page.getByRole('status').filter({ hasText: 'not understood' });
      await expect(notice).toContainText(name);
      await expect(page).not.toHaveURL(new RegExp(`[?&]${name}=`));
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      // On a phone, every control is large enough to be tapped.
      expect.soft(await smallerThan(page, 24), path).toEqual([]);
    });
  }
  await api.webhooks.delete.mutate({ id: webhook.id });
});

test('a filter offers what its own page takes, also right after another page', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const name = 'Street of two filters';
  const { id } = await service.admin.api.locations.create.mutate({ name });
  const page = await openAs('OPERATOR', '/events');
  const find = async () => {
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Location', { exact: true }).fill(name);
    await page.getByRole('option', { name }).click();
  };
  // Events are filtered by the name of the location, incidents by its id.
  await find();
  await expect(page).toHaveURL(/locationName=/);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Incidents', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Incidents', level: 1 })).toBeVisible();
  await find();
  await expect(page).toHaveURL(new RegExp(`locationId=${id}`));
});
