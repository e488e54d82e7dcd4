import type { SensorStatus } from '@gantry/contract/sensors';

/** The results of a fleet so far. Devices update it, and the progress line shows it. */
export interface Tally {
  /** Events that the service has acknowledged. */
  sent: number;
  /** Those of them that it had stored before, or that a device of a maker sent twice. */
  duplicates: number;
  /** Events that it refused permanently. */
  refused: number;
  /** Failed attempts that were repeated. */
  retries: number;
  heartbeats: number;
  /** The last known status of each device. */
  readonly status: Map<string, SensorStatus>;
  /** Devices that are retrying. */
  readonly waiting: Set<string>;
  /** Devices that have stopped because the service does not accept their key or address (any more). */
  readonly dismissed: Set<string>;
  /** The message of the last refusal. */
  lastRefusal: string | null;
}

export function createTally(): Tally {
  return {
    sent: 0,
    duplicates: 0,
    refused: 0,
    retries: 0,
    heartbeats: 0,
    status: new Map(),
    waiting: new Set(),
    dismissed: new Set(),
    lastRefusal: null,
  };
}
