import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGantryClient, type GantryClient } from '@gantry/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, eventually, type Gantry, startGantry } from '../../server/test/harness.ts';

// A day in a control room with the typed client.

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    received.push({ headers: request.headers, body });
    response.end();
  });
});

let gantry: Gantry;
let admin: GantryClient;
let field: GantryClient;
let apiKey: string;
let hookAddress: string;

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  hookAddress = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  gantry = await startGantry({ config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' } });
  admin = createGantryClient(gantry.url);
  await admin.login(ADMIN.email, ADMIN.password);
  field = createGantryClient({ url: gantry.url, token: await gantry.tokenFor('FIELD') });
  const sensor = await admin.api.sensors.create.mutate({ name: 'Ring 7', deviceId: 'ring-7', type: 'ANPR' });
  apiKey = sensor.apiKey;
});
afterAll(async () => {
  await gantry.stop();
  receiver.close();
});

describe('an incident', () => {
  it('is opened by a sensor, acknowledged, worked on, resolved, reopened and closed, with a complete timeline', async () => {
    const { incidents } = admin.api;
    const { eventId } = await admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'INCIDENT',
      violationType: 'BREAKDOWN',
      description: 'Lorry in the right lane',
    });
    const [opened] = (await incidents.getAll.query({ status: 'OPEN' })).incidents;
    if (!opened) throw new Error('No incident was opened');
    expect(opened).toMatchObject({
      type: 'BREAKDOWN',
      title: 'Breakdown at Ring 7',
      openedAt: expect.any(Date),
    });

    const { id } = opened;
    const me = await field.api.auth.me.query();
    await field.api.incidents.acknowledge.mutate({ id, note: 'on my way' });
    await field.api.incidents.assign.mutate({ id, userId: me.id });
    await expect(incidents.acknowledge.mutate({ id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('FIELD Tester acknowledged this incident'),
    });
    await field.api.incidents.start.mutate({ id });
    await field.api.incidents.resolve.mutate({ id, note: 'towed' });
    await incidents.reopen.mutate({ id, note: 'oil on the road' });
    await field.api.incidents.acknowledge.mutate({ id });
    await field.api.incidents.start.mutate({ id });
    await field.api.incidents.resolve.mutate({ id });
    await incidents.close.mutate({ id });

    const story = await incidents.getById.query({ id });
    expect(story).toMatchObject({ status: 'CLOSED', assignedTo: { name: 'FIELD Tester' } });
    expect(story.events.map((event) => event.id)).toEqual([eventId]);
    expect(story.timeline.map(({ action }) => action)).toEqual(
      'create acknowledge assign start resolve reopen acknowledge start resolve close'.split(' '),
    );
    expect(await incidents.getStats.query()).toMatchObject({ total: 1, open: 0 });
  });
});

describe('a watched plate', () => {
  it('raises an alert that is acknowledged, and its look-ups are recorded', async () => {
    const entry = await admin.api.watchlist.create.mutate({
      pattern: 'W 80 B*',
      reason: 'Stolen on Monday',
      priority: 'CRITICAL',
      fuzzy: true,
    });
    await admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'w-8o-81',
    });
    const { alerts } = await field.api.watchlist.getAlerts.query({ acknowledged: false });
    expect(alerts).toMatchObject([
      { entryId: entry.id, licensePlateNumber: 'w-8o-81', priority: 'CRITICAL' },
    ]);
    const taken = await field.api.watchlist.acknowledgeAlert.mutate({ id: alerts[0]?.id ?? '' });
    expect(taken.acknowledgedBy?.name).toBe('FIELD Tester');

    await field.api.events.getAll.query({ licensePlateNumber: 'W8O81', reason: 'alert' });
    const { id } = await field.api.auth.me.query();
    const { activities } = await admin.api.users.getActivity.query({ id, take: 1 });
    expect(activities[0]).toMatchObject({
      action: 'events.lookUpPlate',
      details: { plate: 'W8O81', reason: 'alert' },
    });
  });
});

describe('a webhook', () => {
  it('receives what it subscribed to, signed with a secret that is returned once', async () => {
    const { webhooks } = admin.api;
    const { id, secret } = await webhooks.create.mutate({
      url: hookAddress,
      kinds: ['event.violation', 'incident.changed'],
      filter: { minSeverity: 'HIGH' },
    });
    expect(JSON.stringify(await webhooks.getById.query({ id }))).not.toContain(secret);
    await admin.api.events.ingest.mutate({ apiKey, eventType: 'TRAFFIC_VIOLATION', severity: 'LOW' });
    const { eventId } = await admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'TRAFFIC_VIOLATION',
      violationType: 'RED_LIGHT',
    });
    await eventually(
      async () => received.length,
      (length) => length === 1,
    );
    const [delivery] = received;
    if (!delivery) throw new Error('Nothing was delivered');
    const { 'x-gantry-timestamp': timestamp, 'x-gantry-signature': signature } = delivery.headers;
    const expected = createHmac('sha256', secret)
      .update(`${String(timestamp)}.${delivery.body}`)
      .digest('hex');
    expect(signature).toBe(`sha256=${expected}`);
    expect(JSON.parse(delivery.body)).toMatchObject({ kind: 'event.violation', data: { id: eventId } });
    const { deliveries } = await eventually(
      () => webhooks.getDeliveries.query({ webhookId: id }),
      ({ deliveries: [last] }) => last?.status === 'DELIVERED',
    );
    expect(deliveries).toMatchObject([{ attempts: 1, lastStatus: 200 }]);
    expect(deliveries[0]?.id).toBe(delivery.headers['x-gantry-delivery']);
  });
});

describe('the summary of a day', () => {
  it('is available from traffic, analytics and a report', async () => {
    const endDate = new Date();
    const startDate = new Date(endDate.getTime() - 3_600_000);
    const sensors = await admin.api.sensors.getAll.query();
    const sensorId = sensors.sensors[0]?.id ?? '';
    const flow = await admin.api.traffic.getFlow.query({ sensorId, interval: '5min', startDate, endDate });
    // The plate: neither the incident nor the violations are further vehicles.
    expect(flow.volume).toBe(1);
    const analytics = await admin.api.reports.getAnalytics.query({ startDate, endDate });
    expect(analytics.totals.events.value).toBe(4);
    const { id } = await admin.api.reports.generate.mutate({
      kind: 'VIOLATIONS',
      format: 'CSV',
      startDate,
      endDate,
    });
    const report = await eventually(
      () => admin.api.reports.getById.query({ id }),
      ({ status }) => status === 'DONE' || status === 'FAILED',
      30_000,
    );
    expect(report).toMatchObject({ status: 'DONE', rowCount: 3, error: null });
    const file = await fetch(`${gantry.url}${report.url}`, {
      headers: { authorization: `Bearer ${admin.token}` },
    });
    expect(await file.text()).toContain('RED_LIGHT');
  });
});
