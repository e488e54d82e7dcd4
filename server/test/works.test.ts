import { randomUUID } from 'node:crypto';
import type { SavedWorks, WorksDetail, WorksWindow } from '@gantry/contract/works';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { openStream } from './sse.ts';

const SOON = { turnWorksMs: 50, evaluateAlarmsMs: 100 };
const JWT_SECRET = 'a secret for tests that is long enough';
const gantry = await sharedGantry({ config: { JWT_SECRET }, overrides: { timings: SOON } });
const tokens = {
  ADMIN: await gantry.tokenFor('ADMIN'),
  OPERATOR: await gantry.tokenFor('OPERATOR'),
  FIELD: await gantry.tokenFor('FIELD'),
};
type Who = keyof typeof tokens;
const ask = <Answer = SavedWorks>(procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.ok<Answer>(procedure, input, { token: tokens[who] });
const refuse = (procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.refusal(procedure, input, { token: tokens[who] });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const away = (ms: number): string => new Date(Date.now() + ms).toISOString();
/** Works that have started already and last for another hour, so that the first turn after the approval begins them. */
const present = () => ({
  title: 'Resurfacing',
  road: `A${randomUUID().slice(0, 8)}`,
  startsAt: away(-HOUR),
  endsAt: away(HOUR),
});
const propose = (fields: object = {}, who: Who = 'FIELD') =>
  ask('works.create', { ...present(), ...fields }, who);
const get = (id: string) => ask<WorksDetail>('works.getById', { id });
const inState = (id: string, state: string) =>
  eventually(
    () => get(id),
    (works) => works.state === state,
  );
const approve = async (fields: object = {}) => {
  const { id } = await propose(fields);
  await ask('works.approve', { id });
  return id;
};
/** Lets the time of works pass: the stored times become earlier. */
const pass = (id: string, ms: number) =>
  gantry.pool.query(
    `UPDATE works SET starts_at = starts_at - $2::interval, ends_at = ends_at - $2::interval,
       window_from = window_from - $2::interval, window_until = window_until - $2::interval, next_at = next_at - $2::interval
     WHERE id = $1`,
    [id, `${ms} milliseconds`],
  );
const addSensor = async (status = 'ONLINE') => {
  const fields = { name: `Camera ${randomUUID()}`, deviceId: randomUUID(), type: 'CAMERA' };
  const { id } = await ask<{ id: string }>('sensors.create', fields, 'ADMIN');
  await ask('sensors.update', { id, status });
  return id;
};
const statusOf = async (id: string) => (await ask<{ status: string }>('sensors.getById', { id })).status;
const statusChanges = async (id: string) =>
  (await ask<{ history: { from: string; to: string; reason: string }[] }>('sensors.getStatusHistory', { id }))
    .history;

describe('planned works', () => {
  it('are proposed, approved by another person, begin and end by the clock, with an incident', async () => {
    const proposed = await propose({
      kind: 'CLOSURE',
      lanes: ['CLOSED', 'CLOSED', 'OPEN'],
      geometry: {
        type: 'LineString',
        coordinates: [
          [16.4, 48.2],
          [16.5, 48.3],
        ],
      },
      opensIncident: true,
      description: 'Joints',
    });
    expect(proposed).toMatchObject({
      state: 'DRAFT',
      window: null,
      approvedBy: null,
      proposedBy: { name: 'FIELD Tester' },
      overlaps: [],
      version: 1,
    });
    const { id } = proposed;
    const approved = await ask('works.approve', { id, expectedVersion: 1 });
    expect(approved).toMatchObject({ state: 'APPROVED', approvedBy: { name: 'OPERATOR Tester' } });
    const { incidentId, windows } = await inState(id, 'ACTIVE');
    expect(windows).toMatchObject([{ state: 'ACTIVE', incidentId, endedAt: null }]);
    const incident = await ask('incidents.getById', { id: incidentId });
    expect(incident).toMatchObject({
      title: 'Resurfacing',
      description: 'Joints',
      type: 'OBSTRUCTION',
      severity: 'LOW',
      status: 'IN_PROGRESS',
      reportedBy: { name: 'FIELD Tester' },
      lanesBlocked: 2,
      location: { latitude: 48.2, longitude: 16.4 },
      timeline: [{ action: 'create', by: null, details: { worksId: id } }],
    });
    await pass(id, HOUR);
    const ended = await inState(id, 'ENDED');
    expect(ended).toMatchObject({
      window: null,
      incidentId: null,
      windows: [{ state: 'ENDED', incidentId }],
    });
    expect(await ask('incidents.getById', { id: incidentId })).toMatchObject({
      status: 'RESOLVED',
      timeline: [{}, { action: 'resolve', by: null, details: { worksId: id, reason: 'worksOver' } }],
    });
  });

  it('leave alone an incident that a person resolved', async () => {
    const id = await approve({ opensIncident: true });
    const { incidentId } = await inState(id, 'ACTIVE');
    await ask('incidents.resolve', { id: incidentId });
    await ask('incidents.close', { id: incidentId });
    const { timeline } = await ask<{ timeline: unknown[] }>('incidents.getById', { id: incidentId });
    await pass(id, HOUR);
    await inState(id, 'ENDED');
    expect(await ask('incidents.getById', { id: incidentId })).toMatchObject({ status: 'CLOSED', timeline });
  });

  it('recur: each window begins and ends once, and the next one follows', async () => {
    const recurrence = { from: '00:00', until: '23:59', weekdays: [1, 2, 3, 4, 5, 6, 7] };
    const id = await approve({
      startsAt: away(-DAY),
      endsAt: away(10 * DAY),
      recurrence,
      opensIncident: true,
    });
    const first = await inState(id, 'ACTIVE');
    // Only the window passes; the hours stay.
    await gantry.pool.query(
      `UPDATE works SET window_until = now(), next_at = now() WHERE id = $1 AND state = 'ACTIVE'`,
      [id],
    );
    const paused = await eventually(
      () => get(id),
      ({ windows }) => windows[0]?.state === 'ENDED',
    );
    expect(paused.windows.filter(({ state }) => state !== 'PLANNED').length).toBeLessThanOrEqual(2);
    expect(paused.windows[0]).toMatchObject({ incidentId: first.incidentId });
    expect(paused.windows.filter(({ state }) => state === 'PLANNED').length).toBeGreaterThanOrEqual(9);
    await ask('works.cancel', { id, reason: 'Rain' });
  });

  it('say which windows passed while nothing ran, and do nothing for them', async () => {
    const recurrence = { from: '00:00', until: '00:01', weekdays: [1, 2, 3, 4, 5, 6, 7] };
    const { id } = await propose({
      ...{ startsAt: away(-DAY), endsAt: away(20 * DAY), recurrence, opensIncident: true },
    });
    await ask('works.approve', { id });
    const { rows } = await gantry.pool.query('SELECT window_from FROM works WHERE id = $1', [id]);
    // As if it had been approved ten days ago, and nothing had run since.
    await gantry.pool.query(
      `UPDATE works SET starts_at = starts_at - interval '10 days', window_from = window_from - interval '10 days',
         window_until = window_until - interval '10 days', next_at = next_at - interval '10 days' WHERE id = $1`,
      [id],
    );
    const late = await eventually(
      () => get(id),
      ({ windows }) => windows[0]?.state === 'MISSED',
    );
    const missed = late.windows.filter(({ state }) => state === 'MISSED');
    expect(missed).toHaveLength(10);
    expect(missed.every(({ beganAt, incidentId }) => beganAt === null && incidentId === null)).toBe(true);
    expect(late).toMatchObject({ state: 'APPROVED', window: { from: rows[0].window_from.toISOString() } });
    await ask('works.cancel', { id, reason: 'Too late' });
  });

  it('end now when they are cancelled in force, and later or earlier when their end is changed', async () => {
    const sensor = await addSensor();
    const id = await approve({ opensIncident: true, sensorIds: [sensor] });
    const { incidentId, window } = await inState(id, 'ACTIVE');
    const later = away(3 * HOUR);
    expect((await refuse('works.update', { id, endsAt: later }, 'FIELD')).status).toBe(403);
    const longer = await ask('works.update', { id, endsAt: later });
    expect(longer).toMatchObject({ state: 'ACTIVE', window: { ...window, until: later }, endsAt: later });
    expect((await refuse('works.update', { id, road: 'A9' })).message).toContain('in force');
    await ask('works.update', { id, contact: 'Kern, 0123' });
    const cancelled = await ask('works.cancel', { id, reason: 'The machine broke down' }, 'FIELD');
    expect(cancelled).toMatchObject({
      state: 'CANCELLED',
      contact: 'Kern, 0123',
      cancelReason: 'The machine broke down',
      cancelledBy: { name: 'FIELD Tester' },
      window: null,
    });
    expect((await get(id)).windows).toMatchObject([{ state: 'CANCELLED', endedAt: expect.any(String) }]);
    expect(await ask('incidents.getById', { id: incidentId })).toMatchObject({ status: 'RESOLVED' });
    expect(await statusOf(sensor)).toBe('ONLINE');
    const shorter = await approve();
    await inState(shorter, 'ACTIVE');
    await ask('works.update', { id: shorter, endsAt: away(-MINUTE) }, 'FIELD');
    await inState(shorter, 'ENDED');
    for (const verb of ['cancel', 'approve', 'update'])
      expect((await refuse(`works.${verb}`, { id: shorter, reason: 'x', title: 'Other' })).message).toContain(
        'ENDED now',
      );
  });

  it('have to be approved again after a change, but not of the description', async () => {
    const { id } = await propose({ startsAt: away(HOUR), endsAt: away(2 * HOUR) });
    await ask('works.approve', { id });
    expect(
      await ask('works.update', { id, title: 'New joints', description: 'Noise' }, 'FIELD'),
    ).toMatchObject({
      state: 'APPROVED',
      version: 3,
    });
    const changed = await ask('works.update', { id, endsAt: away(3 * HOUR) });
    expect(changed).toMatchObject({ state: 'DRAFT', approvedBy: null, window: null, version: 4 });
    expect(await ask('works.update', { id, title: 'New joints' })).toMatchObject({ version: 4 });
    expect((await refuse('works.approve', { id, expectedVersion: 3 }, 'ADMIN')).status).toBe(409);
    expect((await refuse('works.update', { id, expectedVersion: 3, title: 'x' })).message).toContain(
      'version 4',
    );
    expect((await refuse('works.approve', { id })).message).toContain('You proposed this');
    expect(await ask('works.approve', { id }, 'ADMIN')).toMatchObject({ state: 'APPROVED' });
    expect((await refuse('works.approve', { id }, 'ADMIN')).message).toContain('APPROVED now');
    expect((await refuse('works.approve', { id }, 'FIELD')).status).toBe(403);
    await ask('works.cancel', { id, reason: 'x' });
  });

  it('may be approved by their author if the setting says so, and by administrators in any case', async () => {
    await using other = await startGantry({
      config: {
        DATABASE_URL: `${gantry.app.context.config.DATABASE_URL}`,
        JWT_SECRET,
        WORKS_SECOND_PERSON: 'false',
      },
    });
    const { id } = await propose({ startsAt: away(HOUR), endsAt: away(2 * HOUR) }, 'OPERATOR');
    expect((await refuse('works.approve', { id })).status).toBe(403);
    await other.ok('works.approve', { id }, { token: tokens.OPERATOR });
    const own = await propose({ startsAt: away(HOUR), endsAt: away(2 * HOUR) }, 'ADMIN');
    await ask('works.approve', { id: own.id }, 'ADMIN');
    for (const each of [id, own.id]) await ask('works.cancel', { id: each, reason: 'x' });
  });

  it.each([
    [{ endsAt: away(-2 * HOUR) }, 'endsAt', 'end before they start'],
    [{ startsAt: away(-2 * HOUR), endsAt: away(-HOUR) }, 'endsAt', 'over already'],
    [{ endsAt: away(2_000 * DAY) }, 'endsAt', 'at most 1830 days'],
    [{ recurrence: { from: '25:00', until: '05:00', weekdays: [1] } }, 'recurrence.from', ''],
    [
      { recurrence: { from: '22:00', until: '05:00', weekdays: [] } },
      'recurrence.weekdays',
      'at least one day',
    ],
    [{ road: null }, 'road', 'Say where they are'],
    [
      { road: null, fromKilometre: 3, geometry: { type: 'Point', coordinates: [1, 2] } },
      'road',
      'road of the kilometres',
    ],
    [{ kind: 'MAINTENANCE' }, 'sensorIds', 'Name the sensors'],
    [{ sensorIds: [randomUUID()] }, 'sensorIds.0', 'No sensor has this id'],
    [{ sensorIds: ['no id'] }, 'sensorIds.0', 'No sensor has this id'],
    [{ locationId: randomUUID() }, 'locationId', 'No location'],
    [{ lanes: Array(13).fill('OPEN') }, 'lanes', 'at most 12 lanes'],
    [{ lanes: [] }, 'lanes', 'at least one lane'],
    [{ geometry: { type: 'Point', coordinates: [200, 0] } }, 'geometry.coordinates', 'a longitude from'],
    [{ geometry: { type: 'LineString', coordinates: [[1, 1]] } }, 'geometry.coordinates', 'at least two'],
    [{ timezone: 'Mars/Olympus' }, 'timezone', ''],
  ])('are refused with what would be right: %#', async (fields, path, message) => {
    const answer = await refuse('works.create', { ...present(), ...fields });
    expect(answer.status).toBe(400);
    expect(answer.data.issues?.map((issue: { path: string }) => issue.path)).toContain(path);
    expect(answer.message).toContain(message);
  });

  it('are refused when the hours never come between start and end', async () => {
    const recurrence = { from: '22:00', until: '05:00', weekdays: [7] };
    const fields = {
      startsAt: '2027-06-08T00:00+02:00',
      endsAt: '2027-06-13T00:00+02:00',
      timezone: 'Europe/Berlin',
    };
    const answer = await refuse('works.create', { ...present(), ...fields, recurrence });
    expect(answer).toMatchObject({ status: 400, data: { issues: [{ path: 'recurrence' }] } });
    const saved = await propose({ ...fields, recurrence: { ...recurrence, weekdays: [2] } });
    expect(saved).toMatchObject({ startsAt: '2027-06-07T22:00:00.000Z', timezone: 'Europe/Berlin' });
    await ask('works.cancel', { id: saved.id, reason: 'x' });
  });

  it('name others on the same carriageway at the same time', async () => {
    const road = `B${randomUUID().slice(0, 8)}`;
    const range = { startsAt: away(HOUR), endsAt: away(2 * HOUR) };
    const put = (fields: object) => propose({ title: 'Other', road, ...range, ...fields });
    const first = await put({ title: 'First', direction: 'NB', fromKilometre: 14, toKilometre: 10 });
    const overlapsOf = async (fields: object) => (await put(fields)).overlaps.map(({ title }) => title);
    const near = { direction: 'NB', fromKilometre: 12, toKilometre: 13 };
    const meets = await put({ ...near, road: road.toLowerCase() });
    expect(meets.overlaps).toMatchObject([
      {
        id: first.id,
        state: 'DRAFT',
        message: expect.stringContaining('“First” is in force on the same carriageway'),
      },
    ]);
    expect((await get(first.id)).overlaps).toMatchObject([{ id: meets.id }]);
    await ask('works.cancel', { id: meets.id, reason: 'x' });
    expect((await get(first.id)).overlaps).toEqual([]);
    expect(await overlapsOf({ ...near, direction: 'SB' })).toEqual([]);
    expect(await overlapsOf({ ...near, fromKilometre: 14.1, toKilometre: 20 })).toEqual([]);
    expect(await overlapsOf({ ...near, startsAt: away(2 * HOUR), endsAt: away(3 * HOUR) })).toEqual([]);
    expect(await overlapsOf({ ...near, road: `${road}x` })).toEqual([]);
    const whole = await put({ title: 'Whole road' });
    expect(whole.overlaps.map(({ title }) => title)).toContain('First');
    expect(await ask('works.approve', { id: whole.id })).toMatchObject({ overlaps: expect.any(Array) });
  });

  it('are listed by state, kind, road, sensor, time and text', async () => {
    const road = `C${randomUUID().slice(0, 8)}`;
    const sensor = await addSensor();
    const one = await propose({
      title: 'Noise barrier',
      road,
      ...{ startsAt: away(DAY), endsAt: away(2 * DAY) },
    });
    const other = await propose({
      ...{ title: 'Lens', kind: 'MAINTENANCE', road, sensorIds: [sensor.toUpperCase()], contact: 'Huber' },
      ...{ startsAt: away(5 * DAY), endsAt: away(6 * DAY) },
    });
    const ids = async (input: object) =>
      (await ask<{ works: { id: string }[] }>('works.getAll', { road, ...input })).works.map(({ id }) => id);
    expect(await ids({})).toEqual([one.id, other.id]);
    expect(await ids({ sortOrder: 'desc' })).toEqual([other.id, one.id]);
    expect(await ids({ kind: 'MAINTENANCE' })).toEqual([other.id]);
    expect(await ids({ sensorId: sensor })).toEqual([other.id]);
    expect(await ids({ sensorId: 'none' })).toEqual([]);
    expect(await ids({ search: 'huber' })).toEqual([other.id]);
    expect(await ids({ startDate: away(3 * DAY) })).toEqual([other.id]);
    expect(await ids({ endDate: away(3 * DAY) })).toEqual([one.id]);
    await ask('works.cancel', { id: one.id, reason: 'x' });
    expect(await ids({ states: ['CANCELLED'] })).toEqual([one.id]);
    const windows = async (input: object) =>
      (await ask<{ windows: WorksWindow[] }>('works.getWindows', input)).windows
        .filter((each) => each.road === road)
        .map(({ worksId, state }) => `${worksId} ${state}`);
    expect(await windows({ hours: 144 })).toEqual([]);
    expect(await windows({ hours: 144, drafts: true })).toEqual([`${other.id} PLANNED`]);
    await ask('works.approve', { id: other.id });
    expect(await windows({ hours: 144 })).toEqual([`${other.id} PLANNED`]);
    expect(await windows({ hours: 12 })).toEqual([]);
    await ask('works.cancel', { id: other.id, reason: 'x' });
  });

  it('are found at a time far ahead, however many other works there are', async () => {
    const hoursFrom = (from: string, until: string) => ({ from, until, weekdays: [1, 2, 3, 4, 5, 6, 7] });
    const long = { endsAt: '2031-01-01T00:00Z', timezone: 'UTC' };
    const { id: other } = await propose({ ...long, recurrence: hoursFrom('01:00', '02:00') });
    await gantry.pool.query(
      `INSERT INTO works SELECT (jsonb_populate_record(works, jsonb_build_object('id', gen_random_uuid()))).*
       FROM works, generate_series(1, 1100) WHERE id = $1`,
      [other],
    );
    const wanted = await propose({ ...long, startsAt: away(HOUR), recurrence: hoursFrom('22:00', '23:00') });
    const found = async (startDate: string, hours: number) => {
      const input = { drafts: true, startDate, hours };
      return ask<{ windows: WorksWindow[]; hasMore: boolean }>('works.getWindows', input);
    };
    const evening = await found('2030-12-01T20:00Z', 4);
    expect(evening).toMatchObject({ windows: [{ worksId: wanted.id }], hasMore: false });
    expect(evening.windows[0]?.from.toString()).toContain('2030-12-01T22:00');
    const night = await found('2030-12-01T00:00Z', 4);
    expect(night.windows).toHaveLength(1_000);
    expect(night.hasMore).toBe(true);
    expect(await found('9999-12-31', 24)).toEqual({ windows: [], hasMore: false });
    await gantry.pool.query('DELETE FROM works WHERE road = (SELECT road FROM works WHERE id = $1)', [other]);
    await ask('works.cancel', { id: wanted.id, reason: 'x' });
  });

  it('are streamed as they change, by people and by the clock', async () => {
    const { id } = await propose();
    const stream = await openStream(gantry.url, 'works.onChanged', {
      token: tokens.FIELD,
      input: { id: id.toUpperCase() },
    });
    const any = await openStream(gantry.url, 'live.onAny', {
      token: tokens.FIELD,
      input: { topics: ['works'] },
    });
    await ask('works.approve', { id });
    const found = async (messages: readonly { data: { change?: { action: string } } }[]) =>
      messages.flatMap(({ data }) => data.change?.action ?? []);
    await eventually(
      () => found(stream.messages as never),
      (actions) => actions.join() === 'approve,begin',
    );
    await eventually(
      () => found(any.messages as never),
      (actions) => actions.includes('begin'),
    );
    await Promise.all([stream.close(), any.close()]);
    await ask('works.cancel', { id, reason: 'x' });
  });

  it('say where they are on a map: by the locations of their road, or at their own', async () => {
    const road = `B${randomUUID().slice(0, 8)}`;
    const place = (name: string, kilometre: number, longitude: number) =>
      ask<{ id: string }>(
        'locations.create',
        { name, road, kilometre, coordinates: { latitude: 0, longitude } },
        'ADMIN',
      );
    const west = await place('West', 10, 0);
    await place('East', 14, 0.036);
    const between = await propose({ road: road.toLowerCase(), fromKilometre: 11, toKilometre: 13 });
    const beyond = await propose({ road, fromKilometre: 15 });
    const here = await propose({ road, locationId: west.id });
    const nowhere = await propose({ road });
    const line = {
      type: 'LineString',
      coordinates: [
        [0.009, 0],
        [0.027, 0],
      ],
    };
    const expected = new Map([
      [between.id, { geometry: line, basis: 'KILOMETRES', location: null }],
      [
        beyond.id,
        { geometry: { type: 'Point', coordinates: [0.036, 0] }, basis: 'NEAREST', location: 'East' },
      ],
      [here.id, { geometry: { type: 'Point', coordinates: [0, 0] }, basis: 'LOCATION', location: 'West' }],
      [nowhere.id, null],
    ]);
    const ofWindows = await ask<{ windows: WorksWindow[] }>('works.getWindows', {
      drafts: true,
      onMap: true,
    });
    for (const [id, onMap] of expected) {
      expect((await get(id)).onMap).toEqual(onMap);
      expect(ofWindows.windows.find(({ worksId }) => worksId === id)?.onMap).toEqual(onMap);
    }
    const { windows } = await ask<{ windows: WorksWindow[] }>('works.getWindows', { drafts: true });
    expect(windows.every(({ onMap }) => onMap === undefined)).toBe(true);
    for (const id of expected.keys()) await ask('works.cancel', { id, reason: 'x' });
  });

  it('of sensors without a place of their own are on the map where the sensors are', async () => {
    const coordinates = { latitude: 1, longitude: 2 };
    const fields = { name: `Camera ${randomUUID()}`, deviceId: randomUUID(), type: 'CAMERA', coordinates };
    const sensor = await ask<{ id: string }>('sensors.create', fields, 'ADMIN');
    const { id } = await propose({ kind: 'MAINTENANCE', road: null, sensorIds: [sensor.id] });
    expect((await get(id)).onMap).toEqual({
      geometry: { type: 'Point', coordinates: [2, 1] },
      basis: 'SENSORS',
      location: null,
    });
    await ask('works.cancel', { id, reason: 'x' });
  });

  it('of the next twelve hours are in what a shift hands over', async () => {
    const { id } = await propose({ title: 'Tonight', startsAt: away(HOUR), endsAt: away(2 * HOUR) });
    const far = await propose({ title: 'Next week', startsAt: away(7 * DAY), endsAt: away(8 * DAY) });
    for (const each of [id, far.id]) await ask('works.approve', { id: each });
    const shift = await ask<{ id: string }>('shifts.start', { desk: `Desk ${randomUUID()}` });
    const { summary } = await ask<{ summary: { works: { items: WorksWindow[] } } }>('shifts.prepare', {
      id: shift.id,
    });
    const titles = summary.works.items.map(({ title }) => title);
    expect(titles).toContain('Tonight');
    expect(titles).not.toContain('Next week');
    await ask('shifts.handOver', { id: shift.id });
    await ask('works.cancel', { id, reason: 'x' });
    const { summary: stored } = await ask<{ summary: { works: { items: WorksWindow[] } } }>(
      'shifts.getById',
      {
        id: shift.id,
      },
    );
    expect(stored.works.items.map(({ title }) => title)).toEqual(titles);
    await ask('works.cancel', { id: far.id, reason: 'x' });
  });
});

describe('the maintenance of sensors', () => {
  const maintain = (sensorIds: string[]) =>
    approve({ title: 'New lens', kind: 'MAINTENANCE', road: null, sensorIds });

  it('sets and lifts MAINTENANCE, and says why in the history', async () => {
    const [online, offline, failed] = await Promise.all(['ONLINE', 'OFFLINE', 'ERROR'].map(addSensor));
    const ids = [online, offline, failed] as string[];
    const id = await maintain(ids);
    await inState(id, 'ACTIVE');
    for (const each of ids) expect(await statusOf(each)).toBe('MAINTENANCE');
    await pass(id, HOUR);
    await inState(id, 'ENDED');
    expect(await Promise.all(ids.map(statusOf))).toEqual(['ONLINE', 'OFFLINE', 'ERROR']);
    expect((await statusChanges(online as string)).slice(0, 2)).toMatchObject([
      { from: 'MAINTENANCE', to: 'ONLINE', reason: 'maintenance over: New lens' },
      { from: 'ONLINE', to: 'MAINTENANCE', reason: 'maintenance: New lens' },
    ]);
  });

  it('leaves a status that somebody has changed meanwhile, and one that was set before', async () => {
    const [changed, again, before] = await Promise.all([addSensor(), addSensor(), addSensor('MAINTENANCE')]);
    const id = await maintain([changed, again, before]);
    await inState(id, 'ACTIVE');
    await ask('sensors.update', { id: changed, status: 'OFFLINE' });
    await ask('sensors.update', { id: again, status: 'ONLINE' });
    await ask('sensors.update', { id: again, status: 'MAINTENANCE' });
    await pass(id, HOUR);
    await inState(id, 'ENDED');
    expect(await Promise.all([changed, again, before].map(statusOf))).toEqual([
      'OFFLINE',
      'MAINTENANCE',
      'MAINTENANCE',
    ]);
  });

  it('lasts until the last of several works with the sensor is over', async () => {
    const sensor = await addSensor();
    const [one, other] = [await maintain([sensor]), await maintain([sensor])];
    await inState(one, 'ACTIVE');
    await inState(other, 'ACTIVE');
    await pass(one, HOUR);
    await inState(one, 'ENDED');
    expect(await statusOf(sensor)).toBe('MAINTENANCE');
    await pass(other, HOUR);
    await inState(other, 'ENDED');
    expect(await statusOf(sensor)).toBe('ONLINE');
  });

  it('goes on when a sensor is deleted meanwhile', async () => {
    const [sensor, gone] = await Promise.all([addSensor(), addSensor()]);
    const id = await maintain([sensor, gone]);
    await inState(id, 'ACTIVE');
    await ask('sensors.delete', { id: gone });
    await pass(id, HOUR);
    await inState(id, 'ENDED');
    expect(await statusOf(sensor)).toBe('ONLINE');
    expect((await get(id)).sensors.map((each) => each.id)).toEqual([sensor]);
  });

  it('keeps alarms of its sensors from being told, and says so in the log of alarms', async () => {
    const { id: locationId } = await ask<{ id: string }>(
      'locations.create',
      { name: `Bridge ${randomUUID()}`, address: 'Bridge 1' },
      'ADMIN',
    );
    const [sensor, other] = await Promise.all([addSensor(), addSensor()]);
    await ask('sensors.update', { id: sensor, locationId });
    const rule = await ask<{ id: string }>(
      'alarmRules.create',
      {
        name: 'Down',
        condition: { source: 'SENSOR_STATUS', statuses: ['OFFLINE'] },
        scope: { sensorIds: [sensor, other] },
        severity: 'HIGH',
      },
      'ADMIN',
    );
    const id = await maintain([sensor]);
    await inState(id, 'ACTIVE');
    for (const each of [sensor, other]) await ask('sensors.update', { id: each, status: 'OFFLINE' });
    const alarms = async () =>
      (
        await ask<{ alarms: { sensorId: string; inhibitedBy: object | null }[] }>('alarms.getAll', {
          ruleId: rule.id,
          state: 'FIRING',
        })
      ).alarms;
    const found = await eventually(
      alarms,
      (all) => all.length === 2 && all.some((each) => each.inhibitedBy !== null),
    );
    const reasons = new Map(found.map(({ sensorId, inhibitedBy }) => [sensorId, inhibitedBy]));
    expect(reasons.get(sensor)).toEqual({ cause: 'MAINTENANCE', alarmId: null, worksId: id });
    expect(reasons.get(other)).toBeNull();
    await ask('works.cancel', { id, reason: 'x' });
    await ask('alarmRules.delete', { id: rule.id }, 'ADMIN');
  });
});

describe('works of which everything that says where they are was deleted', () => {
  const where = { road: null, locationId: null };

  it('are not approved before they are somewhere else', async () => {
    const location = await ask<{ id: string }>('locations.create', { name: 'Bridge' }, 'ADMIN');
    const { id } = await propose({ ...where, locationId: location.id });
    await ask('locations.delete', { id: location.id }, 'ADMIN');
    expect(await refuse('works.approve', { id })).toMatchObject({
      status: 400,
      message: expect.stringContaining('was deleted'),
    });
    await ask('works.update', { id, road: 'A9' }, 'FIELD');
    expect(await ask('works.approve', { id })).toMatchObject({ state: 'APPROVED' });
    await ask('works.cancel', { id, reason: 'x' });
  });

  it('are not approved without any of their sensors, and are changed with the rest of them', async () => {
    const [gone, other] = [await addSensor(), await addSensor()];
    const { id } = await propose({ ...where, kind: 'MAINTENANCE', sensorIds: [gone] });
    await ask('sensors.delete', { id: gone }, 'ADMIN');
    expect((await refuse('works.approve', { id })).status).toBe(400);
    await ask('works.update', { id, sensorIds: [gone, other] }, 'FIELD');
    expect(await ask('works.approve', { id })).toMatchObject({ state: 'APPROVED' });
    await inState(id, 'ACTIVE');
    expect(await statusOf(other)).toBe('MAINTENANCE');
    await ask('works.cancel', { id, reason: 'x' });
  });
});

describe('an alarm that nobody has an incident', () => {
  it('is not about that of works in force, and neither is what a trial says of the past', async () => {
    const rule = {
      name: 'Nobody has it',
      condition: { source: 'INCIDENT_UNATTENDED', lacking: 'OWNER' },
      severity: 'LOW',
    };
    const { id: ruleId } = await ask<{ id: string }>('alarmRules.create', rule, 'ADMIN');
    const id = await approve({ opensIncident: true });
    await inState(id, 'ACTIVE');
    const [{ incidentId } = { incidentId: null }] = (await get(id)).windows;
    const crash = { title: 'Crash', type: 'COLLISION', severity: 'LOW' };
    const { id: other } = await ask<{ id: string }>('incidents.create', crash);
    const namesOf = async (state?: string) => {
      const input = { ruleId, ...(state && { state }) };
      const { alarms } = await ask<{ alarms: { incidentId: string }[] }>('alarms.getAll', input, 'ADMIN');
      return alarms.map((each) => each.incidentId);
    };
    await eventually(namesOf, (ids) => ids.includes(other));
    expect(incidentId).not.toBeNull();
    expect(await namesOf()).not.toContain(incidentId);
    // The past is known up to the last whole minute.
    await gantry.pool.query(`UPDATE incidents SET opened_at = opened_at - interval '2 minutes'`);
    const lacking = ['OWNER', 'ACKNOWLEDGEMENT'].map(async (each) => {
      const condition = { ...rule.condition, lacking: each };
      const trial = { rule: { ...rule, condition }, hours: 1 };
      return (await ask<{ total: number }>('alarmRules.tryRule', trial, 'ADMIN')).total;
    });
    expect(await Promise.all(lacking)).toEqual([1, 1]);
    await ask('works.cancel', { id, reason: 'x' });
    await ask('incidents.acknowledge', { id: other });
    await ask('alarmRules.delete', { id: ruleId }, 'ADMIN');
  });
});

describe('the incidents of works', () => {
  it('need somebody, and stay when the works end, once another incident was merged into them', async () => {
    const condition = { source: 'INCIDENT_UNATTENDED', lacking: 'OWNER' };
    const rule = { name: 'Nobody has it', condition, severity: 'LOW' };
    const { id: ruleId } = await ask<{ id: string }>('alarmRules.create', rule, 'ADMIN');
    const id = await approve({ opensIncident: true });
    const { incidentId } = await inState(id, 'ACTIVE');
    const crash = { title: 'Crash into a barrier', type: 'COLLISION', severity: 'HIGH' };
    const { id: merged } = await ask<{ id: string }>('incidents.create', crash);
    await ask('incidents.merge', { id: merged, into: incidentId });
    await eventually(
      () => ask<{ alarms: { incidentId: string }[] }>('alarms.getAll', { ruleId }, 'ADMIN'),
      ({ alarms }) => alarms.some((each) => each.incidentId === incidentId),
    );
    await ask('works.cancel', { id, reason: 'x' });
    expect(await ask('incidents.getById', { id: incidentId })).toMatchObject({ status: 'IN_PROGRESS' });
    await ask('incidents.rejectFalse', { id: incidentId, reason: 'x' });
    await ask('alarmRules.delete', { id: ruleId }, 'ADMIN');
  });

  it('are in no figure of how long it takes to clear one', async () => {
    const id = await approve({ opensIncident: true });
    const { incidentId } = await inState(id, 'ACTIVE');
    const lanes = { id: incidentId, direction: 'NB', shoulder: null };
    await ask('incidents.setLanes', { ...lanes, lanes: ['CLOSED', 'OPEN'] });
    await ask('incidents.setLanes', { ...lanes, lanes: ['OPEN', 'OPEN'] });
    await ask('works.cancel', { id, reason: 'x' });
    const { work, status } = await ask<{ work: { roadwayClearance: number }; status: string }>(
      'incidents.getById',
      { id: incidentId },
    );
    expect([work.roadwayClearance, status]).toEqual([expect.any(Number), 'RESOLVED']);
    expect(await ask('incidents.getStats')).toMatchObject({
      meanTimeToResolve: null,
      performance: { overall: { roadwayClearance: { count: 0 } } },
    });
  });
});

describe('a sensor in maintenance', () => {
  it('is no reason to tell nobody of hits and incidents', async () => {
    const { id: sensor, apiKey } = await ask<{ id: string; apiKey: string }>(
      'sensors.create',
      { name: 'Gantry', deviceId: randomUUID(), type: 'CAMERA' },
      'ADMIN',
    );
    const rules = [];
    for (const condition of [{ source: 'HIT' }, { source: 'INCIDENT_UNATTENDED', lacking: 'OWNER' }]) {
      const rule = { name: condition.source, condition, severity: 'HIGH', scope: { sensorIds: [sensor] } };
      rules.push((await ask<{ id: string }>('alarmRules.create', rule, 'ADMIN')).id);
    }
    const id = await approve({ kind: 'MAINTENANCE', sensorIds: [sensor] });
    await inState(id, 'ACTIVE');
    await ask('watchlist.create', { pattern: 'M 4711', reason: 'Stolen' });
    await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'M 4711' });
    const fire = { title: 'Fire', type: 'OTHER', severity: 'CRITICAL', sensorId: sensor };
    const { id: incidentId } = await ask<{ id: string }>('incidents.create', fire);
    type Firing = { alarms: { sensorId: string | null; source: string; inhibitedBy: object | null }[] };
    const firing = () => ask<Firing>('alarms.getAll', { state: 'FIRING', sensorId: sensor });
    await eventually(firing, ({ alarms }) => alarms.length === 2);
    // Alarms that fire in a round are inhibited by its end.
    const stats = () => ask<{ evaluatedAt: string }>('alarms.getStats');
    const { evaluatedAt: fired } = await stats();
    await eventually(stats, ({ evaluatedAt }) => evaluatedAt > fired);
    expect((await firing()).alarms.map(({ inhibitedBy }) => inhibitedBy)).toEqual([null, null]);
    await ask('works.cancel', { id, reason: 'x' });
    await ask('incidents.rejectFalse', { id: incidentId, reason: 'x' });
    for (const ruleId of rules) await ask('alarmRules.delete', { id: ruleId }, 'ADMIN');
  });
});

