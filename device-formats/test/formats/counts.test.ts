import { readdirSync } from 'node:fs';
import type { ConnectionOptions } from '@gantry/contract/connections';
import { readPeriod } from '@gantry/contract/counts';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/format.ts';
import { axisAoa } from '../../src/formats/axis-aoa.ts';
import { datex2 } from '../../src/formats/datex2.ts';
import { fiware } from '../../src/formats/fiware.ts';
import { hikvision } from '../../src/formats/hikvision.ts';
import { milesight } from '../../src/formats/milesight.ts';
import { sensorthings } from '../../src/formats/sensorthings.ts';
import { formats } from '../../src/formats.ts';
import { devicePayload, readBody, readPayload } from './reading.ts';

/** The periods of a reading without what is not there. */
function periodsOf({ periods = [] }: Reading): Record<string, unknown>[] {
  return periods.map((period) =>
    Object.fromEntries(Object.entries(period).filter(([, value]) => value !== undefined)),
  );
}

const ndw = (options: ConnectionOptions) =>
  readPayload(datex2, 'datex2-v3-measureddata-nl-ndw.xml', { options });

describe('measured data of DATEX II', () => {
  it('of France are counts of 6 minutes, which the numbers of vehicles tell', async () => {
    const reading = await readPayload(datex2, 'datex2-v2-measureddata-fr-speeds.xml');
    expect(reading).toMatchObject({ is: 'aggregate', reports: [], note: '2 counts of intervals were read' });
    const at = { start: '2026-07-25T06:24:00.000Z', seconds: 360, status: 'OK' };
    expect(periodsOf(reading)).toEqual([
      { ...at, device: ['MUM76.h1'], volume: 101, speed: { mean: 112 } },
      { ...at, device: ['A0001011200'], volume: 142, speed: { mean: 85 } },
    ]);
  });

  it('of the Netherlands are counts of the minutes that the connection names', async () => {
    const reading = await ndw({ periodSeconds: 60 });
    expect(reading).toMatchObject({ is: 'aggregate', note: '4 counts of intervals were read' });
    const at = { start: '2026-10-01T18:55:00.000Z', seconds: 60, status: 'OK' };
    expect(periodsOf(reading)).toEqual([
      { ...at, device: ['GAD02_Amstd_31_0'], volume: 4 },
      { ...at, device: ['RWS01_MONIBAS_0271hrl0063ra'], lane: 'index 1', volume: 6 },
      { ...at, device: ['RWS01_MONIBAS_0271hrl0063ra'], lane: 'index 3', volume: 10 },
      // A speed of −1 is none.
      { ...at, device: ['RWS01_MONIBAS_0270vwd0063ra'], volume: 0 },
    ]);
  });

  it.each([
    [{}, /do not name the length of their interval: set the option periodSeconds/],
    [{ periodSeconds: 10 }, /240 vehicles per hour is not a whole number of vehicles in 10 s/],
  ])('with the options %j are not counts', async (options, note) => {
    const reading = await ndw(options);
    expect(reading).toMatchObject({ is: 'aggregate', note: expect.stringMatching(note) });
  });

  it('are counts until the time that they name if the connection or the message says so', async () => {
    const [first] = periodsOf(await ndw({ periodSeconds: 60, periodTime: 'END' }));
    expect(first?.start).toBe('2026-10-01T18:54:00.000Z');
    const body = (await devicePayload('datex2-v3-measureddata-nl-ndw.xml')).toString();
    const meant = (meaning: string) =>
      body.replaceAll('<roa:timeValue>', `<roa:timeMeaning>${meaning}</roa:timeMeaning><roa:timeValue>`);
    const options = { periodSeconds: 60, periodTime: 'START' } as const;
    const starts = await Promise.all(
      ['endTime', 'beginTime'].map(
        async (meaning) => periodsOf(await readBody(datex2, meant(meaning), { options }))[0],
      ),
    );
    expect(starts.map((each) => each?.start)).toEqual([
      '2026-10-01T18:54:00.000Z',
      '2026-10-01T18:55:00.000Z',
    ]);
  });

  it.each([
    ['a rate of −1', 'vehicleFlowRate>240<', 'vehicleFlowRate>-1<'],
    [
      'an error',
      '<com:vehicleFlowRate>240</com:vehicleFlowRate>',
      '<com:dataError>true</com:dataError><com:vehicleFlowRate>240</com:vehicleFlowRate>',
    ],
    ['no rate', '<com:vehicleFlowRate>240</com:vehicleFlowRate>', ''],
  ])('with %s are gaps', async (_, from, to) => {
    const body = (await devicePayload('datex2-v3-measureddata-nl-ndw.xml')).toString().replace(from, to);
    const [first] = periodsOf(await readBody(datex2, body, { options: { periodSeconds: 60 } }));
    expect(first).toMatchObject({ device: ['GAD02_Amstd_31_0'], volume: null });
  });

  it('do not name their interval if the numbers of their inputs are something else', async () => {
    const body = (await devicePayload('datex2-v2-measureddata-fr-speeds.xml')).toString();
    const reading = await readBody(
      datex2,
      body.replace('vehicleFlow numberOfInputValuesUsed="142"', 'vehicleFlow numberOfInputValuesUsed="6"'),
    );
    expect(periodsOf(reading)).toEqual([]);
  });
});

