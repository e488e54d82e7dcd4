import type { AnyTRPCRouter } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { appRouter } from '../src/api/router.ts';
import { ADMIN, type Gantry, sharedGantry } from './harness.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

const errorOf = async (...call: Parameters<Gantry['call']>) => (await gantry.call(...call)).body;
const create = (input: unknown) => errorOf('sensors.create', input, { token });

describe('a success', () => {
  it('is {result: {data: {json}}} with the dates named in meta', async () => {
    const { status, headers, body } = await gantry.call('system.health');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { timestamp } = body.result.data.json;
    expect(body).toEqual({
      result: {
        data: {
          json: { status: 'healthy', timestamp, version: expect.any(String), database: 'connected' },
          meta: { values: { timestamp: ['Date'] }, v: 1 },
        },
      },
    });
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
  });

  it('has no meta where there is no date', async () => {
    const { body } = await gantry.call('events.getEventTypes');
    expect(Object.keys(body.result.data)).toEqual(['json']);
  });

  it('names dates inside lists by their path', async () => {
    await gantry.ok('sensors.create', { name: 'One', deviceId: 'one', type: 'RADAR' }, { token });
    const { body } = await gantry.call('sensors.getAll');
    expect(body.result.data.meta.values).toEqual({
      'sensors.0.createdAt': ['Date'],
      'sensors.0.updatedAt': ['Date'],
    });
  });

  it('leaves null dates out of meta', async () => {
    const { body } = await gantry.call('system.getLicense');
    expect(body.result.data.json.expiresAt).toBeNull();
    expect(body.result.data.meta.values).toEqual({ issuedAt: ['Date'] });
  });
});

describe('an error', () => {
  it('has exactly the documented keys', async () => {
    expect(await errorOf('auth.login', { email: ADMIN.email, password: 'wrong' })).toEqual({
      error: {
        json: {
          message: 'Invalid credentials',
          code: -32001,
          data: { code: 'UNAUTHORIZED', httpStatus: 401 },
        },
      },
    });
    expect(await errorOf('auth.login', { email: 'nobody@gantry.local', password: 'wrong' })).toEqual({
      error: {
        json: {
          message: 'Invalid credentials',
          code: -32001,
          data: { code: 'UNAUTHORIZED', httpStatus: 401 },
        },
      },
    });
    expect(await errorOf('sensors.getById', { id: 'nobody' })).toEqual({
      error: {
        json: { message: 'Sensor not found', code: -32004, data: { code: 'NOT_FOUND', httpStatus: 404 } },
      },
    });
  });

  it('explains what to do about an unknown procedure', async () => {
    const { status, body } = await gantry.fetch('/trpc/sensors.getEverything');
    expect(status).toBe(404);
    expect(body.error.json).toEqual({
      message: 'There is no procedure "sensors.getEverything"',
      code: -32004,
      data: { code: 'NOT_FOUND', httpStatus: 404 },
    });
  });

  it('explains that several procedures need batch=1', async () => {
    const { status, body } = await gantry.fetch('/trpc/system.health,system.info?input=%7B%7D');
    expect(status).toBe(404);
    expect(body.error.json.message).toBe(
      'There is no procedure "system.health,system.info": to call several, add batch=1 to the query',
    );
  });

  it('repeats a long unknown name only in part, and cut between characters', async () => {
    const { body } = await gantry.fetch(`/trpc/a${encodeURIComponent('😀'.repeat(500))}`);
    expect(body.error.json.message.length).toBeLessThan(150);
    expect(body.error.json.message.isWellFormed()).toBe(true);
  });

  it('contains the issues of a validation failure, and of nothing else', async () => {
    const { error } = await create({ name: 'ab', deviceId: 'x'.repeat(51), type: 'TOASTER' });
    expect(error.json).toEqual({
      message: 'Invalid input: name: Use at least 3 characters (and 2 more)',
      code: -32600,
      data: {
        code: 'BAD_REQUEST',
        httpStatus: 400,
        issues: [
          { path: 'name', message: 'Use at least 3 characters' },
          { path: 'deviceId', message: 'Use at most 50 characters' },
          { path: 'type', message: expect.stringContaining('one of CAMERA, RADAR,') },
        ],
      },
    });
    const other = await create({ name: 'Two', deviceId: 'one', type: 'RADAR' });
    expect(Object.keys(other.error.json.data)).toEqual(['code', 'httpStatus']);
  });

  it('gives the path of an issue inside lists and objects', async () => {
    const { apiKey } = await gantry.ok(
      'sensors.create',
      { name: 'Three', deviceId: 'three', type: 'RADAR' },
      { token },
    );
    const { error } = await errorOf('events.ingest', {
      apiKey,
      eventType: 'INCIDENT',
      location: { latitude: 91, longitude: 'east' },
      tags: ['fine', 5],
    });
    const paths = error.json.data.issues.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['location.latitude', 'location.longitude', 'tags.1']);
  });

  it('lists at most twenty issues, in an answer of limited size', async () => {
    const { apiKey } = await gantry.ok(
      'sensors.create',
      { name: 'Four', deviceId: 'four', type: 'RADAR' },
      { token },
    );
    const wrong = Array.from({ length: 100 }, () => 5);
    const some = await errorOf('events.ingest', {
      apiKey,
      eventType: 'INCIDENT',
      tags: wrong,
      images: wrong,
    });
    expect(some.error.json.data.issues).toHaveLength(20);
    expect(some.error.json.message).toMatch(/\(and 199 more\)$/);

    const bad = Array.from({ length: 100_000 }, () => 5);
    for (const input of [
      { apiKey, eventType: 'INCIDENT', tags: bad },
      { apiKey, eventType: 'INCIDENT', images: bad },
    ]) {
      const many = await errorOf('events.ingest', input);
      expect(many.error.json.data.issues.length).toBeLessThanOrEqual(20);
      expect(JSON.stringify(many).length).toBeLessThan(20_000);
    }
    const heartbeat = await errorOf('sensors.heartbeat', { apiKey, issues: bad });
    expect(JSON.stringify(heartbeat).length).toBeLessThan(20_000);
    const batch = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: Array.from({ length: 1000 }, () => ({ eventType: 'INCIDENT', tags: wrong })),
    });
    expect(JSON.stringify(batch).length).toBeLessThan(3_000_000);
  });

  it('does not repeat a huge value that was refused', async () => {
    const huge = 'x'.repeat(1_000_000);
    for (const input of [
      { name: huge, deviceId: 'abc', type: 'CAMERA' },
      { name: 'abc', deviceId: 'abc', type: huge },
      { name: 'abc', deviceId: 'abc', type: 'CAMERA', locationId: huge },
    ]) {
      const { error } = await create(input);
      expect(error.json.data.code).toBe('BAD_REQUEST');
      expect(JSON.stringify(error).length).toBeLessThan(2000);
    }
  });
});

