import { expect, expectAccessible, test } from './fixtures.ts';

test.describe('locations', () => {
  test('an operator creates one, sees its sensors and its traffic, changes and deletes it', async ({
    service,
    openAs,
  }) => {
    const page = await openAs('OPERATOR', '/locations?create=true');
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Crossing of a story');
    await form.getByLabel('Latitude').fill('39,92');
    await form.getByLabel('Longitude').fill('32,85');
    await form.getByLabel('Limit').fill('50');
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Crossing of a story');
    const locationId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await service.sensor({ name: 'Stands at the crossing', locationId });
    await page.reload();
    await expect(page.getByRole('region', { name: 'Sensors' })).toContainText('Stands at the crossing');
    await expect(page.getByRole('region', { name: 'Traffic now' })).toContainText('50 km/h');
    await expectAccessible(page);
    await page.keyboard.press('e');
    await page.getByRole('dialog').getByLabel('Limit').fill('70');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('region', { name: 'Details' })).toContainText('70');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const refusal = page.getByRole('alert');
    await expect(refusal.or(page.getByRole('heading', { name: 'Locations' }))).toBeVisible();
  });

  test('a limit is in the units of its place, as the speeds beside it', async ({ service, openAs }) => {
    const { id } = await service.admin.api.locations.create.mutate({
      name: 'Mile of a story',
      speedLimit: 80,
      speedUnits: 'MPH',
    });
    await service.sensor({ locationId: id });
    const page = await openAs('OPERATOR', `/locations/${id}`);
    const now = page.getByRole('region', { name: 'Traffic now' });
    await expect(now).toContainText('50 mph');
    await expect(now).not.toContainText('km/h');
    await page.goto(`${service.url}/locations?search=mile of a story`);
    await expect(page.getByRole('row', { name: 'Mile of a story' })).toContainText('50 mph');
  });

  test('the list is filtered by its address, and its map has a text equivalent', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    await service.admin.api.locations.create.mutate({
      name: 'Bridge of a story',
      coordinates: { latitude: 41.02, longitude: 28.97 },
    });
    const page = await openAs('VIEWER', '/locations?search=bridge of a');
    await expect(page.getByRole('link', { name: 'Bridge of a story' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'New location' })).toHaveCount(0);
    await page.keyboard.press('v');
    await expect(page.getByRole('button', { name: /Bridge of a story/ })).toBeVisible();
    await expectAccessible(page);
  });
});

test('a double click on "Save" creates one location', async ({ service, openAs }) => {
  const page = await openAs('OPERATOR', '/locations?create=true');
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('Pressed twice');
  await form.getByRole('button', { name: 'Save' }).dblclick();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Pressed twice');
  expect(await service.admin.api.locations.getAll.query({ search: 'Pressed twice' })).toMatchObject({
    total: 1,
  });
});

test('the list is where it was after "Back", and begins at its top where a link leads to it', {
  tag: '@long',
}, async ({ service, openAs }) => {
  for (let n = 10; n < 60; n++) {
    await service.admin.api.locations.create.mutate({ name: `Kept place ${n}` });
  }
  const page = await openAs('VIEWER', '/locations?search=Kept place');
  const list = page.getByRole('region', { name: 'Locations' });
  const last = page.getByRole('link', { name: 'Kept place 59' });
  await expect(page.getByRole('link', { name: 'Kept place 10' })).toBeVisible();
  await list.evaluate((element) => element.scrollTo({ top: 10_000 }));
  await last.click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Kept place 59');
  await page.goBack();
  await expect(last).toBeInViewport();
  await expect(page.getByText('not understood')).toHaveCount(0);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Traffic' }).click();
  // Otherwise the list may not have been left yet.
  await expect(page.getByRole('heading', { level: 1, name: 'Traffic' })).toBeVisible();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Locations' }).click();
  await expect(page.getByText(/\d+ locations/)).toBeVisible();
  await expect.poll(() => list.evaluate((element) => element.scrollTop)).toBe(0);
});

