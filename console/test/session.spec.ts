import { expect, test } from './fixtures.ts';
import { ADMIN, PASSWORD } from './service.ts';

test.describe('signing in', () => {
  test('leads back to the requested address, and shows why a login was refused', async ({
    service,
    page,
  }) => {
    await page.goto(`${service.url}/events?eventType=INCIDENT`);
    await page.getByLabel('E-mail address').fill(ADMIN);
    await page.getByLabel('Password').fill('wrong-password-1');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert')).toContainText('Invalid credentials');
    await expect(page.getByRole('alert')).toContainText('Request id');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${service.url}/events?eventType=INCIDENT`);
    await expect(page.getByRole('heading', { name: 'Events' })).toBeVisible();
  });
});

test.describe('a session that ends', () => {
  test('shows the sign-in dialog over the page, which is kept', async ({ service, openAs }) => {
    const page = await openAs('OPERATOR', '/sensors');
    await page.getByRole('button', { name: 'New sensor' }).first().click();
    const typed = page.getByLabel('Device ID');
    await typed.fill('half typed');
    await page.evaluate(async (url) => {
      const { token } = JSON.parse(localStorage.getItem('gantry.session') ?? '{}');
      await fetch(`${url}/trpc/auth.logout`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
    }, service.url);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await expect(dialog).toBeVisible({ timeout: 60_000 });
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(typed).toHaveValue('half typed');
  });
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
