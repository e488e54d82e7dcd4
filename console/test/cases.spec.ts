import { createGantryClient } from '@gantry/client';
import type { CertificateKind } from '@gantry/contract/certificates';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, openAlone, test } from './fixtures.ts';
import { png } from './images.ts';
import { PASSWORD, startService, type TestService } from './service.ts';

// Cases: opened from an event, checked by one person, verified by another, with their images and certificates.

const SOON = { timeout: 30_000 };
const SIZE = { width: 320, height: 180 };
let made = 0;

/** An image of a road with a vehicle, whose plate is white. @param at how far the vehicle is, from 0 to 1 */
function road(at: number): string {
  const [left, top] = [60 + Math.round(at * 120), 70 + Math.round(at * 40)];
  const n = ++made;
  const inside = (x: number, y: number, of: { x: number; y: number; width: number; height: number }) =>
    x >= of.x && x < of.x + of.width && y >= of.y && y < of.y + of.height;
  return png(SIZE, (x, y) => {
    if (inside(x, y, { x: left + 25, y: top + 35, width: 30, height: 8 })) return [250, 250, 240];
    if (inside(x, y, { x: left, y: top, width: 80, height: 50 })) return [150, 20 + (n % 200), 30];
    if (y > 60 && x % 80 < 4) return [220, 220, 220];
    return y < 60 ? [140, 180, 220] : [90, 90, 95];
  });
}

const NEEDED: readonly CertificateKind[] = ['TYPE_APPROVAL', 'CALIBRATION'];

/** A sensor at a location with a speed limit, with the certificates that cases of violations need, or others. */
async function certified({ admin: { api }, sensor }: TestService, kinds = NEEDED) {
  const name = `Speed camera ${++made}`;
  const { id: locationId } = await api.locations.create.mutate({ name: `Road of ${name}`, speedLimit: 50 });
  const { id, apiKey } = await sensor({ name, type: 'SPEED_DETECTOR', locationId });
  for (const kind of kinds)
    await api.certificates.add.mutate({
      ...{ sensorId: id, kind, number: `${kind} ${made}`, validFrom: '2020-01-01', validUntil: '2040-01-01' },
      ...(kind === 'CALIBRATION' && { tolerance: { fixedKmh: 3, percent: 3 } }),
    });
  await api.sensors.heartbeat.mutate({ apiKey });
  return { id, name, apiKey };
}

