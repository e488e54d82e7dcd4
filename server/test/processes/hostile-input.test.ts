import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appRouter } from '../../src/api/router.ts';
import { EXAMPLE_ID } from '../../src/http/docs/examples.ts';
import { describeProcedures } from '../../src/http/docs/procedures.ts';
import { createPool } from '../../src/platform/database/pool.ts';
import { ADMIN, createTestDatabase } from '../harness.ts';
import { hostileJson, hostileMeta, hostileRaw, hostileText, nearly } from '../hostile-values.ts';
import { send as sendRequest } from '../http-client.ts';
import { readSuites } from '../public-suites.ts';
import { countRows } from '../table-counts.ts';
import { lengthOf } from '../test-length.ts';
import { type ServiceProcess, spawnService, untilItServes } from './service-process.ts';

// Arbitrary inputs to every procedure of the router. HOSTILE_RUNS sets the number of inputs to each, and HOSTILE_SEED
// repeats a run.

const RUNS = Number(process.env.HOSTILE_RUNS ?? lengthOf({ gate: 4, full: 16 }));
const SEED = Number(process.env.HOSTILE_SEED ?? Date.now() % 2 ** 31);
const MAX_ERROR = 100_000;
const MAX_DELAY_MS = 250;
const GET_MAX = 60_000;

/** Tables in which a refused call leaves rows by design. */
const TRACES: Readonly<Record<string, readonly string[]>> = { 'auth.login': ['activity', 'failed_logins'] };

const procedures = describeProcedures(appRouter);
const limits = { seed: SEED, numRuns: RUNS, interruptAfterTimeLimit: 100_000 };

let service: ServiceProcess;
let pool: pg.Pool;
let token: string;
let known: string[];
/** The rows of each table after the last procedure. */
let rows: Readonly<Record<string, number>> = {};
let cleanUp: () => Promise<void>;
const idleDelay = monitorEventLoopDelay({ resolution: 10 });

