import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const EVENT = { eventType: 'VEHICLE_DETECTION' };

const gantry = await sharedGantry();
const apiKey = await gantry.registerSensor();

const ingest = (fields: object) => gantry.ok('events.ingest', { apiKey, ...EVENT, ...fields });
const warningOf = (path: string) => ({ path, message: expect.stringContaining('ignored') });
const counted = async (): Promise<number> => {
  const { body } = await gantry.fetch('/metrics');
  return Number(/^gantry_events_with_unknown_fields_total (\d+)$/m.exec(body)?.[1]);
};

describe('unknown fields of an event', () => {
  it('are absent from the answer to an event without any, to the byte', async () => {
    const response = await fetch(`${gantry.url}/trpc/events.ingest`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      // Fields that only stored events have are ignored without a warning.
      body: JSON.stringify({ json: { apiKey, ...EVENT, id: 'x', processed: true, sensorId: 'y' } }),
    });
    expect(await response.text()).toMatch(
      /^\{"result":\{"data":\{"json":\{"success":true,"eventId":"[0-9a-f-]{36}"\}\}\}\}$/,
    );
  });

  it('are named as warnings, and counted', async () => {
    const before = await counted();
    const answer = await ingest({ plate: 'B AB 1', location: { latitude: 1, longitude: 2, lat: 1 } });
    expect(answer).toEqual({
      success: true,
      eventId: expect.any(String),
      warnings: [warningOf('plate'), warningOf('location.lat')],
    });
    expect(await counted()).toBe(before + 1);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x${n}`.padEnd(300, '.'), n]));
    const { warnings } = await ingest(many);
    expect(warnings).toHaveLength(20);
    expect(warnings[0].path).toHaveLength(100);
  });

  it('are refused with strict, and nothing is stored', async () => {
    const before = await gantry.count('events');
    const { status, message, data } = await gantry.refusal('events.ingest', {
      apiKey,
      ...EVENT,
      plate: 'B AB 1',
      strict: true,
    });
    expect({ status, issues: data.issues }).toEqual({
      status: 400,
      issues: [{ path: 'plate', message: 'This field is not known' }],
    });
    expect(message).toContain('plate');
    expect(await gantry.count('events')).toBe(before);
    expect(Object.keys(await ingest({ strict: true, vehicleType: 'CAR' }))).toEqual(['success', 'eventId']);
  });

  it('are named and refused for each event of a batch', async () => {
    const events = [EVENT, { ...EVENT, plate: 'B AB 1' }];
    const lenient = await gantry.ok('events.ingestBatch', { apiKey, events });
    expect(lenient).toEqual({
      success: true,
      results: [
        { eventId: expect.any(String), duplicate: false },
        { eventId: expect.any(String), duplicate: false, warnings: [warningOf('plate')] },
      ],
    });
    const strict = await gantry.ok('events.ingestBatch', { apiKey, events, strict: true });
    expect(strict.success).toBe(false);
    expect(strict.results[0]).toEqual({ eventId: expect.any(String), duplicate: false });
    expect(strict.results[1].error).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: 'plate' }] });
    const own = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: events.map((each) => ({ ...each, strict: true })),
    });
    expect(own.results[0]).toEqual({ eventId: expect.any(String), duplicate: false });
    expect(own.results[1].error).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: 'plate' }] });
  });
});
