import { writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { arrayBuffer } from 'node:stream/consumers';
import { DAY_MS } from '@gantry/contract/durations';
import { type ReportFormat, type ReportKind, reportFormat, reportKind } from '@gantry/contract/reports';
import { beforeAll, describe, expect, it } from 'vitest';
import { inLongSnapshot } from '../src/platform/database/transaction.ts';
import { requireRange } from '../src/platform/time.ts';
import type { ReportRow } from '../src/reports/store.ts';
import { writeReport } from '../src/reports/write.ts';
import { eventually, sharedGantry } from './harness.ts';
import { readCsv, readPdf, readXlsx } from './report-reading.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { isLong } from './test-length.ts';

let apiKey: string;
let sensorId: string;
let locationId: string;

/** The day on which clocks in Vienna go forward. */
const DAY = '2026-03-29';
const EMPTY = { startDate: '2024-02-01', endDate: '2024-02-29' };

/** Violations of that day, with values that are difficult for spreadsheets and encodings. */
const VIOLATIONS = [
  { timestamp: '2026-03-29T00:30:00.000Z', licensePlateNumber: 'ŽD 123-ÄÖ', vehicleSpeed: 71.5 },
  {
    timestamp: '2026-03-29T01:30:00.000Z',
    licensePlateNumber: '=HYPERLINK("http://x","y")',
    description: '-1+1',
  },
  {
    timestamp: '2026-03-29T10:00:00.000Z',
    licensePlateNumber: 'Ω-7,"8"',
    description: '+49 €\nsecond <line>',
  },
];

// The program that writes reports is built before all tests (database-server.ts).
const gantry = await sharedGantry({ overrides: { timings: { writeContactsMs: 100 } } });
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const settings = { timezone: 'Europe/Vienna', dateFormat: 'DD.MM.YYYY' };
  await gantry.ok('system.timezone.updateTimezoneSettings', settings, { token });
  const place = await gantry.ok('locations.create', { name: 'Ring – Süd', speedLimit: 50 }, { token });
  locationId = place.id;
  const fields = { name: '@Mast 7', deviceId: 'mast-7', type: 'CAMERA', locationId };
  const sensor = await gantry.ok('sensors.create', fields, { token });
  sensorId = sensor.id;
  apiKey = sensor.apiKey;
  const events = [
    ...VIOLATIONS.map((event) => ({ eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING', ...event })),
    { eventType: 'VEHICLE_DETECTION', timestamp: '2026-03-29T11:00:00.000Z', vehicleSpeed: 50 },
    { eventType: 'TRAFFIC_VIOLATION', timestamp: '2026-03-29T22:30:00.000Z' },
  ];
  await gantry.ok('events.ingestBatch', { apiKey, events });
  await gantry.ok(
    'incidents.create',
    { title: 'Ölspur', type: 'OTHER', severity: 'HIGH', locationId },
    { token },
  );
});

const finished = (id: string) =>
  eventually(
    () => gantry.ok('reports.getById', { id }, { token }),
    ({ status }) => !['QUEUED', 'RUNNING'].includes(status),
    60_000,
  );

const generate = async (input: object) => {
  const { id } = await gantry.ok('reports.generate', withDefaults(input), { token });
  const report = await finished(id);
  expect(report).toMatchObject({ status: 'DONE', error: null, progress: 1 });
  return report;
};

/** The report of the violations of that day in each format, with its file, made once for all tests that use it. */
const violationsIn = new Map<ReportFormat, ReturnType<typeof makeViolations>>();
const makeViolations = async (format: ReportFormat) => {
  const report = await generate({ format });
  return { report, bytes: await fetchFile(report) };
};
const violations = (format: ReportFormat) => {
  const made = violationsIn.get(format) ?? makeViolations(format);
  violationsIn.set(format, made);
  return made;
};

const fetchFile = async ({ url, size }: { url: string; size: number }): Promise<Uint8Array> => {
  const response = await fetch(`${gantry.url}${url}`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(bytes.length).toBe(size);
  return bytes;
};

interface Asked {
  readonly kind: ReportKind;
  readonly format: ReportFormat;
  readonly startDate: string;
  readonly endDate: string;
  readonly filters?: object;
}
/** By default, of the violations of that day. */
const withDefaults = (asked: Partial<Asked>): Asked => ({
  kind: 'VIOLATIONS',
  format: 'CSV',
  startDate: DAY,
  endDate: DAY,
  ...asked,
});

/**
 * Generates a report. In the gate, it is written in this process, because the thread, the queue and the HTTP answer,
 * which other tests cover for each kind and format, take longer than the report. In the long run, it passes through all
 * of them.
 */
const make = async (asked: Partial<Asked>): Promise<{ rowCount: number; bytes: Uint8Array }> => {
  if (!isLong) return makeHere(withDefaults(asked));
  const report = await generate(asked);
  return { rowCount: report.rowCount, bytes: await fetchFile(report) };
};

const readMade = async (asked: Partial<Asked>) => readCsv((await make(asked)).bytes);

const makeHere = async ({
  kind,
  format,
  filters = {},
  ...range
}: Asked): Promise<{ rowCount: number; bytes: Uint8Array }> => {
  const { pool, settings } = gantry.app.context;
  const { from, until } = requireRange(range, settings.current().timezone);
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
  expect(progress.rowCount).toBe(rowCount);
  return { rowCount, bytes: new Uint8Array(await file) };
};

describe('a report of violations', () => {
  it('becomes a CSV file with every violation of the local day, in local time', async () => {
    const { report, bytes } = await violations('CSV');
    expect(report).toMatchObject({
      rowCount: 3,
      timezone: 'Europe/Vienna',
      fileName: 'violations_2026-03-29.csv',
      url: `/reports/${report.id}/file`,
      createdBy: { name: expect.any(String) },
      range: { startDate: '2026-03-28T23:00:00.000Z', endDate: '2026-03-29T21:59:59.999Z' },
    });
    const { records, comments } = readCsv(bytes);
    expect(records.map((record) => record.Time)).toEqual([
      '2026-03-29T01:30:00.000+01:00',
      '2026-03-29T03:30:00.000+02:00',
      '2026-03-29T12:00:00.000+02:00',
    ]);
    expect(records[0]).toMatchObject({
      'Speed (km/h)': '71.5',
      'Limit (km/h)': '50',
      Location: 'Ring – Süd',
    });
    expect(comments).toEqual([
      'Violations',
      'Range: 29.03.2026 00:00:00 to 29.03.2026 23:59:59',
      'Time zone: Europe/Vienna',
      'Filters: none',
      expect.stringMatching(/^Generated: /),
      'Rows: 3',
    ]);
  });

  it('is written for Excel in countries with a decimal comma, if asked', async () => {
    const events = ['007', '12E34', 'W 7', '=1'].map((licensePlateNumber, n) => ({
      eventType: 'TRAFFIC_VIOLATION',
      timestamp: `2026-04-02T10:00:0${n}.000Z`,
      violationType: 'A,B',
      licensePlateNumber,
    }));
    await gantry.ok('events.ingestBatch', { apiKey, events });
    const day = { startDate: '2026-04-02', endDate: '2026-04-02' };
    const csv = { separator: ';', hasMark: false, keepsTexts: true };
    const filters = { violationType: 'A,B' };
    const bytes = await fetchFile(await generate({ ...day, filters, csv }));
    const [head = '', ...lines] = new TextDecoder().decode(bytes).split('\r\n');
    expect(head).toMatch(/^Time;/);
    const column = head.split(';').indexOf('Plate');
    expect(lines.slice(0, 4).map((line) => line.split(';')[column])).toEqual([
      '"=""007"""',
      '"=""12E34"""',
      'W 7',
      "'=1",
    ]);
    const ends = ';'.repeat(head.split(';').length - 1);
    expect(lines).toContain(`# Filters: violationType = A | B${ends}`);
  });

  it('has no cell in CSV that a spreadsheet treats as a formula', async () => {
    const { records } = readCsv((await violations('CSV')).bytes);
    expect(records.map((record) => record.Plate)).toEqual([
      'ŽD 123-ÄÖ',
      `'=HYPERLINK("http://x","y")`,
      'Ω-7,"8"',
    ]);
    expect(records.map((record) => record.Description)).toEqual(['', "'-1+1", "'+49 €\nsecond <line>"]);
    expect(records[0]?.Sensor).toBe("'@Mast 7");
  });

  it('becomes a workbook in which texts are texts, numbers numbers and times local times', async () => {
    const [about = [], data = []] = readXlsx(await fetchFile(await generate({ format: 'XLSX' })));
    const facts = Object.fromEntries(about.map(({ A, B }) => [A?.value ?? '', B?.value]));
    expect(facts).toMatchObject({
      Report: 'Violations',
      'Time zone': 'Europe/Vienna',
      Filters: 'none',
      Rows: '3',
    });
    expect(data).toHaveLength(4);
    expect(data[1]).toMatchObject({
      A: { type: 'n', value: String(25_569 + Date.UTC(2026, 2, 29, 1, 30) / 86_400_000) },
      D: { type: 's', value: 'ŽD 123-ÄÖ' },
      F: { type: 'n', value: '71.5' },
      I: { type: 's', value: '@Mast 7' },
    });
    expect(data[2]?.D).toEqual({ type: 's', value: '=HYPERLINK("http://x","y")' });
    expect(data[3]?.M).toEqual({ type: 's', value: '+49 €\nsecond <line>' });
  });

  it('becomes pages with its facts, the table and page numbers', async () => {
    const pages = await readPdf((await violations('PDF')).bytes);
    const text = pages.join(' ');
    expect(text).toContain('Europe/Vienna');
    expect(text).toContain('ŽD 123-ÄÖ');
    expect(text).toContain('Ω-7,"8"');
    expect(text).toContain('Ring – Süd');
    expect(text).toContain('29.03.2026 12:00:00');
    expect(text).toContain('Rows: 3');
    expect(text).toContain('Violations per day');
    pages.forEach((page, at) => {
      expect(page).toContain(`Page ${at + 1} of ${pages.length}`);
    });
  });

  it('shows letters of every script in PDF, and embeds a font for them only if necessary', async () => {
    const sensor = { name: '北京 东路 Mast', deviceId: 'mast-8', type: 'CAMERA', locationId: null };
    const { id, apiKey } = await gantry.ok('sensors.create', sensor, { token });
    const events = ['京A·88888', '12가 3456', 'あ 品川 500'].map((licensePlateNumber) => ({
      eventType: 'TRAFFIC_VIOLATION',
      licensePlateNumber,
      timestamp: '2026-05-02T10:00:00.000Z',
    }));
    await gantry.ok('events.ingestBatch', { apiKey, events });
    const may = { startDate: '2026-05-02', endDate: '2026-05-02' };
    const report = await generate({ format: 'PDF', ...may });
    const bytes = await fetchFile(report);
    if (process.env.KEEP_REPORTS) await writeFile(`${process.env.KEEP_REPORTS}/scripts.pdf`, bytes);
    const text = (await readPdf(bytes)).join('').replaceAll(' ', '');
    for (const plate of ['京A·88888', '12가3456', 'あ品川500']) expect(text).toContain(plate);
    expect(text).toContain('北京东路Mast');
    const hasUnifont = (file: Uint8Array) => Buffer.from(file).includes('Unifont');
    expect(hasUnifont(bytes)).toBe(true);
    expect(hasUnifont((await violations('PDF')).bytes)).toBe(false);
    await gantry.ok('sensors.delete', { id }, { token });
  });

  it('contains what matches its filters, and names them', async () => {
    const filters = { licensePlateNumber: 'žd123*', sensorId, locationId };
    const report = await generate({ filters });
    expect(report.filters).toEqual(filters);
    const { records, comments } = readCsv(await fetchFile(report));
    expect(records.map((record) => record.Plate)).toEqual(['ŽD 123-ÄÖ']);
    expect(comments).toContain(
      `Filters: sensorId = @Mast 7 (${sensorId}); locationId = Ring – Süd (${locationId}); licensePlateNumber = žd123*`,
    );
    expect((await make({ filters: { severity: 'CRITICAL' } })).rowCount).toBe(0);
    expect((await make({ filters: { sensorId: 'no such id' } })).rowCount).toBe(0);
  });

  it('has the limits of a location that was deleted since', async () => {
    const place = await gantry.ok('locations.create', { name: 'Tor', speedLimit: 30 }, { token });
    const sensor = { name: 'Mast 11', deviceId: 'mast-11', type: 'RADAR', locationId: place.id };
    const { id, apiKey } = await gantry.ok('sensors.create', sensor, { token });
    const event = { eventType: 'TRAFFIC_VIOLATION', timestamp: '2026-05-03T10:00:00.000Z' };
    await gantry.ok('events.ingest', { apiKey, ...event }, { token });
    const read = async () => (await readMade({ startDate: '2026-05-03', endDate: '2026-05-03' })).records;
    const before = await read();
    expect(before).toMatchObject([{ Location: 'Tor', 'Limit (km/h)': '30' }]);
    await gantry.ok('sensors.delete', { id }, { token });
    await gantry.ok('locations.delete', { id: place.id }, { token });
    expect(await read()).toEqual(before);
  });
});

describe.each(reportKind.options)('a report of the kind %s', (kind) => {
  it.each(reportFormat.options)('states in %s that an empty range contains nothing', async (format) => {
    // Nobody can ask for a chronology without its incident.
    const write = kind === 'INCIDENT_CHRONOLOGY' ? makeHere : make;
    const { rowCount, bytes } = await write({ kind, format, ...EMPTY });
    const texts = {
      CSV: () => readCsv(bytes).comments.join(' '),
      XLSX: () =>
        readXlsx(bytes)
          .flat()
          .flatMap(Object.values)
          .map(({ value }) => value)
          .join(' '),
      PDF: async () => (await readPdf(bytes)).join(' '),
    };
    const text = await texts[format]();
    expect(text).toContain('Europe/Vienna');
    // A day without events has a row, which states that.
    if (kind === 'DAILY_SUMMARY') expect(rowCount).toBe(29);
    else expect([rowCount, text]).toEqual([0, expect.stringContaining('This range contains no data.')]);
  });

  it.each(reportFormat.options)('has the same rows in %s', async (format) => {
    const { incidents } = await gantry.ok('incidents.getAll', {}, { token });
    const filters = kind === 'INCIDENT_CHRONOLOGY' ? { incidentId: incidents[0].id } : {};
    // Incidents and faults are of the time of the test.
    const endDate = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
    const { rowCount, bytes } = await make({ kind, format, startDate: DAY, endDate, filters });
    expect(rowCount).toBeGreaterThan(0);
    if (process.env.KEEP_REPORTS)
      await writeFile(`${process.env.KEEP_REPORTS}/${kind.toLowerCase()}.${format.toLowerCase()}`, bytes);
    if (format === 'CSV') expect(readCsv(bytes).records).toHaveLength(rowCount);
    if (format === 'XLSX') expect(readXlsx(bytes)[1]).toHaveLength(rowCount + 1);
    if (format === 'PDF') expect((await readPdf(bytes)).join(' ')).toContain(`Rows: ${rowCount}`);
  });
});

describe('the figures', () => {
  it('of a day are those of its events and incidents', async () => {
    const { records } = await readMade({ kind: 'DAILY_SUMMARY', endDate: '2026-03-30' });
    expect(records).toMatchObject([
      {
        Day: '2026-03-29',
        Events: '4',
        'All violations': '3',
        'Vehicle detection': '1',
        'Busiest place': 'Ring – Süd',
      },
      {
        Day: '2026-03-30',
        Events: '1',
        'All violations': '1',
        'Most frequent violation': 'TRAFFIC_VIOLATION',
      },
    ]);
  });

  it('of incidents include the times until they were acted upon', async () => {
    const { incidents } = await gantry.ok('incidents.getAll', {}, { token });
    const [{ id }] = incidents;
    await gantry.ok('incidents.acknowledge', { id }, { token });
    await gantry.pool.query(`UPDATE incidents SET opened_at = acknowledged_at - interval '90 seconds'`);
    const today = { startDate: '2026-01-01', endDate: '2030-12-31' };
    const { records } = await readMade({ kind: 'INCIDENTS', ...today });
    expect(records).toMatchObject([
      { Title: 'Ölspur', 'Time to acknowledge (s)': '90', 'Time to resolve (s)': '', Location: 'Ring – Süd' },
    ]);
  });

  it('of incidents name a deleted sensor and its deleted location as they were called last', async () => {
    const place = await gantry.ok('locations.create', { name: 'Schleuse' }, { token });
    const device = { name: 'Mast 9', deviceId: 'mast-9', type: 'CAMERA', locationId: place.id };
    const { id, apiKey } = await gantry.ok('sensors.create', device, { token });
    await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    await gantry.ok('locations.update', { id: place.id, name: 'Hafenschleuse' }, { token });
    await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    const incident = { title: 'Schranke offen', type: 'OTHER', severity: 'LOW', sensorId: id };
    await gantry.ok('incidents.create', { ...incident, locationId: place.id }, { token });
    await rollUpAllTraffic(gantry, 100);
    await gantry.ok('sensors.delete', { id }, { token });
    await gantry.ok('locations.delete', { id: place.id }, { token });
    const filters = { sensorId: id.toUpperCase() };
    const asked = { kind: 'INCIDENTS', startDate: '2026-01-01', endDate: '2030-12-31', filters } as const;
    const { records, comments } = await readMade(asked);
    expect(records).toMatchObject([{ Title: 'Schranke offen', Sensor: 'Mast 9', Location: 'Hafenschleuse' }]);
    expect(comments).toContain(`Filters: sensorId = Mast 9 (${filters.sensorId})`);
  });

  it('of sensors distinguish maintenance from unavailability', async () => {
    await gantry.pool.query(`UPDATE sensors SET created_at = '2026-03-01T00:00:00Z', status = 'ONLINE'`);
    await gantry.pool.query('DELETE FROM sensor_status_history');
    const change = (from: string | null, to: string, at: string, reason: string) =>
      gantry.pool.query(
        `INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason) VALUES ($1, $2, $3, $4, $5)`,
        [sensorId, from, to, at, reason],
      );
    // In local time, this day has 23 hours: it begins at 23:00 UTC, and from 3:00 on, it is 2 hours ahead of UTC.
    await change(null, 'ONLINE', '2026-03-20T00:00:00Z', 'heartbeat');
    await change('ONLINE', 'OFFLINE', '2026-03-29T02:00:00Z', 'no heartbeat for 90 seconds');
    await change('OFFLINE', 'ONLINE', '2026-03-29T04:00:00Z', 'heartbeat');
    await change('ONLINE', 'MAINTENANCE', '2026-03-29T10:00:00Z', 'set by hand');
    await change('MAINTENANCE', 'ERROR', '2026-03-29T13:00:00Z', 'lens');
    await change('ERROR', 'ONLINE', '2026-03-29T14:00:00Z', 'heartbeat');
    const { records } = await readMade({ kind: 'SENSOR_HEALTH' });
    expect(records).toMatchObject([
      {
        Entry: 'AVAILABILITY',
        'Duration (s)': String(23 * 3600),
        Availability: String(17 / 20),
        'Silent (s)': '7200',
        'Outage (s)': '3600',
        'Maintenance (s)': '10800',
        'Silent spells': '1',
        Outages: '1',
      },
      {
        Entry: 'SILENT',
        From: '2026-03-29T04:00:00.000+02:00',
        'Duration (s)': '7200',
        Reason: 'no heartbeat for 90 seconds',
      },
      { Entry: 'MAINTENANCE', 'Duration (s)': '10800' },
      { Entry: 'OUTAGE', Until: '2026-03-29T16:00:00.000+02:00', Reason: 'lens' },
    ]);
    const { records: days } = await readMade({ kind: 'DAILY_SUMMARY' });
    expect(days).toMatchObject([{ Sensors: '1', Availability: String(17 / 20) }]);
  });

  it('of a day include sensors that were deleted since', async () => {
    const device = { name: 'Mast 10', deviceId: 'mast-10', type: 'CAMERA' };
    const { id } = await gantry.ok('sensors.create', device, { token });
    await gantry.pool.query(
      `UPDATE sensors SET created_at = '2026-03-28T08:00:00Z', status = 'ERROR', status_since = '2026-03-28T20:00:00Z'
       WHERE id = $1`,
      [id],
    );
    await gantry.pool.query('DELETE FROM sensor_status_history WHERE sensor_id = $1', [id]);
    await gantry.pool.query(
      `INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason) VALUES
         ($1, NULL, 'OFFLINE', '2026-03-28T08:00:00Z', 'registered'),
         ($1, 'OFFLINE', 'ONLINE', '2026-03-28T08:10:00Z', 'heartbeat'),
         ($1, 'ONLINE', 'ERROR', '2026-03-28T20:00:00Z', 'lens')`,
      [id],
    );
    const range = { startDate: '2026-03-27', endDate: '2026-03-30' };
    const read = async () =>
      (await readMade({ kind: 'DAILY_SUMMARY', ...range })).records.map(
        (day) => [day.Sensors, day.Availability] as const,
      );
    const before = await read();
    expect(before.map(([sensors]) => sensors)).toEqual(['1', '2', '2', '2']);
    await gantry.ok('sensors.delete', { id }, { token });
    expect(await read()).toEqual(before);
    await gantry.pool.query(
      `UPDATE sensor_status_history SET at = '2026-03-29T12:00:00Z' WHERE sensor_id = $1 AND reason = 'deleted'`,
      [id],
    );
    expect((await read()).map(([sensors]) => sensors)).toEqual(['1', '2', '2', '1']);
    await gantry.pool.query('DELETE FROM sensor_status_history WHERE sensor_id = $1', [id]);
  });

  it('of traffic are those of each place and hour, of which this day has 23', async () => {
    const read = async () => {
      const { records } = await readMade({ kind: 'TRAFFIC' });
      expect(records).toHaveLength(23);
      return records
        .filter((record) => Number(record.Vehicles) > 0)
        .map((record) => [record.From, record.Place, record.Vehicles, record['Mean speed (km/h)']]);
    };
    // The sensor was in MAINTENANCE at that time, in the history above.
    expect(await read()).toEqual([]);
    const decision = { sensorId, startDate: DAY, endDate: DAY, decision: 'ACCEPT', reason: 'Only painted' };
    await gantry.ok('traffic.reviewData', decision, { token });
    // Violations of the vehicles that it detects are no more vehicles.
    expect(await read()).toEqual([['2026-03-29T13:00:00.000+02:00', 'Ring – Süd', '1', '50']]);
  });

  it('of traffic distinguish a gap from a road without vehicles', async () => {
    // The sensor was silent from 4:00 to 6:00, as in the history above, and ONLINE in the hour after that.
    const { records } = await readMade({ kind: 'TRAFFIC' });
    const at = (hour: string) => records.find((record) => record.From?.startsWith(`2026-03-29T${hour}`));
    expect(at('05:00')).toMatchObject({ Vehicles: '', Completeness: '0' });
    expect(at('07:00')).toMatchObject({ Vehicles: '0', Completeness: '1' });
  });

  it('of traffic include months in which a sensor that was deleted since saw nothing', async () => {
    const device = { name: 'Mast 12', deviceId: 'mast-12', type: 'RADAR' };
    const { id, apiKey } = await gantry.ok('sensors.create', device, { token });
    const event = { eventType: 'VEHICLE_DETECTION', timestamp: '2026-03-29T10:00:00.000Z' };
    await gantry.ok('events.ingest', { apiKey, ...event });
    await rollUpAllTraffic(gantry, 100);
    const status = async () => (await gantry.ok('sensors.getById', { id }, { token })).status;
    await expect.poll(status).toBe('ONLINE');
    await gantry.ok('sensors.delete', { id }, { token });
    await gantry.pool.query(
      `UPDATE sensor_status_history
       SET at = CASE to_status WHEN 'ONLINE' THEN '2026-05-10T08:00:00Z' ELSE '2026-05-11T08:00:00Z' END::timestamptz
       WHERE sensor_id = $1 AND (to_status = 'ONLINE' OR reason = 'deleted')`,
      [id],
    );
    const range = {
      kind: 'TRAFFIC',
      filters: { sensorId: id },
      startDate: '2026-03-29',
      endDate: '2026-05-29',
    } as const;
    const report = await make(range);
    const { records } = readCsv(report.bytes);
    const passed = records.filter(({ Vehicles }) => Vehicles !== '');
    expect(passed.map(({ From, Vehicles }) => [From?.slice(0, 10), Vehicles])).toEqual([
      ['2026-03-29', '1'],
      ['2026-05-10', '0'],
      ['2026-05-11', '0'],
    ]);
    const pdf = await make({ ...range, format: 'PDF' });
    expect((await readPdf(pdf.bytes)).join(' ')).toContain(`Rows: ${report.rowCount}`);
    await gantry.pool.query('DELETE FROM sensor_status_history WHERE sensor_id = $1', [id]);
  });
});
