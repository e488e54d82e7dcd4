import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGantryClient } from '@gantry/client';
import { DAY_MS } from '@gantry/contract/durations';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, eventually, sharedGantry, startGantry } from '../../server/test/harness.ts';
import { acknowledgeAlerts } from '../src/demo/alerts.ts';
import { findFeatures } from '../src/demo/features.ts';
import { dealWithIncidents } from '../src/demo/incidents.ts';
import { type Colleague, gatherStaff, type Staff } from '../src/demo/staff.ts';
import { ensureWatchlist, samples } from '../src/demo/watchlist.ts';

const NEVER = new AbortController().signal;

let admin: Colleague;
let staff: Staff;
let apiKey: string;

const gantry = await sharedGantry();
beforeAll(async () => {
  await Promise.all([gantry.tokenFor('OPERATOR'), gantry.tokenFor('FIELD')]);
  const client = createGantryClient(gantry.url);
  const logInAgain = () => client.login(ADMIN.email, ADMIN.password);
  admin = { id: (await logInAgain()).id, client, logInAgain };
  const logins = (['OPERATOR', 'FIELD'] as const).map((role) => ({
    email: `${role.toLowerCase()}@gantry.local`,
    password: ADMIN.password,
    role,
  }));
  staff = await gatherStaff(gantry.url, logins, admin);
  apiKey = await gantry.registerSensor();
});

it('the control room waits for a service that cannot answer, instead of sending a stand-in', async () => {
  const away = createServer((_, response) => {
    const data = { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 };
    response.writeHead(503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { json: { message: 'In a moment', code: -32603, data } } }));
  }).listen(0, '127.0.0.1');
  await once(away, 'listening');
  const logins = [{ email: 'operator@gantry.local', password: 'x', role: 'OPERATOR' as const }];
  const gathering = gatherStaff(`http://127.0.0.1:${(away.address() as AddressInfo).port}`, logins, admin);
  await expect(gathering).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  away.close();
});

/** Reports an event that opens an incident in the past. @returns the id of the incident */
const reportIncident = async (hoursAgo: number): Promise<string> => {
  const timestamp = new Date(Date.now() - hoursAgo * 3_600_000);
  const { events, incidents } = admin.client.api;
  await events.ingest.mutate({ apiKey, timestamp, eventType: 'INCIDENT' });
  const range = { startDate: timestamp, endDate: new Date(timestamp.getTime() + 1) };
  const found = await eventually(
    () => incidents.getAll.query(range),
    ({ total }) => total === 1,
  );
  return found.incidents[0]?.id ?? '';
};
const stateOf = async (id: string) => admin.client.api.incidents.getById.query({ id });
const deedsOf = async (id: string) => (await stateOf(id)).timeline.map(({ action }) => action);

