import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EventRow } from '../src/events/event-row.ts';
import { EventQueue, type Waiting } from '../src/ingest/queue.ts';
import { RateLimits } from '../src/ingest/rate-limits.ts';
import { readConfig } from '../src/platform/config.ts';
import { AppError } from '../src/platform/error.ts';
import type { KnownSensor } from '../src/sensors/sensor-keys.ts';
import { startGantry } from './harness.ts';

const rowOf = (sensorId: string, description = ''): EventRow =>
  ({ id: randomUUID(), sensorId, description, contentHash: null }) as EventRow;

describe('the queue of events', () => {
  const fill = (queue: EventQueue, row: EventRow, count: number): number => {
    let taken = 0;
    for (let n = 0; n < count; n++) {
      const waiting: Waiting = {
        row,
        companion: null,
        until: Number.POSITIVE_INFINITY,
        resolve: () => {},
        reject: () => {},
      };
      try {
        queue.add(waiting);
        taken++;
      } catch (error) {
        // Not checked with `expect`, which would take most of the time of this test.
        const isExpected =
          error instanceof AppError && error.kind === 'unavailable' && error.retryAfterSeconds === 1;
        if (!isExpected) throw error;
      }
    }
    return taken;
  };

  it('lets one sensor fill half of it, and keeps room for others', () => {
    const queue = new EventQueue();
    expect(fill(queue, rowOf('flood'), 50_000)).toBe(20_000);
    expect(fill(queue, rowOf('quiet'), 1)).toBe(1);
    expect(fill(queue, rowOf('flood'), 1)).toBe(0);
    expect(fill(queue, rowOf('other'), 3_000)).toBe(3_000);
  });

  it('keeps room even when several sensors flood it, and when events are large', () => {
    const queue = new EventQueue();
    for (let round = 0; round < 20; round++) {
      for (const name of ['a', 'b', 'c']) fill(queue, rowOf(name), 1_000);
    }
    expect(fill(queue, rowOf('quiet'), 500)).toBe(500);
    const large = new EventQueue();
    const size = 'x'.repeat(4_000_000);
    expect(fill(large, rowOf('flood', size), 100)).toBeLessThan(40);
    expect(fill(large, rowOf('quiet', size), 5)).toBe(5);
  });

  it("gives every sensor its part of the next group, and keeps each sensor's events in order", () => {
    const queue = new EventQueue();
    fill(queue, rowOf('flood'), 15_000);
    const quiet = Array.from({ length: 3 }, (_, n) => rowOf('quiet', String(n)));
    for (const row of quiet) fill(queue, row, 1);
    const { events } = queue.take();
    expect(events).toHaveLength(1_000);
    expect(events.filter(({ row }) => row.sensorId === 'quiet').map(({ row }) => row)).toEqual(quiet);
    let left = queue.length;
    expect(left).toBe(14_003);
    while (queue.length > 0) left -= queue.take().events.length;
    expect(left).toBe(0);
    // The queue is empty: one sensor may fill its half again.
    expect(fill(queue, rowOf('flood'), 50_000)).toBe(20_000);
  });
});

describe('the rate limit of a sensor', () => {
  const sensorOf = (id: string, eventsPerMin: number) => ({ id, eventsPerMin }) as KnownSensor;

  it('is a multiple of its expected rate, and refuses with the time to wait', () => {
    let now = 0;
    const limits = new RateLimits(10, () => now);
    const sensor = sensorOf('a', 600);
    limits.take(sensor, 6_000);
    expect(() => limits.take(sensor, 100)).toThrow(
      expect.objectContaining({ kind: 'tooManyRequests', retryAfterSeconds: 1 }),
    );
    now += 1_000;
    limits.take(sensor, 100);
    expect(() => limits.take(sensor, 1)).toThrow('more than 6000 events per minute');
    // Other sensors are not affected, and two batches are always accepted.
    limits.take(sensorOf('b', 1), 1_000);
    limits.take(sensorOf('b', 1), 1_000);
    expect(() => limits.take(sensorOf('b', 1), 1)).toThrow('more than 200 events per minute');
  });

  it('is by default higher than a machine can reach', () => {
    const { EVENT_RATE_FACTOR } = readConfig({});
    const limits = new RateLimits(EVENT_RATE_FACTOR, () => 0);
    for (let n = 0; n < 1_000; n++) limits.take(sensorOf('a', 20), 1_000);
  });

  it('answers 429 with Retry-After, counts the items of a batch, and stores nothing of what is refused', async () => {
    await using gantry = await startGantry({ config: { EVENT_RATE_FACTOR: '1' } });
    const [apiKey, other] = [await gantry.registerSensor(), await gantry.registerSensor()];
    const event = { eventType: 'VEHICLE_DETECTION' };
    const events = Array.from({ length: 1_000 }, () => event);
    const statuses: number[] = [];
    for (let n = 0; n < 2; n++) {
      statuses.push((await gantry.call('events.ingestBatch', { apiKey, events })).status);
    }
    expect(statuses).toEqual([200, 200]);
    const batch = await gantry.call('events.ingestBatch', { apiKey, events });
    expect([batch.status, batch.body.error.json.data.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
    expect(Number(batch.headers.get('retry-after'))).toBeGreaterThan(60);
    expect((await gantry.call('events.ingest', { apiKey: other, ...event })).status).toBe(200);
    const { rows } = await gantry.pool.query('SELECT count(*) AS n FROM events');
    expect(rows[0].n).toBe(2_001);
  });
});
