import { describe, expect, it } from 'vitest';
import { jpeg } from '../../../server/test/sample-images.ts';
import { tvt } from '../../src/formats/tvt.ts';
import { addressOf, expectCalm, inShort } from './bodies.ts';
import { readBody, readPayload } from './reading.ts';

const first = async (body: string, sent = {}) => (await readBody(tvt, body, sent)).reports[0];

/** A message of a camera about a plate. */
const camera = (time: string, plate = 'ABC1234', more = '') =>
  `<config version="1.7" xmlns="http://www.ipc.com/ver10"><smartType type="openAlramObj">VEHICLE</smartType>${time}
<mac type="string"><![CDATA[58:5b:69:5f:42:1b]]></mac><sn type="string"><![CDATA[I421B0Z1173Q]]></sn><deviceName type="string"><![CDATA[Gate]]></deviceName>
<listInfo type="list" count="1"><item><targetId type="uint32">20</targetId><plateNumber type="string"><![CDATA[${plate}]]></plateNumber>${more}</item></listInfo></config>`;

/** A message of an NVR about a plate. */
const nvr = (time: string, image = '') =>
  `<config version="2.0.0" xmlns="http://www.ipc.com/ver10"><messageType>alarmData</messageType>
<deviceInfo><deviceName><![CDATA[Office]]></deviceName><ip>192.168.0.60</ip><mac><![CDATA[58:5B:69:40:F4:0D]]></mac><channelId>2</channelId></deviceInfo>
<smartType>vehicle</smartType><currentTime>${time}</currentTime><sourceDataInfo><width>0</width></sourceDataInfo>
<licensePlateListInfo><item><targetId>104</targetId><rect><x1>1104</x1><y1>546</y1></rect>
<licensePlateAttribute><licensePlateNumber><![CDATA[JP116D]]></licensePlateNumber><color>white</color></licensePlateAttribute>
<carAttribute><carType><![CDATA[mpv]]></carType><color>white</color><brand>GMC</brand><model>GMC_SAVANA</model></carAttribute>
<targetImageData><targetBase64Data>${image}</targetBase64Data></targetImageData></item></licensePlateListInfo></config>`;

/** A message of an NVR about targets. */
const targets = (smartType: string, ...types: string[]) =>
  `<config version="2.0.0"><messageType>alarmData</messageType><deviceInfo><mac>58:5B</mac><channelId>1</channelId></deviceInfo>
<smartType>${smartType}</smartType><currentTime>1772140991308000</currentTime><eventInfo><item><eventId>1080</eventId></item></eventInfo>
<targetListInfo>${types.map((type, index) => `<item><targetId>${index}</targetId><targetType>${type}</targetType></item>`).join('')}</targetListInfo></config>`;

