import { MINUTE_MS } from '@gantry/contract/durations';
import { type EventInput, reportFrom } from './event.ts';
import { photograph } from './photograph.ts';
import { createRandom, mix } from './random.ts';
import type { VirtualSensor } from './sensor.ts';
import { trafficLevel } from './traffic.ts';

/** An event with its time, and the idempotency key by which the service recognizes a retry. */
export interface TimedEvent {
  /** Unix milliseconds. */
  readonly at: number;
  readonly input: EventInput & { timestamp: string; idempotencyKey: string };
}

export interface Pace {
  /** Multiplies every sensor's eventsPerMin. */
  readonly rate: number;
  /** The same traffic at every hour, without rush hours and quiet nights. */
  readonly steady: boolean;
  /** Whether sensors send images of notable events; off by default. */
  readonly images?: boolean;
}

/** The types of events with images. */
const PHOTOGRAPHED: ReadonlySet<string> = new Set(['TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION', 'INCIDENT']);

/** Mixed into the seed of an image, so that its random numbers differ from those of its event. */
const OF_IMAGE = 0x9_1c7;

/**
 * The events of a minute, which is given as the number of minutes since 1970, in the order of their times. A lower rate
 * omits some of them and changes none, so that the same events can be sent again.
 */
export function eventsOfMinute(sensor: VirtualSensor, minute: number, pace: Pace): TimedEvent[] {
  const start = minute * MINUTE_MS;
  const level = pace.steady ? 1 : trafficLevel(start);
  const expected = sensor.eventsPerMin * pace.rate * level;
  const count = Math.floor(expected + createRandom(mix(sensor.seed, minute)).next());
  const events = Array.from({ length: count }, (_, index): TimedEvent => {
    const seed = mix(sensor.seed, minute, index + 1);
    const random = createRandom(seed);
    const at = start + random.whole(0, MINUTE_MS - 1);
    const timestamp = new Date(at).toISOString();
    const idempotencyKey = `${sensor.deviceId}/${minute}.${index}`;
    const report = reportFrom(sensor.type, sensor.place, at, random);
    const input = { ...report, timestamp, idempotencyKey };
    if (pace.images && PHOTOGRAPHED.has(report.eventType)) addImage(input, sensor, at, seed);
    return { at, input };
  });
  return events.sort((a, b) => a.at - b.at);
}

/** The events of a sensor from a time on, created on demand. */
export interface EventStream {
  /** When to check again, in Unix milliseconds: at the next event, or at the end of a minute without one. */
  nextAt(now: number): number;
  /** Returns the events until `now`, at most `limit` of them, oldest first. */
  take(now: number, limit: number): TimedEvent[];
}

/** Events from `from` (Unix milliseconds) on. A backlog is kept as a position in time, not in memory. */
export function createStream(sensor: VirtualSensor, from: number, pace: Pace): EventStream {
  let minute = Math.floor(from / MINUTE_MS);
  let waiting = eventsOfMinute(sensor, minute, pace).filter(({ at }) => at >= from);

  const advance = (now: number): void => {
    while (waiting.length === 0 && (minute + 1) * MINUTE_MS <= now) {
      minute++;
      waiting = eventsOfMinute(sensor, minute, pace);
    }
  };

  return {
    nextAt(now) {
      advance(now);
      return waiting[0]?.at ?? (minute + 1) * MINUTE_MS;
    },
    take(now, limit) {
      const taken: TimedEvent[] = [];
      for (;;) {
        advance(now);
        const due = waiting.findIndex(({ at }) => at > now);
        const ready = due === -1 ? waiting.length : due;
        const room = Math.min(ready, limit - taken.length);
        if (room === 0) return taken;
        taken.push(...waiting.splice(0, room));
      }
    },
  };
}

/** Adds the image of an event, which is drawn when it is read first: the events of a minute are made long before they are sent. */
function addImage(input: EventInput, sensor: VirtualSensor, at: number, seed: number): void {
  const event = { ...input };
  let images: string[] | null = null;
  Object.defineProperty(input, 'images', {
    enumerable: true,
    get() {
      images ??= [photograph({ sensor, at, event }, createRandom(mix(seed, OF_IMAGE)))];
      return images;
    },
  });
}
