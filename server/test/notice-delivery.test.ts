import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { findFailingChannels } from '../src/notices/channels-store.ts';
import { smsOf } from '../src/notices/compose.ts';
import { eventually, sharedGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { addContact, alarm, announceTo, type NoticeJson, settledNotices } from './notices.ts';
import { answer, startReceiver } from './webhook-receiver.ts';

// Receivers and mail servers that refuse, fail, are slow, or disappear.

const receiver = await startReceiver();
const mail = await startMailServer();
const gantry = await sharedGantry({
  config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1', SMTP_URL: mail.url, SMTP_FROM: 'gantry@example.org' },
  overrides: { timings: { sweepNoticesMs: 50, mailMs: 3_000 } },
});
const token = await gantry.tokenFor('ADMIN');
const { id: adminId } = await gantry.ok('auth.me', undefined, { token });
afterEach(async () => {
  await gantry.pool.query('DELETE FROM channels; DELETE FROM notices; DELETE FROM contacts');
  receiver.received.length = 0;
  receiver.respond = answer(200);
  mail.messages.length = 0;
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

const ok = (procedure: string, input?: unknown) => gantry.ok(procedure, input, { token });
const addHttp = async (url = receiver.url): Promise<string> =>
  (await ok('channels.create', { name: 'Gateway', kind: 'HTTP', url })).id;
const addMail = async (...to: string[]): Promise<string> =>
  (await ok('channels.create', { name: 'Mail', kind: 'SMTP', to })).id;
/** The only message, once an attempt has failed. */
const failedOnce = async (): Promise<NoticeJson> => {
  const [notice] = await settledNotices(gantry, token, ([first]) => typeof first?.lastError === 'string');
  if (!notice) throw new Error('There is no message');
  return notice;
};
/** Lets the waits between attempts pass. */
const letPass = () => gantry.pool.query('UPDATE notices SET due_at = now()');
const failing = async () =>
  (await findFailingChannels(gantry.app.context.db)).map(({ name, error }) => [name, error]);

describe('a receiver that refuses', () => {
  it('is asked again, until it takes the message, and the channel counts as failing meanwhile', async () => {
    receiver.respond = answer(503, 'closed');
    const channelId = await addHttp();
    await announceTo(gantry, [{ channelId }]);
    const notice = await failedOnce();
    expect(notice).toMatchObject({
      ...{ status: 'PENDING', attempts: 1, dueAt: expect.any(String) },
      ...{ lastError: 'It answered with status 503', lastAnswer: 'closed' },
    });
    await eventually(failing, (found) => found.length === 1);
    expect(await failing()).toEqual([['Gateway', 'It answered with status 503']]);
    expect(await ok('channels.getById', { id: channelId })).toMatchObject({
      failingSince: expect.any(String),
      lastError: 'It answered with status 503',
    });
    receiver.respond = answer(200, 'ok');
    await letPass();
    const [sent] = await settledNotices(gantry, token);
    expect(sent).toMatchObject({
      status: 'SENT',
      attempts: 2,
      lastError: null,
      lastAnswer: 'ok',
      dueAt: null,
    });
    await eventually(failing, (found) => found.length === 0);
    const ids = receiver.received.map(({ headers }) => headers['x-gantry-notice']);
    expect(new Set(ids)).toEqual(new Set([notice.id]));
  });

  it('is given up after a day, and can be tried again by hand', async () => {
    receiver.respond = answer(500);
    const channelId = await addHttp();
    await announceTo(gantry, [{ channelId }]);
    const { id } = await failedOnce();
    await gantry.pool.query(`UPDATE notices SET pending_since = now() - interval '25 hours', due_at = now()`);
    expect((await settledNotices(gantry, token))[0]).toMatchObject({ status: 'FAILED', attempts: 1 });
    receiver.respond = answer(200);
    expect(await ok('notices.redeliver', { channelId, status: 'FAILED' })).toEqual({ count: 1 });
    expect((await settledNotices(gantry, token))[0]).toMatchObject({ id, status: 'SENT', attempts: 1 });
    expect(await ok('notices.redeliver', { id })).toEqual({ count: 1 });
    await eventually(
      async () => receiver.received.length,
      (count) => count === 3,
    );
    expect((await gantry.refusal('notices.redeliver', { id: channelId }, { token })).status).toBe(404);
  });

  it('waits as long as it asks for', async () => {
    receiver.respond = (response) => response.writeHead(429, { 'retry-after': '600' }).end();
    await announceTo(gantry, [{ channelId: await addHttp() }]);
    await failedOnce();
    const { rows } = await gantry.pool.query(
      'SELECT extract(epoch FROM due_at - now()) AS wait FROM notices',
    );
    expect(Number(rows[0].wait)).toBeGreaterThan(500);
  });

  it.each([
    [
      'changes the protocol',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      /without an answer/,
    ],
    ['says nothing of HTTP', '220 mail.example.org ESMTP\r\n', /Expected HTTP/],
    ['ends within the head of its answer', 'HTTP/1.1 200 OK\r\nContent-', /socket hang up/],
    ['has too long a head', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, /Header overflow/],
  ])('is asked again if it %s', async (_, head, error) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(head));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await announceTo(gantry, [{ channelId: await addHttp(`http://127.0.0.1:${port}/`) }]);
    expect(await failedOnce()).toMatchObject({ status: 'PENDING', lastError: expect.stringMatching(error) });
    await new Promise((resolve) => server.close(resolve));
  });

  it('does not delay another channel', async () => {
    receiver.respond = () => undefined;
    const slow = await addHttp();
    await announceTo(
      gantry,
      Array.from({ length: 1 }, () => ({ channelId: slow })),
    );
    const desk = await addMail('desk@example.org');
    await announceTo(gantry, [{ channelId: desk }]);
    await eventually(
      async () => mail.messages.length,
      (count) => count === 1,
    );
    const { notices } = await ok('notices.getAll', { channelId: slow });
    expect(notices).toMatchObject([{ status: 'PENDING', lastError: null }]);
  });

  it('reaches nobody within the own network, not even by a redirect', async () => {
    const channelId = await addHttp();
    await gantry.pool.query(`UPDATE channels SET settings = '{"url":"http://10.1.2.3/"}'`);
    await announceTo(gantry, [{ channelId }]);
    expect((await failedOnce()).lastError).toContain('is not on the public internet');
    await gantry.pool.query(`DELETE FROM notices`);
    receiver.respond = (response) => response.writeHead(302, { location: receiver.url }).end();
    await gantry.pool.query(`UPDATE channels SET settings = jsonb_build_object('url', $1::text)`, [
      receiver.url,
    ]);
    await announceTo(gantry, [{ channelId }]);
    expect((await failedOnce()).lastError).toContain('redirect (302), which is not followed');
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a mail server', () => {
  it.each([421, 450, 451])('that answers %i is asked again, as greylisting wants it', async (code) => {
    // After 421, the connection ends, and the mail program itself tries once more.
    mail.refuse('recipient', code, code === 421 ? 2 : 1);
    const channelId = await addMail('desk@example.org');
    await announceTo(gantry, [{ channelId }]);
    const { lastError, status } = await failedOnce();
    expect([status, lastError]).toEqual(['PENDING', expect.stringContaining(String(code))]);
    await letPass();
    expect((await settledNotices(gantry, token))[0]).toMatchObject({ status: 'SENT', attempts: 2 });
    expect(mail.messages).toHaveLength(1);
  });

  it('that refuses a recipient with 550 is not asked again, and the channel works', async () => {
    mail.refuse('recipient', 550);
    await announceTo(gantry, [{ channelId: await addMail('gone@example.org') }]);
    expect((await settledNotices(gantry, token))[0]).toMatchObject({ status: 'FAILED', attempts: 1 });
    expect(await failing()).toEqual([]);
  });

  it.each([
    ['that cuts the connection', (socket: Socket) => socket.destroy()],
    ['that says nothing', () => undefined],
    ['that is cut in the greeting', (socket: Socket) => socket.end('220 mail.exa')],
  ])('%s is asked again, and the other kind of channel still works', async (_, behave) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      behave(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const other = await sharedGantry({
      config: { SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: 'gantry@example.org' },
      overrides: { timings: { sweepNoticesMs: 50, mailMs: 1_000 } },
    });
    const own = await other.tokenFor('ADMIN');
    const input = { name: 'Mail', kind: 'SMTP', to: ['desk@example.org'] };
    const { id: channelId } = await other.ok('channels.create', input, { token: own });
    await announceTo(other, [{ channelId }]);
    const [notice] = await settledNotices(other, own, ([first]) => typeof first?.lastError === 'string');
    expect(notice).toMatchObject({ status: 'PENDING', attempts: 1 });
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});

describe('of several channels of a kind', () => {
  it('users are reached through the oldest that works', async () => {
    receiver.respond = (response, { path }) => response.writeHead(path === '/a' ? 500 : 200).end();
    const sms = async (name: string) =>
      (await ok('channels.create', { name, kind: 'SMS', url: `http://${receiver.host}/${name}` })).id;
    const [first, second] = [await sms('a'), await sms('b')];
    await addContact(gantry, adminId, { kind: 'SMS', address: '+905320000000' });
    await announceTo(gantry, [{ userId: adminId }]);
    await eventually(failing, (found) => found.length === 1);
    await announceTo(gantry, [{ userId: adminId }]);
    const notices = await settledNotices(gantry, token, (all) => all.some(({ status }) => status === 'SENT'));
    expect(notices.map(({ channelId }) => channelId)).toEqual([second, first]);
  });
});

describe('a channel that is', () => {
  it('disabled keeps its messages, and sends them when it is enabled again', async () => {
    receiver.respond = answer(500);
    const channelId = await addHttp();
    await announceTo(gantry, [{ channelId }]);
    await failedOnce();
    await ok('channels.update', { id: channelId, enabled: false });
    receiver.respond = answer(200);
    await letPass();
    // What follows comes after a sweep.
    await announceTo(gantry, [{ channelId: await addMail('desk@example.org') }]);
    await eventually(
      async () => mail.messages.length,
      (count) => count === 1,
    );
    expect(receiver.received).toHaveLength(1);
    await ok('channels.update', { id: channelId, enabled: true });
    await settledNotices(gantry, token);
    expect(receiver.received).toHaveLength(2);
  });

  it('deleted drops the messages that wait, and keeps the log', async () => {
    receiver.respond = answer(500);
    const channelId = await addHttp();
    await announceTo(gantry, [{ channelId }]);
    await failedOnce();
    await ok('channels.delete', { id: channelId });
    const [notice] = await settledNotices(gantry, token);
    expect(notice).toMatchObject({
      status: 'DROPPED',
      lastError: 'The channel was deleted',
      channelName: 'Gateway',
    });
  });
});

it('does not send what waits to a user who was deactivated or deleted meanwhile', async () => {
  receiver.respond = answer(500);
  await ok('channels.create', { name: 'Texts', kind: 'SMS', url: receiver.url });
  const user = { lastName: 'Left', role: 'OPERATOR', password: 'Correct-horse-2' };
  const userIds: string[] = [];
  for (const n of [1, 2, 3]) {
    const { id } = await ok('users.create', { ...user, firstName: `${n}`, email: `${n}@example.org` });
    await addContact(gantry, id, { kind: 'SMS', address: `+90532000000${n}` });
    userIds.push(id);
  }
  await announceTo(
    gantry,
    userIds.map((userId) => ({ userId })),
  );
  await settledNotices(gantry, token, (all) => all.every(({ lastError }) => lastError !== null));
  await ok('users.update', { id: userIds[0], isActive: false });
  await ok('users.delete', { id: userIds[1] });
  receiver.respond = answer(200);
  receiver.received.length = 0;
  await letPass();
  const sent = await settledNotices(gantry, token);
  const gone = 'The user was deleted or deactivated';
  expect(sent.map(({ recipient, status, lastError }) => [recipient, status, lastError]).sort()).toEqual([
    ['+905320000001', 'FAILED', gone],
    ['+905320000002', 'FAILED', gone],
    ['+905320000003', 'SENT', null],
  ]);
  expect(receiver.received).toHaveLength(1);
  for (const id of [userIds[0], userIds[2]]) await ok('users.delete', { id });
});

describe('the log of messages', () => {
  it('is filtered by channel, recipient, group, status, kind and time', async () => {
    const channelId = await addHttp();
    const desk = await addMail('desk@example.org');
    await addContact(gantry, adminId);
    const groupId = '0a0a0a0a-0000-4000-8000-000000000003';
    await announceTo(gantry, [{ channelId }, { userId: adminId }], { groupId });
    await announceTo(gantry, [{ channelId }], { kind: 'CLEARED' });
    await ok('channels.test', { id: desk });
    await settledNotices(gantry, token);
    const count = async (input: object) => (await ok('notices.getAll', input)).total;
    expect(await count({})).toBe(4);
    expect(await count({ channelId })).toBe(2);
    expect(await count({ userId: adminId })).toBe(1);
    expect(await count({ groupId })).toBe(2);
    expect(await count({ kind: 'TEST' })).toBe(1);
    expect(await count({ kind: 'CLEARED', status: 'SENT' })).toBe(1);
    expect(await count({ status: 'FAILED' })).toBe(0);
    expect(await count({ endDate: '2026-01-01' })).toBe(0);
    expect(await count({ channelId: 'x' })).toBe(0);
    const { notices, pageCount } = await ok('notices.getAll', { take: 1, skip: 1, sortOrder: 'asc' });
    expect([notices.length, pageCount]).toEqual([1, 4]);
    expect(await ok('notices.getById', { id: notices[0].id })).toEqual(notices[0]);
  });
});

describe('an SMS', () => {
  const LINK = `https://gantry.example.org/ack/${'x'.repeat(22)}`;

  it('has at most 160 characters of GSM 03.38, of which some count twice', () => {
    expect(smsOf('a'.repeat(200), null)).toBe('a'.repeat(160));
    expect(smsOf('€'.repeat(100), null)).toBe('€'.repeat(80));
    expect(smsOf(`${'a'.repeat(159)}€`, null)).toBe('a'.repeat(159));
  });

  it('has at most 70 UTF-16 units with any other character, and no half of one', () => {
    expect(smsOf(`ş${'a'.repeat(200)}`, null)).toHaveLength(70);
    expect(smsOf('إنذار '.repeat(30), null)).toHaveLength(70);
    expect(smsOf('🚦'.repeat(40), null)).toBe('🚦'.repeat(35));
    expect(smsOf(`a${'🚦'.repeat(40)}`, null)).toBe(`a${'🚦'.repeat(34)}`);
  });

  it('ends with the link, if that leaves half of it', () => {
    const sms = smsOf('a'.repeat(200), LINK);
    expect(sms).toHaveLength(160);
    expect(sms.endsWith(`a\n${LINK}`)).toBe(true);
    expect(smsOf(`ş${'a'.repeat(200)}`, LINK)).not.toContain('https');
  });
});

it('announces within a transaction: what is rolled back is not sent', async () => {
  const channelId = await addHttp();
  const { context } = gantry.app;
  await expect(
    announceTo(gantry, [{ channelId }], {
      // It cannot be stored.
      alarms: [alarm({ ruleName: 'a\u0000b' })],
      policyName: 'x\u0000',
    }),
  ).rejects.toThrow();
  expect(await gantry.count('notices')).toBe(0);
  expect(context.readiness.isDraining).toBe(false);
});
