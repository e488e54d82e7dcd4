import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { open, router } from '../src/api/procedures.ts';
import { createServer } from '../src/http/server.ts';
import { notFound } from '../src/platform/error.ts';
import { createTestDatabase, eventually, type Gantry, startGantry } from './harness.ts';
import { requestRaw } from './raw-http.ts';

const INTERNAL = {
  error: {
    json: {
      message: 'Internal server error',
      code: -32603,
      data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
    },
  },
};

describe('an internal error', () => {
  let gantry: Gantry;
  let token: string;
  let apiKey: string;
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
  beforeAll(async () => {
    gantry = await startGantry();
    token = await gantry.tokenFor('ADMIN');
    apiKey = await gantry.registerSensor();
  });
  afterAll(() => gantry.stop());

  it('is reported without details, wherever the database fails', async () => {
    await gantry.pool.query('DROP TABLE sensors, locations, event_totals, settings CASCADE');
    const calls: [string, unknown][] = [
      ['sensors.getAll', {}],
      ['sensors.getAllSensors', undefined],
      ['sensors.getById', { id: '00000000-0000-4000-8000-000000000000' }],
      ['sensors.create', { name: "it's a secret", deviceId: 'camera-2', type: 'CAMERA' }],
      ['locations.getAll', {}],
      ['events.getStats', {}],
      ['system.getLicense', undefined],
      ['system.timezone.getTimezoneSettings', undefined],
      ['system.timezone.updateTimezoneSettings', { firstDayOfWeek: 0 }],
    ];
    for (const [procedure, input] of calls) {
      const { status, headers, body } = await gantry.call(procedure, input, { token });
      expect(body, procedure).toEqual(INTERNAL);
      expect(status).toBe(500);
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get('retry-after')).toBeNull();
    }
  });

  it('is reported to a device so that it retries, also without details', async () => {
    for (const [procedure, input] of [
      ['sensors.heartbeat', { apiKey: 'e'.repeat(64) }],
      ['events.ingest', { apiKey, eventType: 'INCIDENT', description: "it's a secret" }],
    ] as const) {
      const { status, headers, body } = await gantry.call(procedure, input);
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toBe('1');
      expect(JSON.stringify(body)).not.toMatch(/relation|insert|select|secret|event_totals|sensors/i);
    }
  });

  it('inside a batch is reported in the same way, and does not affect the other calls', async () => {
    const { status, body } = await gantry.fetch('/trpc/sensors.getAllSensors,events.getEventTypes?batch=1');
    expect(status).toBe(207);
    expect(body[0]).toEqual(INTERNAL);
    expect(body[1].result.data.json).toHaveLength(6);
  });

  const faults = router({
    error: open.output(z.null()).query(() => {
      throw new Error('select secret from users');
    }),
    text: open.output(z.null()).query(() => {
      throw 'a secret text';
    }),
    nothing: open.output(z.null()).query(() => Promise.reject(undefined)),
    output: open.output(z.object({ a: z.number() })).query(() => ({ a: 'secret' }) as never),
    parsing: open.output(z.null()).query(() => z.null().parse('secret')),
    endless: open.output(z.unknown()).query(() => {
      const loop: Record<string, unknown> = {};
      loop.loop = loop;
      return loop;
    }),
    missing: open.output(z.null()).query(() => {
      throw notFound('Thing');
    }),
  });

  it.each(['error', 'text', 'nothing', 'output', 'parsing', 'endless'])(
    'of the kind "%s" is reported in the same way, and the log has the details with the id of the request',
    async (kind) => {
      lines.length = 0;
      const server = await createServer({ ...gantry.app.context, log }, faults);
      const url = await server.listen({ host: '127.0.0.1', port: 0 });
      const { status, headers, body } = await requestRaw(url, `GET /trpc/${kind}`);
      const batch = await requestRaw(url, `GET /trpc/${kind},missing?batch=1`);
      await server.close();
      expect(status).toBe(500);
      expect(body).toEqual(INTERNAL);
      expect(lines[0]).toContain(headers['x-request-id']);
      expect(batch.status).toBe(207);
      expect(batch.body[0]).toEqual(INTERNAL);
      expect(batch.body[1].error.json.message).toBe('Thing not found');
    },
  );
});

/** A proxy between the service and its database that can be cut. */
const createProxy = async (target: URL) => {
  const sockets = new Set<Socket>();
  let away = false;
  const server = createTcpServer((inner) => {
    if (away) {
      inner.destroy();
      return;
    }
    const outer = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      away = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      away = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

describe('a database that is unavailable', () => {
  it('is SERVICE_UNAVAILABLE with Retry-After, and everything works when it is back', async () => {
    const database = await createTestDatabase();
    const url = new URL(database.url);
    const proxy = await createProxy(new URL(url));
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const gantry = await startGantry({ config: { DATABASE_URL: url.href } });
    try {
      const token = await gantry.tokenFor('ADMIN');
      const sensor = { name: 'Camera', deviceId: 'camera-1', type: 'CAMERA' };
      const { apiKey } = await gantry.ok('sensors.create', sensor, { token });
      const event = { apiKey, eventType: 'INCIDENT' };
      await gantry.ok('events.ingest', event);

      proxy.cut();
      for (const [procedure, input] of [
        ['sensors.getAll', undefined],
        ['auth.me', undefined],
        ['auth.login', { email: 'admin@gantry.local', password: 'x' }],
        ['events.ingest', event],
        ['sensors.heartbeat', { apiKey: 'e'.repeat(64) }],
        ['system.getLicense', undefined],
      ] as const) {
        const { status, headers, body } = await gantry.call(procedure, input, { token });
        expect(status, procedure).toBe(503);
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(body.error.json).toEqual({
          message: expect.stringMatching(/^The database .*: /),
          code: -32603,
          data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
        });
      }
      const health = await gantry.call('system.health');
      expect(health.status).toBe(200);
      expect(health.body.result.data.json).toMatchObject({ status: 'unhealthy', database: 'disconnected' });
      expect((await gantry.fetch('/ready')).status).toBe(503);
      expect((await gantry.fetch('/live')).status).toBe(200);
      expect((await gantry.call('events.getEventTypes')).status).toBe(200);

      proxy.mend();
      const ingest = () => gantry.call('events.ingest', event);
      await eventually(ingest, ({ status }) => status === 200);
      expect((await gantry.call('sensors.getAll')).status).toBe(200);
      expect((await gantry.ok('system.health')).status).toBe('healthy');
    } finally {
      await gantry.stop();
      proxy.close();
      await database.drop();
    }
  });
});
