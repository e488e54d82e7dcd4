import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { eventually, sharedGantry, WAITING_SESSIONS } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { announceTo } from './notices.ts';

const mail = await startMailServer();
const gantry = await sharedGantry({
  config: { SMTP_URL: mail.url, SMTP_FROM: 'gantry@example.org' },
  overrides: { timings: { sweepNoticesMs: 50, mailMs: 3_000 } },
});
const admin = await gantry.tokenFor('ADMIN');
const token = await gantry.tokenFor('VIEWER');
const { id: userId } = await gantry.ok('auth.me', undefined, { token });
const { id: channelId } = await gantry.ok(
  'channels.create',
  { name: 'Mail', kind: 'SMTP' },
  { token: admin },
);
afterEach(async () => {
  await gantry.pool.query('DELETE FROM contacts; DELETE FROM failed_logins; DELETE FROM notices');
  await gantry.ok('channels.update', { id: channelId, enabled: true }, { token: admin });
  mail.messages.length = 0;
});
afterAll(() => mail[Symbol.asyncDispose]());

const ok = (procedure: string, input?: unknown) => gantry.ok(procedure, input, { token });
const refused = (procedure: string, input?: unknown) => gantry.refusal(procedure, input, { token });
const codeOf = (n = 0): string =>
  /\d{6}/.exec(mail.messages[n]?.part('text/plain').toString() ?? '')?.[0] ?? '';
const another = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const EMAIL = { kind: 'EMAIL', address: 'viewer@example.org' };

