import type { Page } from '@playwright/test';
import { expect, pathsOf, test } from './fixtures.ts';
import type { TestService } from './service.ts';
import { everywhere, type Made, stories, type Try } from './shortcuts.ts';

/** The shortcuts that the sheet lists under a heading, in its notation. */
async function listed(page: Page, heading: string): Promise<string[]> {
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  const group = sheet.locator('section').filter({ has: page.getByRole('heading', { name: heading }) });
  await expect(sheet.getByRole('heading', { name: 'Everywhere' })).toBeVisible();
  return group
    .locator('dt')
    .evaluateAll((all) =>
      all.map((one) => [...one.querySelectorAll('kbd')].map((key) => key.textContent?.trim()).join(' ')),
    );
}

const ARROWS: Record<string, string> = {
  '↑': 'ArrowUp',
  '↓': 'ArrowDown',
  '←': 'ArrowLeft',
  '→': 'ArrowRight',
};

/** Presses keys in the notation of the sheet: `g e` are two keys, `⇧ x` is x with Shift. */
async function press(page: Page, keys: string): Promise<void> {
  if (keys.startsWith('⇧ ')) return page.keyboard.press(`Shift+${keys.slice(2).toUpperCase()}`);
  for (const key of keys.split(' ')) await page.keyboard.press(ARROWS[key] ?? key);
}

async function attempt(page: Page, service: TestService, made: Made, keys: string, one: Try) {
  await test.step(keys, async () => {
    await show(page, made.address);
    let isPressed = false;
    await one({
      ...made,
      page,
      service,
      press: () => {
        isPressed = true;
        return press(page, keys);
      },
    });
    expect(isPressed, `${keys} was pressed`).toBe(true);
  });
}

/** A page that leaves no state behind when another page is opened. */
const AWAY = '/account/sessions';
const AWAY_TITLE = 'Where you are signed in';

/** Closes open dialogs and navigates within the console, which is faster than a reload. */
async function show(page: Page, address: string): Promise<void> {
  const title = page.getByRole('heading', { level: 1 });
  const dialog = page.locator('[role="dialog"][data-open]');
  // The sheet and the search belong to no page, and stay open on navigation. In a field with a list, the first Escape
  // closes only the list.
  await expect(async () => {
    if ((await dialog.count()) > 0) await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0, { timeout: 1_000 });
  }).toPass({ timeout: 15_000 });
  await page.evaluate((to) => history.pushState({}, '', to), AWAY);
  await expect(title).toHaveText(AWAY_TITLE);
  if (address === AWAY) return;
  await page.evaluate((to) => history.pushState({}, '', to), address);
  await expect(title).not.toHaveText(AWAY_TITLE);
  await isReady(page);
}

async function isReady(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0);
}

test('every page of the console has a story about its shortcuts', async ({ openAs }) => {
  const page = await openAs('ADMIN', AWAY);
  expect([...new Set(stories.map(({ path }) => path))].toSorted()).toEqual(await pathsOf(page));
});

test.describe('every shortcut in the sheet does what its description says', () => {
  test.describe.configure({ mode: 'parallel' });
  for (const story of stories) {
    test(`on the page: ${story.name}`, { tag: '@long' }, async ({ service, openAs }) => {
      test.setTimeout(180_000);
      const first = await story.make(service);
      const { address } = first;
      const page = await openAs('ADMIN', address);
      await isReady(page);
      const shown = () => page.evaluate(() => window.__TSR_ROUTER__?.state.matches.at(-1)?.fullPath);
      expect(await shown()).toBe(story.path);
      await page.keyboard.press('?');
      const ofPage = await listed(page, 'This page');
      const ofAll = await listed(page, 'Everywhere');
      await page.keyboard.press('Escape');
      // Every shortcut in the sheet needs an expectation in shortcuts.ts, and every expectation there a shortcut.
      expect(ofPage.toSorted()).toEqual(Object.keys(story.tries).toSorted());
      const others = Object.entries(everywhere).filter(([keys]) => !(keys in story.tries));
      expect(ofAll.toSorted()).toEqual([...others.map(([keys]) => keys), 'z'].toSorted());
      for (const [keys, one] of Object.entries(story.tries))
        await attempt(page, service, await story.make(service), keys, one);
      // These do not change the objects of the page, so all of them use the first ones.
      for (const [keys, one] of others) await attempt(page, service, first, keys, one);
      await undoes(page, service, address);
    });
  }
});

/** Expects `z` to undo an action that was just made on another page. */
async function undoes(page: Page, service: TestService, address: string): Promise<void> {
  await test.step('z', async () => {
    const { id } = await service.admin.api.incidents.create.mutate({
      title: 'To be undone',
      type: 'OTHER',
      severity: 'LOW',
    });
    const assignee = async () => (await service.admin.api.incidents.getById.query({ id })).assignedTo;
    await show(page, `/incidents/${id}`);
    await page.keyboard.press('m');
    await expect(page.getByRole('button', { name: /Undo/ })).toBeVisible();
    await expect.poll(assignee).not.toBeNull();
    await page.evaluate((to) => history.pushState({}, '', to), address);
    await expect(page).not.toHaveURL(new RegExp(id));
    await page.keyboard.press('z');
    await expect.poll(assignee).toBeNull();
  });
}
