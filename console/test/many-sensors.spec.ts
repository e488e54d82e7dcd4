import type { Locator, Page } from '@playwright/test';
import { expect, openAlone, test } from './fixtures.ts';
import { startService, type TestService } from './service.ts';

/** The number of sensors of a large city. */
const SENSORS = 2_000;
/** One sensor in this many is in maintenance. */
const EVERY = 50;
const AT_ONCE = 40;
/** The label of the group in the middle of the map, which has half of the sensors and those nearby. */
const GROUPED = /^1,?\d{3} here$/;

/** Creates sensors on a grid, half of them at the same point in its middle, where the map has to group them. */
async function register({ admin }: TestService): Promise<void> {
  const place = (n: number) =>
    n % 2 === 0
      ? { latitude: 39.92, longitude: 32.85 }
      : { latitude: 39.82 + (n % 40) * 0.005, longitude: 32.75 + Math.floor(n / 40) * 0.004 };
  for (let first = 0; first < SENSORS; first += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, at) => {
        const n = first + at;
        const name = `Mast ${String(n).padStart(4, '0')}`;
        const { id } = await admin.api.sensors.create.mutate({
          name,
          deviceId: `mast-${n}`,
          type: 'CAMERA',
          coordinates: place(n),
        });
        if (n % EVERY === 0) await admin.api.sensors.update.mutate({ id, status: 'MAINTENANCE' });
      }),
    );
  }
}

/** Scrolls the list down to its last row. @returns the number of scroll steps after which a part of it had no row */
function blankFramesToTheEnd(page: Page): Promise<number> {
  return page.getByRole('region', { name: 'Sensors' }).evaluate(async (list, last) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const { x, y, width, height } = list.getBoundingClientRect();
    const isBlank = (part: number) =>
      !document.elementFromPoint(x + width / 2, y + 40 + (height - 60) * part)?.closest('tr[data-key]');
    let blank = 0;
    while (!list.querySelector(`tr[aria-rowindex="${last}"]`)) {
      list.scrollTop += 240;
      await frame();
      await frame();
      if ([0.2, 0.5, 0.9].some(isBlank)) blank++;
    }
    return blank;
  }, SENSORS + 1);
}

test('2,000 sensors are counted, filtered, scrolled through and grouped on the map', {
  tag: '@long',
}, async ({ browser }) => {
  test.setTimeout(240_000);
  const service = await startService();
  await test.step('register them', () => register(service));
  const page = await openAlone(browser, service, '/sensors?sortBy=name&sortOrder=asc');

  await test.step('the list', async () => {
    await expect(page.getByText('2,000 sensors')).toBeVisible();
    await expect(page.getByRole('table')).toHaveAttribute('aria-rowcount', String(SENSORS + 1));
    expect(await blankFramesToTheEnd(page)).toBe(0);
    await expect(page.getByText('Mast 1999')).toBeVisible();
  });
  await test.step('its filters', async () => {
    await page.goto(`${service.url}/sensors?status=MAINTENANCE`);
    await expect(page.getByText(`${SENSORS / EVERY} sensors`)).toBeVisible();
    await page.goto(`${service.url}/sensors?search=Mast 1234`);
    await expect(page.getByText('1 sensor', { exact: true })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Mast 1234' })).toBeVisible();
  });
  await test.step('the map', async () => {
    await page.goto(`${service.url}/sensors?view=map`);
    // The list next to the map has all sensors, the most severe status first.
    const twin = page.getByRole('region', { name: 'Map of the sensors' }).last();
    await expect(twin.getByRole('button').first()).toBeVisible();
    await openMiddle(page);
    await page.goto(`${service.url}/sensors?view=map&search=Mast 12`);
    await expect(twin.getByRole('button')).not.toHaveCount(0);
    await expect(twin.getByRole('button').first()).toContainText('Mast 12');
  });
  await test.step('the overview', async () => {
    await page.goto(service.url);
    await expect(page.getByText('of 2,000')).toBeVisible();
    await openMiddle(page);
  });
  await page.context().close();
  await service.stop();
});

test('a group on the map lists the worst of its sensors first, and how many it does not list', {
  tag: '@long',
}, async ({ browser }) => {
  test.setTimeout(240_000);
  const service = await startService();
  const { api } = service.admin;
  for (let n = 0; n < 230; n++) {
    const { id } = await api.sensors.create.mutate({
      name: `Mast ${n}`,
      deviceId: `mast-${n}`,
      type: 'CAMERA',
      coordinates: { latitude: 39.92, longitude: 32.85 },
    });
    if (n === 0) await api.sensors.update.mutate({ id, status: 'ERROR' });
  }
  const page = await openAlone(browser, service, '/sensors?view=map');
  const group = await openMiddle(page, '230 here');
  await expect(group.getByRole('listitem').first()).toContainText('Mast 0');
  await expect(group).toContainText('and 30 more');
  await page.context().close();
  await service.stop();
});

/** Clicks the middle of the map until it has drawn the group there. @returns the popover with the list of the group */
async function openMiddle(page: Page, name: string | RegExp = GROUPED): Promise<Locator> {
  const group = page.getByRole('dialog', { name });
  await expect(async () => {
    if (!(await group.isVisible())) await page.locator('canvas').first().click({ timeout: 2_000 });
    await expect(group).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 60_000 });
  return group;
}
