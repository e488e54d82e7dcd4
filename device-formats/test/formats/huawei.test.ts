import { describe, expect, it } from 'vitest';
import { jpeg } from '../../../server/test/sample-images.ts';
import { huawei } from '../../src/formats/huawei.ts';
import { addressOf, expectCalm, inShort } from './bodies.ts';
import { readBody } from './reading.ts';

// No payload of a device was available; the shape is from the maker's documentation.
const message = (fields: object) =>
  JSON.stringify({
    stream_id: '001',
    event_type: 75008,
    task_id: 'taskud8b8499',
    timestamp: 1_560_346_229,
    message_id: '0DD1BEA6',
    ...fields,
  });
const vehicle = (fields: object = {}) => ({
  license_plate_id: '京A12345',
  vehicle_type: 1,
  speed: 55,
  ...fields,
});
const at = '2019-06-12T13:30:29.000Z';

describe('Huawei', () => {
  it.each([
    ['in the message', (vehicles: object[]) => ({ vehicles })],
    ['in its data', (vehicles: object[]) => ({ data: { vehicles } })],
    ['under another name', (vehicles: object[]) => ({ data: { vehicle_list: vehicles } })],
  ])('reports two vehicles %s, and gives them different keys', async (_, wrap) => {
    const body = message(wrap([vehicle(), vehicle({ license_plate_id: '', speed: 0 })]));
    const reading = await readBody(huawei, body);
    expect(inShort(reading)).toEqual([
      [at, 'PLATE_RECOGNITION', '京A12345', 55, null],
      [at, 'VEHICLE_DETECTION', null, null, null],
    ]);
    expect(reading.reports.map(({ key }) => key)).toEqual(['0DD1BEA6/0', '0DD1BEA6/1']);
  });

  it('reports a vehicle with its attributes and images', async () => {
    const scene = jpeg({ comment: 'x'.repeat(200) });
    const body = message({
      image_base64: scene.toString('base64'),
      data: vehicle({ license_plate_type: 'blue', direction: 'in', confidence: 0.91, vehicle_color: 'red' }),
    });
    expect((await readBody(huawei, body)).reports).toMatchObject([
      {
        device: ['001', 'taskud8b8499'],
        event: {
          vehicleType: null,
          images: [addressOf(scene)],
          tags: ['Huawei'],
          metadata: {
            vendor: 'huawei',
            device: '001',
            confidence: 0.91,
            color: 'red',
            plateColor: 'blue',
            vehicleTypeCode: '1',
            alarm: '75008',
          },
        },
      },
    ]);
  });

  it.each([
    [75012, 'TRAFFIC_VIOLATION', 'SPEEDING'],
    [75009, 'TRAFFIC_VIOLATION', 'WRONG_WAY'],
    ['74240', 'TRAFFIC_VIOLATION', 'ILLEGAL_PARKING'],
    [75008, 'PLATE_RECOGNITION', null],
    [1, 'PLATE_RECOGNITION', null],
  ])('reads the event type %s', async (event_type, eventType, violationType) => {
    const { reports } = await readBody(huawei, message({ event_type, vehicles: [vehicle()] }));
    expect(reports[0]?.event).toMatchObject({ eventType, violationType });
  });

  it('reports a violation without a vehicle, and a speed above the limit', async () => {
    expect(inShort(await readBody(huawei, message({ event_type: 74240, data: {} })))).toEqual([
      [at, 'TRAFFIC_VIOLATION', null, null, 'ILLEGAL_PARKING'],
    ]);
    expect(inShort(await readBody(huawei, message({ vehicles: [vehicle({ speed_limit: 50 })] })))).toEqual([
      [at, 'TRAFFIC_VIOLATION', '京A12345', 55, 'SPEEDING'],
    ]);
  });

  it('reports the speed of every vehicle that is too fast, which has neither a plate nor a type', async () => {
    const fast = (speed: number) => ({
      bounding_box: { x: 858, y: 200, w: 679, h: 535 },
      speed,
      direction: 0,
    });
    const body = message({ event_type: 75012, data: { vehicles: [fast(91), fast(104)] } });
    expect(inShort(await readBody(huawei, body))).toEqual([
      [at, 'TRAFFIC_VIOLATION', null, 91, 'SPEEDING'],
      [at, 'TRAFFIC_VIOLATION', null, 104, 'SPEEDING'],
    ]);
  });

  it('creates no event of a parked vehicle that has left', async () => {
    const left = { event_type: 74240, alarm_type: 1, data: { event_set: [{ detection_id: '83BFC020' }] } };
    expect(inShort(await readBody(huawei, message(left)))).toEqual(['nothing']);
    const parked = message({ event_type: 74240, alarm_type: 0, data: { vehicles: [vehicle()] } });
    expect((await readBody(huawei, parked)).reports[0]?.event.violationType).toBe('ILLEGAL_PARKING');
  });

  it('reads times in milliseconds, and ignores a position that is not set', async () => {
    const body = message({
      timestamp: '1560346229123',
      latitude: 39.9,
      longitude: 116.4,
      vehicles: [vehicle()],
    });
    const [found] = (await readBody(huawei, body)).reports;
    expect(found?.occurredAt).toBe(1_560_346_229_123);
    expect(found?.event.location).toEqual({ latitude: 39.9, longitude: 116.4 });
    const unset = message({ latitude: 0, longitude: 0, vehicles: [vehicle()] });
    expect((await readBody(huawei, unset)).reports[0]?.event.location).toBeNull();
  });

  it('creates no events from other algorithms', async () => {
    expect(
      inShort(await readBody(huawei, message({ event_type: 1_638_400, data: { water_level_list: [1] } }))),
    ).toEqual(['nothing']);
  });

  it('creates no event from what it does not understand', () => expectCalm(huawei));

  it('describes the settings in the console', () => {
    const values = {
      url: 'https://gantry.example/gateway/huawei/abc',
      token: 'abc',
      username: 'gate',
      password: 'secret',
    };
    expect(huawei.instructions(values).join('\n')).toContain(values.url);
  });
});
