import { randomUUID } from 'node:crypto';
import { incidentStatus, incidentType } from '@gantry/contract/incidents';
import { permissions, role } from '@gantry/contract/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const KEYS = [
  'acknowledgedAt',
  'assignedTo',
  'backlog',
  'closedAt',
  'description',
  'id',
  'lanesBlocked',
  'location',
  'locationId',
  'openedAt',
  'reportedBy',
  'resolvedAt',
  'sensorId',
  'severity',
  'status',
  'title',
  'type',
  'updatedAt',
];
const VERBS = [
  'getAll',
  'getById',
  'getStats',
  'create',
  'update',
  'acknowledge',
  'assign',
  'start',
  'resolve',
  'close',
  'reopen',
  'addNote',
  'attachEvent',
];
const STRANGE_IDS = ['x', 'constructor', "'; DROP TABLE incidents; --", '\u0000', '\ud800', randomUUID()];

let eventId: string;
const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const me: { id: string; name: string } = {
  id: (await gantry.ok('auth.me', undefined, { token })).id,
  name: 'OPERATOR Tester',
};
beforeAll(async () => {
  eventId = await ingest();
});

const ok = (verb: string, input?: unknown) => gantry.ok(`incidents.${verb}`, input, { token });
const refusal = (verb: string, input?: unknown) => gantry.refusal(`incidents.${verb}`, input, { token });
const ingest = async (): Promise<string> => gantry.ingest(await gantry.registerSensor());
const open = (fields: object = {}) => ok('create', { title: 'Stalled lorry', type: 'BREAKDOWN', ...fields });
const anotherOperator = async (fields: object = {}) => {
  const admin = await gantry.tokenFor('ADMIN');
  const person = { firstName: 'Anna', lastName: 'Kern', password: 'Correct-horse-1', role: 'OPERATOR' };
  const email = `${randomUUID()}@gantry.local`;
  return gantry.ok('users.create', { ...person, email, ...fields }, { token: admin });
};
const count = (table: string): Promise<number> => gantry.count(table);

