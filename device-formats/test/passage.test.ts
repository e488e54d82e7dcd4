import { passageFieldNames, reportedEvent } from '@gantry/contract/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composeEvent } from '../src/compose.ts';
import type { Reading } from '../src/format.ts';
import { formatNamed } from '../src/formats.ts';
import { directionOf, laneOf, passageFieldsOf } from '../src/passage.ts';
import { readParts } from '../src/read-parts.ts';
import { splitBody } from '../src/split-body.ts';
import { readBody, readPayload } from './formats/reading.ts';

const COMPASS = [
  ['NB', 'north', 'n', 'nord', 'norte', 'kuzey'],
  ['EB', 'east', 'e', 'ost', 'este', 'doğu'],
  ['SB', 'south', 's', 'süd', 'sur', 'güney'],
  ['WB', 'west', 'w', 'ouest', 'oeste', 'batı'],
  ['NE', 'north-east', 'ne', 'nordost', 'noreste'],
  ['SW', 'south west', 'sw', 'südwest', 'suroeste'],
] as const;

/** What the reports of a reading say of how their vehicles passed. */
function passagesOf({ reports }: Reading): object[] {
  return reports.map(({ event }) =>
    Object.fromEntries(
      passageFieldNames.flatMap((name) => (event[name] === undefined ? [] : [[name, event[name]]])),
    ),
  );
}

describe('directions', () => {
  it.each(COMPASS.flatMap(([code, ...words]) => words.map((word) => [word, code])))(
    '%s is %s',
    (word, code) => {
      expect(directionOf(word)).toBe(code);
      expect(directionOf(` ${word.toUpperCase().replace('İ', 'I')} `)).toBe(code);
    },
  );

  it.each([
    ['northbound', 'NB'],
    ['NorthBound', 'NB'],
    ['Northward', 'NB'],
    ['south_bound', 'SB'],
    ['NEB', 'NE'],
    ['SouthToNorth', 'NB'],
    ['from S to N', 'NB'],
    ['east to west', 'WB'],
    ['W->E', 'EB'],
    ['w → e', 'EB'],
    ['由南向北', 'NB'],
    ['north to the city', null],
    ['approaching', 'APPROACHING'],
    ['Approach', 'APPROACHING'],
    ['Getting closer', 'APPROACHING'],
    ['towards the camera', 'APPROACHING'],
    ['receding', 'RECEDING'],
    ['Leave', 'RECEDING'],
    ['Away', 'RECEDING'],
    ['GOAWAY', 'RECEDING'],
    ['Moving away', 'RECEDING'],
    ['clockwise', 'CW'],
    ['counter-clockwise', 'CCW'],
    ['CCW', 'CCW'],
    ['270°', 270],
    ['360 deg', 0],
    ['12,5 degrees', 12.5],
    ['400°', null],
    // What these mean depends on the maker or the installation.
    ...[
      'forward',
      'backward',
      'Obverse',
      'reverse',
      'in',
      'out',
      'up',
      'inbound',
      '1',
      '90',
      'unknown',
      '-',
      '',
    ].map((word) => [word, null] as const),
    [90, null],
    [null, null],
    [['N'], null],
    ['n'.repeat(100_000), null],
  ] as readonly (readonly [unknown, unknown])[])('%j is %j', (value, expected) => {
    expect(directionOf(value)).toBe(expected);
  });

  it('are directions of the contract, or not understood', () => {
    const words = fc.constantFrom(
      'north',
      'to',
      'from',
      'S',
      'bound',
      '->',
      '360',
      '°',
      ' ',
      'approach',
      '5',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 5 }).map((each) => each.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const direction = directionOf(text);
        expect(
          direction === null || reportedEvent.shape.direction.safeParse(direction).data === direction,
        ).toBe(true);
      }),
    );
  });
});

