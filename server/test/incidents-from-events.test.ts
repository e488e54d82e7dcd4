import { randomUUID } from 'node:crypto';
import { reportedEvent } from '@gantry/contract/events';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../src/app.ts';
import type { EventRow } from '../src/events/event-row.ts';
import { openIncidents } from '../src/incidents/open-from-events.ts';
import { enrich } from '../src/ingest/enrich.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { Caller, type Gantry, startGantry } from './harness.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 5, 1, 12);

let gantry: Gantry;
let token: string;
beforeAll(async () => {
  gantry = await startGantry();
  token = await gantry.tokenFor('OPERATOR');
});
afterAll(() => gantry.stop());

const addSensor = async (fields: object = {}): Promise<{ id: string; apiKey: string }> => {
  const sensor = { name: 'Mast 7', deviceId: randomUUID(), type: 'CAMERA', ...fields };
  return gantry.ok('sensors.create', sensor, { token });
};
const report = (at: number, fields: object = {}) => ({
  eventType: 'INCIDENT',
  timestamp: new Date(at).toISOString(),
  ...fields,
});
const ingest = (apiKey: string, at: number, fields: object = {}): Promise<string> =>
  gantry.ingest(apiKey, report(at, fields));
const incidentsOf = async (sensorId: string) =>
  (await gantry.ok('incidents.getAll', { sensorId, sortOrder: 'asc' }, { token })).incidents;
const detail = (id: string) => gantry.ok('incidents.getById', { id }, { token });
const act = (verb: string, input: object) => gantry.ok(`incidents.${verb}`, input, { token });

