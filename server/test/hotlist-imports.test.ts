import type { HotlistEntry, HotlistImport, HotlistImportDetail } from '@gantry/contract/hotlists';
import { plateKey } from '@gantry/contract/plate';
import * as fc from 'fast-check';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { removeFormerEntries } from '../src/hotlists/entries-store.ts';
import { findWithFile } from '../src/hotlists/imports-store.ts';
import { prepareRange } from '../src/hotlists/staged-store.ts';
import { findCandidates } from '../src/watchlist/hotlists-store.ts';
import { eventually, sharedGantry } from './harness.ts';
import { lengthOf } from './test-length.ts';

const gantry = await sharedGantry({ overrides: { timings: { sweepHotlistJobsMs: 50 } } });
const token = await gantry.tokenFor('OPERATOR');
const ok = <Output>(procedure: string, input?: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token });

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let close = closing.pop(); close; close = closing.pop()) await close();
});

let count = 0;
const createList = (fields: object = {}) =>
  ok<{ id: string }>('hotlists.create', { name: `List ${++count}`, ...fields });
const upload = async (hotlistId: string, content: Buffer | string, as = token) => {
  const answer = await gantry.fetch(`/hotlists/${hotlistId}/file?name=list.csv`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${as}` },
    body: content,
  });
  return answer as { status: number; body: HotlistImport };
};
const settled = (id: string) =>
  eventually(
    () => ok<HotlistImportDetail>('hotlists.getImport', { id }),
    ({ state }) => state !== 'STAGING' && state !== 'APPLYING',
  );
const stage = async (hotlistId: string, content: Buffer | string, more: object = {}) => {
  const { status, body } = await upload(hotlistId, content);
  expect(status).toBe(201);
  await ok('hotlists.stage', { importId: body.id, ...more });
  return settled(body.id);
};
const apply = async (staged: HotlistImportDetail, more: object = {}) => {
  await ok('hotlists.applyImport', { id: staged.id, expectedVersion: staged.baseVersion, ...more });
  return settled(staged.id);
};
const entriesOf = async (hotlistId: string) => {
  const { entries } = await ok<{ entries: HotlistEntry[] }>('hotlists.getEntries', { hotlistId, take: 100 });
  return entries
    .map(({ plate, region, reason, reference }) => [plate, region, reason, reference].join('|'))
    .sort();
};
const FOUR = { columns: { number: 'plate', region: 'region', reason: 'reason', reference: 'case' } };

describe('a file of a hotlist', () => {
  it('with many lines renews the statistics before it is compared and applied', async () => {
    const { id } = await createList();
    const template = { columns: { number: 'plate', reason: 'reason' } };
    const many = (reason: string) =>
      ['plate,reason', ...Array.from({ length: 2_000 }, (_, n) => `MANY${n},${reason}`)].join('\n');
    const linesOfTable = async (table: string) => {
      const { rows } = await gantry.pool.query('SELECT reltuples FROM pg_class WHERE relname = $1', [table]);
      return Number(rows[0].reltuples);
    };
    const staged = await stage(id, many('Stolen'), { template });
    expect(await linesOfTable('hotlist_staged')).toBeGreaterThanOrEqual(2_000);
    await apply(staged);
    await apply(await stage(id, many('Other'), { template }));
    expect(await linesOfTable('hotlist_entries')).toBeGreaterThanOrEqual(2_000);
  });

  it('is compared with the list, applied as a whole, and can be taken back', async () => {
    const { id } = await createList({ template: FOUR });
    const first = await stage(
      id,
      'plate,region,reason,case\r\nAB 1,AT,Stolen,1\r\nAB 2,,Wanted,2\r\nAB 3,US-CA,"A, ""B""",\r\n',
    );
    expect(first).toMatchObject({
      state: 'STAGED',
      lines: 3,
      added: 3,
      changed: 0,
      removed: 0,
      same: 0,
      invalid: 0,
      repeated: 0,
    });
    expect(first.sample?.added.map(({ line, plate }) => [line, plate])).toEqual([
      [2, 'AB 1'],
      [3, 'AB 2'],
      [4, 'AB 3'],
    ]);
    expect(await entriesOf(id)).toEqual([]);
    expect(await apply(first)).toMatchObject({ state: 'APPLIED', version: 1 });
    expect(await entriesOf(id)).toEqual(['AB 1|AT|Stolen|1', 'AB 2||Wanted|2', 'AB 3|US-CA|A, "B"|']);

    const second = await stage(
      id,
      'plate,region,reason,case\nAB 1,AT,Found,1\nAB 2,,Wanted,2\nAB 4,,New,\nAB 4,,Newer,\n',
    );
    expect(second).toMatchObject({ added: 1, changed: 1, removed: 1, same: 1, repeated: 1 });
    expect(second.sample?.removed).toMatchObject([{ line: null, plate: 'AB 3' }]);
    await apply(second);
    const after = ['AB 1|AT|Found|1', 'AB 2||Wanted|2', 'AB 4||Newer|'];
    expect(await entriesOf(id)).toEqual(after);
    const { body } = await upload(id, 'plate\n');
    expect(await gantry.refusal('hotlists.revert', { id, version: 2 }, { token })).toMatchObject({
      status: 400,
    });
    const reverted = await ok<HotlistImport>('hotlists.revert', { id, version: 1 });
    expect(await settled(reverted.id)).toMatchObject({
      state: 'APPLIED',
      version: 3,
      origin: 'REVERT',
      revertsTo: 1,
    });
    expect(await entriesOf(id)).toEqual(['AB 1|AT|Stolen|1', 'AB 2||Wanted|2', 'AB 3|US-CA|A, "B"|']);
    await settled((await ok<HotlistImport>('hotlists.revert', { id, version: 2 })).id);
    expect(await entriesOf(id)).toEqual(after);
    expect(await ok('hotlists.cancelImport', { id: body.id })).toMatchObject({ state: 'CANCELLED' });
    expect(await gantry.count('hotlist_staged')).toBe(0);
  });

  it('is refused by guards, and applied all the same with a reason', async () => {
    const { id } = await createList();
    await apply(await stage(id, 'plate\nCD 1\nCD 2\nCD 3\nCD 4\nCD 5\n'));
    const short = await stage(id, 'plate\nCD 1\nCD 2\n');
    expect(short).toMatchObject({
      state: 'REFUSED',
      error: 'The file has 2 entries, fewer than half of the 5 that the list has',
    });
    expect(
      await gantry.refusal('hotlists.applyImport', { id: short.id, expectedVersion: 1 }, { token }),
    ).toMatchObject({
      status: 400,
      message: expect.stringContaining('Give a reason'),
    });
    expect(await apply(short, { override: 'The others were found' })).toMatchObject({
      state: 'APPLIED',
      version: 2,
    });
    expect(await stage(id, 'plate\nCD 1\nCD 2\n')).toMatchObject({ state: 'UNCHANGED', version: 2 });
    expect(await stage(id, 'plate\n')).toMatchObject({
      state: 'REFUSED',
      error: 'The file has no valid line',
    });
    expect(await stage(id, 'plate\nCD 1\n*\n')).toMatchObject({ state: 'REFUSED', invalid: 1 });
    expect(await stage(id, 'number\nCD 1\n')).toMatchObject({
      state: 'FAILED',
      error: expect.stringContaining('There is no column plate: there are number'),
    });
    expect(await stage(id, Buffer.from([0x50, 0x4b, 0x03, 0x04, 0, 0]))).toMatchObject({
      state: 'FAILED',
      error: expect.stringContaining('save the sheet as CSV'),
    });
    const raced = await stage(id, 'plate\nCD 1\nCD 2\nCD 9\n');
    await ok('hotlists.addEntry', { hotlistId: id, plate: 'CD 7', reason: 'x' });
    const late = { id: raced.id, expectedVersion: raced.baseVersion };
    expect(await gantry.refusal('hotlists.applyImport', late, { token })).toMatchObject({ status: 409 });
  });

  it('with plates that lists of another priority have says so before it is applied, to those who see them', async () => {
    const admin = await gantry.tokenFor('ADMIN');
    const { id: urgent } = await createList({ priority: 'CRITICAL' });
    const secret = { name: 'Secret', priority: 'LOW', covert: true };
    const { id: covert } = await gantry.ok('hotlists.create', secret, { token: admin });
    const { id: same } = await createList();
    for (const hotlistId of [urgent, covert, same])
      await gantry.ok('hotlists.addEntry', { hotlistId, plate: 'TW 1', reason: 'x' }, { token: admin });
    await ok('hotlists.addEntry', { hotlistId: urgent, plate: 'TW 2', reason: 'x' });
    const { name } = await ok<{ name: string }>('hotlists.getById', { id: urgent });
    const { id } = await createList();
    const of = (what: string, list: string, priority: string) =>
      `${what} also on ${list}, with the priority ${priority}: a read is a hit of each list, with its own priority`;
    const staged = await stage(id, 'plate\nTW 1\nTW 2\nTW 3\n');
    expect(staged).toMatchObject({ state: 'STAGED', warnings: [of('2 plates are', name, 'CRITICAL')] });
    expect(await gantry.ok('hotlists.getImport', { id: staged.id }, { token: admin })).toMatchObject({
      warnings: [of('2 plates are', name, 'CRITICAL'), of('A plate is', 'Secret', 'LOW')],
    });
    expect(await ok('hotlists.addEntry', { hotlistId: id, plate: 'tw-2', reason: 'By hand' })).toMatchObject({
      warnings: [of('A plate is', name, 'CRITICAL')],
    });
    expect(await ok('hotlists.addEntry', { hotlistId: id, plate: 'TW 4', reason: 'x' })).toMatchObject({
      warnings: [],
    });
  });

  it('that is COMPLETE leaves patterns, which no file can list, and ends plates that were entered by hand', async () => {
    const { id } = await createList();
    for (const plate of ['MN *1', 'MN *2', 'MN *3', 'MN 9'])
      await ok('hotlists.addEntry', { hotlistId: id, plate, reason: 'By hand' });
    const staged = await stage(id, 'plate\nMN 10\n');
    expect(staged).toMatchObject({ state: 'STAGED', added: 1, changed: 0, removed: 1, same: 3 });
    expect(staged.sample?.removed.map(({ plate }) => plate)).toEqual(['MN 9']);
    expect(await apply(staged)).toMatchObject({ state: 'APPLIED', version: 5, removed: 1, same: 3 });
    const patterns = ['MN *1||By hand|', 'MN *2||By hand|', 'MN *3||By hand|'];
    expect(await entriesOf(id)).toEqual([...patterns, 'MN 10||Listed|']);
    expect(await ok('hotlists.getById', { id })).toMatchObject({ entryCount: 4 });
    // What is restored is exact: before the third pattern was entered.
    expect(await settled((await ok<HotlistImport>('hotlists.revert', { id, version: 2 })).id)).toMatchObject({
      state: 'APPLIED',
      removed: 2,
    });
    expect(await entriesOf(id)).toEqual(patterns.slice(0, 2));
  });

  it('can be taken back after any number of changes by hand', async () => {
    const { id } = await createList();
    await ok('hotlists.addEntry', { hotlistId: id, plate: 'OP 1', reason: 'By hand' });
    const before = await entriesOf(id);
    await apply(await stage(id, 'plate\nOP 2\nOP 3\n'));
    const imported = await entriesOf(id);
    for (let n = 4; n < 12; n++)
      await ok('hotlists.addEntry', { hotlistId: id, plate: `OP ${n}`, reason: 'By hand' });
    while ((await removeFormerEntries(gantry.app.context.db)) > 0);
    // Version 2 was imported and replaced version 1; of 3 to 10, made by hand, the last ones are kept.
    expect(await ok('hotlists.getById', { id })).toMatchObject({
      version: 10,
      formerVersions: [9, 8, 7, 6, 2, 1],
    });
    expect(await gantry.refusal('hotlists.revert', { id, version: 5 }, { token })).toMatchObject({
      status: 400,
      message: expect.stringContaining('9, 8, 7, 6, 2, 1'),
    });
    const revert = async (version: number) =>
      settled((await ok<HotlistImport>('hotlists.revert', { id, version })).id);
    await revert(2);
    expect(await entriesOf(id)).toEqual(imported);
    await revert(1);
    expect(await entriesOf(id)).toEqual(before);
  });

  it('has at most 1,000 entries for plates that look alike, also with those of the list', async () => {
    const { id } = await createList();
    const columns = { number: 'plate', reference: 'case' };
    const file = (from: number, until: number) =>
      ['plate,case', ...Array.from({ length: until - from }, (_, at) => `QO 1,${from + at}`)].join('\n');
    const refused = {
      state: 'FAILED',
      error: 'The list would have more than 1000 entries for plates such as QO 1: list each plate once',
    };
    expect(await stage(id, file(0, 1_001), { template: { columns } })).toMatchObject(refused);
    await apply(await stage(id, file(0, 1_000), { template: { columns } }));
    expect(await stage(id, file(1_000, 1_001), { mode: 'ADD', template: { columns } })).toMatchObject(
      refused,
    );
    expect(await stage(id, file(999, 1_000), { mode: 'ADD', template: { columns } })).toMatchObject({
      state: 'STAGED',
      added: 0,
    });
    // 0 looks like O.
    const alike = { hotlistId: id, plate: 'Q0 1', reason: 'x' };
    expect(await gantry.refusal('hotlists.addEntry', alike, { token })).toMatchObject({
      status: 400,
      message: expect.stringContaining('The list has 1000 entries for plates such as this'),
    });
  });

  it('is in force as a whole or not at all, wherever a process that applies it ends', async () => {
    const { id } = await createList();
    const lines = (plates: readonly string[]) => ['plate', ...plates].join('\n');
    const plates = (from: number, until: number) =>
      Array.from({ length: until - from }, (_, at) => `KL ${from + at}`);
    await apply(await stage(id, lines(plates(0, 40))));
    const before = await entriesOf(id);
    const staged = await stage(id, lines(plates(20, 60)));
    const { db } = gantry.app.context;
    const isListed = async (plate: string) =>
      (await findCandidates(db, [{ eventId: id, plateKey: plateKey(plate), patterns: [] }], false)).length;
    // What a process leaves that is killed after some of the ranges: here, of the first half of the ids.
    const ranges = [
      { from: '00000000-0000-0000-0000-000000000000', until: '80000000-0000-0000-0000-000000000000' },
      { from: '80000000-0000-0000-0000-000000000000', until: null },
    ];
    for (const range of ranges) {
      await prepareRange(db, { importId: staged.id, hotlistId: id, mode: 'COMPLETE' }, 2, range, false);
      expect(await entriesOf(id)).toEqual(before);
      for (const plate of plates(0, 60))
        expect([plate, await isListed(plate)]).toEqual([plate, before.includes(`${plate}||Listed|`) ? 1 : 0]);
    }
    // Another process begins anew.
    expect(await apply(staged)).toMatchObject({
      state: 'APPLIED',
      version: 2,
      added: 20,
      removed: 20,
      same: 20,
    });
    expect(await entriesOf(id)).toEqual(
      plates(20, 60)
        .map((plate) => `${plate}||Listed|`)
        .sort(),
    );
    for (const plate of plates(0, 60))
      expect([plate, await isListed(plate)]).toEqual([plate, Number(plate.slice(3)) >= 20 ? 1 : 0]);
    expect(await ok('hotlists.getById', { id })).toMatchObject({ entryCount: 40 });
  });

  it('says how much of it was read, and how much of it is applied', async () => {
    const { id } = await createList();
    const plates = Array.from({ length: 30_000 }, (_, n) => `PR ${n}`);
    const progressOf = async (importId: string) =>
      (await ok<HotlistImportDetail>('hotlists.getImport', { id: importId })).progress;
    const blocker = new pg.Client(gantry.app.context.config.DATABASE_URL ?? '');
    await blocker.connect();
    closing.push(() => blocker.end());
    /** What the import shows while a statement of another transaction lets it wait. */
    const whileBlocked = async (order: () => Promise<unknown>, block: string) => {
      await blocker.query('BEGIN');
      await blocker.query(block);
      await order();
      const shown = await eventually(
        () => progressOf(body.id),
        (progress) => progress !== null && progress > 0,
      );
      await blocker.query('ROLLBACK');
      return shown;
    };
    // Lines are stored only while nobody else has this lock.
    await blocker.query(`
      CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END';
      CREATE TRIGGER wait_for_test BEFORE INSERT ON hotlist_staged EXECUTE FUNCTION wait_for_test()`);
    const { body } = await upload(id, ['plate', ...plates].join('\n'));
    expect(body.progress).toBeNull();
    const read = await whileBlocked(
      () => ok('hotlists.stage', { importId: body.id }),
      'SELECT pg_advisory_xact_lock(4711)',
    );
    expect(read).toBeGreaterThan(20);
    expect(read).toBeLessThan(80);
    const staged = await settled(body.id);
    expect(staged).toMatchObject({ state: 'STAGED', progress: null });
    // An entry of the second of two parts.
    const applied = await whileBlocked(
      () => ok('hotlists.applyImport', { id: body.id, expectedVersion: 0 }),
      `INSERT INTO hotlist_entries (id, hotlist_id, plate, plate_key, confusable_key, reason, row_hash, from_version)
       SELECT hotlist_staged.id, hotlist_id, '', '', '', '', 0, 1 FROM hotlist_staged JOIN hotlist_imports AS imports ON imports.id = import_id
       WHERE import_id = '${body.id}' AND hotlist_staged.id > '80000000-0000-0000-0000-000000000000' LIMIT 1`,
    );
    expect(applied).toBe(50);
    await blocker.query('DROP FUNCTION wait_for_test CASCADE');
    expect(await settled(body.id)).toMatchObject({ state: 'APPLIED', progress: null });
  });

  it.each([
    [
      'windows-1252 with semicolons',
      Buffer.from('plate;reason\r\nMÜ 12;Gest\xf6hlen\r\n'.replace('Ü', '\xdc'), 'latin1'),
      { encoding: 'WINDOWS-1252', delimiter: ';' },
    ],
    [
      'UTF-8 with a mark and CR',
      Buffer.from('\uFEFFplate\treason\rMÜ 12\tGestöhlen\r'),
      { delimiter: 'TAB' },
    ],
    ['UTF-16 with a mark', Buffer.from('\uFEFFplate:reason\nMÜ 12:Gestöhlen', 'utf16le'), { delimiter: ':' }],
    [
      'fixed width without a header',
      Buffer.from('MÜ 12     Gestöhlen\n'),
      {
        layout: 'FIXED',
        headerLines: 0,
        columns: { number: { start: 1, length: 10 }, reason: { start: 11, length: 20 } },
      },
    ],
  ])('may be in %s', async (_, content, template) => {
    const { id } = await createList();
    const columns = { number: 'plate', reason: 'reason' };
    const { body } = await upload(id, content);
    const preview = await ok<{ lines: object[] }>('hotlists.previewFile', {
      importId: body.id,
      template: { columns, ...template },
    });
    expect(preview.lines).toMatchObject([{ plate: 'MÜ 12', reason: 'Gestöhlen', problem: null }]);
    await apply(await stage(id, content, { template: { columns, ...template } }));
    expect(await entriesOf(id)).toEqual(['MÜ 12||Gestöhlen|']);
  });

  const CASES: readonly [string, Buffer | string, object, object][] = [
    [
      'UTF-16 without its mark',
      Buffer.from('plate\nNU 1\n', 'utf16le'),
      { columns: { number: 'plate' } },
      { state: 'FAILED', error: expect.stringContaining('There is no column plate: there are p\uFFFDl') },
    ],
    [
      'NUL bytes in every column',
      'plate,region,from\nNU\0 1,A\0T,2026\0\nNU 2,A\0,\nNU 3,,20\0\n',
      { columns: { number: 'plate', region: 'region', from: 'from' } },
      { state: 'REFUSED', invalid: 3 },
    ],
    [
      'an emoji where a message ends',
      `plate,region\nNU 4,${'x'.repeat(19)}\u{1F697}\n`,
      { columns: { number: 'plate', region: 'region' } },
      { state: 'REFUSED', invalid: 1 },
    ],
    [
      'a header with an emoji where a message ends',
      `${'x'.repeat(199)}\u{1F697}\nNU 5\n`,
      { columns: { number: 'plate' } },
      { state: 'FAILED', error: expect.stringContaining('There is no column plate') },
    ],
    [
      'a line of a megabyte',
      `plate\n${'x'.repeat(1_000_000)}\nNU 6\n`,
      { columns: { number: 'plate' } },
      { state: 'REFUSED', lines: 2, invalid: 1 },
    ],
  ];
  it.each(CASES)('with %s says what is wrong with it', async (_, content, template, expected) => {
    const { id } = await createList();
    const result = await stage(id, content, { template });
    expect(result).toMatchObject(expected);
    expect(result.error).not.toContain('the log of the service');
  });

  it('that could not be read is kept for a week, to be read with another template', async () => {
    const { id } = await createList();
    const failed = await stage(id, Buffer.from('plate\nM\xdc 7\n', 'latin1'));
    expect(failed).toMatchObject({ state: 'FAILED', error: expect.stringContaining('WINDOWS-1252') });
    const { db, hotlistFiles } = gantry.app.context;
    const old = (await hotlistFiles.listOld(Date.now() + 2 * 3_600_000)).map((file) => file.id);
    expect(old).toContain(failed.id);
    expect(await findWithFile(db, old)).toContain(failed.id);
    const template = { encoding: 'WINDOWS-1252' };
    await gantry.pool.query(`UPDATE hotlist_imports SET at = now() - interval '8 days' WHERE id = $1`, [
      failed.id,
    ]);
    const refusal = await gantry.refusal('hotlists.stage', { importId: failed.id, template }, { token });
    expect(refusal).toMatchObject({ status: 409, message: 'The file is no longer kept: send it again' });
    await gantry.pool.query('UPDATE hotlist_imports SET at = now() WHERE id = $1', [failed.id]);
    await ok('hotlists.stage', { importId: failed.id, template });
    expect(await settled(failed.id)).toMatchObject({ state: 'STAGED', added: 1 });
  });

  it('has whole dates: none is completed with today, or the first of a month', async () => {
    const { id } = await createList();
    const columns = { number: 1, until: 2 };
    const dates = ['2026-05', '2026', '10:30', '2026-W05', 'T10'];
    const content = `${dates.map((date, n) => `WD ${n},${date}`).join('\n')}\nWD 9,2026-05-31T10:00\n`;
    const staged = await stage(id, content, { template: { columns, headerLines: 0 } });
    expect(staged.sample?.invalid.map(({ problem }) => problem)).toEqual(
      dates.map((date) => `${date} is not a time as 2026-01-31`),
    );
    expect(staged).toMatchObject({ lines: 6, invalid: 5 });
    for (const format of ['dd.MM', 'HH:mm', 'yyyy', 'dd.MM.YYYY', 'X']) {
      const template = { columns, headerLines: 0, dates: { format } };
      const refusal = await gantry.refusal('hotlists.stage', { importId: staged.id, template }, { token });
      expect(refusal).toMatchObject({
        status: 400,
        message: expect.stringContaining(`The format ${format} does not give a year, a month and a day`),
      });
    }
    const refused = await gantry.refusal(
      'hotlists.previewFile',
      {
        importId: staged.id,
        template: { columns, headerLines: 0, dates: { format: `yyyyMMdd${'Md'.repeat(20)}` } },
      },
      { token },
    );
    expect(refused).toMatchObject({ status: 400, message: expect.stringContaining('has M in two places') });
    for (const format of ['yyyyMMdd', 'd/M/yy', "dd.MM.yyyy 'd' HH:mm", 'D'])
      expect(
        await stage(id, 'WD 1,\n', { template: { columns, headerLines: 0, dates: { format } } }),
      ).toMatchObject({ state: 'STAGED' });
  });

  it('has dates with a format and a zone, a day until its end', async () => {
    const { id } = await createList();
    const template = {
      columns: { number: 1, from: 2, until: 3, extra: { colour: 4 } },
      dates: { format: 'dd.MM.yyyy', zone: 'Europe/Vienna' },
      headerLines: 0,
    };
    const staged = await stage(id, 'EF 1,28.03.2026,29.03.2026,red\nEF 2,30.02.2026,,\n', { template });
    expect(staged.sample?.invalid).toEqual([
      { line: 2, text: 'EF 2,30.02.2026,,', problem: '30.02.2026 is not a time as dd.MM.yyyy' },
    ]);
    await apply(staged, { override: 'One line' });
    const { entries } = await ok<{ entries: object[] }>('hotlists.getEntries', { hotlistId: id });
    expect(entries).toMatchObject([
      {
        validFrom: '2026-03-27T23:00:00.000Z',
        validUntil: '2026-03-29T21:59:59.999Z',
        extra: { colour: 'red' },
      },
    ]);
  });

  it('has the first of two times that clocks show, in whatever season it is read', async () => {
    const cases = [
      ['Europe/Vienna', '2026-10-25 02:30', '2026-10-25T00:30:00.000Z'],
      ['Australia/Sydney', '2026-04-05 02:30', '2026-04-04T15:30:00.000Z'],
      ['Australia/Sydney', '2026-04-05 02:30 +10', '2026-04-04T16:30:00.000Z'],
    ] as const;
    for (const [zone, text, time] of cases)
      for (const format of ['iso', text.includes('+') ? 'yyyy-MM-dd HH:mm Z' : 'yyyy-MM-dd HH:mm']) {
        const { id } = await createList();
        const template = { columns: { number: 1, from: 2 }, dates: { format, zone }, headerLines: 0 };
        await apply(
          await stage(id, `GH 1,${format === 'iso' ? text.replace(' ', 'T').replace(' ', '') : text}\n`, {
            template,
          }),
        );
        const { entries } = await ok<{ entries: object[] }>('hotlists.getEntries', { hotlistId: id });
        expect(entries, `${zone} ${text} ${format}`).toMatchObject([{ validFrom: time }]);
      }
  });

  it('makes the list what sets of its lines say, in each mode, and every version can be restored', async () => {
    const line = fc.record({
      plate: fc.integer({ min: 10, max: 25 }).map((n) => `PL ${n}`),
      reason: fc.constantFrom('A', 'B'),
      reference: fc.constantFrom('', 'r'),
    });
    const step = fc.record({
      mode: fc.constantFrom('COMPLETE', 'ADD', 'REMOVE'),
      lines: fc.array(line, { minLength: 1, maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const { id } = await createList();
        const template = { columns: { number: 'plate', reason: 'reason', reference: 'case' } };
        const versions: string[][] = [[]];
        let model = new Map<string, string>();
        for (const { mode, lines } of steps) {
          const file = [
            'plate,reason,case',
            ...lines.map(({ plate, reason, reference }) => `${plate},${reason},${reference}`),
          ].join('\n');
          const staged = await stage(id, file, { mode, template });
          const said = new Map(
            lines.map(({ plate, reason, reference }) => [`${plate}|${reference}`, reason]),
          );
          const before = model;
          if (mode === 'COMPLETE') model = said;
          else if (mode === 'ADD') model = new Map([...model, ...said]);
          else
            model = new Map(
              [...model].filter(
                ([key]) =>
                  ![...said.keys()].some(
                    (gone) => key === gone || (gone.endsWith('|') && key.startsWith(gone)),
                  ),
              ),
            );
          if (staged.state === 'UNCHANGED') {
            expect(model).toEqual(before);
            continue;
          }
          expect(staged).toMatchObject({
            added: [...model.keys()].filter((key) => !before.has(key)).length,
            changed: [...model].filter(([key, reason]) => before.has(key) && before.get(key) !== reason)
              .length,
            removed: [...before.keys()].filter((key) => !model.has(key)).length,
            same: [...model].filter(([key, reason]) => before.get(key) === reason).length,
          });
          const applied = await apply(staged, { override: 'test' });
          expect(applied.state).toBe('APPLIED');
          const found = await entriesOf(id);
          const expected = [...model]
            .map(([key, reason]) => `${key.split('|')[0]}||${reason}|${key.split('|')[1]}`)
            .sort();
          expect(found).toEqual(expected);
          versions.push(found);
        }
        const { version } = await ok<{ version: number }>('hotlists.getById', { id });
        const former = Math.max(0, version - 3);
        if (version === 0) return;
        const reverted = await ok<HotlistImport>('hotlists.revert', { id, version: former });
        expect(await settled(reverted.id)).toMatchObject({ state: 'APPLIED' });
        expect(await entriesOf(id)).toEqual(versions[former]);
      }),
      { numRuns: lengthOf({ gate: 2, full: 10 }) },
    );
  });
});
