import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, expectAccessible, test } from './fixtures.ts';

test('from nothing, a channel, a policy and a rule are what it takes to be told of an alarm', async ({
  service,
  openAs,
}) => {
  test.slow();
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(body);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await service.sensor();
  const page = await openAs('ADMIN', '/');
  await page.getByRole('link', { name: 'Say who is told' }).click();
  const first = page.getByRole('region', { name: 'Nobody is told of alarms' });
  await first.getByRole('link', { name: 'Add a channel' }).click();

  await page.getByRole('button', { name: 'Add channel' }).first().click();
  const channel = page.getByRole('dialog', { name: 'Add channel' });
  await channel.getByLabel('Kind').selectOption('HTTP');
  await channel.getByLabel('Name').fill('Pager');
  await channel.getByLabel('Address').fill(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await channel.getByRole('button', { name: 'Add channel' }).click();
  await page.getByRole('link', { name: 'Alarms', exact: true }).last().click();

  await page.getByRole('button', { name: 'Add policy' }).click();
  const policy = page.getByRole('dialog', { name: 'Add policy' });
  await policy.getByLabel('Name').fill('Control room');
  // The only channel is proposed.
  await expect(policy.getByRole('list', { name: 'Is told' })).toContainText('Pager');
  await policy.getByRole('button', { name: 'Add step' }).click();
  await policy.getByLabel('Add a user, rota or channel').nth(1).selectOption({ index: 1 });
  await policy.getByLabel('So many minutes').fill('15');
  await policy.locator('summary').click();
  await policy.getByLabel('Wait for further alarms, in seconds').fill('0');
  await expectAccessible(page);
  await policy.getByRole('button', { name: 'Save' }).click();
  const policies = page.getByRole('list', { name: 'Who is told' });
  await expect(policies).toContainText('At once:');
  await expect(policies).toContainText('after 15 min without acknowledgement:');

  await page.getByRole('button', { name: 'Enable Critical incident not acknowledged' }).click();
  const rule = page.getByRole('dialog', { name: 'Edit rule' });
  await rule.getByLabel('For so many minutes').fill('0');
  await expect(rule.getByLabel('Enabled')).toBeChecked();
  await expect(rule.getByLabel('Who is told')).toHaveValue(/./);
  await expect(rule.getByText('When an incident of severity Critical')).toBeVisible();
  await rule.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('region', { name: 'Nobody is told of alarms' })).toHaveCount(0);

  const { id } = await service.admin.api.incidents.create.mutate({
    title: 'Lorry on fire',
    type: 'COLLISION',
    severity: 'CRITICAL',
  });
  await expect(() => expect(bodies.join()).toContain('Lorry on fire')).toPass({ timeout: 60_000 });
  await service.admin.api.incidents.acknowledge.mutate({ id });
  await page.getByRole('button', { name: 'Disable Critical incident not acknowledged' }).click();
  await expect(page.getByRole('button', { name: 'Enable Critical incident not acknowledged' })).toBeVisible();
  server.close();
});

test('a rule of every source can be entered, is said as a sentence and tried, and is kept as entered', async ({
  service,
  openAs,
}) => {
  test.slow();
  await service.sensor();
  const page = await openAs('ADMIN', '/administration/alarms');
  const rules = page.getByRole('list', { name: 'Rules' });
  await page.getByRole('button', { name: 'Add rule' }).click();
  const form = page.getByRole('dialog', { name: 'Add rule' });
  const sentences: Readonly<Record<string, string>> = {
    SENSOR_STATUS: 'a sensor is Offline or Error',
    SENSOR_ISSUE: 'a sensor reports a critical issue',
    SENSOR_PLAUSIBILITY: 'fails a check of plausibility (No vehicle for longer than usual, Repeats',
    EVENT_RATE: 'there are at least 10 events',
    INCIDENT_UNATTENDED: 'an incident of severity Critical',
    HIT: 'a watched vehicle of priority Low',
    HOTLIST: 'a hotlist is not renewed in time',
    CERTIFICATE: 'a certificate expires within 30 d',
    INTAKE: 'at least 1 message of a connection was refused',
    SYSTEM: 'less than 10 % of the disk is free',
    TRAFFIC: 'the mean speed of 5 min at a location is below 40 km/h',
  };
  for (const [source, sentence] of Object.entries(sentences)) {
    await form.getByLabel('About').selectOption(source);
    await expect(form.getByText(sentence)).toBeVisible();
  }
  await form.getByLabel('Name').fill('Slow');
  await form.getByLabel('Threshold').fill('55');
  await expect(form.getByText('is below 55 km/h for 5 min')).toBeVisible();
  await form.getByRole('button', { name: 'Try' }).click();
  await expect(form.getByRole('status')).toContainText('It would have fired');
  await form.getByText('Hours, grouping and further settings').click();
  await form.getByLabel('Ends at').fill('50');
  await expectAccessible(page);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByText('give that or a larger value')).toBeVisible();
  await form.getByLabel('Ends at').fill('60,5');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(rules).toContainText(
    'is below 55 km/h for 5 min, an alarm of severity High fires. It ends at 60.5.',
  );
  await page.getByRole('button', { name: 'Edit Slow' }).click();
  const edited = page.getByRole('dialog', { name: 'Edit rule' });
  await expect(edited.getByLabel('Threshold')).toHaveValue('55');
  await edited.getByLabel('Name').fill('Slower');
  await edited.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Delete Slower' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click();
  await expect(page.getByText('The rule was deleted')).toBeVisible();
});

for (const language of ['tr', 'ar'] as const)
  test(`the page and its forms are accessible in ${language}`, { tag: '@long' }, async ({ openAs }) => {
    const page = await openAs('ADMIN', '/administration/alarms', { language, theme: 'light' });
    const sensorOffline = {
      tr: '15 dakika boyunca bir sensörün durumu Çevrimdışı veya Hata ise, Orta önemde bir alarm verilir.',
      ar: 'إذا كانت حالة مستشعر «غير متصل» أو «خطأ» لمدة 15 دقيقة، يُطلَق إنذار خطورته متوسطة.',
    };
    await expect(page.getByText(sensorOffline[language])).toBeVisible();
    await expectAccessible(page);
    await page
      .locator('main button, button')
      .filter({ hasText: /Kural ekle|إضافة قاعدة/ })
      .click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page);
  });
