import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAccounts } from '../src/operations/doctor/database.ts';
import { ADMIN, sharedGantry } from './harness.ts';
import { newChallenge, passProvider, startProvider } from './oidc-provider.ts';
import { sendRaw } from './raw-http.ts';

const NOT_COMPLETED = 'The login at the provider was not completed: try again';
const UNREACHABLE = 'The login provider cannot be reached: try again later, or log in with a password';

const provider = await startProvider();
const gantry = await sharedGantry({
  config: {
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: 'City login',
    ACCESSIBILITY_URL: 'mailto:access@example.org',
    OIDC_ROLES: 'traffic-admins=ADMIN, traffic=OPERATOR, watchers=VIEWER',
    // Users who log in at the provider are not asked for it.
    SECOND_FACTOR_FOR: 'OPERATOR, VIEWER',
    TRUSTED_PROXIES: '127.0.0.1',
  },
});
const admin = await gantry.tokenFor('ADMIN');
afterAll(async () => {
  await provider.close();
});

interface Returned {
  readonly page: URL;
  readonly code: string | null;
  readonly error: string | null;
}

/** Where the service sends a browser that visits the address. */
const visit = async (address: string): Promise<URL> => {
  const response = await fetch(address, { redirect: 'manual' });
  expect([response.status, response.headers.get('cache-control')]).toEqual([302, 'no-store']);
  return new URL(response.headers.get('location') ?? '');
};
const begin = (challenge: string): Promise<URL> => visit(`${gantry.url}/login/oidc?challenge=${challenge}`);
const comeBack = async (address: string): Promise<Returned> => {
  const page = await visit(address);
  const said = new URLSearchParams(page.hash.slice(1));
  return { page, code: said.get('oidcCode'), error: said.get('oidcError') };
};
const complete = (code: string | null, verifier: string) =>
  gantry.call('auth.completeOidcLogin', { code, verifier });

/** Logs in as an account of the provider, as a browser does. */
const logIn = async (account: string) => {
  provider.account = account;
  const { verifier, challenge } = newChallenge();
  const callback = await passProvider((await begin(challenge)).href);
  const returned = await comeBack(callback);
  return { ...returned, callback, verifier };
};

const account = (subject: string, claims: object = {}): string => {
  const email = `${subject}@city.example`;
  provider.accounts.set(subject, {
    email,
    email_verified: true,
    given_name: 'Ada',
    family_name: subject,
    groups: ['everybody', 'traffic'],
    ...claims,
  });
  return subject;
};
const countUsers = (email: string) => gantry.count(`users WHERE email = '${email}'`);

describe('a login at a provider that is down', () => {
  it('is reported on the sign-in page, while passwords work', async () => {
    const page = await begin(newChallenge().challenge);
    expect(`${page.origin}${page.pathname}`).toBe(`${gantry.url}/sign-in`);
    expect(new URLSearchParams(page.hash.slice(1)).get('oidcError')).toBe(UNREACHABLE);
    await gantry.login(ADMIN.email, ADMIN.password);
  });
});

