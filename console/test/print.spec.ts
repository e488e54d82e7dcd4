import type { Page } from '@playwright/test';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { expect, pathsOf, test } from './fixtures.ts';

/** The texts of the pages of paper on which a page is printed. */
async function printed(page: Page): Promise<string[]> {
  const paper = await getDocument({
    data: new Uint8Array(await page.pdf({ format: 'A4', preferCSSPageSize: true })),
  }).promise;
  return Promise.all(
    Array.from({ length: paper.numPages }, async (_, at) => {
      const { items } = await (await paper.getPage(at + 1)).getTextContent();
      return items.map((item) => ('str' in item ? item.str : '')).join(' ');
    }),
  );
}

/** Without what the PDF puts between letters, such as the blanks around ligatures. */
const plain = (text: string): string => text.replace(/[\s\u2068\u2069]+/g, '');

/** A path without the names of its parameters. */
const nameless = (path: string): string => path.replaceAll(/\$\w+/g, '$');

const HOUR = 3_600_000;
const SOON = {
  startsAt: new Date(Date.now() + HOUR).toISOString(),
  endsAt: new Date(Date.now() + 2 * HOUR).toISOString(),
};

/** Every page: its address and, where there are filters, what the filter that is set says. */
const PAGES: readonly (readonly [path: string, ...filters: string[]])[] = [
  ['/'],
  ['/mine'],
  ['/events?eventType=TRAFFIC_VIOLATION&startDate=2026-01-31', 'Traffic violation', '2026-01-31'],
  ['/incidents?view=list&severity=HIGH&assignedTo=nobody', 'High', 'Nobody'],
  ['/incidents?type=COLLISION', 'Collision'],
  ['/incidents/performance?severity=HIGH', 'High'],
  ['/incidents/$incident'],
  ['/works?search=resurfacing', 'resurfacing'],
  ['/works?part=calendar&week=2026-05-06', '2026'],
  ['/works/$works'],
  ['/watchlist?priority=CRITICAL', 'Critical'],
  ['/watchlist?part=plates&active=true'],
  ['/hits'],
  ['/cases?kind=VIOLATION', 'Violation'],
  ['/cases/$case'],
  ['/hotlists'],
  ['/hotlists/$hotlist'],
  ['/alarms?state=CLEARED', 'Ended'],
  ['/log?kind=FAULT&search=cabinet', 'Fault', 'cabinet'],
  ['/shift'],
  ['/sensors?type=CAMERA&status=OFFLINE', 'Camera', 'Offline'],
  ['/sensors/faults?state=WAITING', 'Waiting'],
  ['/sensors/$sensor'],
  ['/sensors/$sensor/connections/$connection'],
  ['/locations?road=A2', 'A2'],
  ['/locations/$location'],
  ['/traffic?locationId=$location', 'A place on paper'],
  ['/traffic/counts?locationId=$location', 'A place on paper'],
  ['/traffic/speeds?locationId=$location', 'A place on paper'],
  ['/traffic/headways?locationId=$location', 'A place on paper'],
  ['/traffic/annual?locationId=$location', 'A place on paper'],
  ['/traffic/intersection?locationId=$location', 'A place on paper'],
  ['/traffic/quality?locationId=$location', 'A place on paper'],
  ['/traffic/studies'],
  ['/traffic/studies/$study'],
  ['/reports'],
  ['/reports/files'],
  ['/reports/schedules'],
  ['/administration/users?role=FIELD', 'Field'],
  ['/administration/roles'],
  ['/administration/activity?action=auth.login', 'Signed in'],
  ['/administration/audit'],
  ['/administration/webhooks'],
  ['/administration/webhooks/$webhook?kind=test', 'Test'],
  ['/administration/channels'],
  ['/administration/alarms'],
  ['/administration/notices'],
  ['/administration/rotas'],
  ['/administration/storage'],
  ['/administration/map'],
  ['/administration/holds'],
  ['/administration/backups'],
  ['/administration/calendar?year=2026', '2026'],
  ['/administration/agencies'],
  ['/administration/plans'],
  ['/administration/cases'],
  ['/administration/settings'],
  ['/administration/system'],
  ['/administration/doctor'],
  ['/account'],
  ['/account/sessions'],
];