const FLOW = {
  id: 'flow:1',
  type: 'TrafficFlowObserved',
  laneId: 2,
  dateObservedFrom: '2026-06-01T08:00:00Z',
  dateObservedTo: '2026-06-01T08:15:00Z',
  intensity: 40,
};

const flow = async (more: object, options: ConnectionOptions = {}) =>
  readBody(fiware, JSON.stringify({ ...FLOW, ...more }), { options });

describe('flows of FIWARE', () => {
  it.each(
    readdirSync(new URL('../messages/', import.meta.url)).filter((name) =>
      /^fiware-TrafficFlow.*\.json(?:ld)?$/.test(name),
    ),
  )('%s is a count of 5 minutes', async (file) => {
    expect(periodsOf(await readPayload(fiware, file))).toEqual([
      {
        start: '2016-12-07T11:10:00.000Z',
        seconds: 300,
        lane: 1,
        volume: 197,
        speed: { mean: 52.6 },
        occupancy: 76,
        meanHeadway: 0.5,
        status: 'OK',
        device: [expect.stringContaining('TrafficFlowObserved-Valladolid-osm-60821110')],
      },
    ]);
  });

  it.each(
    readdirSync(new URL('../messages/', import.meta.url)).filter((name) =>
      /^fiware-ItemFlow(?!.*normalized\.jsonld).*\.json(?:ld)?$/.test(name),
    ),
  )('%s counts yachts, which are no motor vehicles', async (file) => {
    expect(periodsOf(await readPayload(fiware, file))).toMatchObject([
      {
        start: '2020-03-20T16:30:00.000Z',
        seconds: 21_600,
        lane: 1,
        volume: 0,
        byClass: { scheme: 'BASIC', counts: { OTHER: 12 } },
        speed: { mean: 2.7 },
        occupancy: 15.62,
        meanHeadway: 156,
      },
    ]);
  });

  it('of a type that is not known are motor vehicles of no class; speeds may be in knots', async () => {
    expect(periodsOf(await readPayload(fiware, 'fiware-ItemFlowObserved-normalized.jsonld'))).toMatchObject([
      { volume: 12, byClass: { counts: { UNCLASSIFIED: 12 } }, speed: { mean: 5 } },
    ]);
  });

  it.each([
    [{ intensity: 0, averageVehicleSpeed: 0 }, { volume: 0 }],
    [{ intensity: null }, { volume: null }],
    [{ intensity: -1, averageVehicleSpeed: -1, averageHeadwayTime: -1, occupancy: -1 }, { volume: null }],
    [{ vehicleType: 'lorry' }, { volume: 40, byClass: { scheme: 'BASIC', counts: { TRUCK: 40 } } }],
    [
      { vehicleType: 'tricycle of a kind' },
      { volume: 40, byClass: { scheme: 'BASIC', counts: { UNCLASSIFIED: 40 } } },
    ],
    [{ laneDirection: 'northbound' }, { direction: 'NB', volume: 40 }],
    [{ laneDirection: 'backward' }, { lane: '2 backward', volume: 40 }],
    [{ occupancy: 12.5 }, { volume: 40, occupancy: 12.5 }],
    [{ averageVehicleSpeed: { value: 50, unitCode: 'HM' } }, { volume: 40, speed: { mean: 80.47 } }],
    // A detector that names the last second.
    [{ dateObservedTo: '2026-06-01T08:14:59Z' }, { seconds: 900, volume: 40 }],
  ])('%j is %j', async (more, expected) => {
    const [period] = periodsOf(await flow(more));
    expect(period).toEqual({
      start: '2026-06-01T08:00:00.000Z',
      seconds: 900,
      lane: 2,
      status: 'OK',
      device: ['flow:1'],
      ...expected,
    });
  });

  it.each([
    [{ dateObservedTo: '2026-06-01T08:07:00Z' }, /interval of 420 s .* is not a divisor of a day/],
    [{ dateObservedTo: '2026-06-01T07:00:00Z' }, /interval of -3600 s/],
    [{ dateObservedTo: undefined }, /set the option periodSeconds/],
    [{ dateObservedTo: undefined, dateObservedFrom: undefined }, /no time/],
    [{ intensity: undefined }, /TrafficFlowObserved has no intensity/],
    [{ intensity: 12.5 }, /volume: Use a whole number/],
    [{ occupancy: 140 }, /occupancy: Use percent/],
  ])('%j is not a count, for a reason', async (more, note) => {
    expect(await flow(more)).toMatchObject({
      is: 'aggregate',
      reports: [],
      note: expect.stringMatching(note),
    });
  });

  it('are counts of the length that the connection names, in its time zone', async () => {
    const given = {
      dateObservedFrom: undefined,
      dateObservedTo: undefined,
      dateObserved: '2026-06-01T10:00:00',
    };
    expect(periodsOf(await flow(given, { periodSeconds: 900 }))).toMatchObject([
      { start: '2026-06-01T08:00:00.000Z', seconds: 900 },
    ]);
  });

  it('of several classes in one message are one count', async () => {
    const types = ['car', 'bus', 'bicycle'].map((vehicleType) => ({ ...FLOW, vehicleType }));
    const reading = await readBody(fiware, JSON.stringify({ data: types }));
    expect(periodsOf(reading)).toMatchObject([
      { volume: 80, byClass: { counts: { CAR: 40, BUS: 40, BICYCLE: 40 } } },
    ]);
  });

  it('come beside events', async () => {
    const violation = { id: 'v', type: 'TrafficViolation', observationDateTime: '2026-06-01T08:00:00Z' };
    const reading = await readBody(fiware, JSON.stringify({ data: [FLOW, violation] }));
    expect(reading).toMatchObject({
      is: 'reports',
      periods: [{ volume: 40 }],
      note: 'The count of an interval was read',
    });
    expect(reading.reports).toHaveLength(1);
  });
});

