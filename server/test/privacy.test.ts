import { execFileSync } from 'node:child_process';
import { createHash, createHmac, createPrivateKey, hkdfSync, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { switchableFeatures } from '@gantry/contract/system';
import { writeSegment } from '@gantry/spool/segment';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { checkSeals } from '../src/evidence/check.ts';
import { sealNew } from '../src/evidence/sealer.ts';
import { openSealingKey } from '../src/evidence/seals.ts';
import { runChecks } from '../src/operations/consistency/checks.ts';
import { type EraseOptions, erasePlate } from '../src/operations/privacy/erase.ts';
import { exportPlate } from '../src/operations/privacy/export.ts';
import { findPlate } from '../src/operations/privacy/find.ts';
import { EVENTS, PLACES } from '../src/operations/privacy/places.ts';
import { PlateTexts, refusalOf } from '../src/operations/privacy/plate-texts.ts';
import type { PrivacyParts } from '../src/operations/privacy/search.ts';
import { eventually, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { dataUrl, png } from './sample-images.ts';

const PLATE = '34 ABC 123';
const KEY = '34ABC123';
/** Spellings with the same key, in texts. */
const SPELLINGS = [
  '34ABC123',
  '34 abc 123',
  '34-ABC-123',
  '３４ＡＢＣ１２３',
  '34\u00a0ABC\u00a0123',
  '34.Abc.123',
];

const gantry = await sharedGantry();
const { db, config, images } = gantry.app.context;
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();
const owner = new pg.Client({ connectionString: config.DATABASE_URL });
await owner.connect();
afterAll(() => owner.end());

const parts: PrivacyParts = {
  db,
  files: images.files,
  dataDir: config.DATA_DIR,
  backupDir: undefined,
  backupKeep: 7,
};
const erase = (options: Partial<EraseOptions> = {}, more: Partial<PrivacyParts> = {}) =>
  erasePlate({ ...parts, ...more }, PLATE, {
    reason: 'request 17',
    withLists: true,
    exceptHeld: false,
    ...options,
  });
const ingest = async (more: object): Promise<string> =>
  (
    await gantry.ok<{ eventId: string }>('events.ingest', {
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: PLATE,
      vehicleSpeed: 50,
      ...more,
    })
  ).eventId;

const isFollowedUp = () =>
  eventually(
    () => gantry.count('events_to_follow_up'),
    (n) => n === 0,
  );

/** Whether a text contains the plate, decided without the code of the product. */
const names = (text: string): boolean =>
  text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .includes(KEY);

/** The tables whose rows contain the plate, read whole. */
const tablesNaming = async (): Promise<string[]> => {
  const { rows: tables } = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await owner.query<{ row: string }>(
      `SELECT to_jsonb(t)::text AS row FROM "${name}" AS t`,
    );
    if (rows.some(({ row }) => names(row))) found.push(name);
  }
  return found;
};

/** The files under a folder that contain the plate; images as bytes are compared with nothing. */
const filesNaming = async (folder: string): Promise<string[]> => {
  const found: string[] = [];
  for (const each of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(each.parentPath, each.name);
    if (each.isFile() && names(await readFile(path, 'utf8'))) found.push(path);
  }
  return found;
};

interface ColumnOf {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly word: string | null;
}

/** The columns of a table that need a value, or may have a text; `word`: the first word that a check allows. */
const columnsOf = async (table: string): Promise<ColumnOf[]> => {
  const { rows } = await owner.query<ColumnOf>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type,
       attnotnull AND NOT atthasdef AND attidentity = '' AS required,
       (SELECT substring(pg_get_constraintdef(oid) FROM 'ARRAY\\[''([^'']+)''') FROM pg_constraint
        WHERE conrelid = attrelid AND contype = 'c' AND conkey = ARRAY[attnum] LIMIT 1) AS word
     FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     ORDER BY attnum`,
    [table],
  );
  return rows;
};

const FILLERS: Readonly<Record<string, unknown>> = {
  uuid: '01900000-0000-7000-8000-000000000001',
  text: 'x',
  jsonb: '{}',
  boolean: false,
  bytea: Buffer.from('x'),
  date: '2026-01-01',
};

/** Columns that a check requires together with others. */
const TOGETHER: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  shifts: {
    handed_over_at: new Date().toISOString(),
    handed_over_by: FILLERS.uuid,
    ended_at: new Date().toISOString(),
    closed_by: FILLERS.uuid,
  },
};

let nextSpelling = 0;
const spelled = (): string => `seen ${SPELLINGS[nextSpelling++ % SPELLINGS.length]}, again`;

/** Inserts a row that names the plate in every column in which an erasure looks for it. */
const plant = async (table: string, { texts }: { readonly texts: readonly string[] }): Promise<void> => {
  const columns = await columnsOf(table);
  let times = 0;
  const given = columns.flatMap(({ name, type, required, word }) => {
    if (texts.includes(name)) {
      const text = spelled();
      if (type === 'jsonb')
        return [[name, JSON.stringify({ note: text, list: [{ inner: spelled() }] })] as const];
      return [[name, type === 'text[]' ? [text] : text] as const];
    }
    const together = TOGETHER[table]?.[name];
    if (together !== undefined) return [[name, together] as const];
    if (!required) return [];
    // An end comes after its start.
    if (type.startsWith('timestamp'))
      return [[name, new Date(Date.now() + times++ * 1_000).toISOString()] as const];
    return [
      [
        name,
        word ?? (type === 'uuid' ? randomUUID() : FILLERS[type]) ?? (type.endsWith('[]') ? [] : 1),
      ] as const,
    ];
  });
  const columnNames = given.map(([name]) => `"${name}"`).join(', ');
  const values = given.map((_, at) => `$${at + 1}`).join(', ');
  await owner.query('SET session_replication_role = replica');
  await owner
    .query(
      `INSERT INTO "${table}" (${columnNames}) VALUES (${values})`,
      given.map(([, value]) => value),
    )
    .finally(() => owner.query('SET session_replication_role = origin'));
};

const searched = Object.entries(PLACES).filter(([, { texts }]) => texts.length > 0);

describe('the list of places', () => {
  it('has every column of text or JSON of the schema once, and no other', async () => {
    const { rows } = await owner.query<{ place: string }>(
      `SELECT relname || '.' || attname AS place FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
         AND attnum > 0 AND NOT attisdropped AND relname <> 'schema_migrations'
         AND format_type(atttypid, NULL) IN ('text', 'text[]', 'jsonb', 'json', 'character varying') ORDER BY 1`,
    );
    const listed = Object.entries({ ...PLACES, events: EVENTS }).flatMap(([table, { texts, named, none }]) =>
      [...texts, ...named, ...none].map((name) => `${table}.${name}`),
    );
    expect(listed.sort()).toEqual(rows.map(({ place }) => place).sort());
  });

  it('has only tables with primary keys, or unique ones, by which they are read page by page', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relname = ANY ($1) AND NOT EXISTS (
         SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`,
      [
        Object.entries(PLACES).flatMap(([name, { texts, named, key }]) =>
          texts.length + named.length === 0 || key ? [] : [name],
        ),
      ],
    );
    expect(rows).toEqual([]);
  });
});

