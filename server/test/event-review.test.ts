import { permissions, role } from '@gantry/contract/permissions';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const VERBS = ['events.markAsProcessed', 'events.markAsArchived', 'events.delete'] as const;

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const apiKey = await gantry.registerSensor();

const ingest = (fields: object = {}): Promise<string> =>
  gantry.ingest(apiKey, { eventType: 'INCIDENT', ...fields });
const get = (id: string) => gantry.ok('events.getById', { id }, { token });
const act = (verb: (typeof VERBS)[number], id: string, as = token) => gantry.ok(verb, { id }, { token: as });
const stats = () => gantry.ok('events.getStats', {}, { token });
const activityOf = async (id: string): Promise<string[]> => {
  const { rows } = await gantry.pool.query<{ action: string }>(
    `SELECT action FROM activity WHERE details ->> 'eventId' = $1 ORDER BY id`,
    [id],
  );
  return rows.map(({ action }) => action);
};

/** How much each of the counts changes while `work` runs. */
const movesDuring = async (work: () => Promise<unknown>) => {
  const before = await stats();
  await work();
  const after = await stats();
  const names = ['total', 'processed', 'unprocessed', 'archived'] as const;
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]]));
};

describe('events.markAsProcessed', () => {
  it('returns who did it and when, and changes nothing else', async () => {
    const id = await ingest();
    const before = await get(id);
    const started = Date.now();
    expect(await act('events.markAsProcessed', id)).toEqual({ success: true });
    const after = await get(id);
    expect(after).toEqual({
      ...before,
      processed: true,
      processedAt: expect.any(String),
      processedBy: { id: expect.any(String), name: 'OPERATOR Tester' },
    });
    expect(Date.parse(after.processedAt)).toBeGreaterThanOrEqual(started - 1_000);
    expect(Date.parse(after.processedAt)).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it('succeeds again and keeps the first mark', async () => {
    const id = await ingest();
    await act('events.markAsProcessed', id);
    const first = await get(id);
    const other = await gantry.tokenFor('FIELD');
    const moves = await movesDuring(async () => {
      expect(await act('events.markAsProcessed', id, other)).toEqual({ success: true });
    });
    expect(moves).toEqual({ total: 0, processed: 0, unprocessed: 0, archived: 0 });
    expect(await get(id)).toEqual(first);
    expect(await activityOf(id)).toEqual(['events.markAsProcessed']);
  });

  it('by ten users at once counts once', async () => {
    const id = await ingest();
    const moves = await movesDuring(() =>
      Promise.all(Array.from({ length: 10 }, () => act('events.markAsProcessed', id))),
    );
    expect(moves).toEqual({ total: 0, processed: 1, unprocessed: -1, archived: 0 });
    expect(await activityOf(id)).toHaveLength(1);
  });
});

describe('events.markAsArchived', () => {
  it('does not require processing, and leaves processed unchanged', async () => {
    const id = await ingest();
    const before = await get(id);
    expect(await act('events.markAsArchived', id)).toEqual({ success: true });
    expect(await get(id)).toEqual({
      ...before,
      archived: true,
      archivedAt: expect.any(String),
      archivedBy: { id: expect.any(String), name: 'OPERATOR Tester' },
    });
    await act('events.markAsProcessed', id);
    expect(await get(id)).toMatchObject({ archived: true, processed: true });
  });

  it('repeated, and by ten users at once, counts once', async () => {
    const id = await ingest();
    const moves = await movesDuring(async () => {
      await Promise.all(Array.from({ length: 10 }, () => act('events.markAsArchived', id)));
      await act('events.markAsArchived', id);
    });
    expect(moves).toEqual({ total: 0, processed: 0, unprocessed: 0, archived: 1 });
    expect(await activityOf(id)).toEqual(['events.markAsArchived']);
  });
});

describe('events.delete', () => {
  it('removes the event from every answer', async () => {
    const id = await ingest();
    const moves = await movesDuring(async () => {
      expect(await act('events.delete', id)).toEqual({ success: true });
    });
    expect(moves).toEqual({ total: -1, processed: 0, unprocessed: -1, archived: 0 });
    for (const verb of ['events.getById', ...VERBS]) {
      expect((await gantry.call(verb, { id }, { token })).status).toBe(404);
    }
    const { events } = await gantry.ok('events.getAll', { take: 100 }, { token });
    expect(events.map((event: { id: string }) => event.id)).not.toContain(id);
    expect(await activityOf(id)).toEqual(['events.delete']);
  });

  it('by ten users at once succeeds once', async () => {
    const id = await ingest();
    await act('events.markAsProcessed', id);
    const statuses: number[] = [];
    const moves = await movesDuring(async () => {
      const attempt = () => gantry.call('events.delete', { id }, { token });
      const answers = await Promise.all(Array.from({ length: 10 }, attempt));
      statuses.push(...answers.map(({ status }) => status).sort());
    });
    expect(statuses).toEqual([200, ...Array(9).fill(404)]);
    expect(moves).toEqual({ total: -1, processed: -1, unprocessed: 0, archived: 0 });
  });

  it('accepts the id in upper and lower case', async () => {
    const id = await ingest();
    expect(await get(id.toUpperCase())).toMatchObject({ id });
    expect(await act('events.delete', id.toUpperCase())).toEqual({ success: true });
  });
});

describe('marking, archiving and deleting the same events at once', () => {
  it('ends without errors and keeps the counts correct', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => ingest()));
    const everything = ids.flatMap((id) => VERBS.map((verb) => ({ id, verb })));
    const answers = await Promise.all(everything.map(({ id, verb }) => gantry.call(verb, { id }, { token })));
    expect(new Set(answers.map(({ status }) => status)).size).toBeLessThanOrEqual(2);
    expect(answers.every(({ status }) => status === 200 || status === 404)).toBe(true);
    const { rows } = await gantry.pool.query(
      `SELECT count(*) AS total, count(*) FILTER (WHERE processed) AS processed,
         count(*) FILTER (WHERE NOT processed) AS unprocessed, count(*) FILTER (WHERE archived) AS archived FROM events`,
    );
    expect(await stats()).toMatchObject(rows[0]);
  });
});

