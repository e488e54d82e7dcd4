import { afterAll, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { addContact } from './notices.ts';
import { createShiftedTime } from './shifted-time.ts';

// From a rule to a mail, and from its link back to the alarm.

const time = createShiftedTime();
const mail = await startMailServer();
const gantry = await sharedGantry({
  config: {
    SMTP_URL: mail.url,
    SMTP_FROM: 'Gantry <gantry@example.org>',
    PUBLIC_URL: 'https://gantry.example.org',
  },
  overrides: {
    clock: time.sources,
    timings: { sweepNoticesMs: 50, evaluateAlarmsMs: 50, sweepSensorsMs: 600_000 },
  },
});
afterAll(() => mail[Symbol.asyncDispose]());
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input?: unknown) => gantry.ok(procedure, input, { token });

it('tells a user by mail, who acknowledges by the link, and tells that it is over', async () => {
  const { id: userId } = await ask('auth.me');
  await ask('channels.create', { name: 'Mail', kind: 'SMTP' });
  await addContact(gantry, userId);
  const policy = await ask('policies.create', {
    name: 'Control room',
    steps: [{ afterMinutes: 0, to: [{ userId }] }],
    groupWaitSeconds: 0,
    groupIntervalSeconds: 10,
  });
  const condition = { source: 'SENSOR_STATUS', statuses: ['OFFLINE'] };
  await ask('alarmRules.create', {
    name: 'Sensor offline',
    condition,
    severity: 'HIGH',
    policyId: policy.id,
  });
  await gantry.registerSensor();
  const [message] = await eventually(
    async () => mail.messages,
    ({ length }) => length === 1,
  );
  const text = JSON.stringify(message);
  expect(text).toContain('Sensor offline');
  expect(text).toContain('Mast 7');
  const { notices } = await ask('notices.getAll');
  const { rows } = await gantry.pool.query('SELECT body, subject FROM notices');
  const [, path] =
    /https:\/\/gantry\.example\.org(\/ack\/[\w-]{22})/.exec(
      JSON.stringify(notices) + JSON.stringify(rows) + text,
    ) ?? [];
  expect(path).toBeDefined();
  for (let n = 0; n < 3; n++) expect((await fetch(`${gantry.url}${path}`)).status).toBe(200);
  const firing = async () => (await ask('alarms.getAll', { state: 'FIRING' })).alarms;
  expect(await firing()).toMatchObject([{ acknowledgedAt: null }]);
  expect((await fetch(`${gantry.url}${path}`, { method: 'POST' })).status).toBe(200);
  expect(await firing()).toMatchObject([{ acknowledgedBy: { id: userId } }]);
  expect((await fetch(`${gantry.url}${path}`, { method: 'POST' })).status).toBe(409);
  await gantry.pool.query(`UPDATE sensors SET status = 'ONLINE'`);
  await eventually(firing, ({ length }) => length === 0);
  // The interval of the group.
  time.advance(10_000);
  await eventually(
    async () => mail.messages.length,
    (n) => n === 2,
  );
});
