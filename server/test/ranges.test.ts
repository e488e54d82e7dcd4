import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveInterval } from '../src/platform/time.ts';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

describe('a range that ends before it starts', () => {
  const backwards = { startDate: '2026-03-02', endDate: '2026-03-01' };
  const sensorId = randomUUID();
  it.each([
    ['events.getAll', backwards],
    ['events.getAll', { startDate: '2026-03-01T12:00:00+02:00', endDate: '2026-03-01T09:59:00Z' }],
    ['events.getStats', backwards],
    ['incidents.getAll', backwards],
    ['incidents.getStats', backwards],
    ['watchlist.getAlerts', backwards],
    ['notices.getAll', backwards],
    ['hits.getAll', backwards],
    ['hits.getStats', { by: 'list', ...backwards }],
    ['alarms.getAll', backwards],
    ['log.getAll', backwards],
    ['works.getAll', backwards],
    ['cases.getAll', backwards],
    ['cases.getStats', backwards],
    ['reports.getAnalytics', backwards],
    ['reports.getRepeatPlates', backwards],
    ['reports.generate', { kind: 'TRAFFIC', format: 'CSV', ...backwards }],
    ['traffic.getFlow', { sensorId, ...backwards }],
    ['traffic.getSpeedDistribution', { sensorId, ...backwards }],
    ['traffic.getHourOfWeek', { sensorId, ...backwards }],
    ['traffic.getCounts', { sensorId, ...backwards }],
    ['traffic.getPeakHours', { sensorId, ...backwards }],
    ['traffic.getTurningMovements', { sensorId, ...backwards }],
    ['traffic.getDailyVolumes', { sensorId, ...backwards }],
    ['traffic.getSpeedStudy', { sensorId, ...backwards }],
    ['traffic.getHeadways', { sensorId, ...backwards }],
    ['traffic.getDensity', { sensorId, ...backwards }],
    [
      'traffic.compareStudies',
      {
        before: { sensorId, startDate: '2026-03-01', endDate: '2026-03-01' },
        after: { sensorId, ...backwards },
      },
    ],
    ['traffic.getTopLocations', backwards],
  ])('is refused by %s', async (procedure, input) => {
    const { status, body } = await gantry.call(procedure, input, { token });
    expect(status).toBe(400);
    expect(body.error.json.message).toContain('The end is before the start');
    expect(body.error.json.data.issues[0].path).toBe('endDate');
  });

  it('is not one of a single moment', async () => {
    const moment = '2026-03-01T10:00:00.000Z';
    const { status } = await gantry.call('events.getAll', { startDate: moment, endDate: moment }, { token });
    expect(status).toBe(200);
  });
});

describe('a range from the first to the last date that can be written', () => {
  const lists = [
    'events.getAll',
    'events.getStats',
    'incidents.getAll',
    'incidents.getStats',
    'watchlist.getAlerts',
    'notices.getAll',
    'hits.getAll',
    'alarms.getAll',
    'users.getActivityLog',
  ];
  const zoneOf = (timezone: string) =>
    gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, { token });
  beforeAll(async () => {
    await gantry.ingest(await gantry.registerSensor());
    const incident = { title: 'Tree on the road', type: 'OBSTRUCTION', severity: 'LOW' };
    await gantry.ok('incidents.create', incident, { token });
  });
  afterAll(() => zoneOf('UTC'));

  it.each(['America/New_York', 'Asia/Tokyo'])('is everything in the zone %s', async (zone) => {
    await zoneOf(zone);
    for (const startDate of ['0000-01-01', '0001-01-01', '0001-01-01T00:00:00'])
      for (const endDate of ['9999-12-31', '9999-12-31T23:59:59'])
        for (const list of lists) {
          const { total } = await gantry.ok(list, { startDate, endDate }, { token });
          expect(total).toBe((await gantry.ok(list, {}, { token })).total);
        }
  });

  it('can be the last change that somebody has seen', async () => {
    const entry = { pattern: 'W 123 AB', reason: 'Stolen', priority: 'HIGH' };
    const { id } = await gantry.ok('watchlist.create', entry, { token });
    const since = (expectedUpdatedAt: string) =>
      gantry.call('watchlist.update', { id, reason: 'Found', expectedUpdatedAt }, { token });
    expect((await since('0001-01-01T00:00:00+01:00')).status).toBe(409);
    expect((await since('9999-12-31T23:59:59-05:00')).status).toBe(200);
  });
});