describe('a plate in a text', () => {
  const texts = new PlateTexts(PLATE);
  it.each([
    ['34ABC123', '•••'],
    ['the car 34-abc-123.', 'the car •••.'],
    ['３４ＡＢＣ１２３', '•••'],
    ['cam_34ABC123_2026.jpg', 'cam_•••_2026.jpg'],
    ['34 ABC 123 and 34ABC123', '••• and •••'],
    ['?plate=34%20ABC%20123', '•••'],
    ['"\\u0033\\u0034ABC123"', '•••'],
    ['<p>34&#32;ABC&#x20;123</p>', '•••'],
    ['<p>&#51;&#x34;ABC123</p>', '•••'],
    ['234ABC123', '234ABC123'],
    ['34ABC1234', '34ABC1234'],
    ['𝒜34ABC123', '𝒜34ABC123'],
    ['34, for example, ABC 123', '34, for example, ABC 123'],
    ['a 34\nABC123', 'a 34\nABC123'],
    ['34    ABC123 ', '•••'],
  ])('%j becomes %j', (text, masked) => {
    expect(texts.mask(text)).toBe(masked);
  });

  it('is masked in JSON, in members, numbers and JSON in texts, and leaves other values as they are', () => {
    expect(texts.maskValue({ '34ABC123': [1, { a: 'is 34abc123' }], b: null })).toEqual({
      '•••': [1, { a: 'is •••' }],
      b: null,
    });
    expect(texts.maskValue('{"a":"34 ABC\\t123"}')).toBe('{"a":"•••"}');
    const other = { a: ['34ABC124'] };
    expect(texts.maskValue(other)).toBe(other);
    expect(new PlateTexts('12345').maskValue({ plate: 12345, n: 123456 })).toEqual({
      plate: '•••',
      n: 123456,
    });
  });

  it('is no number that counts or measures something: a text in its place could not be read', () => {
    const numeric = new PlateTexts('12345');
    const figures = { line: 12345, list: [12345], text: 'is 12345' };
    expect(numeric.maskValue(figures, 'sample')).toEqual({ ...figures, text: 'is •••' });
    expect(numeric.maskValue({ line: 12345 }, 'metadata')).toEqual({ line: '•••' });
    const event = { vehicleSpeed: 12345, metadata: { read: [12345] } };
    expect(numeric.maskValue({ event }, 'body')).toEqual({
      event: { vehicleSpeed: 12345, metadata: { read: ['•••'] } },
    });
    expect(numeric.isIn({ line: 12345 }, 'sample')).toBe(false);
  });

  it.each(['', ' - ', '*', '34AB*', '34?BC', '34\ufffdBC', 'AB', 'A'.repeat(21)])(
    'is refused: %j',
    (plate) => {
      expect(refusalOf(plate)).toMatch(/plate/);
    },
  );

  it.each(['34 ABC 123', 'А123ВС77', '١٢٣ أ ب ج', 'İ34'])('is accepted: %s', (plate) => {
    expect(refusalOf(plate)).toBeNull();
  });
});

