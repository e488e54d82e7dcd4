import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

// Planned works: proposed by one person, approved by another, started and ended by the clock.

const HOUR = 3_600_000;
const away = (ms: number): string => new Date(Date.now() + ms).toISOString();
let made = 0;
const named = (what: string): string => `${what} ${++made} of the works`;

const propose = (service: TestService, given: object = {}) =>
  service.admin.api.works.create.mutate({
    title: named('Resurfacing'),
    road: 'A2',
    startsAt: away(HOUR),
    endsAt: away(5 * HOUR),
    ...given,
  });

const at = (page: Page, path: string): string => new URL(path, page.url()).href;
const isNarrowEnough = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

test('works are proposed in the form, approved by another person, and ended', async ({ service, openAs }) => {
  const title = named('New joints');
  const page = await openAs('OPERATOR', '/works');
  await expect(page.getByRole('button', { name: 'Plan works' }).first()).toBeVisible();
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'Plan works' });
  await form.getByLabel('Title').fill(title);
  await form.getByLabel('Road', { exact: true }).fill('A7');
  await form.getByLabel('From km').fill('12,5');
  await form.getByLabel('To km').fill('14');
  await form.getByRole('button', { name: 'Lane', exact: true }).click();
  await expect(form.getByRole('button', { name: 'Lane 1: closed' })).toBeVisible();
  await form.getByLabel('Start', { exact: true }).fill('2020-01-01 08:00');
  await form.getByLabel('End', { exact: true }).fill('2020-01-01 09:00');
  await form.getByRole('button', { name: 'Propose' }).click();
  await expect(form).toContainText('The works are over already');
  await form.getByLabel('End', { exact: true }).fill('2024-12-01 09:00');
  await form.getByRole('button', { name: 'Propose' }).click();
  await expect(form).toContainText('The works are over already');
  const end = new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10);
  const start = new Date(Date.now() - 24 * HOUR).toISOString().slice(0, 10);
  await form.getByLabel('Start', { exact: true }).fill(`${start} 08:00`);
  await form.getByLabel('End', { exact: true }).fill(`${end} 09:00`);
  await form.getByLabel('Open an incident').check();
  await form.getByRole('button', { name: 'Propose' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(title);
  await expect(page.getByText('These works wait for an approval')).toBeVisible();
  await page.getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByText('You proposed this, so another operator')).toBeVisible();
  const [works] = (await service.admin.api.works.getAll.query({ search: title })).works;
  expect(works).toMatchObject({ road: 'A7', fromKilometre: 12.5, toKilometre: 14, lanes: ['CLOSED'] });

  const other = await openAs('ADMIN', `/works/${works?.id}`);
  await other.getByRole('button', { name: 'Approve' }).click();
  await expect(other.getByRole('link', { name: 'Incident', exact: true }).first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'End now' })).toBeVisible();
  await page.getByRole('button', { name: 'Edit works' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit works' });
  await expect(edit.getByLabel('Road')).toHaveCount(0);
  await edit.getByLabel('Contact').fill('Kern, 0123');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Kern, 0123')).toBeVisible();
  await page.getByRole('button', { name: 'End now' }).click();
  const question = page.getByRole('dialog', { name: 'End now' });
  await expect(question).toContainText('The works end for good');
  await question.getByRole('button', { name: 'End now' }).click();
  await expect(page.getByText('Ended').first()).toBeVisible();
  await page.getByRole('link', { name: 'Incident', exact: true }).click();
  await expect(page.getByText('The planned works are over')).toBeVisible();
});

