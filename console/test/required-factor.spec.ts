import type { Role } from '@gantry/contract/permissions';
import type { Page } from '@playwright/test';
import { codeOf } from './codes.ts';
import { expect, expectAccessible, remember, test } from './fixtures.ts';
import { PASSWORD, startService, type TestService } from './service.ts';

// The service of these tests requires a second factor for operators.

let service: TestService;
test.beforeAll(async () => {
  test.setTimeout(120_000);
  service = await startService({ SECOND_FACTOR_FOR: 'OPERATOR' });
});
test.afterAll(() => service?.stop());

async function signIn(page: Page, role: Role): Promise<void> {
  await page.getByLabel('E-mail address').fill(await service.userOf(role));
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
}

test('a user who requires a second factor is sent to its setup, and then to the overview', {
  tag: '@long',
}, async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  await remember(context, { language: 'en' });
  const page = await context.newPage();
  const required = page.getByText('Your role requires a second factor');
  const overview = page.getByRole('heading', { name: 'Overview', level: 1 });
  await page.goto(service.url);
  await signIn(page, 'OPERATOR');
  await expect(required).toBeVisible();
  await expect(page).toHaveURL(`${service.url}/account`);
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

  // No URL, shortcut, or reload leads to another page.
  for (const path of ['/events', '/account/sessions', '/account']) {
    await page.goto(service.url + path);
    await expect(required).toBeVisible();
    await expect(page).toHaveURL(`${service.url}/account`);
  }
  await expect(page.getByText('The connection to the service is lost')).toHaveCount(0);
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await expect(page.getByRole('navigation')).toHaveCount(0);
  await expect(page).toHaveURL(`${service.url}/account`);

  // Another user in the same browser is not sent to the setup.
  await signOut(page);
  await signIn(page, 'VIEWER');
  await expect(overview).toBeVisible();
  await signOut(page);
  await signIn(page, 'OPERATOR');
  await expect(required).toBeVisible();

  await page.getByRole('button', { name: 'Set up' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Next' }).click();
  const secret = (await dialog.locator('code').innerText()).replaceAll(' ', '');
  await dialog.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await dialog.getByRole('button', { name: 'Switch on' }).click();
  await expect(dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')).toHaveCount(10);
  await dialog.getByRole('button', { name: 'I have stored them' }).click();
  await expect(overview).toBeVisible();
  await expect(page).toHaveURL(`${service.url}/`);
  // The stream, which was refused before, is open now.
  await expect(page.getByRole('banner').getByText('Live')).toBeVisible();

  await signOut(page);
  await signIn(page, 'OPERATOR');
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret, 1));
  await page.keyboard.press('Enter');
  await expect(overview).toBeVisible();
  await expect(required).toHaveCount(0);
  await context.close();
});
