import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { addContact, alarm, announceTo, settledNotices } from './notices.ts';
import { answer, startReceiver } from './webhook-receiver.ts';

const receiver = await startReceiver();
const mail = await startMailServer();
const gantry = await sharedGantry({
  config: {
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    SMTP_URL: mail.url,
    SMTP_FROM: 'Gantry <gantry@example.org>',
    PUBLIC_URL: 'https://gantry.example.org',
  },
  overrides: { timings: { sweepNoticesMs: 50 } },
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
const refused = (procedure: string, input: unknown) => gantry.refusal(procedure, input, { token });
const add = async (fields: object): Promise<string> =>
  (await ok('channels.create', { name: 'Control room', ...fields })).id;
const origin = `http://${receiver.host}`;

describe('a channel', () => {
  it('is created, changed, listed and deleted, and each is recorded', async () => {
    const http = { kind: 'HTTP', url: `${receiver.url}?key={{url secret}}`, secret: 'a&b' };
    const id = await add(http);
    const created = await ok('channels.getById', { id });
    expect(created).toEqual({
      ...{ id, name: 'Control room', kind: 'HTTP', url: `${receiver.url}?key={{url secret}}` },
      ...{ method: null, headers: {}, body: null, to: [], hasSecret: true, plates: 'HIDE', language: 'en' },
      ...{ enabled: true, failingSince: null, lastError: null },
      createdBy: { id: adminId, name: expect.any(String) },
      ...{ createdAt: expect.any(String), updatedAt: created.createdAt },
    });
    const changed = await ok('channels.update', { id, name: 'Desk', plates: 'SHOW', method: 'PUT' });
    expect(changed).toMatchObject({ name: 'Desk', plates: 'SHOW', method: 'PUT', hasSecret: true });
    expect(Date.parse(changed.updatedAt)).toBeGreaterThan(Date.parse(created.updatedAt));
    expect((await ok('channels.getAll')).channels).toEqual([changed]);
    expect(await ok('channels.delete', { id })).toEqual({ success: true, id });
    expect((await refused('channels.getById', { id })).status).toBe(404);
    const { activities } = await ok('users.getActivity', { userId: adminId });
    expect(activities.slice(0, 3).map(({ action }: { action: string }) => action)).toEqual([
      'channels.delete',
      'channels.update',
      'channels.create',
    ]);
    expect(JSON.stringify(activities)).not.toContain('a&b');
  });

  it('keeps its secret encrypted, and of Slack and Teams the whole address', async () => {
    const id = await add({ kind: 'SLACK', url: `${origin}/services/T0/B0/hushhush` });
    await add({ kind: 'HTTP', url: receiver.url, secret: 'open-sesame', headers: { 'X-Key': '{{secret}}' } });
    const { rows } = await gantry.pool.query('SELECT settings::text || secret AS stored FROM channels');
    expect(rows).toHaveLength(2);
    for (const { stored } of rows) expect(stored).not.toMatch(/hushhush|open-sesame/);
    expect(await ok('channels.getById', { id })).toMatchObject({ url: origin, hasSecret: true });
    // A change of something else keeps it.
    await ok('channels.update', { id, name: 'Renamed' });
    await ok('channels.test', { id });
    await settledNotices(gantry, token);
    expect(receiver.received[0]?.path).toBe('/services/T0/B0/hushhush');
  });

  it('is one of 20 at most', async () => {
    await gantry.pool.query(`INSERT INTO channels (name, kind, settings, plates, language, enabled, created_by)
      SELECT 'n' || n, 'SMTP', '{}', 'HIDE', 'en', true, gen_random_uuid() FROM generate_series(1, 20) n`);
    expect(await refused('channels.create', { name: 'x', kind: 'SMTP' })).toMatchObject({
      status: 400,
      message: 'There are 20 channels already: delete one first',
    });
  });

  it.each([
    [{ kind: 'SMTP', url: 'https://example.org' }, 'url', 'A channel of kind SMTP has no url: it has to'],
    [{ kind: 'SLACK' }, 'url', 'Name the address of the receiver'],
    [{ kind: 'SLACK', url: receiver.url, to: ['x'] }, 'to', /has no to: it has url/],
    [{ kind: 'HTTP', url: 'http://10.0.0.1/' }, 'url', /not on the public internet/],
    [{ kind: 'HTTP', url: 'ftp://example.org/' }, 'url', /http or https/],
    [{ kind: 'HTTP', url: `http://{{url secret}}.example.org/` }, 'url', /host of the address cannot depend/],
    [{ kind: 'HTTP', url: `${receiver.url}?{{json text}}` }, 'url', /Write \{\{url name\}\}/],
    [
      { kind: 'HTTP', url: `${receiver.url}?{{url word}}` },
      'url',
      /There is no \{\{url word\}\}: use one of subject/,
    ],
    [{ kind: 'HTTP', url: receiver.url, body: '{"x":"{{json text}}"}' }, 'body', /without quotes around it/],
    [{ kind: 'HTTP', url: receiver.url, body: '{{text}}' }, 'body', /After \{\{ comes a form and a name/],
    [{ kind: 'HTTP', url: receiver.url, body: '{{json constructor}}' }, 'body', /There is no/],
    [{ kind: 'HTTP', url: receiver.url, method: 'GET', body: '{}' }, 'body', /GET request has no body/],
    [
      { kind: 'HTTP', url: receiver.url, headers: { 'X-A': '{{json text}}' } },
      'headers.X-A',
      /\{\{secret\}\} and nothing else/,
    ],
    [
      { kind: 'HTTP', url: receiver.url, headers: { 'X-A': 'a\r\nX-B: c' } },
      'headers',
      /characters that a header cannot have/,
    ],
    [{ kind: 'HTTP', url: receiver.url, headers: { Host: 'other' } }, 'headers', /is set by the service/],
    [{ kind: 'HTTP', url: receiver.url, headers: { 'X-A': '{{secret}}' } }, 'secret', /uses the secret/],
    [
      { kind: 'HTTP', url: receiver.url, headers: { 'X-A': 'Bearer {{secret}}' }, secret: 'key\n' },
      'secret',
      /has a line break or another character that a header cannot have/,
    ],
    [{ kind: 'TELEGRAM', to: ['1'] }, 'secret', /token of the bot/],
    [{ kind: 'TELEGRAM', secret: `1:${'a'.repeat(30)}/x`, to: ['1'] }, 'secret', /token of the bot/],
    [{ kind: 'SMS', url: receiver.url, to: ['+905320000000', '0532'] }, 'to.1', /country code/],
    [{ kind: 'SMTP', to: ['a@b\r\nBcc: c@d.example'] }, 'to.0', 'Use an e-mail address'],
  ])('is refused with what would be right: %j', async (fields, path, message) => {
    const refusal = await refused('channels.create', { name: 'x', ...fields });
    expect(refusal).toMatchObject({
      status: 400,
      data: {
        issues: [{ path, message: typeof message === 'string' ? message : expect.stringMatching(message) }],
      },
    });
  });

  it('is checked as a whole when it is changed', async () => {
    const id = await add({ kind: 'HTTP', url: receiver.url });
    expect((await refused('channels.update', { id, method: 'GET', body: '{}' })).status).toBe(400);
    expect((await refused('channels.update', { id, headers: { 'X-K': '{{secret}}' } })).status).toBe(400);
    await ok('channels.update', { id, headers: { 'X-K': '{{secret}}' }, secret: 'k' });
    expect((await refused('channels.update', { id: 'x', enabled: true })).status).toBe(404);
  });
});

describe('a message reaches', () => {
  const send = async (fields: object, alarms = [alarm()]) => {
    const channelId = await add(fields);
    const { recipients, dropped } = await announceTo(gantry, [{ channelId }], { alarms });
    expect([recipients, dropped]).toEqual([1, []]);
    const [notice] = await settledNotices(gantry, token);
    expect(notice).toMatchObject({ status: 'SENT', attempts: 1, lastError: null });
    return receiver.received[0];
  };

  it('Slack, with its markup escaped', async () => {
    const alarms = [alarm({ ruleName: '<!channel> & <https://evil.example|here>' })];
    const got = await send({ kind: 'SLACK', url: `${origin}/services/x` }, alarms);
    expect(got).toMatchObject({ method: 'POST', path: '/services/x' });
    expect(got?.headers['content-type']).toBe('application/json');
    const { text, ...more } = JSON.parse(got?.body ?? '');
    expect(more).toEqual({});
    expect(text).toContain(
      '*[HIGH] &lt;!channel&gt; &amp; &lt;https://evil.example|here&gt; · A9 km 12 · 36 km/h*',
    );
    expect(text).toContain('The mean speed is below 40 km/h');
  });

  it('Teams, as an adaptive card without markup', async () => {
    const got = await send({ kind: 'TEAMS', url: `${origin}/workflows/x?sig=1` }, [
      alarm({ text: '[x](https://evil.example)' }),
    ]);
    expect(got?.path).toBe('/workflows/x?sig=1');
    const { type, attachments } = JSON.parse(got?.body ?? '');
    expect([type, attachments[0].contentType]).toEqual([
      'message',
      'application/vnd.microsoft.card.adaptive',
    ]);
    const { body, actions } = attachments[0].content;
    // Only text blocks are read as Markdown.
    expect(new Set(body.map((block: { type: string }) => block.type))).toEqual(new Set(['RichTextBlock']));
    expect(JSON.stringify(body)).toContain('[x](https://evil.example)');
    expect(actions).toEqual([
      { type: 'Action.OpenUrl', title: 'Gantry', url: 'https://gantry.example.org/alarms' },
    ]);
  });

  it('Telegram, by the token of a bot and the id of a chat', async () => {
    const secret = `123456:${'Ab-_'.repeat(8)}`;
    const alarms = [
      alarm({ text: 'x'.repeat(1_000) }),
      ...Array.from({ length: 9 }, () => alarm({ text: 'y'.repeat(1_000) })),
    ];
    const got = await send({ kind: 'TELEGRAM', url: origin, secret, to: ['-100123'] }, alarms);
    expect(got?.path).toBe(`/bot${secret}/sendMessage`);
    const body = JSON.parse(got?.body ?? '');
    expect(body).toEqual({
      chat_id: '-100123',
      text: expect.stringContaining('[HIGH] Traffic: 10 alarms'),
      link_preview_options: { is_disabled: true },
    });
    expect(body.text.length).toBeLessThanOrEqual(4_096);
  });

  it('an SMS gateway, as one SMS to each number', async () => {
    const got = await send({
      ...{ kind: 'SMS', url: `${receiver.url}?to={{url recipient}}`, to: ['00 90 (532) 000-00-00'] },
      ...{
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'text={{url text}}&key={{url secret}}',
      },
      secret: 'p&q',
    });
    expect(got?.path).toBe('/hook?to=%2B905320000000');
    expect(got?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    // The dot between the parts is not in GSM 03.38: 70 characters.
    expect(new URLSearchParams(got?.body).get('key')).toBe('p&q');
    expect(new URLSearchParams(got?.body).get('text')).toBe('[HIGH] Slow traffic · A9 km 12 · 36 km/h');
  });

  it('any other receiver, by a template in which every value is escaped', async () => {
    const nasty = 'a"},"x":{"b\\\n\u2028{{json secret}}';
    const got = await send(
      {
        ...{ kind: 'HTTP', url: `${receiver.url}/{{url severity}}`, method: 'PUT', secret: 's"1' },
        ...{
          headers: { Authorization: 'Bearer {{secret}}' },
          body: '{"s":{{json subject}},"t":{{json text}},"n":{{json total}}}',
        },
      },
      [alarm({ text: nasty })],
    );
    expect(got).toMatchObject({ method: 'PUT', path: '/hook/HIGH' });
    expect(got?.headers).toMatchObject({
      authorization: 'Bearer s"1',
      'x-gantry-notice': expect.any(String),
    });
    const body = JSON.parse(got?.body ?? '');
    expect(Object.keys(body)).toEqual(['s', 't', 'n']);
    expect(body.n).toBe(1);
    expect(body.t).toContain(nasty);
  });

  it('a mailbox, with a stable Message-ID and the thread of the group', async () => {
    const groupId = '0a0a0a0a-0000-4000-8000-000000000001';
    const channelId = await add({
      kind: 'SMTP',
      to: ['desk@example.org', 'desk@example.org', 'boss@example.org'],
    });
    const { recipients } = await announceTo(gantry, [{ channelId }], { groupId });
    expect(recipients).toBe(2);
    const notices = await settledNotices(gantry, token);
    expect(notices.map(({ status }) => status)).toEqual(['SENT', 'SENT']);
    const desk = mail.messages.find(({ to }) => to[0] === 'desk@example.org');
    const { id } = notices.find(({ recipient }) => recipient === 'desk@example.org') ?? {};
    expect(desk?.headers.get('message-id')).toBe(`<notice-${id}@example.org>`);
    expect(desk?.headers.get('references')).toBe(`<group-${groupId}@example.org>`);
    expect(desk?.headers.get('auto-submitted')).toBe('auto-generated');
    expect(desk?.part('text/plain').toString()).toContain('HIGH · Slow traffic · A9 km 12 · 36 km/h');
    expect(desk?.part('text/html').toString()).toContain('https://gantry.example.org/alarms');
  });
});

describe('a test of a channel', () => {
  it('goes the way of all messages, to its recipients or to one', async () => {
    const id = await add({ kind: 'SMTP', to: ['desk@example.org'], language: 'tr' });
    const { noticeIds } = await ok('channels.test', { id });
    const [notice] = await settledNotices(gantry, token);
    expect([notice?.id, notice?.kind, notice?.status]).toEqual([noticeIds[0], 'TEST', 'SENT']);
    expect(mail.messages[0]?.part('text/plain').toString()).toContain('Control room kanalının denemesidir');
    await ok('channels.test', { id, to: 'other@example.org' });
    await settledNotices(
      gantry,
      token,
      (all) => all.length === 2 && all.every(({ status }) => status === 'SENT'),
    );
    expect(mail.messages.map(({ to }) => to[0])).toEqual(['desk@example.org', 'other@example.org']);
  });

  it('is refused while it would reach nobody', async () => {
    const id = await add({ kind: 'SMTP' });
    expect(await refused('channels.test', { id })).toMatchObject({
      status: 400,
      message: /no recipient of its own/,
    });
    expect(await refused('channels.test', { id, to: 'desk' })).toMatchObject({ status: 400 });
    await ok('channels.update', { id, enabled: false });
    expect(await refused('channels.test', { id, to: 'a@example.org' })).toMatchObject({
      message: /disabled/,
    });
    const other = await add({ kind: 'HTTP', url: receiver.url });
    expect(await refused('channels.test', { id: other, to: 'a@example.org' })).toMatchObject({
      message: 'A channel of this kind has no recipients: omit `to`',
    });
  });
});

describe('a step of a group of alarms', () => {
  const groupId = '0a0a0a0a-0000-4000-8000-000000000002';

  it('is sent once to each recipient, and a repeated message once for each time', async () => {
    const channelId = await add({ kind: 'HTTP', url: receiver.url });
    await addContact(gantry, adminId);
    await add({ kind: 'SMTP' });
    const to = [{ userId: adminId }, { channelId }, { userId: adminId.toUpperCase() }];
    for (const kind of ['FIRST', 'ESCALATED', 'FIRST'] as const)
      expect((await announceTo(gantry, to, { groupId, kind })).recipients).toBe(2);
    await settledNotices(gantry, token, (all) => all.length === 2);
    const dueAt = new Date();
    await announceTo(gantry, to, { groupId, kind: 'REPEAT', dueAt });
    await announceTo(gantry, to, { groupId, kind: 'REPEAT', dueAt });
    await announceTo(gantry, to, { groupId, kind: 'REPEAT', dueAt: new Date(dueAt.getTime() + 1) });
    await announceTo(gantry, to, { groupId, step: 1, kind: 'ESCALATED' });
    const kinds = (await settledNotices(gantry, token)).map(({ kind }) => kind).sort();
    expect(kinds).toEqual([
      'ESCALATED',
      'ESCALATED',
      'FIRST',
      'FIRST',
      'REPEAT',
      'REPEAT',
      'REPEAT',
      'REPEAT',
    ]);
  });

  it('says which targets reach nobody, and why', async () => {
    const off = await add({ kind: 'HTTP', url: receiver.url, enabled: false });
    const empty = await add({ kind: 'SMTP' });
    const { id: lonely } = await ok('users.create', {
      ...{
        email: 'lonely@gantry.local',
        password: 'Correct-horse-1',
        firstName: 'L',
        lastName: 'T',
        role: 'FIELD',
      },
    });
    await addContact(gantry, adminId, { kind: 'SMS', address: '+905320000000' });
    const unknown = '0a0a0a0a-0000-4000-8000-00000000000f';
    const to = [
      ...[{ channelId: off }, { channelId: empty }, { channelId: unknown }, { channelId: 'x' }],
      ...[{ userId: lonely }, { userId: unknown }, { userId: adminId }, { rotaId: unknown }],
    ];
    const { recipients, dropped } = await announceTo(gantry, to);
    expect(recipients).toBe(0);
    const reasons = [
      'DISABLED',
      'NO_RECIPIENT',
      'UNKNOWN',
      'UNKNOWN',
      'NO_CONTACT',
      'UNKNOWN',
      'NO_CHANNEL',
      'UNKNOWN',
    ];
    expect(dropped).toEqual(to.map((target, n) => ({ target, reason: reasons[n] })));
  });

  it('is not sent in quiet hours, unless it is CRITICAL', async () => {
    await add({ kind: 'SMTP' });
    await gantry.pool.query(`UPDATE settings SET timezone = 'UTC'`);
    const minutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString().slice(11, 16);
    await addContact(gantry, adminId, { quiet: { from: minutes(-60), until: minutes(60) } });
    const target = { userId: adminId };
    expect(await announceTo(gantry, [target])).toEqual({
      recipients: 0,
      dropped: [{ target, reason: 'QUIET' }],
    });
    expect((await announceTo(gantry, [target], { severity: 'CRITICAL' })).recipients).toBe(1);
    await gantry.pool.query('UPDATE contacts SET quiet = $1', [{ from: minutes(60), until: minutes(-60) }]);
    expect((await announceTo(gantry, [target])).recipients).toBe(1);
  });

  it('is sent to at most 30 messages an hour for each recipient, 60 if CRITICAL, and the rest is counted', async () => {
    const channelId = await add({ kind: 'SMTP', to: ['desk@example.org', 'boss@example.org'] });
    const to = [{ channelId }];
    for (let n = 0; n < 30; n++) expect((await announceTo(gantry, to)).recipients).toBe(2);
    for (let n = 0; n < 3; n++)
      expect((await announceTo(gantry, to)).dropped.map(({ reason }) => reason)).toEqual([
        'OVER_LIMIT',
        'OVER_LIMIT',
      ]);
    for (let n = 0; n < 30; n++)
      expect((await announceTo(gantry, to, { severity: 'CRITICAL' })).recipients).toBe(2);
    expect((await announceTo(gantry, to, { severity: 'CRITICAL' })).recipients).toBe(0);
    const bodies = await gantry.pool.query(
      `SELECT body FROM notices WHERE recipient = 'desk@example.org' AND severity = 'CRITICAL' ORDER BY created_at LIMIT 2`,
    );
    expect(bodies.rows[0].body).toContain('3 messages to you were withheld: at most 30 are sent in an hour.');
    expect(bodies.rows[1].body).not.toContain('withheld');
    // An hour later.
    await gantry.pool.query(`UPDATE notices SET created_at = created_at - interval '61 minutes'`);
    expect((await announceTo(gantry, to)).recipients).toBe(2);
    const last = await gantry.pool.query(`SELECT body FROM notices ORDER BY created_at DESC LIMIT 1`);
    expect(last.rows[0].body).toContain('1 message to you was withheld');
  });
});
