import { describe, expect, it } from 'vitest';
import { gather } from '../src/activity/store.ts';
import { sharedGantry, startGantry } from './harness.ts';
import { png } from './sample-images.ts';
import { createShiftedTime } from './shifted-time.ts';
import { openStream } from './sse.ts';

// A user who is shown plates leaves one entry in ten minutes for each event, or for each filter of a list.

const PLATE = 'XQ 77-PLT';
const time = createShiftedTime();
// The counts of repetitions are stored when a test asks for it.
const overrides = { clock: time.sources, timings: { countLooksMs: 3_600_000 } };
const config = { HIDE_PLATES_FROM: 'VIEWER', JWT_SECRET: 'a secret of both processes of these tests' };
const gantry = await sharedGantry({ config, overrides });
const admin = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();
const ingest = (fields: object = {}): Promise<string> =>
  gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: PLATE, ...fields });

interface Entry {
  readonly action: string;
  readonly details: Record<string, unknown>;
}

/** The entries of the user that were written since the last call. */
let seen = 0;
const newEntries = async (): Promise<Entry[]> => {
  await gantry.app.context.looks.flush();
  const { rows } = await gantry.pool.query(
    'SELECT id, action, details FROM activity WHERE id > $1 ORDER BY id',
    [seen],
  );
  seen = rows.at(-1)?.id ?? seen;
  return rows.map(({ action, details }) => ({ action, details }));
};
/** Begins a period of ten minutes, so that the looks of a test are in one. */
const nextPeriod = async (): Promise<void> => {
  time.advance(600_000);
  await newEntries();
};
const get = (path: string, token: string) =>
  fetch(`${gantry.url}${path}`, { headers: { authorization: `Bearer ${token}` } });

describe('a look at an event', () => {
  it('is one entry, however it is looked at, and counted', async () => {
    const id = await ingest({ images: [png({ shade: 31 }).toString('base64')] });
    await nextPeriod();
    const { images } = await gantry.ok('events.getById', { id }, { token: admin });
    await gantry.ok('evidence.getProof', { eventId: id }, { token: admin });
    expect((await get(images[0], admin)).status).toBe(200);
    await gantry.ok('events.getById', { id }, { token: admin });
    expect(await newEntries()).toEqual([{ action: 'events.view', details: { eventId: id, count: 4 } }]);
    await gantry.ok('events.getById', { id }, { token: admin });
    expect(await newEntries()).toEqual([]);
    const { rows } = await gantry.pool.query(
      `SELECT details FROM activity WHERE details ->> 'eventId' = $1 AND action = 'events.view'`,
      [id],
    );
    expect(rows).toEqual([{ details: { eventId: id, count: 5 } }]);
  });

  it('begins an entry in each ten minutes', async () => {
    const id = await ingest();
    await nextPeriod();
    for (let n = 0; n < 3; n++) {
      await gantry.ok('events.getById', { id }, { token: admin });
      expect(await newEntries()).toEqual([{ action: 'events.view', details: { eventId: id } }]);
      time.advance(600_000);
    }
    time.advance(-600_000);
    await gantry.ok('events.getById', { id }, { token: admin });
    expect(await newEntries()).toEqual([]);
  });

  it('is stored before the answer is sent, and is refused if it cannot be', async () => {
    const id = await ingest();
    await nextPeriod();
    await gantry.pool.query('ALTER TABLE activity RENAME TO activity_away');
    const refused = await gantry.call('events.getById', { id }, { token: admin });
    await gantry.pool.query('ALTER TABLE activity_away RENAME TO activity');
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([500, expect.not.stringContaining(PLATE)]);
    await gantry.ok('events.getById', { id }, { token: admin });
    expect(await gantry.count(`activity WHERE details ->> 'eventId' = '${id}'`)).toBe(1);
  });

  it('of an event that shows no plate leaves none, nor does one that is not found', async () => {
    const id = await gantry.ingest(apiKey, {
      eventType: 'VEHICLE_DETECTION',
      description: 'Something lies there',
    });
    await nextPeriod();
    await gantry.ok('events.getById', { id }, { token: admin });
    await gantry.refusal('events.getById', { id: crypto.randomUUID() }, { token: admin });
    expect(await newEntries()).toEqual([]);
  });

  it('of users from whom plates are hidden, or of devices, leaves none', async () => {
    const viewer = await gantry.tokenFor('VIEWER');
    const id = await ingest();
    await nextPeriod();
    await gantry.ok('events.getById', { id }, { token: viewer });
    await gantry.ok('events.getAll', {}, { token: viewer });
    await ingest();
    expect(await newEntries()).toEqual([]);
  });

  it('with an API token is one of its user, and names the token', async () => {
    const id = await ingest();
    const given = { name: 'Archive', role: 'ADMIN', password: 'Correct-horse-1', expiresInDays: 1 };
    const { token, id: apiTokenId } = await gantry.ok('apiTokens.create', given, { token: admin });
    const { id: userId } = await gantry.ok('auth.me', undefined, { token: admin });
    await nextPeriod();
    await gantry.ok('events.getById', { id }, { token });
    await gantry.ok('events.getById', { id }, { token });
    expect(await newEntries()).toEqual([
      { action: 'events.view', details: { eventId: id, apiToken: 'Archive', apiTokenId, count: 2 } },
    ]);
    expect(
      await gantry.count(`activity WHERE user_id = '${userId}' AND details ->> 'eventId' = '${id}'`),
    ).toBe(1);
  });

  it('at the same time by many is one entry for each user', async () => {
    const id = await ingest();
    const operator = await gantry.tokenFor('OPERATOR');
    await nextPeriod();
    await Promise.all(
      [admin, operator].flatMap((token) =>
        Array.from({ length: 20 }, () => gantry.ok('events.getById', { id }, { token })),
      ),
    );
    const details = { eventId: id, count: 20 };
    expect(await newEntries()).toEqual([
      { action: 'events.view', details },
      { action: 'events.view', details },
    ]);
  });

  it('through two processes is one entry with the sum of their counts', async () => {
    await using other = await startGantry({
      config: { ...config, DATABASE_URL: gantry.app.context.config.DATABASE_URL ?? '' },
      overrides,
    });
    const id = await ingest();
    await nextPeriod();
    await Promise.all(
      [gantry, other].flatMap((service) =>
        Array.from({ length: 5 }, () => service.ok('events.getById', { id }, { token: admin })),
      ),
    );
    await other.app.context.looks.flush();
    expect(await newEntries()).toEqual([{ action: 'events.view', details: { eventId: id, count: 10 } }]);
  });
});

