import { describe, expect, it } from 'vitest';
import { jpeg, png } from '../../../server/test/sample-images.ts';
import { hikvision } from '../../src/formats/hikvision.ts';
import { addressOf, expectCalm, inShort, multipartBody } from './bodies.ts';
import { devicePayload, readBody, readPayload } from './reading.ts';

const NAMESPACES = [
  'http://www.hikvision.com/ver20/XMLSchema',
  'http://www.isapi.org/ver20/XMLSchema',
  'http://www.std-cgi.com/ver10/XMLSchema',
  'urn:psialliance-org',
];

/** An alert with a block of fields, in XML. */
const alert = (type: string, block: string, more = '') =>
  `<?xml version="1.0" encoding="UTF-8"?><EventNotificationAlert version="2.0" xmlns="${NAMESPACES[1]}">
<ipAddress>10.0.0.7</ipAddress><macAddress>08:3b:c1:92:ae:60</macAddress><channelID>2</channelID>
<dateTime>2026-06-30T10:00:00+07:00</dateTime><eventType>${type}</eventType><eventState>active</eventState>
<channelName>North bridge</channelName>${block}${more}</EventNotificationAlert>`;
const anpr = (fields: string) => alert('ANPR', `<ANPR>${fields}</ANPR>`);
const first = async (body: string | Buffer, sent = {}) => (await readBody(hikvision, body, sent)).reports[0];

