import { expect, expectAccessible, test } from './fixtures.ts';

/** Every page, by the role that sees most of it. */
const PAGES = ['/', '/events'];

const LOOKS = [
  { theme: 'dark', language: 'en' },
  { theme: 'light', language: 'en' },
  { theme: 'dark', language: 'ar' },
  { theme: 'light', language: 'ar' },
] as const;

test.describe('axe finds nothing', () => {
  for (const path of PAGES) {
    test(`on ${path}, light and dark, in both directions`, async ({ service, openAs }) => {
      const { apiKey } = await service.sensor();
      await service.admin.api.events.ingest.mutate({
        apiKey,
        eventType: 'TRAFFIC_VIOLATION',
        violationType: 'WRONG_WAY',
        licensePlateNumber: '34 ABC 12',
      });
      for (const look of LOOKS) {
        const page = await openAs('ADMIN', path, look);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expectAccessible(page);
        await page.context().close();
      }
    });
  }

  test('on the sign-in page', async ({ service, page }) => {
    await page.goto(service.url);
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
    await expectAccessible(page);
  });
});
