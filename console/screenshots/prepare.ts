import { readFile } from 'node:fs/promises';
import type { GantryClient } from '@gantry/client';
import { DAY_MS } from '@gantry/contract/durations';
import type { Subjects } from './pages.ts';

const day = (before: number) => new Date(Date.now() - before * DAY_MS).toISOString().slice(0, 10);

/** Adds a connection with messages, of which the demo has none, and finds what pages are to be about. */
export async function prepare({ api }: GantryClient): Promise<Subjects> {
  const byName = { sortBy: 'name', sortOrder: 'asc', take: 2 } as const;
  const { locations } = await api.locations.getAll.query(byName);
  const { sensors } = await api.sensors.getAll.query(byName);
  const { incidents } = await api.incidents.getAll.query({ status: ['RESOLVED'], take: 1 });
  const sensorId = idOf(sensors[0]);
  // The second location by name is one whose speeds are measured.
  return {
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
  const captured = new URL(
    '../../device-formats/test/messages/hikvision-anpr-deepinview-v58.xml',
    import.meta.url,
  );
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
