import { readFileSync } from 'node:fs';
import { expect, expectAccessible, test } from './fixtures.ts';

const ANKARA = { latitude: 39.92, longitude: 32.85 };

test.describe('sensors', () => {
  test('an operator creates one, sees errors beside the fields, and sends its first event with the command', async ({
    service,
    openAs,
  }) => {
    const page = await openAs('OPERATOR', '/sensors');
    await page.getByRole('button', { name: 'New sensor' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Device ID').fill('story-camera-1');
    await form.getByLabel('Name', { exact: true }).fill('ab');
    await form.getByLabel('Latitude').fill('95');
    await form.getByRole('button', { name: 'Create sensor' }).click();
    await expect(form).toContainText('Use at least 3 characters');
    await expect(form).toContainText('Must be at most 90');
    await expect(form.getByLabel('Name', { exact: true })).toBeFocused();
    await form.getByLabel('Name', { exact: true }).fill('Camera of a story');
    await form.getByLabel('Latitude').fill('39.92');
    await form.getByLabel('Longitude').fill('32.85');
    await form.getByRole('button', { name: 'Create sensor' }).click();
    await expect(form).toContainText('can show and copy the key later');
    const command = await form.locator('pre').innerText();
    expect(command).toContain(`${service.url}/trpc/events.ingest`);
    const [, body = ''] = /-d '(.*)'$/.exec(command) ?? [];
    const sent = await fetch(`${service.url}/trpc/events.ingest`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(sent.status).toBe(200);
    await form.getByRole('link', { name: 'Open sensor' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Camera of a story');
    await expect(page.getByRole('region', { name: 'Latest event' })).toContainText('1AB 2345');
  });

  test('what was entered stays when somebody presses beside the dialog', async ({ openAs }) => {
    const page = await openAs('OPERATOR', '/sensors');
    await page.getByRole('button', { name: 'New sensor' }).first().click();
    const typed = page.getByLabel('Device ID');
    await typed.fill('half typed');
    await page.mouse.click(20, 600);
    // Long enough for a dialog to close.
    await page.waitForTimeout(500);
    await expect(typed).toHaveValue('half typed');
    await page.keyboard.press('Escape');
    await expect(typed).toHaveCount(0);
  });

  test('changing one leaves alone what has changed since the form was opened', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const { id, apiKey } = await service.sensor({ name: 'Changes meanwhile' });
    const { api } = service.admin;
    await api.sensors.heartbeat.mutate({ apiKey });
    const page = await openAs('OPERATOR', `/sensors/${id}`);
    const header = page.locator('main > header');
    await expect(header).toContainText('Online');
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('Above lane 2');
    await api.sensors.update.mutate({ id, name: 'Renamed meanwhile', status: 'MAINTENANCE' });
    await expect(header).toContainText('Maintenance');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
    expect(await api.sensors.getById.query({ id })).toMatchObject({
      name: 'Renamed meanwhile',
      status: 'MAINTENANCE',
      description: 'Above lane 2',
    });
  });

  test('changing one leaves the rule of its heartbeats as another user has set it meanwhile', {
    tag: '@long',
  }, async ({ service, openAs }) => {
    const { id } = await service.sensor({ name: 'Has another rule' });
    const { api } = service.admin;
    const page = await openAs('OPERATOR', `/sensors/${id}`);
    const details = page.getByRole('region', { name: 'Details' });
    await expect(details).toContainText('Heartbeats and events');
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('Above lane 3');
    await expect(dialog.getByLabel('Requires heartbeats')).not.toBeChecked();
    await api.sensors.update.mutate({ id, requiresHeartbeats: true, status: 'MAINTENANCE' });
    await expect(page.getByText('Heartbeats only')).toBeVisible();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
    expect(await api.sensors.getSignsOfLife.query({ id })).toMatchObject({ requiresHeartbeats: true });
  });

  test('one without an address shows none', async ({ service, openAs }) => {
    const { id } = await service.sensor({ name: 'Without an address', coordinates: ANKARA });
    const page = await openAs('VIEWER', `/sensors/${id}`);
    const place = page.getByRole('region', { name: 'Location' });
    await expect(place).toContainText('Coordinates');
    await expect(place).not.toContainText('Address');
  });

  test('the key is copied without being shown, shown by a separate action, and rotated with an overlap', async ({
    service,
    openAs,
  }) => {
    const { id, apiKey } = await service.sensor({ name: 'Keeper of a key' });
    const page = await openAs('OPERATOR', `/sensors/${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const panel = page.getByRole('region', { name: 'API key' });
    await page.route('**/trpc/sensors.revealKey*', (route) => route.fulfill({ status: 500, body: 'broken' }));
    await panel.getByRole('button', { name: 'Copy key' }).click();
    await expect(page.getByText('is it a Gantry service?')).toBeVisible();
    await page.unroute('**/trpc/sensors.revealKey*');
    await panel.getByRole('button', { name: 'Copy key' }).click();
    await expect(panel.getByRole('button', { name: 'Copied' })).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(apiKey);
    await expect(page.locator('body')).not.toContainText(apiKey);
    await panel.getByRole('button', { name: 'Show key' }).click();
    await expect(panel).toContainText(apiKey);
    await panel.getByRole('button', { name: 'Rotate key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Old key stays valid').selectOption('1 hour');
    await dialog.getByRole('button', { name: 'Rotate key' }).click();
    await dialog.getByRole('button', { name: 'Copy new key' }).click();
    await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible();
    const fresh = await page.evaluate(() => navigator.clipboard.readText());
    expect(fresh).toMatch(/^[0-9a-f]{64}$/);
    expect(fresh).not.toBe(apiKey);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect(panel).toContainText('Old key valid until');
    await expect(page.locator('body')).not.toContainText(fresh);
    await service.admin.api.sensors.heartbeat.mutate({ apiKey });
  });

  test('the key of one is not shown on the page of another', async ({ service, openAs }) => {
    const shown = await service.sensor({ name: 'Shows its key' });
    const other = await service.sensor({ name: 'Shows no key' });
    const page = await openAs('OPERATOR', `/sensors/${other.id}`);
    const title = page.getByRole('heading', { level: 1 });
    await expect(title).toContainText('Shows no key');
    await page.evaluate((to) => history.pushState({}, '', to), `/sensors/${shown.id}`);
    await expect(title).toContainText('Shows its key');
    const panel = page.getByRole('region', { name: 'API key' });
    await panel.getByRole('button', { name: 'Show key' }).click();
    await expect(panel).toContainText(shown.apiKey);
    await page.goBack();
    await expect(title).toContainText('Shows no key');
    await expect(panel).toBeVisible();
    await expect(page.locator('body')).not.toContainText(shown.apiKey);
  });

  test('a user who may not manage sensors is offered neither the key nor changes', async ({
    service,
    openAs,
  }) => {
    const { id } = await service.sensor({ name: 'Seen by an analyst' });
    const page = await openAs('ANALYST', `/sensors/${id}`);
    await expect(page.getByRole('region', { name: 'Availability' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Edit' })).toHaveCount(0);
    await expect(page.getByRole('region', { name: 'API key' })).toHaveCount(0);
  });

  test('its status is shown over time and as a table, and is updated while the page is open', async ({
    service,
    openAs,
  }) => {
    const { id, apiKey } = await service.sensor({ name: 'Sleeper' });
    const page = await openAs('OPERATOR', `/sensors/${id}`);
    const history = page.getByRole('region', { name: 'Availability' });
    await expect(history.getByRole('img', { name: 'Last 7 days' })).toBeVisible();
    await expect(history.getByRole('row').nth(1)).toContainText('Registered');
    await service.admin.api.sensors.heartbeat.mutate({ apiKey });
    await expect(history.getByRole('row').nth(1)).toContainText('Heartbeat received');
    await expect(page.locator('main > header')).toContainText('Online');

    const other = await service.sensor({ name: 'Sends events only' });
    await service.admin.api.events.ingest.mutate({ apiKey: other.apiKey, eventType: 'VEHICLE_DETECTION' });
    const second = await openAs('OPERATOR', `/sensors/${other.id}`);
    const itsHistory = second.getByRole('region', { name: 'Availability' });
    await expect(itsHistory.getByRole('row').nth(1)).toContainText('Event received');
  });

  test('one that requires heartbeats stays offline when it sends events', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const { id, apiKey } = await service.sensor({ name: 'Needs heartbeats' });
    const page = await openAs('OPERATOR', `/sensors/${id}`);
    const details = page.getByRole('region', { name: 'Details' });
    await expect(details).toContainText('Heartbeats and events');
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Requires heartbeats').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(details).toContainText('Heartbeats only');
    await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
    await page.reload();
    await expect(details).toContainText('Never heard from');
    await expect(page.locator('main > header')).toContainText('Offline');
    await service.admin.api.sensors.heartbeat.mutate({ apiKey });
    await expect(page.locator('main > header')).toContainText('Online');
  });

  test('list and map share one address, and the list beside the map works by keyboard', async ({
    service,
    openAs,
  }) => {
    const { id } = await service.sensor({ name: 'Mapped one', coordinates: ANKARA });
    const page = await openAs('OPERATOR', '/sensors?search=Mapped');
    await expect(page.getByRole('link', { name: 'Mapped one' })).toBeVisible();
    await page.keyboard.press('v');
    await expect(page).toHaveURL(/view=map/);
    const twin = page.getByRole('region', { name: 'Map of the sensors' }).last();
    await twin.getByRole('button', { name: /Mapped one/ }).focus();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`sensor=${id}`));
    await page.getByRole('link', { name: 'Open sensor' }).click();
    await expect(page).toHaveURL(new RegExp(`/sensors/${id}$`));
  });

  test('without WebGL there is a map of dots, and no error', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    await service.sensor({ name: 'Dotted one', coordinates: ANKARA });
    const page = await openAs('OPERATOR', '/events');
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await page.goto(`${service.url}/sensors?view=map`);
    await expect(page.getByText('this browser offers no WebGL')).toBeVisible();
    await expect(page.locator('svg circle').first()).toBeVisible();
    await expect(page.locator('svg text').filter({ hasText: 'Dotted one' })).toBeVisible();
    await expectAccessible(page);
  });

  for (const look of [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'ar' },
  ] as const) {
    test(`axe finds nothing on the list, the map and the page of one, ${look.theme}, in ${look.language}`, {
      tag: ['@long'],
    }, async ({ service, openAs }) => {
      const { id } = await service.sensor({ name: 'Accessible', coordinates: ANKARA });
      for (const path of ['/sensors', '/sensors?view=map', `/sensors/${id}`]) {
        const page = await openAs('ADMIN', path, look);
        await expect(page.getByText('Accessible').first()).toBeVisible();
        await expectAccessible(page);
        await page.context().close();
      }
    });
  }
});

test('what somebody else chose in the same field is named', { tag: '@long' }, async ({ service, openAs }) => {
  const { api } = service.admin;
  const { id } = await service.sensor({ name: 'Chosen by two' });
  const page = await openAs('OPERATOR', `/sensors/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  const type = dialog.getByLabel('Type');
  await type.selectOption('RADAR');
  await api.sensors.update.mutate({ id, type: 'SPEED_DETECTOR', description: 'Theirs' });
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(type).toBeFocused();
  await expect(type).toHaveAccessibleDescription(/changed this to: .*Speed detector/);
  await dialog.getByRole('button', { name: 'Save my changes too' }).click();
  await expect(dialog).toHaveCount(0);
  const saved = await api.sensors.getById.query({ id });
  expect(saved).toMatchObject({ type: 'RADAR', description: 'Theirs' });
});

test('two hundred sensors are registered by a file with four clicks, and their keys are saved', async ({
  service,
  openAs,
}) => {
  const page = await openAs('ADMIN', '/');
  const text = (type: string) =>
    [
      'deviceId;name;type;tags',
      ...Array.from(
        { length: 200 },
        (_, n) => `fleet-${n};Fleet camera ${n};${n === 7 ? type : 'ANPR'};Fleet`,
      ),
    ].join('\r\n');
  await page.getByRole('link', { name: 'Sensors', exact: true }).click();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Import sensors' });
  const choose = (name: string, content: string) =>
    dialog.getByLabel('File').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
  await choose('wrong.csv', text('TELESCOPE'));
  await expect(dialog.getByText('199 new · 0 changed · 0 unchanged · 1 with errors')).toBeVisible();
  await expect(dialog.getByRole('region', { name: 'Errors' }).getByRole('row').nth(1)).toContainText('type');
  await expect(dialog.getByRole('button', { name: 'Apply' })).toHaveCount(0);
  await choose('fleet.csv', text('RADAR'));
  await expect(dialog.getByText('200 new · 0 changed · 0 unchanged · 0 with errors')).toBeVisible();
  await expectAccessible(page);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  const keys = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n');
  await expect(dialog.getByText('Applied: 200 new, 0 changed')).toBeVisible();
  expect(keys).toHaveLength(201);
  expect(keys[1]).toMatch(/^fleet-0,Fleet camera 0,[0-9a-f]{64}$/);
  const { total } = await service.admin.api.sensors.getAll.query({ tag: 'fleet' });
  expect(total).toBe(200);

  // The same file as a workbook changes nothing, and a changed one is shown before it is applied.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const saved = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'XLSX', exact: true }).click();
  await dialog.getByLabel('File').setInputFiles(await (await saved).path());
  await expect(dialog.getByText(/^0 new · 0 changed/)).toBeVisible();
  await choose('model.csv', 'deviceId,model\r\nfleet-3,X9\r\n');
  await expect(dialog.getByText('model: – → X9')).toBeVisible();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await expect(dialog.getByText('Applied: 0 new, 1 changed')).toBeVisible();

  for (;;) {
    const { sensors } = await service.admin.api.sensors.getAll.query({ tag: 'fleet', take: 100 });
    if (sensors.length === 0) break;
    await Promise.all(sensors.map(({ id }) => service.admin.api.sensors.delete.mutate({ id })));
  }
});