/** A violation with two images. */
async function violation({ admin: { api } }: TestService, { apiKey }: { readonly apiKey: string }) {
  const licensePlateNumber = `34 CA ${1_000 + ++made}`;
  const { eventId } = await api.events.ingest.mutate({
    ...{ apiKey, eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING', vehicleSpeed: 78 },
    ...{ licensePlateNumber, images: [road(0.2), road(0.8)] },
  });
  return { eventId, licensePlateNumber };
}

/** A case of a violation of a certified sensor. */
async function opened(service: TestService) {
  const { eventId } = await violation(service, await certified(service));
  return service.admin.api.cases.open.mutate({ eventId });
}

/** A client of another operator than the one of the browser. */
async function anotherOperator({ url, admin }: TestService) {
  const email = `second-${++made}@example.org`;
  await admin.api.users.create.mutate({
    ...{ email, password: PASSWORD, firstName: 'Another', lastName: 'Person', role: 'OPERATOR' },
  });
  const client = createGantryClient(url);
  await client.login(email, PASSWORD);
  return client;
}

/** Takes a step in its dialog. */
async function take(page: Page, name: string, reason?: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.getByLabel(/Reason/).fill(reason);
  await dialog.getByRole('button', { name, exact: true }).click();
}

/** Where an image is drawn within its element, which it is fitted into. */
function fittedBox(element: SVGElement | HTMLElement) {
  const { naturalWidth, naturalHeight, clientWidth, clientHeight } = element as HTMLImageElement;
  const scale = Math.min(clientWidth / naturalWidth, clientHeight / naturalHeight);
  const [width, height] = [naturalWidth * scale, naturalHeight * scale];
  return { width, height, left: (clientWidth - width) / 2, top: (clientHeight - height) / 2 };
}

const isNarrowEnough = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

test('a case begins with an event, is checked by one person with keys, and verified by another', async ({
  service,
  openAs,
}) => {
  const { eventId, licensePlateNumber } = await violation(service, await certified(service));
  const page = await openAs('OPERATOR', `/events?event=${eventId}`);
  await page.getByRole('button', { name: 'Open a case' }).click();
  await expect(page).toHaveURL(/\/cases\/\d{4}-\d{6}$/, SOON);
  const number = page.url().split('/').at(-1) ?? '';
  await expect(page.getByRole('heading', { level: 1 })).toContainText(number);
  await expect(page.getByText('Measured 78 km/h − 3 km/h tolerance = 75 km/h.')).toBeVisible();
  await expect(page.getByText('The limit is 50 km/h: 25 km/h over.')).toBeVisible();
  const images = page.getByRole('region', { name: 'Images beside each other' });
  await expect(images.getByRole('img')).toHaveCount(2);
  await page.keyboard.press('+');
  await expect(images.getByText('150 %')).toBeVisible();
  await page.keyboard.press('1');
  const dialog = page.getByRole('dialog', { name: 'Check' });
  await expect(dialog.getByLabel(/Reason/)).toBeFocused();
  const failed = dialog.getByText('These checks failed:');
  if (await failed.isVisible()) await dialog.getByLabel('Reason').fill('Seen in the image');
  await dialog.getByRole('button', { name: 'Check' }).click();
  await expect(page.getByText(`Case \u2066${number}\u2069 is checked`)).toBeVisible();
  // The same person may not be the second one, and is told why.
  await expect(page.getByText('another person has to take the next')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Verify' })).toHaveCount(0);

  const second = await openAs('ADMIN', '/cases?part=second');
  await second.getByRole('link', { name: number }).click();
  await expect(second.getByText('as the second person, verify the case')).toBeVisible();
  await second.keyboard.press('1');
  await second.getByRole('dialog').getByRole('button', { name: 'Verify' }).click();
  await expect(second.getByText('The items are locked, because the case is verified.')).toBeVisible();
  await expect(second.getByRole('button', { name: 'Redact' })).toHaveCount(0);
  // The first person sees it without doing anything.
  await expect(page.getByText('Next: export the case')).toBeVisible(SOON);
  const log = page.getByRole('region', { name: 'Log' });
  await expect(log.getByRole('listitem').first()).toContainText('Verified');
  expect(await service.admin.api.cases.getById.query({ id: number })).toMatchObject({
    ...{ state: 'VERIFIED', licensePlateNumber },
  });
  // The event shows the same case again.
  await page.goto(`${service.url}/events?event=${eventId}`);
  await page.getByRole('button', { name: 'Open a case' }).click();
  await expect(page).toHaveURL(new RegExp(`/cases/${number}$`));
});

test('the notice of a confirmed event opens a case about it, although the pane shows the next event', async ({
  service,
  openAs,
}) => {
  const sensor = await certified(service);
  const second = await violation(service, sensor);
  const first = await violation(service, sensor);
  const page = await openAs('OPERATOR', `/events?sensorId=${sensor.id}&event=${first.eventId}`);
  const pane = page.getByRole('complementary', { name: 'Event' });
  await expect(page.getByRole('row', { name: second.licensePlateNumber })).toBeVisible();
  const opens = async ({ licensePlateNumber }: typeof first, open: () => Promise<void>) => {
    await expect(pane.getByRole('heading', { name: licensePlateNumber })).toBeVisible();
    await page.keyboard.press('1');
    const notice = page.getByRole('status').filter({ hasText: licensePlateNumber });
    await expect(notice.getByRole('button', { name: 'Open a case' })).toBeVisible();
    await open();
    await expect(page).toHaveURL(/\/cases\/\d{4}-\d{6}$/, SOON);
    await expect(page.getByText(licensePlateNumber).first()).toBeVisible();
    await expect(notice).toHaveCount(0);
  };
  await opens(first, () => page.keyboard.press('Shift+o'));
  await page.goBack();
  await pane.getByRole('heading', { name: second.licensePlateNumber }).waitFor();
  await opens(second, () => page.getByRole('status').getByRole('button', { name: 'Open a case' }).click());
});

test('the notice of a confirmed event can be read on a phone', async ({ service, openAs }) => {
  const { eventId, licensePlateNumber } = await violation(service, await certified(service));
  const page = await openAs('OPERATOR', `/events?event=${eventId}`, { width: 390, isTouched: true });
  await page.getByRole('button', { name: 'Confirm' }).click();
  const text = page.getByRole('status').getByText(`${licensePlateNumber} confirmed`);
  await expect(page.getByRole('status').getByRole('button', { name: 'Open a case' })).toBeVisible();
  const { width = 0, height = 0 } = (await text.boundingBox()) ?? {};
  expect(width).toBeGreaterThan(3 * height);
});

test('a case about an event without a violation and an image says so in words', async ({
  service,
  openAs,
}) => {
  const { apiKey } = await service.sensor();
  const { eventId } = await service.admin.api.events.ingest.mutate({
    apiKey,
    eventType: 'SPEED_DETECTION',
    vehicleSpeed: 40,
  });
  const page = await openAs('OPERATOR', `/events?event=${eventId}`);
  await page.getByRole('button', { name: 'Open a case' }).click();
  await expect(page).toHaveURL(/\/cases\/\d{4}-\d{6}$/, SOON);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/\d{6} Speed$/);
  await expect(page.getByRole('region', { name: 'Items' })).toContainText('An event without an image');
});

test('of two people who are about to verify a case, the slower one sees that somebody was faster', async ({
  service,
  openAs,
}) => {
  const { number } = await opened(service);
  const first = await anotherOperator(service);
  await first.api.cases.check.mutate({ id: number, reason: 'Seen' });
  const [one, other] = await Promise.all([
    openAs('OPERATOR', `/cases/${number}`),
    openAs('ADMIN', `/cases/${number}`),
  ]);
  for (const page of [one, other]) await page.getByRole('button', { name: 'Verify' }).click();
  await one.getByRole('dialog').getByRole('button', { name: 'Verify' }).click();
  await expect(one.getByText(`Case \u2066${number}\u2069 is verified`)).toBeVisible();
  await other.getByRole('dialog').getByRole('button', { name: 'Verify' }).click();
  await expect(other.getByRole('dialog').getByText('Somebody was faster')).toBeVisible();
  await expect(other.getByText('Verified', { exact: true }).first()).toBeVisible();
  const { secondBy } = await service.admin.api.cases.getById.query({ id: number });
  expect(secondBy?.name).toBe('Operator Tester');
});

test('a case without the certificates of its sensor cannot go on until they are added', async ({
  service,
  openAs,
}) => {
  const sensor = await certified(service, []);
  const { eventId } = await violation(service, sensor);
  const { number } = await service.admin.api.cases.open.mutate({ eventId });
  const page = await openAs('OPERATOR', `/cases/${number}`);
  const checks = page.getByRole('region', { name: 'Checks' });
  // Without a tolerance, the speed is not within it.
  await expect(checks.getByText('Add what is missing: the speed limit, or a calibration')).toBeVisible();
  await expect(checks.getByText('The case cannot go on, whatever the reason given.')).toBeVisible();
  await expect(page.getByText('A check failed that nobody can override')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Check', exact: true })).toHaveCount(0);
  await page.getByRole('link', { name: sensor.name }).click();
  const panel = page.getByRole('region', { name: 'Certificates' });
  await expect(panel.getByText('The sensor has no certificates.')).toBeVisible();
  for (const [kind, title] of [
    ['TYPE_APPROVAL', 'Type approval'],
    ['CALIBRATION', 'Calibration'],
  ] as const) {
    await panel.getByRole('button', { name: 'Add a certificate' }).click();
    const form = page.getByRole('dialog', { name: 'Add a certificate' });
    await form.getByLabel('What it attests').selectOption(kind);
    await form.getByLabel('Number').fill(`${title} 7`);
    await form.getByLabel('First day').fill('2024-01-01');
    await form.getByLabel('Last day').fill('2039-12-31');
    if (kind === 'CALIBRATION') {
      await form.getByLabel('At least, in km/h').fill('3');
      await form.getByLabel(/^File/).setInputFiles({
        ...{ name: 'calibration.png', mimeType: 'image/png' },
        buffer: Buffer.from(road(0.5), 'base64'),
      });
    }
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form).toHaveCount(0, SOON);
  }
  const bar = panel.getByRole('img', {
    name: /^Calibration: Valid \u20662024-01-01 – 2039-12-31\u2069\. Valid today\.$/,
  });
  await expect(bar).toBeVisible();
  const download = page.waitForEvent('download');
  await panel.getByRole('button', { name: 'Download calibration.png' }).click();
  expect((await download).suggestedFilename()).toBe('calibration.png');
  await page.goto(`${service.url}/cases/${number}`);
  await expect(page.getByRole('button', { name: 'Check', exact: true })).toBeVisible();
  // A certificate that is withdrawn covers the case no longer.
  await page.goto(`${service.url}/sensors/${sensor.id}`);
  await panel.getByRole('button', { name: 'Withdraw certificate Calibration 7' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Reason').fill('Wrong device');
  await form.getByRole('button', { name: 'Withdraw' }).click();
  await expect(panel.getByText('Wrong device')).toBeVisible();
  await expect(bar).toHaveCount(0);
  await page.goto(`${service.url}/cases/${number}`);
  await expect(page.getByText('A check failed that nobody can override')).toBeVisible();
});

test('parts of an image are made unrecognisable with a mouse and keys, undone, looked at, and saved as a copy', async ({
  service,
  openAs,
}) => {
  const { number } = await opened(service);
  const page = await openAs('OPERATOR', `/cases/${number}`);
  await page.getByRole('button', { name: 'Redact' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Make parts of the image unrecognisable' });
  const frame = dialog.getByRole('group', { name: 'Image with the areas to be covered' });
  const box = await frame.boundingBox();
  if (!box) throw new Error('The image is not shown');
  const drag = async (from: readonly [number, number], to: readonly [number, number]) => {
    await page.mouse.move(box.x + box.width * from[0], box.y + box.height * from[1]);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * to[0], box.y + box.height * to[1], { steps: 4 });
    await page.mouse.up();
  };
  const areas = frame.getByRole('button');
  await drag([0.1, 0.1], [0.3, 0.3]);
  await expect(areas).toHaveCount(1);
  await drag([0.5, 0.5], [0.7, 0.8]);
  await expect(areas).toHaveCount(2);
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await expect(areas).toHaveCount(1);
  // With keys: an area is added, moved to the left edge and made higher.
  await dialog.getByRole('button', { name: 'Add an area' }).click();
  await areas.nth(1).focus();
  for (let n = 0; n < 45; n++) await page.keyboard.press('ArrowLeft');
  for (let n = 0; n < 10; n++) await page.keyboard.press('Shift+ArrowDown');
  await expect(areas.nth(1)).toHaveAccessibleName(
    'Area 2: 0 % from the left, 40 % from the top, 20 % wide, 30 % high',
  );
  await page.keyboard.press('Control+z');
  await expect(areas.nth(1)).toHaveAccessibleName(/29 % high$/);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Look at the copy' }).click();
  await expect(dialog.getByRole('img', { name: 'The redacted copy' })).toBeVisible();
  await expect(dialog.getByText(`${SIZE.width} × ${SIZE.height}`)).toBeVisible();
  await dialog.getByRole('button', { name: 'Save the copy' }).click();
  await expect(dialog).toHaveCount(0, SOON);
  const { items } = await service.admin.api.cases.getById.query({ id: number });
  const copy = items.find(({ derivedFrom }) => derivedFrom !== null);
  const original = items.find(({ id }) => id === copy?.derivedFrom);
  expect(copy).toMatchObject({ role: 'FIRST', contentType: 'image/jpeg' });
  expect(original?.sha256).not.toBe(copy?.sha256);
  const answer = await fetch(new URL(copy?.url ?? '', service.url), {
    headers: { authorization: `Bearer ${service.admin.token}` },
  });
  const file = Buffer.from(await answer.arrayBuffer());
  expect(file.includes('Exif')).toBe(false);
  /** The brightest value of a pixel in a rectangle of the file, in shares of the image. */
  const brightest = (rectangle: readonly [number, number, number, number]) =>
    page.evaluate(
      async ([base64, [x, y, width, height]]) => {
        const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes]));
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext('2d');
        context?.drawImage(image, 0, 0);
        const { data = [] } =
          context?.getImageData(
            Math.ceil(x * image.width),
            Math.ceil(y * image.height),
            Math.floor(width * image.width),
            Math.floor(height * image.height),
          ) ?? {};
        return Math.max(...[...data].filter((_, at) => at % 4 < 3));
      },
      [file.toString('base64'), rectangle] as const,
    );
  for (const covered of [
    [0.11, 0.11, 0.18, 0.18],
    [0.01, 0.41, 0.18, 0.27],
  ] as const)
    expect(await brightest(covered)).toBeLessThan(24);
  expect(await brightest([0.5, 0.5, 0.2, 0.3])).toBeGreaterThan(100);
  await expect(page.getByRole('region', { name: 'Items' }).getByText('Redacted copy')).toBeVisible();
  // What is compared at first are the originals.
  const compared = page.getByRole('region', { name: 'Images beside each other' }).getByRole('combobox');
  await expect(compared.nth(1).locator('option:checked')).toHaveText('Second image');
});

test('on a phone, an area is drawn with a finger', async ({ service, openAs }) => {
  const { number } = await opened(service);
  const page = await openAs('OPERATOR', `/cases/${number}`, { width: 390, isTouched: true });
  await page.getByRole('button', { name: 'Redact' }).first().tap();
  const dialog = page.getByRole('dialog');
  const frame = dialog.getByRole('group', { name: 'Image with the areas to be covered' });
  await frame.scrollIntoViewIfNeeded();
  const box = await frame.boundingBox();
  if (!box) throw new Error('The image is not shown');
  const touch = await page.context().newCDPSession(page);
  const at = (share: number) => [{ x: box.x + box.width * share, y: box.y + box.height * share }];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0.2) });
  for (const share of [0.3, 0.4, 0.6])
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(share) });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await expect(frame.getByRole('button')).toHaveAccessibleName(
    'Area 1: 20 % from the left, 20 % from the top, 40 % wide, 40 % high',
  );
  expect(await isNarrowEnough(page)).toBe(true);
});

