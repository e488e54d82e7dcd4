import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';

/** A request body that was captured from a camera. */
const captured = (name: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../device-formats/test/messages/${name}`, import.meta.url)), 'utf8');
const PASSAGE = await captured('hikvision-anpr-deepinview-v58.xml');

/** Sends it as a device does, which is configured with nothing but the URL. */
async function send(url: string, body: string, contentType: string): Promise<void> {
  const { status } = await fetch(url, { method: 'POST', headers: { 'content-type': contentType }, body });
  expect(status).toBe(200);
}
const sendPassage = (url: string): Promise<void> => send(url, PASSAGE, 'application/xml');

const rows = (page: Page) => page.locator('tr[data-key]');
const pane = (page: Page) => page.getByRole('complementary', { name: 'Message' });

test.describe('connections', () => {
  test('an operator connects a camera; the values to enter are shown once', async ({ service, openAs }) => {
    const { id } = await service.sensor({ name: 'To be connected' });
    const page = await openAs('OPERATOR', `/sensors/${id}`);
    const panel = page.getByRole('region', { name: 'Connections' });
    await expect(panel).toContainText('This sensor reports with its API key');
    await panel.getByRole('button', { name: 'Connect a device' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Format').selectOption('hikvision');
    await dialog.getByLabel('Time zone of the device').fill('Europe/Nowhere');
    await dialog.getByRole('button', { name: 'Create connection' }).click();
    await expect(dialog.getByLabel('Time zone of the device')).toBeFocused();
    await dialog.getByLabel('Time zone of the device').fill('Europe/Istanbul');
    await dialog.getByRole('button', { name: 'Create connection' }).click();

    const secrets = page.getByRole('dialog', { name: 'Connection created' });
    await expect(secrets).toContainText('shown only now');
    const enteredAs = (name: string) =>
      secrets
        .locator('div')
        .filter({ has: page.getByText(name, { exact: true }) })
        .locator('code')
        .last();
    const url = await enteredAs('Address').innerText();
    const token = await enteredAs('Token').innerText();
    const password = await enteredAs('Password').innerText();
    // The host is an address that devices reach, which this service does not listen on.
    const { pathname, port } = new URL(url);
    expect([pathname, port]).toEqual([`/gateway/hikvision/${token}`, new URL(service.url).port]);
    expect(await enteredAs('User name').innerText()).not.toBe('');
    // The maximum lengths that the web interface of these cameras accepts.
    expect(password.length).toBeLessThanOrEqual(16);
    expect(url.length).toBeLessThan(128);
    expect(await secrets.locator('ol > li').count()).toBeGreaterThan(2);
    await page.keyboard.press('Escape');
    await expect(secrets).toBeVisible();
    await secrets.getByRole('button', { name: 'I have entered them' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);

    await expect(panel.getByRole('link', { name: /Hikvision/ })).toBeVisible();
    await expect(panel).toContainText('No message yet');
    await expect(page.locator('body')).not.toContainText(password);
    await expect(page.locator('body')).not.toContainText(token);
    await sendPassage(`${service.url}${pathname}`);
    await expect(panel).toContainText('Stored');
    await panel.getByRole('link', { name: /Hikvision/ }).click();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('To be connected');
    await expect(rows(page)).toHaveCount(1);
    await expect(page.locator('body')).not.toContainText(password);
  });

  test('a message is shown unchanged with its result; replaying it creates no second event', async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    const { id: sensorId } = await service.sensor({ name: 'Of a camera' });
    const { id, url } = await api.connections.create.mutate({ sensorId, format: 'hikvision' });
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
    await expect(page.getByText('Nothing has arrived yet')).toBeVisible();
    await sendPassage(url);
    await expect(rows(page)).toHaveCount(1);
    await expect(rows(page).first()).toContainText('Stored');
    await page.keyboard.press('j');
    await expect(page).toHaveURL(/message=/);
    await expect(pane(page)).toContainText('Stored');
    await expect(pane(page)).toContainText('application/xml');
    await expect(pane(page)).toContainText('<licensePlate>WX1234A</licensePlate>');
    const events = async () => (await api.events.getAll.query({ sensorId })).total;
    expect(await events()).toBe(1);

    await pane(page).getByRole('button', { name: 'Read again' }).click();
    await expect(page.getByRole('status').filter({ hasText: '1 message is read again' })).toBeVisible();
    await expect(pane(page)).toContainText('Stored before');
    expect(await events()).toBe(1);
    await pane(page)
      .getByRole('link', { name: /^[0-9a-f]{8}-/ })
      .click();
    await expect(page).toHaveURL(/\/events\?event=/);
    await expect(page.getByRole('complementary')).toContainText('WX1234A');
  });

  test('an unreadable message shows the reason and can be filtered by status', async ({
    service,
    openAs,
  }) => {
    const { id: sensorId } = await service.sensor({ name: 'Of a wrong format' });
    const { id, url } = await service.admin.api.connections.create.mutate({ sensorId, format: 'hikvision' });
    await sendPassage(url);
    await send(
      url,
      '<!DOCTYPE a [<!ENTITY b "c">]><EventNotificationAlert>&b;</EventNotificationAlert>',
      'text/xml',
    );
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
    await expect(rows(page)).toHaveCount(2);
    await page.goto(`${page.url()}?status=REFUSED`);
    await expect(rows(page)).toHaveCount(1);
    const { messages } = await service.admin.api.connections.getMessages.query({ connectionId: id });
    const reason = messages[0]?.reason ?? '';
    expect(reason).not.toBe('');
    await rows(page).first().click();
    await expect(pane(page)).toContainText(reason);
    await page.getByRole('button', { name: 'Read refused ones again' }).click();
    await expect(page.getByRole('status').filter({ hasText: '1 message is read again' })).toBeVisible();
    await expect(pane(page)).toContainText('Refused');
    await page.keyboard.press('Escape');
    await expect(pane(page)).toHaveCount(0);
    await page.keyboard.press('Escape');
    await expect(rows(page)).toHaveCount(2);
  });

  const discovery = 'an unassigned camera of an NVR becomes a sensor, and its earlier messages become events';
  test(discovery, { tag: ['@long'] }, async ({ service, openAs }) => {
    const { api } = service.admin;
    const { id: sensorId } = await service.sensor({ name: 'NVR of a story' });
    const { id, url } = await api.connections.create.mutate({
      sensorId,
      format: 'hikvision',
      options: { sensors: {} },
    });
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
    await expect(page.getByText('Nothing has arrived yet')).toBeVisible();
    const found = page.getByRole('region', { name: 'Devices without a sensor' });
    await expect(found).toHaveCount(0);
    await sendPassage(url);
    await expect(found).toContainText('1 message');
    await expect(rows(page).first()).toContainText('Unknown device');
    await found.getByRole('button', { name: 'Register' }).click();
    const dialog = page.getByRole('dialog', { name: 'Register device' });
    const name = dialog.getByLabel('Name of the new sensor');
    await expect(name).not.toHaveValue('');
    await name.fill('ab');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await expect(dialog).toContainText('at least 3 characters');
    await name.fill('Lane 1 of an NVR');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await expect(
      page.getByRole('status').filter({ hasText: 'Device registered, 1 message is read again' }),
    ).toBeVisible();
    await expect(found).toHaveCount(0);
    await expect(rows(page).first()).toContainText('Stored');
    const { sensors } = await api.sensors.getAll.query({ search: 'Lane 1 of an NVR' });
    expect(sensors).toHaveLength(1);
    expect((await api.events.getAll.query({ sensorId: sensors[0]?.id ?? '' })).total).toBe(1);
  });

  test('changing one keeps the options that have changed since the dialog was opened', async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    const { id: sensorId } = await service.sensor({ name: 'NVR that is changed' });
    const { id, url } = await api.connections.create.mutate({
      sensorId,
      format: 'hikvision',
      options: { sensors: {}, speedUnit: 'mph' },
    });
    await sendPassage(url);
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
    await expect(rows(page).first()).toContainText('Unknown device');
    await page.keyboard.press('e');
    const dialog = page.getByRole('dialog', { name: 'Edit connection' });
    await dialog.getByLabel('Least confidence of a plate in percent').fill('40');
    await dialog.getByLabel('The device is').selectOption('one');
    const { discoveries } = await api.connections.getDiscoveries.query({ connectionId: id });
    await api.connections.register.mutate({ id: discoveries[0]?.id ?? '', sensorId });
    await api.connections.update.mutate({ id, timeZone: 'Europe/Vienna' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
    const { timeZone, options } = await api.connections.getById.query({ id });
    expect(timeZone).toBe('Europe/Vienna');
    expect(options).toMatchObject({ speedUnit: 'mph', minConfidence: 0.4 });
    expect(Object.values(options.sensors ?? {})).toEqual([sensorId]);
  });

  test('a mapping is written, tried on the last message, saved, and applied by a replay', async ({
    service,
    openAs,
  }) => {
    const { api } = service.admin;
    const { id: sensorId } = await service.sensor({ name: 'Of nobody known' });
    const { id, url } = await api.connections.create.mutate({ sensorId, format: 'mapped' });
    await send(url, JSON.stringify({ car: { no: 'XY 99', kmh: 61 } }), 'application/json');
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
    await expect(rows(page).first()).toContainText('Refused');
    await page.keyboard.press('e');
    const dialog = page.getByRole('dialog', { name: 'Edit connection' });
    const mapping = dialog.getByLabel('Mapping');
    await mapping.fill('{"plate": ');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(mapping).toBeFocused();
    await expect(mapping).toHaveAttribute('aria-invalid', 'true');
    await mapping.fill('{"plate": body.car.no, "speed": body.car.kmh}');
    await dialog.getByRole('button', { name: 'Try it with the last message' }).click();
    const tried = dialog.getByRole('region', { name: 'What the last message would become' });
    await expect(tried).toContainText('"licensePlateNumber": "XY 99"');
    await expect(tried).toContainText('"vehicleSpeed": 61');
    await dialog.getByLabel('Unit of speeds').selectOption('mph');
    await dialog.getByRole('button', { name: 'Try it with the last message' }).click();
    await expect(tried).toContainText('"vehicleSpeed": 98');
    expect((await api.events.getAll.query({ sensorId })).total).toBe(0);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
    expect((await api.connections.getById.query({ id })).options.mapping).toContain('body.car.no');
    await page.getByRole('button', { name: 'Read refused ones again' }).click();
    await expect(rows(page).first()).toContainText('Stored');
    expect((await api.events.getAll.query({ sensorId })).total).toBe(1);
  });

  test('rotating a connection shows new values; deleting it leads to its sensor', async ({
    service,
    openAs,
  }) => {
    const { id: sensorId } = await service.sensor({ name: 'Of old secrets' });
    const made = await service.admin.api.connections.create.mutate({ sensorId, format: 'dahua' });
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${made.id}`);
    await page.getByRole('button', { name: 'Rotate' }).click();
    const ask = page.getByRole('dialog', { name: 'Rotate token and password?' });
    await ask.getByRole('button', { name: 'Rotate' }).click();
    const secrets = page.getByRole('dialog', { name: 'Token and password rotated' });
    await expect(secrets).toContainText(`${service.url}/gateway/dahua/`);
    await expect(secrets).toContainText(made.username);
    await expect(secrets).not.toContainText(made.token);
    await secrets.getByRole('button', { name: 'I have entered them' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    expect((await fetch(made.url, { method: 'POST', body: '{}' })).status).toBe(404);
    await page.getByRole('button', { name: 'Delete' }).click();
    const sure = page.getByRole('dialog', { name: 'Delete this connection?' });
    await sure.getByRole('button', { name: 'Delete' }).click();
    await expect(page).toHaveURL(new RegExp(`/sensors/${sensorId}$`));
    await expect(page.getByRole('region', { name: 'Connections' })).toContainText(
      'This sensor reports with its API key',
    );
  });

  test('the page counts refused and lost messages, and warns of topics', async ({ service, openAs }) => {
    const { id: sensorId } = await service.sensor({ name: 'Sends too much' });
    const { id } = await service.admin.api.connections.create.mutate({ sensorId, format: 'hikvision' });
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Sends too much');
    await expect(page.getByText('were refused')).toHaveCount(0);
    // Changes the response: in reality this takes thousands of messages a minute, or a failing database and disk.
    await page.route(
      ({ pathname }) => pathname.includes('connections.getById'),
      async (route) => {
        const response = await route.fetch();
        const body = (await response.text())
          .replace('"limitedMessages":0', '"limitedMessages":1200')
          .replace('"lostMessages":0', '"lostMessages":1')
          .replace('"topicsWarning":null', '"topicsWarning":"EVERY_DEVICE"');
        await route.fulfill({ response, body });
      },
    );
    await page.reload();
    await expect(page.getByText('1,200 messages were refused')).toBeVisible();
    await expect(page.getByText('1 message was lost')).toBeVisible();
    await expect(page.getByText('It receives from every device over MQTT')).toBeVisible();
  });

  test('a user who may not manage sensors sees no connections; the page of one gives the reason', async ({
    service,
    openAs,
  }) => {
    const { id: sensorId } = await service.sensor({ name: 'Seen by a viewer' });
    const { id } = await service.admin.api.connections.create.mutate({ sensorId, format: 'hikvision' });
    const page = await openAs('VIEWER', `/sensors/${sensorId}`);
    await expect(page.getByRole('region', { name: 'Availability' })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Connections' })).toHaveCount(0);
    await page.goto(`${service.url}/sensors/${sensorId}/connections/${id}`);
    await expect(page.getByText('It needs the permission Manage Sensors.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Rotate' })).toHaveCount(0);
  });

  test('on a phone the message covers the list, and the page does not scroll sideways', async ({
    service,
    openAs,
  }) => {
    const { id: sensorId } = await service.sensor({ name: 'On a phone' });
    const { id, url } = await service.admin.api.connections.create.mutate({ sensorId, format: 'hikvision' });
    await sendPassage(url);
    const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`, { width: 390 });
    await rows(page).first().click();
    await expect(pane(page)).toContainText('Stored');
    const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await tooWide()).toBeLessThanOrEqual(0);
    await pane(page).getByRole('button', { name: 'Close' }).click();
    await expect(pane(page)).toHaveCount(0);
    expect(await tooWide()).toBeLessThanOrEqual(0);
  });

  for (const look of [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'ar' },
  ] as const) {
    test(`axe finds nothing on a connection, its dialogs and its discoveries, ${look.theme}, in ${look.language}`, {
      tag: ['@long'],
    }, async ({ service, openAs }) => {
      const { api } = service.admin;
      const { id: sensorId } = await service.sensor({ name: 'Accessible NVR' });
      const { id, url } = await api.connections.create.mutate({
        sensorId,
        format: 'hikvision',
        options: { sensors: {} },
      });
      await sendPassage(url);
      const { id: mapped } = await api.connections.create.mutate({ sensorId, format: 'mapped' });
      const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`, look);
      await expect(page.locator('section[class*=bg-medium]')).toBeVisible();
      await rows(page).first().click();
      await expect(page.locator('aside pre')).toBeVisible();
      await expectAccessible(page);
      await page.goto(`${service.url}/sensors/${sensorId}/connections/${mapped}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      // The page registers its shortcuts when it shows its commands.
      await expect(page.locator('header button')).not.toHaveCount(0);
      await expect(async () => {
        await page.keyboard.press('e');
        await expect(page.locator('textarea[name="options.mapping"]')).toBeVisible({ timeout: 2_000 });
      }).toPass();
      await expectAccessible(page);
      await page.goto(`${service.url}/sensors/${sensorId}`);
      const panel = page.locator('section', { has: page.locator('a[href*="/connections/"]') }).last();
      await panel.getByRole('button').first().click();
      await page.getByRole('dialog').locator('button[type=submit]').click();
      await expect(page.getByRole('dialog').locator('ol')).toBeVisible();
      await expectAccessible(page);
    });
  }
});

test('a failure stays with the message whose reading failed', async ({ service, openAs }) => {
  const { id: sensorId } = await service.sensor();
  const { id, url } = await service.admin.api.connections.create.mutate({ sensorId, format: 'hikvision' });
  for (const body of ['<a/>', '<b/>'])
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/xml' }, body });
  const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
  await page.route('**/trpc/connections.replay*', (route) => route.abort());
  await expect(page.getByRole('row')).toHaveCount(3);
  await page.keyboard.press('j');
  const pane = page.getByRole('complementary');
  await pane.getByRole('button', { name: /again/i }).click();
  await expect(pane.getByRole('alert')).toBeVisible();
  await page.keyboard.press('j');
  await expect(page).toHaveURL(/message=/);
  await expect(pane.getByRole('alert')).toHaveCount(0);
});

test('the least confidence is shown as it was entered', async ({ service, openAs }) => {
  const { id: sensorId } = await service.sensor();
  const options = { minConfidence: 0.29 };
  const { id } = await service.admin.api.connections.create.mutate({
    sensorId,
    format: 'hikvision',
    options,
  });
  const page = await openAs('OPERATOR', `/sensors/${sensorId}/connections/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(page.getByRole('dialog').getByLabel('Least confidence of a plate in percent')).toHaveValue(
    '29',
  );
});

test('an event says that its time is that of receipt', async ({ service, openAs }) => {
  const { api } = service.admin;
  const { id: sensorId } = await service.sensor();
  const { url } = await api.connections.create.mutate({ sensorId, format: 'hikvision' });
  const page = await openAs('OPERATOR', `/events?sensorId=${sensorId}`);
  const note = page.getByText('the device gave no time, or one that cannot be right');
  await sendPassage(url);
  await page.reload();
  await rows(page).first().click();
  await expect(page.getByRole('complementary')).toContainText('hikvision');
  await expect(note).toHaveCount(0);
  await send(
    url,
    PASSAGE.replace(/<dateTime>[^<]*/, '<dateTime>sometime').replaceAll('<licensePlate>', '<licensePlate>Q'),
    'application/xml',
  );
  await page.goto(`${service.url}/events?sensorId=${sensorId}`);
  await expect(rows(page)).toHaveCount(2);
  await rows(page).first().click();
  await expect(note).toBeVisible();
});
