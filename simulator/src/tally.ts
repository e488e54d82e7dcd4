import type { SensorStatus } from '@gantry/contract/sensors';

/** What a fleet has done so far. Devices write it, the progress line reads it. */
export interface Tally {
  /** Events that the service has acknowledged. */
  sent: number;
  /** Those of them that it already had. */
  duplicates: number;
  /** Events that it refused for good. */
  refused: number;
  /** Attempts that failed and were made again. */
  retries: number;
  heartbeats: number;
  /** What each device last heard of its status. */
  readonly status: Map<string, SensorStatus>;
  /** Devices that are in the middle of trying again. */
  readonly waiting: Set<string>;
  /** Devices whose key the service does not know (any more). */
  readonly dismissed: Set<string>;
  /** What the service last said when it refused something. */
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