test('the names of two places at one road differ on a phone', async ({ service, openAs }) => {
  const names = ['Frederick Rd @ Ridge Rd', 'Frederick Rd @ Shady Rd'];
  for (const name of names) await service.admin.api.locations.create.mutate({ name });
  const page = await openAs('VIEWER', '/locations?search=Frederick Rd', { width: 320 });
  for (const name of names) {
    const cell = page.getByRole('cell', { name });
    await expect(cell).toBeVisible();
    const overflow = await cell.evaluate((element) => {
      const text = document.createRange();
      text.selectNodeContents(element);
      return text.getBoundingClientRect().right - element.getBoundingClientRect().right;
    });
    expect(overflow).toBeLessThanOrEqual(0);
  }
});

test('blanks between the words of a search stay, and the row under the cursor is no part of a view', {
  tag: '@long',
}, async ({ service, openAs }) => {
  const { id } = await service.admin.api.locations.create.mutate({
    name: 'Quay of a story',
    coordinates: { latitude: 41.03, longitude: 28.96 },
  });
  const page = await openAs('OPERATOR', `/locations?location=${id}`);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  const field = page.getByRole('searchbox', { name: 'Name or address' });
  await field.pressSequentially('Quay ');
  await expect(page).toHaveURL(/search=Quay/);
  await field.pressSequentially('of');
  await expect(field).toHaveValue('Quay of');
  await expect(page).toHaveURL(/search=Quay(\+|%20)of/);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Quays');
  await page.getByRole('button', { name: 'Save view' }).click();
  await expect(page.getByRole('button', { name: 'View: Quays' })).toBeVisible();
  await page.goto(`${service.url}/locations?search=Quay+of`);
  await expect(page.getByRole('button', { name: 'View: Quays' })).toBeVisible();
});

test('the traffic of the last day stays that of the last day while the page is open', async ({
  service,
  openAs,
}) => {
  const { id } = await service.admin.api.locations.create.mutate({ name: 'Open all day' });
  const page = await openAs('VIEWER', '/account');
  await page.clock.install();
  const ends: number[] = [];
  page.on('request', (request) => {
    if (!request.url().includes('traffic.getFlow')) return;
    // A batched request may contain both the previous range and the new one.
    for (const [, end = ''] of decodeURIComponent(request.url()).matchAll(/"endDate":"([^"]+)"/g))
      ends.push(Date.parse(end));
  });
  await page.goto(`${service.url}/locations/${id}`);
  await expect.poll(() => ends.length).toBeGreaterThan(0);
  const later = Date.now() + 5 * 3_600_000;
  await page.clock.fastForward('05:00:00');
  await expect.poll(() => Math.max(...ends)).toBeGreaterThan(later);
});

test('the map finds a name as the list does', { tag: '@long' }, async ({ service, openAs }) => {
  const name = 'İstanbul Caddesi';
  await service.admin.api.locations.create.mutate({
    name,
    coordinates: { latitude: 41.01, longitude: 28.98 },
  });
  const page = await openAs('VIEWER', '/locations?search=istanbul');
  await expect(page.getByRole('link', { name })).toBeVisible();
  await page.keyboard.press('v');
  await expect(page).toHaveURL(/view=map/);
  await expect(page.getByRole('button', { name })).toBeVisible();
});