describe('the passages of devices', () => {
  const CAR = { scheme: 'BASIC', code: 'CAR' };
  const UNCLASSIFIED = { scheme: 'BASIC', code: 'UNCLASSIFIED' };

  it.each([
    [
      'axis-lpv',
      'axis-lpv-http-post-cammra.json',
      { lane: 1, vehicleClass: CAR, plateRegion: 'CZ', plateConfidence: 87 },
    ],
    [
      'dahua',
      'dahua-rpc-notifyEventStream-trafficjunction.json',
      { direction: 'RECEDING', lane: 2, vehicleClass: UNCLASSIFIED },
    ],
    [
      'dahua',
      'dahua-snapmanager-trafficparking-captured.txt',
      {
        direction: 'APPROACHING',
        lane: 1,
        vehicleClass: UNCLASSIFIED,
        plateRegion: 'CN',
        plateConfidence: 0,
      },
    ],
    ['hikvision', 'hikvision-anpr-deepinview-v58.xml', { lane: 1, vehicleClass: CAR, plateConfidence: 92 }],
    ['hikvision', 'hikvision-anpr-nvr-prefixed-ns.xml', { plateConfidence: 90 }],
    ['milesight', 'milesight-recognition-curl.json', { vehicleClass: CAR }],
    [
      'openalpr',
      'openalpr-alpr_group-v2.json',
      { vehicleClass: CAR, plateRegion: 'US-MO', plateConfidence: 94 },
    ],
    ['ops243', 'ops243-radar-object.jsonl', { direction: 'RECEDING', vehicleLength: 9.86 }],
    [
      'platerecognizer',
      'platerecognizer-stream-webhook-tester.json',
      { vehicleClass: CAR, plateRegion: 'US-CA', plateConfidence: 90 },
    ],
    [
      'tattile',
      'tattile-msg-doc.xml',
      { direction: 'RECEDING', lane: 1, plateRegion: 'ES', plateConfidence: 93 },
    ],
    ['unifi-protect', 'unifi-protect-rawevent-licenseplate.json', { vehicleClass: CAR, plateConfidence: 75 }],
    ['verkada', 'verkada-lpr-webhook.json', { plateRegion: 'US-WA', plateConfidence: 93 }],
  ] as const)('%s: %s', async (format, file, expected) => {
    expect(passagesOf(await readPayload(formatNamed(format), file))[0]).toEqual(expected);
  });

  const datex = `<d2LogicalModel xmlns:xsi="x"><payloadPublication xsi:type="MeasuredDataPublication"><siteMeasurements>
    <measurementSiteReference id="S1"/><measurementTimeDefault>2026-06-01T08:00:00Z</measurementTimeDefault>
    <measuredValue index="1"><measuredValue><basicData xsi:type="IndividualVehicleDataValues">
    <pertinentLocation><specificLane>lane2</specificLane></pertinentLocation>
    <forVehiclesWithCharacteristicsOf><vehicleType>lorry</vehicleType>
    <lengthCharacteristic><vehicleLength>11.5</vehicleLength></lengthCharacteristic></forVehiclesWithCharacteristicsOf>
    <individualVehicleSpeed><speed>71</speed></individualVehicleSpeed>
    <timeHeadway>3.4</timeHeadway><timeGap>2.9</timeGap>
    </basicData></measuredValue></measuredValue></siteMeasurements></payloadPublication></d2LogicalModel>`;
  const radar = {
    phenomenonTime: '2026-06-01T10:00:00Z',
    result: { speed: 50, lane: 1, direction: 'South', class: 'Bus', length: 12, headway: 2.5, gap: 2 },
    Datastream: { name: 'Vehicles' },
  };
  const aoa = (classTypes: string) => ({
    topic: 'axis:CameraApplicationPlatform/ObjectAnalytics/Device1Scenario1',
    message: { data: { active: '1', classTypes, objectId: '3', triggerTime: '2026-06-30T10:00:00Z' } },
  });
  const anpr = {
    type: 'AnprFlowObserved',
    licensePlate: 'A1',
    laneId: 2,
    laneDirection: 'east',
    vehicleType: 'motorcycle',
  };

  it.each([
    [
      'datex2',
      datex,
      {
        lane: 2,
        vehicleClass: { scheme: 'BASIC', code: 'TRUCK' },
        vehicleLength: 11.5,
        headway: 3.4,
        gap: 2.9,
      },
    ],
    [
      'sensorthings',
      radar,
      {
        direction: 'SB',
        lane: 1,
        vehicleClass: { scheme: 'BASIC', code: 'BUS' },
        vehicleLength: 12,
        headway: 2.5,
        gap: 2,
      },
    ],
    ['axis-aoa', aoa('truck'), { vehicleClass: { scheme: 'BASIC', code: 'TRUCK' } }],
    ['axis-aoa', aoa('bike'), { vehicleClass: UNCLASSIFIED }],
    ['fiware', anpr, { direction: 'EB', lane: 2, vehicleClass: { scheme: 'BASIC', code: 'MOTORCYCLE' } }],
    [
      'gantry',
      {
        eventType: 'SPEED_DETECTION',
        lane: 3,
        direction: 90,
        movement: { from: 'W', turn: 'T' },
        occupancyMs: 200,
      },
      { direction: 90, lane: 3, movement: { from: 'W', turn: 'T' }, occupancyMs: 200 },
    ],
  ] as const)('%s: %j', async (format, body, expected) => {
    const reading = await readBody(
      formatNamed(format),
      typeof body === 'string' ? body : JSON.stringify(body),
    );
    expect(passagesOf(reading)).toEqual([expected]);
  });

  it.each([
    [
      { direction: 'northbound', lane: 4, vehicleType: 'Lkw', headway: 3 },
      { direction: 'NB', lane: 4, vehicleClass: { scheme: 'BASIC', code: 'TRUCK' }, headway: 3 },
      null,
    ],
    [
      { direction: 180, vehicleClass: { scheme: 'FHWA13', code: '9' }, vehicleType: 'car', passageId: 'p1' },
      { direction: 180, vehicleClass: { scheme: 'FHWA13', code: '9' }, passageId: 'p1' },
      null,
    ],
    [{ direction: 'sideways' }, {}, /^direction "sideways" was left out: Use NB, NE/],
    [
      { vehicleClass: { scheme: 'BASIC', code: 'VAN' } },
      {},
      /^vehicleClass .* was left out: The scheme BASIC has no/,
    ],
  ])('a mapping that says %j', async (result, expected, note) => {
    const read = await formatNamed('mapped').read(
      { parts: readParts(splitBody(null, Buffer.from('{}')).parts), path: '', topic: null, receivedAt: 0 },
      {
        options: { mapping: 'body' },
        zone: 'utc',
        map: async () => ({ value: { plate: 'A1', ...result } }),
      },
    );
    expect(passagesOf(read)).toEqual([expected]);
    if (note === null) expect(read.note).toBeNull();
    else expect(read.note).toMatch(note);
  });
});

