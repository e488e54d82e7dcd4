import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, openAlone, test } from './fixtures.ts';
import { ADMIN, type Ending, PASSWORD, startService } from './service.ts';

const ENDINGS: readonly Ending[] = ['process killed', 'all killed', 'all terminated'];

const countStreams = (requests: readonly string[]): number =>
  requests.filter((url) => url.includes('/trpc/live.onAny')).length;

test.describe('the connection to the service', () => {
  test('is one stream for all tabs of a browser', async ({ openAs }) => {
    const first = await openAs('OPERATOR', '/events');
    await expect(first.getByText('Live', { exact: true })).toBeVisible();
    const requests: string[] = [];
    const tabs = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const tab = await first.context().newPage();
        tab.on('request', (request) => requests.push(request.url()));
        await tab.goto(first.url());
        return tab;
      }),
    );
    for (const tab of tabs) await expect(tab.getByText('Live', { exact: true })).toBeVisible();
    expect(countStreams(requests)).toBe(0);
    // When the tab that holds the stream is closed, another tab opens it.
    await first.close();
    await expect.poll(() => countStreams(requests)).toBe(1);
  });

  const withoutLocks =
    'is one stream for each tab without the Web Locks API, and is lost for each of them alone';
  // It waits for longer than the service leaves a stream without a message.
  test(withoutLocks, { tag: ['@long'] }, async ({ openAs }) => {
    const first = await openAs('OPERATOR', '/events');
    // As a browser does if the console is served over HTTP by a host other than localhost.
    await first.context().addInitScript(() => {
      Reflect.deleteProperty(Navigator.prototype, 'locks');
    });
    await first.reload();
    await expect(first.getByText('Live', { exact: true })).toBeVisible();
    const second = await first.context().newPage();
    await second.route('**/trpc/live.onAny*', (route) => route.abort());
    await second.goto(first.url());
    await expect(second.getByText('No connection', { exact: true })).toBeVisible();
    expect(await first.getByText('Live', { exact: true }).isVisible()).toBe(true);
    await second.waitForTimeout(12_000);
    expect(await second.getByText('No connection', { exact: true }).isVisible()).toBe(true);
  });

  test('is lost at once when the browser is offline or a call fails, and comes back by itself', async ({
    openAs,
  }) => {
    const page = await openAs('OPERATOR', '/sensors');
    const live = page.getByText('Live', { exact: true });
    await expect(live).toBeVisible();
    const lost = page.getByText('No connection', { exact: true });
    await page.context().setOffline(true);
    await expect(lost).toBeVisible();
    // What the stream from before still receives tells nothing. A new one is tried until the browser is online.
    for (let tries = 0; tries < 2; tries++)
      await page.waitForEvent('requestfailed', (request) => request.url().includes('live.onAny'));
    expect(await lost.isVisible()).toBe(true);
    await page.context().setOffline(false);
    await expect(live).toBeVisible();
    await page.route('**/trpc/events.*', (route) => route.abort());
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await expect(lost).toBeVisible();
    await page.unroute('**/trpc/events.*');
    await expect(live).toBeVisible();
  });

  test('is lost within ten seconds of silence on a connection that is dead but not closed', {
    tag: '@long',
  }, async ({ service, browser }) => {
    const { port } = new URL(service.url);
    const pairs: [Socket, Socket][] = [];
    let isDead = false;
    // A link on which nothing passes any more, in either direction.
    const proxy = createServer((near) => {
      const far = connect(Number(port), '127.0.0.1');
      pairs.push([near, far]);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const)
        from.on('data', (data) => !isDead && to.write(data)).on('error', () => to.destroy());
      near.on('close', () => far.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port: proxyPort } = proxy.address() as AddressInfo;
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${proxyPort}/`);
      await page.getByLabel('E-mail').fill(ADMIN);
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const live = page.getByText('Live', { exact: true });
      await expect(live).toBeVisible();
      isDead = true;
      await expect(page.getByText('No connection', { exact: true })).toBeVisible({ timeout: 15_000 });
      isDead = false;
      await expect(live).toBeVisible({ timeout: 30_000 });
    } finally {
      await context.close();
      proxy.close();
      for (const [near, far] of pairs) for (const end of [near, far]) end.destroy();
    }
  });

  test('misses nothing while the token is exchanged', async ({ service, openAs }) => {
    const { apiKey } = await service.sensor();
    const page = await openAs('OPERATOR', '/?places=list');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const newest = page.getByRole('region', { name: 'Newest events' });
    await expect(newest.getByRole('status')).toHaveCount(0);
    let follow = () => {};
    const mayFollow = new Promise<void>((resolve) => {
      follow = resolve;
    });
    await page.route('**/trpc/live.onAny*', async (route) => {
      await mayFollow;
      await route.continue();
    });
    const taken = page.waitForRequest('**/trpc/live.onAny*');
    // As the console does before the token expires.
    await page.evaluate(async (url) => {
      const session = JSON.parse(localStorage.getItem('gantry.session') ?? '{}');
      const answer = await fetch(`${url}/trpc/auth.refreshToken`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session.token}` },
      });
      const { result } = await answer.json();
      const text = JSON.stringify({ ...session, token: result.data.json.token });
      localStorage.setItem('gantry.session', text);
      dispatchEvent(new StorageEvent('storage', { key: 'gantry.session', newValue: text }));
    }, service.url);
    await taken;
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'BETWEEN TOKENS',
    });
    follow();
    await expect(newest.getByText('BETWEEN TOKENS')).toBeVisible();
  });

  test('misses nothing when another tab takes the stream over', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const { apiKey } = await service.sensor();
    const first = await openAs('OPERATOR', '/?places=list');
    await expect(first.getByText('Live', { exact: true })).toBeVisible();
    const second = await first.context().newPage();
    await second.goto(first.url());
    await expect(second.getByText('Live', { exact: true })).toBeVisible();
    await expect(second.getByRole('region', { name: 'Newest events' }).getByRole('status')).toHaveCount(0);
    let follow = () => {};
    const mayFollow = new Promise<void>((resolve) => {
      follow = resolve;
    });
    await second.route('**/trpc/live.onAny*', async (route) => {
      await mayFollow;
      await route.continue();
    });
    const taken = second.waitForRequest('**/trpc/live.onAny*');
    await first.close();
    await taken;
    await service.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'BETWEEN TABS',
    });
    follow();
    await expect(second.getByRole('region', { name: 'Newest events' })).toContainText('BETWEEN TABS');
  });

  test('is reported as lost within seconds however the service ends, and nothing is missing when it is back', {
    tag: '@long',
  }, async ({ browser }) => {
    test.setTimeout(240_000);
    const service = await startService();
    const { apiKey } = await service.sensor();
    const send = (licensePlateNumber: string) =>
      service.admin.api.events.ingest.mutate({ apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber });
    const page = await openAlone(browser, service, '/events');
    const live = page.getByText('Live', { exact: true });
    await expect(live).toBeVisible();
    const sent: string[] = [];
    for (const way of ENDINGS) {
      await test.step(way, async () => {
        // One event just before the end, and one before the page reconnects: either could be lost between the streams.
        sent.push(`${way} before`, `${way} after`);
        await send(`${way} before`);
        await service.kill(way);
        const banner = page.getByRole('alert');
        await expect(banner).toContainText('The connection to the service is lost', { timeout: 5_000 });
        await expect(banner).toContainText('As of');
        await expect(page.getByRole('main')).toHaveCSS('opacity', '0.6');
        await service.restart();
        await send(`${way} after`);
        await expect(live).toBeVisible({ timeout: 30_000 });
        await expect(banner).toBeHidden();
        await expect(page.getByRole('main')).toHaveCSS('opacity', '1');
        for (const plate of sent) await expect(page.getByText(plate.toUpperCase())).toBeVisible();
      });
    }
    await expect(page.getByText(`${sent.length} events`)).toBeVisible();
    await page.context().close();
    await service.stop();
  });

  const unloaded = 'brings the pages that were asked for without it, which are not loaded yet';
  test(unloaded, { tag: ['@long'] }, async ({ browser }) => {
    test.setTimeout(180_000);
    const service = await startService();
    const page = await openAlone(browser, service, '/sensors');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await service.kill();
    await expect(page.getByText('No connection', { exact: true })).toBeVisible();
    await page.getByRole('link', { name: 'Traffic', exact: true }).click();
    await page.keyboard.press('/');
    await expect(page.getByRole('alert')).toContainText('The connection to the service is lost');
    // Longer than a failed attempt to load takes.
    await page.waitForTimeout(3_000);
    await expect(page.getByRole('link', { name: 'Traffic', exact: true })).toBeVisible();
    await service.restart();
    await expect(page.getByRole('dialog', { name: 'Search' })).toBeVisible({ timeout: 30_000 });
    await page.keyboard.press('Escape');
    await expect(page.getByRole('heading', { name: 'Traffic', exact: true })).toBeVisible();
    await page.context().close();
    await service.stop();
  });
});
