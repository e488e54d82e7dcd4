import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { appRouter } from '../src/api/router.ts';
import { createServer } from '../src/http/server.ts';
import type { AcknowledgeGroup, LinkedRecipient } from '../src/notices/acknowledge.ts';
import { eventually, sharedGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { addContact, alarm, announceTo } from './notices.ts';

// The links by which recipients of messages acknowledge alarms.

const mail = await startMailServer();
const gantry = await sharedGantry({
  config: { SMTP_URL: mail.url, SMTP_FROM: 'gantry@example.org', PUBLIC_URL: 'https://gantry.example.org' },
  overrides: { timings: { sweepNoticesMs: 50 } },
});
const token = await gantry.tokenFor('ADMIN');
await gantry.tokenFor('FIELD');
const { users } = await gantry.ok('users.getAll', {}, { token });
const idOf = (role: string): string => users.find((user: { role: string }) => user.role === role).id;
await gantry.ok('channels.create', { name: 'Mail', kind: 'SMTP', to: ['desk@example.org'] }, { token });

/** What was acknowledged, by a server with a function in place of that of alarms. */
const acknowledged: (LinkedRecipient & { address: string })[] = [];
let answerWith: AcknowledgeGroup = async () => true;
const server = await createServer(gantry.app.context, appRouter, {
  acknowledgeGroup(tx, by) {
    acknowledged.push(by);
    return answerWith(tx, by);
  },
});
const url = await server.listen({ host: '127.0.0.1', port: 0 });
afterEach(async () => {
  await gantry.pool.query('DELETE FROM notices; DELETE FROM contacts');
  acknowledged.length = 0;
  answerWith = async () => true;
  mail.messages.length = 0;
});
afterAll(async () => {
  await server.close();
  await mail[Symbol.asyncDispose]();
});

const visit = async (path: string, method = 'GET') => {
  const response = await fetch(`${url}${path}`, { method });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
/** Announces alarms to a user, and returns the path of the link that arrives. */
const linkFor = async (userId: string, fields: object = {}, language = 'en'): Promise<string> => {
  await gantry.pool.query('DELETE FROM contacts');
  await addContact(gantry, userId, { language });
  const before = mail.messages.length;
  await announceTo(gantry, [{ userId }], fields);
  await eventually(
    async () => mail.messages.length,
    (count) => count > before,
  );
  const text = mail.messages.at(-1)?.part('text/plain').toString() ?? '';
  return /https:\/\/gantry\.example\.org(\/ack\/\S+)/.exec(text)?.[1] ?? '';
};
const groupId = '0a0a0a0a-0000-4000-8000-000000000004';

describe('the link of a message', () => {
  it('shows the message and a button, and changes nothing however often it is fetched', async () => {
    const path = await linkFor(idOf('FIELD'), { alarms: [alarm({ ruleName: '<b>Slow</b>' })] });
    expect(path).toMatch(/^\/ack\/[\w-]{22}$/);
    for (let n = 0; n < 100; n++) {
      const { status } = await visit(path, n % 2 === 0 ? 'GET' : 'HEAD');
      expect(status).toBe(200);
    }
    expect(acknowledged).toEqual([]);
    const { rows } = await gantry.pool.query('SELECT acknowledged_at FROM notices');
    expect(rows).toEqual([{ acknowledged_at: null }]);
    const { text, headers } = await visit(path);
    expect(text).toContain('[HIGH] &lt;b&gt;Slow&lt;/b&gt;');
    expect(text).toContain('as FIELD Tester.');
    expect(text).toContain('<form method="post"><button>Acknowledge</button></form>');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('acknowledges once, as its recipient, and records the address', async () => {
    const path = await linkFor(idOf('FIELD'), { groupId });
    expect(await visit(path, 'POST')).toMatchObject({
      status: 200,
      text: expect.stringContaining('The alarms are acknowledged.'),
    });
    const recipient = { userId: idOf('FIELD'), name: 'FIELD Tester' };
    expect(acknowledged).toEqual([
      { noticeId: expect.any(String), groupId, recipient, address: '127.0.0.1' },
    ]);
    expect(await visit(path, 'POST')).toMatchObject({
      status: 409,
      text: expect.stringContaining('used already'),
    });
    expect((await visit(path)).text).not.toContain('<form');
    expect(acknowledged).toHaveLength(1);
    const { rows } = await gantry.pool.query('SELECT acknowledged_from FROM notices');
    expect(rows).toEqual([{ acknowledged_from: '127.0.0.1' }]);
    const { notices } = await gantry.ok('notices.getAll', {}, { token });
    expect(notices[0].acknowledgedAt).toEqual(expect.any(String));
    expect(JSON.stringify(notices)).not.toContain(path.slice('/ack/'.length));
  });

  it('acknowledges once when it is used at the same time', async () => {
    const path = await linkFor(idOf('FIELD'));
    const answers = await Promise.all(Array.from({ length: 8 }, () => visit(path, 'POST')));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 409),
    ]);
    expect(acknowledged).toHaveLength(1);
  });

  it('is not used up when the alarms cannot be acknowledged now', async () => {
    const path = await linkFor(idOf('FIELD'));
    answerWith = () => Promise.reject(new Error('away'));
    expect((await visit(path, 'POST')).status).toBe(500);
    answerWith = async () => false;
    expect(await visit(path, 'POST')).toMatchObject({
      status: 409,
      text: expect.stringContaining('are closed'),
    });
  });

  it.each([
    ['a wrong one', async (path: string) => `${path.slice(0, -2)}${path.endsWith('AA') ? 'BB' : 'AA'}`],
    ['a shortened one', async (path: string) => path.slice(0, -1)],
    ['none', async () => '/ack/'],
    ['one with odd characters', async () => "/ack/%00'%22%ff"],
    [
      'one after 24 hours',
      async (path: string) => {
        await gantry.pool.query(`UPDATE notices SET created_at = created_at - interval '24 hours'`);
        return path;
      },
    ],
    [
      'that of a user who is not active any more',
      async (path: string) => {
        await gantry.pool.query(`UPDATE users SET is_active = false WHERE role = 'FIELD'`);
        return path;
      },
    ],
  ])('shows and does nothing: %s', async (_, spoil) => {
    const path = await spoil(await linkFor(idOf('FIELD')));
    for (const method of ['GET', 'POST']) {
      const { status, text } = await visit(path, method);
      expect([400, 404]).toContain(status);
      expect(text).not.toContain('Slow traffic');
    }
    expect(acknowledged).toEqual([]);
    await gantry.pool.query('UPDATE users SET is_active = true');
  });

  it('needs the permission of its recipient when it is used', async () => {
    const path = await linkFor(idOf('FIELD'));
    await gantry.pool.query(`UPDATE users SET role = 'VIEWER' WHERE role = 'FIELD'`);
    expect((await visit(path)).status).toBe(403);
    expect((await visit(path, 'POST')).status).toBe(403);
    expect(acknowledged).toEqual([]);
    expect(
      await linkFor((await gantry.pool.query(`SELECT id FROM users WHERE role = 'VIEWER'`)).rows[0].id),
    ).toBe('');
    await gantry.pool.query(`UPDATE users SET role = 'FIELD' WHERE role = 'VIEWER'`);
  });

  it('is not in messages about cleared alarms, nor to a channel itself', async () => {
    expect(await linkFor(idOf('FIELD'), { kind: 'CLEARED' })).toBe('');
    const { channels } = await gantry.ok('channels.getAll', undefined, { token });
    await announceTo(gantry, [{ channelId: channels[0].id }]);
    await eventually(
      async () => mail.messages.length,
      (count) => count === 2,
    );
    expect(mail.messages.at(-1)?.raw).not.toContain('/ack/');
  });

  it.each([
    ['tr', 'ltr', 'FIELD Tester adına onaylanır'],
    ['ar', 'rtl', 'باسم FIELD Tester'],
  ])('is in the language of its recipient: %s', async (language, direction, text) => {
    const path = await linkFor(idOf('FIELD'), {}, language);
    const shown = await visit(path);
    expect(shown.text).toContain(`<html lang="${language}" dir="${direction}">`);
    expect(shown.text).toContain(text);
  });
});
