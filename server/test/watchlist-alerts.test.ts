import { randomUUID } from 'node:crypto';
import { reportedEvent, type Severity } from '@gantry/contract/events';
import { listAlertsInput, type WatchlistAlert } from '@gantry/contract/watchlist';
import { drizzle } from 'drizzle-orm/node-postgres';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrich } from '../src/ingest/enrich.ts';
import { channels, listen } from '../src/platform/database/notify.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { listAlerts as listStoredAlerts } from '../src/watchlist/alerts-store.ts';
import { raiseAlerts } from '../src/watchlist/raise-alerts.ts';
import { eventually, type Gantry, sharedGantry, startGantry } from './harness.ts';

interface AlertJson {
  id: string;
  entryId: string;
  eventId: string;
  pattern: string;
  reason: string;
  priority: Severity;
  licensePlateNumber: string;
  timestamp: string;
  createdAt: string;
  acknowledgedAt: string | null;
  acknowledgedBy: { id: string; name: string } | null;
  note: string | null;
  backlog: boolean;
  sightings: number;
  lastSeenAt: string;
}

const KEYS = [
  'acknowledgedAt',
  'acknowledgedBy',
  'backlog',
  'createdAt',
  'entryId',
  'eventId',
  'id',
  'lastSeenAt',
  'licensePlateNumber',
  'locationName',
  'note',
  'pattern',
  'priority',
  'reason',
  'sensorId',
  'sensorName',
  'sightings',
  'timestamp',
];