const INTERVAL = '2026-06-01T08:00:00.000Z/2026-06-01T08:14:59.000Z';

const observed = (name: string, more: object = {}, unit: object = {}) =>
  readBody(
    sensorthings,
    JSON.stringify({
      '@iot.id': 7,
      phenomenonTime: INTERVAL,
      result: 84,
      Datastream: { '@iot.id': 12, name, unitOfMeasurement: unit, Thing: { name: 'Station 5' } },
      ...more,
    }),
  );

describe('observations of SensorThings', () => {
  it.each([
    ['Anzahl Kfz im 15-Min-Intervall', {}, {}, { volume: 84 }],
    ['Number of motor vehicles', { result: '0' }, {}, { volume: 0 }],
    ['Traffic volume', { result: null }, {}, { volume: null }],
    ['Traffic volume', { result: -1 }, {}, { volume: null }],
    ['Traffic flow', { result: 336 }, { name: 'vehicles per hour' }, { volume: 84 }],
    ['Verkehrsstärke', { result: 336 }, { symbol: 'Kfz/h' }, { volume: 84 }],
    ['Anzahl Fahrräder', {}, {}, { volume: 0, byClass: { scheme: 'BASIC', counts: { BICYCLE: 84 } } }],
    [
      'Count of vehicles',
      { parameters: { lane: 2, direction: 'southbound' } },
      {},
      { volume: 84, lane: 2, direction: 'SB' },
    ],
  ])('of %s with %j in %j are %j', async (name, more, unit, expected) => {
    const reading = await observed(name, more, unit);
    expect(reading).toMatchObject({ is: 'aggregate', reports: [] });
    expect(periodsOf(reading)).toEqual([
      {
        start: '2026-06-01T08:00:00.000Z',
        seconds: 900,
        status: 'OK',
        device: ['12', name, 'Station 5'],
        ...expected,
      },
    ]);
  });

  it.each([
    ['Anzahl Schwerverkehr', {}],
    ['Anteil Schwerverkehr', {}],
    ['Number of available parking spaces', {}],
    ['Average speed', {}],
    ['Air temperature', {}],
    ['Number of vehicles', { phenomenonTime: '2026-06-01T08:00:00Z' }],
    ['Traffic volume', { result: 12.5 }],
  ])('of %s with %j are no counts', async (name, more) => {
    const reading = await observed(name, more);
    expect(reading).toMatchObject({ is: 'aggregate', reports: [], note: expect.stringMatching(/^[A-Z]/) });
    expect(reading.periods).toBeUndefined();
  });

  it('without a datastream are no counts (sensorthings-observations.json)', async () => {
    expect((await readPayload(sensorthings, 'sensorthings-observations.json')).periods).toBeUndefined();
  });
});

const tps = (inner: object) =>
  readBody(
    hikvision,
    JSON.stringify({ eventType: 'TPS', dateTime: '2026-06-01T10:15:00+02:00', channelID: 1, TPS: inner }),
  );

