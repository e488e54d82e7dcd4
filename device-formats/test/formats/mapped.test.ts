import { afterAll, describe, expect, it } from 'vitest';
import { jpeg } from '../../../server/test/sample-images.ts';
import { mapped } from '../../src/formats/mapped.ts';
import { Mapper } from '../../src/mapper.ts';
import { mappingProgram } from '../mapping-program.ts';
import { devicePayload, readBody } from './reading.ts';

const mapper = new Mapper(mappingProgram);
afterAll(() => mapper[Symbol.dispose]());
const format = {
  ...mapped,
  read: (message: Parameters<typeof mapped.read>[0], context: Parameters<typeof mapped.read>[1]) =>
    mapped.read(message, { ...context, map: mapper.map }),
};
const read = (mapping: string, body: Buffer | string, sent: object = {}) =>
  readBody(format, body, { options: { mapping }, ...sent });
const json = (value: unknown) => JSON.stringify(value);

describe('a message with a mapping', () => {
  it('becomes the event that the mapping makes', async () => {
    const body = json({ id: 7, cam: 'North', at: '2026-06-30 14:00:00', lp: 'B AB 12', kmh: 61, score: 93 });
    const mapping = `{"plate": body.lp, "speed": body.kmh, "speedLimit": 50, "time": body.at, "key": body.id,
      "device": body.cam, "confidence": body.score, "vehicleType": "car", "severity": "high", "tags": ["a", "b"],
      "location": {"latitude": "52.5", "longitude": 13.4, "address": "Main"}, "metadata": {"lane": 2}}`;
    expect(await read(mapping, body)).toEqual({
      reports: [
        {
          key: '7',
          device: ['North'],
          occurredAt: Date.UTC(2026, 5, 30, 12),
          event: {
            eventType: 'TRAFFIC_VIOLATION',
            violationType: 'SPEEDING',
            licensePlateNumber: 'B AB 12',
            vehicleSpeed: 61,
            vehicleType: 'car',
            vehicleClass: { scheme: 'BASIC', code: 'CAR' },
            plateConfidence: 93,
            description: null,
            severity: 'HIGH',
            location: { latitude: 52.5, longitude: 13.4, address: 'Main' },
            images: [],
            tags: ['a', 'b'],
            metadata: {
              vendor: 'mapped',
              lane: 2,
              speedLimit: 50,
              confidence: 0.93,
              confidenceRaw: 93,
              device: 'North',
              raw: JSON.parse(body),
            },
          },
        },
      ],
      is: 'reports',
      note: null,
    });
  });

  it('may be XML, a form, or several parts with images', async () => {
    const xml = await read(
      '{"plate": body.Msg.Plate.`#text`, "key": body.Msg.`@id`}',
      '<a:Msg id="3"><Plate x="1">AB</Plate></a:Msg>',
    );
    expect(xml.reports[0]).toMatchObject({ key: '3', event: { licensePlateNumber: 'AB' } });
    const form = await read('{"plate": fields.lp, "speed": fields.v}', 'lp=AB+1&v=30', {
      contentType: 'application/x-www-form-urlencoded',
      options: { mapping: '{"plate": fields.lp, "speed": fields.v}', speedUnit: 'mph' },
    });
    expect(form.reports[0]?.event).toMatchObject({ licensePlateNumber: 'AB 1', vehicleSpeed: 48.28 });
    const picture = await read(
      '{"plate": "X", "key": topic & path & receivedAt}',
      Buffer.concat([Buffer.from('{}'), jpeg({})]),
      {
        topic: 't/1',
        path: '/p',
      },
    );
    expect(picture.reports[0]).toMatchObject({
      key: 't/1/p2026-07-01T00:00:00.000Z',
      event: { images: [expect.stringMatching(/^\/images\//)] },
    });
  });

  it.each([
    ['"54 km/h"', 54],
    ['"54,5 km/h"', 54.5],
    ['"20 mph"', 32.19],
    ['"15 m/s"', 54],
    ['"30 kn"', 55.56],
    ['"30 Knots"', 55.56],
    ['"10 ft/s"', 10.97],
    ['"93"', 93],
    ['"1e2"', 100],
    ['"0 km/h"', null],
    ['"-5 mph"', null],
    ['"54 parsecs"', null],
  ])('has the speed %s in km/h', async (speed, expected) => {
    const { reports } = await read(`{"plate": "X", "speed": ${speed}, "speedLimit": ${speed}}`, '{}');
    expect(reports[0]?.event.vehicleSpeed).toBe(expected);
    expect(reports[0]?.event.metadata?.speedLimit ?? null).toBe(expected);
  });

  it.each([
    '{"lat": 52.5, "lng": 13.4}',
    '{"Lat": "52.5", "Lon": "13,4"}',
    '{"latitude": 52.5, "long": 13.4}',
    '{"type": "Point", "coordinates": [13.4, 52.5]}',
    '{"geometry": {"type": "Point", "coordinates": [13.4, 52.5]}}',
    '"52.5, 13.4"',
    '"geo:52.5,13.4;u=10"',
  ])('has the location %s', async (location) => {
    const { reports, note } = await read(`{"plate": "X", "location": ${location}}`, '{}');
    expect(reports[0]?.event.location).toEqual({ latitude: 52.5, longitude: 13.4 });
    expect(note).toBeNull();
  });

  it.each([
    ['"severity": "urgent"', 'severity "urgent" was left out: use LOW, MEDIUM, HIGH, CRITICAL'],
    ['"speed": "fast"', 'speed "fast" is not a speed: use a number, or a text such as "54 km/h"'],
    ['"speedLimit": "54 parsecs"', 'speedLimit "54 parsecs" is not a speed'],
    ['"location": [13.4, 52.5]', 'location [13.4,52.5] was left out: use {"latitude"'],
    ['"location": {"lat": 99, "lng": 13}', 'location {"lat":99,"lng":13} was left out'],
    ['"plat": "X", "colour": "red"', 'these keys are not known and were ignored: plat, colour'],
    ['"confidence": "high"', 'confidence "high" was left out'],
    ['"vehicleType": {"id": 1}', 'vehicleType {"id":1} was left out: use a text'],
    ['"metadata": "x"', 'metadata "x" was left out: use an object'],
    ['"tags": [{"a": 1}]', 'tags [{"a":1}] has entries that are not texts'],
    ['"time": body.tiem', 'time has no value, because the message has none at body.tiem'],
  ])('that sets %s says what is not used, and is an event nevertheless', async (given, expected) => {
    const { reports, note } = await read(`{"plate": "AB 1", ${given}}`, '{}');
    expect(reports).toHaveLength(1);
    expect(note).toContain(expected);
  });

  it.each(['{}', '{"plate": body.plat}', '{"plat": "AB 1"}', '[{}, {}]'])(
    'that makes only %s makes no event',
    async (mapping) => {
      const { reports, is, note } = await read(mapping, '{"plate": "AB 1"}');
      expect({ reports, is }).toEqual({ reports: [], is: 'unreadable' });
      expect(note).toMatch(
        /has none of its keys: use at least one of plate|only keys that are not known \(plat\)/,
      );
    },
  );

  it('has the time of receipt, and says so, if $time cannot read its time', async () => {
    const { reports, note } = await read(
      '{"plate": "X", "time": $time(body.t, "dd/MM/yyyy")}',
      '{"t": "n/a"}',
    );
    expect(reports[0]).toMatchObject({ occurredAt: null, timeFlaw: expect.stringContaining('does not fit') });
    expect(note).toContain('"n/a" does not fit the pattern "dd/MM/yyyy": 31/01/2026 would');
  });

  it('may hold several events, of which an invalid one does not affect the others', async () => {
    const { reports, is, note } = await read(
      'body.({"plate": $, "type": $ = "C" ? "CAR" : "plate_recognition"})',
      json(['A', 'B', 'C']),
    );
    expect(is).toBe('reports');
    expect(reports.map(({ event }) => event.licensePlateNumber)).toEqual(['A', 'B']);
    expect(note).toMatch(
      /^The result of the mapping is invalid: event 2: type must be one of TRAFFIC_VIOLATION, .*not CAR$/,
    );
  });

  it.each([
    ['', 'TRAFFIC_VIOLATION', 'SPEEDING'],
    ['"type": "TRAFFIC_VIOLATION",', 'TRAFFIC_VIOLATION', 'SPEEDING'],
    ['"type": "SPEED_DETECTION",', 'SPEED_DETECTION', null],
    ['"type": "SEATBELT_VIOLATION",', 'SEATBELT_VIOLATION', null],
    ['"type": "SPEED_DETECTION", "violation": "RACING",', 'SPEED_DETECTION', 'RACING'],
  ])('above the limit with %s is %s with the violation %s', async (given, eventType, violationType) => {
    const { reports } = await read(`{${given} "speed": 61, "speedLimit": 50}`, '{}');
    expect(reports[0]?.event).toMatchObject({ eventType, violationType });
  });

  it.each([
    ['heartbeat', '{"type": "HEARTBEAT", "device": "a"}'],
    ['aggregate', '{"type": "aggregate"}'],
    ['nothing', 'body.nothing'],
    ['nothing', '[]'],
    ['nothing', 'null'],
  ])('may be %s', async (is, mapping) => {
    expect(await read(mapping, '{}')).toMatchObject({ is, reports: [], note: expect.any(String) });
  });

  it.each([
    ['a text', '"AB 12"', 'must be an object, not a string'],
    ['a number', '42', 'must be an object, not a number'],
    ['arrays in an array', '[[[1]], [2]]', 'event 0: an event must be an object, not an array'],
    ['a wrong type', '{"type": 5}', 'type must be one of'],
    ['invalid', '{"plate": ', 'is invalid at character'],
    ['endless', '($f := function($n) { $f($n + 1) }; $f(0))', 'was stopped'],
    ['too many events', '[1..1001].{"plate": "X"}', 'more than 1000 events'],
  ])('is refused with a sentence when the result is %s', async (_, mapping, expected) => {
    const reading = await read(mapping, '{}');
    expect(reading).toMatchObject({ is: 'unreadable', reports: [] });
    expect(reading.note).toContain(expected);
  });

  it.each([
    [
      'strange values',
      '{"plate": ["A"], "speed": {"a": 1}, "time": true, "key": [1], "device": [1, {"b": 2}], "images": 7, "tags": {"c": 1}, "location": "x", "metadata": 5, "severity": 9}',
    ],
    ['no plate', '{"plate": "Unknown", "speed": 0, "severity": "", "confidence": 300}'],
  ])('leaves out %s', async (_, mapping) => {
    const { reports } = await read(mapping, '{}');
    expect(reports[0]?.event).toMatchObject({
      eventType: 'VEHICLE_DETECTION',
      licensePlateNumber: null,
      vehicleSpeed: null,
      severity: null,
      location: null,
    });
  });

  it('is unreadable without a mapping, and when its body is unreadable', async () => {
    expect((await readBody(format, '{}')).note).toMatch(/no mapping: set options\.mapping/);
    expect((await read('{}', '<!DOCTYPE a><a/>')).note).toMatch(/document type definition/);
    expect((await readBody(mapped, '{}', { options: { mapping: '1' } })).is).toBe('unreadable');
  });
});

describe('payloads of devices without a format of their own', () => {
  const payload = async (file: string, mapping: string, sent: object = {}) =>
    read(mapping, await devicePayload(file), sent);

  it('pastebin-lpr-event-id.json becomes a recognised plate', async () => {
    const { reports } = await payload(
      'pastebin-lpr-event-id.json',
      `body[event_type = "lpr-event"].{
        "plate": data.plate, "time": timestamp, "device": [camera.name, $string(camera.id)],
        "key": $string(camera.id) & "-" & timestamp & "-" & data.plate,
        "location": ($at := $split(coordinate, /\\s*,\\s*/); {"latitude": $at[0], "longitude": $at[1]}),
        "vehicleType": data.attribute.type, "metadata": {"make": data.attribute.brand, "color": data.attribute.color}
      }`,
    );
    expect(reports).toMatchObject([
      {
        key: '1-2019-02-25 16:34:27.403+07-B3518SCM',
        device: ['kamera 1', '1'],
        occurredAt: Date.UTC(2019, 1, 25, 9, 34, 27, 403),
        event: {
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: 'B3518SCM',
          location: { latitude: -6.261843, longitude: 106.823547 },
          metadata: { make: 'brand' },
        },
      },
    ]);
  });

  it('opendatacam-counter.csv becomes a detected vehicle for each line', async () => {
    const { reports } = await payload(
      'opendatacam-counter.csv',
      `$filter($split(body, /\\r?\\n/), function($line, $at) { $at > 0 and $line != "" }).(
        $cells := $split($replace($, '"', ''), ",");
        {"time": $cells[0], "vehicleType": $cells[2], "device": $cells[1],
         "key": $cells[3] & "-" & $cells[1], "metadata": {"direction": $cells[4]}}
      )`,
    );
    expect(reports).toHaveLength(5);
    expect(reports[0]).toMatchObject({
      key: '4096-blabla',
      device: ['blabla'],
      occurredAt: Date.UTC(2019, 4, 2, 19, 10, 22, 150),
      event: {
        eventType: 'VEHICLE_DETECTION',
        vehicleType: 'car',
        metadata: { direction: 'rightleft_bottomtop' },
      },
    });
  });

  it('opendatacam-recording-tracker.json contains positions in single frames, which are not passages', async () => {
    const reading = await payload(
      'opendatacam-recording-tracker.json',
      '{"type": body.objects ? "AGGREGATE"}',
    );
    expect(reading).toMatchObject({ is: 'aggregate', reports: [] });
  });

  it.each([
    ['telraam-reports-traffic.json', '{"type": body.report.interval ? "AGGREGATE"}'],
    ['nwave-car-counter.json', '{"type": body.counter ? "AGGREGATE", "device": body.sensor_id}'],
  ])('%s contains figures, which are not events', async (file, mapping) => {
    expect(await payload(file, mapping)).toMatchObject({ is: 'aggregate', reports: [] });
  });

  it('nwave-car-counter.json names its device', async () => {
    const { device } = await payload(
      'nwave-car-counter.json',
      '{"type": "AGGREGATE", "device": body.sensor_id}',
    );
    expect(device).toEqual(['31777']);
  });
});
