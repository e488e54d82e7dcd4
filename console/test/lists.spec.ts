import { expect, expectAccessible, test } from './fixtures.ts';

test.describe('the title of the document', () => {
  test('names the page, its part, its filters and the item that is open', async ({ service, openAs }) => {
    const { id, apiKey, name } = await service.sensor({ name: 'Bridge north' });
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'TRAFFIC_VIOLATION',
      violationType: 'RED_LIGHT',
    });
    const page = await openAs('ADMIN', '/events?violationType=RED_LIGHT');
    await expect(page).toHaveTitle('Red light · Events · Gantry');
    await page.goto(`${service.url}/sensors/${id}`);
    await expect(page).toHaveTitle(`${name} · Sensors · Gantry`);
    await page.goto(`${service.url}/administration/users`);
    await expect(page).toHaveTitle('Users · Administration · Gantry');
    await page.goto(`${service.url}/reports/files`);
    await expect(page).toHaveTitle('Files · Reports · Gantry');
    await page.goto(`${service.url}/`);
    await expect(page).toHaveTitle('Overview · Gantry');
    await page.goto(`${service.url}/nothing-here`);
    await expect(page).toHaveTitle('Page not found · Gantry');
  });

  for (const [language, title] of [
    ['tr', 'Olay kayıtları · Gantry'],
    ['ar', 'الأحداث · Gantry'],
  ] as const)
    test(`is in the language of the user: ${language}`, async ({ openAs }) => {
      const page = await openAs('VIEWER', '/events', { language });
      await expect(page).toHaveTitle(title);
    });
});

test.describe('the filters of reads', () => {
  for (const look of [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'ar', width: 390 },
    { theme: 'light', language: 'tr', width: 390 },
  ] as const) {
    test(`are chips, with fields in which axe finds nothing, in ${look.language}`, async ({
      service,
      openAs,
    }) => {
      const { api } = service.admin;
      await api.locations.create.mutate({ name: `Of chips in ${look.language}`, road: 'A99' });
      const { id } = await service.sensor();
      await api.sensors.update.mutate({ id, tags: ['chips'] });
      const search = 'hours=%5B22,23%5D&weekdays=%5B6,0%5D&severities=%5B"HIGH","LOW"%5D&minSpeed=50.5';
      const page = await openAs(
        'OPERATOR',
        `/events?${search}&sensorTags=%5B"chips"%5D&road=A99&fromKilometre=-2.5`,
        look,
      );
      await expect(page.getByText('22:00, 23:00')).toBeVisible();
      for (const text of ['50.5', 'A99', '-2.5', 'chips'])
        await expect(page.getByText(text, { exact: true })).toBeVisible();
      await page.keyboard.press('f');
      const form = page.getByRole('dialog');
      await expect(form.getByRole('checkbox', { name: '23:00' })).toBeChecked();
      await expectAccessible(page);
      await form.getByRole('checkbox', { name: '22:00' }).uncheck();
      await form.getByRole('checkbox', { name: '07:00' }).check();
      await expect(page).toHaveURL(/hours=%5B7%2C23%5D/);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide).toBeLessThanOrEqual(0);
    });
  }

  test('that an address has wrong are left out, and named', async ({ openAs }) => {
    const page = await openAs('VIEWER', '/events?hours=%5B24%5D&weekdays=7&minExcess=-1&minSpeed=40');
    await expect(page.getByRole('status').filter({ hasText: 'minExcess' })).toContainText('hours');
    await expect(page).not.toHaveURL(/hours/);
    await expect(page).toHaveURL(/minSpeed=40/);
  });
});

test('the arrow keys move in a list, and not while a field or another area has the focus', async ({
  service,
  openAs,
}) => {
  const { apiKey } = await service.sensor();
  for (const plate of ['ARR 1', 'ARR 2', 'ARR 3'])
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: plate,
      violationType: 'ARROWS',
    });
  const page = await openAs('OPERATOR', '/events?violationType=ARROWS');
  const at = (plate: string) => page.getByRole('row', { name: plate });
  await expect(at('ARR 1')).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(at('ARR 3')).toHaveAttribute('aria-current', 'true');
  await page.keyboard.press('ArrowDown');
  await expect(at('ARR 2')).toHaveAttribute('aria-current', 'true');
  await page.keyboard.press('ArrowUp');
  await expect(at('ARR 3')).toHaveAttribute('aria-current', 'true');
  await page.getByLabel('Jump to date').focus();
  await page.keyboard.press('ArrowDown');
  await expect(at('ARR 3')).toHaveAttribute('aria-current', 'true');
});

test('the checkbox of a row names what it selects', async ({ service, openAs }) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({
    apiKey,
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber: 'BOX 1',
    violationType: 'BOXES',
    timestamp: new Date('2026-11-20T08:15:00Z'),
  });
  const page = await openAs('OPERATOR', '/events?violationType=BOXES');
  await page.getByRole('checkbox', { name: 'Select: BOXES, BOX 1, 2026-11-20 08:15:00' }).check();
  await expect(page.getByText('1 selected')).toBeVisible();
});

