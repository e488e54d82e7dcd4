import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { TestService } from './service.ts';

// Changes between the response with a list and the first message of the stream, or while either is in progress, must be
// shown without a reload. The tests hold back responses and the stream until the change has been made.

/** A promise, and the function that resolves it. */
function gate(): { readonly isOpen: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { isOpen, open };
}

/**
 * Holds back the n-th response of a procedure.
 * @returns `asked`, which resolves when the service has responded; `release`, which passes that response on to the page
 */
async function hold(page: Page, procedure: string, n: number) {
  const [asked, released] = [gate(), gate()];
  let calls = 0;
  await page.route(
    ({ pathname }) => pathname.includes(procedure),
    async (route) => {
      if (++calls !== n) return route.continue();
      const response = await route.fetch();
      const body = await response.body();
      asked.open();
      await released.isOpen;
      await route.fulfill({ response, body });
    },
  );
  return { asked: asked.isOpen, release: released.open };
}

/** Delays the start of the stream. @returns a function that releases it */
async function holdStream(page: Page): Promise<() => void> {
  const { isOpen, open } = gate();
  await page.route('**/trpc/live.onAny*', async (route) => {
    await isOpen;
    await route.continue();
  });
  return open;
}

let made = 0;
async function sensorThatReports(service: TestService) {
  const { id, apiKey } = await service.sensor({ name: `Gap ${++made}` });
  const send = (licensePlateNumber: string) =>
    service.admin.api.events.ingest.mutate({ apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber });
  return { id, apiKey, send };
}

const live = (page: Page) => page.getByText('Live', { exact: true });
const newest = (page: Page) => page.getByRole('region', { name: 'Newest events' });

test.describe('nothing is missing', () => {
  test('when the stream begins while the list is loading', async ({ service, openAs }) => {
    const { send } = await sensorThatReports(service);
    const page = await openAs('ADMIN', '/account/sessions');
    const answer = await hold(page, 'events.getRecent', 1);
    const begin = await holdStream(page);
    await page.goto(service.url);
    await answer.asked;
    await send('GAP 1');
    begin();
    await expect(live(page)).toBeVisible();
    answer.release();
    await expect(newest(page)).toContainText('GAP 1');
  });

  test('when an older answer arrives after the message of the stream', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const { send } = await sensorThatReports(service);
    await send('GAP 2');
    const page = await openAs('ADMIN', '/account/sessions');
    // The first response is shown. When the stream begins, the page refetches the list.
    const answer = await hold(page, 'events.getRecent', 2);
    await page.goto(service.url);
    await answer.asked;
    await send('GAP 3');
    await expect(newest(page)).toContainText('GAP 3');
    const arrived = page.waitForResponse((response) => response.url().includes('events.getRecent'));
    answer.release();
    await (await arrived).finished();
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    await expect(newest(page)).toContainText('GAP 3', { timeout: 1 });
  });

  test('when an event arrives while the list of events is loading', async ({ service, openAs }) => {
    const { id, send } = await sensorThatReports(service);
    await send('GAP 4');
    const watching = await openAs('ADMIN', '/?places=list');
    await expect(newest(watching)).toContainText('GAP 4');
    const page = await watching.context().newPage();
    const answer = await hold(page, 'events.getAll', 1);
    await page.goto(`${service.url}/events?sensorId=${id}`);
    await answer.asked;
    await send('GAP 5');
    await expect(newest(watching)).toContainText('GAP 5');
    answer.release();
    await expect(page.getByRole('row').nth(1)).toContainText('GAP 4');
    await expect(page.getByRole('button', { name: 'Show 1 new event' })).toBeVisible();
  });

  test('when a sensor, an incident and an alert are created before the stream begins', {
    tag: '@long',
  }, async ({ service, openAs }) => {
    const { api } = service.admin;
    const { id, apiKey, send } = await sensorThatReports(service);
    await api.watchlist.create.mutate({ pattern: 'GAP 6', reason: 'Stolen' });
    const page = await openAs('ADMIN', '/account/sessions');
    for (const { path, procedure, happen, shown } of [
      {
        path: `/sensors/${id}`,
        procedure: 'sensors.getById',
        happen: () => api.sensors.heartbeat.mutate({ apiKey }),
        shown: () => page.locator('main > header').getByText('Online'),
      },
      {
        path: '/incidents?view=list',
        procedure: 'incidents.getAll',
        happen: () =>
          api.incidents.create.mutate({ title: 'In a gap', type: 'OBSTRUCTION', severity: 'LOW' }),
        shown: () => page.getByText('In a gap').first(),
      },
      {
        path: '/watchlist',
        procedure: 'watchlist.getAlerts',
        happen: () => send('GAP 6'),
        shown: () => page.getByRole('row').filter({ hasText: 'GAP 6' }),
      },
    ]) {
      await test.step(procedure, async () => {
        const answer = await hold(page, procedure, 1);
        const begin = await holdStream(page);
        await page.goto(service.url + path);
        await answer.asked;
        await happen();
        begin();
        await expect(live(page)).toBeVisible();
        answer.release();
        await expect(shown()).toBeVisible();
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      });
    }
  });
});
