import { expect, expectAccessible, test } from './fixtures.ts';
import { png } from './images.ts';

test('a fault is reported in the field, waits for something, is found everywhere and repaired', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await service.sensor({ name: 'Broken at the weir' });
  const field = await openAs('FIELD', `/sensors/${id}`, { width: 390, isTouched: true });
  const panel = field.getByRole('region', { name: 'Faults' });
  await expect(panel.getByText('No faults')).toBeVisible();
  await panel.getByRole('button', { name: 'Report a fault' }).tap();
  const form = field.getByRole('dialog', { name: 'Report a fault' });
  await form.getByLabel('What is wrong').fill('The glass is cracked');
  await form.getByLabel('Code').fill('GLASS');
  await expectAccessible(field);
  await form.getByRole('button', { name: 'Report a fault' }).tap();
  await expect(panel.getByText('The glass is cracked')).toBeVisible();
  const wide = await field.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide).toBeLessThanOrEqual(0);

  // An operator sees it at once in the list, and says what it waits for.
  const page = await openAs('OPERATOR', '/sensors?search=Broken');
  const row = page.getByRole('row', { name: /Broken at the weir/ });
  await expect(row).toContainText('The glass is cracked');
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Faults' }).click();
  await page.getByRole('link', { name: 'The glass is cracked' }).click();
  const dialog = page.getByRole('dialog', { name: 'Fault' });
  await dialog.getByLabel('State', { exact: true }).selectOption('Waiting');
  await dialog.getByLabel('Reason').fill('For a new pane');
  await dialog.getByLabel('Ticket').fill('T-77');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('row', { name: /The glass is cracked/ })).toContainText('Waiting');
  await expectAccessible(page);
  await expect(panel.getByText('For a new pane')).toBeVisible();

  // The search finds it by its ticket, also for somebody who only reads.
  const viewer = await openAs('VIEWER', '/');
  await expect(viewer.getByRole('heading', { level: 1 })).toBeVisible();
  await viewer.keyboard.press('/');
  await viewer.getByRole('combobox', { name: 'Search' }).fill('T-77');
  await viewer.getByRole('option', { name: /The glass is cracked/ }).click();
  const read = viewer.getByRole('dialog', { name: 'Fault' });
  await expect(read.getByRole('region', { name: 'States' })).toContainText('For a new pane');
  await expect(read.getByRole('button', { name: 'Save' })).toHaveCount(0);
  await expect(viewer.getByRole('button', { name: 'Report a fault' })).toHaveCount(0);

  // Another person changes it meanwhile, which the form does not overwrite.
  await page.getByRole('link', { name: 'The glass is cracked' }).click();
  await expect(dialog.getByLabel('Ticket')).toHaveValue('T-77');
  const [fault] = (await api.faults.getAll.query({ sensorId: id })).faults;
  await api.faults.update.mutate({ id: fault?.id ?? '', state: 'IN_REPAIR' });
  await dialog.getByLabel('State', { exact: true }).selectOption('Repaired');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText(/First Administrator changed this fault/)).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'The glass is cracked' }).click();
  await dialog.getByLabel('State', { exact: true }).selectOption('Repaired');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'The glass is cracked' })).toHaveCount(0);
  await expect(panel.getByText('Repaired')).toBeVisible();
});