beforeAll(async () => {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'gantry-hostile-'));
  const settings = {
    DATABASE_URL: database.url,
    ADMIN_EMAIL: ADMIN.email,
    HEARTBEAT_TIMEOUT_SECONDS: '3600',
  };
  service = await untilItServes(spawnService(folder, settings));
  pool = createPool(database.url, 2, () => undefined);
  cleanUp = async () => {
    await service.stop();
    await pool.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  };
  token = await service.tokenFor('ADMIN');
  const apiKey = await service.registerSensor();
  const { sensors } = await service.ok('sensors.getAll', {}, { token });
  const location = await service.ok('locations.create', { name: 'Here' }, { token });
  const { eventId } = await service.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
  known = [apiKey, sensors[0].id, location.id, eventId];
  idleDelay.enable();
});
afterAll(() => cleanUp());

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The beginning of a stream, which contains the refusal. */
const readBeginning = async (response: Response, leave: () => void): Promise<string> => {
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader && !/event: (serialized-error|connected)[\s\S]*\n\n/.test(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  leave();
  return text;
};

const send = async (path: string, type: string, body: string, as: string): Promise<Answer> => {
  const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' };
  const url = `${service.url}/trpc/${path}`;
  if (type === 'mutation') return sendRequest(url, 'POST', headers, body);
  const query = encodeURIComponent(body.toWellFormed());
  const address = `${url}?input=${query.slice(0, GET_MAX).replace(/%.?$/, '')}`;
  if (type === 'query') return sendRequest(address, 'GET', headers);
  const leaving = new AbortController();
  const response = await fetch(address, { headers, signal: leaving.signal });
  if (response.status !== 200) return { status: response.status, text: await response.text() };
  const text = await readBeginning(response, () => leaving.abort());
  const failed = /event: serialized-error[\s\S]*"httpStatus":(\d+)/.exec(text)?.[1];
  return { status: failed === undefined ? 200 : Number(failed), text: '' };
};

/** Checks that apply to every answer, whatever was sent. */
const expectHarmless = ({ status, text }: Answer): void => {
  expect(status, text.slice(0, 500)).toBeLessThan(500);
  if (status < 400 || text === '') return;
  expect(text.length).toBeLessThan(MAX_ERROR);
  const { message, data } = JSON.parse(text).error.json;
  expect(data.httpStatus).toBe(status);
  expect(message).not.toBe('');
  for (const issue of data.issues ?? []) {
    expect(issue.message).not.toMatch(/^Invalid (input|option|string|number)|^Too (big|small)|^Unrecognized/);
  }
};

describe(`arbitrary input (HOSTILE_SEED=${SEED})`, () => {
  it.each(procedures.map((each) => [each.path, each] as const))(
    'to %s is answered, and leaves no trace when it is refused',
    async (path, { type, input }) => {
      const json = input ? nearly(input, known) : hostileJson;
      const bodies = fc.oneof(
        { weight: 4, arbitrary: json.map((value) => JSON.stringify({ json: value })) },
        {
          weight: 2,
          arbitrary: fc
            .tuple(json, hostileMeta)
            .map(([value, meta]) => JSON.stringify({ json: value, meta })),
        },
        { weight: 1, arbitrary: hostileRaw },
      );
      // The input may end the session of the token, so this procedure is called with a token of its own.
      const as = path === 'auth.logout' ? await service.login(ADMIN.email, ADMIN.password) : token;
      const refused: string[] = [];
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const answer = await send(path, type, body, as);
          expectHarmless(answer);
          if (answer.status >= 400) refused.push(body);
        }),
        limits,
      );

      const last = rows;
      rows = await countRows(pool);
      if (JSON.stringify(rows) === JSON.stringify(last)) return;
      // What was accepted, or background work, has changed a count. The latter may do so again, but not at every attempt.
      for (let attempt = 1; ; attempt++) {
        const before = await countRows(pool, TRACES[path]);
        const answers = await Promise.all(refused.map((body) => send(path, type, body, as)));
        const after = await countRows(pool, TRACES[path]);
        if (TRACES[path] === undefined) rows = after;
        if (answers.some(({ status }) => status < 400)) return;
        if (attempt < 4 && JSON.stringify(after) !== JSON.stringify(before)) continue;
        expect(after).toEqual(before);
        return;
      }
    },
  );

  it('in place of the ids of the examples is refused, or finds nothing', async () => {
    for (const { path, type, example } of procedures) {
      const text = JSON.stringify({ json: example });
      if (!text.includes(EXAMPLE_ID)) continue;
      for (const id of ['x', '\\', '-1', '9'.repeat(40), EXAMPLE_ID.replaceAll('-', '')]) {
        const { status } = await send(
          path,
          type,
          text.replaceAll(EXAMPLE_ID, id.replace('\\', '\\\\')),
          token,
        );
        expect({ path, id, isHarmless: status < 500 }).toEqual({ path, id, isHarmless: true });
      }
    }
  });

  it('never delays other requests for long', async () => {
    idleDelay.disable();
    const metrics = (await service.fetch('/metrics')).body;
    const p99 = Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000;
    // The delay that an overloaded machine causes, measured in this process.
    const late = idleDelay.percentile(99) / 1e6;
    expect(p99).toBeGreaterThan(0);
    expect(p99).toBeLessThan(MAX_DELAY_MS + late);
  });
});

/** A text that is written and read back. */
interface Written {
  readonly write: (text: string) => Promise<{ status: number; read?: () => Promise<unknown> }>;
  /** What is stored in place of it. */
  readonly becomes: (text: string) => unknown;
}

const asIs = (text: string): string => text;
const trimmed = (text: string): string => text.trim();
const orNull = (text: string): string | null => text.trim() || null;

