import { expect, test } from './fixtures.ts';
import { startService } from './service.ts';

const countStreams = (requests: readonly string[]): number =>
  requests.filter((url) => url.includes('/trpc/live.onAny')).length;

test.describe('the link to the service', () => {
  test('is one stream for all tabs of a browser', async ({ openAs }) => {
    const first = await openAs('OPERATOR', '/events');
    await expect(first.getByText('Live', { exact: true })).toBeVisible();
    const requests: string[] = [];
    const tabs = await Promise.all(
      Array.from({ length: 7 }, async () => {
        const tab = await first.context().newPage();
        tab.on('request', (request) => requests.push(request.url()));
        await tab.goto(first.url());
        return tab;
      }),
    );
    for (const tab of tabs) await expect(tab.getByText('Live', { exact: true })).toBeVisible();
    expect(countStreams(requests)).toBe(0);
    // When the tab that follows is closed, another one does.
    await first.close();
    await expect.poll(() => countStreams(requests)).toBe(1);
  });

  test('is said to be broken within seconds, and what happened meanwhile is there when it is back', async ({
    browser,
  }) => {
    test.setTimeout(180_000);
    const service = await startService();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(
      (session) => {
        localStorage.setItem('gantry.session', session);
        localStorage.setItem('gantry.language', '"en"');
      },
      JSON.stringify({ token: service.admin.token, user: await service.admin.api.auth.me.query() }),
    );
    await page.goto(`${service.url}/events`);
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await service.kill();
    await expect(page.getByRole('alert')).toContainText('The connection to the service is lost', {
      timeout: 5_000,
    });
    await expect(page.getByRole('alert')).toContainText('As of');
    await service.restart();
    const { apiKey } = await service.sensor();
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'BACK 1',
    });
    await expect(page.getByText('Live', { exact: true })).toBeVisible({ timeout: 30_000 });
    await expect(page.getByRole('alert')).toBeHidden();
    await expect(page.getByText('BACK 1')).toBeVisible();
    await context.close();
    await service.stop();
  });
});
