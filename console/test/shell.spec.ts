import { expect, test } from './fixtures.ts';

test.describe('the keyboard', () => {
  test('has a sheet that lists the shortcuts, none of which fires in a text field', async ({ openAs }) => {
    const page = await openAs('OPERATOR', '/events');
    await expect(page.getByRole('heading', { name: 'Events' })).toBeVisible();
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await expect(sheet).toContainText('Next row');
    await expect(sheet).toContainText('Go to Sensors');
    await page.keyboard.press('Escape');
    await expect(sheet).toBeHidden();
    await page.keyboard.press('f');
    await page.getByLabel('Violation').fill('');
    await page.getByLabel('Violation').pressSequentially('g o?');
    await expect(page).toHaveURL(/\/events/);
    await expect(sheet).toBeHidden();
  });

  test('leads to every page', async ({ openAs }) => {
    const page = await openAs('ADMIN', '/?places=list');
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await expect(page.getByRole('heading', { name: 'Events' })).toBeVisible();
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await expect(page).toHaveURL(/\/$/);
  });

  test('works with Caps Lock and on keyboards of other scripts', { tag: '@long' }, async ({ openAs }) => {
    const page = await openAs('OPERATOR', '/?places=list');
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    // Capital letters without Shift, as with Caps Lock.
    await page.keyboard.press('G');
    await page.keyboard.press('E');
    await expect(page.getByRole('heading', { name: 'Events' })).toBeVisible();
    const press = (key: string, code: string, shiftKey = false) =>
      page.evaluate(
        (init) => document.body.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true })),
        { key, code, shiftKey },
      );
    // An Arabic keyboard.
    await press('ل', 'KeyG');
    await press('س', 'KeyS');
    await expect(page.getByRole('heading', { name: 'Sensors' })).toBeVisible();
    await press('؟', 'Slash', true);
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  });
});

test.describe('a menu or form under a button', () => {
  test('is opened and closed by keyboard, and closed by a second click', async ({ openAs }) => {
    const page = await openAs('OPERATOR', '/events');
    const account = page.getByRole('button', { name: 'Account' });
    await account.focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('menu', { name: 'Account' });
    await expect(menu).toBeVisible();
    await expect(account).toHaveAttribute('aria-expanded', 'true');
    await page.keyboard.press('ArrowDown');
    await expect(menu.getByRole('menuitem').and(page.locator(':focus'))).toHaveCount(1);
    await page.keyboard.press('Escape');
    await expect(menu).toBeHidden();
    await expect(account).toBeFocused();
    const filter = page.getByRole('button', { name: 'Filter', exact: true });
    const form = page.getByRole('dialog', { name: 'Filter' });
    await filter.click();
    await expect(form).toBeVisible();
    await filter.click();
    await expect(form).toBeHidden();
  });
});

test.describe('the preferences of a user', () => {
  test('for theme and language are kept, and Arabic is laid out from right to left', async ({ openAs }) => {
    const page = await openAs('OPERATOR', '/events');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Light' }).click();
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'العربية' }).click();
    await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
    await page.reload();
    await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  });

  test('for UTC apply to every time on the page', async ({ service, openAs }) => {
    await service.admin.api.system.timezone.updateTimezoneSettings.mutate({ timezone: 'Asia/Kolkata' });
    const page = await openAs('OPERATOR', '/events');
    const clock = page.getByTitle('Show times in UTC');
    await expect(clock).toContainText('UTC+05:30');
    await page.keyboard.press('u');
    await expect(clock).toContainText('UTC+00:00');
    await expect(clock).not.toContainText('+05:30');
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(clock.getByText('UTC+00:00')).toBeVisible();
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    await expect.poll(width).toBeLessThanOrEqual(390);
    await service.admin.api.system.timezone.updateTimezoneSettings.mutate({ timezone: 'UTC' });
  });
});

test.describe('a role', () => {
  test('is offered only the pages that it may see', async ({ openAs }) => {
    const page = await openAs('FIELD', '/?places=list');
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await expect(pages.getByRole('link', { name: 'Events' })).toBeVisible();
    await expect(pages.getByRole('link', { name: 'Reports' })).toHaveCount(0);
    await expect(pages.getByRole('link', { name: 'Administration' })).toHaveCount(0);
  });
});

test('a page that the role does not include asks for nothing, and says what it needs', async ({
  service,
  openAs,
}) => {
  const { id: sensorId } = await service.sensor();
  const { id } = await service.admin.api.connections.create.mutate({ sensorId, format: 'hikvision' });
  for (const [path, permission] of [
    ['/reports/files', 'View Reports'],
    ['/reports/schedules', 'View Reports'],
    [`/sensors/${sensorId}/connections/${id}`, 'Manage Sensors'],
    ['/administration/system', 'System Settings'],
  ] as const) {
    const page = await openAs('FIELD', '/account');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(service.url + path);
    await expect(page.getByText(`It needs the permission ${permission}.`)).toBeVisible();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    expect(asked.filter((url) => /reports\.get|connections\./.test(url))).toEqual([]);
    await page.context().close();
  }
});

test.describe('the global search', () => {
  test('leads to sensors and pages, and warns that a search for a plate is recorded', async ({
    service,
    openAs,
  }) => {
    const { id } = await service.sensor({ name: 'Ringstrasse north' });
    const page = await openAs('OPERATOR', '/?places=list');
    await expect(page.getByRole('button', { name: 'Search everywhere' })).toBeVisible();
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Search' }).fill('ringstr');
    await expect(page.getByRole('option', { name: /Ringstrasse north/ })).toBeVisible();
    await page.getByRole('option', { name: /Ringstrasse north/ }).click();
    await expect(page).toHaveURL(new RegExp(`/sensors/${id}`));
    await page.goto(`${service.url}/`);
    await expect(page.getByRole('button', { name: 'Search everywhere' })).toBeVisible();
    await page.keyboard.press('/');
    // The results that were opened last are offered first.
    await expect(page.getByRole('option', { name: /Ringstrasse north/ })).toBeVisible();
    await page.getByRole('combobox', { name: 'Search' }).fill('B-AB 123');
    await expect(page.getByRole('option').first()).toContainText('the search is recorded');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/events\?licensePlateNumber=B-AB/);
  });
});

