import { type Role, role } from '@gantry/contract/permissions';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { appRouter } from '../src/api/router.ts';
import { ADMIN, sharedGantry } from './harness.ts';
import { send } from './http-client.ts';
import { mayCall, type Who } from './permissions-table.ts';
import { countRows } from './table-counts.ts';
import { isLong } from './test-length.ts';

// Every procedure of the router, called with every kind of token in turn.

// Long enough for HS512 too, so that such a token is invalid only because of its algorithm.
const SECRET = 'a-secret-of-this-test-that-is-long-enough-'.repeat(2);
const procedures = Object.entries<AnyTRPCProcedure>((appRouter as AnyTRPCRouter)._def.procedures).map(
  ([path, { _def }]) => [path, _def.type, (mayCall as Record<string, Who>)[path]] as const,
);

const BAD = [
  'expired',
  'of another secret',
  'with alg none',
  'with HS512',
  'revoked',
  'cut',
  'of nobody',
] as const;
type Kind = (typeof BAD)[number];

const secret = (text = SECRET) => new TextEncoder().encode(text);
const sign = (claims: object, alg = 'HS256', text = SECRET): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg, typ: 'JWT' }).sign(secret(text));

const good = new Map<Role, string>();
const bad = new Map<`${Kind} ${Role}`, string>();

/** A second login, because tokens are revoked separately. */
const anotherTokenFor = (name: Role): Promise<string> =>
  gantry.login(name === 'ADMIN' ? ADMIN.email : `${name.toLowerCase()}@gantry.local`, ADMIN.password);

const gantry = await sharedGantry({ config: { JWT_SECRET: SECRET, SEAL: 'off' } });
beforeAll(async () => {
  for (const name of role.options) {
    const token = await gantry.tokenFor(name);
    good.set(name, token);
    const claims = decodeJwt(token);
    const revoked = await anotherTokenFor(name);
    await gantry.ok('auth.logout', undefined, { token: revoked });
    const made: Record<Kind, string> = {
      expired: await sign({ ...claims, iat: 1_700_000_000, exp: 1_700_086_400 }),
      'of another secret': await sign(claims, 'HS256', `${SECRET}!`),
      'with alg none': new UnsecuredJWT({ ...claims }).encode(),
      'with HS512': await sign(claims, 'HS512'),
      revoked,
      cut: token.slice(0, -4),
      'of nobody': await sign({ ...claims, id: '00000000-0000-7000-8000-000000000000' }),
    };
    for (const kind of BAD) bad.set(`${kind} ${name}`, made[kind]);
    // The same claims with a correct signature are valid, so each token is invalid only because of the one
    // difference.
    const { status } = await gantry.call('auth.me', undefined, { token: await sign(claims) });
    expect(status).toBe(200);
  }
});

interface Outcome {
  readonly status: number;
  readonly message: string;
}

const outcomeOf = (status: number, text: string): Outcome => ({
  status,
  message: JSON.parse(text).error?.json.message ?? '',
});

/** Calls with an empty input, which most procedures refuse, but only after checking the caller. */
const call = async (path: string, type: string, authorization?: string): Promise<Outcome> => {
  const headers = {
    ...(authorization !== undefined && { authorization }),
    'content-type': 'application/json',
  };
  const url = `${gantry.url}/trpc/${path}${type === 'mutation' ? '' : '?input=%7B%22json%22%3A%7B%7D%7D'}`;
  if (type === 'subscription') {
    const leaving = new AbortController();
    const response = await fetch(url, { signal: leaving.signal, headers });
    if (response.status !== 200) return outcomeOf(response.status, await response.text());
    leaving.abort();
    return { status: 200, message: '' };
  }
  const isMutation = type === 'mutation';
  const { status, text } = await send(
    url,
    isMutation ? 'POST' : 'GET',
    headers,
    isMutation ? '{"json":{}}' : undefined,
  );
  return outcomeOf(status, text);
};

const LETS_IN = expect.not.stringMatching(
  /No token provided|Invalid or expired token|does not have the permission/,
);

describe('the table of permissions', () => {
  it('contains every procedure, and no other', () => {
    expect(Object.keys(mayCall).sort()).toEqual(procedures.map(([path]) => path).sort());
  });
});

/** In the gate, each kind of token for a procedure is that of one role, which changes with the procedure. */
const badFor = (path: string): readonly string[] => {
  const at = procedures.findIndex(([each]) => each === path);
  return isLong
    ? [...bad.values()]
    : BAD.map((kind, n) => bad.get(`${kind} ${role.options[(at + n) % role.options.length] as Role}`) ?? '');
};

/** The number of rows of each table before the next procedure is called. */
let rows: Awaited<ReturnType<typeof countRows>>;
beforeAll(async () => {
  rows = await countRows(gantry.pool);
});

describe.each(procedures)('%s (%s)', (path, type, who = []) => {
  it('refuses callers without a valid token, and leaves no trace', async () => {
    const refused = await Promise.all([
      call(path, type),
      call(path, type, 'Basic YTpi'),
      ...badFor(path).map((token) => call(path, type, `Bearer ${token}`)),
    ]);
    const messages = refused.map(({ status, message }) => `${status} ${message}`);
    if (who === 'anybody') {
      // A token that is not required is not checked.
      for (const { message } of refused) expect(message).toEqual(LETS_IN);
      rows = await countRows(gantry.pool);
      return;
    }
    if (who === 'devices') {
      expect(new Set(messages)).toEqual(new Set(messages.slice(0, 1)));
      expect(refused[0]?.status).toBeGreaterThanOrEqual(400);
    } else {
      expect(new Set(messages.slice(0, 2))).toEqual(new Set(['401 No token provided']));
      expect(new Set(messages.slice(2))).toEqual(new Set(['401 Invalid or expired token']));
    }
    const now = await countRows(gantry.pool);
    expect(now).toEqual(rows);
    rows = now;
  });
});

describe.each(procedures)('%s (%s)', (path, type, who = []) => {
  it('admits exactly the roles of the table', async () => {
    for (const name of role.options) {
      const token = path === 'auth.logout' ? await anotherTokenFor(name) : (good.get(name) ?? '');
      const { status, message } = await call(path, type, `Bearer ${token}`);
      if (typeof who === 'string' || who.includes(name)) {
        expect([name, status < 500, message]).toEqual([name, true, LETS_IN]);
        if (typeof who !== 'string') expect([name, status]).not.toEqual([name, 401]);
      } else {
        expect([name, status]).toEqual([name, 403]);
        expect(message).toContain(`Your role ${name} does not have the permission`);
      }
    }
  });
});
