import { readFile } from 'node:fs/promises';
import { expect, expectAccessible, test } from './fixtures.ts';

const LOOKS = [
  { theme: 'dark', language: 'en' },
  { theme: 'light', language: 'ar' },
] as const;

test.describe('reports', () => {
  test('are generated, downloaded and deleted', async ({ service, openAs }) => {
    const { apiKey } = await service.sensor();
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'TRAFFIC_VIOLATION',
      violationType: 'RED_LIGHT',
      licensePlateNumber: '06 RPT 42',
    });
    const page = await openAs('ANALYST', '/reports/files');
    await page.getByRole('button', { name: 'Generate a report' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Generate a report' });
    await dialog.getByLabel('Kind').selectOption('DAILY_SUMMARY');
    await expect(dialog.getByLabel('Plate')).toHaveCount(0);
    await dialog.getByLabel('Kind').selectOption('VIOLATIONS');
    await dialog.getByLabel('Format').selectOption('CSV');
    await dialog.getByLabel('Period', { exact: true }).selectOption('today');
    // The filters are those of the list of events: one for severities, and codes are found by their names.
    await expect(dialog.getByText('Severity', { exact: true })).toHaveCount(1);
    await dialog.getByLabel('Violation', { exact: true }).fill('red');
    await page.getByRole('option', { name: 'Red light' }).click();
    await expect(dialog.getByRole('button', { name: 'Remove filter Violation' })).toBeVisible();
    await dialog.getByLabel('Plate').fill('06RPT42');
    await dialog.getByLabel('Why the plate is looked up').fill('Complaint 7');
    await dialog.getByRole('button', { name: 'Generate' }).click();
    const row = page.getByRole('row', { name: /Violations CSV/ });
    await expect(row).toContainText('Done');
    await page.setViewportSize({ width: 390, height: 900 });
    const day = new Date().toISOString().slice(0, 10);
    for (const text of ['Violations CSV', 'Done', day])
      await expect(row.getByText(text).filter({ visible: true }).first()).toBeVisible();
    await page.setViewportSize({ width: 1440, height: 900 });
    const waiting = page.waitForEvent('download');
    await row.getByRole('button', { name: 'Download: Violations CSV' }).click();
    const file = await waiting;
    expect(file.suggestedFilename()).toMatch(/^violations_.*\.csv$/);
    expect(await readFile(await file.path(), 'utf8')).toContain('06 RPT 42');
    await row.getByRole('button', { name: 'Delete: Violations CSV' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect(row).toHaveCount(0);
  });

  test('are followed until they are finished, also after the list could not be read', {
    tag: '@long',
  }, async ({ service, openAs }) => {
    const day = new Date().toISOString().slice(0, 10);
    await service.admin.api.reports.generate.mutate({
      kind: 'INCIDENTS',
      format: 'CSV',
      startDate: day,
      endDate: day,
    });
    const page = await openAs('ANALYST', '/account');
    let succeeded = 0;
    let isBroken = false;
    await page.route(/reports\.getReports/, async (route) => {
      if (isBroken) return route.fulfill({ status: 500, body: 'broken' });
      const response = await route.fetch();
      const body = await response.text();
      succeeded += 1;
      isBroken = succeeded === 1;
      await route.fulfill({
        response,
        body: succeeded === 1 ? body.replaceAll('"DONE"', '"RUNNING"') : body,
      });
    });
    await page.goto(`${service.url}/reports/files`);
    const row = page.getByRole('row', { name: /Incidents CSV/ });
    await expect(row).toContainText('Under way');
    await expect(page.getByRole('alert')).toBeVisible();
    isBroken = false;
    await expect(row).toContainText('Done');
    await expect(page.getByRole('alert')).toHaveCount(0);
  });

  test('are made by schedules, which are changed and deleted', async ({ openAs }) => {
    const page = await openAs('OPERATOR', '/reports/schedules');
    await page.getByRole('button', { name: 'New schedule' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption('TRAFFIC');
    await dialog.getByLabel('How often').selectOption('WEEKLY');
    await dialog.getByLabel('On', { exact: true }).selectOption({ label: 'Friday' });
    await dialog.getByLabel('At', { exact: true }).selectOption({ label: '07:00' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: /Traffic PDF/ });
    await expect(row).toContainText('Every week Friday 07:00');
    await expect(row).toContainText('07:00:00');
    await page.setViewportSize({ width: 390, height: 900 });
    const when = row.getByText('Friday 07:00').filter({ visible: true }).last();
    expect(await when.evaluate((text) => text.getBoundingClientRect().right)).toBeLessThan(270);
    await page.setViewportSize({ width: 1440, height: 900 });
    await row.getByRole('button', { name: 'Change: Traffic' }).click();
    await dialog.getByLabel('Switched on').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(row).toContainText('Switched off');
    await row.getByRole('button', { name: 'Delete the schedule: Traffic' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(page.getByText('No schedules yet')).toBeVisible();
  });

  test('are made by schedules, which keep what has changed since the dialog was opened', async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    const { id } = await api.reports.createSchedule.mutate({
      kind: 'SENSOR_HEALTH',
      format: 'CSV',
      every: 'DAILY',
      hour: 5,
    });
    const page = await openAs('OPERATOR', '/reports/schedules');
    await page.getByRole('button', { name: /^Change: / }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('At', { exact: true }).selectOption({ label: '07:00' });
    await api.reports.updateSchedule.mutate({ id, format: 'PDF', enabled: false });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
    const { schedules } = await api.reports.getSchedules.query();
    expect(schedules).toMatchObject([{ format: 'PDF', hour: 7, enabled: false }]);
    await api.reports.deleteSchedule.mutate({ id });
  });

  test('offer a role only the permitted actions', async ({ openAs }) => {
    const viewer = await openAs('VIEWER', '/reports/files');
    await expect(viewer.getByRole('heading', { name: 'Reports' })).toBeVisible();
    await expect(viewer.getByRole('button', { name: 'Generate a report' })).toHaveCount(0);
    const field = await openAs('FIELD', '/reports');
    await expect(field.getByText('It needs the permission View Reports.')).toBeVisible();
  });

  test('show figures of the events, and are accessible', { tag: '@long' }, async ({ service, openAs }) => {
    const { apiKey } = await service.sensor();
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'VEHICLE_DETECTION',
      vehicleType: 'BUS',
    });
    for (const look of LOOKS) {
      const page = await openAs('ADMIN', '/reports', look);
      await expect(page.getByRole('rowheader', { name: /Bus|حافلة/ })).toBeVisible();
      await expect(page.locator('canvas').first()).toBeVisible();
      await expect(page.getByText(/reviewed in this period|(روجع|يُراجع).*في هذه الفترة/)).toBeVisible();
      await expectAccessible(page);
      for (const path of ['/reports/files', '/reports/schedules']) {
        await page.goto(service.url + path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expectAccessible(page);
      }
      await page.context().close();
    }
  });
});
