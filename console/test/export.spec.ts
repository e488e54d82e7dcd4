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

test('the export of the activity log contains all pages', async ({ service, openAs }) => {
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

test('watched plates, holds and schedules are exported as CSV', async ({ service, openAs }) => {
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
  // Other stories expect that there are no schedules but theirs.
  await api.reports.deleteSchedule.mutate({ id: schedule.id });
});
