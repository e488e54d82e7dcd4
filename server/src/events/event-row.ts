import type { EventType } from '@gantry/contract/events';

/** An event as it is stored. Texts named `…Json` are JSON already. */
export interface EventRow {
  readonly id: string;
  /** Unix milliseconds; what the id begins with. */
  readonly time: number;
  readonly eventType: EventType;
  readonly violationType: string | null;
  readonly vehicleType: string | null;
  /** The rank, 1 LOW … 4 CRITICAL. */
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
  /** Tells the event from others, if its id follows from an idempotency key and so may exist already; else null. */
  readonly contentHash: string | null;
}

/** An event that was stored, with what the database adds to it and what people did with it. */
export interface StoredRow extends EventRow {
  readonly createdAt: Date;
  readonly processed: boolean;
  readonly archived: boolean;
}