test('the speed is measured a second time by two line crossings', async ({ service, openAs }) => {
  const { number } = await opened(service);
  const page = await openAs('OPERATOR', `/cases/${number}`);
  await page.getByRole('button', { name: 'Measure again' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Distance of the lines, in m').fill('10,8');
  await dialog.getByLabel('Time between the images, in ms').fill('500');
  await dialog.getByRole('button', { name: 'Save the measurement' }).click();
  await expect(dialog.getByRole('alert')).toContainText('Mark both line crossings');
  await dialog.getByRole('button', { name: /^First line crossing/ }).click({ position: { x: 40, y: 40 } });
  await dialog.getByRole('button', { name: /^Second line crossing/ }).focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  await expect(
    dialog.getByRole('button', {
      name: 'Second line crossing: marked 51 % from the left, 50 % from the top.',
    }),
  ).toBeFocused();
  await expect(dialog.getByRole('status')).toHaveText('77.8 km/h');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save the measurement' }).click();
  await expect(page.getByText('By two line crossings: 10.8 m in 0.5 s = 77.8 km/h.')).toBeVisible();

  // The other person sees the marks in the images, and finds them again in the dialog.
  const images = page.getByRole('region', { name: 'Images beside each other' });
  const marked = images.getByRole('img', {
    name: /^Second image, a line crossing is marked 51 % from the left, 50 %/,
  });
  await expect(marked).toBeVisible();
  const cross = await images.locator('[data-mark] g').nth(3).boundingBox();
  const [frame, shown] = [await marked.boundingBox(), await marked.evaluate(fittedBox)];
  if (!cross || !frame) throw new Error('The mark is not shown');
  const off = [
    cross.x + cross.width / 2 - (frame.x + shown.left + 0.51 * shown.width),
    cross.y + cross.height / 2 - (frame.y + shown.top + 0.5 * shown.height),
  ];
  for (const pixels of off) expect(Math.abs(pixels)).toBeLessThan(2);
  await page.getByRole('button', { name: 'Measure again' }).click();
  await expect(dialog.getByRole('button', { name: /^Second line crossing: marked 51 %/ })).toBeVisible();
  await expect(dialog.getByLabel('Distance of the lines, in m')).toHaveValue('10.8');
  await expect(dialog.getByRole('status')).toHaveText('77.8 km/h');
  const { lines } = await service.admin.api.cases.getById.query({ id: number });
  expect(lines?.secondMark).toEqual({ x: 0.51, y: 0.5 });
});

test('a case is disputed, and an administrator decides; a rejection has a code', async ({
  service,
  openAs,
}) => {
  const { number } = await opened(service);
  const first = await anotherOperator(service);
  await first.api.cases.check.mutate({ id: number, reason: 'Seen' });
  const page = await openAs('OPERATOR', `/cases/${number}`);
  await take(page, 'Dispute', 'Two vehicles are close');
  await expect(page.getByText('An administrator who is neither of them decides.')).toBeVisible();
  const admin = await openAs('ADMIN', `/cases/${number}`);
  await admin.getByRole('button', { name: 'Decide' }).click();
  const dialog = admin.getByRole('dialog');
  await dialog.getByLabel('Decision').selectOption('REJECTED');
  await dialog.getByLabel('Reason for rejection').selectOption('OTHER');
  await dialog.getByLabel('Reason', { exact: true }).fill('Not clear');
  await dialog.getByRole('button', { name: 'Decide' }).click();
  // OTHER needs a text.
  await expect(dialog.getByLabel('What was wrong')).toBeFocused();
  await dialog.getByLabel('What was wrong').fill('A trailer');
  await dialog.getByRole('button', { name: 'Decide' }).click();
  await expect(admin.getByText('A trailer').first()).toBeVisible();
  // The log says what was decided, and not only that.
  const decided = admin
    .getByRole('region', { name: 'Log' })
    .getByRole('listitem')
    .filter({ hasText: 'Decided' });
  await expect(decided).toContainText('Rejected');
  await take(admin, 'Close the case');
  await expect(admin.getByText('The case is closed.')).toBeVisible();
  expect(await service.admin.api.cases.getById.query({ id: number })).toMatchObject({
    ...{ state: 'REJECTED', code: 'OTHER', codeText: 'A trailer' },
  });
});

test('a verified case is exported with its progress, and downloaded; the download is counted and logged', async ({
  service,
  openAs,
}) => {
  // A package waits until the case is sealed.
  test.slow();
  const { number } = await opened(service);
  const first = await anotherOperator(service);
  await first.api.cases.check.mutate({ id: number, reason: 'Seen' });
  await service.admin.api.cases.verify.mutate({ id: number, reason: 'Seen' });
  const page = await openAs('OPERATOR', `/cases/${number}`);
  await expect(page.getByRole('button', { name: 'Export' })).toBeVisible();
  await page.keyboard.press('1');
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await expect(dialog.getByLabel('For whom')).toHaveValue('false');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Export' }).click();
  const packages = page.getByRole('region', { name: 'Packages' });
  const download = packages.getByRole('button', { name: 'Download' });
  await expect(download).toBeVisible({ timeout: 150_000 });
  const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
  expect(file.suggestedFilename()).toBe(`case-${number}.zip`);
  await expect(packages.getByText('1 download')).toBeVisible(SOON);
  await expect(packages).toContainText('Can be downloaded until');
  const { exports } = await service.admin.api.cases.getById.query({ id: number });
  await expect(packages).toContainText(`SHA-256 ${exports[0]?.sha256}`);
  const [list] = await Promise.all([
    page.waitForEvent('download'),
    packages.getByRole('button', { name: 'Contents' }).click(),
  ]);
  expect(list.suggestedFilename()).toBe(`${number}-manifest.json`);
  const log = page.getByRole('region', { name: 'Log' });
  await expect(log.getByRole('listitem').filter({ hasText: 'Downloaded' })).toHaveCount(1);
  await expect(page.getByText('Exported', { exact: true }).first()).toBeVisible();

  // A court may ask for it after the case is over.
  await take(page, 'Close the case');
  await expect(page.getByText('The case is closed. A package can still be made')).toBeVisible();
  const about = page.getByRole('region', { name: 'About the case' });
  await expect(about).toContainText('Closed');
  await expect(about).not.toContainText('Its events are kept');
  await take(page, 'Export');
  await expect(packages.getByRole('listitem')).toHaveCount(2, SOON);
  await expect(packages.getByRole('button', { name: 'Download' })).toHaveCount(2, { timeout: 150_000 });
});

test('incidents and hits become cases, too, and the list of sensors names certificates that end soon', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await api.incidents.create.mutate({ title: 'Barrier hit', type: 'COLLISION' });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Open a case' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Barrier hit', SOON);
  await expect(page.getByRole('link', { name: 'Show the incident' })).toHaveAttribute(
    'href',
    `/incidents/${id}`,
  );

  const sensor = await certified(service, []);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  await api.certificates.add.mutate({
    ...{ sensorId: sensor.id, kind: 'CLOCK', number: 'C 1', validFrom: '2020-01-01', validUntil: inDays(9) },
  });
  await page.goto(`${service.url}/sensors`);
  await page.getByRole('button', { name: /ends? soon$/ }).click();
  const named = page.getByRole('dialog').getByRole('listitem').filter({ hasText: sensor.name });
  await expect(named).toHaveText(`${sensor.name} Clock ${inDays(8)}`);
  await expectAccessible(page);
  await named.getByRole('link').click();
  await expect(page.getByRole('region', { name: 'Certificates' }).getByText('Ends soon')).toBeVisible();

  const { id: hotlistId } = await api.hotlists.create.mutate({ name: `Stolen ${++made}`, repeatMinutes: 0 });
  const plate = `34 HI ${1_000 + made}`;
  await api.hotlists.addEntry.mutate({ hotlistId, plate, reason: 'Stolen' });
  await api.events.ingest.mutate({
    ...{ apiKey: sensor.apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber: plate },
  });
  const hits = async () => (await api.hits.getAll.query({ hotlistId })).hits;
  await expect.poll(async () => (await hits()).length, SOON).toBe(1);
  await page.goto(`${service.url}/hits?state=ALL&hit=${(await hits())[0]?.id}`);
  await page.getByRole('button', { name: 'Open a case' }).click();
  await expect(page.getByRole('link', { name: 'Show the hit' })).toBeVisible(SOON);
});

