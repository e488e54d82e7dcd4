import { describe, expect, it } from 'vitest';
import { jpeg, png } from '../../../server/test/sample-images.ts';
import { milesight } from '../../src/formats/milesight.ts';
import { addressOf, expectCalm, inShort } from './bodies.ts';
import { readBody, readPayload } from './reading.ts';

const recognition = {
  device: 'Gate 1',
  time: '2023-09-15 06:19:57',
  time_msec: '2023-09-15 06:19:57.267',
  plate: 'AA123BB',
  type: 'White',
  speed: '38',
  direction: 'Approach',
  detection_region: 1,
  region: 'ITA',
  coordinate_x1: 10,
  coordinate_y1: 20,
  coordinate_x2: 30,
  coordinate_y2: 40,
  confidence: '0.98',
  vehicle_type: 'Car',
  vehicle_color: 'Blue',
  'Vehicle Brand': 'FIAT',
};
const first = async (body: object, sent = {}) =>
  (await readBody(milesight, JSON.stringify(body), sent)).reports[0];

describe('Milesight', () => {
  it('reads milesight-recognition-curl.json, whose time has no zone', async () => {
    const reading = await readPayload(milesight, 'milesight-recognition-curl.json', { zone: 'Asia/Tokyo' });
    expect(inShort(reading)).toEqual([
      ['2024-01-15T01:30:00.000Z', 'PLATE_RECOGNITION', 'ABC1234', null, null],
    ]);
    expect(reading.reports).toMatchObject([
      {
        key: 'Network Camera/2024-01-15 10:30:00/ABC1234/',
        device: ['Network Camera'],
        event: {
          vehicleType: 'Car',
          images: [],
          tags: ['Milesight', 'Network Camera'],
          metadata: { vendor: 'milesight', color: 'Blue', plateColor: 'White', direction: 'In' },
        },
      },
    ]);
  });

  it('reads all fields of a recognition', async () => {
    const [scene, plate] = [jpeg({ comment: 'x'.repeat(200) }), png({ shade: 4 })];
    const body = {
      ...recognition,
      plate_image: plate.toString('base64'),
      full_image: `data:image/jpeg;base64,${scene.toString('base64')}`,
      evidence_image0: '',
    };
    expect(await first(body, { zone: 'Europe/Rome' })).toMatchObject({
      occurredAt: Date.UTC(2023, 8, 15, 4, 19, 57, 267),
      event: {
        vehicleSpeed: 38,
        images: [addressOf(scene), addressOf(plate)],
        tags: ['Milesight', 'Gate 1', 'allow'],
        metadata: { confidence: 0.98, make: 'FIAT', region: 'ITA', lane: '1', box: { x1: '10', y2: '40' } },
      },
    });
  });

  it.each([
    ['Caption=LPR&description=MS12345', 'MS12345', null],
    [' Caption =LPR&description=%20MS12345', 'MS12345', null],
    ['plate=AA123BB&time=2023-09-15+06%3A19%3A57&speed=38', 'AA123BB', 38],
    ['Caption=LPR&description=unknown', null, null],
  ])('reads the query %s of a notification by GET', async (query, plate, speed) => {
    const { reports } = await readBody(milesight, query, {
      contentType: 'application/x-www-form-urlencoded',
    });
    expect(reports).toMatchObject([
      { event: { licensePlateNumber: plate, vehicleSpeed: speed, metadata: { vendor: 'milesight' } } },
    ]);
    const other = await readBody(milesight, 'Caption=Motion&description=x', {
      contentType: 'application/x-www-form-urlencoded',
    });
    expect(other.is).toBe('nothing');
  });

  it('reads a date with slashes', async () => {
    const body = JSON.stringify({ plate: 'A1', device: 'Gate', time: '2023/09/15 06:19:57' });
    const { reports } = await readBody(milesight, body);
    expect(reports[0]?.occurredAt).toBe(Date.UTC(2023, 8, 15, 4, 19, 57));
  });

  it('reads the speed in the unit of the connection', async () => {
    expect((await first(recognition, { options: { speedUnit: 'mph' } }))?.event.vehicleSpeed).toBe(61.16);
  });

  it('creates one event from the recognition, the list and the attributes of a vehicle, and another from its violation', async () => {
    const { time_msec: _, ...rest } = recognition;
    const keys = await Promise.all(
      [
        recognition,
        { ...rest, event: 'list event', list_type: 'black' },
        { ...rest, event: 'attributes' },
        { ...rest, violation_type: 'Illegal Parking' },
      ].map(async (body) => (await first(body))?.key),
    );
    expect(new Set(keys).size).toBe(2);
    expect(keys[0]).toBe(keys[2]);
    expect(keys[0]).not.toBe(keys[3]);
  });

  it.each([
    ['a violation', { violation_type: 'Wrong Direction' }, ['TRAFFIC_VIOLATION', 38, 'WRONG_WAY']],
    ['another violation', { violation_type: 'Tailgating' }, ['TRAFFIC_VIOLATION', 38, 'Tailgating']],
    ['a speed above the limit', { speed_limit: 30 }, ['TRAFFIC_VIOLATION', 38, 'SPEEDING']],
    ['no plate', { plate: 'No Plates', speed: '-' }, ['VEHICLE_DETECTION', null, null]],
    ['a speed of 0', { plate: 'unlicensed', speed: 0 }, ['VEHICLE_DETECTION', null, null]],
  ])('reports %s', async (_, fields, expected) => {
    const found = (await first({ ...recognition, ...fields }))?.event;
    expect([found?.eventType, found?.vehicleSpeed, found?.violationType]).toEqual(expected);
  });

  it.each([
    ['a vehicle', { object_type: 'Vehicle' }, 'reports', 'VEHICLE_DETECTION'],
    ['a vehicle with attributes', { vehicle_type: 'Truck', plate: '' }, 'reports', 'VEHICLE_DETECTION'],
    ['a plate', { plate: 'MS12345' }, 'reports', 'PLATE_RECOGNITION'],
    ['a person', { object_type: 'Human', full_image: 'x' }, 'nothing', undefined],
    ['what it does not say', { full_image: 'x', plate: '-' }, 'nothing', undefined],
  ])('takes for the entrance of a region by %s what it is', async (_, fields, is, type) => {
    for (const event of ['Region Entrance', 'Region Exiting', 'Line Crossing', 'Advanced Motion Detection']) {
      const body = { event, device: 'Gate 1', time: '2023-09-15 06:19:57', region: 1, ...fields };
      const reading = await readBody(milesight, JSON.stringify(body));
      expect([event, reading.is, reading.reports[0]?.event.eventType]).toEqual([event, is, type]);
    }
  });

  it('creates no events from counts, parking spaces and forms without a plate', async () => {
    const kinds = [
      { event: 'vehicle counting', device: 'Gate 1', 'All-Car': 3 },
      { device: 'Gate 1', 'All-Motorcycle': 0 },
      { event: 'Parking Detection', device: 'Gate 1', plate: '' },
    ];
    const readings = await Promise.all(kinds.map((body) => readBody(milesight, JSON.stringify(body))));
    expect(readings.map(({ is }) => is)).toEqual(['aggregate', 'aggregate', 'status']);
  });

  it('reads forms', async () => {
    const sent = { contentType: 'application/x-www-form-urlencoded' };
    const { reports } = await readBody(milesight, 'device=Gate&plate=A1&time=2023-09-15+06%3A19%3A57', sent);
    expect(reports[0]?.event.licensePlateNumber).toBe('A1');
  });

  it('creates no event from what it does not understand', () => expectCalm(milesight));

  it('describes the settings of the camera', () => {
    const values = {
      url: 'http://10.0.0.5/gateway/milesight/abc',
      token: 'abc',
      username: 'gate',
      password: 'secret',
    };
    for (const value of [values.url, 'gate', 'secret']) {
      expect(milesight.instructions(values).join('\n')).toContain(value);
    }
  });
});
