import { describe, expect, it } from 'vitest';
import { ADMIN, type HttpAnswer, sharedGantry } from './harness.ts';
import { processorMs } from './processor-time.ts';

const ARRAY = { accept: 'application/vnd.trpc.batch+json' };

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

const queryString = (inputs: unknown): string =>
  inputs === undefined ? '' : `&input=${encodeURIComponent(JSON.stringify(inputs))}`;

const getBatch = (
  paths: readonly string[],
  inputs?: unknown,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> => gantry.fetch(`/trpc/${paths.join(',')}?batch=1${queryString(inputs)}`, { headers });

const postBatch = (
  paths: readonly string[],
  inputs?: unknown,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> =>
  gantry.fetch(`/trpc/${paths.join(',')}?batch=1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(inputs !== undefined && { body: typeof inputs === 'string' ? inputs : JSON.stringify(inputs) }),
  });

const login = { json: ADMIN };
const sensor = (deviceId: string) => ({ json: { name: 'Camera', deviceId, type: 'CAMERA' } });

describe('a batch of queries', () => {
  it('is answered as an object keyed by position', async () => {
    const { status, body } = await getBatch(['system.health', 'events.getEventTypes', 'sensors.getAll']);
    expect(status).toBe(200);
    expect(Array.isArray(body)).toBe(false);
    expect(Object.keys(body)).toEqual(['0', '1', '2']);
    expect(body[0].result.data.json.status).toBe('healthy');
    expect(body[0].result.data.meta.values).toEqual({ timestamp: ['Date'] });
    expect(body[1].result.data.json).toHaveLength(6);
    expect(body[2].result.data.json).toEqual({ sensors: [], total: 0, pageCount: 0 });
  });

  it('of one is still keyed by position', async () => {
    const { body } = await getBatch(['events.getEventTypes']);
    expect(Object.keys(body)).toEqual(['0']);
  });

  it('takes each input from its position', async () => {
    const { status, body } = await getBatch(['sensors.getAll', 'system.health', 'sensors.getAll'], {
      0: { json: { take: 0 } },
      2: { json: { take: 100 } },
    });
    expect(status).toBe(207);
    expect(body[0].error.json.data.issues[0].path).toBe('take');
    expect(body[1].result).toBeDefined();
    expect(body[2].result.data.json.total).toBe(0);
  });

  it('may have its comma and its dots percent-encoded', async () => {
    const { body } = await gantry.fetch('/trpc/system%2Ehealth%2Cevents.getEventTypes?batch=1');
    expect(Object.keys(body)).toEqual(['0', '1']);
    expect(body[0].result).toBeDefined();
  });

  it('has a token for all of its calls, and each call checks it separately', async () => {
    const paths = ['auth.me', 'system.health', 'events.getAll'];
    const without = await getBatch(paths);
    expect(without.status).toBe(207);
    expect(without.body[0].error.json.message).toBe('No token provided');
    expect(without.body[1].result).toBeDefined();
    expect(without.body[2].error.json.message).toBe('No token provided');
    const { status, body } = await getBatch(paths, undefined, { authorization: `Bearer ${token}` });
    expect(status).toBe(200);
    expect(body[0].result.data.json.email).toBe(ADMIN.email);
  });

  it('accepts no input and null for no input', async () => {
    for (const inputs of [undefined, {}, { 0: null }, { 0: {} }, { 0: { json: null } }, null]) {
      expect((await getBatch(['sensors.getAll', 'system.health'], inputs)).status).toBe(200);
    }
    expect((await gantry.fetch('/trpc/sensors.getAll?batch=1&input=')).status).toBe(200);
  });

  it('ignores inputs at positions that do not exist, and names of object members', async () => {
    const inputs = { 5: { json: { take: 0 } }, constructor: { json: 1 }, '00': { json: { take: 0 } } };
    expect((await getBatch(['sensors.getAll'], inputs)).status).toBe(200);
  });
});

describe('the status of a batch', () => {
  it('is the common one', async () => {
    expect((await getBatch(['auth.me', 'events.getAll'])).status).toBe(401);
    expect((await getBatch(['nothing', 'constructor', '__proto__', ''])).status).toBe(404);
    const notFound = { 0: { json: { id: 'a' } }, 1: { json: { id: 'b' } } };
    expect((await getBatch(['sensors.getById', 'sensors.getById'], notFound)).status).toBe(404);
  });

  it('is 207 when they differ, even when all failed', async () => {
    expect((await getBatch(['auth.me', 'system.health'])).status).toBe(207);
    expect((await getBatch(['auth.me', 'nothing'])).status).toBe(207);
  });
});

describe('a batch of mutations', () => {
  it('runs each separately: a failing one does not affect the others', async () => {
    const { status, body } = await postBatch(['sensors.create', 'sensors.create', 'sensors.create'], {
      0: sensor('first'),
      1: { json: { name: 'x' } },
      2: sensor('third'),
    });
    expect(status).toBe(207);
    expect(body[0].result.data.json.deviceId).toBe('first');
    expect(body[1].error.json.data.code).toBe('BAD_REQUEST');
    expect(body[2].result.data.json.deviceId).toBe('third');
    expect((await gantry.ok('sensors.getAll')).total).toBe(2);
  });

  it('refuses hostile meta, a missing wrapper and a missing input only for their own call', async () => {
    const { body } = await postBatch(
      Array.from({ length: 5 }, () => 'sensors.create'),
      {
        0: { json: {}, meta: { custom: {} } },
        1: { name: 'Camera', deviceId: 'bare', type: 'CAMERA' },
        2: 5,
        4: sensor('fifth'),
      },
    );
    for (const failed of [0, 1, 2, 3]) expect(body[failed].error.json.data.code).toBe('BAD_REQUEST');
    expect(body[4].result.data.json.deviceId).toBe('fifth');
  });

  it('refuses a query among them, and a mutation among queries', async () => {
    const posted = await postBatch(['auth.logout', 'system.health'], {}, { authorization: '' });
    expect(posted.status).toBe(207);
    expect(posted.body[0].result.data.json).toEqual({ success: true });
    expect(posted.body[1].error.json.data.code).toBe('METHOD_NOT_SUPPORTED');
    const got = await getBatch(['auth.logout', 'system.health']);
    expect(got.body[0].error.json.data.code).toBe('METHOD_NOT_SUPPORTED');
    expect(got.body[1].result).toBeDefined();
  });

  it('with broken JSON refuses each admitted call', async () => {
    const { status, body } = await postBatch(['sensors.create', 'nothing', 'auth.logout'], '{"0":');
    expect(status).toBe(207);
    expect(body[0].error.json.data.code).toBe('PARSE_ERROR');
    expect(body[1].error.json.data.code).toBe('NOT_FOUND');
    const stranger = await postBatch(['sensors.create', 'auth.login'], '{"0":', { authorization: '' });
    expect(stranger.body[0].error.json.message).toBe('No token provided');
    expect(stranger.body[1].error.json.data.code).toBe('PARSE_ERROR');
  });

  it('with broken JSON of 10 MB parses it once, not for each call', async () => {
    const broken = `{"0":{"json":"${'x'.repeat(10_000_000)}`;
    const work = await processorMs(async () => {
      const { status } = await postBatch(
        Array.from({ length: 50 }, () => 'sensors.create'),
        broken,
      );
      expect(status).toBe(400);
    });
    expect(work).toBeLessThan(3_000);
  });

  it.each(['[]', '[{"json":{}}]', '5', '"x"', 'true'])(
    'with %s for inputs is answered with the expected format',
    async (inputs) => {
      const { status, body } = await postBatch(['sensors.create'], inputs);
      expect(status).toBe(400);
      expect(body[0].error.json.message).toContain('keyed by position');
    },
  );
});

describe('a client that accepts the batch type of tRPC', () => {
  it('gets an array', async () => {
    const { status, headers, body } = await getBatch(['auth.me', 'system.health'], undefined, ARRAY);
    expect(status).toBe(207);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(Array.isArray(body)).toBe(true);
    expect(body).toHaveLength(2);
    expect(body[0].error.json.data.httpStatus).toBe(401);
    expect(body[1].result.data.json.status).toBe('healthy');
  });

  it('gets a single answer unchanged when it does not batch', async () => {
    const { body } = await gantry.fetch('/trpc/system.health', { headers: ARRAY });
    expect(Object.keys(body)).toEqual(['result']);
  });
});

describe('the limits of a batch', () => {
  const calls = (count: number) => Array.from({ length: count }, () => 'events.getEventTypes');

  it('are fifty calls', async () => {
    const { status, body } = await getBatch(calls(50));
    expect(status).toBe(200);
    expect(Object.keys(body)).toHaveLength(50);
  });

  it.each([51, 1000])('refuse %i calls as a whole', async (count) => {
    const { status, body } = await getBatch(calls(count));
    expect(status).toBe(400);
    expect(body).toEqual({
      error: {
        json: {
          message: 'A batch may contain at most 50 calls',
          code: -32600,
          data: { code: 'BAD_REQUEST', httpStatus: 400 },
        },
      },
    });
  });

  it('are one login', async () => {
    const one = await postBatch(['auth.login', 'auth.logout'], { 0: login }, { authorization: '' });
    expect(one.status).toBe(200);
    expect(one.body[0].result.data.json.token).toEqual(expect.any(String));
    const two = await postBatch(['auth.login', 'auth.login'], { 0: login, 1: login });
    expect(two.status).toBe(400);
    expect(two.body.error.json.message).toBe('A batch may contain at most one auth.login');
  });
});

describe('names joined with commas without batch=1', () => {
  it.each(['', '?batch=0', '?batch=true', '?batch='])('are one unknown procedure (%s)', async (query) => {
    const { status, body } = await gantry.fetch(`/trpc/system.health,system.getLicense${query}`);
    expect(status).toBe(404);
    expect(body.error.json.data.code).toBe('NOT_FOUND');
  });
});
