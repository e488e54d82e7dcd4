import { ingestBatchInput, ingestInput, reportedEvent } from '@gantry/contract/events';
import { describe, expect, it } from 'vitest';
import { makeBatchBodies, makeBodies } from '../src/ingest/bodies.ts';

const KEYS = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)];

const inputOf = (text: string): unknown => JSON.parse(text).json;

describe('the bodies of the load', () => {
  const bodies = makeBodies(KEYS, 3000, 1);
  const events = bodies.map(({ text }) => ingestInput.parse(inputOf(text)));

  it('are the same for the same seed and different for another one', () => {
    expect(makeBodies(KEYS, 3000, 1)).toEqual(bodies);
    expect(makeBodies(KEYS, 3000, 2)).not.toEqual(bodies);
    const size = { count: 3, size: 10 };
    expect(makeBatchBodies(KEYS, size, 1)).toEqual(makeBatchBodies(KEYS, size, 1));
  });

  it('are all different and cover every sensor', () => {
    expect(new Set(bodies.map(({ text }) => text)).size).toBe(3000);
    expect(new Set(events.map(({ apiKey }) => apiKey))).toEqual(new Set(KEYS));
  });

  it('fill every column that has an index', () => {
    for (const { violationType, vehicleType, licensePlateNumber, severity, location } of events) {
      expect([violationType, vehicleType, licensePlateNumber, severity, location?.address]).not.toContain(
        null,
      );
      expect(location?.address).toBeTruthy();
    }
  });

  it('have all types of events, mostly detections', () => {
    const shareOf = (type: string): number =>
      events.filter(({ eventType }) => eventType === type).length / events.length;
    expect(shareOf('VEHICLE_DETECTION')).toBeCloseTo(0.4, 1);
    expect(shareOf('TRAFFIC_VIOLATION')).toBeCloseTo(0.13, 1);
    expect(new Set(events.map(({ eventType }) => eventType)).size).toBe(6);
  });

  it('contain the stated number of events when they are batches', () => {
    for (const body of makeBatchBodies(KEYS, { count: 4, size: 100 }, 1)) {
      const { apiKey, events: items } = ingestBatchInput.parse(inputOf(body.text));
      expect(KEYS).toContain(apiKey);
      expect(items).toHaveLength(100);
      expect(body.events).toBe(100);
      for (const item of items) expect(reportedEvent.safeParse(item).success).toBe(true);
    }
  });
});
