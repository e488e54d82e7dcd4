import { expect, expectAccessible, test } from './fixtures.ts';

const street = (name: string, highway: string, coordinates: readonly (readonly number[])[]) => ({
  type: 'Feature',
  properties: { name, highway },
  geometry: { type: 'LineString', coordinates },
});
const STREETS = [
  street('Bosphorus Bridge of a story', 'motorway', [
    [28.9, 41.05],
    [29.03, 41.045],
    [29.1, 41.02],
  ]),
  street('Quay Street', 'residential', [
    [28.97, 41.01],
    [28.975, 41.02],
  ]),
];
const fileOf = (features: readonly object[]) => ({
  name: 'streets.geojson',
  mimeType: 'application/geo+json',
  buffer: Buffer.from(JSON.stringify({ type: 'FeatureCollection', features })),
});

test("an administrator puts the city's roads on the map, after reading what the file contains", async ({
  service,
  openAs,
}) => {
  await service.admin.api.locations.create.mutate({
    name: 'Beside the quay',
    coordinates: { latitude: 41.015, longitude: 28.972 },
  });
  const page = await openAs('ADMIN', '/administration/map');
  await expect(page.getByText('There are no roads on the map yet')).toBeVisible();
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ ...fileOf([]), buffer: Buffer.from('a,b\n') });
  await expect(page.getByText('JSON with one object')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Choose another file' }).click();

  await page.getByLabel('Source of the data').fill('© City of a story');
  const point = { type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [1, 2] } };
  await page.getByLabel('File', { exact: true }).setInputFiles(fileOf([...STREETS, point]));
  const panel = page.getByRole('region', { name: 'A file with roads' });
  await expect(panel).toContainText('2 with 5 points');
  await expect(panel.getByRole('region', { name: 'Left out' })).toContainText('Points: 1 (feature 3)');
  await expectAccessible(page);
  await panel.getByRole('button', { name: 'Put on the map' }).click();
  await expect(page.getByRole('region', { name: 'Roads on the map' })).toContainText('streets.geojson');

  for (const theme of ['dark', 'light'] as const) {
    const other = await openAs('VIEWER', '/locations?search=beside the quay', { theme });
    const tiles = other.waitForResponse((answer) => answer.url().includes('/map/roads.pmtiles?v='));
    await expect(other.getByRole('link', { name: 'Beside the quay' })).toBeVisible();
    await other.keyboard.press('v');
    expect((await tiles).status()).toBe(206);
    await expect(other.getByText('© City of a story · Natural Earth')).toBeVisible();
    await expect(other.locator('[data-drawn=true]')).toBeVisible();
  }
  await page.getByRole('button', { name: 'Take off the map' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take off the map' }).click();
  await expect(page.getByText('There are no roads on the map yet')).toBeVisible();
});

test('on a phone and in Arabic, the page of the map is as wide as the screen', async ({ openAs }) => {
  const page = await openAs('ADMIN', '/administration/map', { width: 390, language: 'ar', theme: 'light' });
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