describe('the life of an incident', () => {
  it('consists of actions of several users, which all users can see', async () => {
    const [field, admin] = [await gantry.tokenFor('FIELD'), await gantry.tokenFor('ADMIN')];
    const crew = await gantry.ok('auth.me', undefined, { token: field });
    const boss = await gantry.ok('auth.me', undefined, { token: admin });
    const as = (own: string) => (verb: string, input: object) =>
      gantry.ok(`incidents.${verb}`, input, { token: own });

    const { id, ...opened } = await open({ severity: 'HIGH', eventIds: [eventId] });
    expect(opened).toMatchObject({ status: 'OPEN', reportedBy: me, assignedTo: null, acknowledgedAt: null });
    const acknowledged = await ok('acknowledge', { id, note: 'Seen on camera 4' });
    const assigned = await ok('assign', { id, userId: crew.id });
    expect(assigned.assignedTo).toEqual({ id: crew.id, name: 'FIELD Tester' });
    await as(field)('start', { id });
    await as(field)('addNote', { id, note: 'Tow truck ordered' });
    await as(field)('update', { id, lanesBlocked: 1, severity: 'CRITICAL' });
    const resolved = await as(field)('resolve', { id, note: 'Towed' });
    expect(resolved).toMatchObject({ status: 'RESOLVED', resolvedAt: resolved.updatedAt, closedAt: null });
    const reopened = await as(admin)('reopen', { id, note: 'Oil on the road' });
    expect(reopened).toMatchObject({
      status: 'OPEN',
      acknowledgedAt: acknowledged.acknowledgedAt,
      resolvedAt: null,
      closedAt: null,
    });
    const again = await as(field)('acknowledge', { id });
    expect(again.acknowledgedAt).toBe(acknowledged.updatedAt);
    await as(field)('start', { id });
    await as(field)('resolve', { id });
    const closed = await ok('close', { id });
    expect(closed).toMatchObject({ status: 'CLOSED', closedAt: closed.updatedAt });
    expect(closed.resolvedAt < closed.closedAt).toBe(true);

    const detail = await ok('getById', { id });
    expect(Object.keys(detail).sort()).toEqual([...KEYS, 'eventCount', 'events', 'timeline', 'work'].sort());
    expect(detail).toMatchObject({ ...closed, eventCount: 1, events: [{ id: eventId }] });
    const times = detail.timeline.map(({ at }: { at: string }) => at);
    expect(times).toEqual([...times].sort());
    const crewName = { id: crew.id, name: 'FIELD Tester' };
    const bossName = { id: boss.id, name: `${boss.firstName} ${boss.lastName}` };
    const entry = (action: string, by: object, from: string | null, to: string, more: object = {}) => ({
      action,
      at: expect.any(String),
      by,
      from,
      to,
      note: null,
      details: null,
      ...more,
    });
    expect(detail.timeline).toEqual([
      entry('create', me, null, 'OPEN', { details: { eventIds: [eventId] } }),
      entry('acknowledge', me, 'OPEN', 'ACKNOWLEDGED', { note: 'Seen on camera 4' }),
      entry('assign', me, 'ACKNOWLEDGED', 'ACKNOWLEDGED', {
        details: { assignedTo: { from: null, to: 'FIELD Tester' } },
      }),
      entry('start', crewName, 'ACKNOWLEDGED', 'IN_PROGRESS'),
      entry('addNote', crewName, 'IN_PROGRESS', 'IN_PROGRESS', {
        note: 'Tow truck ordered',
        audience: 'INTERNAL',
      }),
      entry('update', crewName, 'IN_PROGRESS', 'IN_PROGRESS', {
        details: { lanesBlocked: { from: null, to: 1 }, severity: { from: 'HIGH', to: 'CRITICAL' } },
      }),
      entry('resolve', crewName, 'IN_PROGRESS', 'RESOLVED', { note: 'Towed' }),
      entry('reopen', bossName, 'RESOLVED', 'OPEN', { note: 'Oil on the road' }),
      entry('acknowledge', crewName, 'OPEN', 'ACKNOWLEDGED'),
      entry('start', crewName, 'ACKNOWLEDGED', 'IN_PROGRESS'),
      entry('resolve', crewName, 'IN_PROGRESS', 'RESOLVED'),
      entry('close', me, 'RESOLVED', 'CLOSED'),
    ]);
  });

  it('records every action in the activity log, and publishes one change for each', async () => {
    const { id } = await open({ title: 'Followed' });
    const last: Record<string, unknown> = {};
    const act = async (verb: string, input: object = {}) => {
      last[verb] = await ok(verb, { id, ...input });
    };
    await act('acknowledge');
    await act('assign', { userId: me.id });
    await act('update', { title: 'Followed closely' });
    await act('attachEvent', { eventId });
    await act('addNote', { note: 'Nothing yet' });
    await act('start');
    await act('resolve', { note: 'Gone' });
    await act('close');
    await act('reopen', { note: 'Back' });
    const verbs = Object.keys(last);
    const { rows: logged } = await gantry.pool.query(
      `SELECT action, user_id, details FROM activity WHERE details ->> 'incidentId' = $1 ORDER BY id`,
      [id],
    );
    const titles = ['Followed', 'Followed', 'Followed', ...verbs.slice(2).map(() => 'Followed closely')];
    expect(logged).toEqual(
      ['create', ...verbs].map((verb, step) => ({
        action: `incidents.${verb}`,
        user_id: me.id,
        details: { incidentId: id, title: titles[step] },
      })),
    );
    const { rows: changes } = await gantry.pool.query(
      `SELECT body -> 'json' AS body FROM changes
       WHERE topic = 'incidents' AND body -> 'json' -> 'incident' ->> 'id' = $1 ORDER BY seq`,
      [id],
    );
    expect(changes.map(({ body }) => body.action)).toEqual(['create', ...verbs]);
    for (const { body } of changes.slice(1)) {
      const incident = last[body.action] as { updatedAt: string };
      const notes: Record<string, string> = { addNote: 'Nothing yet', resolve: 'Gone', reopen: 'Back' };
      const note = notes[body.action] ?? null;
      expect(body).toEqual({ action: body.action, incident, by: me, note, at: incident.updatedAt });
    }
  });
});