describe('a range of figures', () => {
  const sensorId = randomUUID();
  const figures: [string, object][] = [
    ['reports.getAnalytics', {}],
    ['reports.getRepeatPlates', {}],
    ['reports.generate', { kind: 'TRAFFIC', format: 'CSV' }],
    ['traffic.getFlow', { sensorId, interval: 'day' }],
    ['traffic.getSpeedDistribution', { sensorId }],
    ['traffic.getHourOfWeek', { sensorId }],
    ['traffic.getCounts', { sensorId, interval: 'day' }],
    ['traffic.getPeakHours', { sensorId }],
    ['traffic.getTurningMovements', { sensorId }],
    ['traffic.getDailyVolumes', { sensorId }],
    ['traffic.getSpeedStudy', { sensorId }],
    ['traffic.getHeadways', { sensorId }],
    ['traffic.getTopLocations', {}],
  ];
  it.each(
    figures.flatMap(([procedure, input]) =>
      [
        ['1969-12-31', '1970-01-02', 'startDate', 'Nothing is older than 1970'],
        ['8999-01-01', '9000-01-01', 'endDate', 'before the year 9000'],
        ['2020-01-01', '2025-01-02', 'endDate', 'at most 5 years'],
      ].map(([startDate, endDate, path, sentence]) => ({
        procedure,
        input: { ...input, startDate, endDate },
        path,
        sentence,
      })),
    ),
  )(
    '$input.startDate to $input.endDate is refused by $procedure',
    async ({ procedure, input, path, sentence }) => {
      const { status, body } = await gantry.call(procedure, input, { token });
      expect(status).toBe(400);
      expect(body.error.json.message).toContain(sentence);
      expect(body.error.json.data.issues).toMatchObject([{ path }]);
    },
  );
});

describe('an end of a range', () => {
  const from = '2026-03-01T00:00:00.000Z';
  it.each([
    ['2026-03-01', '2026-03-02T00:00:00.000Z'],
    ['2026-03-01T10:15', '2026-03-01T10:16:00.000Z'],
    ['2026-03-01 10:15Z', '2026-03-01T10:16:00.000Z'],
    ['2026-03-01T10:15+02:00', '2026-03-01T08:16:00.000Z'],
    ['2026-03-01t10:15+0200', '2026-03-01T08:16:00.000Z'],
    ['2026-03-01T10:15:30', '2026-03-01T10:15:31.000Z'],
    ['2026-03-01T10:15:30-01:30', '2026-03-01T11:45:31.000Z'],
    ['2026-03-01T10:15:30.250Z', '2026-03-01T10:15:30.251Z'],
    ['2026-03-01T10:15:30,250Z', '2026-03-01T10:15:30.251Z'],
  ])('%s includes all of what it names', (endDate, until) => {
    expect(resolveInterval({ startDate: from, endDate }, 'UTC')).toEqual({
      from: Date.parse(from),
      until: Date.parse(until),
    });
  });

  it('includes an event of that minute, over HTTP', async () => {
    const apiKey = await gantry.registerSensor();
    await gantry.ok('events.ingest', {
      apiKey,
      eventType: 'VEHICLE_DETECTION',
      timestamp: '2026-03-01T10:15:42.700Z',
    });
    const totalUntil = async (endDate: string): Promise<number> =>
      (await gantry.ok('events.getAll', { startDate: '2026-03-01', endDate }, { token })).total;
    expect(await totalUntil('2026-03-01T10:15')).toBe(1);
    expect(await totalUntil('2026-03-01T10:15:42')).toBe(1);
    expect(await totalUntil('2026-03-01T10:15:41')).toBe(0);
    expect(await totalUntil('2026-03-01T10:14')).toBe(0);
  });
});