describe('a look at a list', () => {
  it('is one entry for each filter, whichever pages are read in whatever order', async () => {
    await ingest();
    await nextPeriod();
    for (const skip of [0, 1, 2])
      await gantry.ok('events.getAll', { skip, take: 1, sortBy: 'severity' }, { token: admin });
    const day = new Date().toISOString().slice(0, 10);
    for (const startDate of [day, `${day}T00:00:00Z`, `${day}T00:00:01.5Z`])
      await gantry.ok('events.getAll', { startDate }, { token: admin });
    expect(await newEntries()).toEqual([
      { action: 'events.view', details: { procedure: 'events.getAll', count: 3 } },
      {
        action: 'events.view',
        details: { procedure: 'events.getAll', filter: { startDate: day }, count: 3 },
      },
    ]);
  });

  it('that is empty or shows no plate leaves none', async () => {
    await nextPeriod();
    await gantry.ok('events.getAll', { endDate: '2020-01-01' }, { token: admin });
    await gantry.ok('events.getAll', { eventType: 'VEHICLE_DETECTION' }, { token: admin });
    await gantry.ok('events.getStats', {}, { token: admin });
    expect(await newEntries()).toEqual([]);
  });

  it('that is a search for a plate leaves no entry besides that of the search', async () => {
    await ingest();
    await nextPeriod();
    const search = { licensePlateNumber: PLATE, reason: 'Case 1' };
    await gantry.ok('events.getAll', search, { token: admin });
    await gantry.ok('events.getAll', { ...search, skip: 1 }, { token: admin });
    expect(await newEntries()).toEqual([
      {
        action: 'events.lookUpPlate',
        details: { plate: PLATE, reason: 'Case 1', total: expect.any(Number) },
      },
    ]);
  });

  it('in a batch is an entry of each call of the batch', async () => {
    const id = await ingest();
    await nextPeriod();
    const input = { 0: { json: { id } }, 1: { json: { licensePlateNumber: PLATE } }, 2: { json: {} } };
    const { status } = await gantry.fetch(
      `/trpc/events.getById,events.getAll,events.getAll?batch=1&input=${encodeURIComponent(JSON.stringify(input))}`,
      { headers: { authorization: `Bearer ${admin}` } },
    );
    expect(status).toBe(200);
    expect(
      (await newEntries())
        .map(({ action, details }) => `${action} ${details.procedure ?? details.eventId}`)
        .sort(),
    ).toEqual(['events.lookUpPlate undefined', 'events.view events.getAll', `events.view ${id}`].sort());
  });

  it('is found in the log by what the filter names, and texts in filters are cut', async () => {
    const { id: sensorId } = (await gantry.ok('sensors.getAllSensors', undefined, { token: admin }))[0];
    await ingest();
    await nextPeriod();
    await gantry.ok('events.getAll', { sensorId }, { token: admin });
    const log = await gantry.ok(
      'users.getActivityLog',
      { about: sensorId, action: 'events.view' },
      { token: admin },
    );
    expect(log.activities[0]).toMatchObject({ details: { filter: { sensorId } } });
    await newEntries();
    const entry = { pattern: 'LONG*', reason: 'x'.repeat(450) };
    await gantry.ok('watchlist.create', entry, { token: admin });
    await gantry.ok('watchlist.getAll', { search: 'x'.repeat(200) }, { token: admin });
    expect(await newEntries()).toEqual([
      { action: 'watchlist.create', details: expect.anything() },
      {
        action: 'events.view',
        details: { procedure: 'watchlist.getAll', filter: { search: 'x'.repeat(200) } },
      },
    ]);
  });
});

