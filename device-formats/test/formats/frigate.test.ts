import { describe, expect, it } from 'vitest';
import { frigate } from '../../src/formats/frigate.ts';
import { readBody, readPayload } from './reading.ts';

const ID = '1607123955.475377-mxklsc';

const event = (type: string, after: object = {}): string =>
  JSON.stringify({
    type,
    before: { id: ID },
    after: {
      id: ID,
      camera: 'driveway_cam',
      label: 'car',
      sub_label: null,
      start_time: 1607123955.475377,
      end_time: type === 'end' ? 1607123965.1 : null,
      top_score: 0.95,
      entered_zones: ['yard'],
      ...after,
    },
  });

const one = async (body: string, sent: Parameters<typeof readBody>[2] = {}) => {
  const { reports } = await readBody(frigate, body, { topic: 'frigate/events', ...sent });
  expect(reports).toHaveLength(1);
  return reports[0];
};

describe('Frigate', () => {
  it('frigate-tracked_object_update-lpr.json: the plate of an object', async () => {
    const { is, reports } = await readPayload(frigate, 'frigate-tracked_object_update-lpr.json', {
      topic: 'frigate/tracked_object_update',
    });
    expect(is).toBe('reports');
    expect(reports).toMatchObject([
      {
        key: ID,
        device: ['driveway_cam'],
        occurredAt: 1607123958748,
        event: {
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: '123ABC',
          tags: ['frigate', 'driveway_cam', "John's Car"],
          metadata: { confidence: 0.95, box: [917, 487, 1029, 529], subLabel: "John's Car" },
        },
        passage: { id: ID, isLast: false, waitSeconds: 30 },
      },
    ]);
  });

  it('frigate-plate-recognizer-return-topic.json: the time is in the id of the event', async () => {
    const { reports } = await readPayload(frigate, 'frigate-plate-recognizer-return-topic.json', {
      topic: 'frigate/plate_recognizer',
    });
    expect(reports).toMatchObject([
      {
        key: '1709048777.461169-e4ygo1',
        device: ['front_driveway_1'],
        occurredAt: 1709048777461,
        event: { licensePlateNumber: 'VI6CZA', metadata: { confidence: 0.89 } },
        passage: { id: '1709048777.461169-e4ygo1' },
      },
    ]);
  });

  it('frigate-reviews-update.json: a review is not an event', async () => {
    const reading = await readPayload(frigate, 'frigate-reviews-update.json', { topic: 'frigate/reviews' });
    expect(reading).toMatchObject({ is: 'nothing', reports: [], note: expect.stringMatching(/Reviews/) });
  });

  it('frigate-mqtt-car-captured-2023.txt: a log that is not JSON is unreadable', async () => {
    const reading = await readPayload(frigate, 'frigate-mqtt-car-captured-2023.txt');
    expect(reading).toMatchObject({ is: 'unreadable', reports: [] });
  });

  it('a plate that arrives seconds after new is part of the same passage, which end completes', async () => {
    const messages = [
      event('new'),
      '{"type":"lpr","id":"1607123955.475377-mxklsc","name":null,"plate":"123ABC","score":0.95,"camera":"driveway_cam","timestamp":1607123958.7}',
      event('update', { recognized_license_plate: '123ABC', recognized_license_plate_score: 0.95 }),
      event('end', {
        recognized_license_plate: '123ABC',
        recognized_license_plate_score: 0.95,
        average_estimated_speed: 40,
      }),
    ];
    const reports = [];
    for (const message of messages) reports.push(await one(message));
    expect(new Set(reports.map((report) => report?.passage?.id))).toEqual(new Set([ID]));
    expect(new Set(reports.map((report) => report?.key))).toEqual(new Set([ID]));
    expect(reports.map((report) => report?.passage?.isLast)).toEqual([false, false, false, true]);
    const [first, plate, update, end] = reports.map((report) => report?.passage?.quality ?? -1);
    expect(first).toBeLessThan(plate ?? 0);
    expect(plate).toBeLessThan(update ?? 0);
    expect(update).toBe(end);
    expect(reports[3]?.event).toMatchObject({
      licensePlateNumber: '123ABC',
      vehicleSpeed: 40,
      vehicleType: 'car',
    });
  });

  it('after an end without a plate, the passage stays open a little longer', async () => {
    expect((await one(event('end')))?.passage).toMatchObject({ isLast: false, waitSeconds: 5 });
  });

  it.each([
    ['ABC123', 'ABC123'],
    [['BMW X5', 0.9], 'BMW X5'],
    [['VAN 2', 0.9], 'VAN 2'],
    ["John's Car", "John's Car"],
    [['amazon', 0.8], 'amazon'],
    [null, undefined],
  ])('the sub_label %j is the name %j, and no plate', async (sub_label, name) => {
    const report = await one(event('update', { sub_label }));
    expect(report?.event).toMatchObject({ eventType: 'VEHICLE_DETECTION', licensePlateNumber: null });
    expect(report?.event.metadata?.subLabel).toBe(name);
  });

  it('a recognized plate takes precedence over sub_label, and may be a list with its score', async () => {
    const report = await one(
      event('update', { sub_label: ['UPS 1', 0.8], recognized_license_plate: ['AB 12', 0.93] }),
    );
    expect(report?.event).toMatchObject({
      licensePlateNumber: 'AB 12',
      metadata: { confidence: 0.93, subLabel: 'UPS 1' },
    });
  });

  it.each([
    [{ average_estimated_speed: 50 }, undefined, 50],
    [{ average_estimated_speed: 50 }, 'mph', 80.47],
    [{ average_estimated_speed: 0, current_estimated_speed: 0 }, 'mph', null],
    [{ average_estimated_speed: 0, current_estimated_speed: 30 }, 'km/h', 30],
  ] as const)('the speed of %j in %s is %s km/h', async (speeds, speedUnit, expected) => {
    const report = await one(event('update', speeds), { options: speedUnit ? { speedUnit } : {} });
    expect(report?.event.vehicleSpeed).toBe(expected);
  });

  it.each(['unknown', '', null])('treats %j as no plate', async (recognized_license_plate) => {
    expect((await one(event('end', { recognized_license_plate })))?.event).toMatchObject({
      eventType: 'VEHICLE_DETECTION',
      licensePlateNumber: null,
    });
  });

  it('a message that a bridge wraps, with the path of its snapshot', async () => {
    const payload = JSON.parse(event('update', { has_snapshot: true }));
    const report = await one(JSON.stringify({ topic: 'frigate/events', payload }));
    expect(report).toMatchObject({
      key: ID,
      event: { metadata: { snapshot: `/api/events/${ID}/snapshot.jpg`, zones: ['yard'] } },
    });
  });

  it('an event of the HTTP API', async () => {
    const report = await one(
      JSON.stringify({
        id: ID,
        camera: 'c',
        label: 'truck',
        start_time: 1607123955.475377,
        end_time: 1607123960,
        data: { recognized_license_plate: ['23134X1', 0.994], average_estimated_speed: 33 },
      }),
      { topic: undefined as unknown as string },
    );
    expect(report).toMatchObject({
      key: ID,
      event: { licensePlateNumber: '23134X1', vehicleSpeed: 33, vehicleType: 'truck' },
      passage: { isLast: true },
    });
  });

  it.each([
    ['a person', event('new', { label: 'person' }), 'nothing'],
    ['a false positive', event('new', { false_positive: true }), 'nothing'],
    ['a description', '{"type":"description","id":"1.2-a","description":"A red car"}', 'nothing'],
    ['a face', '{"type":"face","id":"1.2-a","camera":"c","name":"Bob"}', 'nothing'],
    ['online', 'online', 'heartbeat'],
    ['offline', 'offline', 'nothing'],
    ['another maker', '{"webhook_type":"lpr"}', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['broken JSON', '{"after":', 'unreadable'],
    ['a count', '5', 'unreadable'],
    ['wrong types', '{"type":5,"before":[],"after":"x"}', 'nothing'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(frigate, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });
});