test('the queue has its parts, finds a number and a plate, follows changes, and has a second page', async ({
  service,
  openAs,
}) => {
  test.slow();
  const sensor = await certified(service);
  const { eventId, licensePlateNumber } = await violation(service, sensor);
  const { number } = await service.admin.api.cases.open.mutate({ eventId });
  const page = await openAs('OPERATOR', `/cases?sensorId=${sensor.id}`);
  const row = page.getByRole('row').filter({ hasText: number });
  await expect(row).toContainText('Speeding');
  await expect(row).toContainText('New');
  const other = await anotherOperator(service);
  await other.api.cases.check.mutate({ id: number, reason: 'Seen' });
  await expect(row).toContainText('Checked', SOON);
  for (const [search, count] of [
    [number, 1],
    [licensePlateNumber, 1],
    ['1999-000001', 0],
  ] as const) {
    await page.goto(`${service.url}/cases?search=${encodeURIComponent(search)}`);
    if (count === 0) await expect(page.getByText('No case matches these filters')).toBeVisible();
    else await expect(page.locator('tr[data-key]')).toHaveCount(count);
  }
  await page.goto(`${service.url}/cases?part=over&sensorId=${sensor.id}`);
  await expect(page.getByText('No case matches these filters')).toBeVisible();
  // Rows beyond the first page are read while the list is scrolled.
  for (let n = 0; n < 110; n++) {
    const { id } = await service.admin.api.incidents.create.mutate({ title: `Paged ${n}`, type: 'OTHER' });
    await service.admin.api.cases.open.mutate({ incidentId: id });
  }
  await page.goto(`${service.url}/cases?part=all&kind=INCIDENT`);
  const list = page.getByRole('region', { name: 'All' });
  await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
  await expect
    .poll(async () => {
      await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      return page.locator('tr[aria-rowindex="111"]').count();
    }, SOON)
    .toBe(1);
});