describe('Hikvision', () => {
  it.each([
    [
      'hikvision-anpr-deepinview-v58.xml',
      [['2026-07-05T19:44:40.000Z', 'PLATE_RECOGNITION', 'WX1234A', null, null]],
    ],
    ['hikvision-anpr-nvr-prefixed-ns.xml', [[null, 'PLATE_RECOGNITION', 'WA99999', null, null]]],
    ['hikvision-plates-poll.xml', [['2020-04-24T16:16:27.000Z', 'PLATE_RECOGNITION', 'DK18HVX', null, null]]],
    ['hikvision-fielddetection-nvr-psia.xml', ['nothing']],
    ['hikvision-httpHosts-config.xml', ['nothing']],
    // Pastebin, where this payload was found, has lost its XML tags.
    ['hikvision-multipart-wire-pastebin.txt', ['unreadable']],
  ])('reads %s', async (file, expected) => {
    expect(inShort(await readPayload(hikvision, file))).toEqual(expected);
  });

  it('reports what a DeepinView camera sees', async () => {
    const { reports } = await readPayload(hikvision, 'hikvision-anpr-deepinview-v58.xml');
    expect(reports).toMatchObject([
      {
        key: '192.168.1.64/1/anpr/2026-07-05T20:44:40+01:00/WX1234A/3301',
        device: ['1', 'Camera 01', '192.168.1.64'],
        event: {
          vehicleType: 'SUVMPV',
          tags: ['Hikvision', 'Camera 01'],
          metadata: {
            vendor: 'hikvision',
            channel: '1',
            direction: 'reverse',
            lane: '1',
            confidence: 0.92,
            confidenceRaw: '92',
            countryCode: '7',
            color: 'black',
            makeCode: 1036,
            listName: 'otherList',
            raw: { ANPR: { licensePlate: 'WX1234A', vehicleInfo: { index: '3301' } } },
          },
        },
      },
    ]);
    const { metadata } = reports[0]?.event ?? {};
    expect(metadata).not.toHaveProperty('plateColor');
    expect(metadata).not.toHaveProperty('speedLimit');
  });

  it.each(NAMESPACES)('reads alerts in the namespace %s, with a prefix and without', async (namespace) => {
    const plain = `<EventNotificationAlert xmlns="${namespace}"><eventType>ANPR</eventType><ANPR><licensePlate>EL123AB</licensePlate></ANPR></EventNotificationAlert>`;
    const prefixed = plain.replaceAll(/<(\/?)/g, '<$1h:').replace('xmlns', 'xmlns:h');
    for (const body of [plain, prefixed]) {
      expect((await first(body))?.event.licensePlateNumber).toBe('EL123AB');
    }
  });

  it('reads a multipart body with boundary=boundary, a zero-length image and image/pjpeg', async () => {
    const [plate, scene] = [png(), jpeg({ comment: 'scene' })];
    const part = (name: string, type: string) =>
      `Content-Disposition: form-data; name="${name}"; filename="${name}"\r\nContent-Type: ${type}\r\nContent-ID: ${name}`;
    const body = multipartBody('boundary', [
      [part('anpr.xml', 'text/xml; charset="UTF-8"'), anpr('<licensePlate>GKW5KE2</licensePlate>')],
      [part('vehiclePicture.jpg', 'image/pjpeg'), ''],
      [part('licensePlatePicture.jpg', 'image/pjpeg'), plate],
      [part('detectionPicture.jpg', 'application/octet-stream'), scene],
    ]);
    const found = await first(body, { contentType: 'multipart/form-data; boundary=boundary' });
    expect(found?.event).toMatchObject({
      licensePlateNumber: 'GKW5KE2',
      images: [addressOf(scene), addressOf(plate)],
    });
  });

  it('reads the JSON variants, also with lower-case first letters', async () => {
    const json = {
      macAddress: 'ec:c8:9c:c4:5c:b3',
      channelID: '1',
      dateTime: '2021-12-14T19:23:52+08:00',
      eventType: 'ANPR',
      eventState: 'active',
      UUID: '602cf998-1dd2-11b2-a842-be6ebc977415',
      aNPR: {
        licensePlate: '京A12345',
        confidenceLevel: '88',
        pilotsafebelt: 'unknown',
        speedLimit: '0',
        illegalInfo: { illegalCode: '0' },
        vehicleInfo: { color: 'white', speed: '61' },
        gPSInfo: {
          longitude: { degree: '117', minute: '6', sec: '49.91' },
          latitude: { degree: '36', minute: '40', sec: '12' },
        },
      },
    };
    for (const body of [json, { EventNotificationAlert: json }, [json]]) {
      expect(await first(JSON.stringify(body))).toMatchObject({
        key: '602cf998-1dd2-11b2-a842-be6ebc977415/anpr',
        event: {
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: '京A12345',
          vehicleSpeed: 61,
          location: { latitude: 36.67, longitude: 117.1138639 },
        },
      });
    }
  });

  it('takes the number of a country, and the word for no violation, for neither', async () => {
    const found = await first(
      anpr(
        '<country>3</country><licensePlate>A1</licensePlate><illegalInfo><illegalCode>1</illegalCode><illegalName>Normal</illegalName></illegalInfo>',
      ),
    );
    expect(found?.event).toMatchObject({ eventType: 'PLATE_RECOGNITION', violationType: null });
    expect(found?.event.metadata).toMatchObject({ countryCode: '3' });
    expect(found?.event.metadata).not.toHaveProperty('country');
    expect(found?.event.metadata).not.toHaveProperty('violationName');
  });

  it.each(['unknown', 'N/A', 'None', 'not available', '未知', '0', '--'])(
    'takes the word %j for no attribute of a vehicle',
    async (word) => {
      const found = await first(
        anpr(
          `<country>${word}</country><licensePlate>A1</licensePlate><plateColor>${word}</plateColor><region>${word}</region><vehicleInfo><color>${word}</color><vehicleLogo>${word}</vehicleLogo></vehicleInfo>`,
        ),
      );
      const { raw: _, ...known } = found?.event.metadata ?? {};
      for (const name of ['country', 'plateColor', 'region', 'color', 'make', 'countryCode', 'colorCode']) {
        expect(known).not.toHaveProperty(name);
      }
    },
  );

  it.each(['Normal', 'none', 'No Violation', 'checkPoint', '无违章', '0'])(
    'takes the word %j for no violation',
    async (word) => {
      const block = `<licensePlate>A1</licensePlate><illegalInfo><illegalCode>7</illegalCode><illegalName>${word}</illegalName></illegalInfo>`;
      for (const body of [anpr(block), alert('TFS', `<TFS>${block}</TFS>`)]) {
        const found = await first(body);
        expect([found?.event.eventType, found?.event.violationType]).toEqual(['PLATE_RECOGNITION', null]);
      }
    },
  );

  it.each([1, 10, 27, 34])(
    'accepts a message without its last %d bytes, whose recognition is whole',
    async (missing) => {
      const whole = await devicePayload('hikvision-anpr-deepinview-v58.xml');
      const text = whole.toString().trimEnd();
      const { reports, note } = await readBody(hikvision, text.slice(0, -missing));
      expect(reports[0]?.event.licensePlateNumber).toBe('WX1234A');
      expect(note).toMatch(/incomplete.*, but the recognition in it is whole$/);
    },
  );

  it('refuses a message that ends within its recognition', async () => {
    const text = (await devicePayload('hikvision-anpr-deepinview-v58.xml')).toString();
    for (const end of ['</ANPR>', '</licensePlate>', '234A']) {
      const { is, reports } = await readBody(hikvision, text.slice(0, text.indexOf(end)));
      expect([is, reports]).toEqual(['unreadable', []]);
    }
  });

  it('accepts JSON of which closing brackets are missing, and no other incomplete one', async () => {
    const json = JSON.stringify({
      EventNotificationAlert: { eventType: 'ANPR', ANPR: { licensePlate: 'A1234', lane: 17 } },
    });
    for (const missing of [1, 2]) {
      const { reports, note } = await readBody(hikvision, json.slice(0, -missing));
      expect([reports[0]?.event.licensePlateNumber, note]).toEqual([
        'A1234',
        expect.stringMatching(/whole$/),
      ]);
    }
    for (const missing of [4, 5, 15]) {
      expect((await readBody(hikvision, json.slice(0, -missing))).reports).toEqual([]);
    }
  });

  it.each([
    null,
    'text/plain',
    'application/xml',
    'application/octet-stream',
    'multipart/form-data; boundary=boundary',
  ])(
    'reads a multipart body of the type %s, with CRLF and with LF, also when its end is missing',
    async (contentType) => {
      const image = jpeg({ comment: 'scene' });
      const xml = (await devicePayload('hikvision-anpr-deepinview-v58.xml')).toString().trimEnd();
      for (const newline of ['\r\n', '\n']) {
        const part = (name: string, type: string) =>
          [
            '--boundary',
            `Content-Disposition: form-data; name="${name}"; filename="${name}"`,
            `Content-Type: ${type}`,
            '',
            '',
          ].join(newline);
        const body = Buffer.concat([
          Buffer.from(
            part('anpr.xml', 'text/xml') + xml + newline + part('detectionPicture.jpg', 'image/jpeg'),
          ),
          image,
          Buffer.from(`${newline}--boundary--${newline}`),
        ]);
        for (const end of [body.length, body.length - 6]) {
          const { reports } = await readBody(hikvision, body.subarray(0, end), { contentType });
          expect(reports.map(({ event }) => [event.licensePlateNumber, event.images])).toEqual([
            ['WX1234A', [addressOf(image)]],
          ]);
        }
      }
    },
  );

  it('takes inactive alarms and the loss of video as liveness signals', async () => {
    const inactive = alert('videoloss', '').replace('>active<', '>inactive<');
    expect(await readBody(hikvision, inactive)).toMatchObject({
      is: 'heartbeat',
      device: ['2', '08:3b:c1:92:ae:60', 'North bridge', '10.0.0.7'],
    });
    expect(inShort(await readBody(hikvision, alert('videoloss', '')))).toEqual(['status']);
    expect(inShort(await readBody(hikvision, alert('diskfull', '')))).toEqual(['status']);
  });

  it.each([
    ['1กข 1234', '1กข 1234'],
    ['鄂A06654', '鄂A06654'],
    ['unknown', null],
    ['unlicensed', null],
    ['0000000', null],
    ['\ufffd\ufffdA06654', null],
    ['无车牌', null],
    ['--', null],
    ['–', null],
    ['NOPLATE', null],
    ['No license plate', null],
    ['no_plate_detected', null],
    ['Unreadable', null],
    ['N/A', null],
    ['未识别', null],
    ['NO 123', 'NO 123'],
    ['NA 4', 'NA 4'],
    ['', null],
  ])('reads the plate %j as %j', async (text, plate) => {
    const found = await first(anpr(`<licensePlate>${text}</licensePlate>`));
    expect(found?.event).toMatchObject({
      eventType: plate ? 'PLATE_RECOGNITION' : 'VEHICLE_DETECTION',
      licensePlateNumber: plate,
    });
  });

  it.each([
    ['a speed of 0', '<vehicleInfo><speed>0</speed></vehicleInfo>', 'VEHICLE_DETECTION', null, null],
    ['a speed', '<vehicleInfo><speed>61</speed></vehicleInfo>', 'SPEED_DETECTION', 61, null],
    [
      'a speed below the limit',
      '<speedLimit>70</speedLimit><vehicleInfo><speed>70</speed></vehicleInfo>',
      'SPEED_DETECTION',
      70,
      null,
    ],
    [
      'a speed above the limit',
      '<speedLimit>70</speedLimit><vehicleInfo><speed>71</speed></vehicleInfo>',
      'TRAFFIC_VIOLATION',
      71,
      'SPEEDING',
    ],
    ['no belt', '<pilotsafebelt>no</pilotsafebelt>', 'SEATBELT_VIOLATION', null, 'NO_SEATBELT'],
    [
      'no belt of a passenger',
      '<vicepilotsafebelt>no</vicepilotsafebelt>',
      'SEATBELT_VIOLATION',
      null,
      'NO_SEATBELT',
    ],
    ['unknown belts', '<pilotsafebelt>unknow</pilotsafebelt>', 'VEHICLE_DETECTION', null, null],
    ['a phone', '<uphone>yes</uphone>', 'TRAFFIC_VIOLATION', null, 'PHONE_USE'],
    [
      'no helmet',
      '<vehicleType>twoWheelVehicle</vehicleType><helmet>no</helmet>',
      'TRAFFIC_VIOLATION',
      null,
      'NO_HELMET',
    ],
    [
      'no helmet in a car',
      '<vehicleType>SUVMPV</vehicleType><helmet>no</helmet>',
      'VEHICLE_DETECTION',
      null,
      null,
    ],
    [
      'the code 0',
      '<illegalInfo><illegalCode>0</illegalCode><illegalName>Normal</illegalName></illegalInfo>',
      'VEHICLE_DETECTION',
      null,
      null,
    ],
    [
      'a code with a name',
      '<illegalInfo><illegalCode>1302</illegalCode><illegalName>Run Red Light</illegalName></illegalInfo>',
      'TRAFFIC_VIOLATION',
      null,
      'RED_LIGHT',
    ],
    [
      'a code alone',
      '<illegalInfo><illegalCode>1345</illegalCode></illegalInfo>',
      'TRAFFIC_VIOLATION',
      null,
      '1345',
    ],
  ])('reports %s', async (_, fields, eventType, vehicleSpeed, violationType) => {
    const found = await first(anpr(`<licensePlate>unknown</licensePlate>${fields}`));
    expect(found?.event).toMatchObject({ eventType, vehicleSpeed, violationType });
  });

  it('reads a position in degrees, minutes and seconds, and ignores one that is not set', async () => {
    const gps = (fields: string) =>
      anpr(`<licensePlate>A1</licensePlate><DeviceGPSInfo>${fields}</DeviceGPSInfo>`);
    const dms = (degree: number, minute: number, sec: number) =>
      `<degree>${degree}</degree><minute>${minute}</minute><sec>${sec}</sec>`;
    const south = await first(
      gps(
        `<longitudeType>W</longitudeType><latitudeType>S</latitudeType><Longitude>${dms(43, 30, 36)}</Longitude><Latitude>${dms(22, 54, 0)}</Latitude>`,
      ),
    );
    expect(south?.event.location).toEqual({ latitude: -22.9, longitude: -43.51 });
    for (const fields of [
      `<Longitude>${dms(0, 0, 0)}</Longitude><Latitude>${dms(0, 0, 0)}</Latitude>`,
      `<Longitude>${dms(117, 6, 49)}</Longitude><Latitude>${dms(117, 6, 49)}</Latitude>`,
      '<Longitude/>',
    ]) {
      expect((await first(gps(fields)))?.event.location).toBeNull();
    }
  });

  it('reads traffic enforcement, incident detection and traffic parameters', async () => {
    const event = (name: string) => `<illegalTrafficEvent>${name}</illegalTrafficEvent>`;
    const aid = (name: string) =>
      alert(
        'AID',
        `<AID>${event(name)}<VehicleInfo><vehicleSpeed>23</vehicleSpeed></VehicleInfo><LaneInfo><laneNo>2</laneNo></LaneInfo></AID>`,
      );
    const tfs = `<TFS>${event('illegalParking')}<PlateInfo><plateNumber>A1</plateNumber></PlateInfo></TFS>`;
    const at = '2026-06-30T03:00:00.000Z';
    expect(inShort(await readBody(hikvision, alert('TFS', tfs)))).toEqual([
      [at, 'TRAFFIC_VIOLATION', 'A1', null, 'ILLEGAL_PARKING'],
    ]);
    expect(inShort(await readBody(hikvision, aid('wrongDirection')))).toEqual([
      [at, 'TRAFFIC_VIOLATION', null, 23, 'WRONG_WAY'],
    ]);
    expect(await first(aid('trafficAccident'))).toMatchObject({
      event: {
        eventType: 'INCIDENT',
        description: 'Traffic accident',
        severity: 'HIGH',
        metadata: { incidentType: 'COLLISION', incidentName: 'trafficAccident', lane: '2' },
      },
    });
    expect(await first(aid('vehicleExist'))).toMatchObject({
      event: { eventType: 'INCIDENT', severity: 'MEDIUM', metadata: { incidentType: 'OTHER' } },
    });
    expect(inShort(await readBody(hikvision, alert('TPS', '<TPS><laneNum>2</laneNum></TPS>')))).toEqual([
      'aggregate',
    ]);
  });

  it('reports vehicles that were detected without their plates', async () => {
    const at = '2026-06-30T03:00:00.000Z';
    const line = (target: string) =>
      alert(
        'linedetection',
        `<DetectionRegionList><DetectionRegionEntry><detectionTarget>${target}</detectionTarget></DetectionRegionEntry></DetectionRegionList>`,
      );
    for (const body of [alert('vehicleDetection', ''), line('vehicle')]) {
      expect(inShort(await readBody(hikvision, body))).toEqual([[at, 'VEHICLE_DETECTION', null, null, null]]);
    }
    expect(inShort(await readBody(hikvision, line('human')))).toEqual(['nothing']);
  });

  it('reads several alerts of a stream, each with its own images', async () => {
    const images = [jpeg({ width: 3 }), jpeg({ width: 4 })];
    const body = multipartBody('b', [
      ['Content-Type: application/xml', anpr('<licensePlate>A1</licensePlate>')],
      ['Content-Type: image/jpeg', images[0] as Buffer],
      ['Content-Type: application/xml', alert('videoloss', '').replace('>active<', '>inactive<')],
      ['Content-Type: application/xml', anpr('<licensePlate>B2</licensePlate>')],
      ['Content-Type: image/jpeg', images[1] as Buffer],
    ]);
    const { reports } = await readBody(hikvision, body, { contentType: 'multipart/mixed; boundary=b' });
    expect(reports.map(({ event }) => [event.licensePlateNumber, event.images])).toEqual([
      ['A1', [addressOf(images[0] as Buffer)]],
      ['B2', [addressOf(images[1] as Buffer)]],
    ]);
  });

  it('reads the content of its FTP uploads, and times without a zone', async () => {
    const body = `<FTP><dateTime>2024-07-16T11:10:21.710</dateTime><licensePlate>W5003QC</licensePlate>
<illegalInfo><illegalCode>151002</illegalCode><illegalName>Non-Helmet</illegalName></illegalInfo>
<vehicleInfo><speed>0</speed></vehicleInfo><UUID>fed0a57a-1dd1-11b2-a09a-a08d9b29eb54</UUID></FTP>`;
    expect(inShort(await readBody(hikvision, body, { zone: 'Asia/Jakarta' }))).toEqual([
      ['2024-07-16T04:10:21.710Z', 'TRAFFIC_VIOLATION', 'W5003QC', null, 'NO_HELMET'],
    ]);
  });

  it('gives the same key to the same alert, and another one to another vehicle', async () => {
    const keys = await Promise.all(
      ['A1', 'A1', 'B2'].map(
        async (plate) => (await first(anpr(`<licensePlate>${plate}</licensePlate>`)))?.key,
      ),
    );
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).not.toBe(keys[2]);
  });

  it('tags plates on lists', async () => {
    const found = await first(
      anpr('<licensePlate>A1</licensePlate><vehicleListName>blackList</vehicleListName>'),
    );
    expect(found?.event.tags).toEqual(['Hikvision', 'North bridge', 'block']);
  });

  it('creates no event from what it does not understand', () => expectCalm(hikvision));

  it('describes the settings of the camera', () => {
    const steps = hikvision.instructions({
      url: 'http://10.0.0.5:4000/gateway/hikvision/abc',
      token: 'abc',
      username: 'north-bridge',
      password: 'secret',
    });
    expect(steps.length).toBeGreaterThan(3);
    for (const value of ['10.0.0.5', '4000', '/gateway/hikvision/abc', 'north-bridge', 'secret']) {
      expect(steps.join('\n')).toContain(value);
    }
  });
});
