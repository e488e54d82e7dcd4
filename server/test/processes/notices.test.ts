import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { ADMIN, createTestDatabase, eventually } from '../harness.ts';
import { startMailServer } from '../mail-server.ts';
import { answer, startReceiver } from '../webhook-receiver.ts';
import { type ServiceProcess, spawnWithTimings, untilItServes } from './service-process.ts';

// A service that is killed between sending a message and recording that it was sent.

const scratch = mkdtempSync(join(tmpdir(), 'gantry-notices-'));
const database = await createTestDatabase();
const pool = createPool(database.url, 2, () => undefined);
const receiver = await startReceiver();
const mail = await startMailServer();
const services = new Set<ServiceProcess>();

const start = async (name: string): Promise<ServiceProcess> => {
  const service = await untilItServes(
    spawnWithTimings(
      scratch,
      {
        DATA_DIR: join(scratch, name),
        DATABASE_URL: database.url,
        JWT_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
        WEBHOOK_ALLOW_HOSTS: receiver.host,
        SMTP_URL: mail.url,
        SMTP_FROM: 'gantry@example.org',
      },
      { sweepNoticesMs: 100 },
    ),
  );
  services.add(service);
  return service;
};

afterAll(async () => {
  for (const { process } of services) process.kill('SIGKILL');
  await Promise.all([...services].map(({ ended }) => ended));
  await receiver[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
  await pool.end();
  await database.drop();
  await rm(scratch, { recursive: true, force: true });
});

const count = async (condition: string): Promise<number> =>
  Number((await pool.query(`SELECT count(*) AS n FROM notices WHERE ${condition}`)).rows[0].n);

it('sends each message at least once, with the same id, and once if it is not killed', async () => {
  const first = await start('first');
  const token = await first.login(ADMIN.email, ADMIN.password);
  const add = async (fields: object): Promise<string> =>
    (await first.ok('channels.create', { name: 'x', ...fields }, { token })).id;
  const http = await add({ kind: 'HTTP', url: receiver.url });
  const smtp = await add({ kind: 'SMTP', to: ['desk@example.org'] });

  // Received, but the answer does not come before the process is killed.
  receiver.respond = () => undefined;
  await first.ok('channels.test', { id: http }, { token });
  await eventually(
    async () => receiver.received.length,
    (length) => length === 1,
  );
  const before = mail.messages.length;
  await first.ok('channels.test', { id: smtp }, { token });
  await eventually(
    async () => mail.messages.length,
    (length) => length === before + 1,
  );
  first.process.kill('SIGKILL');
  await first.ended;
  expect(await count(`status = 'PENDING'`)).toBeGreaterThanOrEqual(1);

  receiver.respond = answer(200);
  // As if the leases had ended.
  await pool.query(`UPDATE notices SET due_at = now() WHERE status = 'PENDING'`);
  const [second, third] = [await start('second'), await start('third')];
  await eventually(
    () => count(`status <> 'SENT'`),
    (left) => left === 0,
  );
  expect(receiver.received).toHaveLength(2);
  expect(new Set(receiver.received.map(({ headers }) => headers['x-gantry-notice'])).size).toBe(1);
  const ids = new Set(mail.messages.map(({ headers }) => headers.get('message-id')));
  expect(ids.size).toBe(1);

  // Two processes: each message once.
  const own = await second.login(ADMIN.email, ADMIN.password);
  const sent = receiver.received.length;
  for (let n = 0; n < 20; n++)
    await (n % 2 ? second : third).ok('channels.test', { id: http }, { token: own });
  await eventually(
    () => count(`status <> 'SENT'`),
    (left) => left === 0,
  );
  expect(receiver.received).toHaveLength(sent + 20);
});
