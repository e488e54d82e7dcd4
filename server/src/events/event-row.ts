import { MINUTE_MS } from '@gantry/contract/durations';
import type { EventType } from '@gantry/contract/events';

/** An event as it is stored. Fields named `…Json` contain JSON text. */
export interface EventRow {
  readonly id: string;
  /** Unix milliseconds. The id starts with it. */
  readonly time: number;
  readonly eventType: EventType;
  readonly violationType: string | null;
  readonly vehicleType: string | null;
  /** The rank, from 1 LOW to 4 CRITICAL. */
  readonly severity: number | null;
  readonly sensorId: string;
  readonly sensorName: string;
  readonly locationId: string | null;
  readonly locationName: string | null;
  readonly plate: string | null;
  readonly plateKey: string | null;
  /** km/h */
  readonly vehicleSpeed: number | null;
  readonly description: string | null;
  readonly locationJson: string | null;
  readonly metadataJson: string | null;
  readonly imagesJson: string | null;
  readonly tagsJson: string | null;
  /** Identifies the content of an event with an idempotency key, whose id may exist already; otherwise null. */
  readonly contentHash: string | null;
}

/** A stored event with the fields that the database and users add. */
export interface StoredRow extends EventRow {
  readonly createdAt: Date;
  readonly processed: boolean;
  readonly archived: boolean;
}

/** No event is older, in Unix milliseconds: earlier times come from clocks that were never set. */
export const EARLIEST_EVENT = Date.UTC(2000, 0, 1);

/** How far the clock of a device may be ahead of the service, in milliseconds. */
export const MAX_AHEAD_MS = 5 * MINUTE_MS;
