import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { ADMIN, PASSWORD } from './service.ts';

test.describe('signing in', () => {
  test('leads back to the requested address, and shows why a login was refused', async ({
    service,
    page,
  }) => {
    await page.goto(`${service.url}/events?eventType=INCIDENT`);
    await page.getByLabel('E-mail address').fill(ADMIN);
    await page.getByLabel('Password', { exact: true }).fill('wrong-password-1');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert')).toContainText('Invalid credentials');
    // Nobody has to look for the cause in the log.
    await expect(page.getByRole('alert')).not.toContainText('Request id');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${service.url}/events?eventType=INCIDENT`);
    await expect(page.getByRole('heading', { name: 'Events' })).toBeVisible();
  });
});

/** Ends the session of a page on the service, while the page keeps its token. */
async function endSession(page: Page, url: string): Promise<void> {
  await page.evaluate(async (service) => {
    const { token } = JSON.parse(localStorage.getItem('gantry.session') ?? '{}');
    await fetch(`${service}/trpc/auth.logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
  }, url);
}

test.describe('a session that ends', () => {
  test('shows the sign-in dialog over the page, which is kept', async ({ service, openAs }) => {
    const page = await openAs('OPERATOR', '/sensors');
    await page.getByRole('button', { name: 'New sensor' }).first().click();
    const typed = page.getByLabel('Device ID');
    await typed.fill('half typed');
    await endSession(page, service.url);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await expect(dialog).toBeVisible({ timeout: 60_000 });
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(typed).toHaveValue('half typed');
  });

  test('goes on in all tabs after a sign-in in one of them', async ({ service, openAs }) => {
    const { name } = await service.sensor();
    const page = await openAs('OPERATOR', '/account/sessions');
    const other = await page.context().newPage();
    await other.goto(`${service.url}/sensors?search=${name}`);
    await expect(other.getByRole('heading', { name: 'Sensors' })).toBeVisible();
    await endSession(page, service.url);
    const dialogIn = (tab: Page) => tab.getByRole('dialog', { name: 'Your session has ended' });
    const [dialog, otherDialog] = [dialogIn(page), dialogIn(other)];
    for (const tab of [page, other]) await tab.reload();
    await expect(otherDialog).toBeVisible();
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(otherDialog).toBeHidden();
    await expect(other.getByRole('link', { name, exact: true })).toBeVisible();
  });

  test('is not taken for ended by a tab whose call is refused only after the sign-in', async ({
    service,
    openAs,
  }) => {
    const page = await openAs('OPERATOR', '/account/sessions');
    const other = await page.context().newPage();
    await other.goto(`${service.url}/locations?create=true`);
    const form = other.getByRole('dialog', { name: 'New location' });
    await form.getByLabel('Name').fill('Street of a renewed session');
    let answer = () => {};
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await endSession(page, service.url);
    await other.route('**/trpc/locations.create*', async (route) => {
      const response = await route.fetch();
      expect(response.status()).toBe(401);
      await mayAnswer;
      await route.fulfill({ response });
    });
    const asked = other.waitForRequest('**/trpc/locations.create*');
    await form.locator('form').evaluate((element: HTMLFormElement) => element.requestSubmit());
    await asked;
    await page.reload();
    const dialogIn = (tab: Page) => tab.getByRole('dialog', { name: 'Your session has ended' });
    await dialogIn(page).getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialogIn(page).getByRole('button', { name: 'Sign in', exact: true }).click();
    await expect(dialogIn(page)).toBeHidden();
    answer();
    await expect(form.getByRole('alert')).toBeVisible();
    await expect(dialogIn(other)).toHaveCount(0);
    await other.unroute('**/trpc/locations.create*');
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(other.getByRole('heading', { level: 1 })).toContainText('Street of a renewed session');
  });
});

const EXCHANGE = '**/trpc/auth.refreshToken*';
/** Just over half of the lifetime of a token, after which the console refreshes it. */
const HALF_A_LIFE = '12:00:01';

test('who signs out while the token is exchanged stays signed out', async ({ openAs }) => {
  const page = await openAs('OPERATOR', '/account');
  await page.clock.install();
  await page.reload();
  const account = page.getByRole('button', { name: 'Account', exact: true });
  await expect(account).toBeVisible();
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(EXCHANGE, async (route) => {
    const response = await route.fetch();
    await mayAnswer;
    await route.fulfill({ response });
  });
  const asked = page.waitForRequest(EXCHANGE);
  await page.clock.fastForward(HALF_A_LIFE);
  await asked;
  await account.click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/sign-in/);
  const answered = page.waitForResponse(EXCHANGE);
  answer();
  await answered;
  await page.waitForTimeout(500);
  await expect(page).toHaveURL(/sign-in/);
  expect(await page.evaluate(() => localStorage.getItem('gantry.session'))).toBe('null');
});

