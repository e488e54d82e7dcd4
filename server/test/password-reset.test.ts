import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';

const mail = await startMailServer();
afterAll(() => mail[Symbol.asyncDispose]());
const gantry = await sharedGantry({
  config: {
    SMTP_URL: mail.url,
    SMTP_FROM: 'Gantry <gantry@example.org>',
    PUBLIC_URL: 'https://gantry.example.org',
    WEB_ORIGIN: 'https://another.example.org',
  },
  // Longer than a test may wait for an answer.
  overrides: { timings: { mailMs: 600_000 } },
});
const admin = await gantry.tokenFor('ADMIN');
const NEW = 'Another-Horse-9';

let count = 0;
const addUser = async () => {
  const email = `reset-${++count}@example.org`;
  const password = 'Correct-Horse-7';
  const fields = { email, password, firstName: 'Ada', lastName: 'L', role: 'OPERATOR' };
  const { id } = await gantry.ok('users.create', fields, { token: admin });
  return { id, email, password };
};
const ask = (email: string, more: object = {}, headers?: Record<string, string>) =>
  gantry.call('auth.requestPasswordReset', { email, ...more }, headers && { headers });
const LINK = /https:\/\/[^\s/]+\/sign-in#reset=([\w-]{22})\s/;
/** The token in the next message to the address. */
const tokenTo = async (email: string): Promise<string> => {
  const text = await eventually(
    async () =>
      mail.messages
        .find(({ to }) => to.includes(email))
        ?.part('text/plain')
        .toString() ?? '',
    (found) => found !== '',
  );
  return LINK.exec(text)?.[1] ?? '';
};
const reset = (token: string, newPassword = NEW, more: object = {}) =>
  gantry.call('auth.resetPassword', { token, newPassword, ...more });
const login = async (email: string, password: string) =>
  (await gantry.call('auth.login', { email, password })).status;

beforeEach(async () => {
  mail.messages.length = 0;
  await gantry.pool.query('DELETE FROM failed_logins');
});

