import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures.ts';

test('one key starts an entry anywhere, names what it is about, and is corrected, not changed', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await api.incidents.create.mutate({
    title: 'Oil at the exit',
    type: 'OBSTRUCTION',
    severity: 'HIGH',
  });
  const page = await openAs('OPERATOR', '/');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New log entry' });
  await expect(dialog.getByRole('combobox', { name: 'Entry' })).toBeFocused();
  await page.keyboard.type('Fire service called for #oil at');
  await expect(dialog.getByRole('option', { name: /Oil at the exit/ })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('combobox', { name: 'Entry' })).toHaveValue(
    'Fire service called for #Oil at the exit ',
  );
  await page.keyboard.press('Enter');
  await expect(page.getByText('The entry is in the log')).toBeVisible();
  await expect(dialog).toHaveCount(0);

  await page.goto(`${service.url}/log`);
  const entry = page
    .getByRole('list', { name: 'Entries' })
    .getByRole('listitem')
    .filter({ hasText: 'Fire service' });
  await expect(entry.getByRole('link', { name: 'Oil at the exit' })).toHaveAttribute(
    'href',
    `/incidents/${id}`,
  );
  await entry.getByRole('button', { name: /^Correct: / }).click();
  const form = page.getByRole('dialog', { name: 'Correct' });
  await form.getByLabel('Entry').fill('Police called for #Oil at the exit');
  await form.getByRole('button', { name: 'Correct' }).click();
  await expect(page.getByText('The entry was corrected')).toBeVisible();
  await expect(entry).toContainText('Corrected');
  await expect(page.getByText('Police called for #Oil at the exit')).toBeVisible();
  await expectAccessible(page);

  // What a colleague writes appears by itself.
  await api.log.add.mutate({ text: 'Lamp 7 is dark', kind: 'FAULT' });
  await expect(page.getByText('Lamp 7 is dark')).toBeVisible();
  await page.getByRole('combobox', { name: 'Entry' }).fill('Keep lane 1 closed');
  await page.getByLabel('Kind').selectOption('INSTRUCTION');
  await page.getByLabel('Valid until').fill('yesterday');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByText('Enter it as YYYY-MM-DD hh:mm')).toBeVisible();
  await page.getByLabel('Valid until').fill('2036-01-31T18:00');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByText('valid until')).toBeVisible();
  // The next entry begins as a note, without the fields of an instruction.
  await expect(page.getByLabel('Kind')).toHaveValue('NOTE');
  await expect(page.getByLabel('Valid until')).toHaveCount(0);
});

test('what an entry is about survives a reload before it is sent', async ({ service, openAs }) => {
  const { api } = service.admin;
  const { id } = await api.incidents.create.mutate({
    title: 'Sand on the bend',
    type: 'OBSTRUCTION',
    severity: 'LOW',
  });
  const page = await openAs('OPERATOR', '/log');
  const line = page.getByRole('combobox', { name: 'Entry' });
  await line.pressSequentially('Crew sent to #sand on');
  await page.getByRole('option', { name: /Sand on the bend/ }).click();
  await page.reload();
  await expect(line).toHaveValue('Crew sent to #Sand on the bend ');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByText('The entry is in the log')).toBeVisible();
  const [entry] = (await api.log.getAll.query({ search: 'Crew sent to' })).entries;
  expect(entry?.refs).toMatchObject([{ kind: 'INCIDENT', id }]);
});

test('the wall display shows the instructions that are valid, until one is over', async ({
  service,
  openAs,
}) => {
  const { log } = service.admin.api;
  await service.sensor();
  const { id } = await log.add.mutate({
    text: 'Keep the hard shoulder free for the convoy',
    kind: 'INSTRUCTION',
    validUntil: '2036-01-31T18:00:00Z',
  });
  const page = await openAs('OPERATOR', '/?kiosk=1&places=list');
  const shown = page.getByRole('region', { name: 'Valid instructions' });
  await expect(shown).toContainText('Keep the hard shoulder free for the convoy');
  await expect(shown).toContainText('2036');
  await expectAccessible(page);
  await log.correct.mutate({
    id,
    text: 'Keep the hard shoulder free for the convoy',
    validUntil: new Date().toISOString(),
  });
  await expect(page.getByText('Keep the hard shoulder free for the convoy')).toHaveCount(0);
  const viewer = await openAs('VIEWER', '/?places=list');
  await expect(viewer.getByRole('region', { name: 'Newest events' })).toBeVisible();
  await expect(viewer.getByRole('region', { name: 'Valid instructions' })).toHaveCount(0);
});

