import type { AnyTRPCRouter } from '@trpc/server';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { appRouter } from '../src/api/router.ts';
import { type HttpAnswer, sharedGantry } from './harness.ts';

const SECRET = 'a secret for tests that is longer than 32 bytes';

const gantry = await sharedGantry({ config: { JWT_SECRET: SECRET } });
const viewer = await gantry.tokenFor('VIEWER');
const admin = await gantry.tokenFor('ADMIN');

const post = (
  procedure: string,
  body: string | Uint8Array | undefined,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> =>
  gantry.fetch(`/trpc/${procedure}`, { method: 'POST', headers, ...(body !== undefined && { body }) });

const NO_TOKEN = {
  message: 'No token provided',
  code: -32001,
  data: { code: 'UNAUTHORIZED', httpStatus: 401 },
};
const BAD_TOKEN = {
  message: 'Invalid or expired token',
  code: -32001,
  data: { code: 'UNAUTHORIZED', httpStatus: 401 },
};

const JSON_TYPE = { 'content-type': 'application/json' };
/** Bodies that would each be refused if they were checked. */
const BAD_BODIES: [string, string | Uint8Array | undefined, Record<string, string>][] = [
  ['broken JSON', '{"json":', JSON_TYPE],
  ['a wrong input', '{"json":{"name":1}}', JSON_TYPE],
  ['no wrapper', '{"name":"x"}', JSON_TYPE],
  ['hostile meta', '{"json":{},"meta":{"custom":{}}}', JSON_TYPE],
  ['no body', undefined, {}],
  ['a wrong type', '{"json":{}}', { 'content-type': 'text/plain' }],
  ['a type that is none', '{"json":{}}', { 'content-type': 'json' }],
  ['two types', '{"json":{}}', { 'content-type': 'application/json, text/plain' }],
  ['no type', new TextEncoder().encode('{"json":{}}'), {}],
  ['a compressed body', '{"json":{}}', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ['deep nesting', '['.repeat(100_000), JSON_TYPE],
];

describe('the token is checked before the input', () => {
  it.each(BAD_BODIES)('a protected mutation with %s and without a token is 401', async (_, body, headers) => {
    const { status, body: answer } = await post('sensors.create', body, headers);
    expect(status).toBe(401);
    expect(answer).toEqual({ error: { json: NO_TOKEN } });
  });

  it.each(['%7B', 'null', '{"json":{"take":0}}', '[]'])(
    'a protected query with the input %s and without a token is 401',
    async (input) => {
      const { status, body } = await gantry.fetch(`/trpc/events.getAll?input=${input}`);
      expect(status).toBe(401);
      expect(body).toEqual({ error: { json: NO_TOKEN } });
    },
  );
});

describe('the permission is checked before the input', () => {
  it.each(BAD_BODIES)('a mutation with %s by a user without permission is 403', async (_, body, headers) => {
    const { status, body: answer } = await post('sensors.create', body, {
      ...headers,
      authorization: `Bearer ${viewer}`,
    });
    expect(status).toBe(403);
    expect(answer.error.json).toEqual({
      message: 'Your role VIEWER does not have the permission Manage Sensors',
      code: -32003,
      data: { code: 'FORBIDDEN', httpStatus: 403 },
    });
  });

  it('an unknown id is 403 for a user without permission, 404 for one with it', async () => {
    const input = { id: 'nobody' };
    expect((await gantry.call('sensors.delete', input, { token: viewer })).status).toBe(403);
    expect((await gantry.call('sensors.delete', input, { token: admin })).status).toBe(404);
  });
});

describe('the input is checked last', () => {
  it.each([
    ['broken JSON', '{"json":', JSON_TYPE, 400, 'PARSE_ERROR'],
    ['a wrong input', '{"json":{"name":1}}', JSON_TYPE, 400, 'BAD_REQUEST'],
    ['no body', undefined, {}, 400, 'BAD_REQUEST'],
    ['a wrong type', '{"json":{}}', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ] as const)('%s is refused for its content', async (_, body, headers, status, code) => {
    const answer = await post('sensors.create', body, { ...headers, authorization: `Bearer ${admin}` });
    expect(answer.status).toBe(status);
    expect(answer.body.error.json.data.code).toBe(code);
  });
});

describe('the method is checked first', () => {
  it('a protected procedure called with the wrong method and without a token is 405', async () => {
    expect((await gantry.fetch('/trpc/sensors.create')).status).toBe(405);
    expect((await post('events.getAll', undefined)).status).toBe(405);
  });

  it('an unknown procedure is 404 with any input', async () => {
    for (const [, body, headers] of BAD_BODIES) {
      expect((await post('sensors.destroy', body, headers)).status).toBe(404);
    }
  });
});

describe('a device', () => {
  it('has its key checked before anything else', async () => {
    const wrong = { apiKey: 'f'.repeat(64), eventType: 'NONSENSE', tags: 5 };
    const { status, body } = await gantry.call('events.ingest', wrong);
    expect(status).toBe(401);
    expect(body.error.json.message).toBe('Invalid API key');
    expect((await gantry.call('events.ingest', { eventType: 'INCIDENT' })).status).toBe(400);
  });

  it.each([{ apiKey: '' }, { apiKey: 5 }, { apiKey: null }, {}, null, 'text', [], 5, undefined])(
    'that sends %j as its input is asked to send its key',
    async (input) => {
      const { status, body } = await gantry.call('events.ingest', input);
      expect(status).toBe(400);
      expect(body.error.json.data.issues).toEqual([{ path: 'apiKey', message: expect.any(String) }]);
    },
  );
});

const jwt = (claims: Record<string, unknown>, secret = SECRET, alg = 'HS256') =>
  new SignJWT(claims).setProtectedHeader({ alg, typ: 'JWT' }).sign(new TextEncoder().encode(secret));

/** The claims of a token, which anybody can read. */
const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

describe('a token', () => {
  it.each(['', 'Bearer', 'Bearer ', 'Bearer     ', 'Basic YTpi', 'Token abc', 'bearer', 'abc'])(
    'header of %j counts as no token',
    async (authorization) => {
      const { status, body } = await gantry.fetch('/trpc/auth.me', { headers: { authorization } });
      expect(status).toBe(401);
      expect(body.error.json).toEqual(NO_TOKEN);
    },
  );

  it('in a header of any case is accepted', async () => {
    const { status } = await gantry.fetch('/trpc/auth.me', {
      headers: { AUTHORIZATION: `bearer  ${admin}` },
    });
    expect(status).toBe(200);
  });

  it('of another issuer, expired or altered is refused with the same message', async () => {
    const claims = claimsOf(admin);
    const [head = '', payload = '', signature = ''] = admin.split('.');
    const altered = Buffer.from(JSON.stringify({ ...claims, role: 'ADMIN', id: 'x' })).toString('base64url');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const { exp: _, ...eternal } = claims;
    const bad = [
      'abc',
      'a.b.c',
      '..',
      'Bearer',
      `${head}.${payload}.`,
      `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${head}.${altered}.${signature}`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      await jwt(claims, 'another secret that is longer than 32 bytes'),
      await jwt(claims, SECRET, 'HS512'),
      await jwt({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }),
      await jwt(eternal),
      await jwt({ ...claims, id: '00000000-0000-4000-8000-000000000000' }),
      await jwt({ ...claims, id: 'x' }),
      await jwt({ ...claims, jti: 'x' }),
      await jwt({ ...claims, epoch: 'x' }),
      'x'.repeat(20_000),
      'ÿþ',
    ];
    for (const token of bad) {
      const { status, body } = await gantry.call('auth.me', undefined, { token });
      expect(status, token.slice(0, 60)).toBe(401);
      expect(body).toEqual({ error: { json: BAD_TOKEN } });
    }
    expect((await gantry.call('auth.me', undefined, { token: await jwt(claims) })).status).toBe(200);
  });

  it('that is invalid is ignored by public procedures', async () => {
    const stale = await jwt({ ...claimsOf(admin), exp: 1 });
    for (const procedure of [
      'system.health',
      'sensors.getAll',
      'sensors.getAllSensors',
      'events.getEventTypes',
    ]) {
      expect((await gantry.call(procedure, undefined, { token: stale })).status).toBe(200);
    }
    expect((await gantry.call('auth.logout', undefined, { token: stale })).status).toBe(200);
    expect((await gantry.call('sensors.getById', { id: 'x' }, { token: 'junk' })).status).toBe(404);
  });
});

const procedures = Object.entries(
  (appRouter as AnyTRPCRouter)._def.procedures as Record<string, { _def: { type: string } }>,
);

describe('the access to procedures', () => {
  const PUBLIC =
    `auth.login auth.logout auth.getLoginMethods auth.completeOidcLogin auth.requestPasswordReset auth.resetPassword system.health system.getLicense system.getSettings
    system.timezone.getTimezoneSettings sensors.getAll sensors.getAllSensors sensors.getById events.getEventTypes
    events.ingest events.ingestBatch counts.ingest sensors.heartbeat`.split(/\s+/);

  it.each(procedures.map(([path, { _def }]) => [path, _def.type] as const))(
    '%s is public or reports that there is no token, as documented',
    async (path, type) => {
      const { status, body } =
        type === 'mutation' ? await post(path, undefined, {}) : await gantry.fetch(`/trpc/${path}`);
      if (PUBLIC.includes(path)) expect(status).not.toBe(401);
      else expect(body).toEqual({ error: { json: NO_TOKEN } });
    },
  );

  it.each(
    procedures
      .filter(([path]) => !PUBLIC.includes(path))
      .map(([path, { _def }]) => [path, _def.type] as const),
  )('%s reports that the token is invalid', async (path, type) => {
    const headers = { authorization: 'Bearer junk' };
    const { body } =
      type === 'mutation' ? await post(path, '{', headers) : await gantry.fetch(`/trpc/${path}`, { headers });
    expect(body).toEqual({ error: { json: BAD_TOKEN } });
  });
});
