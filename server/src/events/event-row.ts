import type { EventType, Passage } from '@gantry/contract/events';

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
  /** How the vehicle passed and its plate was read; null if the sensor reported nothing about it. */
  readonly passage: Passage | null;
  /** Identifies the content of an event with an idempotency key, whose id may exist already; otherwise null. */
  readonly contentHash: string | null;
}

/** A stored event with the fields that the database and users add. */
export interface StoredRow extends EventRow {
  readonly createdAt: Date;
  readonly processed: boolean;
  readonly archived: boolean;
}
