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
  await expect(page.getByText(/Use an ISO 8601/)).toBeVisible();
  await page.getByLabel('Valid until').fill('2036-01-31T18:00');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByText('valid until')).toBeVisible();
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
