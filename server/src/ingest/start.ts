import type { EventTimes } from './event-time.ts';
import type { RateLimits } from './rate-limits.ts';
import type { EventWriter } from './writer.ts';

/** What this room adds to the service. */
export interface IngestServices {
  readonly eventWriter: EventWriter;
  readonly eventTimes: EventTimes;
  readonly eventRates: RateLimits;
}