test('rules say which violations become cases, and which need one person only', async ({
  service,
  openAs,
}) => {
  const page = await openAs('ADMIN', '/administration/cases');
  await page.getByLabel('A second person verifies cases of: No seat belt').uncheck();
  await page.getByLabel('Another code of a device').fill('TAILGATING');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByLabel('Open a case for each: TAILGATING').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The rules of cases are saved')).toBeVisible();
  const rules = await service.admin.api.cases.getRules.query();
  expect(rules).toMatchObject({ secondPerson: { NO_SEATBELT: false } });
  expect(rules.openFor).toContain('TAILGATING');
  await service.admin.api.cases.updateRules.mutate({ secondPerson: {}, openFor: [] });
});

for (const [theme, language, width] of [
  ['dark', 'en', 1440],
  ['light', 'ar', 1280],
  ['light', 'tr', 390],
] as const)
  test(`the pages of cases are accessible: ${theme}, ${language}, ${width} px`, async ({
    service,
    openAs,
  }) => {
    const { number, sensorId } = await opened(service);
    const page = await openAs('ADMIN', `/cases/${number}`, { theme, language, width });
    const shots = process.env.SCREENSHOTS;
    const isFine = async (name: string) => {
      await expectAccessible(page);
      expect(await isNarrowEnough(page), name).toBe(true);
      if (shots) await page.screenshot({ path: `${shots}/${name}-${language}-${width}.png`, fullPage: true });
    };
    await expect(page.getByRole('img')).toHaveCount(2, SOON);
    // What the checks found is said in the language of the user.
    await expect(page.locator(`bdi[lang="${language}"]`)).toHaveCount(8);
    await expect(page.locator(`bdi[lang]:not([lang="${language}"])`)).toHaveCount(0);
    await isFine('case');
    await page.keyboard.press('1');
    await expect(page.getByRole('dialog')).toBeVisible();
    await isFine('check');
    for (const [name, path] of [
      ['queue', '/cases'],
      ['sensor', `/sensors/${sensorId}`],
      ['rules', '/administration/cases'],
    ] as const) {
      await page.goto(service.url + path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.getByRole('status', { name: /Loading|yükleniyor|يل/i })).toHaveCount(0);
      await isFine(name);
    }
  });