describe('lanes', () => {
  it.each([
    [3, 3],
    ['3', 3],
    ['03', 3],
    ['lane1', 1],
    ['Lane 12', 12],
    ['17', '17'],
    ['0', '0'],
    [' left ', 'left'],
    ['hardShoulder', 'hardShoulder'],
    ['-1', null],
    ['unknown', null],
    ['', null],
    [null, null],
    ['x'.repeat(101), null],
  ])('%j is %j', (value, expected) => {
    expect(laneOf(value)).toBe(expected);
  });

  it('are lanes of the contract, or not understood', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.integer(),
          fc.double(),
          fc.nat(20).map((n) => `lane${n}`),
        ),
        (value) => {
          const lane = laneOf(value);
          if (lane === null || !String(lane).isWellFormed() || String(lane).includes('\0')) return;
          expect(reportedEvent.shape.lane.safeParse(lane).data).toBe(lane);
        },
      ),
    );
  });
});

describe('the fields of a passage', () => {
  it.each([
    [{ vehicleType: 'sedan' }, { vehicleClass: { scheme: 'BASIC', code: 'CAR' } }],
    [{ vehicleType: 'Spaceship' }, { vehicleClass: { scheme: 'BASIC', code: 'UNCLASSIFIED' } }],
    [
      { vehicleType: 'Unknown', vehicleClass: 'NonMotor' },
      { vehicleClass: { scheme: 'BASIC', code: 'BICYCLE' } },
    ],
    [{ vehicleType: 'Normal', vehicleClass: 'truck' }, { vehicleClass: { scheme: 'BASIC', code: 'TRUCK' } }],
    [{ vehicleType: 'unknown' }, {}],
    [
      { length: '4.2', headway: 1.5, gap: '0' },
      { vehicleLength: 4.2, headway: 1.5 },
    ],
    [{ length: -1, headway: -1, gap: null }, {}],
    [{ length: 300 }, {}],
    [{ direction: 'forward', lane: undefined }, {}],
  ])('of %j are %j', (seen, expected) => {
    expect(passageFieldsOf(seen)).toEqual(expected);
  });

  it('that the contract does not admit are left out of the event', () => {
    const event = {
      eventType: 'VEHICLE_DETECTION',
      lane: 99,
      direction: 'NB',
      passageId: 'x'.repeat(200),
      headway: -4,
    } as const;
    const composed = composeEvent(
      { key: null, device: [], occurredAt: null, event },
      { receivedAt: 0, believedAt: null, connectionId: 'c', messageId: 'm', index: 0 },
    );
    expect('event' in composed && composed.event).toMatchObject({ direction: 'NB' });
    expect(
      'event' in composed && [composed.event.lane, composed.event.passageId, composed.event.headway],
    ).toEqual([undefined, undefined, undefined]);
  });
});
