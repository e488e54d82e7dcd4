import { randomUUID } from 'node:crypto';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { writeWorkbook } from '../src/platform/workbook.ts';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: unknown = {}) => gantry.ok(procedure, input, { token });
const refusal = (procedure: string, input: unknown) => gantry.refusal(procedure, input, { token });

const csv = (...lines: string[]): string => lines.join('\r\n');
const name = (): string => `L ${randomUUID().slice(0, 8)}`;

/** A workbook with other parts, in base64. */
const workbookWith = (rows: string[][], change: (part: (path: string) => string) => object): string => {
  const parts = Object.entries(unzipSync(writeWorkbook('sensors', rows)));
  const files = Object.fromEntries(parts.map(([path, bytes]) => [path, strFromU8(bytes)]));
  const changed: Record<string, string> = { ...files, ...change((path) => files[path] ?? '') };
  const bytes = zipSync(
    Object.fromEntries(Object.entries(changed).map(([path, xml]) => [path, strToU8(xml)])),
  );
  return Buffer.from(bytes).toString('base64');
};

describe('a file of sensors', () => {
  it('registers hundreds of sensors in one transaction, and returns their keys once', async () => {
    const place = name();
    await ask('locations.create', { name: place });
    const lines = Array.from(
      { length: 300 },
      (_, n) => `bulk-${n};Camera ${n};anpr;${place};52,5;13,${n};Ring 1|day`,
    );
    const text = csv('Device ID;Name;Type;Location;Lat;Lon;Tags', ...lines);
    const compared = await ask('sensors.import', { text, dryRun: true });
    expect(compared).toMatchObject({ created: 300, changed: 0, same: 0, errorCount: 0, keys: [] });
    expect(compared.columns).toEqual([
      'deviceId',
      'name',
      'type',
      'location',
      'latitude',
      'longitude',
      'tags',
    ]);
    expect(await gantry.count(`sensors WHERE device_id LIKE 'bulk-%'`)).toBe(0);
    const applied = await ask('sensors.import', { text, expected: compared.fingerprint });
    expect(applied.keys).toHaveLength(300);
    expect(applied.fingerprint).toBe(compared.fingerprint);
    const [first] = applied.keys;
    const found = await ask('sensors.getById', { id: first.id });
    expect(found).toMatchObject({
      deviceId: 'bulk-0',
      type: 'ANPR',
      status: 'OFFLINE',
      coordinates: { latitude: 52.5, longitude: 13 },
      tags: ['Ring 1', 'day'],
      apiKey: first.apiKey,
    });
    expect((await ask('sensors.getStatusHistory', { id: first.id })).history).toMatchObject([
      { from: null, to: 'OFFLINE', reason: 'registered' },
    ]);
    const sent = await gantry.call('events.ingest', { apiKey: first.apiKey, eventType: 'VEHICLE_DETECTION' });
    expect(sent.status).toBe(200);
    expect(await ask('sensors.import', { text })).toMatchObject({
      created: 0,
      changed: 0,
      same: 300,
      keys: [],
    });
    const { rows } = await gantry.pool.query(
      `SELECT details FROM activity WHERE action = 'sensors.import' ORDER BY id LIMIT 1`,
    );
    expect(rows[0]?.details).toMatchObject({ created: 300, changed: 0 });
  });

  it.each(['CSV', 'XLSX'])('is the same when it is exported and imported as %s', async (format) => {
    const place = name();
    await ask('locations.create', { name: place });
    const { id: locationId } = (await ask('locations.getAll', { search: place })).locations[0];
    await ask('sensors.create', {
      name: '=HYPERLINK("x")',
      deviceId: randomUUID(),
      type: 'RADAR',
      locationId,
      coordinates: { latitude: -33.5, longitude: 151.25, address: 'A; "B"' },
      lane: 2,
      direction: 'NB',
      make: 'Acme; "A"',
      serialNumber: '007',
      warrantyUntil: '2031-02-28',
      certificatePlace: 'https://files.example/1?a=b;c',
      tags: ['a', 'b c'],
      description: 'two\nlines, ünïcode عربي',
      requiresHeartbeats: true,
      eventsPerMin: 7,
    });
    for (const noun of ['sensors', 'locations']) {
      const exported = await ask(`${noun}.export`, { format });
      expect(exported.fileName).toBe(`${noun}.${format.toLowerCase()}`);
      const again = await ask(`${noun}.import`, { base64: exported.base64, dryRun: true });
      expect(again).toMatchObject({ created: 0, changed: 0, errorCount: 0, same: exported.rowCount });
    }
  });

  it('changes what its columns say, records moves, and leaves the rest', async () => {
    const [one, two] = [name(), name()];
    for (const each of [one, two]) await ask('locations.create', { name: each, speedLimit: 50 });
    const from = (await ask('locations.getAll', { search: one })).locations[0].id;
    const deviceId = randomUUID();
    const { id } = await ask('sensors.create', {
      name: 'Before',
      deviceId,
      type: 'CAMERA',
      locationId: from,
      model: 'X1',
      ipAddress: '10.0.0.1',
    });
    const text = csv('deviceId,location,model,eventsPerMin', `${deviceId},${two.toUpperCase()},,`);
    const plan = await ask('sensors.import', { text, dryRun: true });
    expect(plan.rows).toMatchObject([
      {
        line: 2,
        key: deviceId,
        result: 'CHANGED',
        changes: [
          { field: 'location', from: one, to: two },
          { field: 'model', from: 'X1', to: null },
        ],
      },
    ]);
    // Something else changes meanwhile.
    await ask('sensors.update', { id, model: 'X2' });
    expect(await refusal('sensors.import', { text, expected: plan.fingerprint })).toMatchObject({
      status: 409,
    });
    expect(await ask('sensors.import', { text })).toMatchObject({ changed: 1 });
    const after = await ask('sensors.getById', { id });
    expect(after).toMatchObject({ name: 'Before', model: null, ipAddress: '10.0.0.1', eventsPerMin: 20 });
    const { rows } = await gantry.pool.query(
      'SELECT location_id FROM sensor_places WHERE sensor_id = $1 ORDER BY since',
      [id],
    );
    expect(rows.map((row) => row.location_id)).toEqual([from, after.locationId]);
  });

  it('with errors names each by line and column, and changes nothing', async () => {
    const deviceId = randomUUID();
    const text = csv(
      'deviceId,name,type,latitude,longitude,location,eventsPerMin,tags',
      `${deviceId},Good one,RADAR,,,,,`,
      `${deviceId},Same device,RADAR,,,,,`,
      `${randomUUID()},No,RADAR,,,,,`,
      `${randomUUID()},Type,TELESCOPE,,,,,`,
      `${randomUUID()},Half a place,RADAR,52.1,,,,`,
      `${randomUUID()},North of it,RADAR,95,13,,,`,
      `${randomUUID()},No such place,RADAR,,,Atlantis,,`,
      `${randomUUID()},Many,RADAR,,,,none,`,
      `${randomUUID()},Tags,RADAR,,,,,a;A`,
      `,Nameless,RADAR,,,,,`,
      `${randomUUID()},Long,RADAR,,,,,,,surplus`,
    );
    const plan = await ask('sensors.import', { text, dryRun: true });
    expect(plan).toMatchObject({ created: 1, errorCount: 10, rowCount: 11 });
    const told = plan.errors.map(
      ({ line, column, message }: { line: number; column: string; message: string }) => [
        line,
        column,
        message,
      ],
    );
    expect(told.map(([line, column]: [number, string]) => [line, column])).toEqual([
      [3, 'deviceId'],
      [4, 'name'],
      [5, 'type'],
      [6, 'longitude'],
      [7, 'latitude'],
      [8, 'location'],
      [9, 'eventsPerMin'],
      [10, 'tags'],
      [11, 'deviceId'],
      [12, null],
    ]);
    expect(told[0][2]).toContain('line 2');
    expect(told[5][2]).toContain('"Atlantis"');
    const refused = await refusal('sensors.import', { text });
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.message).toContain('Nothing was changed. Line 3: deviceId');
    expect(refused.message).toContain('(and 9 more)');
    expect(await gantry.count(`sensors WHERE device_id = '${deviceId}'`)).toBe(0);
  });

  it.each([
    ['an unknown column', 'deviceId,colour\n1,red\n', 'the column "colour" is not known'],
    ['two columns with one meaning', 'deviceId,name,Name\n1,a,b\n', 'two columns are name'],
    ['no key', 'name,type\na,RADAR\n', 'there is no column deviceId'],
    ['nothing', '', 'The file is empty'],
    ['50,000 lines', `deviceId\n${'x\n'.repeat(50_000)}`, 'more than 5000 rows'],
  ])('with %s is refused before it is compared', async (_, text, message) => {
    const { status, message: told } = await refusal('sensors.import', { text, dryRun: true });
    expect([status, told]).toEqual([400, expect.stringContaining(message)]);
  });

  it('that is a damaged or hostile workbook is refused', async () => {
    const whole = Buffer.from(writeWorkbook('sensors', [['deviceId'], ['a']]));
    for (const bytes of [whole.subarray(0, whole.length / 2), Buffer.from('PK\u0003\u0004')]) {
      const input = { base64: Buffer.from(bytes).toString('base64'), dryRun: true };
      expect(await refusal('sensors.import', input)).toMatchObject({ status: 400 });
    }
    const rows = Array.from({ length: 900 }, (_, n) => [`bomb-${n}`, 'x'.repeat(32_000)]);
    const large = Buffer.from(writeWorkbook('sensors', [['deviceId', 'description'], ...rows])).toString(
      'base64',
    );
    expect(large.length).toBeLessThan(1_000_000);
    expect((await refusal('sensors.import', { base64: large, dryRun: true })).message).toContain('too large');
    const shared = workbookWith([['deviceId'], ...Array.from({ length: 30 }, () => ['text'])], (part) => ({
      'xl/_rels/workbook.xml.rels': part('xl/_rels/workbook.xml.rels').replace(
        '</Relationships>',
        '<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
      ),
      'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(1_000_000)}</t></si></sst>`,
      'xl/worksheets/sheet1.xml': part('xl/worksheets/sheet1.xml').replaceAll(
        /t="inlineStr"><is><t[^>]*>text<.t><.is>/g,
        't="s"><v>0</v>',
      ),
    }));
    expect((await refusal('sensors.import', { base64: shared, dryRun: true })).message).toContain(
      'too large',
    );
  });

  it('that takes long to read delays nothing else meanwhile', async () => {
    const attributes = Array.from({ length: 15_000 }, (_, n) => `a${n}="1"`).join(' ');
    const base64 = workbookWith([['deviceId'], ['slow']], (part) => ({
      'xl/worksheets/sheet1.xml': part('xl/worksheets/sheet1.xml').replace(
        '<sheetData>',
        `<x ${attributes}/><sheetData>`,
      ),
    }));
    let isAnswered = false;
    const answered = refusal('sensors.import', { base64, dryRun: true }).finally(() => {
      isAnswered = true;
    });
    let others = 0;
    for (; !isAnswered; others++) await gantry.fetch('/live');
    // Where that takes longer than it may, it is refused.
    expect([200, 400]).toContain((await answered).status);
    // Reading takes seconds, each other call milliseconds.
    expect(others).toBeGreaterThan(20);
  }, 60_000);

  it.each([
    ['in the last row and column', '<c r="XFD1048576"', 'row 1048576'],
    ['in a row that is no number', '<row r="Infinity"><c r="A2"', 'Infinity is the address of no cell'],
    ['in a column beyond all', '<c r="AAAAAAAA2"', 'AAAAAAAA2 is the address of no cell'],
    ['at an address in references', '<c r="XFD&#49;048576"', 'address of no cell'],
  ])('with a cell %s is refused', async (_, cell, message) => {
    const base64 = workbookWith([['deviceId'], ['far-away']], (part) => ({
      'xl/worksheets/sheet1.xml': part('xl/worksheets/sheet1.xml').replace(
        cell.includes('<row') ? '<row r="2"><c r="A2"' : '<c r="A2"',
        cell,
      ),
    }));
    const input = { base64, dryRun: true };
    expect(await refusal('sensors.import', input)).toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
  });
});

describe('a file of locations', () => {
  it('adds and changes them by id or name, and records changed limits', async () => {
    const [old, renamed, added] = [name(), name(), name()];
    const { id } = await ask('locations.create', { name: old, speedLimit: 50, road: 'A9' });
    const text = csv('id;name;speedLimit;hasShoulder;km', `${id};${renamed};80;ja;12,5`, `;${added};;no;`);
    const applied = await ask('locations.import', { text });
    expect(applied).toMatchObject({ created: 1, changed: 1 });
    expect(await ask('locations.getById', { id })).toMatchObject({
      name: renamed,
      speedLimit: 80,
      hasShoulder: true,
      kilometre: 12.5,
      road: 'A9',
    });
    const { rows } = await gantry.pool.query(
      'SELECT speed_limit FROM location_limits WHERE location_id = $1 ORDER BY since',
      [id],
    );
    expect(rows.map((row) => row.speed_limit)).toEqual([50, 80]);
    await ask('locations.create', { name: added });
    expect(await ask('locations.import', { text: csv('name', added), dryRun: true })).toMatchObject({
      errors: [{ line: 2, column: 'name', message: expect.stringContaining('Several locations') }],
    });
  });
});