let plates = 0;
const gantry = await sharedGantry({ config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' } });
const token = await gantry.tokenFor('OPERATOR');
const apiKey = await gantry.registerSensor();

const ok = <Output>(procedure: string, input?: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token });
const watch = (pattern: string, fields: object = {}) =>
  ok<{ id: string }>('watchlist.create', { pattern, reason: 'Stolen', ...fields });
const listAlerts = async (entryId: string, input: object = {}) =>
  (await ok<{ alerts: AlertJson[] }>('watchlist.getAlerts', { entryId, ...input })).alerts;
/** Waits until every stored read has raised its alerts: until then, it is among the events to follow up. */
const followedUp = () =>
  eventually(
    async () => (await gantry.pool.query('SELECT FROM events_to_follow_up')).rowCount,
    (count) => count === 0,
  );
/** The alerts of an entry, once all ingested events have raised theirs. */
const alertsOf = async (entryId: string, input: object = {}) => {
  await followedUp();
  return listAlerts(entryId, input);
};
/** A plate that no other test uses. */
const newPlate = (): string => `TEST ${++plates} XY`;
const ingest = (licensePlateNumber: string, fields: object = {}, by = gantry) =>
  by.ok<{ eventId: string }>('events.ingest', {
    apiKey,
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber,
    ...fields,
  });

describe('a read of a watched plate', () => {
  it('raises an alert within a second, with the plate as read', async () => {
    const plate = newPlate();
    const { id } = await watch(plate, { priority: 'CRITICAL' });
    const timestamp = new Date(Date.now() - 60_000).toISOString();
    const read = plate.toLowerCase().replace(' ', '-');
    const { eventId } = await ingest(read, {
      timestamp,
      location: { latitude: 1, longitude: 2, address: 'Pole 9' },
    });
    const [alert, ...others] = await eventually(
      () => listAlerts(id),
      (alerts) => alerts.length > 0,
      1_000,
    );
    expect(others).toEqual([]);
    expect(Object.keys(alert ?? {}).sort()).toEqual(KEYS);
    const event = await ok<Record<string, unknown>>('events.getById', { id: eventId });
    expect(alert).toMatchObject({
      entryId: id,
      pattern: plate,
      reason: 'Stolen',
      priority: 'CRITICAL',
      eventId,
      licensePlateNumber: read,
      sensorId: event.sensorId,
      sensorName: 'Mast 7',
      locationName: 'Pole 9',
      timestamp,
      acknowledgedAt: null,
      acknowledgedBy: null,
      note: null,
      backlog: false,
      sightings: 1,
      lastSeenAt: timestamp,
    });
    expect(event.licensePlateNumber).toBe(read);
  });

  it('raises one for each matching entry, whatever the type of event', async () => {
    const plate = newPlate();
    const key = plate.replaceAll(' ', '');
    const ids = await Promise.all([plate, `${key.slice(0, 6)}*`, `*${key.slice(2)}`].map((p) => watch(p)));
    await ingest(plate, { eventType: 'SPEED_DETECTION', vehicleSpeed: 50 });
    for (const { id } of ids) expect(await alertsOf(id)).toHaveLength(1);
    for (const { id } of ids) await ok('watchlist.delete', { id });
  });

  it('raises one for a confused character or a similar one of another script only if the entry is fuzzy', async () => {
    const exact = await watch('QX 108 ZB');
    const fuzzy = await watch('QX 108 ZB', { fuzzy: true });
    await ingest('0X-IDB-28');
    await ingest('QХ·１０８ ΖB');
    expect(await alertsOf(exact.id)).toEqual([]);
    // Both reads are of one vehicle.
    expect(await alertsOf(fuzzy.id)).toMatchObject([{ licensePlateNumber: '0X-IDB-28', sightings: 2 }]);
  });

  it('raises none outside the validity of the entry, whenever it arrives', async () => {
    const plate = newPlate();
    const { id } = await watch(plate, {
      validFrom: '2026-02-01T12:00:00.000Z',
      validUntil: '2026-02-01T13:00:00.000Z',
    });
    const inside = ['2026-02-01T12:00:00.000Z', '2026-02-01T13:00:00.000Z'];
    // An hour apart, so that the two are two alerts.
    for (const timestamp of ['2026-02-01T11:59:59.999Z', ...inside, '2026-02-01T13:00:00.001Z']) {
      await ingest(plate, { timestamp });
    }
    await ingest(plate);
    expect((await alertsOf(id, { sortOrder: 'asc' })).map(({ timestamp }) => timestamp)).toEqual(inside);
  });

  it('raises no second one when the device repeats the event', async () => {
    const plate = newPlate();
    const { id } = await watch(plate);
    const same = { timestamp: new Date().toISOString(), idempotencyKey: 'k1' };
    const [first, second] = [await ingest(plate, same), await ingest(plate, same)];
    expect(second).toEqual(first);
    expect(await alertsOf(id)).toHaveLength(1);
  });

  it('raises an alert for each vehicle of a batch', async () => {
    const plate = newPlate();
    const { id } = await watch(`${plate}*`);
    const events = [`${plate} 1`, 'OTHER 1', `${plate} 2`, `${plate} 3`].map((licensePlateNumber) => ({
      eventType: 'VEHICLE_DETECTION',
      licensePlateNumber,
    }));
    const { results } = await ok<{ results: { eventId: string }[] }>('events.ingestBatch', {
      apiKey,
      events,
    });
    const expected = results.map(({ eventId }) => eventId).filter((_, n) => n !== 1);
    expect((await alertsOf(id)).map(({ eventId }) => eventId).sort()).toEqual(expected.sort());
  });

  it('raises none before the entry was created or after it was deleted, and its alerts stay unchanged', async () => {
    const plate = newPlate();
    await ingest(plate);
    const { id } = await watch(plate);
    expect(await alertsOf(id)).toEqual([]);
    await ingest(plate);
    const before = await alertsOf(id);
    await ok('watchlist.update', { id, pattern: 'ZZ 99', reason: 'Found', priority: 'LOW' });
    await ingest(plate);
    await ok('watchlist.delete', { id });
    await ingest('ZZ 99');
    expect(before).toHaveLength(1);
    expect(await alertsOf(id)).toEqual(before);
  });
});

describe('raising alerts', () => {
  const sensor = {
    id: randomUUID(),
    name: 'Gate',
    address: null,
    locationId: null,
    locationName: null,
    speedLimit: null,
    eventsPerMin: 20,
  };
  const hitOf = (entryId: string, licensePlateNumber: string) => ({
    entry: {
      id: entryId,
      pattern: 'AB*',
      reason: 'Unpaid "fees" \\ $1',
      priority: 'HIGH' as const,
      validFrom: null,
      validUntil: null,
      fuzzy: false,
    },
    row: enrich(
      reportedEvent.parse({ eventType: 'PLATE_RECOGNITION', licensePlateNumber }),
      sensor,
      'UTC',
      Date.UTC(2026, 0, 31, 12, 0, 0, 123),
    ),
  });
  const raise = (hits: readonly ReturnType<typeof hitOf>[]) =>
    inTransaction(gantry.app.context.db, (tx) => raiseAlerts(gantry.app.context, tx, hits));
  /** The published alerts of an entry, in the form in which they are stored for subscribers. */
  const published = async (entryId: string) =>
    (
      await gantry.pool.query(
        `SELECT body FROM changes WHERE topic = 'watchlist' AND body -> 'json' ->> 'entryId' = $1`,
        [entryId],
      )
    ).rows.map(({ body }) => superjson.deserialize<WatchlistAlert>(body));

  it('stores the fields of entry and event, and publishes exactly those', async () => {
    const entryId = randomUUID();
    await raise(['МО 77', 'AB\t"1"', '品川 500 😀'].map((plate) => hitOf(entryId, plate)));
    const alerts = await alertsOf(entryId, { sortOrder: 'asc' });
    expect(alerts.map(({ licensePlateNumber }) => licensePlateNumber).sort()).toEqual(
      ['МО 77', 'AB\t"1"', '品川 500 😀'].sort(),
    );
    expect(alerts[0]).toMatchObject({
      reason: 'Unpaid "fees" \\ $1',
      priority: 'HIGH',
      sensorId: sensor.id,
      sensorName: 'Gate',
      locationName: null,
      timestamp: '2026-01-31T12:00:00.123Z',
    });
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    const bodies = (await published(entryId)).sort(byId);
    expect(bodies.map(({ timestamp }) => timestamp.getTime())).toEqual(
      alerts.map(({ timestamp }) => Date.parse(timestamp)),
    );
    expect(JSON.parse(JSON.stringify(bodies))).toEqual(alerts.sort(byId));
  });

  it('creates one alert for each entry and event, however often it is called', async () => {
    const entryId = randomUUID();
    const hit = hitOf(entryId, 'AB 1');
    await raise([hit, hit]);
    await raise([hit]);
    await raise([hit, hitOf(entryId, 'AB 2')]);
    await raise([]);
    expect(await alertsOf(entryId)).toHaveLength(2);
    expect(await published(entryId)).toHaveLength(2);
  });

  it('leaves nothing when the transaction is rolled back', async () => {
    const entryId = randomUUID();
    const failing = inTransaction(gantry.app.context.db, async (tx) => {
      await raiseAlerts(gantry.app.context, tx, [hitOf(entryId, 'AB 1')]);
      throw new Error('the events could not be stored');
    });
    await expect(failing).rejects.toThrow('could not be stored');
    expect(await alertsOf(entryId)).toEqual([]);
    expect(await published(entryId)).toEqual([]);
  });

  it('handles many hits at once', async () => {
    const entryId = randomUUID();
    await raise(Array.from({ length: 8_000 }, (_, n) => hitOf(entryId, `AB ${n}`)));
    expect(await ok('watchlist.getAlerts', { entryId, take: 1 })).toMatchObject({
      total: 8_000,
      pageCount: 8_000,
    });
  });
});

describe('further reads of a vehicle', () => {
  const MINUTE = 60_000;
  const NOON = Date.UTC(2026, 5, 1, 12);
  const at = (minute: number) => ({ timestamp: new Date(NOON + minute * MINUTE).toISOString() });
  /** The messages of the stream about an entry's alerts. */
  const published = async (entryId: string) =>
    (
      await gantry.pool.query(
        `SELECT body -> 'json' AS alert FROM changes
         WHERE topic = 'watchlist' AND body -> 'json' ->> 'entryId' = $1 ORDER BY body -> 'json' -> 'sightings'`,
        [entryId],
      )
    ).rows.map(({ alert }) => alert);

  it('by the same sensor, each at most ten minutes after the previous one, are one alert with a count', async () => {
    const plate = newPlate();
    const { id } = await watch(plate);
    const { eventId } = await ingest(plate, at(0));
    for (const minute of [10, 19.5, -10]) await ingest(plate.toLowerCase(), at(minute));
    await ingest(plate, at(29.6));
    const [second, first, ...others] = await alertsOf(id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      eventId,
      sightings: 4,
      timestamp: at(0).timestamp,
      lastSeenAt: at(19.5).timestamp,
    });
    expect(second).toMatchObject({ sightings: 1, lastSeenAt: at(29.6).timestamp });
    expect((await published(id)).map(({ sightings }) => sightings)).toEqual([1, 1, 2, 3, 4]);
    expect((await published(id)).at(-1)).toEqual(first);
  });

  it('are sent to subscribers, but not to webhooks', async () => {
    const plate = newPlate();
    const { id } = await watch(plate);
    const admin = await gantry.tokenFor('ADMIN');
    const hook = await gantry.ok(
      'webhooks.create',
      { url: 'http://127.0.0.1:5001/', kinds: ['watchlist.alert'], filter: {} },
      { token: admin },
    );
    for (const minute of [0, 1, 60]) await ingest(plate, at(minute));
    expect(await alertsOf(id)).toHaveLength(2);
    const { rows } = await gantry.pool.query('SELECT body FROM webhook_deliveries WHERE webhook_id = $1', [
      hook.id,
    ]);
    expect(rows).toHaveLength(2);
  });

  it('are alerts of their own for another entry, sensor or vehicle', async () => {
    const plate = newPlate();
    const [all, one] = [await watch(`${plate}*`), await watch(`${plate}1`)];
    const otherKey = await gantry.registerSensor();
    for (const n of [1, 2]) await ingest(`${plate}${n}`, at(0));
    await ingest(`${plate}1`, { ...at(1), apiKey: otherKey });
    const count = async (id: string) => (await alertsOf(id)).map(({ sightings }) => sightings);
    expect(await count(all.id)).toEqual([1, 1, 1]);
    expect(await count(one.id)).toEqual([1, 1]);
  });

  it('with confused characters are of one vehicle for a fuzzy entry', async () => {
    const { id } = await watch('WQ 018 SB', { fuzzy: true });
    for (const [minute, plate] of ['WQ 018 SB', 'W0 OI8 5B', 'WQ 018 SB'].entries())
      await ingest(plate, at(minute));
    expect(await alertsOf(id)).toMatchObject([{ sightings: 3, licensePlateNumber: 'WQ 018 SB' }]);
  });

  it('count once each, however often they are followed up, and are not reported as missing', async () => {
    const plate = newPlate();
    const { id } = await watch(plate);
    const same = { ...at(1), idempotencyKey: 'again' };
    for (const fields of [at(0), same, same]) await ingest(plate, fields);
    expect(await alertsOf(id)).toMatchObject([{ sightings: 2 }]);
    const { rows } = await gantry.pool.query('SELECT FROM watchlist_sightings WHERE entry_id = $1', [id]);
    expect(rows).toHaveLength(1);
  });

  it('are one alert when they arrive through two services at the same time', async () => {
    const { DATABASE_URL } = gantry.app.context.config;
    const plate = newPlate();
    const { id } = await watch(plate);
    // Started later, so that it knows the entry: other services learn of new ones a moment after they are added.
    await using other = await startGantry({ config: { DATABASE_URL: DATABASE_URL ?? '' } });
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => ingest(plate, at(n / 100), n % 2 ? gantry : other)),
    );
    expect(await alertsOf(id)).toMatchObject([{ sightings: 20 }]);
  });

  it('belong to an acknowledged alert, too, and leave it acknowledged', async () => {
    const plate = newPlate();
    const { id } = await watch(plate);
    await ingest(plate, at(0));
    const [alert] = await alertsOf(id);
    await ok('watchlist.acknowledgeAlert', { id: alert?.id });
    await ingest(plate, at(5));
    expect(await alertsOf(id)).toMatchObject([{ sightings: 2, acknowledgedAt: expect.any(String) }]);
  });
});