describe('a new password by e-mail', () => {
  it('is set by a link, once, and ends the sessions of the user', async () => {
    const { id, email, password } = await addUser();
    const { token: session } = await gantry.ok('auth.login', { email, password });
    expect(await gantry.ok('auth.getLoginMethods')).toMatchObject({ passwordReset: true });
    expect((await ask(email.toUpperCase(), { language: 'tr' })).body.result.data.json).toEqual({
      success: true,
    });
    const token = await tokenTo(email);
    expect(token).toHaveLength(22);
    const { rows } = await gantry.pool.query('SELECT * FROM password_resets');
    expect(JSON.stringify(rows)).not.toContain(token);
    // As long as the message says.
    expect(await gantry.count(`password_resets WHERE expires_at > now() + interval '1 hour'`)).toBe(0);
    expect(await gantry.count(`password_resets WHERE expires_at > now() + interval '30 minutes'`)).toBe(1);
    const set = await reset(token);
    expect(set.body.result.data.json).toEqual({ success: true, remainingApiTokens: 0 });
    expect((await gantry.call('auth.me', undefined, { token: session })).status).toBe(401);
    expect([await login(email, password), await login(email, NEW)]).toEqual([401, 200]);
    const again = await reset(token, 'Third-Horse-10');
    expect(again.status).toBe(400);
    expect(again.body.error.json.message).toContain('This link is not valid any more');
    const { activities } = await gantry.ok('users.getActivityLog', { userId: id }, { token: admin });
    expect(activities.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['auth.passwordResetRequested', 'auth.passwordReset']),
    );
  });

  it('sends nothing to unknown, deactivated and external users, with the same answer', async () => {
    const inactive = await addUser();
    await gantry.ok('users.update', { id: inactive.id, isActive: false }, { token: admin });
    const external = await addUser();
    await gantry.pool.query(
      `INSERT INTO external_identities (issuer, subject, user_id) VALUES ('https://login', 'x', $1)`,
      [external.id],
    );
    const known = await addUser();
    const answers = [];
    for (const email of ['nobody@example.org', inactive.email, external.email, known.email])
      answers.push(await ask(email));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    await tokenTo(known.email);
    expect(mail.messages.map(({ to }) => to[0])).toEqual([known.email]);
  });

  it('is at PUBLIC_URL and not at WEB_ORIGIN, whatever the Host of the request', async () => {
    const { email } = await addUser();
    await ask(email, {}, { 'x-forwarded-host': 'evil.example.org', origin: 'https://evil.example.org' });
    await tokenTo(email);
    expect(mail.messages[0]?.part('text/plain').toString()).toMatch(
      /^https:\/\/gantry\.example\.org\/sign-in#/m,
    );
    expect(mail.messages[0]?.raw).not.toMatch(/evil|another/);
  });

  it.each([
    ['an hour passed', "UPDATE password_resets SET expires_at = now() - interval '1 second'"],
    ['the sessions of the user ended', 'UPDATE users SET session_epoch = session_epoch + 1 WHERE id = $1'],
    ['the user was deactivated', 'UPDATE users SET is_active = false WHERE id = $1'],
    ['the user was deleted', 'DELETE FROM users WHERE id = $1'],
  ])('is refused when %s', async (_what, statement) => {
    const { id, email } = await addUser();
    await ask(email);
    const token = await tokenTo(email);
    await gantry.pool.query(statement, statement.includes('$1') ? [id] : []);
    expect((await reset(token)).status).toBe(400);
    expect(await login(email, NEW)).toBe(401);
  });

  it('is refused with an earlier link, a common password, and anything else, which leaves the link valid', async () => {
    const { email } = await addUser();
    await ask(email);
    const earlier = await tokenTo(email);
    mail.messages.length = 0;
    await ask(email);
    const token = await tokenTo(email);
    expect(token).not.toBe(earlier);
    for (const [given, password] of [
      [earlier, NEW],
      ['', NEW],
      ['x'.repeat(200), NEW],
      [token, 'Password1'],
      [token, 'short'],
    ] as const)
      expect([given, (await reset(given, password)).status]).toEqual([given, 400]);
    expect((await reset(token)).status).toBe(200);
  });

  it('is set by one of several calls at once', async () => {
    const { email } = await addUser();
    await ask(email);
    const token = await tokenTo(email);
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async (_, n) => (await reset(token, `${NEW}-${n}`)).status),
    );
    expect(statuses.sort()).toEqual([200, 400, 400, 400]);
  });

  it('is offered five times an hour for an address, known or not', async () => {
    const { email } = await addUser();
    for (const address of [email, 'unknown-one@example.org']) {
      const statuses = [];
      for (let n = 0; n < 6; n++) statuses.push((await ask(address)).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    }
  });

  it('is offered thirty times an hour to one address of the network, for whichever users', async () => {
    const statuses = [];
    for (let n = 0; n < 31; n++) statuses.push((await ask(`somebody-${n}@example.org`)).status);
    expect(statuses).toEqual([...Array(30).fill(200), 429]);
  });

  it('is answered before anything is sent, as for an unknown user', async () => {
    const { email } = await addUser();
    let release = (): void => undefined;
    mail.hold(new Promise<void>((resolve) => (release = resolve)));
    expect((await ask(email)).status).toBe(200);
    expect(mail.messages).toEqual([]);
    release();
    await tokenTo(email);
  });

  it('is refused for what is no e-mail address', async () => {
    for (const email of ['x', 'a@example.org\r\nBcc: b@example.org', 'a@example.org, b@example.org'])
      expect((await ask(email)).status).toBe(400);
    const { email } = await addUser();
    await ask(email);
    await tokenTo(email);
    expect(mail.messages.filter(({ to }) => to.some((address) => /^[ab]@/.test(address)))).toEqual([]);
  });
});

describe('without a mail server or PUBLIC_URL', () => {
  it('there is no reset of passwords', async () => {
    const { startGantry } = await import('./harness.ts');
    await using other = await startGantry({
      config: {
        SMTP_URL: mail.url,
        SMTP_FROM: 'gantry@example.org',
        WEB_ORIGIN: 'https://gantry.example.org',
      },
    });
    expect(await other.ok('auth.getLoginMethods')).toMatchObject({ passwordReset: false });
    const { status } = await other.call('auth.requestPasswordReset', { email: 'admin@gantry.local' });
    expect(status).toBe(404);
  });
});
