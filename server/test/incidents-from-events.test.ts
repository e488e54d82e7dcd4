import { randomUUID } from 'node:crypto';
import { reportedEvent } from '@gantry/contract/events';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { EventRow } from '../src/events/event-row.ts';
import { openIncidents } from '../src/incidents/open-from-events.ts';
import { lockOpenIncidents } from '../src/incidents/opening-store.ts';
import { enrich } from '../src/ingest/enrich.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { createApp } from '../src/programs/app.ts';
import { Caller, eventually, sharedGantry } from './harness.ts';
import { notedDatabase, type Statement } from './noted-statements.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 5, 1, 12);

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');

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

  it('opens its own if it is of another type, even while one of the sensor is open', async () => {
    const sensor = await addSensor({ name: 'I-270' });
    await ingest(sensor.apiKey, NOON, {
      violationType: 'OBSTRUCTION',
      description: 'Debris',
      severity: 'LOW',
    });
    const fire = { description: 'Vehicle on fire, persons trapped', severity: 'CRITICAL' };
    await ingest(sensor.apiKey, NOON + 1000, fire);
    await ingest(sensor.apiKey, NOON + 2000, { violationType: 'OBSTRUCTION' });
    const incidents = await incidentsOf(sensor.id);
    expect(incidents).toMatchObject([
      { title: 'Obstruction at I-270', type: 'OBSTRUCTION', severity: 'HIGH' },
      { title: 'Vehicle on fire, persons trapped at I-270', type: 'OTHER', severity: 'CRITICAL' },
    ]);
    expect((await detail(incidents[0].id)).eventCount).toBe(2);
  });

  it('of a source with a key updates the open incident of that key, whenever it happens', async () => {
    const sensor = await addSensor({ name: 'M25' });
    const version = (record: string, at: number, fields: object) =>
      ingest(sensor.apiKey, at, {
        violationType: 'ROADWORKS',
        ...fields,
        metadata: { incidentKey: record, record },
      });
    await version('A', NOON, { description: 'Lane 1 is closed.', severity: 'LOW' });
    await version('B', NOON + 1000, { description: 'Another place', severity: 'LOW' });
    await version('A', NOON + 60 * MINUTE, { description: 'Lanes 1 and 2 are closed.', severity: 'LOW' });
    await version('A', NOON + 120 * MINUTE, { description: 'The road is closed.', severity: 'CRITICAL' });
    // A version that arrives late does not bring back what it said.
    await version('A', NOON + 30 * MINUTE, { description: 'Lane 2 is closed.', severity: 'LOW' });
    const incidents = await incidentsOf(sensor.id);
    expect(incidents).toMatchObject([
      { description: 'The road is closed.', severity: 'CRITICAL', type: 'ROADWORKS' },
      { description: 'Another place', severity: 'LOW' },
    ]);
    const { eventCount, timeline } = await detail(incidents[0].id);
    expect(eventCount).toBe(4);
    expect(
      timeline.flatMap(({ action, details }: { action: string; details: { description?: object } }) =>
        action === 'update' ? [details.description] : [],
      ),
    ).toEqual([
      { from: 'Lane 1 is closed.', to: 'Lanes 1 and 2 are closed.' },
      { from: 'Lanes 1 and 2 are closed.', to: 'The road is closed.' },
    ]);
  });

  describe('of a source with a key', () => {
    const opened = async (fields: object = {}) => {
      const sensor = await addSensor({ name: 'M25' });
      const send = (minutes: number, metadata: object = {}, more: object = {}) =>
        ingest(sensor.apiKey, NOON + minutes * MINUTE, {
          violationType: 'ROADWORKS',
          description: 'Lane 1 is closed.',
          severity: 'HIGH',
          ...more,
          metadata: { incidentKey: 'A', record: 'A', ...metadata },
        });
      await send(0, {}, fields);
      const [{ id }] = await incidentsOf(sensor.id);
      return { sensor, id, send };
    };

    it.each(['ended', 'cancelled'])('that has %s resolves its incident, and says why', async (reason) => {
      const { sensor, id, send } = await opened();
      await act('acknowledge', { id });
      await act('addNote', { id, note: 'Two cones are missing' });
      const eventId = await send(30, { incidentEnd: reason });
      const { timeline, ...incident } = await detail(id);
      expect(incident).toMatchObject({
        status: 'RESOLVED',
        resolvedAt: incident.updatedAt,
        closedAt: null,
        eventCount: 2,
      });
      expect(timeline.slice(2)).toMatchObject([
        { action: 'addNote', note: 'Two cones are missing' },
        { action: 'attachEvent', from: 'ACKNOWLEDGED', to: 'ACKNOWLEDGED' },
        { action: 'resolve', by: null, from: 'ACKNOWLEDGED', to: 'RESOLVED', details: { eventId, reason } },
      ]);
      const { rows } = await gantry.pool.query(
        `SELECT body -> 'json' ->> 'action' AS action FROM changes WHERE topic = 'incidents'
           AND body -> 'json' -> 'incident' ->> 'id' = $1 ORDER BY body -> 'json' ->> 'at'`,
        [id],
      );
      expect(rows.at(-1)).toEqual({ action: 'resolve' });
      // A later version opens another one.
      await send(60);
      expect(await incidentsOf(sensor.id)).toMatchObject([{ id, status: 'RESOLVED' }, { status: 'OPEN' }]);
    });

    it('locks neither the incidents of other keys nor those without one', async () => {
      const { sensor, id } = await opened();
      const [ofKey, others] = [{ sourceKey: 'A' }, { sourceKey: 'B' }];
      await ingest(sensor.apiKey, NOON, { metadata: { incidentKey: 'B', record: 'B' } });
      await ingest(sensor.apiKey, NOON);
      const locked = (sourceKeys: readonly { sourceKey: string | null }[]) =>
        inTransaction(gantry.app.context.db, (tx) =>
          lockOpenIncidents(
            tx,
            [sensor.id],
            sourceKeys.map((each) => ({ time: NOON, ...each })),
          ),
        );
      expect(await locked([ofKey])).toMatchObject([{ id, ...ofKey }]);
      expect(await locked([{ sourceKey: null }])).toMatchObject([{ sourceKey: null }]);
      expect(
        (await locked([ofKey, others, { sourceKey: null }])).map(({ sourceKey }) => sourceKey).sort(),
      ).toEqual(['A', 'B', null]);
    });

    it('finds the incident of its key without reading the thousands of others that its sensor has', async () => {
      const { sensor } = await opened();
      await gantry.pool.query(
        `INSERT INTO incidents (title, type, severity, sensor_id, opened_at, source_key)
         SELECT 'Works', 'ROADWORKS', 1, $1, now(), 'works ' || n FROM generate_series(1, 3000) AS n`,
        [sensor.id],
      );
      await gantry.pool.query('ANALYZE incidents');
      const sent: Statement[] = [];
      const db = notedDatabase(gantry.pool, (statement) => sent.push(statement));
      const events = Array.from({ length: 10 }, (_, n) => ({
        time: NOON,
        sourceKey: `works ${n + 1}`,
      }));
      expect(await inTransaction(db, (tx) => lockOpenIncidents(tx, [sensor.id], events))).toHaveLength(10);
      expect(sent).toHaveLength(1);
      const [{ text, values } = { text: '', values: [] }] = sent;
      const { rows } = await gantry.pool.query(`EXPLAIN ANALYZE ${text}`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain('incidents_open_of_source');
      expect(plan).not.toContain('Rows Removed by Filter');
    });

    it('that says nothing new leaves no change in the timeline', async () => {
      const { id, send } = await opened();
      await send(30, {}, { description: undefined });
      await act('update', { id, description: 'Lanes 1 and 2' });
      await send(40);
      await send(50, { incidentEnd: 'ended' }, { description: undefined });
      const { description, timeline } = await detail(id);
      expect(description).toBe('Lanes 1 and 2');
      expect(timeline.map(({ action }: { action: string }) => action)).toEqual([
        'create',
        'attachEvent',
        'update',
        'attachEvent',
        'attachEvent',
        'resolve',
      ]);
    });

    it('that has ended changes no incident that a person has closed, and opens none', async () => {
      const { sensor, id, send } = await opened();
      for (const verb of ['acknowledge', 'start', 'resolve', 'close']) await act(verb, { id });
      const before = await detail(id);
      await send(30, { incidentEnd: 'ended' });
      await send(31, { incidentKey: 'B', record: 'B', incidentEnd: 'ended' });
      // Its incident shows that the others have been followed up.
      await send(32, { incidentKey: 'C', record: 'C' });
      expect(await incidentsOf(sensor.id)).toHaveLength(2);
      expect(await detail(id)).toEqual(before);
    });

    it('is not resolved by the end of another record, or by an end that was overtaken', async () => {
      const { id, send } = await opened();
      await send(30, { record: 'diversion', incidentEnd: 'ended' });
      await send(60);
      await send(45, { incidentEnd: 'ended' });
      expect(await detail(id)).toMatchObject({ status: 'OPEN', eventCount: 4 });
    });

    it('resolves and opens incidents in the order of the versions of a batch', async () => {
      const sensor = await addSensor();
      const metadata = { incidentKey: 'A', record: 'A' };
      const events = [
        report(NOON, { metadata }),
        report(NOON + 1000, { metadata: { ...metadata, incidentEnd: 'ended' } }),
        report(NOON + 2000, { metadata }),
        report(NOON + 3000, { metadata: { ...metadata, incidentEnd: 'cancelled' } }),
        report(NOON + 4000, { metadata }),
      ];
      await gantry.ok('events.ingestBatch', { apiKey: sensor.apiKey, events });
      const statuses = (await incidentsOf(sensor.id)).map(({ status }: { status: string }) => status);
      expect(statuses).toEqual(['RESOLVED', 'RESOLVED', 'OPEN']);
    });

    it('that becomes less severe does not lower the severity, and is noted when it changes', async () => {
      const { id, send } = await opened();
      await send(30, {}, { severity: 'LOW' });
      await send(40, {}, { severity: 'LOW' });
      await send(50, {}, { severity: 'CRITICAL' });
      const { severity, timeline } = await detail(id);
      expect(severity).toBe('CRITICAL');
      const details = timeline.map(
        ({ details: { eventId: _, ...rest } }: { details: object & { eventId: string } }) => rest,
      );
      expect(details).toEqual([
        {},
        { reportedSeverity: { from: 'HIGH', to: 'LOW' } },
        {},
        {},
        { severity: { from: 'HIGH', to: 'CRITICAL' } },
      ]);
    });

    it('makes a change of somebody who has not seen its end a conflict', async () => {
      const { id, send } = await opened();
      const { updatedAt } = await detail(id);
      await send(1, { incidentEnd: 'ended' });
      const change = { id, severity: 'LOW', expectedUpdatedAt: updatedAt };
      const { status, body } = await gantry.call('incidents.update', change, { token });
      expect({ status, message: body.error.json.message }).toEqual({
        status: 409,
        message: expect.stringMatching(/^An event resolved this incident at .*: reload it/),
      });
    });
  });

  it('joins the incident whose type a person has changed since', async () => {
    const sensor = await addSensor();
    await ingest(sensor.apiKey, NOON, { description: 'Smoke' });
    const [{ id }] = await incidentsOf(sensor.id);
    await act('update', { id, type: 'COLLISION' });
    await ingest(sensor.apiKey, NOON + 1000, { description: 'Smoke' });
    await ingest(sensor.apiKey, NOON + 2000, { violationType: 'COLLISION' });
    await ingest(sensor.apiKey, NOON + 3000, { violationType: 'BREAKDOWN' });
    expect(await incidentsOf(sensor.id)).toHaveLength(2);
    expect((await detail(id)).eventCount).toBe(3);
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

describe('an event that is more severe than the incident that it joins', () => {
  const opened = async (fields: object = { description: 'Debris on the carriageway', severity: 'LOW' }) => {
    const sensor = await addSensor({ name: 'I-270' });
    const send = (minute: number, more: object) => ingest(sensor.apiKey, NOON + minute * MINUTE, more);
    await send(0, fields);
    const [{ id }] = await incidentsOf(sensor.id);
    return { id, send, sensor };
  };
  const FIRE = { description: 'Vehicle on fire', severity: 'CRITICAL' };

  it('raises its severity, title and description, with an entry in the timeline, for streams and webhooks', async () => {
    const { id, send } = await opened();
    const eventId = await send(1, FIRE);
    await send(2, { description: 'Smoke', severity: 'HIGH' });
    await send(3, { ...FIRE, description: 'Still burning' });
    const { timeline, ...incident } = await detail(id);
    expect(incident).toMatchObject({
      title: 'Vehicle on fire at I-270',
      description: 'Vehicle on fire',
      severity: 'CRITICAL',
      status: 'OPEN',
    });
    expect(timeline.map(({ action }: { action: string }) => action)).toEqual([
      'create',
      'attachEvent',
      'update',
      'attachEvent',
      'attachEvent',
    ]);
    expect(timeline[2]).toEqual({
      action: 'update',
      at: timeline[1].at,
      by: null,
      from: 'OPEN',
      to: 'OPEN',
      note: null,
      details: {
        eventId,
        severity: { from: 'LOW', to: 'CRITICAL' },
        title: { from: 'Debris on the carriageway at I-270', to: 'Vehicle on fire at I-270' },
        description: { from: 'Debris on the carriageway', to: 'Vehicle on fire' },
      },
    });
    const { rows } = await gantry.pool.query(
      `SELECT body -> 'json' ->> 'action' AS action, body -> 'json' -> 'incident' ->> 'severity' AS severity
       FROM changes WHERE topic = 'incidents' AND body -> 'json' -> 'incident' ->> 'id' = $1 ORDER BY body -> 'json' ->> 'at'`,
      [id],
    );
    expect(rows).toEqual([
      { action: 'create', severity: 'LOW' },
      { action: 'update', severity: 'CRITICAL' },
      { action: 'attachEvent', severity: 'CRITICAL' },
      { action: 'attachEvent', severity: 'CRITICAL' },
    ]);
  });

  it('does so in the batch that opens the incident, and once for many', async () => {
    const sensor = await addSensor({ name: 'I-270' });
    const ranks = ['LOW', 'CRITICAL', 'MEDIUM', 'HIGH', 'CRITICAL'];
    const events = ranks.map((severity, n) =>
      report(NOON + n, { severity, description: `Number ${'abcde'[n]}` }),
    );
    await gantry.ok('events.ingestBatch', { apiKey: sensor.apiKey, events });
    const [incident, ...others] = await incidentsOf(sensor.id);
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ title: 'Number b at I-270', severity: 'CRITICAL' });
    const { timeline } = await detail(incident.id);
    expect(timeline.filter(({ action }: { action: string }) => action === 'update')).toHaveLength(1);
  });

  it('leaves what a person has written, and a severity that a person has chosen for such events', async () => {
    const { id, send } = await opened({ description: 'Smoke', severity: 'HIGH' });
    await act('update', { id, title: 'Mulch fire', description: 'Known to the brigade', severity: 'LOW' });
    await send(1, { description: 'More smoke', severity: 'HIGH' });
    expect(await detail(id)).toMatchObject({ severity: 'LOW', title: 'Mulch fire' });
    await send(2, FIRE);
    const { timeline, ...incident } = await detail(id);
    expect(incident).toMatchObject({
      severity: 'CRITICAL',
      title: 'Mulch fire',
      description: 'Known to the brigade',
    });
    expect(timeline.at(-1).details).toMatchObject({ severity: { from: 'LOW', to: 'CRITICAL' } });
    await act('update', { id, severity: 'MEDIUM' });
    await send(3, FIRE);
    expect((await detail(id)).severity).toBe('MEDIUM');
  });

  it('keeps the title when it does not say what happened', async () => {
    const { id, send } = await opened();
    await send(1, { severity: 'CRITICAL' });
    expect(await detail(id)).toMatchObject({
      severity: 'CRITICAL',
      title: 'Debris on the carriageway at I-270',
      description: 'Debris on the carriageway',
    });
  });

  it('makes a change of somebody who has not seen it a conflict', async () => {
    const { id, send } = await opened();
    const { updatedAt } = await detail(id);
    await send(1, FIRE);
    const change = { id, severity: 'LOW', expectedUpdatedAt: updatedAt };
    const { status, body } = await gantry.call('incidents.update', change, { token });
    expect({ status, message: body.error.json.message }).toEqual({
      status: 409,
      message: expect.stringMatching(/^An event updated this incident at .*: reload it/),
    });
    expect((await detail(id)).severity).toBe('CRITICAL');
  });

  it('leaves an incident that was resolved meanwhile', async () => {
    const { id, send, sensor } = await opened();
    for (const verb of ['acknowledge', 'start', 'resolve']) await act(verb, { id });
    await send(1, FIRE);
    expect((await detail(id)).severity).toBe('LOW');
    expect(await incidentsOf(sensor.id)).toMatchObject([{ severity: 'LOW' }, { severity: 'CRITICAL' }]);
  });

  it('raises it to the highest, once per step, when two services receive them at the same time', async () => {
    const second = await createApp(gantry.app.context.config, pino({ level: 'silent' }));
    await using _ = second;
    const services = [gantry, new Caller(await second.listen())];
    const { id, sensor } = await opened({ severity: 'LOW' });
    const ranks = ['MEDIUM', 'HIGH', 'CRITICAL'];
    await Promise.all(
      Array.from({ length: 18 }, (_, n) =>
        services[n % 2]?.ok('events.ingest', {
          apiKey: sensor.apiKey,
          ...report(NOON + n, { severity: ranks[n % 3] }),
        }),
      ),
    );
    const { timeline, severity, eventCount } = await detail(id);
    expect({ severity, eventCount }).toEqual({ severity: 'CRITICAL', eventCount: 19 });
    const steps = timeline.flatMap(({ details }: { details: { severity?: { from: string; to: string } } }) =>
      details.severity ? [details.severity] : [],
    );
    // Each step continues from the previous one, and goes up.
    expect(steps[0].from).toBe('LOW');
    expect(steps.at(-1).to).toBe('CRITICAL');
    for (const [n, { from }] of steps.slice(1).entries()) expect(from).toBe(steps[n].to);
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
    // An answer waits for a second at most.
    const incidents = await eventually(
      () => incidentsOf(sensor.id),
      ({ length }) => length > 0,
    );
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