describe('an event of type INCIDENT', () => {
  it('opens an incident with its place and description', async () => {
    const { id: locationId } = await gantry.ok(
      'locations.create',
      { name: 'Main Street / 5th Avenue' },
      { token },
    );
    const coordinates = { latitude: 52.5, longitude: 13.4 };
    const sensor = await addSensor({ locationId, coordinates });
    const fields = { violationType: 'collision', description: 'Two cars', severity: 'CRITICAL' };
    const eventId = await ingest(sensor.apiKey, NOON, fields);
    const [incident, ...others] = await incidentsOf(sensor.id);
    expect(others).toEqual([]);
    expect(incident).toEqual({
      id: incident.id,
      title: 'Collision at Main Street / 5th Avenue',
      description: 'Two cars',
      type: 'COLLISION',
      severity: 'CRITICAL',
      status: 'OPEN',
      location: coordinates,
      locationId,
      sensorId: sensor.id,
      lanesBlocked: null,
      reportedBy: null,
      assignedTo: null,
      openedAt: new Date(NOON).toISOString(),
      acknowledgedAt: null,
      resolvedAt: null,
      closedAt: null,
      updatedAt: expect.any(String),
      backlog: true,
    });
    const { events, eventCount, timeline } = await detail(incident.id);
    expect({ eventCount, events: events.map(({ id }: { id: string }) => id) }).toEqual({
      eventCount: 1,
      events: [eventId],
    });
    expect(timeline).toEqual([
      {
        action: 'create',
        at: incident.updatedAt,
        by: null,
        from: null,
        to: 'OPEN',
        note: null,
        details: { eventId },
      },
    ]);
    const { rows } = await gantry.pool.query(
      `SELECT body -> 'json' AS body FROM changes
       WHERE topic = 'incidents' AND body -> 'json' -> 'incident' ->> 'id' = $1`,
      [incident.id],
    );
    expect(rows).toEqual([
      { body: { action: 'create', incident, by: null, note: null, at: incident.updatedAt } },
    ]);
  });

  it('uses its own place, and the name of its sensor without a place', async () => {
    const sensor = await addSensor({ name: 'Ring road 12' });
    await ingest(sensor.apiKey, NOON, { metadata: { incidentType: 'breakdown' } });
    expect((await incidentsOf(sensor.id))[0]).toMatchObject({
      title: 'Breakdown at Ring road 12',
      location: null,
    });
    const location = { latitude: 1, longitude: 2, address: 'km 12' };
    await ingest(sensor.apiKey, NOON + 60 * MINUTE, { location });
    expect((await incidentsOf(sensor.id))[1]).toMatchObject({ title: 'Incident at km 12', location });
  });

  it('joins the open incident of its sensor within 15 minutes, before and after', async () => {
    const sensor = await addSensor();
    const first = await ingest(sensor.apiKey, NOON);
    const [opened] = await incidentsOf(sensor.id);
    const later = await ingest(sensor.apiKey, NOON + 15 * MINUTE - 1);
    const earlier = await ingest(sensor.apiKey, NOON - 15 * MINUTE + 1);
    const [incident, ...others] = await incidentsOf(sensor.id);
    expect(others).toEqual([]);
    expect(incident).toEqual({ ...opened, updatedAt: incident.updatedAt });
    expect(incident.updatedAt > opened.updatedAt).toBe(true);
    const { events, timeline } = await detail(incident.id);
    expect(events.map(({ id }: { id: string }) => id)).toEqual([later, first, earlier]);
    expect(timeline.slice(1)).toMatchObject([
      { action: 'attachEvent', by: null, from: 'OPEN', to: 'OPEN', details: { eventId: later } },
      { action: 'attachEvent', by: null, from: 'OPEN', to: 'OPEN', details: { eventId: earlier } },
    ]);
  });

  it('joins the open incident within 15 minutes of an event that a user attached', async () => {
    const [sensor, other] = [await addSensor(), await addSensor()];
    await ingest(sensor.apiKey, NOON);
    const [{ id }] = await incidentsOf(sensor.id);
    const seen = { eventType: 'VEHICLE_DETECTION' };
    const [early, late] = [
      await ingest(other.apiKey, NOON - MINUTE, seen),
      await ingest(other.apiKey, NOON + 20 * MINUTE, seen),
    ];
    await act('attachEvent', { id, eventId: late });
    await act('attachEvent', { id, eventId: early });
    await ingest(sensor.apiKey, NOON + 30 * MINUTE);
    expect((await incidentsOf(sensor.id)).length).toBe(1);
    expect((await detail(id)).eventCount).toBe(4);
  });

  it('opens another one 15 minutes later, and for another sensor', async () => {
    const [sensor, other] = [await addSensor(), await addSensor()];
    await ingest(sensor.apiKey, NOON);
    await ingest(sensor.apiKey, NOON + 15 * MINUTE);
    await ingest(other.apiKey, NOON);
    expect(await incidentsOf(sensor.id)).toHaveLength(2);
    expect(await incidentsOf(other.id)).toHaveLength(1);
  });

  it('opens another one when the first is resolved or closed, and joins one that is in progress', async () => {
    const sensor = await addSensor();
    await ingest(sensor.apiKey, NOON);
    const [{ id }] = await incidentsOf(sensor.id);
    await act('acknowledge', { id });
    await act('start', { id });
    await ingest(sensor.apiKey, NOON + MINUTE);
    expect((await detail(id)).timeline.at(-1)).toMatchObject({ action: 'attachEvent', to: 'IN_PROGRESS' });
    await act('resolve', { id });
    await ingest(sensor.apiKey, NOON + 2 * MINUTE);
    const [, second] = await incidentsOf(sensor.id);
    expect(second).toMatchObject({ status: 'OPEN', openedAt: new Date(NOON + 2 * MINUTE).toISOString() });
    await act('close', { id });
    await ingest(sensor.apiKey, NOON + 3 * MINUTE);
    expect(await incidentsOf(sensor.id)).toHaveLength(2);
    expect((await detail(second.id)).eventCount).toBe(2);
    expect((await detail(id)).eventCount).toBe(2);
  });

  it('joins an incident that a user opened for the sensor', async () => {
    const sensor = await addSensor();
    const made = await act('create', { title: 'Seen on the wall', type: 'OTHER', sensorId: sensor.id });
    await ingest(sensor.apiKey, Date.now());
    const [incident, ...others] = await incidentsOf(sensor.id);
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ id: made.id, title: 'Seen on the wall', reportedBy: made.reportedBy });
  });

  it('counts once, however often it is sent', async () => {
    const sensor = await addSensor();
    const key = { idempotencyKey: 'once' };
    await ingest(sensor.apiKey, NOON, key);
    await ingest(sensor.apiKey, NOON, key);
    const [incident] = await incidentsOf(sensor.id);
    expect((await detail(incident.id)).timeline).toHaveLength(1);
  });

  it('opens one incident when many arrive at the same time, through two services on one database', async () => {
    const second = await createApp(gantry.app.context.config, pino({ level: 'silent' }));
    await using _ = second;
    const url = await second.listen();
    for (let round = 0; round < 3; round++) {
      const sensor = await addSensor();
      const services = [gantry, new Caller(url)];
      const send = (n: number) =>
        services[n % 2]?.ok('events.ingest', { apiKey: sensor.apiKey, ...report(NOON + n * 1000) });
      await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)));
      const [incident, ...others] = await incidentsOf(sensor.id);
      expect(others).toEqual([]);
      expect((await detail(incident.id)).eventCount).toBe(20);
    }
  });

  it('is the only type that does', async () => {
    const sensor = await addSensor();
    await ingest(sensor.apiKey, NOON, { eventType: 'TRAFFIC_VIOLATION', violationType: 'COLLISION' });
    expect(await incidentsOf(sensor.id)).toEqual([]);
  });
});