test('an entry that could not be sent is sent once, with the time at which it was written', async ({
  service,
  openAs,
}) => {
  const page = await openAs('FIELD', '/log', { isTouched: true, width: 390 });
  await page.getByRole('combobox', { name: 'Entry' }).fill('Guard rail torn at km 4');
  await page.route(/log\.add/, (route) => route.abort());
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByRole('alert').first()).toBeVisible();
  await page.reload();
  await expect(page.getByRole('combobox', { name: 'Entry' })).toHaveValue('Guard rail torn at km 4');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByRole('alert').first()).toBeVisible();
  await page.unroute(/log\.add/);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByRole('list', { name: 'Entries' })).toContainText('Guard rail torn at km 4');
  const { entries } = await service.admin.api.log.getAll.query({ search: 'Guard rail' });
  expect(entries).toHaveLength(1);
  await expectAccessible(page);
});

test('a shift is handed over and accepted with five clicks', async ({ service, openAs }) => {
  const { api } = service.admin;
  await api.incidents.create.mutate({ title: 'Tree on the road', type: 'OBSTRUCTION', severity: 'CRITICAL' });
  const first = await openAs('OPERATOR', '/log');
  await first.goto(`${service.url}/shift`);
  await first.getByRole('button', { name: 'Start a shift' }).click();
  await first.getByRole('dialog').getByRole('button', { name: 'Start a shift' }).click();
  await expect(first.getByRole('region', { name: 'Control room' })).toContainText('Operator Tester');
  const second = await openAs('ADMIN', '/');

  let clicks = 0;
  const click = async (page: Page, role: 'link' | 'button', name: string) => {
    clicks += 1;
    await page.getByRole(role, { name, exact: true }).first().click();
  };
  await click(first, 'button', 'Prepare hand-over');
  await expect(first.getByRole('region', { name: /^Open incidents/ })).toContainText('Tree on the road');
  await first.getByLabel('Remarks').fill('The crew is paid until 22:00');
  await expectAccessible(first);
  await click(first, 'button', 'Hand over');
  await expect(first.getByText('You handed this shift over')).toBeVisible();
  await click(second, 'link', 'Shift');
  await expect(second.getByRole('region', { name: 'Remarks' })).toContainText('The crew is paid until 22:00');
  await expect(second.getByRole('region', { name: /^Open incidents/ })).toContainText('Tree on the road');
  await expectAccessible(second);
  await click(second, 'button', 'Accept');
  await expect(second.getByRole('button', { name: 'Prepare hand-over' })).toBeVisible();
  expect(clicks).toBeLessThanOrEqual(5);

  // The first page learns of it by itself, and the hand-over stays as it was.
  await expect(first.getByText('Accepted')).toBeVisible({ timeout: 30_000 });
  // Its entries are a list with a filter that can be seen and removed.
  const log = await openAs('OPERATOR', '/shift');
  await log.getByRole('region', { name: 'Former shifts' }).getByRole('button').first().click();
  await log.getByRole('link', { name: /entries|entry/ }).click();
  await expect(log).toHaveURL(/shiftId=/);
  await expect(log.getByText(/^Control room, /)).toBeVisible();
  await log.getByRole('button', { name: 'Remove filter Shift' }).click();
  await expect(log).not.toHaveURL(/shiftId=/);
  await expect(first.getByRole('region', { name: /^Open incidents/ })).toContainText('Tree on the road');
  await second.getByRole('button', { name: 'Close without acceptance' }).click();
  const form = second.getByRole('dialog');
  await form.getByLabel('Reason').fill('End of the story');
  await form.getByRole('button', { name: 'Close without acceptance' }).click();
  await expect(second.getByText('End of the story')).toBeVisible();
});

test('the filter of events offers the time since the own shift began', async ({ service, openAs }) => {
  const page = await openAs('OPERATOR', '/shift');
  await page.getByRole('button', { name: 'Start a shift' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start a shift' }).click();
  await expect(page.getByRole('region', { name: 'Control room' })).toContainText('Operator Tester');
  await page.goto(`${service.url}/events`);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('button', { name: 'This shift' }).click();
  await expect(page).toHaveURL(/startDate=/);
  const { shifts } = service.admin.api;
  const [open] = (await shifts.getAll.query({ state: 'OPEN' })).shifts;
  expect(new URL(page.url()).searchParams.get('startDate')).toBe(
    `${open?.startedAt.toISOString().slice(0, 16)}`,
  );
  await shifts.close.mutate({ id: open?.id ?? '', reason: 'End of the story' });
});

for (const language of ['tr', 'ar'] as const)
  test(`the log and the shifts are accessible in ${language}`, { tag: '@long' }, async ({
    openAs,
    service,
  }) => {
    const page = await openAs('OPERATOR', '/log', { language, theme: 'light' });
    for (const path of ['/log', '/shift']) {
      await page.goto(service.url + path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expectAccessible(page);
    }
  });
