import AxeBuilder from '@axe-core/playwright';
import type { Role } from '@gantry/contract/permissions';
import { type Browser, type BrowserContext, test as base, expect, type Page } from '@playwright/test';
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
      async (role, path, { theme = 'dark', language = 'en', width = 1440, isTouched = false } = {}) => {
        const context = await browser.newContext({
          viewport: { width, height: 900 },
          colorScheme: theme,
          isMobile: isTouched,
          hasTouch: isTouched,
        });
        contexts.push(context);
        const { token, user } = await service.admin.api.auth.login.mutate({
          email: await service.userOf(role),
          password: PASSWORD,
        });
        await remember(context, { session: { token, user }, language, theme });
        const page = await context.newPage();
        watch(page, service.url, troubles);
        await page.goto(service.url + path);
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

/** Expects that axe finds no violation of WCAG 2.2 AA. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary?.slice(0, 200)}`),
  );
  expect(found).toEqual([]);
}
