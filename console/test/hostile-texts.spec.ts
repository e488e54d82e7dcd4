import type { Page, Request } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { TestService } from './service.ts';

// Texts of devices and users are shown as plain text, whatever they contain, and make no page wider than its window.

const CODE = '<img src=x onerror="globalThis.isAttacked=true"><script>globalThis.isAttacked=true</script>';

/** Texts of up to the maximum length of a field. */
const texts = {
  'no blank': (most: number) => 'W'.repeat(Math.min(most, 4_000)),
  'combining marks': (most: number) => `a${'\u0301\u0334\u035b'.repeat(3_334)}`.slice(0, most),
  'right to left': (most: number) => `\u202eneve\u2067 ${'سجل '.repeat(most)}`.slice(0, most).trim(),
  code: (most: number) => `${CODE}${'<b>'.repeat(most)}`.slice(0, most),
} as const;
type Kind = keyof typeof texts;

let count = 0;

/** Creates objects of all types with texts of this kind. @returns the paths of pages that show them */
async function fill(service: TestService, kind: Kind): Promise<string[]> {
  const { api } = service.admin;
  const of = (most: number) => texts[kind](most);
  /** The text with a number before it, for fields that must be unique. */
  const named = (most: number) => `${++count} ${of(most - 5)}`;
  const location = await api.locations.create.mutate({
    name: named(100),
    address: of(300),
    description: of(2_000),
    coordinates: { latitude: 39 + count / 10, longitude: 32 },
  });
  const sensor = await service.sensor({ name: named(50), locationId: location.id });
  await api.sensors.update.mutate({ id: sensor.id, description: of(2_000) });
  await api.sensors.heartbeat.mutate({
    apiKey: sensor.apiKey,
    firmware: of(100),
    ipAddress: of(255),
    issues: [{ code: of(100), message: of(1_000), severity: 'warning' }],
  });
  const plate = `PLT${++count}`;
  const entry = await api.watchlist.create.mutate({ pattern: `${plate}*`, reason: of(500) });
  const { eventId } = await api.events.ingest.mutate({
    apiKey: sensor.apiKey,
    eventType: 'TRAFFIC_VIOLATION',
    severity: 'HIGH',
    licensePlateNumber: `${plate}${of(30)}`,
    violationType: of(100),
    vehicleType: of(100),
    description: of(10_000),
    tags: [of(100), of(99)],
    metadata: { [of(100)]: of(10_000), list: [of(1_000), { deep: of(1_000) }] },
    // A URL must not contain spaces or the characters of markup.
    images: [`https://camera.example/${of(300).replace(/[\s<>"]/g, '-')}`],
  });
  await api.events.review.mutate({ id: eventId, decision: 'REJECTED', reason: of(500) });
  const incident = await api.incidents.create.mutate({
    title: named(200),
    type: 'OTHER',
    severity: 'HIGH',
    description: of(10_000),
    locationId: location.id,
  });
  await api.incidents.attachEvent.mutate({ id: incident.id, eventId });
  await api.incidents.acknowledge.mutate({ id: incident.id, note: of(2_000) });
  const user = await api.users.create.mutate({
    email: `hostile-${++count}@example.org`,
    password: 'Correct-Horse-7-Battery',
    firstName: of(100),
    lastName: of(100),
    department: of(100),
    role: 'FIELD',
  });
  await api.incidents.assign.mutate({ id: incident.id, userId: user.id });
  const webhook = await api.webhooks.create.mutate({
    url: `http://127.0.0.1:9/${'x'.repeat(1_500)}`,
    kinds: ['sensor.statusChanged'],
    description: of(500),
  });
  const hold = await api.storage.setHold.mutate({ eventIds: [eventId], reason: of(1_000) });
  await api.views.create.mutate({ page: 'events', name: named(100), search: '', shared: true });
  const connection = await api.connections.create.mutate({ sensorId: sensor.id, format: 'hikvision' });
  await fetch(connection.url, { method: 'POST', body: `<${of(4_000)}` });
  const connectionPath = `/sensors/${sensor.id}/connections/${connection.id}`;
  const messagesOf = async () =>
    (await api.connections.getMessages.query({ connectionId: connection.id })).messages;
  await expect.poll(async () => (await messagesOf()).length).toBe(1);
  const [message] = await messagesOf();
  const alertsOf = async () => (await api.watchlist.getAlerts.query({ entryId: entry.id })).alerts;
  await expect.poll(async () => (await alertsOf()).length).toBe(1);
  const [alert] = await alertsOf();
  return [
    `/events?event=${eventId}`,
    `/incidents/${incident.id}`,
    `/watchlist?alert=${alert?.id}`,
    `/watchlist?part=plates&plate=${entry.id}`,
    `/sensors/${sensor.id}`,
    `${connectionPath}?message=${message?.id}`,
    `/locations/${location.id}`,
    `/traffic?locationId=${location.id}`,
    `/administration/users?user=${user.id}`,
    `/administration/webhooks/${webhook.id}`,
    `/administration/holds?hold=${hold.id}`,
  ];
}

