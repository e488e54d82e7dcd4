import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, eventOf, pathOf, processed } from './gateway-calls.ts';
import { type Gantry, startGantry } from './harness.ts';

let gantry: Gantry;
beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.stop());

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  gantry.fetch(pathOf(url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('a message of a device', () => {
  it('is stored as it came and becomes an event', async () => {
    const made = await connect(gantry, 'gantry');
    const answer = await post(made.url, {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'B AB 1234',
      vehicleSpeed: 48,
    });
    expect(answer.status).toBe(200);
    const [message] = await processed(gantry, made.id);
    expect(message).toMatchObject({ status: 'STORED', reason: null, path: '' });
    expect(await eventOf(gantry, message?.eventIds[0])).toMatchObject({
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'B AB 1234',
      vehicleSpeed: 48,
      sensorId: made.sensorId,
      metadata: { connectionId: made.id, messageId: message?.id, clock: 'receipt' },
    });
  });
});