describe('TVT', () => {
  it.each([
    ['tvt-ipc-v1-lpr-vehice.xml', [['2024-11-19T19:40:34.584Z', 'PLATE_RECOGNITION', 'ABC1234', null, null]]],
    ['tvt-ipc-v1-alarmstatus.xml', ['status']],
    ['tvt-ipc-v1-keepalive.xml', ['heartbeat']],
    ['tvt-nvr-v2-keepalive.xml', ['heartbeat']],
    // Both are about persons.
    ['tvt-ipc-v1-videometadata.xml', ['nothing']],
    ['tvt-nvr-v2-targetcountingbyline.xml', ['nothing']],
  ])('reads %s', async (file, expected) => {
    expect(inShort(await readPayload(tvt, file, { contentType: 'application/xml; charset=utf-8' }))).toEqual(
      expected,
    );
  });

  it('reports the plate of a camera with its list', async () => {
    const { reports } = await readPayload(tvt, 'tvt-ipc-v1-lpr-vehice.xml');
    expect(reports).toMatchObject([
      {
        key: '//VEHICE//1732045234584193/ABC1234',
        event: { tags: ['TVT', 'allow'], images: [], metadata: { vendor: 'tvt', listName: 'whiteList' } },
      },
    ]);
  });

  it('names the device of a heartbeat', async () => {
    expect((await readPayload(tvt, 'tvt-ipc-v1-keepalive.xml')).device).toEqual([
      '58:5b:69:5a:84:bb',
      'NF40D099BCM0',
      'Device Name',
      '192.168.1.192',
    ]);
  });

  it('reports the vehicle of an NVR, and ignores its time of 20 digits', async () => {
    const image = jpeg({ comment: 'x'.repeat(200) });
    const body = nvr('18445822972087551616', image.toString('base64'));
    expect(await first(body, { contentType: 'application/soap+xml; charset=utf-8' })).toMatchObject({
      key: '58:5B:69:40:F4:0D/2/vehicle/104/18445822972087551616/JP116D',
      device: ['2', '58:5B:69:40:F4:0D', 'Office', '192.168.0.60'],
      occurredAt: null,
      event: {
        licensePlateNumber: 'JP116D',
        vehicleType: 'mpv',
        images: [addressOf(image)],
        tags: ['TVT', 'Office'],
        metadata: { make: 'GMC', model: 'GMC_SAVANA', color: 'white', plateColor: 'white', channel: '2' },
      },
    });
  });

  it.each([
    ['seconds', '<currentTime type="tint64">1732045234</currentTime>', '2024-11-19T19:40:34.000Z'],
    ['milliseconds', '<currentTime type="tint64">1732045234584</currentTime>', '2024-11-19T19:40:34.584Z'],
    ['microseconds', '<currentTime type="tint64">1732045234584193</currentTime>', '2024-11-19T19:40:34.584Z'],
    [
      'dataTime as 2026-03-29',
      '<dataTime><![CDATA[2026-03-29 09:58:21]]></dataTime>',
      '2026-03-29T13:58:21.000Z',
    ],
    [
      'dataTime as 11-19-2025',
      '<dataTime><![CDATA[11-19-2025 12:15:11 PM]]></dataTime>',
      '2025-11-19T17:15:11.000Z',
    ],
  ])('reads the time in %s', async (_, time, expected) => {
    const found = await first(camera(time), { zone: 'America/New_York' });
    expect(new Date(found?.occurredAt ?? 0).toISOString()).toBe(expected);
  });

  it('reads the attributes of a plate, and recognizes placeholders for no plate', async () => {
    const time = '<currentTime>1732045234</currentTime>';
    const more =
      '<PlateConfidence>97</PlateConfidence><vehicleDirect>approach</vehicleDirect><vehicleListType>blackList</vehicleListType>';
    expect((await first(camera(time, '1กข 1234', more)))?.event).toMatchObject({
      licensePlateNumber: '1กข 1234',
      tags: ['TVT', 'Gate', 'block'],
      metadata: { confidence: 0.97, direction: 'approach' },
    });
    for (const plate of [
      'unknown',
      'unlicensed',
      '--',
      '',
      'NO_PLATE',
      'no-plate',
      'Not Read',
      'Not defined',
    ]) {
      expect((await first(camera(time, plate)))?.event).toMatchObject({
        eventType: 'VEHICLE_DETECTION',
        licensePlateNumber: null,
      });
    }
  });

  it('takes the corners of a target as numbers for its box, and no box of zeros', async () => {
    const rect = (...corners: number[]) =>
      `<rect>${['x1', 'y1', 'x2', 'y2'].map((name, at) => `<${name} type="uint32">${corners[at]}</${name}>`).join('')}</rect>`;
    const time = '<currentTime>1732045234</currentTime>';
    const boxOf = async (...corners: number[]) =>
      (await first(camera(time, 'A1', rect(...corners))))?.event.metadata?.box;
    expect(await boxOf(100, 200, 300, 400)).toEqual({ x1: 100, y1: 200, x2: 300, y2: 400 });
    expect(await boxOf(0, 0, 0, 0)).toBeUndefined();
  });

  it('reports vehicles among targets, and illegal parking', async () => {
    const at = '2026-02-26T21:23:11.308Z';
    expect(inShort(await readBody(tvt, targets('lineCrossing', 'car', 'person', 'motor')))).toEqual([
      [at, 'VEHICLE_DETECTION', null, null, null],
      [at, 'VEHICLE_DETECTION', null, null, null],
    ]);
    expect(inShort(await readBody(tvt, targets('PVD')))).toEqual([
      [at, 'TRAFFIC_VIOLATION', null, null, 'ILLEGAL_PARKING'],
    ]);
    const metadata =
      '<config><smartType>VSD</smartType><currentTime>1772140991308000</currentTime><vsd><targetImageData><targetType>2</targetType></targetImageData></vsd></config>';
    expect(inShort(await readBody(tvt, metadata))).toEqual([[at, 'VEHICLE_DETECTION', null, null, null]]);
  });

  it('gives each of several vehicles the scene and its own image', async () => {
    const [scene, one, two] = [7, 8, 9].map((width) => jpeg({ width, comment: 'x'.repeat(200) }));
    const item = (plate: string, image: Buffer) =>
      `<item><licensePlateAttribute><licensePlateNumber>${plate}</licensePlateNumber></licensePlateAttribute>
<targetImageData><targetBase64Data>${image.toString('base64')}</targetBase64Data></targetImageData></item>`;
    const body = `<config version="2.0.0"><smartType>vehicle</smartType><currentTime>1772140991308000</currentTime>
<sourceDataInfo><sourceBase64Data>${(scene as Buffer).toString('base64')}</sourceBase64Data></sourceDataInfo>
<licensePlateListInfo>${item('A1', one as Buffer)}${item('B2', two as Buffer)}</licensePlateListInfo></config>`;
    const { reports } = await readBody(tvt, body);
    const images = (own: unknown) => [addressOf(scene as Buffer), addressOf(own as Buffer)];
    expect(reports.map(({ event }) => [event.licensePlateNumber, event.images])).toEqual([
      ['A1', images(one)],
      ['B2', images(two)],
    ]);
  });

  it('reads the confidence and the attributes of cameras with API 2.1', async () => {
    const more =
      '<PlateConfidence type="uint32" count="9250"/><carAttr><color>white</color><brand>GMC</brand><type>mpv</type></carAttr>';
    expect((await first(camera('<currentTime>1732045234</currentTime>', 'A1', more)))?.event).toMatchObject({
      vehicleType: 'mpv',
      metadata: { confidence: 0.925, make: 'GMC', color: 'white' },
    });
  });

  it('answers as the devices expect, also on their fixed path', () => {
    expect(tvt.fixedPaths).toEqual(['/API']);
    expect(tvt.answer?.('')).toMatchObject({
      contentType: 'application/xml',
      body: expect.stringContaining('success'),
    });
  });

  it('creates no event from what it does not understand', () => expectCalm(tvt));

  it('describes the settings of the device', () => {
    const values = {
      url: 'http://10.0.0.5:4000/gateway/tvt/abc',
      token: 'abc',
      username: 'gate',
      password: 'secret',
    };
    const steps = tvt.instructions(values).join('\n');
    for (const value of ['10.0.0.5', '4000', '/gateway/tvt/abc', 'gate', 'secret'])
      expect(steps).toContain(value);
  });
});
