import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';

async function saved(page: Page, name: string | RegExp): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name }).click(),
  ]);
  return readFile(await file.path(), 'utf8');
}

test('users are exported as CSV with the filters of the list, and no cell is a formula', async ({
  service,
  openAs,
}) => {
  await service.admin.api.users.create.mutate({
    email: 'formula@example.org',
    password: 'Correct-Horse-7-Battery',
    firstName: '=HYPERLINK("x")',
    lastName: 'Tester',
    role: 'ANALYST',
    department: 'Export',
  });
  const page = await openAs('ADMIN', '/administration/users?department=Export');
  const file = await saved(page, 'Download as CSV: Users');
  expect(file).toContain(`"'=HYPERLINK(""x"") Tester",formula@example.org,Analyst,Export,`);
  expect(file).not.toContain('admin@gantry.local');
  expect(file).toContain('# Department: Export');
  await expect(page.getByText('1 row saved')).toBeVisible();
});

test('the export of the activity log contains all pages', { tag: '@long' }, async ({ service, openAs }) => {
  const { api } = service.admin;
  const { id, apiKey: _ } = await service.sensor();
  for (let n = 0; n < 105; n++) await api.sensors.update.mutate({ id, name: `Renamed ${n}` });
  const page = await openAs('ADMIN', `/administration/activity?action=sensors.update&about=${id}`);
  const file = await saved(page, 'Download as CSV: Activity log');
  expect(file.split('\r\n').filter((line) => /^\d{4}-/.test(line))).toHaveLength(105);
});

test('tooltips appear on keyboard focus, too', async ({ openAs }) => {
  const page = await openAs('ADMIN', '/administration/users');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const close = page.getByRole('button', { name: 'Show only the icons of the pages' });
  await page.getByRole('link', { name: 'Administration' }).focus();
  await page.keyboard.press('Tab');
  const title = await close.getAttribute('title');
  await expect(page.locator('[popover]').filter({ hasText: title ?? '' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('[popover]')).toHaveCount(0);
});

test('watched plates, holds and schedules are exported as CSV', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { apiKey } = await service.sensor();
  const { eventId } = await api.events.ingest.mutate({ apiKey, eventType: 'SPEED_DETECTION' });
  await api.watchlist.create.mutate({
    pattern: 'CSV*',
    reason: 'Stolen, in a file',
    priority: 'HIGH',
    validUntil: '2030-01-31',
  });
  await api.watchlist.create.mutate({ pattern: 'LOW1', reason: 'Filtered out', priority: 'LOW' });
  await api.storage.setHold.mutate({ eventIds: [eventId], reason: 'Held, in a file' });
  const schedule = await api.reports.createSchedule.mutate({
    kind: 'DAILY_SUMMARY',
    format: 'PDF',
    every: 'WEEKLY',
    weekday: 1,
    hour: 6,
  });
  const page = await openAs('ADMIN', '/watchlist?part=plates&priority=HIGH');
  const plates = await saved(page, 'Download as CSV: Plates');
  expect(plates).toMatch(/CSV\*,High,"Stolen, in a file",.*2030-01-31/);
  expect(plates).not.toContain('LOW1');
  await page.goto(`${service.url}/administration/holds`);
  expect(await saved(page, 'Download as CSV: Legal holds')).toContain('"Held, in a file",In force,1,');
  await page.goto(`${service.url}/reports/schedules`);
  expect(await saved(page, 'Download as CSV: Schedules')).toMatch(
    /Daily summary PDF,Every week Monday 06:00,/,
  );
  // Other tests expect that there are no other schedules.
  await api.reports.deleteSchedule.mutate({ id: schedule.id });
});

test('sensors, locations, incidents and alerts are exported as CSV with their filters', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const street = await api.locations.create.mutate({
    name: 'Street, in a file',
    coordinates: { latitude: 41.5, longitude: 29.25 },
    speedLimit: 50,
  });
  const { apiKey } = await service.sensor({ name: 'Sensor in a file', locationId: street.id });
  await service.sensor({ name: 'Left out of the file' });
  await api.incidents.create.mutate({
    title: 'Tree in a file',
    type: 'OTHER',
    severity: 'HIGH',
    lanesBlocked: 2,
  });
  const entry = await api.watchlist.create.mutate({ pattern: 'FILE1', reason: 'Stolen, in a file' });
  await api.events.ingest.mutate({ apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'FILE 1' });
  const alerts = { entryId: entry.id };
  await expect.poll(async () => (await api.watchlist.getAlerts.query(alerts)).total).toBe(1);
  const page = await openAs('ADMIN', '/sensors?search=in a file');
  const sensors = await saved(page, 'Download as CSV: Sensors');
  expect(sensors).toMatch(/\r\nSensor in a file,.*"Street, in a file",/);
  expect(sensors).not.toContain('Left out');
  await page.goto(`${service.url}/locations?search=in a file`);
  expect(await saved(page, 'Download as CSV: Locations')).toContain('"Street, in a file",50,1,,41.5,29.25,');
  await page.goto(`${service.url}/incidents?view=list&search=in a file`);
  const incidents = await saved(page, 'Download as CSV: Incidents');
  expect(incidents).toMatch(/\r\nOpen,High,Tree in a file,Other,.*,First Administrator,,,2,/);
  await page.goto(`${service.url}/watchlist?entryId=${entry.id}`);
  // The file has all columns, even if the list hides some because the pane with the details is open.
  await page.getByRole('row', { name: 'FILE 1' }).click();
  const found = await saved(page, 'Download as CSV: Alerts');
  expect(found).toMatch(/FILE 1,FILE1,"Stolen, in a file","Street, in a file",Open,Sensor in a file,/);
});