describe('a very long timeline', () => {
  it('keeps the actions of users and the latest of the automatic events', async () => {
    const { id } = await open();
    await gantry.pool.query(
      `INSERT INTO incident_timeline (incident_id, action, from_status, to_status, details)
       SELECT $1, 'attachEvent', 'OPEN', 'OPEN', jsonb_build_object('eventId', n) FROM generate_series(1, 600) AS n`,
      [id],
    );
    await ok('addNote', { id, note: 'Still there' });
    const { timeline } = await ok('getById', { id });
    expect(timeline).toHaveLength(500);
    expect(timeline[0].action).toBe('create');
    expect(timeline[1].details).toEqual({ eventId: 103 });
    expect(timeline[499]).toMatchObject({ action: 'addNote', by: me });
  });
});

describe('incidents.create', () => {
  it('returns the incident with exactly the documented keys', async () => {
    const { id: locationId } = await gantry.ok('locations.create', { name: 'Bridge' }, { token });
    const fields = { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA' };
    const { id: sensorId } = await gantry.ok('sensors.create', fields, { token });
    const input = {
      title: 'Two cars, one lane',
      description: 'Nobody hurt',
      type: 'COLLISION',
      severity: 'CRITICAL',
      location: { latitude: 52.5, longitude: 13.4, address: 'km 12' },
      locationId,
      sensorId,
      lanesBlocked: 2,
    };
    const made = await ok('create', { ...input, assignedTo: me.id.toUpperCase() });
    expect(Object.keys(made).sort()).toEqual(KEYS);
    expect(made).toMatchObject({ ...input, status: 'OPEN', reportedBy: me, assignedTo: me });
    expect(made.updatedAt).toBe(made.openedAt);
    const { timeline } = await ok('getById', { id: made.id });
    expect(timeline[0].details).toEqual({ assignedTo: { from: null, to: me.name } });
  });

  it('requires only a title and a type', async () => {
    expect(await ok('create', { title: '  Fog ', type: 'WEATHER' })).toMatchObject({
      title: 'Fog',
      description: null,
      severity: 'MEDIUM',
      location: null,
      locationId: null,
      sensorId: null,
      lanesBlocked: null,
      assignedTo: null,
    });
  });

  it('accepts values at their limits', async () => {
    for (const fields of [
      { title: 't' },
      { title: '😀'.repeat(200) },
      { description: 'd'.repeat(10_000) },
      { lanesBlocked: 0 },
      { lanesBlocked: 20 },
    ])
      expect(await open(fields)).toMatchObject(fields);
  });

  it('attaches each event once, however it is written', async () => {
    const { id } = await open({ eventIds: [eventId, eventId.toUpperCase()] });
    expect(await ok('getById', { id })).toMatchObject({ eventCount: 1, events: [{ id: eventId }] });
  });

  it.each([
    { title: undefined },
    { title: ' ' },
    { title: 't'.repeat(201) },
    { title: 'a\u0000b' },
    { description: 'd'.repeat(10_001) },
    { description: '\ud800' },
    { type: undefined },
    { type: 'FLOOD' },
    { severity: 'WORST' },
    { lanesBlocked: -1 },
    { lanesBlocked: 21 },
    { lanesBlocked: 1.5 },
    { location: { latitude: 91, longitude: 0 } },
    { locationId: randomUUID() },
    { locationId: 'nowhere' },
    { sensorId: randomUUID() },
    { sensorId: '\u0000' },
    { assignedTo: randomUUID() },
    { assignedTo: 'me' },
    { eventIds: [randomUUID()] },
    { eventIds: ['x'] },
    { eventIds: Array.from({ length: 101 }, () => randomUUID()) },
  ])('refuses %j and stores nothing', async (fields) => {
    // The status of a sensor may change meanwhile, because its event is a liveness signal.
    const changes = `changes WHERE topic <> 'sensors'`;
    const counts = () => Promise.all(['incidents', 'incident_timeline', 'activity', changes].map(count));
    const before = await counts();
    const { status, data } = await refusal('create', { title: 'Refused', type: 'OTHER', ...fields });
    expect(status).toBe(400);
    expect(data.issues[0].path.split('.')[0]).toBe(Object.keys(fields)[0]);
    expect(await counts()).toEqual(before);
  });

  it('names the event that does not exist', async () => {
    const { data } = await refusal('create', { title: 'T', type: 'OTHER', eventIds: [eventId, 'x'] });
    expect(data.issues[0].path).toBe('eventIds.1');
  });
});

describe('incidents.update', () => {
  it('changes the given fields and clears those that are null', async () => {
    const made = await open({
      description: 'words',
      lanesBlocked: 2,
      location: { latitude: 1, longitude: 2 },
    });
    const renamed = await ok('update', { id: made.id, title: 'Renamed', type: 'OBSTRUCTION' });
    expect(renamed).toEqual({ ...made, title: 'Renamed', type: 'OBSTRUCTION', updatedAt: renamed.updatedAt });
    expect(renamed.updatedAt > made.updatedAt).toBe(true);
    const cleared = await ok('update', {
      id: made.id,
      description: null,
      lanesBlocked: null,
      location: null,
    });
    expect(cleared).toMatchObject({
      title: 'Renamed',
      description: null,
      lanesBlocked: null,
      location: null,
    });
  });

  it('does not record unchanged values', async () => {
    const fields = {
      severity: 'LOW',
      location: { latitude: 1, longitude: 2, address: 'km 3' },
      lanesBlocked: 1,
    };
    const made = await open(fields);
    expect(await ok('update', { id: made.id, ...fields, description: null })).toEqual(made);
    expect(await ok('update', { id: made.id })).toEqual(made);
    expect((await ok('getById', { id: made.id })).timeline).toHaveLength(1);
    await ok('update', { id: made.id, ...fields, title: 'Now another' });
    expect((await ok('getById', { id: made.id })).timeline[1].details).toEqual({
      title: { from: 'Stalled lorry', to: 'Now another' },
    });
  });

  it.each([
    { title: '' },
    { title: null },
    { title: 't'.repeat(201) },
    { severity: null },
    { type: 'FLOOD' },
    { lanesBlocked: 21 },
    { locationId: randomUUID() },
    { sensorId: 'x' },
  ])('refuses %j', async (fields) => {
    const made = await open();
    const { status, data } = await refusal('update', { id: made.id, ...fields });
    expect(status).toBe(400);
    expect(data.issues[0].path).toBe(Object.keys(fields)[0]);
    expect((await ok('getById', { id: made.id })).updatedAt).toBe(made.updatedAt);
  });
});

describe('notes', () => {
  it('are stored as written, up to their maximum length', async () => {
    const { id } = await open();
    await ok('addNote', { id, note: 'n'.repeat(2000) });
    await ok('acknowledge', { id, note: '   ' });
    const { timeline } = await ok('getById', { id });
    expect(timeline.map(({ note }: { note: string | null }) => note)).toEqual([null, 'n'.repeat(2000), null]);
    expect((await refusal('start', { id, note: 'n'.repeat(2001) })).status).toBe(400);
    expect((await refusal('addNote', { id, note: 'n'.repeat(2001) })).status).toBe(400);
    expect((await refusal('addNote', { id, note: '  ' })).status).toBe(400);
    expect((await refusal('addNote', { id })).status).toBe(400);
  });

  it('give the reason why an incident is reopened', async () => {
    const { id } = await open();
    for (const step of ['acknowledge', 'start', 'resolve']) await ok(step, { id });
    expect((await refusal('reopen', { id })).data.issues[0].path).toBe('note');
    expect((await refusal('reopen', { id, note: ' ' })).status).toBe(400);
    expect((await ok('reopen', { id, note: 'Why not' })).status).toBe('OPEN');
  });
});

describe('incidents.attachEvent', () => {
  it('adds an event once', async () => {
    const { id } = await open();
    const attached = await ok('attachEvent', { id, eventId });
    expect(await ok('attachEvent', { id, eventId: eventId.toUpperCase() })).toEqual(attached);
    const detail = await ok('getById', { id });
    expect(detail.eventCount).toBe(1);
    expect(detail.timeline).toHaveLength(2);
    expect(detail.timeline[1]).toMatchObject({ action: 'attachEvent', details: { eventId } });
  });

  it('adds it once for concurrent calls', async () => {
    const { id } = await open();
    await Promise.all(Array.from({ length: 8 }, () => ok('attachEvent', { id, eventId })));
    expect((await ok('getById', { id })).timeline).toHaveLength(2);
  });

  it('refuses an event that does not exist', async () => {
    const { id } = await open();
    for (const unknown of STRANGE_IDS) {
      const { status, data } = await refusal('attachEvent', { id, eventId: unknown });
      expect({ status, path: data.issues[0].path }).toEqual({ status: 400, path: 'eventId' });
    }
  });

  it('shows the newest hundred events, and counts deleted ones too', async () => {
    const events = Array.from({ length: 130 }, (_, n) => ({
      eventType: 'VEHICLE_DETECTION',
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
    }));
    const apiKey = await gantry.registerSensor();
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
    const ids: string[] = results.map((result: { eventId: string }) => result.eventId);
    const { id } = await open({ eventIds: ids.slice(0, 100) });
    for (const extra of ids.slice(100)) await ok('attachEvent', { id, eventId: extra });
    await gantry.ok('events.delete', { id: ids[129] }, { token });
    const detail = await ok('getById', { id });
    expect(detail.eventCount).toBe(130);
    expect(detail.events.map((event: { id: string }) => event.id)).toEqual(ids.slice(30, 129).reverse());
  });
});

describe('incidents.getStats', () => {
  const stats = (input: object) => ok('getStats', input);
  const place = async (fields: Record<string, unknown>) => {
    const row = { title: 'Counted', ...fields };
    const names = Object.keys(row).join(', ');
    const values = Object.keys(row).map((_, n) => `$${n + 1}`);
    await gantry.pool.query(
      `INSERT INTO incidents (${names}) VALUES (${values.join(', ')})`,
      Object.values(row),
    );
  };

  it('counts by status, type and severity, with average durations', async () => {
    const day = '2021-03-04';
    const row = (type: string, severity: number, status: string, minutes: (number | null)[] = []) => {
      const [acknowledged = null, resolved = null] = minutes;
      const at = (after: number | null) =>
        after === null ? null : new Date(Date.parse(`${day}T10:00:00Z`) + after * 60_000);
      return place({
        type,
        severity,
        status,
        opened_at: at(0),
        acknowledged_at: at(acknowledged),
        resolved_at: at(resolved),
      });
    };
    await row('COLLISION', 4, 'OPEN');
    await row('COLLISION', 4, 'OPEN', [2]); // reopened
    await row('WEATHER', 1, 'ACKNOWLEDGED', [4]);
    await row('WEATHER', 3, 'RESOLVED', [6, 30]);
    await row('OTHER', 4, 'CLOSED', [8.5, 60]);
    const counted = await stats({ startDate: day, endDate: day });
    expect(counted).toMatchObject({ total: 5, open: 3 });
    expect(counted.openBySeverity).toEqual([
      { severity: 'LOW', count: 1 },
      { severity: 'MEDIUM', count: 0 },
      { severity: 'HIGH', count: 0 },
      { severity: 'CRITICAL', count: 2 },
    ]);
    expect(counted.byStatus).toEqual(
      incidentStatus.options.map((status, n) => ({ status, count: [2, 1, 0, 1, 1][n] })),
    );
    expect(counted.byType.filter((entry: { count: number }) => entry.count > 0)).toEqual([
      { type: 'COLLISION', count: 2 },
      { type: 'WEATHER', count: 2 },
      { type: 'OTHER', count: 1 },
    ]);
    expect(counted.meanTimeToAcknowledge).toBe(((2 + 4 + 6 + 8.5) / 4) * 60);
    expect(counted.meanTimeToResolve).toBe(45 * 60);
  });

  it('has no average without actions', async () => {
    expect(await stats({ startDate: '1999-01-01', endDate: '1999-12-31' })).toEqual({
      total: 0,
      open: 0,
      openBySeverity: ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'].map((severity) => ({ severity, count: 0 })),
      byStatus: incidentStatus.options.map((status) => ({ status, count: 0 })),
      byType: incidentType.options.map((type) => ({ type, count: 0 })),
      meanTimeToAcknowledge: null,
      meanTimeToResolve: null,
      performance: expect.objectContaining({
        overall: {
          incidents: 0,
          roadwayClearance: { count: 0, median: null, percentile90: null },
          incidentClearance: { count: 0, median: null, percentile90: null },
        },
        byRoad: [],
        falseAlarms: { total: 0, bySensor: [] },
      }),
    });
  });

  it('counts what was opened in the range, both ends included', async () => {
    for (const opened of ['2020-05-01T00:00:00Z', '2020-05-01T23:59:59.999Z', '2020-05-02T00:00:00Z'])
      await place({ type: 'OTHER', severity: 2, opened_at: opened });
    const total = async (input: object) => (await stats(input)).total;
    expect(await total({ startDate: '2020-05-01', endDate: '2020-05-01' })).toBe(2);
    expect(await total({ startDate: '2020-05-01T00:00:00.001Z', endDate: '2020-05-02T00:00:00Z' })).toBe(2);
    expect((await refusal('getStats', { startDate: 'yesterday' })).status).toBe(400);
  });
});

describe('assigning', () => {
  it('is possible to active users who may manage incidents', async () => {
    const { id } = await open();
    for (const fit of ['ADMIN', 'OPERATOR', 'FIELD']) {
      const user = await anotherOperator({ role: fit });
      const assigned = await ok('assign', { id, userId: user.id });
      expect(assigned.assignedTo).toEqual({ id: user.id, name: 'Anna Kern' });
    }
    const unfit = [await anotherOperator({ role: 'ANALYST' }), await anotherOperator({ role: 'VIEWER' })];
    const inactive = await anotherOperator();
    const admin = await gantry.tokenFor('ADMIN');
    await gantry.ok('users.update', { id: inactive.id, isActive: false }, { token: admin });
    for (const user of [...unfit, inactive]) {
      const { status, message, data } = await refusal('assign', { id, userId: user.id });
      expect({ status, path: data.issues[0].path }).toEqual({ status: 400, path: 'userId' });
      expect(message).toContain('Anna Kern');
    }
    for (const unknown of STRANGE_IDS)
      expect((await refusal('assign', { id, userId: unknown })).status).toBe(400);
  });

  it('to the present assignee is not recorded', async () => {
    const { id } = await open({ assignedTo: me.id });
    await ok('assign', { id, userId: me.id });
    expect((await ok('getById', { id })).timeline).toHaveLength(1);
    expect((await ok('assign', { id, userId: null })).assignedTo).toBeNull();
  });

  it('still names a user who was deleted', async () => {
    const user = await anotherOperator();
    const { id } = await open({ assignedTo: user.id });
    await gantry.ok('users.delete', { id: user.id }, { token: await gantry.tokenFor('ADMIN') });
    expect((await ok('getById', { id })).assignedTo).toEqual({ id: user.id, name: 'Anna Kern' });
  });
});

describe('every incidents procedure', () => {
  it('finds nothing by an unusual id, whatever its format', async () => {
    const more = { note: 'n', eventId, userId: null };
    for (const id of STRANGE_IDS)
      for (const verb of VERBS.filter((name) => !['getAll', 'getStats', 'create'].includes(name)))
        expect(await refusal(verb, { id, ...more }), `${verb} ${id}`).toMatchObject({
          status: 404,
          message: 'Incident not found',
        });
    expect((await refusal('getById', { id: '' })).status).toBe(400);
    expect((await refusal('acknowledge', {})).status).toBe(400);
  });

  it('requires a login before the input is checked', async () => {
    for (const verb of VERBS)
      expect((await gantry.call(`incidents.${verb}`, { take: 'nonsense' })).status, verb).toBe(401);
  });

  it.each(role.options)('is for %s only with Manage Incidents', async (name) => {
    const own = await gantry.tokenFor(name);
    const may = (permissions.manageIncidents as readonly string[]).includes(name);
    for (const verb of VERBS) {
      const { status } = await gantry.call(
        `incidents.${verb}`,
        { id: '', take: 0, startDate: 1 },
        { token: own },
      );
      expect(status, verb).toBe(may ? 400 : 403);
    }
  });
});
