import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GantryClient } from '@gantry/client';
import { DAY_MS } from '@gantry/contract/durations';
import type { Subjects } from './pages.ts';

const day = (before: number) => new Date(Date.now() - before * DAY_MS).toISOString().slice(0, 10);

/** Adds what the demo has none of, so that no page is empty, and finds what pages are to be about. */
export async function prepare({ api }: GantryClient): Promise<Subjects> {
  const webhookId = await webhook(api);
  const { holds } = await api.storage.getHolds.query({ take: 1 });
  if (holds.length === 0) {
    const { events } = await api.events.getAll.query({ eventType: 'TRAFFIC_VIOLATION', take: 2 });
    const eventIds = events.map(({ id }) => id);
    await api.storage.setHold.mutate({ eventIds, reason: 'Case 2114, public prosecutor' });
  }
  const { runs } = await api.storage.getRetentionRuns.query({ take: 1 });
  if (runs.length === 0) await api.storage.runRetention.mutate();
  const { reports } = await api.reports.getReports.query({ take: 1 });
  if (reports.length === 0) {
    for (const [kind, format] of [
      ['VIOLATIONS', 'PDF'],
      ['TRAFFIC', 'XLSX'],
      ['INCIDENTS', 'CSV'],
    ] as const)
      await api.reports.generate.mutate({ kind, format, startDate: day(8), endDate: day(1) });
  }
  const { schedules } = await api.reports.getSchedules.query({ take: 1 });
  if (schedules.length === 0) {
    await api.reports.createSchedule.mutate({
      kind: 'DAILY_SUMMARY',
      format: 'PDF',
      every: 'DAILY',
      hour: 6,
    });
    await api.reports.createSchedule.mutate({
      kind: 'VIOLATIONS',
      format: 'XLSX',
      every: 'WEEKLY',
      weekday: 1,
      hour: 7,
    });
  }
  const byName = { sortBy: 'name', sortOrder: 'asc', take: 2 } as const;
  const { locations } = await api.locations.getAll.query(byName);
  const { sensors } = await api.sensors.getAll.query(byName);
  const { incidents } = await api.incidents.getAll.query({ status: ['RESOLVED'], take: 1 });
  const sensorId = idOf(sensors[0]);
  const { backups, settings } = await api.backups.getAll.query();
  if (settings && backups.length === 0) await api.backups.create.mutate();
  // The second location by name is one whose speeds are measured.
  return {
    webhookId,
    locationId: idOf(locations[1]),
    sensorId,
    connectionId: await connection(api, sensorId),
    incidentId: idOf(incidents[0]),
    // Today has the traffic of the live demo, which is far denser than that of its history.
    days: `startDate=${day(14)}&endDate=${day(1)}`,
  };
}

function idOf(thing: { readonly id: string } | undefined): string {
  if (!thing) throw new Error('The service has no demo data: start it with npm run demo');
  return thing.id;
}

/** A connection of the sensor, with messages as a camera sends them: passages of vehicles, and one that is no message. */
async function connection(api: GantryClient['api'], sensorId: string): Promise<string> {
  const { connections } = await api.connections.getAll.query({ sensorId });
  if (connections[0]) return connections[0].id;
  const { id, url } = await api.connections.create.mutate({ sensorId, format: 'hikvision' });
  const captured = new URL('../../server/test/devices/hikvision-anpr-deepinview-v58.xml', import.meta.url);
  const passage = await readFile(captured, 'utf8');
  for (const body of [
    passage,
    '<EventNotificationAlert/>',
    passage.replace('<licensePlate>', '<licensePlate>A'),
  ])
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
      body,
    });
  return id;
}

/** A webhook with deliveries, whose receiver is here. */
async function webhook(api: GantryClient['api']): Promise<string> {
  const known = (await api.webhooks.getAll.query({ take: 1 })).webhooks[0];
  const receiver = createServer((_request, answer) => answer.writeHead(204).end());
  const port = known ? Number(new URL(known.url).port) : 0;
  await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve));
  receiver.unref();
  if (known) return known.id;
  const { id } = await api.webhooks.create.mutate({
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/gantry`,
    description: 'Dispatch centre',
    kinds: ['event.violation', 'incident.changed'],
  });
  await api.webhooks.test.mutate({ id });
  return id;
}
