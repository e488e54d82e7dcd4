import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';
import type { TestService } from './service.ts';

// Incidents as they are worked: times, lanes, agencies, plans and merging.

/** An image of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let made = 0;
const named = (what: string): string => `${what} ${++made} of the work`;

const open = (service: TestService, given: { title?: string; locationId?: string } = {}) =>
  service.admin.api.incidents.create.mutate({
    title: named('Crash'),
    type: 'COLLISION',
    severity: 'HIGH',
    ...given,
  });

const isNarrowEnough = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

test('the strip of times is filled by buttons and keys, and corrected in a form', async ({
  service,
  openAs,
}) => {
  const { id } = await open(service);
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  const strip = page.getByRole('region', { name: 'Key times' });
  // Each part of the page has a name of its own.
  await expect(page.getByRole('heading', { name: 'Handling' })).toBeVisible();
  const names = await page.getByRole('heading', { level: 2 }).allTextContents();
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  await strip.getByRole('button', { name: 'Verified: now' }).click();
  await expect(strip.getByRole('button', { name: 'Verified: now' })).toHaveCount(0);
  await page.keyboard.press('d');
  await expect(strip.getByRole('button', { name: 'Dispatched: now' })).toHaveCount(0);
  await page.keyboard.press('a');
  await page.keyboard.press('o');
  await expect(strip.getByText('Roadway clearance')).toBeVisible();
  await page.keyboard.press('l');
  await expect(strip.getByText('Incident clearance')).toBeVisible();
  const { work, timeline } = await service.admin.api.incidents.getById.query({ id });
  expect(work.times.filter(({ source }) => source === 'SET')).toHaveLength(5);
  expect(timeline.at(1)?.action).toBe('verify');

  await strip.getByRole('button', { name: 'Correct times' }).click();
  const dialog = page.getByRole('dialog', { name: 'Correct times' });
  await dialog.getByLabel('T5 Lanes open').fill('2020-01-01 10:00');
  await dialog.getByLabel('Why (optional)').fill('Misread');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toContainText('T5 (all lanes open');
  await expect(dialog).toContainText('is before');
  await dialog.getByLabel('T5 Lanes open').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  await expect(strip.getByRole('button', { name: 'Lanes open: now' })).toBeVisible();
  await expect(page.getByText('Misread')).toBeVisible();
});

test('lanes are closed and opened by clicks, from which T5 follows', async ({ service, openAs }) => {
  const place = await service.admin.api.locations.create.mutate({
    name: named('Bridge'),
    road: 'A2',
    direction: 'NB',
    lanes: 3,
    hasShoulder: true,
  });
  const { id } = await open(service, { locationId: place.id });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  const lanes = page.getByRole('group', { name: 'NB' });
  await expect(lanes.getByRole('button')).toHaveCount(4);
  await lanes.getByRole('button', { name: 'Lane 2 Open' }).click();
  await expect(lanes.getByRole('button', { name: 'Lane 2 Closed' })).toBeVisible();
  await lanes.getByRole('button', { name: 'Shoulder Open' }).click();
  await expect(lanes.getByRole('button', { name: 'Shoulder Closed' })).toBeVisible();
  expect((await service.admin.api.incidents.getById.query({ id })).lanesBlocked).toBe(1);
  await page.getByRole('button', { name: 'All lanes open' }).click();
  await expect(page.getByRole('button', { name: 'All lanes open' })).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Key times' }).getByText('derived').last()).toBeVisible();
  const { work } = await service.admin.api.incidents.getById.query({ id });
  expect(work.laneHistory).toHaveLength(3);
  expect(work.roadwayClearance).not.toBeNull();
});

test('facts are entered, a false alarm is rejected with a reason, and reopened', async ({
  service,
  openAs,
}) => {
  const first = await open(service);
  const { id } = await open(service);
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  await page.getByRole('button', { name: 'Edit facts' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit facts' });
  await dialog.getByLabel('Injured').selectOption('Seriously');
  await dialog.getByLabel('Responder struck').selectOption('Yes');
  await dialog.getByLabel('Consequence of').fill(first.title);
  await page.getByRole('option', { name: first.title }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  const facts = page.getByRole('region', { name: 'Facts' });
  await expect(facts.getByText('Seriously')).toBeVisible();
  await expect(facts.getByRole('link', { name: first.title })).toBeVisible();

  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Reject as false alarm' }).click();
  const rejection = page.getByRole('dialog', { name: 'Reject as false alarm' });
  await rejection.getByLabel('Reason').fill('A plastic bag');
  await rejection.getByRole('button', { name: 'Reject as false alarm' }).click();
  await expect(page.getByText('This was a false alarm.')).toBeVisible();
  await page.getByRole('button', { name: 'Reopen' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('It moved');
  await page.getByRole('dialog').getByRole('button', { name: 'Reopen' }).click();
  await expect(page.getByText('This was a false alarm.')).toHaveCount(0);
});

test('from an incoming call to a dispatched unit it takes few keys', async ({ service, openAs }) => {
  const agency = await service.admin.api.agencies.create.mutate({
    name: `A ${named('Police')}`,
    kind: 'POLICE',
  });
  const page = await openAs('OPERATOR', '/incidents');
  await expect(page.getByRole('button', { name: 'New incident' }).first()).toBeVisible();
  let keys = 0;
  const press = async (key: string) => {
    keys++;
    await page.keyboard.press(key);
  };
  const title = named('Two cars on the A2');
  await press('c');
  const dialog = page.getByRole('dialog', { name: 'New incident' });
  await expect(dialog.getByLabel('Title')).toBeFocused();
  await page.keyboard.type(title);
  await press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText(title);
  await expect(page.getByLabel('Agency')).toBeVisible();
  await press('u');
  await expect(page.getByLabel('Agency')).toBeFocused();
  // The first letter chooses among agencies; this is the first one in the list.
  await page.keyboard.type(agency.name);
  await press('Enter');
  await expect(
    page.getByRole('region', { name: 'Agencies' }).getByRole('listitem', { name: agency.name }),
  ).toBeVisible();
  const [incident] = (await service.admin.api.incidents.getAll.query({ search: title })).incidents;
  const { work } = await service.admin.api.incidents.getById.query({ id: incident?.id ?? '' });
  expect(work.agencies).toMatchObject([{ name: agency.name, unit: null }]);
  expect(work.times[3]?.at).not.toBeNull();
  // Besides the title and the name of the agency.
  expect(keys).toBe(4);
});

test('a unit goes through its times, and another is removed', async ({ service, openAs }) => {
  const agency = await service.admin.api.agencies.create.mutate({
    name: named('Tow'),
    kind: 'TOW',
    phone: '+43 1 23',
  });
  const { id } = await open(service);
  await service.admin.api.incidents.addAgency.mutate({ id, agencyId: agency.id, unit: 'Truck A' });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  const unit = page
    .getByRole('region', { name: 'Agencies' })
    .getByRole('listitem', { name: `${agency.name} · Truck A` });
  await expect(unit.getByRole('link', { name: '+43 1 23' })).toBeVisible();
  for (const time of ['Dispatched', 'Arrived', 'Left']) {
    const button = unit.getByRole('button', { name: `${agency.name} · Truck A, ${time}: now` });
    await button.click();
    await expect(button).toHaveCount(0);
  }
  await expect(page.getByRole('region', { name: 'Key times' }).getByText('Incident clearance')).toBeVisible();
  await service.admin.api.incidents.addAgency.mutate({ id, agencyId: agency.id, unit: 'Truck B' });
  await page.getByRole('button', { name: `Remove ${agency.name} · Truck B` }).click();
  await expect(page.getByText('Truck B').locator('visible=true')).toHaveCount(2);
});

test('two incidents about the same are merged, and the page leads to the one that stays', async ({
  service,
  openAs,
}) => {
  const [twin, kept] = [await open(service), await open(service)];
  await service.admin.api.incidents.addNote.mutate({ id: twin.id, note: 'Heard a bang' });
  const page = await openAs('OPERATOR', `/incidents/${twin.id}`);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Merge into another' }).click();
  const dialog = page.getByRole('dialog', { name: 'Merge into another' });
  await dialog.getByLabel('The incident that stays').fill(kept.title);
  await page.getByRole('option', { name: kept.title }).click();
  await dialog.getByRole('button', { name: 'Merge into another' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(kept.title);
  await expect(page.getByText('Heard a bang')).toBeVisible();
  await page.getByRole('link', { name: twin.title }).click();
  const pointer = page.locator('p', { hasText: 'Merged into' }).first();
  await expect(pointer.getByRole('link', { name: kept.title })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Reopen' })).toHaveCount(0);
});

test('an administrator enters agencies and a plan, whose steps an operator does', async ({
  service,
  openAs,
}) => {
  const [agency, plan] = [named('Fire brigade'), named('Plan')];
  const admin = await openAs('ADMIN', '/administration/agencies');
  await admin.getByRole('button', { name: 'Add agency' }).first().click();
  const form = admin.getByRole('dialog', { name: 'Add agency' });
  await form.getByLabel('Name').fill(agency);
  await form.getByLabel('Kind').selectOption('Fire brigade');
  await form.getByLabel('E-mail').fill('desk@fire.example');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(admin.getByRole('cell', { name: agency, exact: true })).toBeVisible();
  await expectAccessible(admin);
  await admin.getByRole('link', { name: 'Response plans' }).click();
  await admin.getByRole('button', { name: 'Add plan' }).click();
  const dialog = admin.getByRole('dialog', { name: 'Add plan' });
  await dialog.getByLabel('Name').fill(plan);
  await dialog.getByLabel('New incidents get it').uncheck();
  const first = dialog.getByRole('listitem', { name: 'Step 1' });
  await first.getByLabel('What is to be done').fill('Notify the fire brigade');
  await first.getByLabel('Kind').selectOption('Notify by e-mail');
  await first.getByLabel('Required').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(first).toContainText('Name the agency that is notified');
  await first.getByLabel('Agency').selectOption(agency);
  await dialog.getByRole('button', { name: 'Add step' }).click();
  await dialog
    .getByRole('listitem', { name: 'Step 2' })
    .getByLabel('What is to be done')
    .fill('Look at the camera');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(admin.getByRole('cell', { name: plan, exact: true })).toBeVisible();
  await expectAccessible(admin);

  const { id } = await open(service);
  await service.admin.api.incidents.acknowledge.mutate({ id });
  await service.admin.api.incidents.start.mutate({ id });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  await page.getByRole('combobox', { name: 'Response plan' }).selectOption(plan);
  const step = page.getByRole('listitem', { name: 'Notify the fire brigade' });
  await step.getByRole('button', { name: 'Notify …' }).click();
  const notice = page.getByRole('dialog', { name: 'Notify …' });
  await expect(notice).toContainText('desk@fire.example');
  await notice.getByRole('button', { name: 'Send' }).click();
  await expect(notice).toContainText('No channel for e-mail is enabled');
  await notice.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Resolve' }).click();
  const resolve = page.getByRole('dialog', { name: 'Resolve' });
  await resolve.getByRole('button', { name: 'Resolve' }).click();
  await expect(resolve).toContainText('Required steps of the plan');
  await resolve.getByRole('button', { name: 'Cancel' }).click();
  await step.getByRole('button', { name: 'Skip: Notify the fire brigade' }).click();
  await page.getByRole('dialog', { name: 'Skip' }).getByLabel('Reason').fill('They are there');
  await page.getByRole('dialog', { name: 'Skip' }).getByRole('button', { name: 'Skip' }).click();
  await page.getByRole('button', { name: 'Done: Look at the camera' }).click();
  await expect(page.getByRole('region', { name: /2 of 2/ })).toBeVisible();
  await page.getByRole('button', { name: 'Open again: Look at the camera' }).click();
  const again = page.getByRole('dialog', { name: 'Open again' });
  await again.getByLabel('Reason').fill('It was another camera');
  await again.getByRole('button', { name: 'Open again' }).click();
  await expect(page.getByRole('region', { name: /1 of 2/ })).toBeVisible();
  await expect(page.getByText('It was another camera')).toBeVisible();
});

test('the situation report is downloaded, and a camera nearby shows its newest image', async ({
  service,
  openAs,
}) => {
  const coordinates = { latitude: 41.2, longitude: 29.1 };
  const place = await service.admin.api.locations.create.mutate({ name: named('Tunnel'), coordinates });
  const { apiKey } = await service.sensor({ name: named('Camera'), type: 'CAMERA', coordinates });
  const { id, title } = await open(service, { locationId: place.id });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  const cameras = page.getByRole('region', { name: 'Cameras nearby' });
  await expect(cameras.getByText('No image in the last ten minutes')).toBeVisible();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION', images: [PIXEL] });
  await page.reload();
  await expect(cameras.getByRole('img')).toBeVisible();
  let clicks = 0;
  const click = async (target: Locator) => {
    clicks++;
    await target.click();
  };
  await click(page.getByRole('button', { name: 'More' }));
  await click(page.getByRole('menuitem', { name: 'Situation report …' }));
  const dialog = page.getByRole('dialog', { name: 'Situation report 1' });
  await expect(dialog).toContainText('Notes in the file: 0');
  await expectAccessible(page);
  await click(dialog.getByRole('button', { name: 'Make', exact: true }));
  const reports = page.getByRole('region', { name: 'Situation reports' });
  await expect(reports).toContainText('1: Initial');
  expect(clicks).toBe(3);
  const save = reports.getByRole('button', { name: 'Download situation report 1' });
  await expect(reports).toContainText('SHA-256');
  const download = page.waitForEvent('download');
  await save.click();
  expect((await download).suggestedFilename()).toMatch(/\.pdf$/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(title);
});

for (const [theme, language, width] of [
  ['dark', 'en', 1440],
  ['light', 'ar', 1280],
  ['light', 'tr', 390],
] as const)
  test(`the page of an incident is accessible: ${theme}, ${language}, ${width} px`, async ({
    service,
    openAs,
  }) => {
    const agency = await service.admin.api.agencies.create.mutate({
      name: named('Police'),
      kind: 'POLICE',
      phone: '133',
    });
    const step = { key: 'a', text: 'Close the ramp', kind: 'DO' as const, required: true, dueMinutes: 0 };
    const plan = await service.admin.api.plans.create.mutate({
      name: named('Plan'),
      isEnabled: false,
      steps: [step],
    });
    const { id } = await open(service);
    await service.admin.api.incidents.setPlan.mutate({ id, planId: plan.id });
    await service.admin.api.incidents.setLanes.mutate({
      id,
      direction: 'BOTH',
      lanes: ['CLOSED', 'SHIFTED', 'UNKNOWN', 'OPEN'],
      shoulder: 'CLOSED',
    });
    await service.admin.api.incidents.addAgency.mutate({
      id,
      agencyId: agency.id,
      unit: 'P 1',
      dispatchedAt: 'now',
    });
    await service.admin.api.incidents.setFacts.mutate({ id, injured: 'MINOR', hazardous: false });
    await service.admin.api.incidents.verify.mutate({ id });
    const page = await openAs('OPERATOR', `/incidents/${id}`, { theme, language, width });
    await expect(page.getByText('Close the ramp')).toBeVisible();
    await expect(page.getByText('P 1').first()).toBeVisible();
    await expectAccessible(page);
    expect(await isNarrowEnough(page)).toBe(true);
  });
