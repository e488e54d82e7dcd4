import { expect, expectAccessible, pathsOf, test } from './fixtures.ts';

const isLong = process.env.LONG_TESTS === 'true';

/** The pages that are always checked, as an administrator, who sees most of them. */
const PAGES = ['/', '/events', '/watchlist', '/locations'];
const ALL_LOOKS = [
  { theme: 'dark', language: 'en' },
  { theme: 'light', language: 'ar' },
  { theme: 'light', language: 'en' },
  { theme: 'dark', language: 'ar' },
] as const;
/** Each theme and each text direction once; all combinations with LONG_TESTS. */
const LOOKS = isLong ? ALL_LOOKS : ALL_LOOKS.slice(0, 2);

test.describe('axe finds nothing', () => {
  for (const look of LOOKS) {
    test(`on every page, ${look.theme}, in ${look.language}`, {
      tag: '@long',
    }, async ({ service, openAs }) => {
      test.setTimeout(300_000);
      const { id: sensorId, apiKey } = await service.sensor();
      const { id } = await service.admin.api.connections.create.mutate({ sensorId, format: 'hikvision' });
      await service.admin.api.events.ingest.mutate({
        apiKey,
        eventType: 'TRAFFIC_VIOLATION',
        violationType: 'WRONG_WAY',
        licensePlateNumber: '34 ABC 12',
      });
      const page = await openAs('ADMIN', '/', look);
      // Other tests check most pages with content, in the same themes and languages.
      const others = isLong
        ? [...(await pathsOf(page)).filter((path) => !path.includes('$')), '/incidents?view=list']
        : [];
      for (const path of [...new Set([...PAGES, ...others]), `/sensors/${sensorId}/connections/${id}`]) {
        await page.goto(service.url + path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expect(page.getByRole('status', { name: /Loading|يل/ })).toHaveCount(0);
        await test.step(path, () => expectAccessible(page));
      }
    });
  }

  test('on the sign-in page', async ({ service, page }) => {
    await page.goto(service.url);
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
    await expectAccessible(page);
  });
});

test('in colours that the system forces, charts keep theirs, and the page of the moment is marked', {
  tag: '@long',
}, async ({ service, openAs }) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
  const page = await openAs('ADMIN', '/reports');
  await page.emulateMedia({ forcedColors: 'active' });
  await page.reload();
  const chart = page.locator('canvas').first();
  await expect(chart).toBeVisible();
  const colored = () =>
    chart.evaluate((canvas: HTMLCanvasElement) => {
      const { data = [] } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
      let found = 0;
      for (let at = 0; at < data.length; at += 4) {
        const [red = 0, , blue = 0] = data.slice(at, at + 3);
        if (Math.abs(red - blue) > 40) found++;
      }
      return found;
    });
  await expect.poll(colored).toBeGreaterThan(0);
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await expect(links.filter({ hasText: 'Reports' })).toHaveCSS('outline-style', 'solid');
  await expect(links.filter({ hasText: 'Events' })).toHaveCSS('outline-style', 'none');
});

test('in colours that the system forces, a chart follows the system and not the chosen theme', {
  tag: '@long',
}, async ({ service, openAs }) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
  const page = await openAs('ADMIN', '/reports', { theme: 'light' });
  await page.evaluate(() => localStorage.setItem('gantry.theme', '"dark"'));
  await page.reload();
  const canvas = page.getByRole('img', { name: 'Events over time' }).locator('canvas');
  await expect(canvas).toBeVisible();
  /** Whether most of the opaque pixels, which are those of the letters and bars, are dark. */
  const isDark = () =>
    canvas.evaluate((of: HTMLCanvasElement) => {
      const { data = [] } = of.getContext('2d')?.getImageData(0, 0, of.width, of.height) ?? {};
      let balance = 0;
      for (let at = 0; at < data.length; at += 4) {
        const [red = 0, green = 0, blue = 0, alpha = 0] = data.slice(at, at + 4);
        if (alpha === 255) balance += red + green + blue < 384 ? 1 : -1;
      }
      return balance > 0;
    });
  await expect.poll(isDark).toBe(false);
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'light' });
  await expect.poll(isDark).toBe(true);
});

test('in colours that the system forces, the dots of the list beside a map keep theirs', {
  tag: '@long',
}, async ({ service, openAs }) => {
  const name = 'Dot beside the map';
  await service.sensor({ name, coordinates: { latitude: 41.01, longitude: 28.98 } });
  const page = await openAs('VIEWER', '/sensors?view=map', { theme: 'light' });
  await page.emulateMedia({ forcedColors: 'active' });
  const dot = page.getByRole('button', { name }).locator('[aria-hidden]');
  await expect(dot).toHaveCSS('background-color', 'rgb(154, 74, 0)');
});