test('other works on the same carriageway are named, and works are cancelled with a reason', async ({
  service,
  openAs,
}) => {
  const one = await propose(service, { road: 'B55' });
  const other = await propose(service, { road: 'B55' });
  const page = await openAs('OPERATOR', `/works/${other.id}`);
  const overlaps = page.getByRole('region', { name: 'Other works on this carriageway' });
  await expect(overlaps.getByRole('link', { name: one.title })).toBeVisible();
  await page.getByRole('button', { name: 'Cancel works' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel works' });
  await dialog.getByLabel('Reason').fill('Rain');
  await dialog.getByRole('button', { name: 'Cancel works' }).click();
  await expect(page.getByText('Rain')).toBeVisible();
  await page.getByRole('link', { name: 'All works' }).click();
  await page.getByRole('link', { name: 'Past', exact: true }).click();
  await expect(page.getByRole('link', { name: other.title })).toBeVisible();
});

test('maintenance of a sensor begins on its page, and the calendar and the overview show it', async ({
  service,
  openAs,
}) => {
  const name = named('Camera');
  await service.sensor({ name, type: 'CAMERA' });
  const [sensor] = (await service.admin.api.sensors.getAll.query({ search: name })).sensors;
  const page = await openAs('OPERATOR', `/sensors/${sensor?.id}`);
  await page.getByRole('link', { name: 'Maintenance window …' }).click();
  const form = page.getByRole('dialog', { name: 'Plan works' });
  await expect(form.getByText(name)).toBeVisible();
  await expect(form.getByLabel('Kind')).toHaveValue('MAINTENANCE');
  const title = named('New lens');
  await form.getByLabel('Title').fill(title);
  const today = new Date(Date.now() - 24 * HOUR).toISOString().slice(0, 10);
  const later = new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10);
  await form.getByLabel('Start', { exact: true }).fill(`${today} 00:00`);
  await form.getByLabel('End', { exact: true }).fill(`${later} 00:00`);
  await form.getByRole('button', { name: 'Propose' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(title);
  const [works] = (await service.admin.api.works.getAll.query({ search: title })).works;
  await service.admin.api.works.approve.mutate({ id: works?.id ?? '' });
  await expect(page.getByRole('button', { name: 'End now' })).toBeVisible();
  await page.goto(at(page, '/works?part=calendar'));
  await expect(page.getByRole('link', { name: title }).first()).toBeVisible();
  await page.keyboard.press(']');
  await expect(page.getByRole('heading', { level: 2 })).toBeVisible();
  for (const address of ['/', '/?kiosk=1']) {
    await page.goto(at(page, address));
    await expect(
      page.getByRole('region', { name: 'Works of the next 24 hours' }).getByText(title),
    ).toBeVisible();
  }
  await service.admin.api.works.cancel.mutate({ id: works?.id ?? '', reason: 'Done' });
});

for (const [theme, language, width] of [
  ['dark', 'en', 1440],
  ['light', 'ar', 1280],
  ['light', 'tr', 390],
] as const)
  test(`the pages of works are accessible: ${theme}, ${language}, ${width} px`, async ({
    service,
    openAs,
  }) => {
    const hours = { from: '22:00', until: '05:00', weekdays: [1, 2, 3, 4, 5, 6, 7] };
    const road = `R${made}`;
    const other = await propose(service, { road });
    const { id, title } = await propose(service, {
      ...{ road, recurrence: hours, endsAt: away(20 * 24 * HOUR), lanes: ['OPEN', 'CLOSED'] },
      ...{
        direction: 'NB',
        fromKilometre: 3,
        toKilometre: 4,
        description: 'Noise at night',
        opensIncident: true,
      },
    });
    await service.admin.api.works.approve.mutate({ id });
    const page = await openAs('OPERATOR', `/works/${id}`, { theme, language, width });
    await expect(page.getByText('Noise at night')).toBeVisible();
    await expectAccessible(page);
    expect(await isNarrowEnough(page)).toBe(true);
    await page.goto(at(page, '/works'));
    await expect(page.getByRole('link', { name: title })).toBeVisible();
    await expectAccessible(page);
    expect(await isNarrowEnough(page)).toBe(true);
    // The week in which they begin, which late on its last day is not the week of today.
    await page.goto(at(page, `/works?part=calendar&week=${away(24 * HOUR).slice(0, 10)}`));
    await expect(page.getByRole('link', { name: title }).first()).toBeVisible();
    await expectAccessible(page);
    expect(await isNarrowEnough(page)).toBe(true);
    await page.goto(at(page, '/works?create=true'));
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page);
    expect(await isNarrowEnough(page)).toBe(true);
    for (const each of [id, other.id]) await service.admin.api.works.cancel.mutate({ id: each, reason: 'x' });
  });

test('the performance of incidents is shown by type, severity and road, and filtered', async ({
  service,
  openAs,
}) => {
  const place = await service.admin.api.locations.create.mutate({ name: named('Bridge'), road: 'P9' });
  const { id } = await service.admin.api.incidents.create.mutate({
    title: named('Crash'),
    type: 'WRONG_WAY_DRIVER',
    severity: 'CRITICAL',
    locationId: place.id,
  });
  await service.admin.api.incidents.setTimes.mutate({ id, lanesOpenAt: 'now' });
  const page = await openAs('OPERATOR', '/incidents');
  await page.getByRole('link', { name: 'Performance' }).click();
  const byRoad = page.getByRole('region', { name: 'By road' }).first();
  await expect(byRoad.getByRole('row', { name: /P9/ })).toContainText('1 of 1');
  await page.goto(at(page, '/incidents/performance?road=p9'));
  await expect(page.getByRole('region', { name: 'By type' }).first()).toContainText('1 of 1');
  await expectAccessible(page);
  await page.goto(at(page, '/incidents/performance?type=WEATHER'));
  await expect(page.getByRole('region', { name: 'By road' }).first()).toContainText(
    'No incidents in this range',
  );
});

test('in Arabic, a title in Latin letters that is too long keeps its beginning', async ({
  service,
  openAs,
}) => {
  const title = named('Resurfacing of the shoulder between the second and the third interchange');
  await propose(service, { title, road: 'L7', fromKilometre: 1, toKilometre: 2 });
  const page = await openAs('OPERATOR', '/works?search=second and the third', { language: 'ar', width: 390 });
  const row = page.getByRole('row').filter({ hasText: title });
  for (const text of [title, 'L7 km']) {
    const isShown = await row
      .getByText(text)
      .first()
      .evaluate((element) => {
        const letter = new Range();
        const [first] = [...element.childNodes];
        if (first) letter.setStart(first, 0);
        if (first) letter.setEnd(first, 1);
        return (
          letter.getBoundingClientRect().left >= (element.closest('td')?.getBoundingClientRect().left ?? 0)
        );
      });
    expect(isShown, text).toBe(true);
  }
});

test('on a phone, the names in the tables of performance are wider than a letter', async ({
  service,
  openAs,
}) => {
  const { id } = await service.admin.api.incidents.create.mutate({
    title: named('Crash'),
    type: 'COLLISION',
    severity: 'HIGH',
  });
  await service.admin.api.incidents.setTimes.mutate({ id, lanesOpenAt: 'now' });
  const page = await openAs('OPERATOR', '/incidents/performance', { width: 390, language: 'ar' });
  const name = page.getByRole('row').nth(1).getByRole('cell').first();
  await expect(name).toBeVisible();
  expect((await name.boundingBox())?.width).toBeGreaterThan(90);
});

test('on a usual screen, the tables of performance are shown whole', async ({ service, openAs }) => {
  const { id } = await service.admin.api.incidents.create.mutate({
    title: named('Load on the road'),
    type: 'OBSTRUCTION',
    severity: 'HIGH',
  });
  await service.admin.api.incidents.setTimes.mutate({ id, occurredAt: new Date(Date.now() - 45_296_000) });
  await service.admin.api.incidents.setTimes.mutate({ id, lanesOpenAt: 'now', lastLeftAt: 'now' });
  const page = await openAs('OPERATOR', '/incidents/performance', { width: 1440 });
  const name = page.getByRole('cell', { name: 'Obstruction', exact: true });
  await expect(name).toBeVisible();
  expect((await name.boundingBox())?.height).toBeLessThan(40);
  const isCut = (all: Element[]) => all.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  expect(await page.locator('section[tabindex]').evaluateAll(isCut)).toBe(false);
});

test('works in force and works of the next day are on the map, in its legend, and in the list beside it', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  // Without any sensor, the overview has the first steps instead of the map.
  await service.sensor({ name: named('Camera') });
  const road = named('Ring');
  for (const [kilometre, longitude] of [
    [10, 20],
    [14, 20.036],
  ] as const)
    await api.locations.create.mutate({
      name: named(`At ${kilometre}`),
      road,
      kilometre,
      coordinates: { latitude: 0, longitude },
    });
  const fields = { road, fromKilometre: 11, toKilometre: 13 };
  const now = await propose(service, { ...fields, startsAt: away(-HOUR) });
  const later = await propose(service, { road, fromKilometre: 10 });
  for (const { id } of [now, later]) await api.works.approve.mutate({ id });

  const page = await openAs('OPERATOR', '/');
  const legend = page.getByRole('list', { name: 'Legend' });
  await expect(legend).toContainText('Works in force');
  await expect(legend).toContainText('Works that begin within 24 hours');
  await page.getByRole('button', { name: 'List', exact: true }).click();
  const locations = page.getByRole('region', { name: 'Locations' }).last();
  await expect(locations.getByRole('button', { name: later.title })).toContainText('From');
  await locations.getByRole('button', { name: now.title }).click();
  const card = page.getByRole('region', { name: now.title });
  await expect(card).toContainText('In force');
  await expect(card).toContainText(`${road} km 11 – 13`);
  await expect(card).toContainText('in straight lines');
  await expectAccessible(page);
  await api.works.cancel.mutate({ id: later.id, reason: 'Rain' });
  await expect(locations.getByRole('button', { name: later.title })).toHaveCount(0);
  await card.getByRole('link', { name: now.title }).click();
  const panel = page.getByRole('region', { name: 'On the map' });
  await expect(panel.getByRole('list', { name: 'Legend' })).toContainText('Planned works: In force');
  await expect(panel.locator('[data-drawn=true]')).toBeVisible();
  await api.works.update.mutate({ id: now.id, endsAt: new Date().toISOString() });
  const nowhere = await propose(service, { road: named('Unknown') });
  await page.goto(at(page, `/works/${nowhere.id}`));
  await expect(page.getByRole('region', { name: 'On the map' })).toContainText('Not on the map');
});

test('without WebGL, the map draws the line of works, too', async ({ service, openAs }) => {
  const { api } = service.admin;
  const works = await propose(service, {
    startsAt: away(-HOUR),
    geometry: {
      type: 'LineString',
      coordinates: [
        [10, 1],
        [10.1, 1.1],
      ],
    },
  });
  await api.works.approve.mutate({ id: works.id });
  const page = await openAs('OPERATOR', '/works', { width: 390, language: 'ar' });
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.goto(at(page, `/works/${works.id}`));
  const drawing = page.locator('[data-works]');
  await expect(drawing.locator('path')).toHaveCount(4);
  expect(await isNarrowEnough(page)).toBe(true);
  await api.works.update.mutate({ id: works.id, endsAt: new Date().toISOString() });
});