describe('the control room of the demo', () => {
  it('finishes old incidents once, even when it runs twice at the same time', async () => {
    const ids = await Promise.all([100, 101, 102, 103, 104].map(reportIncident));
    await Promise.all([1, 2].map(() => dealWithIncidents(staff, Date.now(), NEVER)));
    for (const id of ids) {
      const { status, assignedTo, timeline } = await stateOf(id);
      expect(['RESOLVED', 'CLOSED']).toContain(status);
      expect(['OPERATOR Tester', 'FIELD Tester']).toContain(assignedTo?.name);
      const deeds = ['create', 'acknowledge', 'assign', 'start', 'resolve', 'close'];
      expect(timeline.map(({ action }) => action)).toEqual(deeds.slice(0, status === 'CLOSED' ? 6 : 5));
      expect(timeline.find(({ action }) => action === 'resolve')?.by).toEqual(assignedTo);
    }
  });

  it('ignores incidents that people were assigned, reopened or opened, and new ones', async () => {
    const { incidents } = admin.client.api;
    const [taken = '', reopened = '', halfway = ''] = await Promise.all([200, 201, 202].map(reportIncident));
    const fresh = await reportIncident(1);
    const { id: opened } = await incidents.create.mutate({ title: 'Flood', type: 'WEATHER' });
    await incidents.assign.mutate({ id: taken, userId: admin.id });
    await dealWithIncidents(staff, Date.now(), AbortSignal.abort());
    expect(await deedsOf(reopened)).toEqual(['create']);
    for (const action of ['acknowledge', 'start', 'resolve'] as const) {
      await incidents[action].mutate({ id: reopened });
    }
    await incidents.reopen.mutate({ id: reopened, note: 'It is back' });
    await incidents.acknowledge.mutate({ id: halfway });

    // In three days, new incidents will be old.
    await dealWithIncidents(staff, Date.now(), NEVER);
    expect(await deedsOf(fresh)).toEqual(['create']);
    await dealWithIncidents(staff, Date.now() + 3 * DAY_MS, NEVER);
    expect((await stateOf(taken)).status).toBe('OPEN');
    expect((await stateOf(reopened)).status).toBe('OPEN');
    expect((await stateOf(opened)).status).toBe('OPEN');
    expect((await deedsOf(halfway)).slice(0, 5)).toEqual([
      'create',
      'acknowledge',
      'assign',
      'start',
      'resolve',
    ]);
    expect((await deedsOf(fresh)).slice(0, 5)).toEqual((await deedsOf(halfway)).slice(0, 5));
  });

  it('keeps a watchlist, without existing or changed entries, and acknowledges most alerts', async () => {
    const { watchlist, events } = admin.client.api;
    const now = Date.now();
    expect(await ensureWatchlist(staff.operator.client.api, now)).toEqual({ created: samples.length });
    const { entries } = await watchlist.getAll.query();
    await watchlist.update.mutate({ id: entries[0]?.id ?? '', reason: 'Something else' });
    expect(await ensureWatchlist(staff.operator.client.api, now)).toEqual({ created: 0 });

    const unlimited = samples.find(({ since, until, pattern }) => !since && !until && !pattern.includes('*'));
    const read = { eventType: 'PLATE_RECOGNITION', licensePlateNumber: unlimited?.pattern } as const;
    const reads = Array.from({ length: 120 }, (_, hour) => ({
      ...read,
      timestamp: new Date(now - (48 + hour) * 3_600_000),
    }));
    await events.ingestBatch.mutate({ apiKey, events: reads });
    await eventually(
      () => watchlist.getAlerts.query({ take: 1 }),
      ({ total }) => total === 120,
    );
    await acknowledgeAlerts(staff, now, AbortSignal.abort());
    expect((await watchlist.getAlerts.query({ acknowledged: true })).total).toBe(0);
    await Promise.all([1, 2].map(() => acknowledgeAlerts(staff, now, NEVER)));
    const { total: open } = await watchlist.getAlerts.query({ acknowledged: false });
    const { alerts: seen } = await watchlist.getAlerts.query({ acknowledged: true, take: 100 });
    expect(open).toBeLessThan(30);
    expect(new Set(seen.map(({ acknowledgedBy }) => acknowledgedBy?.name))).toEqual(
      new Set(['OPERATOR Tester', 'FIELD Tester']),
    );
    expect(new Set(seen.map(({ note }) => note)).size).toBeGreaterThan(3);
  });

  it('respects features that are switched off, and uses the administrator where its logins are invalid', async () => {
    expect(await findFeatures(admin.client.api)).toEqual({
      incidents: true,
      watchlist: true,
      realtime: true,
    });
    await using bare = await startGantry({ config: { FEATURES: 'locations' } });
    const client = createGantryClient({ url: bare.url, token: await bare.tokenFor('ADMIN') });
    const off = { incidents: false, watchlist: false, realtime: false };
    expect(await findFeatures(client.api)).toEqual(off);

    const standIn = { id: 'x', client, logInAgain: async () => undefined };
    await bare.tokenFor('FIELD');
    const logins = [
      { email: 'field@gantry.local', password: ADMIN.password, role: 'OPERATOR' as const },
      { email: 'field@gantry.local', password: 'Wrong-horse-1', role: 'FIELD' as const },
    ];
    const replaced = await gatherStaff(bare.url, logins, standIn);
    expect([replaced.operator, replaced.field]).toEqual([standIn, standIn]);
    await replaced.leave();
    expect(client.token).toBeNull();
  });
});
