import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReportFiles } from '../src/reports/files.ts';
import { createReportRunner } from '../src/reports/runner.ts';
import { removeOrphanFiles } from '../src/reports/start.ts';
import {
  cancelReportRow,
  getReportRow,
  requeueAbandonedReports,
  settleReport,
} from '../src/reports/store.ts';
import { createReportMaker } from '../src/reports/thread.ts';
import { eventually, type Gantry, type HttpAnswer, startGantry } from './harness.ts';
import { RANGE, storeViolations, VIOLATIONS } from './march-violations.ts';
import { isLong, lengthOf } from './test-length.ts';

/** The range of the first day, which has no events: a report on it is generated at once. */
const SHORT = { endDate: RANGE.startDate };

/** A report with this many rows takes long enough to be observed in progress. */
const MANY = lengthOf({ gate: 10_000, full: 60_000 });
/** The maximum number of rows in XLSX. */
const LIMIT = 100_000;

describe('reports over HTTP', () => {
  let gantry: Gantry;
  let token: string;
  beforeAll(async () => {
    gantry = await startGantry();
    token = await gantry.tokenFor('ADMIN');
    await storeViolations(gantry.pool, MANY);
  });
  afterAll(() => gantry?.stop());

  const ask = (id: string) => gantry.ok('reports.getById', { id }, { token });
  // The thread that writes has a lower priority than all others, so a report may take long on a busy machine.
  const until = (id: string, satisfies: (report: { status: string; progress: number }) => boolean) =>
    eventually(() => ask(id), satisfies, 90_000);
  const generate = (input: object = {}) =>
    gantry.ok('reports.generate', { ...VIOLATIONS, ...input }, { token });
  const fetchFile = (id: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
    fetch(`${gantry.url}/reports/${id}/file`, { headers });

  it('are sent as files with a name, and must not be cached', async () => {
    const { id } = await generate();
    const report = await until(id, ({ status }) => status === 'DONE');
    const { status, headers, body } = await fetchFile(id);
    await body?.cancel();
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="violations_2026-03-01_2026-03-31.csv"',
      'content-length': String((report as unknown as { size: number }).size),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    });
  });

  it('are refused without a token, for a role without permission, and if they do not exist', async () => {
    const { id } = await generate(SHORT);
    const codeOf = async (response: Response) => [
      response.status,
      ((await response.json()) as HttpAnswer['body']).error.json.data.code,
    ];
    const field = { authorization: `Bearer ${await gantry.tokenFor('FIELD')}` };
    expect(await codeOf(await fetchFile(id, {}))).toEqual([401, 'UNAUTHORIZED']);
    expect(await codeOf(await fetchFile(id, field))).toEqual([403, 'FORBIDDEN']);
    for (const none of [randomUUID(), 'x', '..%2F..%2Fjwt-secret', '%00']) {
      expect(await codeOf(await fetchFile(none))).toEqual([404, 'NOT_FOUND']);
    }
    await until(id, ({ status }) => status === 'DONE');
    await rm(join(gantry.app.context.config.DATA_DIR, 'reports'), { recursive: true });
    expect(await codeOf(await fetchFile(id))).toEqual([404, 'NOT_FOUND']);
  });

  it('show their progress while they are generated, and stop when they are cancelled', async () => {
    const { id, status } = await generate({ kind: 'DAILY_SUMMARY', startDate: '2022-01-01' });
    expect(status).toBe('QUEUED');
    const waiting = await generate(SHORT);
    const { progress } = await until(id, (report) => report.progress > 0 && report.status === 'RUNNING');
    expect(progress).toBeLessThan(1);
    expect(await gantry.ok('reports.cancel', { id }, { token })).toMatchObject({
      status: 'CANCELLED',
      url: null,
    });
    // The waiting report can only begin when the cancelled one has ended.
    await until(waiting.id, (report) => report.status !== 'QUEUED');
    expect((await ask(id)).progress).toBeLessThan(1);
    await until(waiting.id, (report) => report.status === 'DONE');
    expect(await ask(id)).toMatchObject({ status: 'CANCELLED', fileName: null, url: null });
    expect((await fetchFile(id)).status).toBe(409);
    const files = await readdir(join(gantry.app.context.config.DATA_DIR, 'reports'));
    expect(files.filter((name) => name.startsWith(id))).toEqual([]);
  });

  it('are finished or cancelled, never both', async () => {
    const { id } = await generate(SHORT);
    await until(id, ({ status }) => status === 'DONE');
    expect((await gantry.call('reports.cancel', { id }, { token })).body.error.json).toMatchObject({
      message: 'The report is DONE already, so there is nothing to cancel',
      data: { code: 'CONFLICT' },
    });
  });

  it('that are cancelled and finished at the same time have one of the two states', async () => {
    const { db } = gantry.app.context;
    for (let n = 0; n < 20; n++) {
      const { rows } = await gantry.pool.query(
        `INSERT INTO reports (kind, format, filters, starts_at, ends_at, settings, created_by, status, attempts, alive_at)
         VALUES ('TRAFFIC', 'CSV', '{}', now(), now(), '{"timezone":"UTC"}', gen_random_uuid(), 'RUNNING', 1, now())
         RETURNING id`,
      );
      const [{ id }] = rows;
      const done = { status: 'DONE' as const, fileKey: `${id}-1.csv`, size: 1, rowCount: 1 };
      const [cancelled, settled] = await Promise.allSettled([
        cancelReportRow(db, id),
        settleReport(db, { id, attempts: 1 }, done),
      ]);
      const isDone = settled.status === 'fulfilled' && settled.value;
      expect([cancelled.status, (await ask(id)).status]).toEqual(
        isDone ? ['rejected', 'DONE'] : ['fulfilled', 'CANCELLED'],
      );
    }
    await gantry.pool.query(`DELETE FROM reports WHERE kind = 'TRAFFIC'`);
  });

  it('are returned to the queue by a process that ends, and generated by the next', async () => {
    const { db, log } = gantry.app.context;
    const folder = await mkdtemp(join(tmpdir(), 'gantry-reports-'));
    const makeReport = createReportMaker({
      connectionString: gantry.app.context.pool.options.connectionString ?? '',
      folder,
      now: Date.now,
      speedUnits: 'KMH',
    });
    await using runner = createReportRunner({ db, log, makeReport, files: new ReportFiles(folder) });
    const { id } = await generate();
    runner.wake();
    await until(id, ({ status }) => status !== 'QUEUED');
    await runner[Symbol.asyncDispose]();
    const report = await until(id, ({ status }) => status === 'DONE');
    expect((report as unknown as { rowCount: number }).rowCount).toBe(MANY);
    await rm(folder, { recursive: true });
  });

  it('are cancelled and deleted, as schedules are, by their users, and those of others only by some roles', async () => {
    const [analyst, operator] = [await gantry.tokenFor('ANALYST'), await gantry.tokenFor('OPERATOR')];
    const schedule = { kind: 'EVENTS', format: 'CSV', every: 'DAILY', hour: 3 };
    const mayDo = async (of: string, by: string): Promise<number[]> => {
      const { id } = await gantry.ok('reports.generate', { ...VIOLATIONS, ...SHORT }, { token: of });
      const { id: scheduleId } = await gantry.ok('reports.createSchedule', schedule, { token: of });
      const statuses: number[] = [];
      for (const [procedure, input] of [
        ['reports.updateSchedule', { id: scheduleId, hour: 4 }],
        ['reports.deleteSchedule', { id: scheduleId }],
        ['reports.cancel', { id }],
        ['reports.delete', { id }],
      ] as const)
        statuses.push((await gantry.call(procedure, input, { token: by })).status);
      return statuses.map((status) => (status === 409 ? 200 : status));
    };
    expect(await mayDo(token, analyst)).toEqual([403, 403, 403, 403]);
    expect(await mayDo(analyst, analyst)).toEqual([200, 200, 200, 200]);
    expect(await mayDo(analyst, operator)).toEqual([200, 200, 200, 200]);
  });

  it('are deleted with their files', async () => {
    const { id } = await generate(SHORT);
    await until(id, ({ status }) => status === 'DONE');
    const folder = join(gantry.app.context.config.DATA_DIR, 'reports');
    expect((await readdir(folder)).some((name) => name.startsWith(id))).toBe(true);
    expect(await gantry.ok('reports.delete', { id }, { token })).toEqual({ success: true, id });
    expect((await readdir(folder)).some((name) => name.startsWith(id))).toBe(false);
    expect((await gantry.call('reports.getById', { id }, { token })).status).toBe(404);
  });

  it('that need more memory than allowed fail with a message, and the service continues', async () => {
    const { id } = await generate();
    await until(id, ({ status }) => status === 'DONE');
    const folder = await mkdtemp(join(tmpdir(), 'gantry-reports-'));
    const connectionString = gantry.app.context.pool.options.connectionString ?? '';
    const makeReport = createReportMaker({
      connectionString,
      folder,
      now: Date.now,
      speedUnits: 'KMH',
      heapMb: { CSV: 8, XLSX: 8, PDF: 8 },
    });
    const row = await getReportRow(gantry.app.context.db, id);
    const made = makeReport(row, `${id}-9.csv`, () => undefined, new AbortController().signal);
    await expect(made).rejects.toMatchObject({
      failure: 'refused',
      message: 'It takes more memory than a report may have: choose a shorter range',
    });
    await rm(folder, { recursive: true });
  });

  it('that the database takes too long to read fail with a message at the second attempt', async () => {
    const { id } = await generate(SHORT);
    await until(id, ({ status }) => status === 'DONE');
    const folder = await mkdtemp(join(tmpdir(), 'gantry-reports-'));
    const connectionString = gantry.app.context.pool.options.connectionString ?? '';
    const makeReport = createReportMaker({
      connectionString,
      folder,
      now: Date.now,
      speedUnits: 'KMH',
      statementTimeoutMs: 500,
    });
    const row = await getReportRow(gantry.app.context.db, id);
    const attempt = (attempts: number) =>
      makeReport({ ...row, attempts }, `${id}-9.csv`, () => undefined, new AbortController().signal);
    const client = await gantry.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('LOCK TABLE events');
      await expect(attempt(1)).rejects.toMatchObject({ failure: 'passing' });
      await expect(attempt(2)).rejects.toMatchObject({
        failure: 'refused',
        message:
          'Reading a part of it took the database longer than 0.5 s: choose a shorter range or a filter',
      });
    } finally {
      await client.query('ROLLBACK');
      client.release();
      await rm(folder, { recursive: true });
    }
  });

  it('are given up after five attempts, whatever the cause', async () => {
    const { rows } = await gantry.pool.query(
      `INSERT INTO reports (kind, format, filters, starts_at, ends_at, settings, created_by, status, attempts, alive_at)
       VALUES ('TRAFFIC', 'CSV', '{}', now(), now(), '{"timezone":"UTC"}', gen_random_uuid(), 'RUNNING', 5, now() - interval '1 day')
       RETURNING id`,
    );
    await requeueAbandonedReports(gantry.app.context.db, 3_600_000);
    expect(await ask(rows[0].id)).toMatchObject({
      status: 'FAILED',
      error: 'It could not be finished in 5 attempts; the log of the service has the cause',
    });
  });

  it.runIf(isLong)('are shortened in PDF to a readable length, with a note', async () => {
    const { id } = await generate({ format: 'PDF' });
    expect(await until(id, ({ status }) => status === 'DONE')).toMatchObject({ rowCount: 5_000 });
  });

  it('are listed newest first, by kind and status', async () => {
    const { reports, total } = await gantry.ok('reports.getReports', { take: 2 }, { token });
    expect(reports).toHaveLength(2);
    expect(total).toBeGreaterThan(2);
    expect(reports[0].createdAt >= reports[1].createdAt).toBe(true);
    const cancelled = await gantry.ok(
      'reports.getReports',
      { status: 'CANCELLED', kind: 'DAILY_SUMMARY' },
      { token },
    );
    expect(cancelled.total).toBe(1);
    expect((await gantry.ok('reports.getReports', { kind: 'INCIDENTS' }, { token })).total).toBe(0);
  });

  it('require the permission to generate or to see them', async () => {
    const code = async (
      role: 'ANALYST' | 'FIELD' | 'OPERATOR' | 'VIEWER',
      procedure: string,
      input: object,
    ) => (await gantry.call(procedure, input, { token: await gantry.tokenFor(role) })).status;
    const daily = { kind: 'INCIDENTS', format: 'PDF', every: 'DAILY', hour: 6 };
    const none = { id: randomUUID() };
    for (const role of ['ANALYST', 'OPERATOR'] as const) {
      expect(await code(role, 'reports.getReports', {})).toBe(200);
      expect(await code(role, 'reports.generate', { ...VIOLATIONS, ...SHORT })).toBe(200);
      expect(await code(role, 'reports.createSchedule', daily)).toBe(200);
    }
    for (const role of ['FIELD', 'VIEWER'] as const) {
      expect(await code(role, 'reports.generate', VIOLATIONS)).toBe(403);
      for (const procedure of ['cancel', 'delete', 'deleteSchedule', 'updateSchedule'])
        expect(await code(role, `reports.${procedure}`, none)).toBe(403);
      expect(await code(role, 'reports.createSchedule', daily)).toBe(403);
      for (const procedure of ['getReports', 'getSchedules'])
        expect(await code(role, `reports.${procedure}`, {})).toBe(role === 'VIEWER' ? 200 : 403);
    }
  });

  it.each([
    [
      'an end before the start',
      { startDate: '2026-03-02', endDate: '2026-03-01' },
      'The end is before the start',
    ],
    ['more than five years', { startDate: '2020-01-01', endDate: '2025-01-02' }, 'at most 5 years'],
    ['a time before time', { startDate: '0000-01-01', endDate: '0000-01-02' }, 'Nothing is older than 1970'],
    ['a time after time', { startDate: '9999-12-31', endDate: '9999-12-31' }, 'before the year 9000'],
    ['no range', { startDate: undefined }, 'startDate'],
    ['a kind that there is not', { kind: 'WEATHER' }, 'kind'],
    ['a format that there is not', { format: 'DOCX' }, 'format'],
    [
      'a filter of another kind',
      { kind: 'TRAFFIC', filters: { incidentType: 'OTHER' } },
      'cannot be filtered by incidentType',
    ],
  ])('are refused for %s, and nothing is stored', async (_, input, sentence) => {
    const before = await gantry.ok('reports.getReports', {}, { token });
    const { status, body } = await gantry.call('reports.generate', { ...VIOLATIONS, ...input }, { token });
    expect(status).toBe(400);
    expect(body.error.json.message).toContain(sentence);
    expect((await gantry.ok('reports.getReports', {}, { token })).total).toBe(before.total);
  });

  it('are recorded in the activity log with their parameters', async () => {
    const { rows } = await gantry.pool.query(
      `SELECT details FROM activity WHERE action = 'reports.generate'`,
    );
    expect(rows[0].details).toMatchObject({ kind: 'VIOLATIONS', format: 'CSV', startDate: '2026-03-01' });
  });

  // This test is the last one, because it makes every further report of these violations long.
  it.runIf(isLong)('report that they are too long for XLSX', async () => {
    await storeViolations(gantry.pool, LIMIT + 1, MANY + 1);
    const { id } = await generate({ format: 'XLSX' });
    expect(await until(id, ({ status }) => status === 'FAILED')).toMatchObject({
      error: 'There are more than 100000 rows, too many for XLSX: choose CSV, or a shorter range',
      url: null,
    });
  });
});

describe('files without a report', () => {
  it('are removed when they are old, and others are kept', async () => {
    await using gantry = await startGantry();
    const folder = await mkdtemp(join(tmpdir(), 'gantry-reports-'));
    const files = new ReportFiles(folder);
    const known = `${randomUUID()}-1.csv`;
    await gantry.pool.query(
      `INSERT INTO reports (kind, format, filters, starts_at, ends_at, settings, created_by, status, file_key)
       VALUES ('TRAFFIC', 'CSV', '{}', now(), now(), '{}', gen_random_uuid(), 'DONE', $1)`,
      [known],
    );
    for (const name of [known, 'old-1.csv', 'old-2.csv.part', 'new-1.csv'])
      await writeFile(join(folder, name), 'x');
    for (const name of [known, 'old-1.csv', 'old-2.csv.part']) await utimes(join(folder, name), 0, 0);
    await removeOrphanFiles(gantry.app.context.db, files, 1_000_000);
    expect((await readdir(folder)).sort()).toEqual([known, 'new-1.csv'].sort());
    await rm(folder, { recursive: true });
  });
});
