import { type EventInput, reportFrom } from './event.ts';
import { photograph } from './photograph.ts';
import { createRandom, mix } from './random.ts';
import type { VirtualSensor } from './sensor.ts';
import { trafficLevel } from './traffic.ts';

export const MINUTE_MS = 60_000;

/** An event with its time, and the key by which a retry is known as one. */
export interface TimedEvent {
  /** Unix milliseconds. */
  readonly at: number;
  readonly input: EventInput & { timestamp: string; idempotencyKey: string };
}

export interface Pace {
  /** Multiplies every sensor's eventsPerMin. */
  readonly rate: number;
  /** The same traffic at every hour, instead of rush hours and quiet nights. */
  readonly steady: boolean;
  /** Whether sensors with a camera send pictures of what people will look at; they do not if it is left out. */
  readonly images?: boolean;
}

/** What is photographed: not everything that passes. */
const PHOTOGRAPHED: ReadonlySet<string> = new Set(['TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION', 'INCIDENT']);

/** Tells the dice of a picture from those of its event. */
const OF_PICTURE = 0x9_1c7;

/**
 * The events of one minute (since 1970), in the order in which they happen. A lower rate leaves some of them out
 * and changes none, so whatever was sent before can be sent again.
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
    const pictures = pace.images ? picturesOf(sensor, report, seed) : {};
    return { at, input: { ...report, ...pictures, timestamp, idempotencyKey } };
  });
  return events.sort((a, b) => a.at - b.at);
}

/** A sensor's events from a moment on, one after the other, made only when they are asked for. */
export interface EventStream {
  /** When to look again: at the next event, or at the end of a minute without one. */
  nextAt(now: number): number;
  /** Takes the events that have happened by `now`, at most `limit` of them, oldest first. */
  take(now: number, limit: number): TimedEvent[];
}

/** Events from `from` (Unix milliseconds) on. What nobody takes waits as a position in time, not in memory. */
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

function picturesOf(sensor: VirtualSensor, { eventType }: EventInput, seed: number): { images?: string[] } {
  return sensor.type !== 'RADAR' && PHOTOGRAPHED.has(eventType)
    ? { images: [photograph(createRandom(mix(seed, OF_PICTURE)))] }
    : {};
}