test('what somebody else saved in the same field is shown before it is overwritten', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await api.locations.create.mutate({ name: 'Edited by two', address: 'Quay 1' });
  const page = await openAs('OPERATOR', `/locations/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  const [name, address] = [dialog.getByLabel('Name'), dialog.getByLabel('Address')];
  await name.fill('Named by me');
  await api.locations.update.mutate({ id, name: 'Named by another', address: 'Quay 2' });
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(dialog.getByRole('alert')).toContainText('Somebody else changed the same fields');
  await expect(name).toBeFocused();
  await expect(name).toHaveAccessibleDescription(/changed this to: .*Named by another/);
  await expect(name).toHaveValue('Named by me');
  await expect(address).toHaveAttribute('aria-invalid', 'false');
  expect(await api.locations.getById.query({ id })).toMatchObject({ name: 'Named by another' });
  await dialog.getByRole('button', { name: 'Save my changes too' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await api.locations.getById.query({ id })).toMatchObject({
    name: 'Named by me',
    address: 'Quay 2',
  });
});

test('what is wrong with the field from which a form was sent is described when the field gets the focus', async ({
  openAs,
}) => {
  const page = await openAs('OPERATOR', '/locations');
  await page.getByRole('button', { name: 'New location' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Too fast');
  const limit = dialog.getByLabel('Limit (km/h)');
  await limit.fill('fast');
  // Records the description of each element when it receives the focus.
  const described = await page.evaluateHandle(() => {
    const seen: string[] = [];
    addEventListener('focusin', ({ target }) => {
      const note = (target as Element).getAttribute('aria-describedby');
      seen.push(document.getElementById(note ?? '')?.textContent ?? '');
    });
    return seen;
  });
  await limit.press('Enter');
  await expect(limit).toHaveAttribute('aria-invalid', 'true');
  await expect(limit).toBeFocused();
  await expect.poll(() => described.jsonValue()).toEqual([expect.stringMatching(/\S/)]);
});

test('a measuring point is added, a sensor is assigned to it, and its end is checked', async ({
  service,
  openAs,
}) => {
  const { id } = await service.admin.api.locations.create.mutate({ name: 'Measured bridge' });
  await service.sensor({ type: 'RADAR', locationId: id, name: 'Radar of the bridge' });
  const page = await openAs('OPERATOR', `/locations/${id}`);
  const panel = page.getByRole('region', { name: 'Measuring points' });
  await panel.getByRole('button', { name: 'Add a measuring point' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('Northbound');
  await form.getByLabel('Direction', { exact: true }).selectOption('NB');
  await form.getByLabel('Lanes').fill('99');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByText('Use the number of lanes, from 1 to 12')).toBeVisible();
  await form.getByLabel('Lanes').fill('2');
  await form.getByRole('button', { name: 'Save' }).click();
  const point = panel.getByRole('listitem').filter({ hasText: 'Northbound' }).first();
  await expect(point).toContainText('NB · 2 lanes');

  await point.getByRole('button', { name: 'Assign a sensor' }).click();
  await form.getByLabel('Sensor', { exact: true }).fill('Radar of the bridge');
  await page.getByRole('option', { name: 'Radar of the bridge' }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(point).toContainText('Radar of the bridge Counts');
  await point.getByRole('button', { name: 'Change: Radar of the bridge' }).click();
  await form.getByLabel('Channel').fill('direction=NB, lane=2');
  await form.getByLabel('Lane of the point').fill('1');
  await form.getByLabel('Comes from the leg').selectOption('S');
  await form.getByLabel('Valid from').fill('2026-03-02 00:00');
  await form.getByLabel('Ends').fill('2026-03-01 00:00');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByLabel('Ends')).toHaveAttribute('aria-invalid', 'true');
  await form.getByLabel('Ends').fill('2026-03-03 00:00');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(point).toContainText('until 2026-03-03 00:00:00');
  await expect(point).toContainText('Counts · direction=NB, lane=2');
  await point.getByRole('button', { name: 'Change: Radar of the bridge' }).click();
  await expect(form.getByLabel('Channel')).toHaveValue('direction=NB, lane=2');
  await expect(form.getByLabel('Lane of the point')).toHaveValue('1');
  await expect(form.getByLabel('Comes from the leg')).toHaveValue('S');
  await form.getByRole('button', { name: 'Cancel' }).click();

  await point.getByRole('button', { name: 'Delete: Northbound' }).click();
  await form.getByRole('button', { name: 'Delete' }).click();
  await expect(panel.getByText('Northbound')).toHaveCount(0);
});
