import { describe, expect, it } from 'vitest';
import { fiware } from '../../src/formats/fiware.ts';
import { readBody, readPayload } from './reading.ts';

const read = (body: unknown, options = {}) => readBody(fiware, JSON.stringify(body), { options });

const VIOLATION = {
  key: 'ngsi-ld:Trafficviolation:234R:0212@2021-03-11T15:51:02+05:30',
  device: ['4', 'ngsi-ld:Trafficviolation:234R:0212'],
  occurredAt: Date.UTC(2021, 2, 11, 10, 21, 2),
  event: {
    eventType: 'TRAFFIC_VIOLATION',
    violationType: 'TrafficViolation',
    images: ['https://www.google.com/'],
    metadata: { vendor: 'fiware', reportId: '182', titleCode: '11', violationCode: '11', device: '4' },
  },
};
const ACCIDENT = {
  key: 'urn:ngsi-ld:RoadAccident:id:ORHW:45620815@2021-03-12T13:59:36Z',
  occurredAt: Date.UTC(2021, 2, 12, 13, 59, 36),
  event: {
    eventType: 'INCIDENT',
    severity: 'CRITICAL',
    description: 'Clash in the middle of a traffic light',
    // The latitude of the example is 168.
    location: null,
    metadata: { incidentType: 'COLLISION', status: 'onGoing' },
  },
};

describe('the payloads of FIWARE', () => {
  it.each([
    ['fiware-TrafficViolation-kv.json', VIOLATION],
    ['fiware-TrafficViolation-kv.jsonld', VIOLATION],
    ['fiware-TrafficViolation-normalized.json', VIOLATION],
    ['fiware-RoadAccident-kv.json', ACCIDENT],
    ['fiware-RoadAccident-kv.jsonld', ACCIDENT],
    ['fiware-RoadAccident-normalized.json', ACCIDENT],
  ])('%s is one event', async (file, expected) => {
    const reading = await readPayload(fiware, file);
    expect(reading).toMatchObject({ is: 'reports', note: null, reports: [expected] });
    expect(reading.reports).toHaveLength(1);
  });

  it.each(
    ['ItemFlowObserved', 'TrafficFlowObserved'].flatMap((model) =>
      ['kv.json', 'kv.jsonld', 'normalized.json', 'normalized.jsonld'].map(
        (kind) => `fiware-${model}-${kind}`,
      ),
    ),
  )('%s contains only figures', async (file) => {
    expect(await readPayload(fiware, file)).toMatchObject({ is: 'aggregate', reports: [] });
  });
});

describe('AnprFlowObserved', () => {
  const passage = {
    id: 'anprFlowObserved:Noorderlaan',
    type: 'AnprFlowObserved',
    dateObserved: '2026-06-01T16:30:00Z',
    observedBy: 'ANPR1',
    laneId: '2',
    vehiclePlateNotRead: false,
    observedVehicle: {
      direction: 'towards',
      speed: 50,
      brand: { name: 'Audi', confidence: 0.97 },
      color: { name: 'black', confidence: 0.95 },
      country: { code: 'BE', confidence: 0.95 },
      licensePlate: { identifier: '1-ABC-123', confidence: 0.96 },
    },
    refImages: [{ imageType: 'anpr', url: 'https://images.example.org/1.jpg' }],
  };

  it('is the passage of a vehicle', async () => {
    expect((await read(passage)).reports).toMatchObject([
      {
        key: '1-ABC-123@anprFlowObserved:Noorderlaan@2026-06-01T16:30:00Z',
        device: ['ANPR1', 'anprFlowObserved:Noorderlaan'],
        occurredAt: Date.UTC(2026, 5, 1, 16, 30),
        event: {
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: '1-ABC-123',
          vehicleSpeed: 50,
          images: ['https://images.example.org/1.jpg'],
          metadata: {
            make: 'Audi',
            color: 'black',
            country: 'BE',
            direction: 'towards',
            lane: '2',
            device: 'ANPR1',
            confidence: 0.96,
          },
        },
      },
    ]);
  });

  it('may be normalized, with texts in place of objects', async () => {
    const reading = await read({
      ...passage,
      dateObserved: { type: 'Property', value: { '@type': 'DateTime', '@value': '2026-06-01T16:30:00Z' } },
      observedVehicle: { type: 'Property', value: { brand: 'Audi', licensePlate: '1-ABC-123' } },
    });
    expect(reading.reports).toMatchObject([
      {
        occurredAt: Date.UTC(2026, 5, 1, 16, 30),
        event: { licensePlateNumber: '1-ABC-123', metadata: { make: 'Audi' } },
      },
    ]);
  });

  it('without a plate is a vehicle', async () => {
    const reading = await read({ ...passage, vehiclePlateNotRead: true, observedVehicle: { speed: 0 } });
    expect(reading.reports).toMatchObject([
      { event: { eventType: 'VEHICLE_DETECTION', licensePlateNumber: null, vehicleSpeed: null } },
    ]);
  });
});

