import { PassThrough } from 'node:stream';
import { arrayBuffer } from 'node:stream/consumers';
import type { ReportFormat, ReportKind } from '@gantry/contract/reports';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { inLongSnapshot } from '../src/platform/database/transaction.ts';
import { requireRange } from '../src/platform/time.ts';
import type { ReportScope } from '../src/reports/document.ts';
import { kinds } from '../src/reports/kinds.ts';
import type { ReportRow } from '../src/reports/store.ts';
import { writeReport } from '../src/reports/write.ts';
import { sharedGantry } from './harness.ts';
import { readCsv, readPdf, readXlsx } from './report-reading.ts';

// A report of events contains the same events as the list.

const RANGE = { startDate: '2026-01-15', endDate: '2026-03-10' };
const TYPES = ['TRAFFIC_VIOLATION', 'VEHICLE_DETECTION', 'INCIDENT'];
const PLACES = ['Ring – Süd', 'RING – SÜD', 'Hafen', null];

let sensorIds: string[];

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const settings = { timezone: 'Europe/Vienna' };
  await gantry.ok('system.timezone.updateTimezoneSettings', settings, { token });
  const place = await gantry.ok('locations.create', { name: 'Brücke', speedLimit: 50 }, { token });
  sensorIds = [];
  for (const [n, more] of [{ locationId: place.id }, {}].entries()) {
    const fields = { name: `Mast ${n}`, deviceId: `mast-${n}`, type: 'CAMERA', ...more };
    const { id, apiKey } = await gantry.ok('sensors.create', fields, { token });
    sensorIds.push(id);
    const events = Array.from({ length: 150 }, (_, k) => ({
      eventType: TYPES[k % 3],
      timestamp: new Date(Date.UTC(2026, 0, 14, 22, 30) + k * 9.5 * 3_600_000).toISOString(),
      violationType: ['Speeding', 'SPEEDING', null][k % 3],
      vehicleType: ['car', 'Truck', 'CAR'][k % 3],
      licensePlateNumber: ['B-AB 12', 'B-AB 123', 'w 7', null][k % 4],
      vehicleSpeed: 40 + (k % 50),
      plateRegion: ['DE', 'US-CA', null][k % 3],
      plateConfidence: [50, 60, 97, null][k % 4],
      lane: [1, 'bus', null][k % 3],
      direction: ['NB', 90][k % 2],
      location:
        k % 2 === 0 ? { latitude: 48.2082345, longitude: -16.3738, address: PLACES[k % 4] } : undefined,
    }));
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
    const ids = results.map(({ eventId }: { eventId: string }) => eventId);
    for (const id of ids.slice(0, 40)) await gantry.ok('events.markAsProcessed', { id }, { token });
    for (const id of ids.slice(30, 60)) await gantry.ok('events.markAsArchived', { id }, { token });
  }
});

const make = async (filters: object, format: ReportFormat = 'CSV', kind: ReportKind = 'EVENTS') => {
  const { pool, settings } = gantry.app.context;
  const { from, until } = requireRange(RANGE, settings.current().timezone);
  const asked = { kind, format, filters, startsAt: new Date(from), endsAt: new Date(until) };
  const row = { ...asked, settings: settings.current() } as ReportRow;
  const to = new PassThrough();
  const file = arrayBuffer(to);
  const progress = { progress: 0, rowCount: 0 };
  const rowCount = await inLongSnapshot(pool, (db) =>
    writeReport(
      db,
      { report: row, now: Date.now(), speedUnits: 'KMH' },
      to,
      progress,
      new AbortController().signal,
    ),
  );
  return { rowCount, bytes: new Uint8Array(await file) };
};

const listed = async (filters: object): Promise<{ id: string }[]> => {
  const all: { id: string }[] = [];
  for (;;) {
    const input = { ...RANGE, ...filters, skip: all.length, take: 100, sortOrder: 'asc' };
    const { events, total } = await gantry.ok('events.getAll', input, { token });
    all.push(...events);
    if (all.length >= total) return all;
  }
};

const expectSame = async (filters: object): Promise<number> => {
  const events = await listed(filters);
  const { records } = readCsv((await make(filters)).bytes);
  expect([filters, records.map((record) => record['Event ID'])]).toEqual([
    filters,
    events.map(({ id }) => id),
  ]);
  return events.length;
};