const LANES = [
  {
    laneNo: '1',
    vehicleSpeed: '48',
    lightVehicleNum: '20',
    midVehicleNum: '3',
    heavyVehicleNum: '2',
    oversizeVehicleNum: null,
    timeHeadway: '36',
    spaceHeadway: '40',
    spaceOccupyRation: '0.56',
    timeOccupyRation: '4.65',
  },
  { laneNo: '2', vehicleSpeed: '0', lightVehicleNum: '0', midVehicleNum: '0', heavyVehicleNum: '0' },
];
const RANGE = { startTime: '2026-06-01T10:00:00.000+02:00', endTime: '2026-06-01T10:15:00.000+02:00' };

describe('traffic parameter statistics of Hikvision', () => {
  it('are counts of each lane', async () => {
    const reading = await tps({ timeRange: { ...RANGE, laneNum: '8', laneParam: LANES } });
    expect(reading).toMatchObject({ is: 'aggregate', reports: [], note: '2 counts of intervals were read' });
    const at = { start: '2026-06-01T08:00:00.000Z', seconds: 900, status: 'OK', device: ['1'] };
    expect(periodsOf(reading)).toEqual([
      {
        ...at,
        lane: 1,
        volume: 25,
        byClass: { scheme: 'LIGHT_HEAVY', counts: { LIGHT: 20, HEAVY: 5 } },
        speed: { mean: 48 },
        occupancy: 4.65,
        meanHeadway: 36,
      },
      { ...at, lane: 2, volume: 0, byClass: { scheme: 'LIGHT_HEAVY', counts: { LIGHT: 0, HEAVY: 0 } } },
    ]);
  });

  it('in XML with the length of the interval', async () => {
    const body = `<EventNotificationAlert><eventType>TPS</eventType><eventState>active</eventState><channelID>2</channelID><TPS>
      <startTime>2026-06-01T10:00:00</startTime><samplePeriod>300</samplePeriod>
      <laneList><lane><laneNo>3</laneNo><laneVolume>17</laneVolume></lane></laneList></TPS></EventNotificationAlert>`;
    expect(periodsOf(await readBody(hikvision, body))).toEqual([
      { start: '2026-06-01T08:00:00.000Z', seconds: 300, status: 'OK', lane: 3, volume: 17, device: ['2'] },
    ]);
  });

  it.each([
    [{ laneParam: LANES }, /do not name the interval/],
    [{ ...RANGE, laneParam: [{ laneNo: 1, queueLen: 4 }] }, /without a count/],
  ])('%j are no counts', async (inner, note) => {
    expect(await tps(inner)).toMatchObject({ is: 'aggregate', note: expect.stringMatching(note) });
  });
});

describe('counts of Milesight', () => {
  const counts = {
    event: 'vehicle counting',
    device: 'Gate 1',
    'All-Car': 30,
    'All-Motorcycle': 2,
    'All-Non-motor': 5,
  };

  it('that name their interval are counts', async () => {
    const given = {
      ...counts,
      start_time: '2026-06-01 10:00:00',
      end_time: '2026-06-01 11:00:00',
      lane: '1',
    };
    expect(periodsOf(await readBody(milesight, JSON.stringify(given)))).toEqual([
      {
        start: '2026-06-01T08:00:00.000Z',
        seconds: 3600,
        lane: 1,
        volume: 32,
        byClass: { scheme: 'BASIC', counts: { UNCLASSIFIED: 30, MOTORCYCLE: 2, BICYCLE: 5 } },
        status: 'OK',
        device: ['Gate 1'],
      },
    ]);
  });

  it('that do not may be running totals', async () => {
    const reading = await readBody(milesight, JSON.stringify({ ...counts, time: '2026-06-01 10:00:00' }));
    expect(reading).toMatchObject({
      is: 'aggregate',
      note: expect.stringMatching(/running totals, are not read/),
    });
    expect(reading.periods).toBeUndefined();
  });
});

describe('running totals', () => {
  it('of AXIS Object Analytics are not counts of an interval', async () => {
    const reading = await readPayload(axisAoa, 'axis-aoa-mqtt-crossline.json');
    expect(reading.periods).toBeUndefined();
    expect(reading.note).toMatch(/running totals since its last reset/);
  });
});

describe('the counts of every payload', () => {
  const files = readdirSync(new URL('../messages/', import.meta.url)).filter(
    (name) => !/\.source$|^README/.test(name),
  );

  it.each(formats.map(({ name }) => name))('%s: are periods as counts.ingest takes them', async (name) => {
    const format = formats.find((each) => each.name === name);
    for (const file of files.filter((each) => each.startsWith(name))) {
      if (!format) continue;
      const { periods = [] } = await readBody(format, await devicePayload(file), {
        options: { periodSeconds: 60 },
      });
      for (const { device: _, ...period } of periods) expect(readPeriod(period)).toEqual({ period });
    }
  });
});
