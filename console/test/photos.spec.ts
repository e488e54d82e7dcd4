import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import { photo } from './images.ts';
import type { TestService } from './service.ts';

let made = 0;
const open = (service: TestService) =>
  service.admin.api.incidents.create.mutate({
    title: `Story ${++made} of photos`,
    type: 'OBSTRUCTION',
    severity: 'HIGH',
  });

const isNarrowEnough = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

test('a FIELD user adds photos to a note on a phone, also when the connection fails', async ({
  service,
  openAs,
}) => {
  const { id } = await open(service);
  const page = await openAs('FIELD', '/mine', { width: 390 });
  await page.clock.install();
  await page.goto(`${service.url}/incidents/${id}`);
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

  await page.route('**/trpc/incidents.addNote', (route) => route.abort());
  await page.getByRole('button', { name: 'Add note' }).click();
  const waiting = page.getByRole('list', { name: 'Not sent yet' });
  await expect(waiting).toContainText('with 2 images');
  await expect(waiting).toContainText('Both lanes are blocked');
  await page.unroute('**/trpc/incidents.addNote');
  // It is tried again every 15 s.
  await page.clock.fastForward('00:16');
  await expect(waiting).toHaveCount(0, { timeout: 60_000 });

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

/** An Exif segment that says that the camera was held upright (orientation 6), and where it was. */
function exif(): Buffer {
  const tiff = Buffer.from([
    ...[0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 2],
    // Orientation, one SHORT: 6. Then the address of what the camera knows of its position.
    ...[0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0],
    // One entry: the latitude is north.
    ...[0, 1, 0, 1, 0, 2, 0, 0, 0, 2, 0x4e, 0, 0, 0, 0, 0, 0, 0],
  ]);
  const body = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

test('a photo is sent as the camera was held, and without its position', async ({ service, openAs }) => {
  const { id } = await open(service);
  const page = await openAs('FIELD', `/incidents/${id}`, { width: 390 });
  const jpeg = Buffer.from(
    await page.evaluate(() => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [300, 200];
      canvas.getContext('2d')?.fillRect(0, 0, 100, 100);
      return canvas.toDataURL('image/jpeg').split(',')[1] ?? '';
    }),
    'base64',
  );
  const buffer = Buffer.concat([jpeg.subarray(0, 2), exif(), jpeg.subarray(2)]);
  await page
    .locator('input[type=file][capture=environment]')
    .setInputFiles({ name: 'upright.jpg', mimeType: 'image/jpeg', buffer });
  await page.getByRole('button', { name: 'Add note' }).click();
  await expect(page.getByRole('button', { name: /Open image 1 of 1/ })).toBeVisible();
  const { timeline } = await service.admin.api.incidents.getById.query({ id });
  const [address] = (timeline.at(-1)?.details?.images ?? []) as string[];
  const answer = await fetch(service.url + address, {
    headers: { authorization: `Bearer ${service.admin.token}` },
  });
  const stored = Buffer.from(await answer.arrayBuffer());
  expect(stored.includes('Exif')).toBe(false);
  // The size in the frame header (SOF0): the photo was turned.
  const at = stored.indexOf(Buffer.from([0xff, 0xc0]));
  expect([stored.readUInt16BE(at + 7), stored.readUInt16BE(at + 5)]).toEqual([200, 300]);
});