describe('an erasure', () => {
  beforeEach(async () => {
    await erase({ exceptHeld: true });
  });

  it('agrees with what gantry db check compares', async () => {
    await gantry.ok('watchlist.create', { pattern: PLATE, reason: 'stolen', priority: 'HIGH' }, { token });
    await ingest({ description: 'x' });
    await ingest({ eventType: 'TRAFFIC_VIOLATION', violationType: 'RED_LIGHT' });
    await isFollowedUp();
    await rollUpAllTraffic(gantry, 200);
    const check = async () =>
      (
        await runChecks({
          connectionString: config.DATABASE_URL ?? '',
          features: switchableFeatures,
          limit: 100,
          onResult: () => undefined,
        })
      ).filter(({ differences }) => differences.length > 0);
    expect(await check()).toEqual([]);
    expect((await erase()).counts).toMatchObject({ events: 2, watchlist_alerts: 1 });
    expect(await check()).toEqual([]);
  });

  it('leaves nothing that names the plate in any table or file, and all counts as they were', async () => {
    const image = png({ shade: 101 });
    const own = await ingest({
      images: [dataUrl(image, 'image/png')],
      description: `Read ${PLATE}`,
      metadata: { raw: KEY },
      tags: [KEY, 'bus'],
    });
    await ingest({ eventType: 'TRAFFIC_VIOLATION', violationType: 'RED_LIGHT' });
    const other = await ingest({ licensePlateNumber: '06 XYZ 99', description: 'behind 34-abc-123' });
    await gantry.ok('watchlist.create', { pattern: PLATE, reason: 'stolen', priority: 'HIGH' }, { token });
    await isFollowedUp();
    for (const [table, place] of searched) await plant(table, place);
    const planted = await tablesNaming();
    for (const [table] of searched) expect(planted).toContain(table);

    const { dataDir } = parts;
    await mkdir(join(dataDir, 'gateway-spool'), { recursive: true });
    await writeSegment(join(dataDir, 'gateway-spool', '1-1-x.messages-y.damaged'), [
      Buffer.from(`{"plate":"${KEY}"}`),
    ]);
    const day = new Date().toISOString().slice(0, 10);
    const { id: reportId } = await gantry.ok(
      'reports.generate',
      { kind: 'EVENTS', format: 'CSV', startDate: day, endDate: day },
      { token },
    );
    await eventually(
      () => gantry.ok('reports.getById', { id: reportId }, { token }),
      ({ status }) => status === 'DONE',
    );
    expect(await filesNaming(join(dataDir, 'reports'))).toHaveLength(1);
    await rollUpAllTraffic(gantry, 200);
    const stats = await gantry.ok('events.getStats', {}, { token });
    const traffic = (await owner.query('SELECT * FROM traffic_bins ORDER BY 1, 2, 3, 4')).rows;
    const sealing = {
      db,
      mode: 'all' as const,
      key: await openSealingKey(dataDir),
      folder: join(dataDir, 'seals'),
    };
    await owner.query("UPDATE seal_progress SET sealed_until = now() - interval '1 hour'");
    await sealNew(sealing, () => false);
    expect((await checkSeals(db, { from: 1 })).faults).toEqual([]);

    // The service has removed some of these rows meanwhile, because nothing belongs to them.
    const still = await tablesNaming();
    const found = await findPlate(parts, PLATE, null);
    const foundIn = found.places.filter(({ fate }) => fate !== 'kept').map(({ place }) => place);
    for (const table of still.filter((name) => name in PLACES)) expect(foundIn).toContain(table);
    expect(still.length).toBeGreaterThan(25);
    expect(found.places.find(({ place }) => place === 'events')?.ids).toContain(own);
    expect(found.places.find(({ place }) => place === 'events')?.ids).toContain(other);

    const erased = await erase();
    expect(erased).toMatchObject({ held: 0, left: {} });
    expect(erased.counts).toMatchObject({ events: 3, images: 1, files: 1, reports: expect.any(Number) });
    expect(await tablesNaming()).toEqual([]);
    expect(await filesNaming(dataDir)).toEqual([]);
    const { rows: segments } = await owner.query<{ name: string }>('SELECT name FROM image_segments');
    for (const { name } of segments) {
      const bytes = await readFile(images.files.segments.pathOf(name)).catch(() => Buffer.alloc(0));
      expect(bytes.includes(image)).toBe(false);
    }
    expect(await gantry.ok('events.getStats', {}, { token })).toEqual(stats);
    expect((await owner.query('SELECT * FROM traffic_bins ORDER BY 1, 2, 3, 4')).rows).toEqual(traffic);
    const event = await gantry.ok('events.getById', { id: own }, { token });
    expect(event).toMatchObject({ licensePlateNumber: null, vehicleSpeed: 50, description: null });
    const rest = await gantry.ok('events.getById', { id: other }, { token });
    expect(rest).toMatchObject({ licensePlateNumber: '06 XYZ 99', description: 'behind •••' });

    const checked = await checkSeals(db, { from: 1 });
    expect(checked.faults).toEqual([]);
    expect(checked.erased).toBeGreaterThanOrEqual(4);
    const proof = await gantry.ok('evidence.getProof', { eventId: own }, { token });
    expect(proof.state).toBe('ERASED');

    expect(await erase()).toMatchObject({ erasureId: null, counts: {}, left: {} });
    expect((await findPlate(parts, PLATE, null)).places).toEqual([]);
  });

  it('leaves a proof that only the key of the installation can compare with a plate', async () => {
    await ingest({});
    const { erasureId } = await erase();
    const { rows } = await owner.query('SELECT * FROM erasures WHERE id = $1', [erasureId]);
    expect(rows[0]).toMatchObject({ reason: 'request 17', counts: { events: 1 } });
    const { d = '' } = createPrivateKey(await readFile(join(parts.dataDir, 'seal-key'), 'utf8')).export({
      format: 'jwk',
    });
    const proofOf = (key: string) =>
      createHmac(
        'sha256',
        Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), rows[0].salt, 'gantry erasure', 32)),
      )
        .update(key)
        .digest();
    expect(proofOf(KEY)).toEqual(rows[0].proof);
    expect(proofOf('34ABC124')).not.toEqual(rows[0].proof);
    const { rows: logged } = await owner.query(
      `SELECT details FROM activity WHERE action = 'privacy.erase' AND details ->> 'erasureId' = $1 ORDER BY id`,
      [erasureId],
    );
    expect(logged).toMatchObject([
      { details: { reason: 'request 17', proof: rows[0].proof.toString('hex') } },
      { details: { counts: { events: 1 } } },
    ]);
    const known = await findPlate(parts, '34.abc.123', null);
    expect(known.erasures.map(({ id }) => id)).toContain(erasureId);
    expect((await findPlate(parts, '34ABC124', null)).erasures).toEqual([]);
  });

  it('is a difference for the check of seals if the activity log does not have it', async () => {
    const id = await ingest({ eventType: 'TRAFFIC_VIOLATION', violationType: 'RED_LIGHT' });
    const sealing = {
      db,
      mode: 'all' as const,
      key: await openSealingKey(parts.dataDir),
      folder: join(parts.dataDir, 'seals'),
    };
    await sealNew(sealing, () => false);
    await erase();
    await owner.query(`UPDATE activity SET action = 'x' WHERE action = 'privacy.erase'`);
    const { faults } = await checkSeals(db, { from: 1 });
    await owner.query(`UPDATE activity SET action = 'privacy.erase' WHERE action = 'x'`);
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'CHANGED', recordId: id }));
    expect((await checkSeals(db, { from: 1 })).faults).toEqual([]);
  });

  it('is refused, by name, while a legal hold keeps an event, and erases the others only if told to', async () => {
    const [held, free] = [await ingest({}), await ingest({ description: 'free' })];
    const hold = await gantry.ok('storage.setHold', { eventIds: [held], reason: 'case 9' }, { token });
    await expect(erase()).rejects.toThrow(`legal hold ${hold.id} (case 9)`);
    expect((await gantry.ok('events.getById', { id: free }, { token })).licensePlateNumber).toBe(PLATE);
    expect(await erase({ exceptHeld: true })).toMatchObject({ held: 1, counts: { events: 1 } });
    expect((await gantry.ok('events.getById', { id: held }, { token })).licensePlateNumber).toBe(PLATE);
    expect((await gantry.ok('events.getById', { id: free }, { token })).licensePlateNumber).toBeNull();
    await gantry.ok('storage.releaseHold', { id: hold.id }, { token });
    expect(await erase()).toMatchObject({ held: 0, counts: { events: 1 } });
  });

  it('continues where it was interrupted, and is one erasure', async () => {
    const shared = png({ shade: 115 });
    const images = [dataUrl(shared, 'image/png')];
    await ingest({ description: 'first', images });
    const other = await ingest({ licensePlateNumber: '06 XYZ 98', images });
    await plant('watchlist_alerts', PLACES.watchlist_alerts ?? EVENTS);
    await plant('works', PLACES.works ?? EVENTS);
    const stop = (table: string): void => {
      if (table === 'watchlist_alerts') throw new Error('killed');
    };
    await expect(erase({}, { onProgress: stop })).rejects.toThrow('killed');
    expect(await tablesNaming()).not.toEqual([]);
    const { rows } = await owner.query(
      'SELECT id FROM erasures WHERE finished_at IS NULL AND length(salt) = 16',
    );
    const { erasureId, counts, sharedImages } = await erase();
    expect(rows).toEqual([{ id: erasureId }]);
    const sha256 = createHash('sha256').update(shared).digest('hex');
    expect(sharedImages).toEqual([{ sha256, of: 'event', id: other }]);
    expect(counts).toMatchObject({ events: 1, watchlist_alerts: expect.any(Number), works: 1 });
    expect(await tablesNaming()).toEqual([]);
  });

  it('leaves entries of lists unless told to remove them, and names and settings in any case, and says so', async () => {
    const { id } = await gantry.ok(
      'watchlist.create',
      { pattern: PLATE, reason: 'x', priority: 'LOW' },
      { token },
    );
    await gantry.ok('locations.create', { name: 'Named', description: `Yard of ${PLATE}` }, { token });
    const found = await findPlate(parts, PLATE, null);
    expect(found.places).toContainEqual({ place: 'watchlist_entries', fate: 'lists', count: 1, ids: [id] });
    const { left } = await erase({ withLists: false });
    expect(left).toEqual({ watchlist_entries: 1, locations: 1 });
    const again = await erase();
    expect(again.counts).toMatchObject({ watchlist_entries: 1 });
    expect(again.left).toEqual({ locations: 1 });
    await owner.query(`UPDATE locations SET description = NULL WHERE name = 'Named'`);
  });

  it('leaves images that something else has, and names what', async () => {
    const own = png({ shade: 111 });
    const attached = [112, 113].map((shade) => png({ shade }));
    const again = png({ shade: 114 });
    const images = [own, ...attached, again].map((bytes) => dataUrl(bytes, 'image/png'));
    await ingest({ images });
    const other = await ingest({ licensePlateNumber: '06 XYZ 99', images: images.slice(3) });
    await isFollowedUp();
    const crash = { title: 'Crash', type: 'COLLISION', severity: 'HIGH' };
    const { id: incidentId } = await gantry.ok('incidents.create', crash, { token });
    const note = { id: incidentId, note: 'Seen', images: images.slice(1, 2) };
    await gantry.ok('incidents.addNote', note, { token });
    const { sensors } = await gantry.ok('sensors.getAll', {}, { token });
    const fault = { sensorId: sensors[0].id, text: 'Blurred', images: images.slice(2, 3) };
    const { id: faultId } = await gantry.ok('faults.report', fault, { token });
    const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    const shared = [
      { sha256: digest(attached[0] ?? own), of: 'incident', id: incidentId },
      { sha256: digest(attached[1] ?? own), of: 'fault', id: faultId },
      { sha256: digest(again), of: 'event', id: other },
    ].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    const found = (await findPlate(parts, PLATE, null)).places.filter(({ place }) => place === 'images');
    expect(found).toEqual([
      {
        place: 'images',
        fate: 'shared',
        count: 3,
        ids: shared.map(({ sha256, of, id }) => `${sha256} ${of} ${id}`),
      },
      { place: 'images', fate: 'erased', count: 1, ids: [digest(own)] },
    ]);
    expect(await erase()).toMatchObject({ counts: { images: 1 }, sharedImages: shared });
    for (const bytes of [...attached, again])
      expect(await gantry.app.context.images.find(digest(bytes))).not.toBeNull();
    expect(await gantry.app.context.images.find(digest(own))).toBeNull();
    expect(await erase()).toMatchObject({ erasureId: null, sharedImages: [] });
  });

  it.each([
    ['windows-1252', Buffer.from('plate\r\nS\xd6-AB 471\r\n', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFFplate\nSÖ-AB 471\n', 'utf16le')],
    ['UTF-16 of the other order', Buffer.from('\uFEFFplate\nSÖ-AB 471\n', 'utf16le').swap16()],
    ['UTF-8', Buffer.from('plate\nSÖ-AB 471\n')],
  ])('names files of lists in %s', async (_, content) => {
    const folder = join(config.DATA_DIR, 'hotlists', 'list', 'uploads');
    await mkdir(folder, { recursive: true });
    const path = join(folder, 'file');
    await writeFile(path, content);
    const { places } = await findPlate(parts, 'SÖ AB 471', null);
    expect(places).toContainEqual({ place: 'files', fate: 'kept', count: 1, ids: [path] });
    await rm(path);
  });

  it('reads files only, and waits for no pipe', async () => {
    const folder = join(config.DATA_DIR, 'hotlists', 'list', 'in');
    await mkdir(folder, { recursive: true });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await symlink(join(folder, 'nothing'), join(folder, 'link'));
    await findPlate(parts, PLATE, null);
    await rm(folder, { recursive: true });
  });

  const xml = '<plate>SÖ-AB 471</plate>';
  const MESSAGES: readonly [string, string | null, Buffer | null][] = [
    ['with references', xml.replace('Ö', '&#214;'), null],
    ['in windows-1252', null, Buffer.from(xml, 'latin1')],
    ['in UTF-16', null, Buffer.from(xml, 'utf16le')],
    ['compressed with gzip', null, gzipSync(xml)],
    ['compressed with zlib', null, deflateSync(Buffer.from(xml, 'latin1'))],
  ];
  it.each(MESSAGES)('removes messages of devices %s, which were refused', async (_, text, bytes) => {
    const part = { name: null, contentType: null, text, base64: bytes?.toString('base64') ?? null };
    await owner.query('SET session_replication_role = replica');
    await owner
      .query(
        `INSERT INTO device_messages (id, connection_id, received_at, status, method, path, bytes, parts)
         SELECT gen_random_uuid(), gen_random_uuid(), now(), 'REFUSED', 'POST', '/', 1, parts FROM unnest($1::text[]) AS parts`,
        [[JSON.stringify([part]), JSON.stringify([{ ...part, text: 'SÖ-AB 472', base64: null }])]],
      )
      .finally(() => owner.query('SET session_replication_role = origin'));
    const { counts } = await erasePlate(parts, 'söab471', {
      ...{ reason: 'request 19', withLists: true, exceptHeld: false },
    });
    expect(counts).toMatchObject({ device_messages: 1 });
    expect(await gantry.count('device_messages')).toBe(1);
    await owner.query('DELETE FROM device_messages');
  });

  it('refuses a reason that names the plate', async () => {
    await expect(erase({ reason: `owner of ${KEY}` })).rejects.toThrow('names the plate');
  });
});