describe('several processes', () => {
  it('take each turn once, also when many works begin at the same time', async () => {
    const config = { DATABASE_URL: `${gantry.app.context.config.DATABASE_URL}` };
    await using _one = await startGantry({ config, overrides: { timings: SOON } });
    await using _other = await startGantry({ config, overrides: { timings: SOON } });
    const COUNT = 40;
    const ids: string[] = [];
    for (let n = 0; n < COUNT; n++) {
      const { id } = await propose({ startsAt: away(HOUR), endsAt: away(2 * HOUR), opensIncident: true });
      await ask('works.approve', { id });
      ids.push(id);
    }
    const all = async (state: string) =>
      Number(
        (
          await gantry.pool.query('SELECT count(*) AS n FROM works WHERE id = ANY ($1) AND state = $2', [
            ids,
            state,
          ])
        ).rows[0].n,
      );
    const shift = (ms: number) =>
      gantry.pool.query(
        `UPDATE works SET starts_at = starts_at - $2::interval, ends_at = ends_at - $2::interval, window_from = window_from - $2::interval,
           window_until = window_until - $2::interval, next_at = next_at - $2::interval WHERE id = ANY ($1)`,
        [ids, `${ms} milliseconds`],
      );
    await shift(HOUR + MINUTE);
    await eventually(
      () => all('ACTIVE'),
      (n) => n === COUNT,
    );
    await shift(HOUR);
    await eventually(
      () => all('ENDED'),
      (n) => n === COUNT,
    );
    const { rows } = await gantry.pool.query(
      `SELECT count(*)::int AS windows, count(DISTINCT works_id)::int AS works, count(DISTINCT incident_id)::int AS incidents,
         (SELECT count(*)::int FROM incident_timeline WHERE incident_id IN (SELECT incident_id FROM works_windows WHERE works_id = ANY ($1))) AS entries
       FROM works_windows WHERE works_id = ANY ($1) AND state = 'ENDED'`,
      [ids],
    );
    expect(rows).toEqual([{ windows: COUNT, works: COUNT, incidents: COUNT, entries: 2 * COUNT }]);
  });
});
