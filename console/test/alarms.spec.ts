import { expect, expectAccessible, test } from './fixtures.ts';

const ROUND = { timeout: 40_000 };

test('an alarm appears by itself, is acknowledged, silenced with a reason, and is over when its cause is', async ({
  service,
  openAs,
}) => {
  test.slow();
  const { api } = service.admin;
  const { id: incidentId } = await api.incidents.create.mutate({
    title: 'Alarm: tree on the road',
    type: 'OBSTRUCTION',
    severity: 'CRITICAL',
  });
  const page = await openAs('OPERATOR', '/alarms');
  const rule = await api.alarmRules.create.mutate({
    name: 'Nobody acknowledged it',
    condition: { source: 'INCIDENT_UNATTENDED', minSeverity: 'CRITICAL', lacking: 'ACKNOWLEDGEMENT' },
    severity: 'HIGH',
  });
  const row = page.getByRole('row').filter({ hasText: 'Alarm: tree on the road' });
  await expect(row).toContainText('Firing', ROUND);
  await expectAccessible(page);
  await row.getByRole('button', { name: 'Acknowledge: Alarm: tree on the road' }).click();
  await expect(row.getByRole('button', { name: /^Acknowledge/ })).toHaveCount(0);
  await row.getByRole('button', { name: 'Silence: Alarm: tree on the road' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Reason').fill('The crew is on its way');
  await form.getByRole('button', { name: 'Silence', exact: true }).click();
  await expect(page.getByText('The alarms are silenced')).toBeVisible();
  await expect(async () => {
    await page.reload();
    await expect(row).toContainText('Silenced');
  }).toPass(ROUND);
  await api.incidents.acknowledge.mutate({ id: incidentId });
  await expect(row).toHaveCount(0, ROUND);
  await api.alarmRules.delete.mutate({ id: rule.id });
});

test('alarms are acknowledged one after another with one key', async ({ service, openAs }) => {
  test.slow();
  const { api } = service.admin;
  const titles = ['First of three', 'Second of three', 'Third of three'];
  const ids: string[] = [];
  for (const title of titles)
    ids.push((await api.incidents.create.mutate({ title, type: 'OTHER', severity: 'CRITICAL' })).id);
  const page = await openAs('OPERATOR', '/alarms');
  const rule = await api.alarmRules.create.mutate({
    name: 'One key for all',
    condition: { source: 'INCIDENT_UNATTENDED', minSeverity: 'CRITICAL', lacking: 'ACKNOWLEDGEMENT' },
    severity: 'CRITICAL',
  });
  const open = page.getByRole('row').filter({
    has: page.getByRole('button', { name: /^Acknowledge: (First|Second|Third) of three/ }),
  });
  await expect(open).toHaveCount(3, ROUND);
  await page.keyboard.press('j');
  for (let left = 2; left >= 0; left--) {
    await page.keyboard.press('1');
    await expect(open).toHaveCount(left);
  }
  for (const id of ids) await api.incidents.acknowledge.mutate({ id });
  await api.alarmRules.delete.mutate({ id: rule.id });
});
