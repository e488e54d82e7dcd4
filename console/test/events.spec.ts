import { expect, test } from './fixtures.ts';
import type { TestService } from './service.ts';

/** Ingests violations of a type that only this test uses, so that tests do not see each other's events. */
async function report(
  service: TestService,
  violationType: string,
  plates: readonly string[],
  more: object = {},
) {
  const sensor = await service.sensor();
  const at = Date.now() - 60_000;
  const { results } = await service.admin.api.events.ingestBatch.mutate({
    apiKey: sensor.apiKey,
    events: plates.map((licensePlateNumber, n) => ({
      eventType: 'TRAFFIC_VIOLATION',
      violationType,
      licensePlateNumber,
      timestamp: new Date(at - n * 1000).toISOString(),
      ...more,
    })),
  });
  const ids = results.map((result) => ('eventId' in result ? result.eventId : ''));
  return { sensor, ids };
}

/** A number of plates: `ABC 100`, `ABC 101`, and so on. */
const numbered = (letters: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${letters} ${100 + n}`);

/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test.describe('triage', () => {
  test('confirms, rejects with a reason, and undoes by keyboard; the next event opens automatically', async ({
    service,
    openAs,
  }) => {
    const { ids } = await report(service, 'TRIAGE', ['TRI 1', 'TRI 2', 'TRI 3']);
    const page = await openAs('OPERATOR', '/events?violationType=TRIAGE');
    const row = (plate: string) => page.getByRole('row', { name: plate });
    await expect(row('TRI 1')).toBeVisible();
    await page.keyboard.press('j');
    await expect(page.getByRole('heading', { name: 'TRI 1' })).toBeVisible();
    await page.keyboard.press('1');
    await expect(row('TRI 1')).toContainText('Confirmed');
    await expect(row('TRI 1')).toContainText('Operator Tester');
    await expect(page.getByRole('heading', { name: 'TRI 2' })).toBeVisible();

    await page.keyboard.press('2');
    await expect(page.getByRole('dialog', { name: 'Reject TRI 2' })).toBeVisible();
    await page.keyboard.type('Dirt on the lens');
    await page.keyboard.press('Enter');
    await expect(row('TRI 2')).toContainText('Dirt on the lens');
    await expect(page.getByRole('heading', { name: 'TRI 3' })).toBeVisible();
    await expect(page.getByText('TRI 2 rejected')).toBeVisible();
    await page.keyboard.press('z');
    await expect(row('TRI 2')).not.toContainText('Rejected');

    await page.keyboard.press('3');
    await expect(row('TRI 3')).toContainText('Second look');
    await expect(page.getByText('TRI 3 marked for a second look')).toBeVisible();
    const { reviews } = await service.admin.api.events.getReviews.query({ eventIds: ids });
    expect(reviews.map(({ eventId, decision }) => [ids.indexOf(eventId), decision]).sort()).toEqual([
      [0, 'CONFIRMED'],
      [2, 'SECOND_LOOK'],
    ]);

    // A reason that was entered before is offered again.
    await page.keyboard.press('2');
    await expect(page.getByRole('button', { name: 'Dirt on the lens' })).toBeVisible();
  });

  test('names the user who decided first, and does not overwrite the decision', async ({
    service,
    openAs,
  }) => {
    const { ids } = await report(service, 'FASTER', ['FST 1']);
    const [id = ''] = ids;
    const page = await openAs('OPERATOR', `/events?violationType=FASTER&event=${id}`);
    await expect(page.getByRole('button', { name: /^Confirm/ })).toBeVisible();
    await expect(page.getByText('Nobody has done anything')).toBeVisible();
    await service.admin.api.events.review.mutate({ id, decision: 'REJECTED', reason: 'Not a violation' });
    await page.keyboard.press('1');
    await expect(page.getByText(/rejected this event (now|.* ago)/)).toBeVisible();
    await expect(page.getByRole('row', { name: 'FST 1' })).toContainText('Not a violation');
    const { reviews } = await service.admin.api.events.getReviews.query({ eventIds: [id] });
    expect(reviews.map(({ decision }) => decision)).toEqual(['REJECTED']);
  });

  test('confirms an event that somebody processed without a review', async ({ service, openAs }) => {
    const { ids } = await report(service, 'PROCESSED', ['PRO 1']);
    const [id = ''] = ids;
    await service.admin.api.events.markAsProcessed.mutate({ id });
    const page = await openAs('OPERATOR', `/events?violationType=PROCESSED&event=${id}`);
    const row = page.getByRole('row', { name: 'PRO 1' });
    await expect(row).toContainText('Reviewed');
    const sent: (string | null)[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/trpc/events.review')) sent.push(request.postData());
    });
    // Until the reviews are loaded, no decision is sent, because the user has not seen what it would replace.
    await expect(async () => {
      await page.keyboard.press('1');
      await expect(row).toContainText('Operator Tester', { timeout: 2_000 });
    }).toPass();
    expect(sent[0]).toContain('"expectedProcessed":true');
  });

  test('undoes archiving an event', async ({ service, openAs }) => {
    const { ids } = await report(service, 'UNARCHIVE', ['UNA 1']);
    const page = await openAs('OPERATOR', `/events?violationType=UNARCHIVE&event=${ids[0]}`);
    await expect(page.getByRole('button', { name: /^Archive/ })).toBeVisible();
    await page.keyboard.press('a');
    await expect(page.getByText('UNA 1 archived')).toBeVisible();
    await page.keyboard.press('z');
    await expect(page.getByRole('row', { name: 'UNA 1' })).not.toContainText('Archived');
    const { archived } = await service.admin.api.events.getById.query({ id: ids[0] ?? '' });
    expect(archived).toBe(false);
  });

  test('keeps a decision when the archiving that was under way at the time fails', async ({
    service,
    openAs,
  }) => {
    const { ids } = await report(service, 'BOTH', ['BTH 1']);
    const page = await openAs('OPERATOR', `/events?violationType=BOTH&event=${ids[0]}`);
    const row = page.getByRole('row', { name: 'BTH 1' });
    let fail = () => {};
    const decided = new Promise<void>((resolve) => {
      fail = resolve;
    });
    await page.route('**/trpc/events.markAsArchived*', async (route) => {
      await decided;
      await route.abort();
    });
    await expect(page.getByText('Nobody has done anything')).toBeVisible();
    // Commands of the same moment would be sent in one request, and wait for each other.
    const archiving = page.waitForRequest('**/trpc/events.markAsArchived*');
    await page.keyboard.press('a');
    await archiving;
    await page.keyboard.press('1');
    await expect(page.getByText('BTH 1 confirmed')).toBeVisible();
    fail();
    await expect(page.getByText('Cannot reach')).toBeVisible();
    await expect(row).toContainText('Confirmed');
    await expect(row).not.toContainText('Archived');
  });

  test('names the event whose decision failed, returns to it and repeats that one', async ({
    service,
    openAs,
  }) => {
    const { ids } = await report(service, 'FAILS', ['FAI 1', 'FAI 2', 'FAI 3']);
    const page = await openAs('OPERATOR', '/events?violationType=FAILS&processed=false');
    await expect(page.getByRole('row', { name: 'FAI 1' })).toBeVisible();
    await page.route('**/trpc/events.review*', (route) => route.abort(), { times: 1 });
    await page.keyboard.press('j');
    await page.keyboard.press('1');
    await expect(page.getByRole('heading', { name: 'FAI 2' })).toBeVisible();
    const failure = page.getByText(/FAI 1.* was not confirmed\. Cannot reach/);
    await expect(failure).toBeVisible();
    await page.keyboard.press('j');
    await expect(page.getByRole('heading', { name: 'FAI 3' })).toBeVisible();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('heading', { name: 'FAI 1' })).toBeVisible();
    await expect(failure).toHaveCount(0);
    await expect(page.getByText('FAI 1 confirmed')).toBeVisible();
    const { reviews } = await service.admin.api.events.getReviews.query({ eventIds: ids });
    expect(reviews.map(({ eventId }) => ids.indexOf(eventId))).toEqual([0]);
  });

  test('shows beside the open event which rows are done, how many are left, and what z undoes', async ({
    service,
    openAs,
  }) => {
    await report(service, 'PROGRESS', numbered('PRG', 6));
    const page = await openAs('OPERATOR', '/events?violationType=PROGRESS&processed=false', { width: 1280 });
    const row = (plate: string) => page.getByRole('row', { name: plate });
    await expect(row('PRG 105')).toBeVisible();
    await page.keyboard.press('j');
    for (const n of [0, 1, 2]) {
      await expect(page.getByRole('heading', { name: `PRG 10${n}` })).toBeVisible();
      await page.keyboard.press('1');
      await expect(page.getByText(`PRG 10${n} confirmed`)).toBeVisible();
    }
    await expect(page.locator('main > header')).toContainText('done 3 · left 3');
    // The narrow column is in view beside the pane; the column Review is not.
    const mark = row('PRG 100').getByTitle('Confirmed', { exact: true });
    await expect(mark).toBeInViewport();
    await expect(row('PRG 104').getByTitle('Confirmed', { exact: true })).toHaveCount(0);
    await expect(page.getByRole('button', { name: /^Undo/ })).toHaveCount(3);
    await expect(page.getByRole('button', { name: 'Undo z' })).toHaveCount(1);
    await page.keyboard.press('z');
    await expect(page.locator('main > header')).toContainText('done 2 · left 4');
    await expect(row('PRG 102').getByTitle('Confirmed', { exact: true })).toHaveCount(0);
  });

  test('leaves the notice of a failure open, however many notices follow', async ({ service, openAs }) => {
    await report(service, 'NOTICES', numbered('NTC', 6));
    const page = await openAs('OPERATOR', '/events?violationType=NOTICES');
    await expect(page.getByRole('row', { name: 'NTC 105' })).toBeVisible();
    await page.route('**/trpc/events.markAsArchived*', (route) => route.abort(), { times: 1 });
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    const failure = page.getByText('Cannot reach');
    await expect(failure).toBeVisible();
    for (const n of [101, 102, 103, 104, 105]) {
      await page.keyboard.press('j');
      await expect(page.getByRole('heading', { name: `NTC ${n}` })).toBeVisible();
      await page.keyboard.press('a');
      await expect(page.getByText(`NTC ${n} archived`)).toBeVisible();
    }
    await expect(failure).toBeVisible();
  });

  test('opens an incident with place and evidence with one key', async ({ service, openAs }) => {
    const { ids, sensor } = await report(service, 'INCIDENT_KEY', ['INC 1'], {
      description: 'Wrong way driver',
    });
    const page = await openAs('OPERATOR', `/events?violationType=INCIDENT_KEY&event=${ids[0]}`);
    await expect(page.getByRole('button', { name: /^New incident/ })).toBeVisible();
    await page.keyboard.press('i');
    await expect(page.getByRole('dialog').getByLabel('Title')).toHaveValue(/^Wrong way driver/);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/incidents\/[0-9a-f-]+/);
    const id = /incidents\/([0-9a-f-]+)/.exec(page.url())?.[1] ?? '';
    const incident = await service.admin.api.incidents.getById.query({ id });
    expect(incident.type).toBe('WRONG_WAY_DRIVER');
    expect(incident.sensorId).toBe(sensor.id);
    expect(incident.events.map((event) => event.id)).toEqual(ids);
  });

  test('is not offered to a role without the permission', async ({ service, openAs }) => {
    const { ids } = await report(service, 'ONLOOKER', ['ONL 1']);
    const page = await openAs('VIEWER', `/events?violationType=ONLOOKER&event=${ids[0]}`);
    await expect(page.getByRole('heading', { name: 'ONL 1' })).toBeVisible();
    await expect(page.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
    await expect(page.getByRole('checkbox')).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Export' })).toHaveCount(0);
  });
});

test.describe('the list', () => {
  test('holds new rows back until the user requests them', async ({ service, openAs }) => {
    const { sensor } = await report(service, 'LIVE', ['LIV 1']);
    const page = await openAs('OPERATOR', '/events?violationType=LIVE');
    const first = page.getByRole('row').nth(1);
    await expect(first).toContainText('LIV 1');
    const send = (licensePlateNumber: string) =>
      service.admin.api.events.ingest.mutate({
        apiKey: sensor.apiKey,
        eventType: 'TRAFFIC_VIOLATION',
        violationType: 'LIVE',
        licensePlateNumber,
      });
    // The stream may not be open yet.
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await send('LIV 2');
    await send('LIV 3');
    await expect(page.getByRole('button', { name: 'Show 2 new events' })).toBeVisible();
    await expect(first).toContainText('LIV 1');
    await page.keyboard.press('n');
    await expect(first).toContainText('LIV 3');
    await expect(page.getByText('3 events')).toBeVisible();
  });

  test('counts new rows with the time of the first one', async ({ service, openAs }) => {
    const { sensor } = await report(service, 'SAME_TIME', ['SAM 1']);
    const { api } = service.admin;
    const { events } = await api.events.getAll.query({ violationType: 'SAME_TIME' });
    const timestamp = events[0]?.timestamp.toISOString();
    const page = await openAs('OPERATOR', '/events?violationType=SAME_TIME&archived=false');
    await expect(page.getByRole('row', { name: 'SAM 1' })).toBeVisible();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const send = (licensePlateNumber: string) =>
      api.events.ingest.mutate({
        apiKey: sensor.apiKey,
        eventType: 'TRAFFIC_VIOLATION',
        violationType: 'SAME_TIME',
        licensePlateNumber,
        timestamp,
      });
    await send('SAM 2');
    await expect(page.getByRole('button', { name: 'Show 1 new event' })).toBeVisible();
    // A row that no longer matches the filters does not change the number of new ones.
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await expect(page.getByText('SAM 1 archived')).toBeVisible();
    await send('SAM 3');
    await expect(page.getByRole('button', { name: 'Show 2 new events' })).toBeVisible();
    await page.keyboard.press('n');
    await expect(page.getByRole('row', { name: 'SAM 3' })).toBeVisible();
    await expect(page.getByRole('button', { name: /^Show .* new/ })).toHaveCount(0);
  });

  test('shows any text from devices as plain text', async ({ service, openAs }) => {
    const { ids } = await report(service, 'TEXT', ['<b>X</b>', 'ا'.repeat(40)], {
      description: `<img src=x onerror=alert(1)>${'x'.repeat(4000)}`,
      vehicleType: `a${'\u0301'.repeat(99)}`,
    });
    const page = await openAs('OPERATOR', `/events?violationType=TEXT&event=${ids[0]}`, { width: 390 });
    await expect(page.getByRole('heading', { name: '<b>X</b>' })).toBeVisible();
    await expect(page.getByText('<img src=x')).toBeVisible();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Events', exact: true }).click();
    await expect(page).not.toHaveURL(/event=/);
  });

  test('asks for a reason before it looks up a plate, and keeps the reason out of the address', async ({
    service,
    openAs,
  }) => {
    await report(service, 'PLATE', ['PLT-900 1']);
    const lookUps = async (about: string) => {
      const question = { action: 'events.lookUpPlate', about };
      return (await service.admin.api.users.getActivityLog.query(question)).activities;
    };
    const page = await openAs('OPERATOR', '/events?licensePlateNumber=plt9001');
    await expect(page.getByText('The search has not started.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Search without a reason' })).toBeVisible();
    expect(await lookUps('plt9001')).toEqual([]);
    // Typed slowly, because an Enter just after the question appears is taken for the end of the previous input.
    await page.keyboard.type('Case 4711', { delay: 80 });
    await page.keyboard.press('Enter');
    await expect(page.getByRole('row', { name: 'PLT-900 1' })).toBeVisible();
    await expect(page.getByText('recorded with your name and the reason')).toBeVisible();
    expect(page.url()).not.toContain('Case');
    const recorded = await lookUps('plt9001');
    expect(recorded.length).toBeGreaterThan(0);
    for (const { details } of recorded) expect(details).toMatchObject({ reason: 'Case 4711' });

    // Another plate is a new search, which is made without a reason here.
    await page.keyboard.press('f');
    await page.getByRole('dialog', { name: 'Filter' }).getByLabel('Plate').fill('PLT 9*');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Search without a reason' })).toBeVisible();
    expect(await lookUps('PLT 9*')).toEqual([]);
    // Once the panel is closed, Escape would clear the filters.
    const filter = page.getByRole('dialog', { name: 'Filter' });
    if (await filter.isVisible()) await filter.press('Escape');
    await expect(filter).toBeHidden();
    await page.getByRole('button', { name: 'Search without a reason' }).click();
    await expect(page.getByRole('row', { name: 'PLT-900 1' })).toBeVisible();
    for (const { details } of await lookUps('PLT 9*')) expect(details).not.toHaveProperty('reason');
  });

  test('shows the images of an event enlarged, one at a time', async ({ service, openAs }) => {
    const { ids } = await report(service, 'PICTURE', ['PIC 1'], {
      images: [PIXEL, 'https://elsewhere.example/1.jpg'],
    });
    const page = await openAs('OPERATOR', `/events?violationType=PICTURE&event=${ids[0]}`);
    await expect(page.getByRole('img', { name: 'Image 1 of 1: PIC 1' })).toBeVisible();
    await expect(page.getByText('https://elsewhere.example/1.jpg')).toBeVisible();
    await page.keyboard.press('+');
    await expect(page.getByText('150 %')).toBeVisible();
    await page.keyboard.press('v');
    await expect(page.getByRole('button', { name: 'Leave full screen' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: 'Image in full screen' })).toBeVisible();
    await expect(page).toHaveURL(/event=/);
  });
});

test.describe('a long list', () => {
  test('keeps the active row in view, and reports its position to screen readers', async ({
    service,
    openAs,
  }) => {
    await report(
      service,
      'LONG',
      Array.from({ length: 120 }, (_, n) => `LNG ${n}`),
    );
    const page = await openAs('OPERATOR', '/events?violationType=LONG');
    await expect(page.getByRole('table')).toHaveAttribute('aria-rowcount', '121');
    for (let n = 0; n < 45; n++) await page.keyboard.press('j');
    const active = page.locator('tr[aria-current]');
    await expect(active).toContainText('LNG 44');
    await expect(active).toHaveAttribute('aria-rowindex', '46');
    await expect(active).toBeInViewport();
  });

  test('leaves no event out when others leave it meanwhile', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    const { ids } = await report(service, 'LEAVING', numbered('LEA', 250));
    const page = await openAs('OPERATOR', '/events?violationType=LEAVING&processed=false');
    await expect(page.getByRole('row', { name: 'LEA 100' })).toBeVisible();
    for (const id of ids.slice(0, 30)) await service.admin.api.events.markAsProcessed.mutate({ id });
    const list = page.getByRole('region', { name: 'Events' });
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect(page.getByRole('row', { name: 'LEA 302' })).toBeAttached();
  });

  test('keeps the marks of its rows while further pages are read', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    await report(service, 'MARKED', numbered('MRK', 250));
    const page = await openAs('OPERATOR', '/events?violationType=MARKED');
    const first = page.getByRole('row', { name: 'MRK 100' });
    await first.getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await expect(first).toContainText('Archived');
    const list = page.getByRole('region', { name: 'Events', exact: true });
    const last = page.getByRole('row', { name: 'MRK 349' });
    await expect(async () => {
      await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await expect(last).toBeVisible({ timeout: 1_000 });
    }).toPass();
    await list.evaluate((element) => element.scrollTo(0, 0));
    await expect(first).toContainText('Archived');
  });

  test('says why its next page could not be read, and reads it when asked', async ({ service, openAs }) => {
    await report(service, 'BROKEN_PAGE', numbered('BRP', 250));
    const page = await openAs('OPERATOR', '/events?violationType=BROKEN_PAGE');
    await expect(page.getByRole('row', { name: 'BRP 100' })).toBeVisible();
    let asked = 0;
    const isNext = (url: URL) =>
      url.pathname.includes('events.getAll') && /"skip":200\b/.test(decodeURIComponent(url.search));
    await page.route(isNext, async (route) => {
      asked += 1;
      await route.fulfill({ status: 500, body: 'broken' });
    });
    const list = page.getByRole('region', { name: 'Events' });
    const failure = list.getByRole('alert');
    // The rows may not be measured yet when the list is first scrolled.
    await expect(async () => {
      await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await expect(failure).toBeVisible({ timeout: 2_000 });
    }).toPass({ timeout: 15_000 });
    await page.waitForTimeout(2_000);
    expect(asked).toBe(1);
    await page.unroute(isNext);
    await failure.getByRole('button', { name: 'Try again' }).click();
    await expect(failure).toHaveCount(0);
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect(page.getByRole('row', { name: 'BRP 349' })).toBeVisible();
  });

  test('goes to a day that is typed, and keeps its beginning', async ({ service, openAs }) => {
    const year = new Date().getUTCFullYear() - 1;
    await report(service, 'JUMP', ['JMP 1']);
    const page = await openAs('OPERATOR', `/events?startDate=${year}-11-01&violationType=JUMP`);
    const day = page.getByLabel('Jump to date');
    const row = page.getByRole('row', { name: 'JMP 1' });
    await expect(row).toBeVisible();
    const refused: string[] = [];
    page.on('response', async (response) => {
      if (/BAD_REQUEST/.test(await response.text().catch(() => ''))) refused.push(response.url());
    });
    // The response with the list of that day is delayed.
    const ofThatDay = /events\.getAll.*endDate/;
    await page.route(
      ofThatDay,
      async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        await route.continue();
      },
      { times: 1 },
    );
    await day.focus();
    await page.keyboard.type(`${year}-11-11`, { delay: 100 });
    const asked = () => Object.fromEntries(new URL(page.url()).searchParams);
    await expect.poll(asked).toMatchObject({ startDate: `${year}-11-01`, endDate: `${year}-11-11` });
    await expect(day).toHaveValue(`${year}-11-11`);
    await expect(row).toHaveCount(0);
    expect(refused).toEqual([]);
  });
});

test.describe('many events at once', () => {
  test('are confirmed, and the failures are listed', async ({ service, openAs }) => {
    const plates = Array.from({ length: 130 }, (_, n) => `BLK ${n}`);
    const { ids } = await report(service, 'BULK', plates);
    const taken = ids[120] ?? '';
    const page = await openAs('OPERATOR', '/events?violationType=BULK');
    await expect(page.getByText('130 events')).toBeVisible();
    await service.admin.api.events.review.mutate({ id: taken, decision: 'REJECTED', reason: 'Not one' });
    const boxes = page.getByRole('checkbox');
    await boxes.nth(0).click();
    await boxes.nth(3).click({ modifiers: ['Shift'] });
    await expect(page.getByText('4 selected')).toBeVisible();
    await page.getByRole('button', { name: 'Select all 130 matching' }).click();
    const bar = page.getByRole('region', { name: 'Selected events' });
    await expect(bar).toContainText('130 selected');
    let calls = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/trpc/events.')) calls += 1;
    });
    await bar.getByRole('button', { name: 'Confirm' }).click();
    await expect(bar).toContainText('129 of 130 confirmed', { timeout: 60_000 });
    await expect(bar).toContainText('1 failed');
    // The user who was faster, and the time in the service's time zone instead of that in the message of the service.
    await expect(bar).toContainText(/First Administrator.* rejected this event (now|.* ago) \(.*UTC\+00:00/);
    expect(calls).toBeLessThanOrEqual(10);
    const reviewed = async () => {
      const question = { violationType: 'BULK', processed: true, archived: false, take: 1 } as const;
      return (await service.admin.api.events.getAll.query(question)).total;
    };
    expect(await reviewed()).toBe(129);

    // A single undo reverts the whole action, but not the change of the other user.
    await page.keyboard.press('z');
    await expect(bar).toContainText('129 of 129 undone', { timeout: 60_000 });
    expect(await reviewed()).toBe(0);
    await expect(page.getByRole('row', { name: 'BLK 2 ', exact: false }).first()).not.toContainText(
      'Confirmed',
    );
    const { archived } = await service.admin.api.events.getById.query({ id: taken });
    expect(archived).toBe(true);
  });

  test('are all that match only until the selection or the list changes', async ({ service, openAs }) => {
    await report(service, 'ALL_MATCHING', numbered('ALL', 130));
    await report(service, 'OTHERS', ['OTH 1']);
    const page = await openAs('OPERATOR', '/events?violationType=ALL_MATCHING');
    const bar = page.getByRole('region', { name: 'Selected events' });
    const box = (plate: string) => page.getByRole('row', { name: plate }).getByRole('checkbox');
    const chooseAll = () => page.getByRole('button', { name: 'Select all 130 matching' }).click();
    await box('ALL 112').click();
    await box('ALL 113').click();
    await chooseAll();
    await expect(bar).toContainText('130 selected');
    await box('ALL 113').click();
    await expect(bar.getByText('1 selected', { exact: true })).toBeVisible();
    await chooseAll();
    await expect(bar).toContainText('130 selected');

    await page.getByRole('button', { name: 'Clear filters' }).click();
    await box('OTH 1').click();
    await expect(bar.getByText('1 selected', { exact: true })).toBeVisible();
  });

  test('are archived; undo restores those that were not archived before', async ({ service, openAs }) => {
    const { ids } = await report(service, 'BULK_ARCHIVE', ['ARC 1', 'ARC 2', 'ARC 3']);
    await service.admin.api.events.markAsArchived.mutate({ id: ids[1] ?? '' });
    const page = await openAs('OPERATOR', '/events?violationType=BULK_ARCHIVE');
    await expect(page.getByText('3 events')).toBeVisible();
    await page.getByRole('region', { name: 'Events' }).focus();
    await page.keyboard.press('Control+a');
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await expect(page.getByText('3 of 3 archived').first()).toBeVisible();
    await page.keyboard.press('z');
    await expect(page.getByText('2 of 2 undone')).toBeVisible();
    const { events } = await service.admin.api.events.getAll.query({ violationType: 'BULK_ARCHIVE' });
    expect(events.filter(({ archived }) => archived).map(({ id }) => id)).toEqual([ids[1]]);
  });

  test('are continued after a stop', { tag: '@long' }, async ({ service, openAs }) => {
    await report(service, 'STOPPED', numbered('STP', 130));
    const page = await openAs('OPERATOR', '/events?violationType=STOPPED');
    await page.getByRole('row', { name: 'STP 100' }).getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Select all 130 matching' }).click();
    const bar = page.getByRole('region', { name: 'Selected events' });
    let resume = () => {};
    const stopped = new Promise<void>((resolve) => {
      resume = resolve;
    });
    let calls = 0;
    await page.route('**/trpc/events.archiveBatch*', async (route) => {
      if (++calls > 1) await stopped;
      await route.continue();
    });
    await bar.getByRole('button', { name: 'Archive' }).click();
    await expect.poll(() => calls).toBe(2);
    await bar.getByRole('button', { name: 'Stop' }).click();
    resume();
    // A request had been answered and one was under way, each with two batches of 13 events.
    await expect(bar).toContainText('52 of 130 archived');
    await bar.getByRole('button', { name: 'Continue with the rest' }).click();
    await expect(bar).toContainText('78 of 78 archived');
    const { total } = await service.admin.api.events.getAll.query({
      violationType: 'STOPPED',
      archived: true,
    });
    expect(total).toBe(130);
  });

  test('are selected with Ctrl+A in the list, and deleted after a confirmation that states their number', async ({
    service,
    openAs,
  }) => {
    await report(service, 'BULK_DELETE', ['DEL 1', 'DEL 2', 'DEL 3']);
    const page = await openAs('OPERATOR', '/events?violationType=BULK_DELETE');
    await expect(page.getByText('3 events')).toBeVisible();
    await page.getByRole('region', { name: 'Events' }).focus();
    await page.keyboard.press('Control+a');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(page.getByRole('dialog', { name: 'Delete 3 events?' })).toBeVisible();
    await page.getByRole('button', { name: 'Delete 3 events' }).click();
    await expect(page.getByText('3 of 3 deleted')).toBeVisible();
    await expect(page.getByText('No event matches these filters')).toBeVisible();
  });

  test('are as many as the confirmation says when others arrive meanwhile', { tag: '@long' }, async ({
    service,
    openAs,
  }) => {
    await report(service, 'ARRIVING', ['ARV 1', 'ARV 2', 'ARV 3']);
    const page = await openAs('OPERATOR', '/events?violationType=ARRIVING');
    await expect(page.getByText('3 events')).toBeVisible();
    await report(service, 'ARRIVING', ['ARV 4', 'ARV 5']);
    await page.getByRole('row', { name: 'ARV 1' }).getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Select all 3 matching' }).click();
    const bar = page.getByRole('region', { name: 'Selected events' });
    await expect(bar).toContainText('5 selected');
    await bar.getByRole('button', { name: 'Delete' }).click();
    await expect(page.getByRole('dialog', { name: 'Delete 5 events?' })).toBeVisible();
    await report(service, 'ARRIVING', ['ARV 6']);
    await page.getByRole('button', { name: 'Delete 5 events' }).click();
    await expect(bar).toContainText('5 of 5 deleted');
    const { events } = await service.admin.api.events.getAll.query({ violationType: 'ARRIVING' });
    expect(events.map(({ licensePlateNumber }) => licensePlateNumber)).toEqual(['ARV 6']);
  });

  test('are exported with exactly the filters of the list', { tag: '@long' }, async ({ service, openAs }) => {
    await report(service, 'EXPORT', ['EXP 1', 'EXP 2']);
    const page = await openAs('OPERATOR', '/events?violationType=EXPORT');
    await expect(page.getByText('2 events')).toBeVisible();
    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export events' });
    await expect(dialog).toContainText('Exports 2 rows');
    await expect(dialog).toContainText('UTC');
    const [download] = await Promise.all([
      page.waitForEvent('download', { timeout: 60_000 }),
      dialog.getByRole('button', { name: 'Export' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.csv$/);
    const text = await new Response((await download.createReadStream()) as never).text();
    const rows = text.split('\n').filter((line) => line.includes('TRAFFIC_VIOLATION'));
    expect(rows).toHaveLength(2);
    expect(text).toContain('# Rows: 2');

    // Another format requires a new export.
    await expect(dialog.getByRole('button', { name: 'Download again' })).toBeVisible();
    await dialog.getByLabel('Format').selectOption('XLSX');
    const [sheet] = await Promise.all([
      page.waitForEvent('download', { timeout: 60_000 }),
      dialog.getByRole('button', { name: 'Export' }).click(),
    ]);
    expect(sheet.suggestedFilename()).toMatch(/\.xlsx$/);
  });
});

test('a decision made before the reviews were read is stored', async ({ service, openAs }) => {
  const { api } = service.admin;
  const { apiKey } = await service.sensor();
  const { eventId } = await api.events.ingest.mutate({ apiKey, eventType: 'SPEED_DETECTION' });
  const page = await openAs('OPERATOR', '/account');
  await page.route(/events\.getReviews/, (route) => route.abort());
  await page.goto(`${service.url}/events?event=${eventId}`);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('button', { name: /^Undo/ })).toBeVisible();
  const { reviews } = await api.events.getReviews.query({ eventIds: [eventId] });
  expect(reviews[0]?.decision).toBe('CONFIRMED');
});

test('an export that is closed before the service has answered is ended', { tag: '@long' }, async ({
  openAs,
}) => {
  const page = await openAs('ADMIN', '/events');
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/trpc/reports.generate*', async (route) => {
    await mayAnswer;
    await route.continue();
  });
  const asked = page.waitForRequest('**/trpc/reports.generate*');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  await asked;
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  const cancelled = page.waitForRequest('**/trpc/reports.cancel*');
  answer();
  await cancelled;
});

test('"Jump to date" takes today of the zone of the service, also for a user of UTC', async ({
  service,
  openAs,
}) => {
  const { timezone } = service.admin.api.system;
  await timezone.updateTimezoneSettings.mutate({ timezone: 'Pacific/Kiritimati' });
  try {
    const page = await openAs('VIEWER', '/account');
    await page.clock.setFixedTime(new Date('2026-11-24T20:00:00Z'));
    await page.goto(`${service.url}/events`);
    const clock = page.getByRole('button', { name: /2026-11-25/ });
    await expect(clock).toBeVisible();
    await clock.click();
    await expect(page.getByRole('button', { name: /2026-11-24/ })).toBeVisible();
    const day = page.getByLabel('Jump to date');
    await day.fill('2026-11-26');
    await day.press('Enter');
    await expect(page.getByText('This day cannot be chosen here.')).toBeVisible();
    await day.fill('2026-11-25');
    await day.press('Enter');
    await expect(page).toHaveURL(/endDate=2026-11-25/);
  } finally {
    await timezone.updateTimezoneSettings.mutate({ timezone: 'UTC' });
  }
});

test('a user who can do nothing with selected events is offered no selection', async ({
  service,
  openAs,
}) => {
  const { id: sensorId, apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'SPEED_DETECTION' });
  const page = await openAs('VIEWER', `/events?sensorId=${sensorId}`);
  await expect(page.getByRole('row')).toHaveCount(2);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(sheet).toContainText('Next row');
  await expect(sheet).not.toContainText('Select');
});
