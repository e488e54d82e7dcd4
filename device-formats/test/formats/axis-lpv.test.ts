import { describe, expect, it } from 'vitest';
import { jpeg, png } from '../../../server/test/sample-images.ts';
import { axisLpv } from '../../src/formats/axis-lpv.ts';
import { devicePayload, readBody, readPayload } from './reading.ts';

const HOUR = (iso: string): number => Math.floor(Date.parse(iso) / 3_600_000);

const files = {
  'axis-fflpr-event.json': {
    key: 'ACCC8ED3290D|1144696|1623405938252',
    device: ['ACCC8ED3290D', 'AC:CC:8E:D3:29:0D', 'defaultID_176'],
    occurredAt: 1623405938252,
    event: {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'RLE11684',
      vehicleType: null,
      location: { latitude: 50.418114, longitude: 30.476213 },
      images: [],
      tags: ['axis', 'defaultID_176'],
      metadata: {
        vendor: 'axis-lpv',
        confidence: 0.719,
        confidenceRaw: '0.719034',
        country: 'POL',
        direction: 'in',
      },
    },
    passage: {
      id: `ACCC8ED3290D|1144696|${HOUR('2021-06-11T10:05:38Z')}`,
      quality: 13,
      isLast: true,
      waitSeconds: 20,
    },
  },
  'axis-lpv-http-post-cammra.json': {
    key: 'B8A44F960ACE|1327|1718373876372',
    occurredAt: 1718373876372,
    event: {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: '1AB1234',
      vehicleType: 'CAR',
      metadata: { make: 'Skoda', model: 'Rapid/Scala', color: 'GRAY', region: 'Praha', direction: 'in' },
    },
    passage: { quality: 12, isLast: false },
  },
  'axis-lpv-push-new-nonascii-imagearray.json': {
    key: 'ACCC8E9BB16D|34939|1702299266977',
    occurredAt: 1702299266977,
    event: {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'TÖLSL123',
      tags: ['axis', 'defaultID', 'block', 'Block list'],
      images: [expect.stringMatching(/^\/images\/[0-9a-f]{64}$/)],
      metadata: { listMode: 'block', listName: 'Block list' },
    },
    passage: { quality: 11, isLast: false },
  },
};