test('every page is printed as a document: title, filter, zone, author and date, without commands', {
  tag: '@long',
}, async ({ service, openAs }) => {
  test.setTimeout(600_000);
  const { api } = service.admin;
  const me = await api.auth.me.query();
  const location = await api.locations.create.mutate({ name: 'A place on paper', address: 'Road 1' });
  const sensor = await service.sensor({ name: 'A sensor on paper', locationId: location.id });
  const connection = await api.connections.create.mutate({ sensorId: sensor.id, format: 'hikvision' });
  const incident = await api.incidents.create.mutate({ title: 'An incident on paper', type: 'OTHER' });
  const ids: Record<string, string> = {
    location: location.id,
    sensor: sensor.id,
    connection: connection.id,
    incident: incident.id,
    works: (await api.works.create.mutate({ title: 'Works on paper', road: 'A2', ...SOON })).id,
    hotlist: (await api.hotlists.create.mutate({ name: 'A list on paper' })).id,
    study: (
      await api.studies.create.mutate({
        ...{ kind: 'VOLUME', title: 'A study on paper', locationId: location.id },
        ...{ startDate: '2026-01-01', endDate: '2026-01-02' },
      })
    ).id,
    webhook: (
      await api.webhooks.create.mutate({ url: 'http://127.0.0.1:9/paper', kinds: ['event.violation'] })
    ).id,
    case: (await api.cases.open.mutate({ incidentId: incident.id })).number,
  };
  const page = await openAs('ADMIN', '/account', { theme: 'dark' });
  const printedPaths = PAGES.map(([path]) => nameless(path.split('?')[0] ?? ''));
  expect([...new Set(printedPaths)].toSorted()).toEqual((await pathsOf(page)).map(nameless).toSorted());
  for (const [path, ...texts] of PAGES) {
    await test.step(path, async () => {
      await page.goto(service.url + path.replaceAll(/\$(\w+)/g, (_, name) => ids[name] ?? ''));
      const heading = page.getByRole('heading', { level: 1 });
      await expect(heading).toBeVisible();
      await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0);
      const title = (await heading.textContent()) ?? '';
      expect(title).not.toBe('');
      const papers = (await printed(page)).map(plain);
      const [first = ''] = papers;
      const today = new Date().toISOString().slice(0, 10);
      for (const text of [
        ...texts,
        'Gantry',
        `${me.firstName} ${me.lastName}`,
        today,
        'UTC',
        `1 / ${papers.length}`,
      ])
        expect.soft(first, path).toContain(plain(text));
      for (const command of ['Skip to the content', 'Copy link', 'Clear filters', 'Download as CSV'])
        expect.soft(papers.join(' '), path).not.toContain(plain(command));
    });
  }
});

test('a list is printed with all rows that are loaded, its header on every page, and their number of the total', async ({
  service,
  openAs,
}) => {
  const rows = Array.from({ length: 230 }, (_, n) => ({
    name: `Printed ${String(n).padStart(3, '0')}`,
    address: 'Road',
  }));
  for (const row of rows) await service.admin.api.locations.create.mutate(row);
  const page = await openAs('OPERATOR', '/locations?search=Printed&sortBy=name&sortOrder=asc');
  await expect(page.getByText('Printed 000')).toBeVisible();
  const papers = await printed(page);
  const text = plain(papers.join(' '));
  // The list loads a page ahead of what is in view, and not everything.
  const [, n] = /(\d+)of230rows/.exec(text) ?? [];
  expect(Number(n)).toBeGreaterThan(80);
  expect(Number(n)).toBeLessThan(230);
  for (const { name } of rows.slice(0, Number(n))) expect(text).toContain(plain(name));
  expect(text).not.toContain(plain(rows.at(-1)?.name ?? ''));
  expect(papers.length).toBeGreaterThan(1);
  for (const paper of papers) expect(plain(paper)).toContain('Address');
  // The list on the screen is as it was.
  await expect(page.getByText('Printed 000')).toBeVisible();
  expect(await page.getByRole('row').count()).toBeLessThan(80);
});