test('photos of a fault are attached on a phone, also without a connection, and shown large', async ({
  service,
  openAs,
}) => {
  const { id } = await service.sensor({ name: 'Broken in pictures' });
  const field = await openAs('FIELD', `/sensors/${id}`, { width: 390, isTouched: true });
  const panel = field.getByRole('region', { name: 'Faults' });
  await panel.getByRole('button', { name: 'Report a fault' }).tap();
  const form = field.getByRole('dialog', { name: 'Report a fault' });
  await form.getByLabel('What is wrong').fill('The pole leans');
  const photo = (shade: number) => ({
    name: `${shade}.png`,
    mimeType: 'image/png',
    buffer: Buffer.from(
      png({ width: 64, height: 48 }, () => [shade, shade, shade]),
      'base64',
    ),
  });
  await form.locator('input[capture]').setInputFiles(photo(40));
  await form.locator('input[multiple]').setInputFiles([photo(120), photo(200)]);
  await form.getByRole('button', { name: 'Remove image 3' }).tap();
  await expect(form.getByRole('img', { name: 'Image 2 of 2' })).toBeVisible();
  await expectAccessible(field);
  await field.route('**/trpc/faults.report', (route) => route.abort());
  await form.getByRole('button', { name: 'Report a fault' }).tap();
  await expect(form).toHaveCount(0);
  expect((await service.admin.api.faults.getAll.query({ sensorId: id })).faults).toEqual([]);
  await field.goto(new URL('/mine', field.url()).href);
  const waiting = field.getByRole('list', { name: 'Not sent yet' });
  await expect(waiting).toContainText('The pole leans');
  await expect(waiting).toContainText('Broken in pictures');
  await expect(waiting).toContainText('with 2 images');
  await field.unroute('**/trpc/faults.report');
  await expect(waiting).toHaveCount(0, { timeout: 60_000 });

  const page = await openAs('OPERATOR', '/sensors/faults?search=leans');
  await page.getByRole('link', { name: 'The pole leans' }).click();
  const dialog = page.getByRole('dialog', { name: 'Fault' });
  const images = dialog.getByRole('button', { name: /Open image . of 2 by Field Tester/ });
  await expect(images).toHaveCount(2);
  await images.first().click();
  await expect(page.getByRole('img', { name: 'Image 1 of 2: Field Tester' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(images.first()).toBeFocused();
  await dialog.locator('input[multiple]').setInputFiles(photo(220));
  await expect(dialog.getByRole('img', { name: 'Image 1 of 1' })).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  const viewer = await openAs('VIEWER', '/sensors/faults?search=leans');
  await viewer.getByRole('link', { name: 'The pole leans' }).click();
  const read = viewer.getByRole('dialog', { name: 'Fault' });
  await expect(read.getByRole('button', { name: /Open image 1 of 1 by Operator Tester/ })).toBeVisible();
  await expect(read.locator('input[type=file]')).toHaveCount(0);
});

test('many sensors are edited at once: what would change is shown, and the change is undone', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const ids = [];
  for (let n = 0; n < 120; n++) {
    const { id } = await service.sensor({ name: `Gantry row ${String(n).padStart(3, '0')}` });
    ids.push(id);
  }
  await api.sensors.updateMany.mutate({ ids: ids.slice(0, 20), addTags: ['Row'] });
  const page = await openAs('OPERATOR', '/sensors?search=Gantry row&sortBy=name&sortOrder=asc');
  await page.getByRole('checkbox', { name: 'Select: Gantry row 000' }).check();
  const bar = page.getByRole('region', { name: 'Selected sensors' });
  await expect(bar.getByText('1 sensor selected')).toBeVisible();
  await bar.getByRole('button', { name: 'Select all 120 that match' }).click();
  await expect(bar.getByText('120 sensors selected')).toBeVisible();
  await bar.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit 120 sensors' });
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await expect(dialog.getByText('Name what to change')).toBeVisible();
  // None of the fields is wrong.
  const place = dialog.getByLabel('Location', { exact: true }).and(dialog.locator(':not([type=checkbox])'));
  await expect(place).not.toBeFocused();
  // The list of a field that is left before it is loaded neither opens nor takes the focus back.
  let load = () => {};
  const mayLoad = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route('**/assets/look-up-input*', async (route) => {
    await mayLoad;
    await route.continue();
  });
  await place.click();
  await dialog.getByLabel('Add tags').fill('row');
  load();
  await expect(dialog.getByRole('combobox', { name: 'Location' })).toBeVisible();
  await expect(dialog.getByLabel('Add tags')).toBeFocused();
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await expect(dialog.getByText('100 sensors change · 20 are like that already')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Change 100 sensors' })).toBeVisible();
  await dialog.getByLabel('Status').selectOption('Maintenance');
  await expect(dialog.getByText('100 sensors change')).toHaveCount(0);
  await dialog.getByLabel('Reason').fill('Painting');
  await dialog.getByRole('textbox', { name: 'Make' }).fill('Acme');
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await expect(dialog.getByText('120 sensors change · 0 are like that already')).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Change 120 sensors' }).click();
  await expect(page.getByText('120 sensors changed')).toBeVisible();
  const inWork = () => api.sensors.getFleet.query({ search: 'Gantry row', status: 'MAINTENANCE', take: 1 });
  expect((await inWork()).total).toBe(120);
  await page.keyboard.press('z');
  await expect.poll(async () => (await inWork()).total).toBe(0);
  expect((await api.sensors.getFleet.query({ make: 'acme', search: 'Gantry row' })).total).toBe(0);
  const { history } = await api.sensors.getStatusHistory.query({ id: ids[5] ?? '' });
  expect(history.map(({ to, reason }) => [to, reason])).toEqual([
    ['OFFLINE', 'set by hand'],
    ['MAINTENANCE', 'Painting'],
    ['OFFLINE', 'registered'],
  ]);
});

test('a viewer has no checkboxes, and an analyst no commands for many', async ({ service, openAs }) => {
  await service.sensor({ name: 'Only seen' });
  const page = await openAs('ANALYST', '/sensors?search=Only seen');
  await expect(page.getByRole('link', { name: 'Only seen' })).toBeVisible();
  await expect(page.getByRole('checkbox')).toHaveCount(0);
});

test('2,000 rows are imported behind a bar, and 50,000 bad lines are refused with a sentence', async ({
  openAs,
}) => {
  test.setTimeout(240_000);
  const page = await openAs('ADMIN', '/sensors');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Import sensors' });
  const choose = (content: string) =>
    dialog
      .getByLabel('File')
      .setInputFiles({ name: 'f.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
  const rows = (count: number, row: (n: number) => string) =>
    ['deviceId;name;type;make;warrantyUntil', ...Array.from({ length: count }, (_, n) => row(n))].join(
      '\r\n',
    );
  await choose(rows(50_000, (n) => `bad-${n};x;TELESCOPE;;soon`));
  await expect(dialog.getByRole('alert')).toContainText('more than 5000 rows', { timeout: 60_000 });
  await choose(rows(2_000, (n) => `bar-${n};x;TELESCOPE;;soon`));
  await expect(dialog.getByText('0 new · 0 changed · 0 unchanged · 2000 with errors')).toBeVisible({
    timeout: 60_000,
  });
  await choose(rows(2_000, (n) => `bar-${n};Of a bar ${n};ANPR;Acme;2030-12-31`));
  await expect(dialog.getByText('2000 new · 0 changed · 0 unchanged · 0 with errors')).toBeVisible({
    timeout: 60_000,
  });
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await expect(dialog.getByRole('progressbar')).toBeVisible();
  await expectAccessible(page);
  await expect(dialog.getByText('Applied: 2000 new, 0 changed')).toBeVisible({ timeout: 60_000 });
});

test('a warranty is over on the day after in the zone of the service, also for a user of UTC', async ({
  service,
  openAs,
}) => {
  const { sensors, system } = service.admin.api;
  const { id } = await service.sensor({ name: 'Under warranty' });
  await sensors.update.mutate({ id, warrantyUntil: '2026-11-24' });
  await system.timezone.updateTimezoneSettings.mutate({ timezone: 'Pacific/Kiritimati' });
  try {
    const page = await openAs('VIEWER', '/account');
    await page.clock.setFixedTime(new Date('2026-11-24T20:00:00Z'));
    await page.goto(`${service.url}/sensors/${id}`);
    const over = page.getByText('Over', { exact: true });
    await expect(over).toBeVisible();
    await page.getByRole('button', { name: /2026-11-25/ }).click();
    await expect(page.getByRole('button', { name: /2026-11-24/ })).toBeVisible();
    await expect(over).toBeVisible();
  } finally {
    await system.timezone.updateTimezoneSettings.mutate({ timezone: 'UTC' });
  }
});

for (const look of [
  { theme: 'dark', language: 'tr' },
  { theme: 'light', language: 'ar', width: 390 },
] as const)
  test(`axe finds nothing on sensors, faults and their dialogs, ${look.theme}, in ${look.language}`, async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    const { id } = await service.sensor({ name: `Looked at ${look.language}` });
    const { id: faultId } = await api.faults.report.mutate({
      sensorId: id,
      text: 'Zerbrochen',
      ticket: 'Z-1',
    });
    await api.sensors.update.mutate({
      id,
      make: 'Acme',
      warrantyUntil: '2020-01-31',
      certificatePlace: 'https://files.example/1.pdf',
    });
    for (const path of [
      `/sensors?search=Looked at ${look.language}`,
      `/sensors/${id}`,
      `/sensors/faults?sensorId=${id}`,
      `/sensors/faults?fault=${faultId}`,
    ]) {
      const page = await openAs('ADMIN', path, look);
      await expect(page.getByText('Zerbrochen').filter({ visible: true }).first()).toBeVisible();
      await expectAccessible(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide).toBeLessThanOrEqual(0);
      await page.context().close();
    }
  });