describe('a contact', () => {
  it('is told of nothing until the code that was sent to it is given', async () => {
    const quiet = { from: '22:00', until: '06:00' };
    const contact = await ok('contacts.create', { ...EMAIL, language: 'tr', quiet });
    expect(contact).toEqual({
      ...{ id: expect.any(String), ...EMAIL, language: 'tr', quiet, verifiedAt: null },
      createdAt: expect.any(String),
    });
    expect(mail.messages[0]?.to).toEqual(['viewer@example.org']);
    expect(mail.messages[0]?.headers.get('subject')).toBe(`Kodunuz ${codeOf()}`);
    const target = { userId };
    const announced = await announceTo(gantry, [target], { severity: 'CRITICAL' });
    expect(announced.dropped).toEqual([{ target, reason: 'NO_CONTACT' }]);

    const { id } = contact;
    const wrong = await refused('contacts.verify', { id, code: another(codeOf()) });
    expect(wrong).toMatchObject({ status: 400, data: { issues: [{ path: 'code' }] } });
    const [a, b] = [codeOf().slice(0, 3), codeOf().slice(3)];
    const verified = await ok('contacts.verify', { id, code: ` ${a} ${b} ` });
    expect(verified).toEqual({ ...contact, verifiedAt: expect.any(String) });
    expect((await ok('contacts.getAll')).contacts).toEqual([verified]);
    expect((await announceTo(gantry, [target], { severity: 'CRITICAL' })).recipients).toBe(1);
    await eventually(
      async () => mail.messages.length,
      (count) => count === 2,
    );
    expect(mail.messages[1]?.headers.get('subject')).toMatch(/KR/);
    expect((await refused('contacts.verify', { id, code: codeOf() })).message).toContain('confirmed already');
    expect((await refused('contacts.sendCode', { id })).message).toContain('confirmed already');
  });

  it('stores no code, and each code is of one contact', async () => {
    const { id } = await ok('contacts.create', EMAIL);
    const { rows } = await gantry.pool.query('SELECT contacts::text AS stored FROM contacts');
    expect(rows[0].stored).not.toContain(codeOf());
    const second = await ok('contacts.create', { ...EMAIL, address: 'second@example.org' });
    expect((await refused('contacts.verify', { id: second.id, code: codeOf() })).status).toBe(400);
    await ok('contacts.verify', { id, code: codeOf() });
  });

  it('ends its code after 15 minutes, after 5 wrong ones, and with a new one', async () => {
    const { id } = await ok('contacts.create', EMAIL);
    const first = codeOf();
    for (let n = 0; n < 5; n++) await refused('contacts.verify', { id, code: another(first) });
    expect((await refused('contacts.verify', { id, code: first })).message).toContain('request a new one');
    await ok('contacts.sendCode', { id });
    if (codeOf(1) !== first) expect((await refused('contacts.verify', { id, code: first })).status).toBe(400);
    await gantry.pool.query(`UPDATE contacts SET code_at = code_at - interval '16 minutes'`);
    expect((await refused('contacts.verify', { id, code: codeOf(1) })).message).toContain(
      'request a new one',
    );
    await ok('contacts.sendCode', { id });
    await ok('contacts.verify', { id, code: codeOf(2) });
  });

  it('is tried by concurrent wrong codes five times in all', async () => {
    const { id } = await ok('contacts.create', EMAIL);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => refused('contacts.verify', { id, code: another(codeOf()) })),
    );
    expect(answers.filter(({ message }) => message.startsWith('The code is wrong'))).toHaveLength(5);
  });

  it('is sent 5 codes in an hour at most, also if it is deleted and added again', async () => {
    for (let n = 0; n < 5; n++) {
      const { id } = await ok('contacts.create', EMAIL);
      await ok('contacts.delete', { id });
    }
    expect(await refused('contacts.create', EMAIL)).toMatchObject({ status: 429 });
    expect(mail.messages).toHaveLength(5);
    // Another user may not send codes to that address either.
    const other = { token: await gantry.tokenFor('FIELD') };
    expect(await gantry.refusal('contacts.create', EMAIL, other)).toMatchObject({ status: 429 });
  });

  it('is of one user, who alone can see, change or delete it', async () => {
    const { id } = await ok('contacts.create', EMAIL);
    for (const procedure of ['contacts.update', 'contacts.delete', 'contacts.sendCode', 'contacts.verify']) {
      const input = { id, ...(procedure.endsWith('verify') && { code: '123456' }) };
      expect(await gantry.refusal(procedure, input, { token: admin })).toMatchObject({ status: 404 });
    }
    expect(await gantry.ok('contacts.getAll', undefined, { token: admin })).toEqual({ contacts: [] });
    const quiet = { from: '20:00', until: '07:30' };
    expect(await ok('contacts.update', { id, language: 'ar', quiet })).toMatchObject({
      language: 'ar',
      quiet,
    });
    expect(await ok('contacts.update', { id, quiet: null })).toMatchObject({ language: 'ar', quiet: null });
    expect(await ok('contacts.delete', { id })).toEqual({ success: true, id });
  });

  it.each([
    [{ kind: 'EMAIL', address: 'nobody' }, 'address', /e-mail address/],
    [{ kind: 'EMAIL', address: 'a@b.example\r\nBcc: c@d.example' }, 'address', /e-mail address/],
    [{ kind: 'SMS', address: '0532 000 00 00' }, 'address', /country code/],
    [{ kind: 'CHAT', address: '@name' }, 'address', /id of a chat/],
    [{ kind: 'SMS', address: '+90 532 000 00 00' }, 'kind', /No channel reaches contacts of the kind SMS/],
    [{ ...EMAIL, quiet: { from: '8', until: '09:00' } }, 'quiet.from', /time of day such as 22:00/],
    [{ ...EMAIL, quiet: { from: '08:00', until: '08:00' } }, 'quiet', /end at another time/],
  ])('is refused with what would be right: %j', async (input, path, message) => {
    expect(await refused('contacts.create', input)).toMatchObject({
      status: 400,
      data: { issues: [{ path, message: expect.stringMatching(message) }] },
    });
    expect(await gantry.count('contacts')).toBe(0);
  });

  it('is one of five of a user and 1,000 in all, each address once', async () => {
    await ok('contacts.create', EMAIL);
    expect((await refused('contacts.create', EMAIL)).message).toBe('You have this contact already');
    await gantry.pool.query(
      `INSERT INTO contacts (user_id, kind, address, language) SELECT $1, 'EMAIL', n || '@example.org', 'en' FROM generate_series(2, 5) n`,
      [userId],
    );
    const sixth = { ...EMAIL, address: 'sixth@example.org' };
    expect((await refused('contacts.create', sixth)).message).toContain('You have 5 contacts already');
    await gantry.pool.query(
      `INSERT INTO contacts (user_id, kind, address, language) SELECT $1, 'CHAT', n::text, 'en' FROM generate_series(1, 995) n`,
      [(await gantry.ok('auth.me', undefined, { token: admin })).id],
    );
    const field = { token: await gantry.tokenFor('FIELD') };
    expect((await gantry.refusal('contacts.create', sixth, field)).message).toContain(
      'There are 1000 contacts',
    );
  });

  it('stays unconfirmed when its code cannot be sent, and says why', async () => {
    mail.refuse('recipient', 550);
    const { message } = await refused('contacts.create', EMAIL);
    expect(message).toMatch(/The code could not be sent through Mail: .*550/);
    const [{ id }] = (await ok('contacts.getAll')).contacts;
    await ok('contacts.sendCode', { id });
    await ok('contacts.verify', { id, code: codeOf() });
  });

  const addUser = async (email: string) => {
    const fields = { email, password: 'Correct-horse-1', firstName: 'S', lastName: 'T' };
    const { id } = await gantry.ok('users.create', { ...fields, role: 'FIELD' }, { token: admin });
    return { id, own: { token: await gantry.login(email, fields.password) } };
  };

  it('ends with its user', async () => {
    const { id, own } = await addUser('short@gantry.local');
    await gantry.ok('contacts.create', EMAIL, own);
    await gantry.ok('users.delete', { id }, { token: admin });
    expect(await gantry.count('contacts')).toBe(0);
  });

  it('is not added while its user is deleted, without a deadlock', async () => {
    const { id, own } = await addUser('going@gantry.local');
    const view = { page: 'events', name: 'Mine', search: '' };
    const { id: viewId } = await gantry.ok('views.create', view, own);
    // The deletion has deleted the user, and not yet looked for contacts.
    const holder = await gantry.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM saved_views WHERE id = $1 FOR UPDATE', [viewId]);
    const deletion = gantry.call('users.delete', { id }, { token: admin });
    const waiting = () => gantry.count(WAITING_SESSIONS);
    await eventually(waiting, (n) => n === 1);
    const addition = gantry.call('contacts.create', EMAIL, own);
    await eventually(waiting, (n) => n === 2);
    await holder.query('COMMIT');
    holder.release();
    expect([(await deletion).status, (await addition).status]).toEqual([200, 409]);
  });
});