describe('a thousand of them in one batch', () => {
  it('open one incident wherever there was none for a quarter of an hour, and attach the others', async () => {
    const sensor = await addSensor();
    // Two periods of 50 minutes, with 20 minutes between them.
    const events = Array.from({ length: 1000 }, (_, n) =>
      report(NOON + n * 6_000 + (n < 500 ? 0 : 20 * MINUTE)),
    );
    await gantry.ok('events.ingestBatch', { apiKey: sensor.apiKey, events });
    const incidents = await incidentsOf(sensor.id);
    expect(
      incidents.map(({ openedAt }: { openedAt: string }) => (Date.parse(openedAt) - NOON) / MINUTE),
    ).toEqual([0, 70]);
    const { rows } = await gantry.pool.query(
      `SELECT count(*) AS n, count(DISTINCT event_id) AS events FROM incident_events
       WHERE incident_id = ANY($1::uuid[])`,
      [incidents.map(({ id }: { id: string }) => id)],
    );
    expect(rows[0]).toEqual({ n: 1000, events: 1000 });
    const { eventCount, timeline } = await detail(incidents[0].id);
    expect({ eventCount, steps: timeline.length }).toEqual({ eventCount: 500, steps: 500 });
  });

  it('require only a few statements', async () => {
    const sensor = await addSensor();
    const known = {
      id: sensor.id,
      name: 'Mast 7',
      address: null,
      locationId: null,
      locationName: null,
      speedLimit: null,
      eventsPerMin: 20,
    };
    const row = (n: number): EventRow =>
      enrich(reportedEvent.parse(report(NOON + n * 20 * MINUTE)), known, 'UTC', NOON + 60 * 24 * 3_600_000);
    const sent: string[] = [];
    const db = drizzle({ client: gantry.pool, logger: { logQuery: (text) => sent.push(text) } });
    const open = (rows: readonly EventRow[]) =>
      inTransaction(db, (tx) => openIncidents(gantry.app.context, tx, rows));
    const rows = Array.from({ length: 1000 }, (_, n) => row(n));
    await open(rows);
    expect(sent.length).toBeLessThan(14);
    expect((await incidentsOf(sensor.id)).length).toBe(50);
    const { rows: counted } = await gantry.pool.query(
      'SELECT count(*) AS n FROM incidents WHERE sensor_id = $1',
      [sensor.id],
    );
    expect(counted[0].n).toBe(1000);
    await open(rows.map((first) => ({ ...first, id: randomLike(first.id) })));
    const { rows: after } = await gantry.pool.query(
      'SELECT count(*) AS n FROM incidents WHERE sensor_id = $1',
      [sensor.id],
    );
    expect(after[0].n).toBe(1000);
  });

  it('require no statement when there are none', async () => {
    const sent: string[] = [];
    const db = drizzle({ client: gantry.pool, logger: { logQuery: (text) => sent.push(text) } });
    await openIncidents(gantry.app.context, db, []);
    expect(sent).toEqual([]);
  });
});

/** Another id with the same time. */
const randomLike = (id: string): string => id.slice(0, 14) + randomUUID().slice(14);

describe('two transactions about the same sensors', () => {
  it('open one incident for each sensor together, whatever the order of sensors', async () => {
    const sensors = await Promise.all(Array.from({ length: 5 }, () => addSensor()));
    const { db } = gantry.app.context;
    const rowOf = (sensor: { id: string }, n: number): EventRow =>
      enrich(
        reportedEvent.parse(report(NOON + n)),
        {
          id: sensor.id,
          name: 'M',
          address: null,
          locationId: null,
          locationName: null,
          speedLimit: null,
          eventsPerMin: 20,
        },
        'UTC',
        NOON,
      );
    const group = (n: number) => {
      const rows = sensors.map((sensor) => rowOf(sensor, n));
      return inTransaction(db, (tx) => openIncidents(gantry.app.context, tx, n % 2 ? rows : rows.reverse()));
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => group(n)));
    for (const sensor of sensors) expect(await incidentsOf(sensor.id)).toHaveLength(1);
  });
});