describe('an export', () => {
  it('has the events, the texts and the images with hashes, and masks the plates of others', async () => {
    const image = png({ shade: 55 });
    await ingest({ images: [dataUrl(image, 'image/png')], description: 'before 06 XYZ 98' });
    await ingest({ licensePlateNumber: '06 XYZ 98', description: 'behind 34-abc-123' });
    const folder = await mkdtemp(join(tmpdir(), 'gantry-privacy-'));
    afterAll(() => rm(folder, { recursive: true, force: true }));
    const to = join(folder, 'export');
    const made = await exportPlate(parts, PLATE, { folder: to, reason: 'request 18' });
    expect(made).toMatchObject({ images: 1, lackingImages: 0 });
    const data = JSON.parse(await readFile(join(to, 'data.json'), 'utf8'));
    expect(data.events).toContainEqual(expect.objectContaining({ plate: PLATE, description: 'before •••' }));
    expect(data.texts).toContainEqual(
      expect.objectContaining({ table: 'events', texts: { description: 'behind 34-abc-123' } }),
    );
    const manifest = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8'));
    expect(manifest.files.map(({ name }: { name: string }) => name.split('/')[0])).toEqual([
      'data.json',
      'images',
    ]);
    expect(await readFile(join(to, manifest.files[1].name))).toEqual(image);
    expect((await stat(to)).mode & 0o077).toBe(0);
    await writeFile(join(folder, 'x'), 'x');
    await expect(exportPlate(parts, PLATE, { folder, reason: 'x' })).rejects.toThrow('is not empty');
    await erase();
  });
});
