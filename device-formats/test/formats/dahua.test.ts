import { describe, expect, it } from 'vitest';
import { jpeg, png } from '../../../server/test/sample-images.ts';
import { dahua } from '../../src/formats/dahua.ts';
import { addressOf, expectCalm, inShort, multipartBody } from './bodies.ts';
import { devicePayload, readBody, readPayload } from './reading.ts';

const RPC = 'dahua-rpc-notifyEventStream-trafficjunction.json';
const PARKING = 'dahua-snapmanager-trafficparking-captured.txt';

/** An event of EventHttpUpload. */
const event = (data: object, code = 'TrafficJunction', action = 'Pulse') => ({
  Code: code,
  Action: action,
  Data: data,
});
const upload = (...events: object[]) => JSON.stringify({ Channel: 0, Events: events });
const first = async (body: string | Buffer, sent = {}) => (await readBody(dahua, body, sent)).reports[0];
const withCar = (car: object, more: object = {}) =>
  first(upload(event({ UTC: 1_782_806_400, TrafficCar: { PlateNumber: 'Unknown', ...car }, ...more })));
const tollgate = (image: object) => JSON.stringify({ Picture: image });

describe('Dahua', () => {
  it.each([
    [RPC, [['2024-01-30T07:34:55.000Z', 'VEHICLE_DETECTION', null, null, null]]],
    // The device sends its local time (13:11:10 in Berlin) as if it were UTC: 1615554670.
    [PARKING, [['2021-03-12T12:11:10.000Z', 'TRAFFIC_VIOLATION', '鄂A06654', null, 'ILLEGAL_PARKING']]],
    ['dahua-itsapi-keepalive.json', ['heartbeat']],
    ['dahua-itsapi-deviceinfo.json', ['status']],
  ])('reads %s', async (file, expected) => {
    expect(inShort(await readPayload(dahua, file))).toEqual(expected);
  });

  it('prefers RealUTC, and reads UTC as local time', async () => {
    const body = JSON.parse((await devicePayload(RPC)).toString());
    const [{ Data: data }] = body.params.eventList;
    const timeOf = async () =>
      new Date((await first(JSON.stringify(body), { zone: 'Asia/Bangkok' }))?.occurredAt ?? 0).toISOString();
    expect(await timeOf()).toBe('2024-01-30T07:34:55.000Z');
    delete data.RealUTC;
    expect(await timeOf()).toBe('2024-01-30T07:34:55.000Z');
    delete data.LocaleTime;
    expect(await timeOf()).toBe('2024-01-30T07:34:55.000Z');
    delete data.UTC;
    delete data.TrafficCar.UTC;
    expect((await first(JSON.stringify(body)))?.occurredAt).toBeNull();
  });

  it('describes no violation when a camera that only reads plates calls its reading one', async () => {
    expect((await readPayload(dahua, RPC)).reports[0]?.event.description).toBeNull();
  });

  it('reports the lines of snapManager as a tree', async () => {
    const { reports } = await readPayload(dahua, PARKING, { zone: 'Asia/Shanghai' });
    expect(reports).toMatchObject([
      {
        key: '0/TrafficParking/g1647090670/1/1615554670/',
        device: ['0', 'V1FC049A'],
        occurredAt: Date.UTC(2021, 2, 12, 5, 11, 10),
        event: {
          vehicleType: 'Light-duty',
          description: 'A类违法停车',
          tags: ['Dahua', 'V1FC049A'],
          metadata: {
            vendor: 'dahua',
            lane: '1',
            direction: 'Approach',
            country: 'CHN',
            color: 'Black',
            plateColor: 'Blue',
            speedLimit: 70,
            violationCode: '1044',
            raw: { TrafficCar: { PlateNumber: '鄂A06654', DrivingDirection: ['Approach'] } },
          },
        },
      },
    ]);
    expect(reports[0]?.passage).toBeUndefined();
  });

  it('reads an image behind the JSON, and multipart bodies of lines and images', async () => {
    const image = jpeg({ comment: 'scene' });
    const json = upload(event({ RealUTC: 1_782_806_400, TrafficCar: { PlateNumber: 'A1' } }));
    const tail = await first(Buffer.concat([Buffer.from(`${json}\r\n`), image]));
    expect(tail?.event).toMatchObject({ licensePlateNumber: 'A1', images: [addressOf(image)] });
    const body = multipartBody('myboundary', [
      ['Content-Type: text/plain', 'Heartbeat\r\n'],
      ['Content-Type: text/plain', await devicePayload(PARKING)],
      ['Content-Type: image/jpeg', image],
    ]);
    const found = await first(body, { contentType: 'multipart/x-mixed-replace; boundary=myboundary' });
    expect(found?.event).toMatchObject({ licensePlateNumber: '鄂A06654', images: [addressOf(image)] });
  });

  it('reads the lines of eventManager', async () => {
    const body =
      'Code=TrafficJunction;action=Pulse;index=2;data={\n "TrafficCar": {"PlateNumber": "51F-123.45"},\n "Speed": 42, "UTC": 1700000000\n}\n';
    expect(await first(body)).toMatchObject({
      device: ['2'],
      event: { licensePlateNumber: '51F-123.45', vehicleSpeed: 42 },
    });
    expect(inShort(await readBody(dahua, 'Code=VideoLoss;action=Start;index=0'))).toEqual(['status']);
  });

  it('reads a recognition of ITSAPI without the wrapper Picture', async () => {
    const bare = {
      Plate: { IsExist: true, PlateNumber: 'ABC1D23', Confidence: 90 },
      Vehicle: { VehicleSign: 'Fiat', VehicleType: 'SaloonCar' },
      SnapInfo: { AccurateTime: '2026-02-10 09:30:45.123', DeviceID: 'camera_01', LanNo: 1 },
    };
    const sent = { zone: 'America/Sao_Paulo', path: '/NotificationInfo/TollgateInfo' };
    const [wrapped, alone] = [await first(tollgate(bare), sent), await first(JSON.stringify(bare), sent)];
    expect(alone).toMatchObject({
      key: 'camera_01/2026-02-10 09:30:45.123/ABC1D23/',
      event: { licensePlateNumber: 'ABC1D23', metadata: { confidence: 0.9, make: 'Fiat' } },
    });
    expect({ ...alone, event: { ...alone?.event, metadata: null } }).toEqual({
      ...wrapped,
      event: { ...wrapped?.event, metadata: null },
    });
  });

  it.each(['ReturnEvents', 'returnEvents', 'Events'])('reads lines that begin with %s', async (name) => {
    const body = (await devicePayload(PARKING)).toString().replaceAll('Events[', `${name}[`);
    expect((await first(body))?.event.licensePlateNumber).toBe('鄂A06654');
  });

  const toyota = { ObjectType: 'Vehicle', Text: 'Toyota', SubText: 'Corolla', Category: 'SaloonCar' };
  const lines = `Events[0].Code=CrossLineDetection
Events[0].Object.ObjectType=Vehicle
Events[0].Object.Text=Toyota
Events[0].Object.SubText=Corolla
Events[0].Object.Category=SaloonCar
Events[0].UTC=1782806400`;

  it.each([
    ['in JSON', upload(event({ UTC: 1_782_806_400, Object: toyota }, 'CrossLineDetection'))],
    ['in a list of objects', upload(event({ Objects: [{ ObjectType: 'Human' }, toyota] }, 'CrossRegion'))],
    ['in lines', lines],
    [
      'in the lines of eventManager',
      `Code=TrafficJunction;action=Pulse;index=0;data={"Object":${JSON.stringify(toyota)}}`,
    ],
    ['in ITSAPI', tollgate({ Vehicle: { ...toyota, VehicleSign: 'Toyota', VehicleSeries: 'Corolla' } })],
  ])('takes the brand of a vehicle for its make, and not for its plate, %s', async (_, body) => {
    const found = await first(body);
    expect(found?.event).toMatchObject({
      eventType: 'VEHICLE_DETECTION',
      licensePlateNumber: null,
      metadata: { make: 'Toyota', model: 'Corolla' },
    });
  });

  it.each([
    ['the text of an object that is a plate', { Object: { ObjectType: 'Plate', Text: 'B2 XY' } }, 'B2 XY'],
    ['a plate among objects', { Objects: [toyota, { ObjectType: 'Plate', Text: 'B2 XY' }] }, 'B2 XY'],
    ['a number of the event itself', { Object: toyota, PlateNumber: 'B2 XY' }, 'B2 XY'],
    ['no text of an object without a type', { Object: { Text: 'Toyota' } }, null],
    ['no text of a person', { Object: { ObjectType: 'Human', Text: 'STAFF 3' } }, null],
    ['no name of a vehicle', { Vehicle: { ObjectType: 'Vehicle', Text: 'BMW', SubText: 'X5' } }, null],
  ])('takes for the plate %s', async (_, data, plate) => {
    expect((await first(upload(event(data))))?.event.licensePlateNumber).toBe(plate);
  });

  it('reads several events of one message, and holds the parts of a group together', async () => {
    const part = (index: number, plate: string) =>
      event({
        GroupID: 77,
        CountInGroup: 2,
        IndexInGroup: index,
        RealUTC: 1_782_806_460,
        TrafficCar: { PlateNumber: plate },
      });
    const { reports } = await readBody(dahua, upload(part(1, ''), part(2, 'B2')));
    expect(reports.map(({ key, passage }) => [key, passage])).toEqual([
      [
        '/TrafficJunction/g77/1/1782806460/',
        { id: '/77/495224', quality: 0, isLast: false, waitSeconds: 10 },
      ],
      ['/TrafficJunction/g77/2/1782806460/', { id: '/77/495224', quality: 1, isLast: true, waitSeconds: 10 }],
    ]);
  });

  it('holds a group together that begins before a full hour and ends after it', async () => {
    const at = async (RealUTC: number) =>
      (await first(upload(event({ GroupID: 77, CountInGroup: 2, IndexInGroup: 1, RealUTC }))))?.passage;
    const [before, after] = [await at(1_782_806_399), await at(1_782_806_400)];
    expect(after?.joins).toEqual([before?.id]);
    expect(before?.joins).toBeUndefined();
    expect((await at(1_782_806_410))?.joins).toBeUndefined();
  });

  it.each([
    ['a speed of 0', { Speed: 0 }, {}, ['VEHICLE_DETECTION', null, null]],
    ['a speed of the car', { Speed: 48 }, { Speed: 0 }, ['SPEED_DETECTION', 48, null]],
    [
      'a speed above the limit',
      { UpperSpeedLimit: 50 },
      { Speed: 51 },
      ['TRAFFIC_VIOLATION', 51, 'SPEEDING'],
    ],
    [
      'a limit of 0',
      { UpperSpeedLimit: 0 },
      { Speed: 51, SpeedLimit: [30, 60] },
      ['SPEED_DETECTION', 51, null],
    ],
    ['a belt not worn', {}, { MainSeat: 'WithoutSafeBelt' }, ['SEATBELT_VIOLATION', null, 'NO_SEATBELT']],
    [
      'a belt of the common part',
      {},
      { CommInfo: { Seat: [{ Type: 'Sub', SafeBelt: 'WithoutSafeBelt' }] } },
      ['SEATBELT_VIOLATION', null, 'NO_SEATBELT'],
    ],
    [
      'unknown belts',
      {},
      { MainSeat: 'unknow', SubSeat: 'Unknow', Object: { MainSeat: { SafeBelt: 'unknow' } } },
      ['VEHICLE_DETECTION', null, null],
    ],
    [
      'a phone',
      {},
      { Vehicle: { MainSeat: { DriverCalling: 'Calling', SafeBelt: 'WithSafeBelt' } } },
      ['TRAFFIC_VIOLATION', null, 'PHONE_USE'],
    ],
    [
      'no phone',
      {},
      { Object: { MainSeat: { DriverCalling: 'CallingUnknown' } } },
      ['VEHICLE_DETECTION', null, null],
    ],
    [
      'an empty ViolationCode',
      { ViolationCode: '', ViolationName: 'ANPR' },
      {},
      ['VEHICLE_DETECTION', null, null],
    ],
    ['a ViolationCode', { ViolationCode: '1302' }, {}, ['TRAFFIC_VIOLATION', null, '1302']],
    [
      'a ViolationCode with a name',
      { ViolationCode: '1625', ViolationDesc: '闯红灯' },
      {},
      ['TRAFFIC_VIOLATION', null, 'RED_LIGHT'],
    ],
  ])('reports %s', async (_, car, more, expected) => {
    const found = (await withCar(car, more))?.event;
    expect([found?.eventType, found?.vehicleSpeed, found?.violationType]).toEqual(expected);
  });

  it.each([
    ['TrafficRunRedLight', ['TRAFFIC_VIOLATION', 'RED_LIGHT']],
    ['TrafficRetrograde', ['TRAFFIC_VIOLATION', 'WRONG_WAY']],
    ['TrafficOverSpeed', ['TRAFFIC_VIOLATION', 'SPEEDING']],
    ['TrafficParking', ['TRAFFIC_VIOLATION', 'ILLEGAL_PARKING']],
    ['TrafficWithoutSafeBelt', ['TRAFFIC_VIOLATION', 'NO_SEATBELT']],
    ['TrafficDriverCalling', ['TRAFFIC_VIOLATION', 'PHONE_USE']],
    ['TrafficCrossLane', ['TRAFFIC_VIOLATION', 'LANE_VIOLATION']],
    ['TrafficParkingSpaceParking', ['VEHICLE_DETECTION', null]],
    ['TrafficJam', ['INCIDENT', null]],
    ['SmartMotionVehicle', ['VEHICLE_DETECTION', null]],
  ])('reads the event %s', async (code, expected) => {
    const found = await first(upload(event({ UTC: 1_782_806_400, GroupID: 1 }, code)));
    expect([found?.event.eventType, found?.event.violationType]).toEqual(expected);
  });

  it('reports a jam as an incident', async () => {
    const found = await first(upload(event({ UTC: 1_782_806_400, Lane: 1 }, 'TrafficJam', 'Start')));
    expect(found?.event).toMatchObject({
      severity: 'LOW',
      metadata: { incidentType: 'CONGESTION', lane: '1' },
    });
  });

  it.each([
    ['TrafficFlowStat', 'Start', 'aggregate'],
    ['TrafficParking', 'Stop', 'nothing'],
    ['VideoMotion', 'Start', 'nothing'],
    ['StorageFailure', 'Start', 'status'],
    ['HeartBeat', 'Pulse', 'heartbeat'],
  ])('creates no event from %s %s', async (code, action, is) => {
    expect(inShort(await readBody(dahua, upload(event({ UTC: 1_782_806_400 }, code, action))))).toEqual([is]);
  });

  it('reads a position, and ignores 0, 0', async () => {
    const at = (Latitude: number, Longitude: number) =>
      withCar({}, { CommInfo: { GPSInfo: { Latitude, Longitude } } });
    expect((await at(13.75, 100.5))?.event.location).toEqual({ latitude: 13.75, longitude: 100.5 });
    expect((await at(0, 0))?.event.location).toBeNull();
  });

  it('reads a recognition of ITSAPI, with the best image first', async () => {
    const [scene, cutout] = [jpeg({ comment: 'x'.repeat(200) }), png({ shade: 3 })];
    const body = tollgate({
      Plate: {
        IsExist: true,
        PlateNumber: 'ABC1D23',
        PlateColor: 'White',
        Confidence: 90,
        BoundingBox: [1, 2, 3, 4],
      },
      Vehicle: { VehicleColor: 'Black', VehicleSign: 'Fiat', VehicleSeries: 'Uno', VehicleType: 'SaloonCar' },
      SnapInfo: {
        AccurateTime: '2026-02-10 09:30:45.123',
        DeviceID: 'camera_01',
        Direction: 'Obverse',
        LanNo: 1,
        SnapAddress: 'Gate 3',
        AllowUser: true,
        BlockUser: false,
      },
      CutoutPic: { PicName: 'c.jpg', Content: cutout.toString('base64') },
      NormalPic: { PicName: 'n.jpg', Content: scene.toString('base64') },
    });
    const sent = { zone: 'America/Sao_Paulo', path: '/NotificationInfo/TollgateInfo' };
    expect(await first(body, sent)).toMatchObject({
      key: 'camera_01/2026-02-10 09:30:45.123/ABC1D23/',
      device: ['camera_01'],
      occurredAt: Date.UTC(2026, 1, 10, 12, 30, 45, 123),
      event: {
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber: 'ABC1D23',
        vehicleType: 'SaloonCar',
        images: [addressOf(scene), addressOf(cutout)],
        tags: ['Dahua', 'Gate 3', 'allow'],
        metadata: { confidence: 0.9, confidenceRaw: '90', make: 'Fiat', model: 'Uno', lane: '1' },
      },
    });
  });

  it.each([
    ['no plate', { IsExist: false, PlateNumber: 'A1' }, null],
    ['an unlicensed vehicle', { IsExist: true, PlateNumber: 'unlicensed' }, null],
    ['a Chinese plate', { PlateNumber: '鄂A06654' }, '鄂A06654'],
  ])('reads %s in ITSAPI', async (_, plate, expected) => {
    const found = await first(tollgate({ Plate: plate, SnapInfo: { DeviceID: 'c' } }));
    expect(found?.event.licensePlateNumber).toBe(expected);
  });

  it('tells vehicles without a plate in the same second in different lanes apart in ITSAPI', async () => {
    const keys = await Promise.all(
      [1, 2].map(async (LanNo) => {
        const SnapInfo = { SnapTime: '2026-02-10 09:30:45', DeviceID: 'c', LanNo };
        return (await first(tollgate({ Plate: { IsExist: false }, SnapInfo })))?.key;
      }),
    );
    expect(new Set(keys).size).toBe(2);
  });

  it('answers ITSAPI with its JSON, on its three fixed paths', async () => {
    expect(dahua.fixedPaths).toHaveLength(3);
    for (const path of dahua.fixedPaths ?? []) {
      expect(JSON.parse(dahua.answer?.(path).body ?? '')).toEqual({ Result: true, Message: 'Success' });
    }
    expect(dahua.answer?.('')).toEqual({});
    const keepAlive = { path: '/NotificationInfo/KeepAlive' };
    for (const body of ['', '{}', '{"Active":true,"DeviceID":"c"}']) {
      expect(inShort(await readBody(dahua, body, keepAlive))).toEqual(['heartbeat']);
    }
  });

  it('limits the length and depth of what it reads from lines', async () => {
    const deep = `Events[0]${'.a'.repeat(1000)}=1\nEvents[999999].Code=TrafficJunction\nEvents[0].__proto__.x=1\n`;
    expect((await readBody(dahua, deep)).reports).toEqual([]);
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it('creates no event from what it does not understand', () => expectCalm(dahua));

  it('describes the settings of the camera', () => {
    const steps = dahua.instructions({
      url: 'https://gantry.example/gateway/dahua/abc',
      token: 'abc',
      username: 'north-bridge',
      password: 'secret',
    });
    for (const value of ['gantry.example', '443', '/gateway/dahua/abc', 'north-bridge', 'secret']) {
      expect(steps.join('\n')).toContain(value);
    }
  });
});