const NOTES = 40;

test('an incident is printed as a whole, without the navigation and in dark letters', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await api.incidents.create.mutate({ title: 'On paper', type: 'COLLISION', severity: 'LOW' });
  for (let n = 0; n < NOTES; n++)
    await api.incidents.addNote.mutate({ id, note: `Note ${n} of the incident` });
  const page = await openAs('OPERATOR', `/incidents/${id}`, { theme: 'dark' });
  await expect(page.getByText('Note 0 of the incident')).toBeVisible();
  const text = (await printed(page)).join(' ');
  for (let n = 0; n < NOTES; n++) expect(text).toContain(`Note ${n} of the incident`);
  // The navigation and the commands are of no use on paper.
  expect(text).not.toContain('Watchlist');
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByText('Note 0 of the incident')).toHaveCSS('color', 'rgb(28, 32, 36)');
});

test('a map is printed as it is shown', { tag: '@long' }, async ({ service, openAs }) => {
  const { id } = await service.admin.api.incidents.create.mutate({
    title: 'On a map',
    type: 'COLLISION',
    location: { latitude: 41.01, longitude: 28.97 },
  });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  await expect(page.locator('[data-drawn=true]')).toBeVisible();
  const colours = () =>
    page.evaluate(() => {
      const copy = document.querySelector<HTMLCanvasElement>('[data-drawn=true] > canvas');
      const pixels = copy?.getContext('2d')?.getImageData(0, 0, copy.width, copy.height).data;
      return pixels ? new Set(new Uint32Array(pixels.buffer)).size : null;
    });
  expect(await colours()).toBeNull();
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  expect(await colours()).toBeGreaterThan(20);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  expect(await colours()).toBeNull();
});

test('charts are printed in light colours and in the width of the paper, whatever the screen', async ({
  service,
  openAs,
}) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
  const page = await openAs('ADMIN', '/reports', { theme: 'dark' });
  for (const name of ['Events over time', 'Events by hour of the week']) {
    const chart = page.getByRole('img', { name });
    await expect(chart.locator('canvas').first()).toBeVisible();
    /** The numbers of opaque pixels of the canvases that are shown, and of the dark ones among them. */
    const pixels = () =>
      chart.evaluate((box) => {
        let [opaque, dark] = [0, 0];
        for (const canvas of box.querySelectorAll('canvas')) {
          if (canvas.offsetParent === null) continue;
          const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
            data: [],
          };
          for (let at = 0; at < data.length; at += 4) {
            if ((data[at + 3] ?? 0) < 255) continue;
            opaque++;
            if ((data[at] ?? 0) + (data[at + 1] ?? 0) + (data[at + 2] ?? 0) < 240) dark++;
          }
        }
        return { opaque, dark };
      });
    const onScreen = await pixels();
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print' });
    const onPaper = await pixels();
    // More than on the screen, although it is smaller: it has twice the resolution.
    expect(onPaper.opaque).toBeGreaterThan(onScreen.opaque);
    // The cells of the second chart that have no events are dark grey on the screen, and light grey on paper.
    if (name !== 'Events over time')
      expect(onPaper.dark / onPaper.opaque).toBeLessThan(0.3 * (onScreen.dark / onScreen.opaque));
    const widths = await chart.evaluate((box) =>
      [box, ...box.querySelectorAll('canvas')].map((part) => part.getBoundingClientRect().width),
    );
    expect(widths.at(-1)).toBe(widths[0]);
    // The card is as high as what is drawn, in whose proportions it was drawn for paper.
    const sizes = await chart.evaluate((box) => {
      const copy = [...box.querySelectorAll('canvas')].at(-1) ?? new HTMLCanvasElement();
      return [box.clientHeight / box.clientWidth, copy.height / copy.width];
    });
    expect(sizes[0]).toBeCloseTo(sizes[1] ?? 0, 1);
    expect(widths.slice(1, -1).every((width) => width === 0)).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    await expect.poll(pixels).toEqual(onScreen);
  }
});