test('a search for a plate waits for its reason, and people from whom plates are hidden see none, and no image', async ({
  browser,
}) => {
  const service = await startService({ HIDE_PLATES_FROM: 'OPERATOR', PLATE_SEARCH_REASON: 'true' });
  try {
    const { number, licensePlateNumber } = await opened(service);
    const admin = await openAlone(browser, service, `/cases?search=${licensePlateNumber}`);
    await expect(admin.getByText('The search has not started.')).toBeVisible();
    await admin.getByLabel('Why the plate is looked up').fill('Request of a court');
    await admin.getByRole('button', { name: 'Search', exact: true }).click();
    await expect(admin.getByRole('link', { name: number })).toBeVisible();
    await admin.goto(`${service.url}/cases?search=${number}`);
    await expect(admin.getByRole('link', { name: number })).toBeVisible();
    await admin.context().close();
    const email = await service.userOf('OPERATOR');
    const operator = createGantryClient(service.url);
    const session = await operator.login(email, PASSWORD);
    expect(session).toBeDefined();
    const page = await openAlone(browser, { ...service, admin: operator }, `/cases/${number}`);
    await expect(page.getByText('The case has no image that you may see.')).toBeVisible();
    await expect(page.getByText('Not shown to you.').first()).toBeVisible();
    expect(await page.content()).not.toContain(licensePlateNumber ?? '');
    await page.context().close();
  } finally {
    await service.stop();
  }
});
