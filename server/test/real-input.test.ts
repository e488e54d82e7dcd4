import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

// The traffic violations that a county's police recorded on one day, sent through the service as its devices would send
// them.

type Row = Record<string, string>;

const FILE = new URL('data/montgomery-county-traffic-violations.csv', import.meta.url);
const rows: Row[] = parse(readFileSync(FILE), { columns: true });
const KM_PER_MILE = 1.609344;
const DAY = '2016-11-23';

/** The fields of an event, derived from the description. */
const kinds: readonly { says: RegExp; eventType: string; violationType: string }[] = [
  { says: /SEAT ?BELT/, eventType: 'SEATBELT_VIOLATION', violationType: 'NO_SEATBELT' },
  { says: /EXCEEDING MAXIMUM SPEED/, eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING' },
  { says: /RED SIGNAL/, eventType: 'TRAFFIC_VIOLATION', violationType: 'RED_LIGHT' },
  { says: /STOP SIGN/, eventType: 'TRAFFIC_VIOLATION', violationType: 'STOP_SIGN' },
  { says: /LICENSE/, eventType: 'TRAFFIC_VIOLATION', violationType: 'NO_LICENCE' },
];

const column = (row: Row, name: string): string => {
  const value = row[name];
  if (value === undefined) throw new Error(`The file has no column ${name}`);
  return value;
};

const toEvent = (row: Row) => {
  const description = column(row, 'Description');
  const kind = kinds.find(({ says }) => says.test(description));
  if (!kind) throw new Error(`What is this? ${description}`);
  const [month, day, year] = column(row, 'Date Of Stop').split('/');
  const milesPerHour = /(\d+) MPH IN A POSTED/.exec(description)?.[1];
  const latitude = column(row, 'Latitude');
  return {
    eventType: kind.eventType,
    violationType: kind.violationType,
    description,
    // Local time, as recorded.
    timestamp: `${year}-${month}-${day}T${column(row, 'Time Of Stop')}`,
    vehicleType: column(row, 'VehicleType'),
    ...(milesPerHour && { vehicleSpeed: Number(milesPerHour) * KM_PER_MILE }),
    ...(latitude && {
      location: {
        latitude: Number(latitude),
        longitude: Number(column(row, 'Longitude')),
        address: column(row, 'Location'),
      },
    }),
    tags: ['Accident', 'Belts', 'Alcohol', 'Work Zone'].filter((name) => row[name] === 'Yes'),
    metadata: row,
  };
};

const keyOfDistrict = new Map<string, string>();
const sent: { row: Row; event: ReturnType<typeof toEvent>; id: string }[] = [];

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
beforeAll(async () => {
  await gantry.ok(
    'system.timezone.updateTimezoneSettings',
    { timezone: 'America/New_York' },
    { token: await gantry.tokenFor('ADMIN') },
  );
  for (const name of new Set(rows.map((row) => column(row, 'SubAgency')))) {
    const { id: locationId } = await gantry.ok(
      'locations.create',
      { name, speedLimit: Math.round(30 * KM_PER_MILE) },
      { token },
    );
    const device = { name, deviceId: name, type: 'CAMERA', locationId };
    keyOfDistrict.set(name, (await gantry.ok('sensors.create', device, { token })).apiKey);
  }
  for (const row of rows) {
    const event = toEvent(row);
    const apiKey = keyOfDistrict.get(column(row, 'SubAgency'));
    const { eventId: id } = await gantry.ok('events.ingest', { apiKey, ...event });
    sent.push({ row, event, id });
  }
});

const list = (input: object) => gantry.ok('events.getAll', input, { token });
const descriptions = async (input: object): Promise<string[]> =>
  (await list(input)).events.map(({ description }: { description: string }) => description);

describe('the traffic violations of 23 November 2016', () => {
  it('are returned with all fields, one by one', async () => {
    expect(sent).toHaveLength(6);
    for (const { row, event, id } of sent) {
      const stored = await gantry.ok('events.getById', { id }, { token });
      const { timestamp, ...rest } = event;
      expect(stored).toMatchObject({
        ...rest,
        metadata: row,
        sensorName: column(row, 'SubAgency'),
        processed: false,
        archived: false,
      });
      // Eastern Standard Time, five hours behind.
      expect(Date.parse(stored.timestamp)).toBe(Date.parse(`${timestamp}-05:00`));
    }
  });

  it('are all of one local day, though three of them were on the next one in UTC', async () => {
    const page = await list({ startDate: DAY, endDate: DAY });
    expect(page).toMatchObject({ total: 6, pageCount: 1 });
    const ids = page.events.map(({ id }: { id: string }) => id);
    expect([...ids].sort()).toEqual(sent.map(({ id }) => id).sort());
    const days = page.events.map(({ timestamp }: { timestamp: string }) => timestamp.slice(0, 10));
    expect(days).toEqual([...Array(3).fill('2016-11-24'), ...Array(3).fill('2016-11-23')]);
    expect((await list({ startDate: '2016-11-24' })).total).toBe(0);
    expect((await list({ endDate: '2016-11-22' })).total).toBe(0);
  });

  it('are found by their properties', async () => {
    expect(await descriptions({ eventType: 'SEATBELT_VIOLATION', sortOrder: 'asc' })).toEqual([
      'OPER. MOTOR VEH. WITH OPERATOR NOT RESTRAINED BY SEAT BELT',
      'PASSENGER AGE 16 OR MORE IN OUTBOARD FRONT SEAT OF MOTOR VEHICLE WITHOUT SEATBELT RESTRAINT',
    ]);
    expect(await descriptions({ violationType: 'red_light' })).toEqual([
      'DRIVER FAILURE TO STOP AT STEADY CIRCULAR RED SIGNAL',
    ]);
    expect(await descriptions({ violationType: 'STOP_SIGN' })).toEqual(['FAILURE TO STOP AT STOP SIGN']);
    expect(await descriptions({ vehicleType: '28 - other' })).toEqual([
      'DRIVING MOTOR VEHICLE ON HIGHWAY WITHOUT REQUIRED LICENSE AND AUTHORIZATION',
    ]);
    expect((await list({ vehicleType: '02 - Automobile' })).total).toBe(5);
  });

  it('have their own address, or without coordinates the name of the place of their sensor', async () => {
    expect((await list({ locationName: 'georgia ave @ urbana dr' })).total).toBe(2);
    expect(await descriptions({ locationName: '3rd district, Silver Spring' })).toEqual([
      'FAILURE TO STOP AT STOP SIGN',
    ]);
    const [{ id }] = (await list({ violationType: 'STOP_SIGN' })).events;
    expect((await gantry.ok('events.getById', { id }, { token })).location).toBeNull();
  });

  it('have the severity of the table: nine miles per hour over the limit is MEDIUM', async () => {
    const [speeding] = (await list({ violationType: 'SPEEDING' })).events;
    expect(speeding.vehicleSpeed).toBeCloseTo(62.764, 3);
    expect(speeding.severity).toBe('MEDIUM');
    const bySeverity = (await list({ sortBy: 'severity' })).events;
    expect(bySeverity.map(({ severity }: { severity: string }) => severity)).toEqual([
      'HIGH',
      ...Array(5).fill('MEDIUM'),
    ]);
  });

  it('are counted', async () => {
    expect(await gantry.ok('events.getStats', { startDate: DAY, endDate: DAY }, { token })).toEqual({
      total: 6,
      byType: [
        { eventType: 'TRAFFIC_VIOLATION', count: 4 },
        { eventType: 'SEATBELT_VIOLATION', count: 2 },
      ],
      processed: 0,
      unprocessed: 6,
      archived: 0,
      byViolationType: [
        { violationType: 'NO_SEATBELT', count: 2 },
        { violationType: 'NO_LICENCE', count: 1 },
        { violationType: 'RED_LIGHT', count: 1 },
        { violationType: 'SPEEDING', count: 1 },
        { violationType: 'STOP_SIGN', count: 1 },
      ],
    });
  });

  it('sent again with a key for each row are stored once', async () => {
    const again = (row: Row, n: number) =>
      gantry.ok('events.ingest', {
        apiKey: keyOfDistrict.get(column(row, 'SubAgency')),
        ...toEvent(row),
        idempotencyKey: `row ${n}`,
      });
    const first = await Promise.all(rows.map(again));
    expect(await Promise.all(rows.map(again))).toEqual(first);
    expect((await list({ startDate: DAY, endDate: DAY })).total).toBe(12);
  });
});
