import { writeFile } from 'node:fs/promises';
import type { Report } from '@gantry/contract/reports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locks } from '../src/platform/database/locks.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';
import { readPdf } from './report-reading.ts';

// The program that writes reports is built before all tests (database-server.ts).

const NAMES = [
  'Georgia Ave @ Urbana Dr (northbound, opposite the library)',
  'طريق الملك فهد - تقاطع شارع العليا',
  ...Array.from({ length: 3 }, (_, n) => `Ring ${n + 10}`),
];

let gantry: Gantry;
let token: string;
beforeAll(async () => {
  gantry = await startGantry({ overrides: { timings: { rollUpTrafficMs: 200, sweepReportsMs: 200 } } });
  token = await gantry.tokenFor('ADMIN');
  for (const [n, name] of NAMES.entries()) {
    const place = await gantry.ok('locations.create', { name, speedLimit: 50 }, { token });
    const fields = { name: `Mast ${n}`, deviceId: `mast-${n}`, type: 'CAMERA', locationId: place.id };
    const { apiKey } = await gantry.ok('sensors.create', fields, { token });
    const events = Array.from({ length: 40 + n }, (_, at) => ({
      eventType: 'VEHICLE_DETECTION',
      timestamp: new Date(Date.UTC(2026, 2, 1 + ((at * 7) % 31), (at * 5) % 24, at)).toISOString(),
      vehicleSpeed: 30 + at,
    }));
    await gantry.ok('events.ingestBatch', { apiKey, events });
  }
}, 60_000);
afterAll(() => gantry?.stop());

const pagesOf = async (range: { startDate: string; endDate: string }) => {
  const { id } = await gantry.ok('reports.generate', { kind: 'TRAFFIC', format: 'PDF', ...range }, { token });
  const report = await eventually(
    () => gantry.ok('reports.getById', { id }, { token }),
    ({ status }) => !['QUEUED', 'RUNNING'].includes(status),
    120_000,
  );
  expect(report).toMatchObject({ status: 'DONE', error: null });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${gantry.url}${report.url}`, { headers });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (process.env.KEEP_REPORTS) await writeFile(`${process.env.KEEP_REPORTS}/${report.fileName}`, bytes);
  return {
    rowCount: report.rowCount,
    pages: (await readPdf(bytes)).map((page) => page.replaceAll(/\s+/g, ' ')),
  };
};

describe('a PDF of the traffic of several places', () => {
  it.each([
    ['a month, hour by hour', { startDate: '2026-03-01', endDate: '2026-03-31' }, 1_500],
    ['half a year, day by day', { startDate: '2025-12-01', endDate: '2026-03-31' }, NAMES.length * 59],
    ['two days', { startDate: '2026-03-01', endDate: '2026-03-02' }, NAMES.length * 48],
  ])(
    'has a summary of each before the details of %s',
    async (_, range, rows) => {
      const { rowCount, pages } = await pagesOf(range);
      expect(rowCount).toBe(rows);
      expect(pages.length).toBeLessThan(70);
      const details = pages.findIndex((page) => page.includes('Until'));
      const summaries = pages.slice(0, details).filter((page) => page.includes('Busiest hour'));
      expect(summaries).toHaveLength(NAMES.length);
      for (const summary of summaries) {
        for (const figure of ['Vehicles', 'Mean speed', 'V85', 'Over the limit', 'Completeness'])
          expect(summary).toContain(figure);
      }
      for (const name of NAMES.filter((each) => each.startsWith('Ring') || each.startsWith('Georgia'))) {
        expect(summaries.filter((page) => page.includes(name))).toHaveLength(1);
        expect(pages.slice(details).join(' ')).toContain(name);
      }
      const isCut = rows === 1_500;
      expect(pages[details]?.includes('Detail rows are left out for: Georgia')).toBe(isCut);
    },
    180_000,
  );
});

describe('a report of traffic after an import', () => {
  it('waits for the counts to be rolled up, instead of reading the imported events for each place, and lets others go first', async () => {
    const range = { startDate: '2026-03-31', endDate: '2026-04-02' };
    const { rows } = await gantry.pool.query('SELECT id FROM sensors LIMIT 1');
    const rollingUp = await gantry.pool.connect();
    let report: () => Promise<Pick<Report, 'status' | 'waitingFor'>>;
    try {
      await rollingUp.query('BEGIN');
      await rollingUp.query('SELECT pg_advisory_xact_lock($1)', [locks.traffic]);
      await gantry.pool.query(
        `INSERT INTO traffic_unfolded (event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds)
         SELECT array_agg((lpad(to_hex($1::bigint + n), 12, '0') || '70008000000000000000')::uuid),
           array_agg('VEHICLE_DETECTION'::text), array_agg($2::uuid), array_agg(NULL::uuid), array_agg(NULL::text), array_agg(50::float8)
         FROM generate_series(1, 20001) AS n`,
        [Date.UTC(2026, 3, 1), rows[0].id],
      );
      const ask = async (kind: string) => {
        const { id } = await gantry.ok('reports.generate', { kind, format: 'CSV', ...range }, { token });
        return () => gantry.ok('reports.getById', { id }, { token });
      };
      report = await ask('TRAFFIC');
      const other = await eventually(await ask('EVENTS'), ({ status }) => status === 'DONE', 15_000);
      expect(other.waitingFor).toBeNull();
      const pending = await gantry.pool.query(
        'SELECT sum(cardinality(event_ids))::int AS events FROM traffic_unfolded',
      );
      const { events } = pending.rows[0];
      const waitingFor = { reason: 'COUNTS_OF_TRAFFIC', events };
      expect(await report()).toMatchObject({ status: 'QUEUED', waitingFor });
      const { reports } = await gantry.ok('reports.getReports', { status: 'QUEUED' }, { token });
      expect(reports).toMatchObject([{ kind: 'TRAFFIC', waitingFor }]);
      await eventually(
        () => fetch(`${gantry.url}/metrics`).then((response) => response.text()),
        (text) => text.includes(`\ngantry_traffic_unfolded_events ${events}\n`),
      );
    } finally {
      await rollingUp.query('COMMIT');
      rollingUp.release();
    }
    const done = await eventually(report, (now) => !['QUEUED', 'RUNNING'].includes(now.status), 60_000);
    expect(done).toMatchObject({ status: 'DONE', waitingFor: null });
    expect(await gantry.count('traffic_unfolded')).toBe(0);
  }, 90_000);
});
