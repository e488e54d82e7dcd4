import type { Passage } from '@gantry/contract/events';
import { type Lane, MAX_LANE, type Movement, type VehicleClass } from '@gantry/contract/movements';
import { type Column, double, smallint, text } from '../platform/database/arrays.ts';
import type { EventRow } from './event-row.ts';

// How a vehicle passed and its plate was read, as columns of events. What needs two values is one text in them, as in traffic_cells.

/** The columns of an event that say how a vehicle passed and its plate was read; null for what the sensor did not report. */
export interface PassageRecord extends Record<string, unknown> {
  direction: string | null;
  lane: string | null;
  vehicle_class: string | null;
  vehicle_length: number | null;
  headway: number | null;
  gap: number | null;
  occupancy_ms: number | null;
  movement: string | null;
  passage_id: string | null;
  plate_region: string | null;
  plate_confidence: number | null;
}

/** The columns in the order of the fields of `Passage`. */
export const PASSAGE_COLUMNS =
  'direction, lane, vehicle_class, vehicle_length, headway, gap, occupancy_ms, movement, passage_id, plate_region, plate_confidence';

/** The values of these columns for storing events. */
export const passageColumns: readonly Column<EventRow>[] = [
  text('direction', ({ passage }) => passage?.direction?.toString() ?? null),
  text('lane', ({ passage }) => passage?.lane?.toString() ?? null),
  text('vehicle_class', ({ passage }) => (passage?.vehicleClass ? classText(passage.vehicleClass) : null)),
  double('vehicle_length', ({ passage }) => passage?.vehicleLength ?? null),
  double('headway', ({ passage }) => passage?.headway ?? null),
  double('gap', ({ passage }) => passage?.gap ?? null),
  double('occupancy_ms', ({ passage }) => passage?.occupancyMs ?? null),
  text('movement', ({ passage }) => (passage?.movement ? movementText(passage.movement) : null)),
  text('passage_id', ({ passage }) => passage?.passageId ?? null),
  text('plate_region', ({ passage }) => passage?.plateRegion ?? null),
  smallint('plate_confidence', ({ passage }) => passage?.plateConfidence ?? null),
];

/** A class as `SCHEME:CODE`. */
export function classText({ scheme, code }: VehicleClass): string {
  return `${scheme}:${code}`;
}

/** The class of such a text. */
export function classOfText(stored: string): VehicleClass {
  const at = stored.indexOf(':');
  return { scheme: stored.slice(0, at) as VehicleClass['scheme'], code: stored.slice(at + 1) };
}

/** A movement as `LEG` or `LEG:TURN`. */
export function movementText({ from, turn }: Movement): string {
  return turn ? `${from}:${turn}` : from;
}

/** The movement of such a text. */
export function movementOfText(stored: string): Movement {
  const [from, turn] = stored.split(':');
  return { from, ...(turn && { turn }) } as Movement;
}

/** The lane of a text: a number, or a name. */
export function laneOfText(stored: string): Lane {
  return /^[1-9]\d?$/.test(stored) && Number(stored) <= MAX_LANE ? Number(stored) : stored;
}

/** The direction of a text: a word, or degrees. */
export function directionOfText(stored: string): NonNullable<Passage['direction']> {
  return (/^\d/.test(stored) ? Number(stored) : stored) as NonNullable<Passage['direction']>;
}

/** What was reported of how a vehicle passed. */
export function passageOf(row: PassageRecord): Passage {
  return {
    ...(row.direction !== null && { direction: directionOfText(row.direction) }),
    ...(row.lane !== null && { lane: laneOfText(row.lane) }),
    ...(row.vehicle_class !== null && { vehicleClass: classOfText(row.vehicle_class) }),
    ...(row.vehicle_length !== null && { vehicleLength: row.vehicle_length }),
    ...(row.headway !== null && { headway: row.headway }),
    ...(row.gap !== null && { gap: row.gap }),
    ...(row.occupancy_ms !== null && { occupancyMs: row.occupancy_ms }),
    ...(row.movement !== null && { movement: movementOfText(row.movement) }),
    ...(row.passage_id !== null && { passageId: row.passage_id }),
    ...(row.plate_region !== null && { plateRegion: row.plate_region }),
    ...(row.plate_confidence !== null && { plateConfidence: row.plate_confidence }),
  };
}
