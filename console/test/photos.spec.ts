import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

let made = 0;
const open = (service: TestService) =>
  service.admin.api.incidents.create.mutate({
    title: `Story ${++made} of photos`,
    type: 'OBSTRUCTION',
    severity: 'HIGH',
  });

/** An image of a road and the sky, as a BMP of the size of a photo from a phone, unless `width` is given. */
function photo(name: string, shade = 90, width = 2_200) {
  const height = width / 2;
  const header = Buffer.alloc(54);
  header.write('BM', 0, 'latin1');
  header.writeUInt32LE(54 + width * height * 3, 2);
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  const road = Buffer.alloc(width * height * 0.6 * 3, shade);
  const sky = Buffer.alloc(width * height * 0.4 * 3, 200);
  return { name, mimeType: 'image/bmp', buffer: Buffer.concat([header, road, sky]) };
}

const isNarrowEnough = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

test('a FIELD user adds photos to a note on a phone, also when the connection fails', async ({
  service,
  openAs,
}) => {
  const { id } = await open(service);
  const page = await openAs('FIELD', `/incidents/${id}`, { width: 390 });
  await page.getByLabel('Note', { exact: true }).fill('Both lanes are blocked');
  const camera = page.locator('input[type=file][capture=environment]');
  await expect(camera).toHaveAttribute('accept', 'image/*');
  await camera.setInputFiles(photo('road.bmp'));
  await page
    .locator('input[type=file][multiple]')
    .setInputFiles([photo('load.bmp', 60), photo('too.bmp', 30, 600)]);
  await expect(page.getByRole('img', { name: 'Image 3 of 3' })).toBeVisible();
  await page.getByRole('button', { name: 'Remove image 3' }).click();
  await expect(page.getByRole('img', { name: 'Image 2 of 2' })).toBeVisible();
  expect(await isNarrowEnough(page)).toBe(true);
  await expectAccessible(page);

  await page.route('**/trpc/incidents.addNote', (route) => route.abort(), { times: 1 });
  await page.getByRole('button', { name: 'Add note' }).click();
  const failure = page.getByRole('alert');
  await expect(failure).toContainText('Cannot reach');
  await expect(page.getByLabel('Note', { exact: true })).toHaveValue('Both lanes are blocked');
  await expect(page.getByRole('img', { name: /^Image . of 2$/ })).toHaveCount(2);
  await failure.getByRole('button', { name: 'Try again' }).click();

  const note = page.getByRole('listitem').filter({ hasText: 'Both lanes are blocked' });
  await expect(note.getByRole('button', { name: /Open image . of 2 by Field Tester/ })).toHaveCount(2);
  await expect(page.getByLabel('Note', { exact: true })).toHaveValue('');
  await expect(page.getByRole('img', { name: /^Image . of 2$/ })).toHaveCount(0);

  // Each photo opens in the image viewer that events use. Escape closes only the viewer.
  await note.getByRole('button', { name: /Open image 2 of 2/ }).click();
  const large = page.getByRole('img', { name: 'Image 2 of 2: Field Tester' });
  await expect(large).toBeVisible();
  expect(
    await large.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight]),
  ).toEqual([2000, 1000]);
  await page.keyboard.press('+');
  await expect(page.getByText('150 %')).toBeVisible();
  await page.keyboard.press('[');
  await expect(page.getByRole('img', { name: 'Image 1 of 2: Field Tester' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('img', { name: /: Field Tester$/ })).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(`/incidents/${id}$`));
  await expect(note.getByRole('button', { name: /Open image 2 of 2/ })).toBeFocused();

  const { timeline } = await service.admin.api.incidents.getById.query({ id });
  const added = timeline.at(-1);
  expect(added).toMatchObject({ action: 'addNote', note: 'Both lanes are blocked' });
  expect(added?.details?.images).toHaveLength(2);
});

test('a photo needs no text; a file that is not an image is named and left out', async ({
  service,
  openAs,
}) => {
  const { id } = await open(service);
  const page = await openAs('FIELD', `/incidents/${id}`, { width: 390 });
  const files = page.locator('input[type=file][multiple]');
  await files.setInputFiles([
    { name: 'minutes.txt', mimeType: 'text/plain', buffer: Buffer.from('not an image') },
    ...[10, 20, 30, 40, 50].map((shade) => photo(`${shade}.bmp`, shade, 600)),
  ]);
  await expect(page.getByText('minutes.txt')).toBeVisible();
  await expect(page.getByText('A note has at most 5 images.')).toBeVisible();
  await expect(page.getByRole('img', { name: 'Image 4 of 4' })).toBeVisible();
  await page.getByRole('button', { name: 'Add note' }).click();
  await expect(page.getByRole('button', { name: /Open image 4 of 4/ })).toBeVisible();
  const { timeline } = await service.admin.api.incidents.getById.query({ id });
  expect(timeline.at(-1)).toMatchObject({ action: 'addNote', note: null });
});
