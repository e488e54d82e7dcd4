import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ADMIN, eventually, sharedGantry, untilBegun } from './harness.ts';
import { readCsv } from './report-reading.ts';
import { openStream } from './sse.ts';
import { startReceiver } from './webhook-receiver.ts';

// What is recorded about the actions of users. Reports are written by the built program, which database-server.ts
// builds before all tests.

const MINUTE = 60_000;

const gantry = await sharedGantry({ config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' } });
const admin = await gantry.tokenFor('ADMIN');

const ok = (procedure: string, input?: unknown, token = admin) => gantry.ok(procedure, input, { token });
const addSensor = (): Promise<{ id: string; apiKey: string }> =>
  ok('sensors.create', { name: 'Mast 7', deviceId: randomUUID(), type: 'CAMERA' });
const incidentsOf = async (sensorId: string) =>
  (await ok('incidents.getAll', { sensorId, sortOrder: 'asc' })).incidents;
const report = (apiKey: string, at: number) =>
  ok('events.ingest', { apiKey, eventType: 'INCIDENT', timestamp: new Date(at).toISOString() });

describe('a user whose account was deleted', () => {
  it('is still named in timelines, and their actions can be read in the activity log', async () => {
    const email = `${randomUUID()}@gantry.local`;
    const user = { email, password: ADMIN.password, firstName: 'Anna', lastName: 'Kern', role: 'OPERATOR' };
    const { id: userId } = await ok('users.create', user);
    const own = await gantry.login(email, ADMIN.password);
    const { id } = await ok('incidents.create', { title: 'Tyre', type: 'OBSTRUCTION' }, own);
    await ok('incidents.acknowledge', { id }, own);
    await ok('users.delete', { id: userId });

    const anna = { id: userId, name: 'Anna Kern' };
    const incident = await ok('incidents.getById', { id });
    expect(incident.reportedBy).toEqual(anna);
    expect(incident.timeline.map(({ by }: { by: unknown }) => by)).toEqual([anna, anna]);
    const { activities } = await ok('users.getActivity', { userId: userId.toUpperCase() });
    expect(activities.map(({ action }: { action: string }) => action)).toEqual([
      'incidents.acknowledge',
      'incidents.create',
      'auth.login',
    ]);

    // Everything else is deleted, and the e-mail address can be used again.
    const operator = await gantry.tokenFor('OPERATOR');
    expect((await gantry.call('users.getActivity', { userId }, { token: operator })).status).toBe(403);
    expect((await gantry.call('users.getById', { id: userId }, { token: admin })).status).toBe(404);
    expect((await gantry.call('auth.me', undefined, { token: own })).status).toBe(401);
    const login = await gantry.call('auth.login', { email, password: ADMIN.password });
    expect(login.status).toBe(401);
    expect((await ok('users.getAll', { search: email })).total).toBe(0);
    const assigned = await gantry.call('incidents.assign', { id, userId }, { token: admin });
    expect(assigned.status).toBe(400);
    const again = await ok('users.create', { ...user, firstName: 'Bea' });
    expect(again.id).not.toBe(userId);
    expect((await ok('incidents.getById', { id })).reportedBy).toEqual(anna);
  });

  it('is shown only by name', async () => {
    const { rows } = await gantry.pool.query(
      `SELECT column_name FROM information_schema.columns WHERE table_name = 'former_users' ORDER BY 1`,
    );
    expect(rows.map(({ column_name }) => column_name)).toEqual([
      'deleted_at',
      'first_name',
      'id',
      'last_name',
    ]);
  });
});

describe('an alert that is acknowledged', () => {
  it('is sent as acknowledged on onAlert, and not again to webhooks', async () => {
    await using receiver = await startReceiver();
    await ok('webhooks.create', { url: receiver.url, kinds: ['watchlist.alert'] });
    await ok('watchlist.create', { pattern: 'ACK 1', reason: 'Stolen', priority: 'HIGH' });
    const stream = await openStream(gantry.url, 'watchlist.onAlert', { token: admin });
    const alerts = () => stream.messages.flatMap(({ data }) => (data.type === 'alert' ? [data.alert] : []));
    await untilBegun(stream);
    const { apiKey } = await addSensor();
    await ok('events.ingest', { apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'ACK 1' });
    const [raised] = await eventually(
      async () => alerts(),
      ({ length }) => length === 1,
    );
    expect(raised).toMatchObject({ acknowledgedAt: null, acknowledgedBy: null, note: null });
    const acknowledged = await ok('watchlist.acknowledgeAlert', { id: raised.id, note: 'On our way' });
    await eventually(
      async () => alerts(),
      ({ length }) => length === 2,
    );
    expect(alerts()[1]).toEqual(acknowledged);
    expect(acknowledged).toMatchObject({ note: 'On our way', acknowledgedBy: { name: expect.any(String) } });
    const { total } = await ok('webhooks.getDeliveries', { kind: 'watchlist.alert' });
    expect(total).toBe(1);
    stream.close();
    await stream.ended;
  });
});

describe('an incident opened by a backlog of events', () => {
  it('is marked, and is not counted in the time to acknowledge', async () => {
    const [old, live] = [await addSensor(), await addSensor()];
    const before = await ok('incidents.getStats');
    expect(before.meanTimeToAcknowledge ?? 0).toBeLessThan(60);
    await report(old.apiKey, Date.now() - 5 * 3_600_000);
    await report(live.apiKey, Date.now() - MINUTE);
    const [late] = await incidentsOf(old.id);
    const [prompt] = await incidentsOf(live.id);
    expect([late.backlog, prompt.backlog]).toEqual([true, false]);
    await ok('incidents.acknowledge', { id: late.id });
    await ok('incidents.acknowledge', { id: prompt.id });
    const { meanTimeToAcknowledge } = await ok('incidents.getStats');
    expect(meanTimeToAcknowledge).toBeLessThan(10 * 60);
    expect((await ok('incidents.create', { title: 'By hand', type: 'OTHER' })).backlog).toBe(false);
  });

  it('has no time to acknowledge in the report of incidents', async () => {
    const sensor = await addSensor();
    await report(sensor.apiKey, Date.now() - 7 * 3_600_000);
    const [{ id }] = await incidentsOf(sensor.id);
    await ok('incidents.acknowledge', { id });
    const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
    const range = { startDate: day(-1), endDate: day(0) };
    const asked = { kind: 'INCIDENTS', format: 'CSV', filters: { sensorId: sensor.id }, ...range };
    const { id: reportId } = await ok('reports.generate', asked);
    const made = await eventually(
      () => ok('reports.getById', { id: reportId }),
      ({ status }) => status === 'DONE' || status === 'FAILED',
      60_000,
    );
    expect(made).toMatchObject({ status: 'DONE', error: null, rowCount: 1 });
    const answer = await fetch(gantry.url + made.url, { headers: { authorization: `Bearer ${admin}` } });
    const { records } = readCsv(new Uint8Array(await answer.arrayBuffer()));
    expect(records[0]).toMatchObject({ 'Incident ID': id });
    const time = Object.entries(records[0] ?? {}).find(([name]) => name.startsWith('Time to acknowledge'));
    expect(time?.[1]).toBe('');
  });
});

describe('an event that a sensor reports every minute', () => {
  it('joins the open incident as long as that is open', async () => {
    const { id, apiKey } = await addSensor();
    const began = Date.now() - 60 * MINUTE;
    for (let minute = 0; minute <= 45; minute++) await report(apiKey, began + minute * MINUTE);
    const [incident, ...others] = await incidentsOf(id);
    expect(others).toEqual([]);
    expect((await ok('incidents.getById', { id: incident.id })).eventCount).toBe(46);
    // After a quarter of an hour without any, a new incident is opened.
    await report(apiKey, began + 60 * MINUTE);
    expect(await incidentsOf(id)).toHaveLength(2);
  });
});
