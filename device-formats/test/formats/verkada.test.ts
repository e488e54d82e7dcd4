import { describe, expect, it } from 'vitest';
import { verkada } from '../../src/formats/verkada.ts';
import { readBody, readPayload } from './reading.ts';

const lpr = (data: object, more: object = {}): string =>
  JSON.stringify({ webhook_type: 'lpr', webhook_id: 'W', created_at: 1742259179, data, ...more });

describe('Verkada', () => {
  it('verkada-lpr-webhook.json: seconds and milliseconds in one message', async () => {
    const { is, reports } = await readPayload(verkada, 'verkada-lpr-webhook.json');
    expect({ is, count: reports.length }).toEqual({ is: 'reports', count: 1 });
    expect(reports[0]).toMatchObject({
      key: 'f319fb87-4ca6-47de-ae71-67b25aa1dab7',
      device: ['93b90c2c-f06d-4fde-b25e-29b211282609'],
      occurredAt: 1778722097743,
      event: {
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber: 'BVZ0938',
        images: [],
        tags: ['verkada'],
        metadata: { vendor: 'verkada', confidence: 0.93, region: 'us-wa', box: [0.25, 0.3, 0.1, 0.13] },
      },
    });
  });

  it.each([
    [{ detected: 1742259179426, created: 1742259177 }, 1742259179426],
    [{ created: 1742259177 }, 1742259177000],
    [{}, 1742259179000],
    [{ detected: 'soon', created: -1 }, 1742259179000],
  ])('takes the time from %j', async (data, expected) => {
    const { reports } = await readBody(verkada, lpr({ license_plate_number: 'A1', ...data }));
    expect(reports[0]?.occurredAt).toBe(expected);
  });

  it('keeps the address of the image, but not the placeholder of the documentation', async () => {
    const images = async (image_url: string) =>
      (await readBody(verkada, lpr({ license_plate_number: 'A1', image_url }))).reports[0]?.event.images;
    expect(await images('https://example.com/a.jpg')).toEqual(['https://example.com/a.jpg']);
    expect(await images('IMAGE_URL')).toEqual([]);
  });

  it.each(['', 'unknown', null])('treats %j as no plate', async (license_plate_number) => {
    const { reports } = await readBody(verkada, lpr({ license_plate_number, confidence: 0.1 }));
    expect(reports[0]?.event).toMatchObject({ eventType: 'VEHICLE_DETECTION', licensePlateNumber: null });
    expect(reports[0]?.event.metadata).not.toHaveProperty('confidence');
  });

  it('a notification of a plate of interest is an event with its kind as a tag', async () => {
    const { reports } = await readBody(
      verkada,
      lpr(
        { notification_type: 'license_plate_of_interest', license_plate_number: 'A1' },
        { webhook_type: 'notification' },
      ),
    );
    expect(reports[0]?.event.tags).toEqual(['verkada', 'license_plate_of_interest']);
  });

  it('several results in one message fan out with their index in the key', async () => {
    const data = [{ license_plate_number: 'A1' }, { license_plate_number: 'B2' }];
    const { reports } = await readBody(verkada, lpr(data));
    expect(reports.map(({ key }) => key)).toEqual(['W|0', 'W|1']);
  });

  it.each([
    ['a door', lpr({}, { webhook_type: 'access' }), 'nothing'],
    ['a test', lpr({}, { webhook_type: 'ping' }), 'heartbeat'],
    ['another maker', '{"alarm":{}}', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['wrong types', '[5,"x"]', 'nothing'],
    ['broken JSON', '{"webhook_type":', 'unreadable'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(verkada, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });
});
