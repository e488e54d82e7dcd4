import { describe, expect, it } from 'vitest';
import { jpeg } from '../../../server/test/sample-images.ts';
import { platerecognizer } from '../../src/formats/platerecognizer.ts';
import { devicePayload, readBody, readPayload } from './reading.ts';

const FILE = 'platerecognizer-stream-webhook-tester.json';

const snapshot = (results: unknown, more: object = {}) =>
  JSON.stringify({
    hook: { target: 'https://x', id: 479, event: 'image.done' },
    data: {
      filename: 'car2.jpg',
      timestamp: '2025-09-09 23:22:38.030345',
      camera_id: null,
      results,
      version: 1,
      ...more,
    },
  });

const multipart = (fields: readonly [string, Buffer | string][]): Buffer =>
  Buffer.concat([
    ...fields.flatMap(([name, content]) => [
      Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--b--\r\n'),
  ]);

describe('Plate Recognizer', () => {
  it('Stream: one vehicle with its time, confidence, make and color', async () => {
    const { reports, is, note } = await readPayload(platerecognizer, FILE);
    expect({ is, note, count: reports.length }).toEqual({ is: 'reports', note: null, count: 1 });
    expect(reports[0]).toMatchObject({
      key: 'camera-1|camera-1_screenshots/image.jpg|2025-08-11T16:42:58.740143Z|0',
      device: ['camera-1'],
      occurredAt: Date.UTC(2025, 7, 11, 16, 42, 58, 740),
      event: {
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber: 'pl8rec',
        vehicleType: 'Sedan',
        vehicleSpeed: null,
        tags: ['platerecognizer', 'camera-1'],
        metadata: {
          vendor: 'platerecognizer',
          confidence: 0.902,
          confidenceRaw: 0.902,
          direction: 210,
          region: 'us-ca',
          make: 'Porsche',
          model: '911',
          color: 'red',
          orientation: 'Rear',
          raw: { hook: { event: 'recognition' }, data: { results: [{ plate: 'pl8rec' }] } },
        },
      },
    });
  });

  it('multipart: json with the image in upload; the same vehicle as in a form and as the body', async () => {
    const json = await devicePayload(FILE);
    const whole = await readPayload(platerecognizer, FILE);
    const parts = await readBody(
      platerecognizer,
      multipart([
        ['json', json],
        ['upload', jpeg()],
      ]),
      { contentType: 'multipart/form-data; boundary=b' },
    );
    const form = await readBody(platerecognizer, `json=${encodeURIComponent(json.toString())}`, {
      contentType: 'application/x-www-form-urlencoded',
    });
    expect(form).toEqual(whole);
    expect(parts.reports[0]?.event.images).toEqual([expect.stringMatching(/^\/images\/[0-9a-f]{64}$/)]);
    expect(parts.reports[0]?.key).toBe(whole.reports[0]?.key);
  });

  it('Snapshot: a time without an offset is UTC, whatever the zone of the connection', async () => {
    const { reports } = await readBody(platerecognizer, snapshot([{ plate: 'abc123', score: 0.9 }]), {
      zone: 'Asia/Tokyo',
    });
    expect(reports[0]?.occurredAt).toBe(Date.UTC(2025, 8, 9, 23, 22, 38, 30));
  });

  it('version 2: the plate under props, or null', async () => {
    const { reports } = await readBody(
      platerecognizer,
      snapshot([
        {
          plate: {
            type: 'Plate',
            score: 0.8,
            box: { xmin: 1, ymin: 2, xmax: 3, ymax: 4 },
            props: {
              plate: [
                { value: 'tölsl123', score: 0.97 },
                { value: 'tolsl123', score: 0.5 },
              ],
              region: [{ value: 'de', score: 0.6 }],
            },
          },
          vehicle: {
            type: 'Big Truck',
            score: 0.7,
            props: {
              color: [{ value: 'black', score: 0.9 }],
              make_model: [{ make: 'MAN', model: 'TGX', score: 0.4 }],
              orientation: [{ value: 'Front', score: 0.9 }],
            },
          },
        },
        { plate: null, vehicle: { type: 'Bus', score: 0.9 } },
      ]),
    );
    expect(
      reports.map(({ event }) => [event.eventType, event.licensePlateNumber, event.vehicleType]),
    ).toEqual([
      ['PLATE_RECOGNITION', 'tölsl123', 'Big Truck'],
      ['VEHICLE_DETECTION', null, 'Bus'],
    ]);
    expect(reports[0]?.event.metadata).toMatchObject({
      confidence: 0.97,
      region: 'de',
      make: 'MAN',
      model: 'TGX',
      color: 'black',
      orientation: 'Front',
    });
    expect(reports[1]?.event.metadata).not.toHaveProperty('confidence');
  });

  it('several results in one message fan out with their index in the key', async () => {
    const { reports } = await readBody(
      platerecognizer,
      snapshot([{ plate: 'a1' }, { plate: 'b2' }], { camera_id: 'gate' }),
    );
    expect(reports.map(({ key }) => key)).toEqual([
      'gate|car2.jpg|2025-09-09 23:22:38.030345|0',
      'gate|car2.jpg|2025-09-09 23:22:38.030345|1',
    ]);
    expect(reports.map(({ event }) => event.metadata?.raw)).toMatchObject([
      { data: { results: [{ plate: 'a1' }] } },
      { data: { results: [{ plate: 'b2' }] } },
    ]);
  });

  it.each([
    [{ speed: 50 }, undefined, 50, 'SPEED_DETECTION'],
    [{ speed: 50 }, 'mph', 80.47, 'SPEED_DETECTION'],
    [{ speed: 0 }, 'km/h', null, 'VEHICLE_DETECTION'],
    [{ speed: null }, 'km/h', null, 'VEHICLE_DETECTION'],
  ] as const)('a speed of %j in %s is %s km/h', async (result, speedUnit, expected, eventType) => {
    const { reports } = await readBody(platerecognizer, snapshot([result]), {
      options: speedUnit ? { speedUnit } : {},
    });
    expect(reports[0]?.event).toMatchObject({ vehicleSpeed: expected, eventType });
  });

  it.each(['', 'unknown', 'No Plates', null, '--'])('treats %j as no plate', async (plate) => {
    const { reports } = await readBody(platerecognizer, snapshot([{ plate, score: 0.9 }]));
    expect(reports[0]?.event).toMatchObject({ licensePlateNumber: null, eventType: 'VEHICLE_DETECTION' });
  });

  it.each([
    ['nothing was recognized', snapshot([]), 'nothing'],
    ['no results', '{"hook":{},"data":{}}', 'nothing'],
    ['results of a wrong type', snapshot('none'), 'nothing'],
    ['another maker', '{"triggers":[1]}', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['a number', '5', 'nothing'],
    ['broken JSON', '{"data":', 'unreadable'],
    ['a heartbeat', '{"hook":{"event":"heartbeat","id":"camera-1"},"data":{}}', 'heartbeat'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(platerecognizer, body)).toMatchObject({
      is,
      reports: [],
      note: expect.any(String),
    });
  });

  it('reads results whose fields have wrong types as far as possible', async () => {
    const { reports } = await readBody(
      platerecognizer,
      snapshot([5, null, { plate: { props: 3 }, vehicle: [], region: 7, color: 'x', speed: 'fast' }]),
    );
    expect(reports.map(({ event }) => event.eventType)).toEqual(Array(3).fill('VEHICLE_DETECTION'));
  });

  it('explains how to enter the address and the header', () => {
    const steps = platerecognizer.instructions({ url: 'URL', token: 'TOKEN', username: 'U', password: 'P' });
    expect(steps.join('\n')).toMatch(/URL[\s\S]*Authorization: Token TOKEN/);
  });
});