/** The number of rows of a report that is known before they are read; null if it is not known. */
const countBefore = (filters: object, kind: ReportKind = 'EVENTS') => {
  const { db, settings } = gantry.app.context;
  const interval = requireRange(RANGE, settings.current().timezone);
  const scope: ReportScope = {
    interval,
    filters,
    settings: settings.current(),
    now: Date.now(),
    speedUnits: 'KMH',
  };
  return kinds[kind].count?.(db, scope);
};

const lookUps = async (): Promise<unknown[]> => {
  const { rows } = await gantry.pool.query(
    `SELECT details FROM activity WHERE action = 'events.lookUpPlate' ORDER BY id DESC`,
  );
  return rows.map(({ details }) => details);
};

describe('a report of events', () => {
  it.each([
    {},
    { eventType: 'INCIDENT' },
    { processed: true },
    { processed: false },
    { archived: true },
    { processed: true, archived: true },
    { violationType: 'speeding' },
    { vehicleType: 'CaR' },
    { locationName: 'ring – süd' },
    { locationName: 'brücke', vehicleType: 'truck' },
    { licensePlateNumber: 'bab12' },
    { licensePlateNumber: 'b-ab*' },
    { licensePlateNumber: '*7', archived: false },
  ])('has the events that the list has: %j', async (filters) => {
    expect(await expectSame(filters)).toBeGreaterThan(0);
  });

  it('has the events of one sensor', async () => {
    expect(await expectSame({ sensorId: sensorIds[1]?.toUpperCase() })).toBeGreaterThan(0);
    expect(await expectSame({ sensorId: 'x' })).toBe(0);
    expect(await expectSame({ locationName: 'nowhere' })).toBe(0);
  });

  it('contains the same events as the list, for any filter', async () => {
    const filter = fc.record(
      {
        eventType: fc.constantFrom(...TYPES),
        sensorId: fc.nat({ max: 1 }).map((n) => sensorIds[n]),
        processed: fc.boolean(),
        archived: fc.boolean(),
        violationType: fc.constantFrom('SPEEDING', 'other'),
        vehicleType: fc.constantFrom('car', 'TRUCK'),
        licensePlateNumber: fc.constantFrom('b*', 'W7', '*12*'),
        locationName: fc.constantFrom('HAFEN', 'Ring – Süd', 'Brücke'),
        plateRegion: fc.constantFrom('DE', 'US'),
        minConfidence: fc.constantFrom(0, 60),
        lane: fc.constantFrom(1, 'bus'),
        direction: fc.constantFrom('NB', 90),
        severities: fc.constantFrom(['LOW', 'HIGH'], ['MEDIUM']),
        minSpeed: fc.constantFrom(50, 60.5),
        maxSpeed: fc.constantFrom(70),
        minExcess: fc.constantFrom(0, 15),
        hours: fc.constantFrom([0, 1, 2, 3, 22, 23], [7, 8, 9, 10, 11, 12]),
        weekdays: fc.constantFrom([0, 6], [1, 2, 3, 4]),
      },
      { requiredKeys: [] },
    );
    for (const filters of fc.sample(filter, { numRuns: 25, seed: 14 })) await expectSame(filters);
  });

  it.each([
    {},
    { eventType: 'INCIDENT', processed: false },
    { archived: true },
    { violationType: 'speeding', vehicleType: 'CaR' },
    { severities: ['LOW', 'CRITICAL'] },
  ])('tells the number of its rows before they are read: %j', async (filters) => {
    expect(await countBefore(filters)).toBe((await make(filters)).rowCount);
  });

  it('does not tell it where a filter needs the events', async () => {
    expect(await countBefore({ licensePlateNumber: 'b*' })).toBeNull();
    for (const filter of [
      { plateRegion: 'DE' },
      { minConfidence: 1 },
      { lane: 1 },
      { minExcess: 1 },
      { hours: [1] },
    ])
      expect(await countBefore(filter)).toBeNull();
    expect(await countBefore({ sensorId: sensorIds[0] }, 'VIOLATIONS')).toBeNull();
    const { rowCount } = await make({}, 'CSV', 'VIOLATIONS');
    expect(rowCount).toBeGreaterThan(0);
    expect(await countBefore({}, 'VIOLATIONS')).toBe(rowCount);
  });

  it('of violations has those that the list has with the filters of reads', async () => {
    const filters = { hours: [6, 7, 8, 9, 10, 11, 12], minSpeed: 55, minExcess: 10 };
    const violations = (await listed(filters)).filter(
      (event) => 'violationType' in event && event.violationType !== null,
    );
    const { records } = readCsv((await make(filters, 'CSV', 'VIOLATIONS')).bytes);
    expect(violations.length).toBeGreaterThan(0);
    expect(records.map((record) => record['Event ID'])).toEqual(violations.map(({ id }) => id));
  });

  it('has the columns of a report of violations, and where it happened', async () => {
    const { records, comments } = readCsv((await make({ eventType: 'INCIDENT', processed: true })).bytes);
    const [first] = records;
    expect(Object.keys(first ?? {})).toEqual([
      'Time',
      'Event type',
      'Violation',
      'Plate',
      'Vehicle type',
      'Speed (km/h)',
      'Limit (km/h)',
      'Severity',
      'Sensor',
      'Location',
      'Processed',
      'Archived',
      'Description',
      'Received',
      'Sensor ID',
      'Event ID',
      'Latitude',
      'Longitude',
      'Plate region',
      'Plate confidence (%)',
      'Lane',
      'Direction',
    ]);
    expect(first).toMatchObject({ Latitude: '48.2082345', Longitude: '-16.3738', Processed: 'yes' });
    expect(comments).toContain('Events');
    expect(comments).toContain('Filters: eventType = INCIDENT; processed = true');
  });

  it('can be generated as XLSX and PDF', async () => {
    const filters = { vehicleType: 'truck' };
    const { rowCount, bytes } = await make(filters, 'XLSX');
    expect(rowCount).toBe((await listed(filters)).length);
    expect(JSON.stringify(readXlsx(bytes))).toContain('48.2082345');
    const text = JSON.stringify(await readPdf((await make(filters, 'PDF')).bytes));
    expect(text).toContain('Events by type');
  });

  it('refuses filters that the list does not have', async () => {
    for (const filters of [{ severity: 'HIGH' }, { locationId: sensorIds[0] }, { processed: 'yes' }]) {
      const input = { kind: 'EVENTS', format: 'CSV', ...RANGE, filters };
      expect((await gantry.refusal('reports.generate', input, { token })).status).toBe(400);
    }
    const input = { kind: 'VIOLATIONS', format: 'CSV', ...RANGE, filters: { processed: true } };
    expect((await gantry.refusal('reports.generate', input, { token })).status).toBe(400);
  });

  it.each(['\u0000', '\ud800'])('refuses the id %j in a filter, which cannot be stored', async (id) => {
    for (const filters of [{ sensorId: id }, { locationId: id }]) {
      const report = { kind: 'VIOLATIONS', format: 'CSV', filters };
      for (const [path, input] of [
        ['reports.generate', { ...report, ...RANGE }],
        ['reports.createSchedule', { ...report, every: 'DAILY', hour: 6 }],
      ] as const) {
        expect([path, (await gantry.refusal(path, input, { token })).status]).toEqual([path, 400]);
      }
    }
  });

  it('records the look-up of a plate, with the reason', async () => {
    const filters = { licensePlateNumber: 'B-AB 12', processed: false };
    const asked = { kind: 'EVENTS', format: 'CSV', ...RANGE, filters, reason: ' Case 14 ' };
    const made = await gantry.ok('reports.generate', asked, { token });
    expect(made.filters).toEqual(filters);
    expect((await lookUps())[0]).toEqual({ plate: 'B-AB 12', reason: 'Case 14' });
    const before = (await lookUps()).length;
    await gantry.ok('reports.generate', { ...asked, filters: {} }, { token });
    expect(await lookUps()).toHaveLength(before);
  });

  it('is generated by a schedule, whose plate is recorded when it is set', async () => {
    const filters = { licensePlateNumber: 'w7', archived: false };
    const input = { kind: 'EVENTS', format: 'CSV', filters, every: 'DAILY', hour: 6 };
    const { id, filters: kept } = await gantry.ok('reports.createSchedule', input, { token });
    expect(kept).toEqual(filters);
    expect((await lookUps())[0]).toEqual({ plate: 'w7' });
    await gantry.ok('reports.updateSchedule', { id, filters: { licensePlateNumber: 'w8' } }, { token });
    expect((await lookUps())[0]).toEqual({ plate: 'w8' });
    expect(
      (await gantry.refusal('reports.updateSchedule', { id, filters: { severity: 'HIGH' } }, { token }))
        .status,
    ).toBe(400);
  });
});