test('an exchange of the token that fails is tried again', async ({ openAs }) => {
  const page = await openAs('OPERATOR', '/account');
  await page.clock.install();
  await page.reload();
  await expect(page.getByRole('button', { name: 'Account', exact: true })).toBeVisible();
  let asked = 0;
  await page.route(EXCHANGE, (route) => (++asked === 1 ? route.abort() : route.continue()));
  const failed = page.waitForEvent('requestfailed');
  await page.clock.fastForward(HALF_A_LIFE);
  await failed;
  await page.waitForTimeout(500);
  await page.clock.fastForward('06:00:01');
  await expect.poll(() => asked).toBe(2);
});

test('another user is not offered the undo of the one before', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const { apiKey } = await service.sensor();
  const { eventId } = await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'SPEED_DETECTION' });
  const email = await service.userOf('VIEWER');
  const page = await openAs('OPERATOR', `/events?event=${eventId}`);
  const undo = page.getByRole('button', { name: /^Undo/ });
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(undo).toBeVisible();
  const session = await service.admin.api.auth.login.mutate({ email, password: PASSWORD });
  // As after a sign-in in another tab.
  await page.evaluate((text) => {
    localStorage.setItem('gantry.session', text);
    dispatchEvent(new StorageEvent('storage', { key: 'gantry.session', newValue: text }));
  }, JSON.stringify(session));
  await expect(page.getByRole('banner').getByText('Viewer Tester')).toBeVisible();
  expect(await undo.count()).toBe(0);
});

test.describe('an address', () => {
  test('with an invalid parameter shows the view without it, and a notice', async ({ openAs }) => {
    const page = await openAs('VIEWER', '/events?eventType=NONSENSE&licensePlateNumber=34*&foo=1');
    await expect(page.getByRole('status').filter({ hasText: 'not understood' })).toContainText(
      /foo, eventType|eventType, foo/,
    );
    await expect(page.getByText('34*').first()).toBeVisible();
    await expect(page).not.toHaveURL(/NONSENSE/);
  });
});

test('another user does not see what the one before found last', { tag: '@long' }, async ({
  service,
  openAs,
}) => {
  const title = 'Found by the operator';
  await service.admin.api.incidents.create.mutate({ title, type: 'COLLISION', severity: 'LOW' });
  const email = await service.userOf('VIEWER');
  const page = await openAs('OPERATOR', '/?places=list');
  const search = page.getByRole('dialog', { name: 'Search' });
  const live = page.getByText('Live', { exact: true });
  await expect(live).toBeVisible();
  await page.keyboard.press('/');
  await search.getByRole('combobox').fill(title);
  await search.getByRole('option', { name: title }).click();
  await expect(page.getByRole('heading', { name: title })).toBeVisible();
  await page.keyboard.press('/');
  await expect(search.getByRole('option', { name: title })).toBeVisible();
  const session = await service.admin.api.auth.login.mutate({ email, password: PASSWORD });
  await page.evaluate((text) => localStorage.setItem('gantry.session', text), JSON.stringify(session));
  await page.goto(service.url);
  await expect(page.getByRole('banner').getByText('Viewer Tester')).toBeVisible();
  await expect(live).toBeVisible();
  await page.keyboard.press('/');
  await expect(search.getByRole('combobox')).toBeVisible();
  await expect(search.getByRole('option', { name: title })).toHaveCount(0);
});