const written = (
  procedure: string,
  input: (text: string) => object,
  read: (made: Record<string, string>, text: string) => Promise<unknown>,
  becomes: Written['becomes'],
): Written => ({
  becomes,
  write: async (text) => {
    const { status, body } = await service.call(procedure, input(text), { token });
    return status === 200 ? { status, read: () => read(body.result.data.json, text) } : { status };
  },
});

const get = (procedure: string, input: object) => service.ok(procedure, input, { token });
const event = (more: object) => ({ apiKey: writer.apiKey, eventType: 'INCIDENT', ...more });
let serial = 0;
const sensor = () => ({ name: 'Mast', deviceId: `device-${++serial}-${SEED}`, type: 'CAMERA' });

const texts: Record<string, () => Written> = {
  'description of an event': () =>
    written(
      'events.ingest',
      (description) => event({ description }),
      async ({ eventId }) => (await get('events.getById', { id: eventId })).description,
      orNull,
    ),
  'plate of an event': () =>
    written(
      'events.ingest',
      (licensePlateNumber) => event({ licensePlateNumber }),
      async ({ eventId }) => (await get('events.getById', { id: eventId })).licensePlateNumber,
      orNull,
    ),
  'metadata of an event': () =>
    written(
      'events.ingest',
      (text) => event({ metadata: { text, [`k${text}`]: [text] } }),
      async ({ eventId }, text) => {
        const { metadata } = await get('events.getById', { id: eventId });
        expect(metadata[`k${text}`]).toEqual([text]);
        return metadata.text;
      },
      asIs,
    ),
  'name of a sensor': () =>
    written(
      'sensors.create',
      (name) => ({ ...sensor(), name }),
      async ({ id }) => (await get('sensors.getById', { id })).name,
      trimmed,
    ),
  'description of a sensor': () =>
    written(
      'sensors.create',
      (description) => ({ ...sensor(), description }),
      async ({ id }) => (await get('sensors.getById', { id })).description,
      orNull,
    ),
  'name of a location': () =>
    written(
      'locations.create',
      (name) => ({ name }),
      async ({ id }) => (await get('locations.getById', { id })).name,
      trimmed,
    ),
  'reason of a hold': () =>
    written(
      'storage.setHold',
      (reason) => ({ eventIds: [writer.eventId], reason }),
      async ({ id }) => (await get('storage.getHold', { id })).reason,
      trimmed,
    ),
  'title of an incident': () =>
    written(
      'incidents.create',
      (title) => ({ title, type: 'COLLISION' }),
      async ({ id }) => (await get('incidents.getById', { id })).title,
      trimmed,
    ),
};

/** A sensor and an event created for these tests, because the arbitrary inputs may have removed the earlier ones. */
const writer = { apiKey: '', eventId: '' };

describe('text that is accepted', () => {
  beforeAll(async () => {
    writer.apiKey = await service.registerSensor();
    const first = await service.ok('events.ingest', { apiKey: writer.apiKey, eventType: 'INCIDENT' });
    writer.eventId = first.eventId;
  });

  it.each(Object.entries(texts))('is read as it was written: %s', async (_, make) => {
    const { write, becomes } = make();
    let accepted = 0;
    const check = async (text: string): Promise<void> => {
      const { status, read } = await write(text);
      if (!read) {
        expect(status).toBe(400);
        return;
      }
      accepted++;
      expect(await read()).toEqual(becomes(text));
    };
    await fc.assert(fc.asyncProperty(hostileText, check), limits);
    await check('Ordinary text');
    expect(accepted).toBeGreaterThan(0);
  });
});

readSuites({
  text: (name, text) => texts[name]?.().write(text),
  send: (path, type, body) => send(path, type, body, token),
  sendBytes: async (bytes) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/trpc/sensors.heartbeat`, {
      method: 'POST',
      headers,
      body: bytes,
    });
    return { status: response.status, text: await response.text() };
  },
  fetchAs: async (bearer) => {
    const response = await fetch(`${service.url}/trpc/auth.me`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
    return { status: response.status, text: await response.text() };
  },
  expectHarmless,
});