const multipart = (parts: readonly [string, string, Buffer | string][]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([name, type, content]) => [
      Buffer.from(`--X\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--X--\r\n'),
  ]);

const MODES = [
  ['none', ['axis']],
  ['None', ['axis']],
  ['Blacklist', ['axis', 'block']],
  ['allow', ['axis', 'allow']],
] as const;

const car = (more: object): string =>
  JSON.stringify({
    carID: '7',
    capture_timestamp: '1718373876372',
    plateUTF8: 'AB123',
    camera_info: { SerialNumber: 'S1' },
    ...more,
  });

describe('AXIS License Plate Verifier', () => {
  it.each(MODES)('the list mode %s has the tags %j', async (plateListMode, tags) => {
    const { reports } = await readBody(axisLpv, car({ plateListMode, plateList: 'None' }));
    expect(reports[0]?.event.tags).toEqual(tags);
  });

  it.each(Object.entries(files))('%s', async (file, expected) => {
    const { is, reports } = await readPayload(axisLpv, file);
    expect({ is, count: reports.length }).toEqual({ is: 'reports', count: 1 });
    expect(reports[0]).toMatchObject(expected);
  });

  it('leaves out an unknown direction', async () => {
    const { reports } = await readPayload(axisLpv, 'axis-lpv-push-new-nonascii-imagearray.json');
    expect(reports[0]?.event.metadata).not.toHaveProperty('direction');
  });

  it('three messages of one car are one passage, with the plate of the last one', async () => {
    const states = [
      car({ carState: 'new', plateUTF8: 'MWR6677', capture_timestamp: '1718373876372' }),
      car({ carState: 'update', plateUTF8: 'HWR6677', capture_timestamp: '1718373877372' }),
      car({ carState: 'lost', plateUTF8: 'HWR6677', capture_timestamp: '1718373878372' }),
    ];
    const readings = await Promise.all(states.map((body) => readBody(axisLpv, body)));
    const reports = readings.flatMap((reading) => reading.reports);
    expect(new Set(reports.map(({ passage }) => passage?.id)).size).toBe(1);
    expect(reports.map(({ passage }) => [passage?.quality, passage?.isLast])).toEqual([
      [11, false],
      [12, false],
      [13, true],
    ]);
    expect(new Set(reports.map(({ key }) => key)).size).toBe(3);
  });

  it('the plate of an update counts, whichever way the app writes the state', async () => {
    const states = ['new', 'updated'].map((carState) => readBody(axisLpv, car({ carState })));
    const [first, update] = (await Promise.all(states)).map(({ reports }) => reports[0]?.passage?.quality);
    expect(update).toBeGreaterThan(first ?? 99);
  });

  it('reads a time with an offset', async () => {
    const { reports } = await readBody(
      axisLpv,
      car({ capture_timestamp: undefined, datetime: '20260701 120000123+0530' }),
    );
    expect(new Date(reports[0]?.occurredAt ?? 0).toISOString()).toBe('2026-07-01T06:30:00.123Z');
  });

  it('a last message without a plate does not displace an earlier plate', async () => {
    const [first, last] = await Promise.all(
      [car({ carState: 'new' }), car({ carState: 'lost', plateUTF8: '----/----' })].map((body) =>
        readBody(axisLpv, body),
      ),
    );
    expect(last?.reports[0]?.event.licensePlateNumber).toBeNull();
    expect(first?.reports[0]?.passage?.quality).toBeGreaterThan(last?.reports[0]?.passage?.quality ?? 99);
  });

  it('a car that is reported before and after a full hour is one passage', async () => {
    const at = async (iso: string) => {
      const { reports } = await readBody(axisLpv, car({ capture_timestamp: String(Date.parse(iso)) }));
      return reports[0]?.passage;
    };
    const before = await at('2026-07-01T09:59:59Z');
    const after = await at('2026-07-01T10:00:04Z');
    expect(after?.joins).toEqual([before?.id]);
    expect(before?.joins).toBeUndefined();
  });

  it('the same number of a car in another hour is another car, as after a restart', async () => {
    const ids = await Promise.all(
      ['2026-07-01T09:30:00Z', '2026-07-01T11:30:00Z'].map(async (iso) => {
        const { reports } = await readBody(axisLpv, car({ capture_timestamp: String(Date.parse(iso)) }));
        return reports[0]?.passage?.id;
      }),
    );
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('multipart: event and image, and a PNG that claims to be a JPEG', async () => {
    const body = multipart([
      ['event', 'application/json', await devicePayload('axis-fflpr-event.json')],
      ['image', 'image/jpeg', png()],
      ['image', 'image/jpeg', jpeg()],
      ['image', 'image/jpeg', ''],
    ]);
    const { reports } = await readBody(axisLpv, body, { contentType: 'multipart/form-data; boundary=X' });
    expect(reports).toHaveLength(1);
    expect(reports[0]?.event.images).toHaveLength(2);
  });

  it.each([
    [{ capture_timestamp: '1718373876372' }, Date.UTC(2024, 5, 14, 14, 4, 36, 372)],
    [{ capture_timestamp: '0', capture_ts: '1718373876372000000' }, Date.UTC(2024, 5, 14, 14, 4, 36, 372)],
    [{ capture_timestamp: '', datetime: '20240614 160436372' }, Date.UTC(2024, 5, 14, 14, 4, 36, 372)],
    [{ capture_timestamp: 'x', datetime: 'y' }, null],
  ])('takes the time from %j', async (more, expected) => {
    const { reports } = await readBody(axisLpv, car(more));
    expect(reports[0]?.occurredAt).toBe(expected);
  });

  it.each(['unknown', '----/----', '', null])('treats %j as no plate', async (plateUTF8) => {
    const { reports } = await readBody(axisLpv, car({ plateUTF8 }));
    expect(reports[0]?.event).toMatchObject({ licensePlateNumber: null, eventType: 'VEHICLE_DETECTION' });
  });

  it('ignores a position of 0, 0', async () => {
    const { reports } = await readBody(axisLpv, car({ geotag: { lat: 0, lon: 0 } }));
    expect(reports[0]?.event.location).toBeNull();
  });

  it.each([
    ['a heartbeat', '{"heartbeat":1,"camera_info":{"SerialNumber":"S1"}}', 'heartbeat'],
    ['another maker', '{"webhook_type":"lpr","data":{}}', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['broken JSON', '{"carID":', 'unreadable'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(axisLpv, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });

  it('axis-lpv-cloud_config.xml: a configuration is not an event', async () => {
    const reading = await readPayload(axisLpv, 'axis-lpv-cloud_config.xml');
    expect(reading).toMatchObject({ is: 'nothing', reports: [], note: expect.any(String) });
  });

  it('reads fields of wrong types as far as possible', async () => {
    const { reports } = await readBody(
      axisLpv,
      '{"carID":7,"carState":5,"camera_info":[],"geotag":"x","ImageArray":{},"plateConfidence":{}}',
    );
    expect(reports[0]).toMatchObject({ key: null, event: { eventType: 'VEHICLE_DETECTION' } });
  });

  const published = (data: object, event = 'ALPV.AllPlates') =>
    readBody(
      axisLpv,
      JSON.stringify({
        topic: `axis:CameraApplicationPlatform/${event}`,
        timestamp: 1621511661999,
        serial: 'ACCC8E123456',
        message: { source: {}, key: {}, data },
      }),
      { topic: `axis/ACCC8E123456/event/tns:axis/CameraApplicationPlatform/${event}` },
    );

  it('reads events that a camera publishes over MQTT, of which several are about one car', async () => {
    const data = {
      consumedTime: '153',
      frame_timestamp: '1288416958',
      carMoveDirection: 'unknown',
      carState: 'new',
      action: 'No action',
      capture_timestamp: '1621511661894',
      carID: '1139066',
      country: 'PRT',
      listName: 'Block list',
      listMode: 'block',
      vehicleType: 'CAR',
      vehicleColor: 'white',
      text: 'II04458',
    };
    expect(await published(data)).toMatchObject({
      is: 'reports',
      reports: [
        {
          key: 'ACCC8E123456|1139066|1621511661894',
          device: ['ACCC8E123456'],
          occurredAt: 1621511661894,
          event: {
            licensePlateNumber: 'II04458',
            vehicleType: 'CAR',
            tags: ['axis', 'block', 'Block list'],
            metadata: { country: 'PRT', color: 'white', listMode: 'block', carState: 'new' },
          },
          passage: { quality: 11, isLast: false },
        },
      ],
    });
    const lost = await published({ ...data, carState: 'lost', text: '----/----' });
    expect(lost.reports[0]).toMatchObject({
      event: { licensePlateNumber: null },
      passage: { quality: 3, isLast: true },
    });
    const { capture_timestamp: _, ...timeless } = data;
    expect((await published(timeless)).reports[0]?.occurredAt).toBe(1621511661999);
  });

  it('does not treat a condition over MQTT as a car, because it has no plate', async () => {
    expect(await published({ active: '1' }, 'ALPV.PlateIN')).toMatchObject({ is: 'nothing', reports: [] });
  });
});