describe('a notification', () => {
  const entity = {
    id: 'urn:ngsi-ld:TrafficViolation:1',
    type: 'TrafficViolation',
    observationDateTime: { type: 'DateTime', value: '2026-06-01T10:00:00Z' },
    titleCode: { type: 'Text', value: 'SPEEDING' },
    speed: { type: 'Number', value: 50, metadata: { unitCode: { type: 'Text', value: 'KNT' } } },
    licensePlate: { type: 'Text', value: 'B AB 1' },
    location: { type: 'geo:json', value: { type: 'Point', coordinates: [13.4, 52.5] } },
  };
  const event = {
    eventType: 'TRAFFIC_VIOLATION',
    violationType: 'SPEEDING',
    licensePlateNumber: 'B AB 1',
    vehicleSpeed: 92.6,
    location: { latitude: 52.5, longitude: 13.4 },
  };
  const concise = Object.fromEntries(
    Object.entries(entity).map(([name, each]) => {
      if (typeof each === 'string') return [name, each];
      const { value } = each;
      return [name, name === 'speed' ? { value, unitCode: 'KNT' } : { value }];
    }),
  );

  it.each([
    ['NGSI-v2', { subscriptionId: '51c0ac9ed714fb3b37d7d5a8', data: [entity] }],
    [
      'NGSI-LD',
      {
        id: 'urn:n:1',
        type: 'Notification',
        subscriptionId: 'urn:s',
        notifiedAt: '2026-06-01T10:00:01Z',
        data: [entity],
      },
    ],
    ['NGSI-LD, concise', { type: 'Notification', data: [concise] }],
    [
      'NGSI-LD, expanded names',
      {
        type: 'Notification',
        data: [{ ...concise, type: 'https://smartdatamodels.org/dataModel.Transportation/TrafficViolation' }],
      },
    ],
    ['bare', entity],
    ['an array', [entity]],
  ])('of %s has the same event', async (_, body) => {
    const { reports } = await read(body);
    expect(reports).toMatchObject([{ key: 'urn:ngsi-ld:TrafficViolation:1@2026-06-01T10:00:00Z', event }]);
  });

  it('may have several entities, of which only some are events', async () => {
    const flow = { id: 'f', type: 'TrafficFlowObserved', intensity: 12, averageVehicleSpeed: 50 };
    const ofOne = { ...flow, id: 'n', intensity: 1 };
    const single = {
      ...flow,
      id: 's',
      licensePlate: 'B AB 1234',
      dateObserved: '2026-06-01T10:00:00/2026-06-01T10:00:05',
    };
    const { reports, note } = await read({
      data: [flow, ofOne, single, { id: 'x', type: 'WeatherObserved' }],
    });
    expect(reports).toMatchObject([
      {
        key: 's@2026-06-01T10:00:00',
        occurredAt: Date.UTC(2026, 5, 1, 8),
        event: { eventType: 'PLATE_RECOGNITION', vehicleSpeed: 50 },
      },
    ]);
    expect(note).toMatch(/The counts have no time; Entities of the type WeatherObserved/);
  });

  it.each([
    ['carAccident', 'COLLISION', 'critical', 'CRITICAL'],
    ['trafficJam', 'CONGESTION', 'informational', 'LOW'],
    ['carWrongDirection', 'WRONG_WAY_DRIVER', 'high', 'HIGH'],
    ['somethingNew', 'OTHER', undefined, 'MEDIUM'],
  ])('of an alert %s is an incident', async (subCategory, incidentType, severity, expected) => {
    const { reports } = await read({
      id: 'a',
      type: 'Alert',
      category: 'traffic',
      subCategory,
      severity,
      dateIssued: '2026-06-01T10:00:00Z',
    });
    expect(reports).toMatchObject([
      { event: { eventType: 'INCIDENT', severity: expected, metadata: { incidentType } } },
    ]);
  });

  it.each([
    ['no JSON', 'hello', 'unreadable'],
    ['half of it', '{"data": [', 'unreadable'],
    ['nothing', '{}', 'nothing'],
    ['no entities', '{"data": []}', 'nothing'],
    ['wrong types', '{"data": [null, 5, "x", {"type": 7}, {"type": {"a": 1}, "id": []}]}', 'nothing'],
    [
      'a violation of nothing',
      '{"type": "TrafficViolation", "location": 5, "address": 7, "mediaURL": {"a": 1}, "speed": "fast"}',
      'reports',
    ],
  ])('with %s is handled without an error', async (_, body, is) => {
    expect((await readBody(fiware, body)).is).toBe(is);
  });
});