const LISTS = [
  '/',
  '/?places=list',
  '/?kiosk=1',
  '/events',
  '/incidents',
  '/incidents?view=list',
  '/watchlist',
  '/watchlist?part=plates',
  '/sensors',
  '/locations',
  '/traffic',
  '/reports',
  '/administration/users',
  '/administration/activity',
  '/administration/webhooks',
  '/administration/holds',
];

/** The problems in how the page shows texts. */
function lookOver(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const brief = (element: Element) => element.outerHTML.slice(0, 160);
    const wider = document.documentElement.scrollWidth - innerWidth;
    if (wider > 0) {
      const isOut = (element: Element) => element.getBoundingClientRect().right > innerWidth + 1;
      const [first] = [...document.querySelectorAll('main *')].filter(isOut);
      found.push(`the page is ${wider} pixels wider than its window: ${first && brief(first)}`);
    }
    if ('isAttacked' in globalThis || document.querySelector('img[src="x"]')) found.push('code was run');
    // An element outside the window can be reached only if it is in a container that scrolls.
    const scrolls = (element: Element | null): boolean =>
      element !== null &&
      (['auto', 'scroll'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    for (const command of document.querySelectorAll('button, a, input, select, textarea, h1, h2')) {
      const { left, right, width } = command.getBoundingClientRect();
      if (width > 1 && (right > innerWidth + 1 || left < -1) && !scrolls(command.parentElement))
        found.push(`out of the window: ${brief(command)}`);
    }
    for (const row of document.querySelectorAll('tr[data-key]')) {
      const { height } = row.getBoundingClientRect();
      if (height > 60) found.push(`a row of ${height} pixels: ${row.textContent?.slice(0, 60)}`);
    }
    // A directional override must not affect the text around the element that contains it.
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.textContent?.includes('\u202e')) continue;
      let around = node.parentElement;
      let isApart = false;
      for (; around; around = around.parentElement) {
        const { unicodeBidi, display } = getComputedStyle(around);
        isApart ||= /isolate|plaintext/.test(unicodeBidi);
        if (isApart || !display.startsWith('inline')) break;
      }
      isApart ||= around?.textContent?.trim() === node.textContent.trim();
      if (!isApart && node.parentElement) found.push(`an open override: ${brief(node.parentElement)}`);
    }
    return found;
  });
}

/** The kinds whose detail pages are opened in the first test, by width. The lists show all kinds. */
const OPENED_FIRST: Readonly<Record<number, readonly Kind[]>> = { 1440: ['code'], 390: ['no blank', 'code'] };

async function lookOverAll(page: Page, home: string, addresses: readonly string[]): Promise<void> {
  const underWay = new Set<Request>();
  page.on('request', (request) => !request.url().includes('live.onAny') && underWay.add(request));
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  for (const address of addresses) {
    await page.goto(home + address);
    await expect(page.getByRole(address.includes('kiosk') ? 'region' : 'heading').first()).toBeVisible();
    await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0);
    await expect.poll(() => underWay.size, { intervals: [50, 100, 200] }).toBe(0);
    expect.soft(await lookOver(page), address).toEqual([]);
  }
}

for (const width of [1440, 390]) {
  const kinds = Object.keys(texts) as Kind[];
  const always = OPENED_FIRST[width] ?? [];
  const others = kinds.filter((kind) => !always.includes(kind));

  test(`hostile texts do not break a page ${width} pixels wide`, { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    test.setTimeout(200_000);
    const addresses = [...LISTS];
    for (const kind of kinds) {
      const ofOne = await fill(service, kind);
      if (always.includes(kind)) addresses.push(...ofOne);
    }
    const page = await openAs('ADMIN', '/account/sessions', { width });
    await lookOverAll(page, service.url, addresses);
  });

  test(`further kinds of hostile text do not break a page ${width} pixels wide`, { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    test.setTimeout(400_000);
    const addresses: string[] = [];
    for (const kind of others) addresses.push(...(await fill(service, kind)));
    const page = await openAs('ADMIN', '/account/sessions', { width });
    await lookOverAll(page, service.url, addresses);
  });
}