test('the global search finds listed plates and commands for those who may see them', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  await api.watchlist.create.mutate({ pattern: 'QX 77 SRCH', reason: 'Searched for', priority: 'LOW' });
  const { id: hotlistId } = await api.hotlists.create.mutate({ name: 'Vans of the search' });
  await api.hotlists.addEntry.mutate({ hotlistId, plate: 'QX 77 LST', reason: 'Stolen' });
  const open = async (role: 'ADMIN' | 'VIEWER', text: string) => {
    const page = await openAs(role, '/events');
    await expect(page.getByRole('button', { name: 'Search everywhere' })).toBeVisible();
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Search' }).fill(text);
    return page;
  };
  const page = await open('ADMIN', 'qx 77');
  await page
    .getByRole('group', { name: 'Watchlist' })
    .getByRole('option', { name: /Searched for/ })
    .click();
  await expect(page).toHaveURL(/\/watchlist\?part=plates&plate=/);
  await expect(page.getByRole('dialog')).toBeVisible();
  const listed = await open('ADMIN', 'qx 77 lst');
  await listed.getByRole('option', { name: /In hotlists/ }).click();
  await listed.getByLabel('Why the plate is looked up').fill('Case 45');
  await listed.getByRole('button', { name: 'Look up', exact: true }).click();
  await listed.getByRole('link', { name: 'Vans of the search' }).click();
  await expect(listed.getByRole('heading', { level: 1 })).toContainText('Vans of the search');
  const lists = await open('ADMIN', 'of the search');
  await lists.getByRole('group', { name: 'Hotlists' }).getByRole('option').click();
  await expect(lists.getByRole('heading', { level: 1 })).toContainText('Vans of the search');
  const commands = await open('VIEWER', 'filter the');
  await commands.getByRole('group', { name: 'Commands' }).getByRole('option').first().click();
  await expect(commands.getByRole('dialog', { name: 'Filter' })).toBeVisible();
  const viewer = await open('VIEWER', 'qx 77');
  await expect(viewer.getByRole('option').first()).toContainText('the search is recorded');
  await expect(viewer.getByRole('group', { name: 'Watchlist' })).toHaveCount(0);
});

test('a command that is found by the search acts on what is at the cursor, and is found once', async ({
  service,
  openAs,
}) => {
  const { incidents } = service.admin.api;
  const { id } = await incidents.create.mutate({
    title: 'At the cursor of a list',
    type: 'OTHER',
    severity: 'LOW',
  });
  const page = await openAs('OPERATOR', '/incidents?view=list&search=At the cursor of');
  await expect(page.locator('tr[data-key]')).toHaveCount(1);
  await page.keyboard.press('j');
  await expect(page.locator('tr[data-key][aria-current]')).toHaveCount(1);
  await page.keyboard.press('/');
  const field = page.getByRole('combobox', { name: 'Search' });
  const commands = page.getByRole('group', { name: 'Commands' }).getByRole('option');
  await field.fill('new log entry');
  await expect(commands).toHaveCount(1);
  await field.fill('acknowledge');
  await commands.filter({ hasText: /^Acknowledge/ }).click();
  await expect.poll(async () => (await incidents.getById.query({ id })).status).toBe('ACKNOWLEDGED');
});

test('what has just the name that is searched for comes before a search for a plate', async ({
  service,
  openAs,
}) => {
  const { id } = await service.sensor({ name: 'A12 north' });
  const page = await openAs('OPERATOR', '/?places=list');
  await expect(page.getByRole('button', { name: 'Search everywhere' })).toBeVisible();
  await page.keyboard.press('/');
  const field = page.getByRole('combobox', { name: 'Search' });
  await field.fill('A12 nor');
  await expect(page.getByRole('option', { name: /A12 north/ })).toBeVisible();
  await expect(page.getByRole('option').first()).toContainText('the search is recorded');
  await field.fill('a12 north');
  await expect(page.getByRole('option').first()).toContainText('A12 north');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/sensors/${id}`));
});

test('a look-up that failed says so, and not that nothing was found', async ({ openAs }) => {
  const page = await openAs('VIEWER', '/events');
  await page.route(/sensors\.getAll/, (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Sensor', { exact: true }).pressSequentially('Ring');
  await expect(page.getByText('is it a Gantry service?')).toBeVisible();
  await expect(page.getByText('Nothing found')).toHaveCount(0);
});

test('the search opens after an upgrade has replaced its file, once the console is reloaded', async ({
  openAs,
}) => {
  const page = await openAs('VIEWER', '/account');
  const title = page.getByRole('heading', { level: 1 });
  await expect(title).toBeVisible();
  const file = /\/search-dialog-[^/]*\.js$/;
  let isReplaced = true;
  await page.route(file, (route) =>
    isReplaced ? route.fulfill({ status: 404, body: 'Not found' }) : route.continue(),
  );
  // On a slow machine, the dialog may have been loaded since the page was opened.
  await page.reload();
  await expect(title).toBeVisible();
  const reloaded = page.waitForEvent('framenavigated');
  await page.keyboard.press('/');
  await reloaded;
  isReplaced = false;
  await expect(title).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByRole('dialog')).toBeVisible();
});