describe('a login at an OpenID Connect provider', () => {
  beforeAll(() => provider.open(`${gantry.url}/login/oidc/callback`));

  it('is offered with its name and path', async () => {
    expect(await gantry.ok('auth.getLoginMethods')).toEqual({
      password: true,
      oidc: { name: 'City login', path: '/login/oidc' },
      accessibilityUrl: 'mailto:access@example.org',
      passwordReset: false,
    });
  });

  it('creates a user with the names and the role of the provider', async () => {
    const { page, code, verifier, callback } = await logIn(account('lovelace'));
    expect(`${page.origin}${page.pathname}${page.search}`).toBe(`${gantry.url}/sign-in`);
    expect(callback).toContain('/login/oidc/callback?');
    const { status, body } = await complete(code, verifier);
    expect(status).toBe(200);
    const { token, user, ...more } = body.result.data.json;
    expect([user, more]).toEqual([
      {
        id: expect.any(String),
        email: 'lovelace@city.example',
        firstName: 'Ada',
        lastName: 'lovelace',
        role: 'OPERATOR',
      },
      {},
    ]);
    expect(await gantry.ok('auth.me', undefined, { token })).toEqual(user);
    await gantry.ok('events.getStats', undefined, { token });
    const { activities } = await gantry.ok('users.getActivity', { userId: user.id }, { token: admin });
    expect(activities).toMatchObject([
      { action: 'auth.login', details: { method: 'oidc' } },
      { action: 'users.create', details: { issuer: provider.issuer } },
    ]);
    const again = await logIn('lovelace');
    expect((await complete(again.code, again.verifier)).body.result.data.json.user.id).toBe(user.id);
    expect(await countUsers('lovelace@city.example')).toBe(1);
  });

  it('does not make gantry doctor ask an administrator for a second factor, on which the provider decides', async () => {
    const { db, config } = gantry.app.context;
    const checked = async () =>
      (await checkAccounts(db, { ...config, NODE_ENV: 'production' })).map(({ code, values }) => [
        code,
        values,
      ]);
    expect(await checked()).toEqual([
      ['accountsFine', { administrators: 1 }],
      ['withoutSecondFactor', { without: 1, administrators: 1 }],
    ]);
    const { code, verifier } = await logIn(account('hopper', { groups: ['traffic-admins'] }));
    const { user } = (await complete(code, verifier)).body.result.data.json;
    expect(await checked()).toEqual([
      ['accountsFine', { administrators: 2 }],
      ['withoutSecondFactor', { without: 1, administrators: 2 }],
    ]);
    await gantry.ok('users.delete', { id: user.id }, { token: admin });
  });

  it.each(['[', 'a b', ':', 'gantry.test:99999', '%zz'])('refuses the Host header %j', async (host) => {
    for (const path of [
      `/login/oidc?challenge=${newChallenge().challenge}`,
      '/login/oidc/callback?state=a',
    ]) {
      const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', '', ''];
      const [answer] = await sendRaw(gantry.url, lines.join('\r\n'));
      expect([answer?.status, answer?.body.error.json.data.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });

  it('asks the provider with PKCE, state and nonce, which differ each time', async () => {
    const { challenge } = newChallenge();
    const [first, second] = [await begin(challenge), await begin(challenge)];
    const query = Object.fromEntries(first.searchParams);
    expect(query).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      client_id: 'gantry',
      redirect_uri: `${gantry.url}/login/oidc/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect([name, query[name]?.length]).toEqual([name, 43]);
      expect(query[name]).not.toBe(second.searchParams.get(name));
    }
    expect(query.code_challenge).not.toBe(challenge);
  });

  it('links an existing user by the verified e-mail address, and sets the role each time', async () => {
    const input = {
      email: 'hopper@city.example',
      password: ADMIN.password,
      firstName: 'Grace',
      lastName: 'Hopper',
    };
    const { id } = await gantry.ok('users.create', input, { token: admin });
    const old = await gantry.login(input.email, ADMIN.password);
    const linked = await logIn(account('hopper', { email: 'Hopper@City.example' }));
    const { user } = (await complete(linked.code, linked.verifier)).body.result.data.json;
    expect(user).toMatchObject({ id, firstName: 'Grace', role: 'OPERATOR' });
    // The role changed, so the session of the former role is no longer valid.
    expect((await gantry.call('auth.me', undefined, { token: old })).status).toBe(401);
    account('hopper', { email: 'other@city.example', email_verified: false, groups: 'watchers' });
    const later = await logIn('hopper');
    expect((await complete(later.code, later.verifier)).body.result.data.json.user).toMatchObject({
      id,
      email: input.email,
      role: 'VIEWER',
    });
  });

  it.each([
    [
      'an e-mail address that is not verified',
      { email_verified: false },
      'has not verified your e-mail address',
    ],
    ['no word about it', { email_verified: undefined }, 'has not verified your e-mail address'],
    ['no e-mail address', { email: undefined }, 'has not verified your e-mail address'],
    ['no group with a role', { groups: ['everybody', 'TRAFFIC', 'ADMIN'] }, 'has no role here'],
    ['no groups', { groups: undefined }, 'has no role here'],
  ])('refuses a new account with %s', async (name, claims, says) => {
    const subject = name.replaceAll(/\W/g, '');
    const users = await gantry.count('users');
    const { code, error } = await logIn(account(subject, claims));
    expect([code, error]).toEqual([null, expect.stringContaining(says)]);
    expect(await gantry.count('users')).toBe(users);
  });

  it('does not link an administrator by an e-mail address that is not verified', async () => {
    const { error } = await logIn(
      account('mallory', { email: ADMIN.email, email_verified: false, groups: ['traffic-admins'] }),
    );
    expect(error).toContain('has not verified');
    expect(await gantry.count("external_identities WHERE subject = 'mallory'")).toBe(0);
  });

  it('refuses a user who is deactivated, and one who lost the role', async () => {
    const first = await logIn(account('franklin'));
    const { user } = (await complete(first.code, first.verifier)).body.result.data.json;
    account('franklin', { groups: [] });
    expect((await logIn('franklin')).error).toContain('has no role here');
    account('franklin');
    const pending = await logIn('franklin');
    await gantry.ok('users.update', { id: user.id, isActive: false }, { token: admin });
    expect((await logIn('franklin')).error).toBe('Your account is deactivated: ask an administrator');
    expect((await complete(pending.code, pending.verifier)).body.error.json).toMatchObject({
      message: NOT_COMPLETED,
      data: { httpStatus: 401 },
    });
  });

  it('leaves the last active administrator in the role', async () => {
    const linked = await logIn(account('root', { email: ADMIN.email, groups: ['watchers'] }));
    const { body } = await complete(linked.code, linked.verifier);
    expect(body.result.data.json.user).toMatchObject({ email: ADMIN.email, role: 'ADMIN' });
  });

  it('refuses an answer with a wrong state, and one that was used', async () => {
    const { callback, code } = await logIn(account('turing'));
    expect(code).not.toBeNull();
    expect((await comeBack(callback)).error).toBe(NOT_COMPLETED);
    const fresh = await passProvider((await begin(newChallenge().challenge)).href);
    for (const state of ['', 'x', new URL(callback).searchParams.get('state') ?? '']) {
      const forged = new URL(fresh);
      forged.searchParams.set('state', state);
      expect((await comeBack(forged.href)).error).toBe(NOT_COMPLETED);
    }
    const swapped = new URL(fresh);
    swapped.searchParams.set('code', new URL(callback).searchParams.get('code') ?? '');
    expect((await comeBack(swapped.href)).error).toBe(NOT_COMPLETED);
  });

  it('gives the token once, and only to the browser that began', async () => {
    const stolen = await logIn(account('noether'));
    expect((await complete(stolen.code, newChallenge().verifier)).status).toBe(401);
    expect((await complete(stolen.code, stolen.verifier)).status).toBe(401);
    const own = await logIn('noether');
    const used = await Promise.all([1, 2, 3].map(() => complete(own.code, own.verifier)));
    expect(used.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    const late = await logIn('noether');
    await gantry.pool.query("UPDATE oidc_logins SET expires_at = now() - interval '1 second'");
    expect((await complete(late.code, late.verifier)).status).toBe(401);
    for (const challenge of ['', 'short', `${'a'.repeat(43)}=`]) {
      expect(new URLSearchParams((await begin(challenge)).hash.slice(1)).get('oidcError')).toContain(
        'challenge',
      );
    }
  });

  const now = () => Math.floor(Date.now() / 1000);
  const RIGHT = {};
  it.each([
    ['nothing wrong, which is accepted', RIGHT, false],
    ['another audience', { aud: 'another-client' }, false],
    ['another issuer', { iss: 'https://evil.example' }, false],
    ['another nonce', { nonce: 'another' }, false],
    ['an expiry in the past', { exp: 1_700_000_000 }, false],
    ['a signature of another key', {}, true],
  ])('checks an ID token with %s', async (_, wrong, isForeign) => {
    provider.forge = (nonce) => ({
      claims: {
        iss: provider.issuer,
        aud: provider.clientId,
        sub: 'lovelace',
        nonce,
        iat: now(),
        exp: now() + 60,
        ...wrong,
      },
      isForeign,
    });
    const { code, error } = await logIn('lovelace');
    provider.forge = null;
    // The first token is accepted, so each of the others is refused only because of its one difference.
    if (wrong === RIGHT) expect([code, error]).toEqual([expect.any(String), null]);
    else expect([code, error]).toEqual([null, NOT_COMPLETED]);
  });

  it('reports that the user cancelled', async () => {
    provider.account = null;
    const callback = await passProvider((await begin(newChallenge().challenge)).href);
    expect(callback).toContain('error=access_denied');
    expect((await comeBack(callback)).error).toBe(NOT_COMPLETED);
  });

  it('limits the logins that one address begins, and nobody else', async () => {
    const beginFrom = async (address: string): Promise<string | null> => {
      const to = `${gantry.url}/login/oidc?challenge=${newChallenge().challenge}`;
      const response = await fetch(to, { redirect: 'manual', headers: { 'x-forwarded-for': address } });
      const { hash } = new URL(response.headers.get('location') ?? '');
      return new URLSearchParams(hash.slice(1)).get('oidcError');
    };
    const started = await Promise.all(Array.from({ length: 502 }, () => beginFrom('192.0.2.50')));
    const refusal = 'Too many logins have started from this address: wait ten minutes and try again';
    expect(started.filter((error) => error !== null)).toEqual([refusal, refusal]);
    expect(await beginFrom('192.0.2.51')).toBeNull();
  });

  it('reports that the provider became unavailable before it confirmed', async () => {
    provider.account = account('late');
    const callback = await passProvider((await begin(newChallenge().challenge)).href);
    provider.shut();
    expect((await comeBack(callback)).error).toBe(UNREACHABLE);
    expect(await countUsers('late@city.example')).toBe(0);
  });
});
