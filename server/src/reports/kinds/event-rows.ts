import type { Event } from '@gantry/contract/events';
import type { Executor } from '../../platform/database/transaction.ts';
import { type History, heldAt } from '../../platform/history.ts';
import type { Column, Row } from '../document.ts';
import { findSpeedLimits } from './violations-store.ts';

/** The columns of a report that lists events. */
export const eventColumns: readonly Column[] = [
  { name: 'Time', type: 'time', width: 15 },
  { name: 'Event type', type: 'text', width: 16 },
  { name: 'Violation', type: 'text', width: 14 },
  { name: 'Plate', type: 'text', width: 10 },
  { name: 'Vehicle type', type: 'text', width: 9 },
  { name: 'Speed (km/h)', type: 'decimal', width: 7 },
  { name: 'Limit (km/h)', type: 'decimal', width: 7 },
  { name: 'Severity', type: 'text', width: 8 },
  { name: 'Sensor', type: 'text', width: 14 },
  { name: 'Location', type: 'text', width: 18 },
  { name: 'Processed', type: 'text', width: 0 },
  { name: 'Archived', type: 'text', width: 0 },
  { name: 'Description', type: 'text', width: 0 },
  { name: 'Received', type: 'time', width: 0 },
  { name: 'Sensor ID', type: 'text', width: 0 },
  { name: 'Event ID', type: 'text', width: 0 },
];

/** An event with the data that its row needs. */
export interface PlacedEvent extends Event {
  readonly locationId: string | null;
}

/** Turns events into rows, each with the speed limit that held at its place. Limits are read once for each place. */
export function createEventRows(db: Executor): (events: readonly PlacedEvent[]) => Promise<Row[]> {
  const limits = new Map<string, History<number | null>>();
  return async (events) => {
    const places = new Set(events.flatMap(({ locationId }) => (locationId === null ? [] : [locationId])));
    const unknown = [...places].filter((id) => !limits.has(id));
    const found = await findSpeedLimits(db, unknown);
    for (const id of unknown) limits.set(id, found.get(id) ?? []);
    const limitOf = ({ locationId, timestamp }: PlacedEvent): number | null =>
      heldAt(limits.get(locationId ?? '') ?? [], timestamp.getTime()) ?? null;
    return events.map((event) => rowOf(event, limitOf(event)));
  };
}

function rowOf(event: PlacedEvent, limit: number | null): Row {
  return [
    event.timestamp,
    event.eventType,
    event.violationType,
    event.licensePlateNumber,
    event.vehicleType,
    event.vehicleSpeed,
    limit,
    event.severity,
    event.sensorName,
    event.locationName,
    event.processed ? 'yes' : 'no',
    event.archived ? 'yes' : 'no',
    event.description,
    event.createdAt,
    event.sensorId,
    event.id,
  ];
}