describe('every answer', () => {
  it('has an id of its own and must not be stored', async () => {
    const answers = await Promise.all([
      gantry.fetch('/trpc/system.health'),
      gantry.fetch('/trpc/sensors.create', { method: 'POST' }),
      gantry.fetch('/trpc/sensors.create', { method: 'PUT' }),
      gantry.fetch('/trpc/nothing'),
      gantry.fetch('/trpc/%zz'),
      gantry.fetch('/nothing'),
      gantry.fetch('/trpc/system.health,nothing?batch=1'),
      gantry.fetch('/trpc/auth.login', { method: 'POST', body: 'x' }),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });
});

describe('every procedure', () => {
  const procedures = Object.entries(
    (appRouter as AnyTRPCRouter)._def.procedures as Record<
      string,
      { _def: { type: string; meta?: { alsoPost?: boolean } } }
    >,
  );

  it('exists: all that the specification names, but reports and storage', () => {
    const named =
      `auth.login auth.logout auth.me auth.refreshToken sensors.getAll sensors.getAllSensors sensors.getById
      sensors.create sensors.update sensors.delete events.ingest events.getAll events.getById events.getRecent
      events.markAsProcessed events.markAsArchived events.delete events.getStats events.getEventTypes
      system.getLicense system.timezone.getTimezoneSettings system.timezone.updateTimezoneSettings system.health
      system.getSettings users.getAll users.getById users.create users.update users.delete users.updateRole
      users.resetPassword users.getActivity`.split(/\s+/);
    const present = new Set(procedures.map(([path]) => path));
    expect(named.filter((path) => !present.has(path))).toEqual([]);
  });

  it.each(procedures.map(([path, { _def }]) => [path, _def.type, _def.meta?.alsoPost === true] as const))(
    '%s answers the wrong method with 405 and the right one in Allow',
    async (path, type, alsoPost) => {
      const right = type === 'mutation' ? 'POST' : 'GET';
      const allowed = alsoPost ? ['GET', 'POST'] : [right];
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
        (each) => !allowed.includes(each),
      )) {
        const { status, headers, body } = await gantry.fetch(`/trpc/${path}`, { method });
        expect(status).toBe(405);
        expect(headers.get('allow')).toBe(allowed.join(', '));
        expect(body.error.json).toEqual({
          message: `Call ${path} with ${right}`,
          code: -32005,
          data: { code: 'METHOD_NOT_SUPPORTED', httpStatus: 405 },
        });
      }
    },
  );
});