test('the longest times, of a clock of twelve hours, are not cut off', async ({ service, openAs }) => {
  const { timezone } = service.admin.api.system;
  await timezone.updateTimezoneSettings.mutate({ dateFormat: 'MM/DD/YYYY', use24HourFormat: false });
  try {
    const page = await openAs('ADMIN', '/administration/activity');
    const cells = page.getByRole('cell').filter({ has: page.locator('time') });
    await expect(cells.first()).toHaveText(/[AP]M$/);
    const isCut = (all: Element[]) => all.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
    expect(await cells.evaluateAll(isCut)).toBe(false);
  } finally {
    await timezone.updateTimezoneSettings.mutate({ dateFormat: 'YYYY-MM-DD', use24HourFormat: true });
  }
});

for (const language of ['ar', 'tr'] as const)
  test(`the headers of columns are not cut off in ${language}`, async ({ service, openAs }) => {
    const { id: locationId } = await service.admin.api.locations.create.mutate({
      name: `Header ${language}`,
    });
    await service.sensor({ locationId });
    const isCut = (all: Element[]) =>
      all
        .flatMap((header) => [header, ...header.querySelectorAll(':not(.sr-only)')])
        .filter((each) => getComputedStyle(each).overflow !== 'visible')
        .some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1);
    const page = await openAs('OPERATOR', '/locations', { language });
    for (const address of ['/locations', '/traffic']) {
      await page.goto(`${service.url}${address}`);
      const headers = page.getByRole('columnheader');
      await expect(headers.first()).toBeVisible();
      expect(await headers.evaluateAll(isCut), address).toBe(false);
    }
  });

test.describe('a range of time', () => {
  test('is entered to the minute, and contains exactly its hour on the days on which the clocks change', async ({
    service,
    openAs,
  }) => {
    const { timezone } = service.admin.api.system;
    await timezone.updateTimezoneSettings.mutate({ timezone: 'Europe/Berlin', dateFormat: 'DD.MM.YYYY' });
    try {
      const { apiKey } = await service.sensor();
      // The hour from 02:00 to 03:00 occurs twice: from 00:00 and from 01:00 in UTC.
      const times = [
        '2025-10-25T23:59:59.999Z',
        '2025-10-26T00:00Z',
        '2025-10-26T00:59:59.999Z',
        '2025-10-26T01:00Z',
      ];
      for (const [n, time] of times.entries())
        await service.admin.api.events.ingest.mutate({
          apiKey,
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: `HOUR ${n}`,
          violationType: 'HOURS',
          timestamp: new Date(time),
        });
      const page = await openAs('OPERATOR', '/events?violationType=HOURS');
      await expect(page.getByText('4 events')).toBeVisible();
      await page.keyboard.press('f');
      const form = page.getByRole('dialog', { name: 'Filter' });
      const [from, until] = [form.getByLabel('From'), form.getByLabel('Until')];
      await from.fill('26.10.2025 02:00');
      await from.press('Enter');
      await until.fill('26.10.2025 03:00');
      await until.press('Enter');
      await expect(page).toHaveURL(/startDate=2025-10-26T02%3A00%2B02%3A00/);
      await expect(page.getByText('3 events')).toBeVisible();
      await form.getByLabel('The clocks show this time twice').selectOption('UTC+01:00');
      await expect(page.getByText('1 events').or(page.getByText('1 event', { exact: true }))).toBeVisible();
      await expect(page.getByRole('row', { name: 'HOUR 3' })).toBeVisible();
      await from.fill('30.03.2025 02:30');
      await from.press('Enter');
      await expect(form.getByText('skip this time')).toBeVisible();
      await page.reload();
      await expect(page.getByText('26.10.2025 02:00', { exact: true })).toBeVisible();
      await expect(page.getByText('26.10.2025 03:00', { exact: true })).toBeVisible();
      await page.keyboard.press('f');
      await form.getByRole('button', { name: 'Last 8 hours' }).click();
      await expect(page).not.toHaveURL(/endDate/);
      const start = new URL(page.url()).searchParams.get('startDate') ?? '';
      expect(start).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/);
    } finally {
      await timezone.updateTimezoneSettings.mutate({ timezone: 'UTC', dateFormat: 'YYYY-MM-DD' });
    }
  });

  test('of a link is shown as a person reads it', async ({ openAs }) => {
    const page = await openAs('OPERATOR', '/events?startDate=2026-11-26T12:00:00Z&endDate=2026-11-26T14:59');
    await expect(page.getByText('2026-11-26 12:00', { exact: true })).toBeVisible();
    await expect(page.getByText('2026-11-26 15:00', { exact: true })).toBeVisible();
  });
});