describe('the user who processed an event', () => {
  it('is shown with the present name, even after their account was deleted', async () => {
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const password = 'Correct-horse-1';
    const email = 'ada@gantry.local';
    const user = { email, password, firstName: 'Ada', lastName: 'Byron', role: 'FIELD' };
    const { id: userId } = await gantry.ok('users.create', user, admin);
    const id = await ingest();
    const own = await gantry.login(email, password);
    await act('events.markAsProcessed', id, own);
    await act('events.markAsArchived', id, own);
    await gantry.ok('users.update', { id: userId, lastName: 'Lovelace' }, admin);
    expect(await get(id)).toMatchObject({
      processedBy: { id: userId, name: 'Ada Lovelace' },
      archivedBy: { id: userId, name: 'Ada Lovelace' },
    });
    await gantry.ok('users.delete', { id: userId }, admin);
    expect(await get(id)).toMatchObject({
      processed: true,
      processedBy: { id: userId, name: 'Ada Lovelace' },
      archivedBy: { id: userId, name: 'Ada Lovelace' },
    });
  });
});

describe('an id that is not of an event', () => {
  it.each([
    'x',
    'constructor',
    '\u0000',
    '\ud800',
    "'; DROP TABLE events; --",
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '{0197d1a0-0000-7000-8000-000000000000}',
    '0197d1a000007000800000000000000',
    '1'.repeat(1000),
  ])('is not found, whatever its format: %j', async (id) => {
    for (const verb of ['events.getById', ...VERBS]) {
      const { status, body } = await gantry.call(verb, { id }, { token });
      expect([verb, status, body]).toEqual([
        verb,
        404,
        {
          error: {
            json: { message: 'Event not found', code: -32004, data: { code: 'NOT_FOUND', httpStatus: 404 } },
          },
        },
      ]);
    }
  });

  it.each([{ id: '' }, {}, undefined, { id: null }, { id: 7 }, { id: ['x'] }])(
    '%j is refused',
    async (input) => {
      for (const verb of ['events.getById', ...VERBS]) {
        expect([verb, (await gantry.call(verb, input, { token })).status]).toEqual([verb, 400]);
      }
    },
  );

  it('of a sensor or a user is not found either', async () => {
    const { sensors } = await gantry.ok('sensors.getAll', { take: 1 });
    expect((await gantry.call('events.getById', { id: sensors[0].id }, { token })).status).toBe(404);
  });
});

describe('reviewing', () => {
  it('requires a login', async () => {
    for (const verb of VERBS) {
      const { status, body } = await gantry.call(verb, { id: 7 });
      expect([status, body.error.json.message]).toEqual([401, 'No token provided']);
    }
  });

  it.each(role.options)(
    'is allowed to %s by their permissions, before the input is checked',
    async (name) => {
      const own = { token: await gantry.tokenFor(name) };
      for (const verb of VERBS) {
        const permission = verb === 'events.delete' ? 'deleteEvents' : 'manageIncidents';
        const may = (permissions[permission] as readonly string[]).includes(name);
        expect([verb, (await gantry.call(verb, { id: 7 }, own)).status]).toEqual([verb, may ? 400 : 403]);
        expect([verb, (await gantry.call(verb, { id: await ingest() }, own)).status]).toEqual([
          verb,
          may ? 200 : 403,
        ]);
      }
    },
  );

  it('is for ADMIN, OPERATOR and FIELD, and deleting for ADMIN and OPERATOR', () => {
    expect(permissions.manageIncidents).toEqual(['ADMIN', 'OPERATOR', 'FIELD']);
    expect(permissions.deleteEvents).toEqual(['ADMIN', 'OPERATOR']);
  });
});