describe('a read from a backlog', () => {
  it('is marked and can be filtered out; a live read of the vehicle has an alert of its own', async () => {
    const plate = newPlate();
    const { id } = await watch(plate);
    const ago = (minutes: number) => ({ timestamp: new Date(Date.now() - minutes * 60_000).toISOString() });
    for (const fields of [ago(3 * 24 * 60), ago(16), ago(14), ago(18)]) await ingest(plate, fields);
    const alerts = await alertsOf(id, { sortOrder: 'asc' });
    expect(alerts.map(({ backlog, sightings }) => [backlog, sightings])).toEqual([
      [true, 1],
      [true, 2],
      [false, 1],
    ]);
    const ids = alerts.map(({ id: each }) => each);
    const found = async (backlog: boolean) => (await alertsOf(id, { backlog })).map((each) => each.id);
    expect([await found(true), await found(false)]).toEqual([[ids[1], ids[0]], [ids[2]]]);
  });
});

describe('watchlist.getAlerts', () => {
  it('sorts by priority, then the unacknowledged first, then the oldest', async () => {
    const plate = newPlate();
    const priorities = ['LOW', 'CRITICAL', 'HIGH', 'CRITICAL', 'LOW', 'CRITICAL'] as const;
    const names = [];
    const made: string[] = [];
    for (const [n, priority] of priorities.entries()) {
      names.push(await watch(`${plate}${n}`, { priority }));
      await ingest(`${plate}${n}`);
      const [alert] = await alertsOf(names[n]?.id ?? '');
      made.push(alert?.id ?? '');
      const minute = `2031-01-01T00:0${n}:00Z`;
      await gantry.pool.query('UPDATE watchlist_alerts SET created_at = $2 WHERE id = $1', [
        alert?.id,
        minute,
      ]);
    }
    await ok('watchlist.acknowledgeAlert', { id: made[1] });
    const order = async (input: object) => {
      const range = { startDate: '2031-01-01', endDate: '2031-01-01', sortBy: 'priority' };
      const { alerts } = await ok<{ alerts: AlertJson[] }>('watchlist.getAlerts', { ...range, ...input });
      return alerts.map(({ id }) => made.indexOf(id));
    };
    expect(await order({})).toEqual([3, 5, 1, 2, 0, 4]);
    expect(await order({ sortOrder: 'asc' })).toEqual([4, 0, 2, 1, 5, 3]);
    expect(await order({ acknowledged: false })).toEqual([3, 5, 2, 0, 4]);
    expect(await order({ acknowledged: false, skip: 1, take: 2 })).toEqual([5, 2]);
    expect(await order({ acknowledged: false, sortOrder: 'asc' })).toEqual([4, 0, 2, 5, 3]);
    expect(await order({ acknowledged: true })).toEqual([1]);
  });

  it('reads the most urgent open alerts among very many from an index, without sorting them', async () => {
    await gantry.pool.query(
      `INSERT INTO watchlist_alerts (entry_id, pattern, reason, priority, event_id, plate, read_at, acknowledged_at)
       SELECT gen_random_uuid(), 'X', 'Y', 1 + n % 4, gen_random_uuid(), 'X', now(), CASE WHEN n % 3 = 0 THEN now() END
       FROM generate_series(1, 30000) AS n`,
    );
    await gantry.pool.query('ANALYZE watchlist_alerts');
    const sent: { text: string; values: unknown[] }[] = [];
    const db = drizzle({
      client: gantry.pool,
      logger: { logQuery: (text, values) => sent.push({ text, values: values as unknown[] }) },
    });
    const input = listAlertsInput.parse({ acknowledged: false, sortBy: 'priority', take: 20 });
    const everything = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
    await listStoredAlerts(db, input, everything);
    const [list] = sent;
    const { rows } = await gantry.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${list?.text}`, list?.values);
    const plan = JSON.stringify(rows[0]['QUERY PLAN']);
    expect(plan).toContain('watchlist_alerts_by_urgency');
    expect(plan).not.toContain('"Sort"');
    await gantry.pool.query(`DELETE FROM watchlist_alerts WHERE pattern = 'X'`);
  });

  it('pages, filters and sorts by the time at which alerts were raised', async () => {
    const plate = newPlate();
    const { id: entryId } = await watch(`${plate}*`, { priority: 'HIGH' });
    for (let n = 0; n < 4; n++) await ingest(`${plate} ${n}`);
    const made = await alertsOf(entryId, { sortOrder: 'asc' });
    for (const [n, { id }] of made.entries()) {
      await gantry.pool.query('UPDATE watchlist_alerts SET created_at = $2 WHERE id = $1', [
        id,
        `2026-01-0${n + 1}T12:00:00Z`,
      ]);
    }
    const ids = made.map(({ id }) => id);
    const found = async (input: object) => (await alertsOf(entryId, input)).map(({ id }) => ids.indexOf(id));
    expect(await found({})).toEqual([3, 2, 1, 0]);
    expect(await found({ sortOrder: 'asc', skip: 1, take: 2 })).toEqual([1, 2]);
    expect(await found({ startDate: '2026-01-02', endDate: '2026-01-03' })).toEqual([2, 1]);
    expect(await found({ startDate: '2026-01-02T12:00:00Z', endDate: '2026-01-02T12:00:00Z' })).toEqual([1]);
    expect(await found({ startDate: '0000-01-01', endDate: '9999-12-31' })).toEqual([3, 2, 1, 0]);
    expect(await found({ endDate: '2025-12-31' })).toEqual([]);
    expect(await found({ priority: 'HIGH' })).toEqual([3, 2, 1, 0]);
    expect(await found({ priority: 'LOW' })).toEqual([]);
    await ok('watchlist.acknowledgeAlert', { id: ids[2] });
    expect(await found({ acknowledged: true })).toEqual([2]);
    expect(await found({ acknowledged: false })).toEqual([3, 1, 0]);
    expect(await ok('watchlist.getAlerts', { entryId, take: 3 })).toMatchObject({ total: 4, pageCount: 2 });
  });

  it('breaks ties by id in the same direction', async () => {
    const plate = newPlate();
    const { id: entryId } = await watch(`${plate}*`);
    const events = Array.from({ length: 5 }, (_, n) => ({
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: `${plate} ${n}`,
    }));
    await ok('events.ingestBatch', { apiKey, events });
    await gantry.pool.query(`UPDATE watchlist_alerts SET created_at = '2026-01-01' WHERE entry_id = $1`, [
      entryId,
    ]);
    const ids = async (sortOrder: string) => (await alertsOf(entryId, { sortOrder })).map(({ id }) => id);
    const ascending = await ids('asc');
    expect(ascending).toEqual([...ascending].sort());
    expect(await ids('desc')).toEqual([...ascending].reverse());
  });

  it.each([
    { take: 101 },
    { skip: -1 },
    { acknowledged: 'no' },
    { priority: 'x' },
    { startDate: 'today' },
    { sortOrder: 'up' },
    { sortBy: 'plate' },
    { backlog: 'yes' },
  ])('refuses %j', async (input) => {
    expect((await gantry.call('watchlist.getAlerts', input, { token })).status).toBe(400);
  });
});

describe('watchlist.acknowledgeAlert', () => {
  const raised = async (): Promise<AlertJson> => {
    const plate = newPlate();
    const { id } = await watch(plate);
    await ingest(plate);
    const [alert] = await alertsOf(id);
    if (!alert) throw new Error('no alert was raised');
    return alert;
  };

  it('stores who did it, when and with which note, and records it in the activity log', async () => {
    const alert = await raised();
    const field = await gantry.tokenFor('FIELD');
    const me = await gantry.ok('auth.me', undefined, { token: field });
    const done = await gantry.ok<AlertJson>(
      'watchlist.acknowledgeAlert',
      { id: alert.id, note: ' Patrol sent ' },
      { token: field },
    );
    expect(done).toEqual({
      ...alert,
      acknowledgedAt: expect.any(String),
      acknowledgedBy: { id: me.id, name: 'FIELD Tester' },
      note: 'Patrol sent',
    });
    expect(await alertsOf(alert.entryId)).toEqual([done]);
    const { rows } = await gantry.pool.query(
      `SELECT user_id, action, details FROM activity ORDER BY id DESC LIMIT 1`,
    );
    expect(rows).toEqual([
      {
        user_id: me.id,
        action: 'watchlist.acknowledgeAlert',
        details: { alertId: alert.id, entryId: alert.entryId, plate: alert.licensePlateNumber },
      },
    ]);
  });

  it('requires no note', async () => {
    for (const note of [undefined, null, '', '  ']) {
      const { id } = await raised();
      expect(await ok('watchlist.acknowledgeAlert', { id, note })).toMatchObject({ note: null });
    }
  });

  it('succeeds for one of several users, and the others receive who acknowledged it and when', async () => {
    for (let round = 0; round < 5; round++) {
      const alert = await raised();
      const tokens = await Promise.all([
        gantry.tokenFor('OPERATOR'),
        gantry.tokenFor('FIELD'),
        gantry.tokenFor('ADMIN'),
      ]);
      const answers = await Promise.all(
        tokens.map((own) => gantry.call('watchlist.acknowledgeAlert', { id: alert.id }, { token: own })),
      );
      const won = answers.filter(({ status }) => status === 200).map(({ body }) => body.result.data.json);
      const lost = answers.filter(({ status }) => status === 409);
      expect([won.length, lost.length]).toEqual([1, 2]);
      const [{ acknowledgedBy, acknowledgedAt }] = won;
      for (const { body } of lost) {
        expect(body.error.json).toMatchObject({
          message: `${acknowledgedBy.name} acknowledged this alert at ${acknowledgedAt}`,
          data: { code: 'CONFLICT', httpStatus: 409 },
        });
      }
      expect(await alertsOf(alert.entryId)).toEqual(won);
    }
  });

  it.each([{ note: 'n'.repeat(1001) }, { note: 'a\u0000' }, { note: 7 }])('refuses %j', async (fields) => {
    const alert = await raised();
    const { status } = await gantry.call(
      'watchlist.acknowledgeAlert',
      { id: alert.id, ...fields },
      { token },
    );
    expect(status).toBe(400);
    expect(await alertsOf(alert.entryId)).toEqual([alert]);
  });
});

describe('watchlist.undoAcknowledgeAlertBatch', () => {
  const take = async (own: string): Promise<AlertJson> => {
    const plate = newPlate();
    const { id } = await watch(plate);
    await ingest(plate);
    const [alert] = await alertsOf(id);
    const input = { id: alert?.id, note: 'A slip' };
    return gantry.ok<AlertJson>('watchlist.acknowledgeAlert', input, { token: own });
  };
  const undo = async (ids: readonly string[], own: string) =>
    (await gantry.ok('watchlist.undoAcknowledgeAlertBatch', { ids }, { token: own })).results;

  it('reopens the alerts that the user acknowledged, and no others', async () => {
    const [field, operator] = [await gantry.tokenFor('FIELD'), await gantry.tokenFor('OPERATOR')];
    const [mine, theirs] = [await take(field), await take(operator)];
    const opened = { ...mine, acknowledgedAt: null, acknowledgedBy: null, note: null };
    expect(await undo([mine.id, theirs.id, 'no-such'], field)).toEqual([
      { id: mine.id, alert: opened },
      {
        id: theirs.id,
        error: {
          code: 'CONFLICT',
          message: `OPERATOR Tester acknowledged this alert at ${theirs.acknowledgedAt}: only they can take it back`,
        },
      },
      { id: 'no-such', error: { code: 'NOT_FOUND', message: 'Watchlist alert not found' } },
    ]);
    expect(await alertsOf(mine.entryId)).toEqual([opened]);
    expect(await alertsOf(theirs.entryId)).toEqual([theirs]);
    const { rows } = await gantry.pool.query('SELECT action, details FROM activity ORDER BY id DESC LIMIT 1');
    expect(rows).toEqual([
      {
        action: 'watchlist.undoAcknowledgeAlert',
        details: { alertId: mine.id, entryId: mine.entryId, plate: mine.licensePlateNumber },
      },
    ]);
    // An open alert stays as it is. Once another user has acknowledged it, it belongs to that user.
    expect(await undo([mine.id], field)).toEqual([{ id: mine.id, alert: opened }]);
    await gantry.ok('watchlist.acknowledgeAlert', { id: mine.id }, { token: operator });
    expect((await undo([mine.id], field))[0].error.code).toBe('CONFLICT');
  });

  it('is possible for ten minutes', async () => {
    const { id } = await take(token);
    const age = (seconds: number) =>
      gantry.pool.query(
        'UPDATE watchlist_alerts SET acknowledged_at = now() - make_interval(secs => $2) WHERE id = $1',
        [id, seconds],
      );
    await age(601);
    const [{ error }] = await undo([id], token);
    expect(error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/^This can be undone for 10 min, /),
    });
    await age(590);
    expect((await undo([id], token))[0].alert.acknowledgedAt).toBeNull();
  });
});

describe('an entry that was created through one process', () => {
  let other: Gantry;
  beforeAll(async () => {
    const { DATABASE_URL } = gantry.app.context.config;
    other = await startGantry({ config: { DATABASE_URL: DATABASE_URL ?? '' } });
  });
  afterAll(() => other.stop());

  const sightingsOf = async (entryId: string): Promise<number> =>
    (await alertsOf(entryId)).reduce((sum, { sightings }) => sum + sightings, 0);
  const alertsFor = async (entryId: string, plate: string): Promise<number> => {
    await ingest(plate, {}, other);
    return sightingsOf(entryId);
  };

  it('applies in another within a second, and so do its changes and its deletion', async () => {
    const plate = newPlate();
    expect(await alertsFor(randomUUID(), plate)).toBe(0);
    const { id } = await watch(plate);
    await eventually(
      () => alertsFor(id, plate),
      (count) => count > 0,
      1_000,
    );
    const next = newPlate();
    await ok('watchlist.update', { id, pattern: next });
    const before = await sightingsOf(id);
    await eventually(
      () => alertsFor(id, next),
      (count) => count > before,
      1_000,
    );
    await ok('watchlist.delete', { id });
    const stillRaises = async () => {
      const count = await sightingsOf(id);
      return (await alertsFor(id, next)) > count;
    };
    await eventually(stillRaises, (raises) => !raises, 1_000);
  });

  it('applies at once in the process through which it was created, even while that receives no notifications', async () => {
    const plate = newPlate();
    await gantry.pool.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'gantry listener'`,
    );
    const { id } = await watch(plate);
    await ingest(plate);
    expect(await alertsOf(id)).toHaveLength(1);
  });

  it('is not missed by a process that is just starting: it reads the list again as soon as it listens', async () => {
    const { config, log } = gantry.app.context;
    await using listener = await listen(config.DATABASE_URL ?? '', log);
    let readings = 0;
    listener.on(
      channels.watchlist,
      () => undefined,
      () => readings++,
    );
    await eventually(
      async () => readings,
      (count) => count === 1,
    );
  });

  it('is not missed by a process whose listener was disconnected for a while', async () => {
    const plate = newPlate();
    await gantry.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'gantry listener'`,
    );
    const { id } = await watch(plate);
    await eventually(
      () => alertsFor(id, plate),
      (count) => count > 0,
      3_000,
    );
  });
});
