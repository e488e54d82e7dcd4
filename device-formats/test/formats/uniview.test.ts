import { describe, expect, it } from 'vitest';
import { jpeg, png } from '../../../server/test/sample-images.ts';
import { composeEvent } from '../../src/compose.ts';
import { uniview } from '../../src/formats/uniview.ts';
import { addressOf, expectCalm, inShort } from './bodies.ts';
import { readBody } from './reading.ts';

// Documentation only: no payload of a device was available.
const [scene, crop] = [jpeg({ comment: 'x'.repeat(200) }), png({ shade: 5 })];
const vehicle = (plate: object = {}, attributes: object = {}, more: object = {}) => ({
  ID: 1,
  Position: '3109,6136;5390,8266',
  PassTime: '20260630100000123',
  PlateAttributeInfo: { PlateNo: '浙A12345', Color: 1, ...plate },
  VehicleAttributeInfo: {
    Type: 9,
    Color: 100,
    VehicleBrand: '99',
    SpeedValue: 0,
    DriverSeatBeltStatus: '',
    ...attributes,
  },
  LaneInfo: { ID: 2 },
  ...more,
});
const received = { receivedAt: 0, believedAt: null, connectionId: 'c', messageId: 'm', index: 0 };
const message = (...vehicles: unknown[]) =>
  JSON.stringify({
    Reference: '10.0.0.9:4000/Subscription/1',
    RelatedID: 'rk1YOHYnSfkzoph',
    SrcID: 3,
    SrcName: 'Ramp',
    TimeStamp: 1_782_806_400,
    StructureInfo: {
      ImageNum: 2,
      ImageInfoList: [
        { Index: 1, Type: 1, Data: scene.toString('base64') },
        { Index: 2, Type: 2, Data: crop.toString('base64') },
      ],
      ObjInfo: { VehicleNum: vehicles.length, VehicleInfoList: vehicles, PersonInfoList: null },
    },
  });
const first = async (...vehicles: unknown[]) => (await readBody(uniview, message(...vehicles))).reports[0];

describe('Uniview (documentation only)', () => {
  it('reports every vehicle of the list', async () => {
    const reading = await readBody(
      uniview,
      message(vehicle(), vehicle({ PlateNo: 'Unknown' }, { SpeedValue: 61 }, { ID: 2 })),
    );
    expect(inShort(reading)).toEqual([
      ['2026-06-30T08:00:00.123Z', 'PLATE_RECOGNITION', '浙A12345', null, null],
      ['2026-06-30T08:00:00.123Z', 'SPEED_DETECTION', null, 61, null],
    ]);
    expect(new Set(reading.reports.map(({ key }) => key)).size).toBe(2);
  });

  it('reports the attributes, the camera and the images', async () => {
    expect(await first(vehicle())).toMatchObject({
      device: ['3', 'Ramp'],
      event: {
        images: [addressOf(scene), addressOf(crop)],
        tags: ['Uniview', 'Ramp'],
        metadata: { vendor: 'uniview', channel: '3', lane: '2', vehicleTypeCode: '9', colorCode: '100' },
      },
    });
  });

  it.each([
    [
      'a belt not worn',
      {},
      { DriverSeatBeltStatus: 'Unfastened' },
      {},
      ['SEATBELT_VIOLATION', 'NO_SEATBELT'],
    ],
    ['a violation', {}, {}, { ViolationType: 'OverSpeed' }, ['TRAFFIC_VIOLATION', 'SPEEDING']],
    ['the violation 0', {}, {}, { ViolationType: 0 }, ['PLATE_RECOGNITION', null]],
    [
      'a speed above the limit',
      {},
      { SpeedValue: 80 },
      { SpeedLimit: 60 },
      ['TRAFFIC_VIOLATION', 'SPEEDING'],
    ],
    ['no plate', { PlateNo: '' }, {}, {}, ['VEHICLE_DETECTION', null]],
  ])('reports %s', async (_, plate, attributes, more, expected) => {
    const found = (await first(vehicle(plate, attributes, more)))?.event;
    expect([found?.eventType, found?.violationType]).toEqual(expected);
  });

  it('takes the time of the message when the vehicle has none', async () => {
    expect((await first(vehicle({}, {}, { PassTime: '' })))?.occurredAt).toBe(1_782_806_400_000);
  });

  it('gives each of several vehicles the images to which it refers', async () => {
    const image = (Index: number, image: Buffer) => ({ Index, Data: image.toString('base64') });
    const [one, two] = [
      jpeg({ width: 5, comment: 'x'.repeat(200) }),
      jpeg({ width: 6, comment: 'x'.repeat(200) }),
    ];
    const refers = (SmallPicAttachIndex: number) => ({ LargePicAttachIndex: 1, SmallPicAttachIndex });
    const body = JSON.stringify({
      StructureInfo: {
        ImageInfoList: [image(1, scene), image(2, one), image(3, two)],
        ObjInfo: { VehicleInfoList: [vehicle({}, {}, refers(2)), vehicle({}, {}, refers(3))] },
      },
    });
    expect((await readBody(uniview, body)).reports.map(({ event }) => event.images)).toEqual([
      [addressOf(scene), addressOf(one)],
      [addressOf(scene), addressOf(two)],
    ]);
  });

  it('takes alarms as liveness signals', async () => {
    const alarm = JSON.stringify({
      Reference: 'x',
      AlarmInfo: { AlarmType: 'MotionAlarmOn', AlarmSrcID: 3 },
    });
    expect(await readBody(uniview, alarm)).toMatchObject({ is: 'status', device: ['3'] });
    expect(inShort(await readBody(uniview, message()))).toEqual(['nothing']);
  });

  it('reads many vehicles of a message with many other fields in a moment', async () => {
    const others = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`field${n}`, n]));
    const body = JSON.stringify({ ...others, VehicleInfoList: Array.from({ length: 100 }, () => vehicle()) });
    const before = process.cpuUsage();
    const { reports } = await readBody(uniview, body);
    for (const report of reports) composeEvent(report, received);
    expect(reports).toHaveLength(100);
    // Searching all fields of the message a hundred times for each vehicle, and copying them, would take longer.
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });

  it('creates no event from what it does not understand', () => expectCalm(uniview));

  it('describes the settings, and states that no device was available for tests', () => {
    const values = {
      url: 'http://10.0.0.5:4000/gateway/uniview/abc',
      token: 'abc',
      username: 'gate',
      password: 'secret',
    };
    const steps = uniview.instructions(values).join('\n');
    for (const value of [
      '10.0.0.5',
      '4000',
      '/gateway/uniview/abc',
      'gate',
      'secret',
      'documentation only',
    ]) {
      expect(steps).toContain(value);
    }
  });
});
