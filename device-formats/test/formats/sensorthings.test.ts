import { describe, expect, it } from 'vitest';
import { sensorthings } from '../../src/formats/sensorthings.ts';
import { readBody, readPayload } from './reading.ts';

const read = (body: unknown, sent = {}) => readBody(sensorthings, JSON.stringify(body), sent);
const observation = (stream: object, result: unknown, more = {}) => ({
  '@iot.id': 7,
  phenomenonTime: '2026-06-01T10:00:00.000Z',
  result,
  Datastream: { '@iot.id': 3, ...stream },
  ...more,
});
const SPEED = {
  name: 'Speed of vehicles, lane 1',
  unitOfMeasurement: { name: 'kilometre per hour', symbol: 'km/h' },
  ObservedProperty: { name: 'Vehicle speed' },
  Thing: { name: 'Radar 5' },
};

describe('observations', () => {
  it('of counts are figures (sensorthings-observations.json)', async () => {
    expect(await readPayload(sensorthings, 'sensorthings-observations.json')).toMatchObject({
      is: 'aggregate',
      reports: [],
    });
  });

  it('of single speeds are events', async () => {
    const feature = { type: 'Point', coordinates: [13.4, 52.5] };
    const { reports } = await read(observation(SPEED, '62', { FeatureOfInterest: { feature } }));
    expect(reports).toMatchObject([
      {
        key: 'Observations(7)',
        device: ['Radar 5', 'Speed of vehicles, lane 1', '3'],
        occurredAt: Date.UTC(2026, 5, 1, 10),
        event: {
          eventType: 'SPEED_DETECTION',
          vehicleSpeed: 62,
          location: { latitude: 52.5, longitude: 13.4 },
          metadata: { vendor: 'sensorthings', datastream: '3' },
        },
      },
    ]);
  });

  it.each([
    ['m/s', observation({ ...SPEED, unitOfMeasurement: { symbol: 'm/s' } }, 10), [36]],
    ['mph', observation({ ...SPEED, unitOfMeasurement: { name: 'Miles per hour' } }, 30), [48.28]],
    ['averages', observation({ ...SPEED, name: 'Average speed' }, 50), []],
    [
      'an interval',
      observation(SPEED, 50, { phenomenonTime: '2026-06-01T10:00:00Z/2026-06-01T10:05:00Z' }),
      [],
    ],
    ['a temperature', observation({ name: 'Air', unitOfMeasurement: { symbol: '°C' } }, 20), []],
    ['an object', observation({}, { speed: 40, licensePlate: 'AB 1' }), [40]],
    ['a page', { value: [observation(SPEED, 1), observation(SPEED, 2)] }, [1, 2]],
    [
      'a data array',
      [
        {
          Datastream: SPEED,
          components: ['phenomenonTime', 'result'],
          dataArray: [
            ['2026-06-01T10:00:00Z', 5],
            ['2026-06-01T10:00:01Z', 6],
          ],
        },
      ],
      [5, 6],
    ],
    ['nothing measured', observation(SPEED, 0), []],
  ])('are read: %s', async (_, body, speeds) => {
    const { reports, is } = await read(body);
    expect(reports.map(({ event }) => event.vehicleSpeed)).toEqual(speeds);
    expect(is).toBe(speeds.length > 0 ? 'reports' : 'aggregate');
  });

  it('over MQTT are speeds if the options of the connection declare them', async () => {
    const body = { phenomenonTime: '2026-06-01T10:00:00Z', result: 30 };
    const topic = 'v1.1/Datastreams(42)/Observations';
    expect((await read(body, { topic })).is).toBe('aggregate');
    expect((await read(body, { topic, options: { speedUnit: 'mph' } })).reports).toMatchObject([
      { key: 'Datastreams(42)@2026-06-01T10:00:00Z', device: ['42'], event: { vehicleSpeed: 48.28 } },
    ]);
  });

  it.each([
    ['{"value": [{"result": {"speed": "x"}, "Datastream": 5, "phenomenonTime": 7}]}', 'aggregate'],
    ['{"value": [1, null]}', 'nothing'],
    ['{}', 'nothing'],
    ['<a/>', 'unreadable'],
    ['{"value"', 'unreadable'],
  ])('that are %s are handled without an error', async (body, is) => {
    expect((await readBody(sensorthings, body)).is).toBe(is);
  });
});