describe('a stream', () => {
  it('leaves an entry in each ten minutes in which it shows plates', async () => {
    await nextPeriod();
    const stream = await openStream(gantry.url, 'events.onIngested', { token: admin });
    await expect.poll(() => stream.messages.length, { timeout: 100_000 }).toBeGreaterThan(0);
    expect(await newEntries()).toEqual([]);
    const arrived = async (fields: object = {}): Promise<void> => {
      const id = await ingest(fields);
      const hasIt = () => stream.messages.some(({ data }) => data.event?.id === id);
      await expect.poll(hasIt, { timeout: 100_000 }).toBe(true);
    };
    const one = [{ action: 'events.view', details: { procedure: 'events.onIngested' } }];
    await arrived({ licensePlateNumber: null });
    expect(await newEntries()).toEqual([]);
    for (let n = 0; n < 3; n++) await arrived();
    expect(await newEntries()).toEqual(one);
    time.advance(600_000);
    await arrived();
    expect(await newEntries()).toEqual(one);
    stream.close();
  });
});

describe('entries that count', () => {
  it('stay as they are sealed when they count', async () => {
    const id = await ingest();
    await nextPeriod();
    await gantry.ok('events.getById', { id }, { token: admin });
    const sealed = `SELECT details - ARRAY['count', 'otherAddresses'] AS details, at, ip_address FROM activity
      WHERE details ->> 'eventId' = $1`;
    const before = (await gantry.pool.query(sealed, [id])).rows;
    for (let n = 0; n < 3; n++) await gantry.ok('events.getById', { id }, { token: admin });
    await newEntries();
    expect((await gantry.pool.query(sealed, [id])).rows).toEqual(before);
  });

  it('are written in the order of their keys by whoever writes several', async () => {
    const { id: userId } = await gantry.ok('auth.me', undefined, { token: admin });
    const caller = { address: '127.0.0.1', userAgent: null };
    const rowsOf = (names: readonly string[]) =>
      names.map((about) => ({
        ...({ userId, caller, action: 'events.view', about, seconds: 600, period: 7 } as const),
        details: { eventId: about },
      }));
    const names = Array.from({ length: 50 }, (_, n) => `order ${n}`);
    const orders = [names, names.toReversed()];
    const { db } = gantry.app.context;
    for (let n = 0; n < 10; n++) await Promise.all(orders.map((order) => gather(db, rowsOf(order))));
    const { rows } = await gantry.pool.query(
      `SELECT DISTINCT details ->> 'count' AS count FROM activity WHERE details ->> 'eventId' LIKE 'order %'`,
    );
    expect(rows).toEqual([{ count: '20' }]);
  });
});
