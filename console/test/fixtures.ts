import type { Role } from '@gantry/contract/permissions';
import { type Browser, type BrowserContext, test as base, expect, type Page } from '@playwright/test';
import axe, { type RunOptions } from 'axe-core';
import { PASSWORD, startService, type TestService } from './service.ts';

// A test uses the real page, service, and database:
//
//   test('an operator confirms an event', async ({ service, openAs }) => {
//     const { apiKey } = await service.sensor();
//     await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'SPEED_DETECTION' });
//     const page = await openAs('OPERATOR', '/events');
//     await page.keyboard.press('j');
//     …
//   });
//
// All tests of a worker share one service, so each test creates its own objects and checks only these.

interface Choices {
  readonly theme?: 'light' | 'dark';
  readonly language?: 'en' | 'tr' | 'ar';
  readonly width?: number;
  /** Whether the device is a phone with a touch screen. */
  readonly isTouched?: boolean;
  /** Whether the console keeps its files to start without a connection. Requests cannot be changed by the test then. */
  readonly isKept?: boolean;
  /** The address of the service as the browser knows it, such as that of a proxy. */
  readonly url?: string;
}

interface Fixtures {
  /** Opens a path of the console in a new browser context, signed in as a user with the role. */
  openAs(role: Role, path: string, choices?: Choices): Promise<Page>;
}

interface WorkerFixtures {
  readonly service: TestService;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern which fixtures are used
    async ({}, use) => {
      // The receivers of webhooks run in the test process.
      const service = await startService({
        WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
        // The sensors of earlier tests are not announced as offline in the middle of others.
        HEARTBEAT_TIMEOUT_SECONDS: '3600',
      });
      await use(service);
      await service.stop();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  openAs: async ({ service, browser }, use) => {
    const contexts: BrowserContext[] = [];
    const troubles: string[] = [];
    await use(
      async (
        role,
        path,
        {
          theme = 'dark',
          language = 'en',
          width = 1440,
          isTouched = false,
          isKept = false,
          url = service.url,
        } = {},
      ) => {
        const context = await browser.newContext({
          viewport: { width, height: 900 },
          colorScheme: theme,
          isMobile: isTouched,
          hasTouch: isTouched,
          serviceWorkers: isKept ? 'allow' : 'block',
        });
        contexts.push(context);
        const { token, user } = await service.admin.api.auth.login.mutate({
          email: await service.userOf(role),
          password: PASSWORD,
        });
        await remember(context, { session: { token, user }, language, theme });
        const page = await context.newPage();
        watch(page, url, troubles);
        await page.goto(url + path);
        return page;
      },
    );
    await Promise.all(contexts.map((context) => context.close()));
    expect(troubles).toEqual([]);
  },
});

export { expect };

/** Sets preferences of the console in local storage before its scripts run, unless they have a value already. */
export async function remember(
  context: BrowserContext,
  stored: { readonly session?: object; readonly language?: string; readonly theme?: string },
): Promise<void> {
  await context.addInitScript((values) => {
    for (const [name, value] of Object.entries(values)) {
      const key = `gantry.${name}`;
      if (localStorage.getItem(key) === null) localStorage.setItem(key, JSON.stringify(value));
    }
  }, stored);
}

/** Opens the console of a service that only one test uses, signed in as its administrator. */
export async function openAlone(browser: Browser, service: TestService, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' });
  const session = { token: service.admin.token, user: await service.admin.api.auth.me.query() };
  await remember(context, { session, language: 'en' });
  const page = await context.newPage();
  await page.goto(service.url + path);
  return page;
}

/** The paths of all pages of the console, as the router names them. @param page that shows one of them */
export async function pathsOf(page: Page): Promise<string[]> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const paths = await page.evaluate(() => Object.keys(window.__TSR_ROUTER__?.routesByPath ?? {}));
  // The second one only leads to the first page of the administration.
  return paths.filter((path) => path !== '/sign-in' && path !== '/administration').toSorted();
}

/** Records what no test may cause: errors in a page, violations of the CSP, and requests to other hosts. */
function watch(page: Page, home: string, troubles: string[]): void {
  page.on('pageerror', (error) => troubles.push(`error in the page: ${error.message}`));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) troubles.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && !url.startsWith(home)) troubles.push(`request to ${url}`);
  });
}

/**
 * What axe finds in the page, once its transitions are over. It runs in the page itself: the package for Playwright opens
 * another page for each report, which takes four times as long.
 * @param within a selector of the only part to look at
 */
export async function violationsIn(page: Page, options: RunOptions, within?: string): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  return page.evaluate(
    async ({ options, within }) => {
      const all = document
        .getAnimations()
        .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
      await Promise.allSettled(all.map(({ finished }) => finished));
      const { axe: run } = window as unknown as { axe: typeof axe };
      const { violations } = await run.run(within ?? document, { ...options, resultTypes: ['violations'] });
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary?.slice(0, 200)}`),
      );
    },
    { options, within },
  );
}

/** Expects that axe finds no violation of WCAG 2.2 AA. */
export async function expectAccessible(page: Page): Promise<void> {
  const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
  expect(await violationsIn(page, { runOnly })).toEqual([]);
}
