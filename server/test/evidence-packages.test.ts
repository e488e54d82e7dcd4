import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import type { CaseDetail, CaseExportDetail } from '@gantry/contract/cases';
import { DAY_MS } from '@gantry/contract/durations';
import type { EventProof } from '@gantry/contract/evidence';
import { readImageBytes } from '@gantry/device-formats/image';
import { decode, encode } from 'jpeg-js';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { expireExports } from '../src/cases/exports-store.ts';
import { archiveTime } from '../src/evidence/archive.ts';
import { checkSeals } from '../src/evidence/check.ts';
import { expectedKeys } from '../src/evidence/verify-package.ts';
import { withoutMetadata } from '../src/images/without-metadata.ts';
import { createApp } from '../src/programs/app.ts';
import { requireSize } from '../src/reports/packages/write.ts';
import {
  certificateFile,
  imageOf,
  type Json,
  Parts,
  pack,
  readEntries,
  sha256,
  Verifiers,
  verdictOf,
  verify,
} from './evidence-package.ts';
import { sharedGantry, startGantry } from './harness.ts';
import { readPdf } from './report-reading.ts';
import {
  damageStored,
  jpegSegment,
  LOSSLESS_WEBP,
  LOSSY_WEBP,
  png,
  pngChunk,
  webpChunk,
  webpOf,
} from './sample-images.ts';

const run = promisify(execFile);

const gantry = await sharedGantry();
const { db, config, sealingKey } = gantry.app.context;
const admin = await gantry.tokenFor('ADMIN');
const viewer = await gantry.tokenFor('VIEWER');
const verifiers = await Verifiers.begin(gantry);
const owner = new pg.Client({ connectionString: config.DATABASE_URL });
await owner.connect();
afterAll(() => owner.end());
const folder = await mkdtemp(join(tmpdir(), 'gantry-opened-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A statement of somebody who owns the tables, past their triggers. */
const asOwner = async (statement: string, values: unknown[] = []): Promise<void> => {
  await owner.query('SET session_replication_role = replica');
  await owner.query(statement, values).finally(() => owner.query('SET session_replication_role = origin'));
};

const detailOf = (id: string) => gantry.ok<CaseDetail>('cases.getById', { id }, { token: verifiers.first });
const getExport = (exportId: string) =>
  gantry.ok<CaseExportDetail>('cases.getExport', { exportId }, { token: verifiers.first });

const addCopy = (id: string, derivedFrom: string, bytes: Buffer, role = 'FIRST') =>
  gantry.call(
    'cases.addItem',
    { id, role, derivedFrom, image: bytes.toString('base64') },
    { token: verifiers.first },
  );

describe('the file README.txt', () => {
  /** A folder of programs, and an empty one with nothing but a package. */
  const openWith = async (archive: Buffer, name: string) => {
    const work = await mkdtemp(join(folder, 'work-'));
    const programs = await mkdtemp(join(folder, 'programs-'));
    const path = (process.env.PATH ?? '').split(delimiter);
    for (const program of ['unzip', 'sha256sum', 'openssl']) {
      const found = (
        await Promise.all(
          path.map((at) =>
            run('test', ['-x', join(at, program)]).then(
              () => join(at, program),
              () => null,
            ),
          ),
        )
      ).find(Boolean);
      await symlink(found ?? expect.fail(`no ${program}`), join(programs, program));
    }
    await writeFile(join(work, name), archive);
    const enter = (command: string, cwd = work) =>
      run('/bin/sh', ['-c', command], { cwd, env: { PATH: programs } }).then(
        ({ stdout, stderr }) => ({ code: 0, out: stdout + stderr }),
        ({ code, stdout, stderr }) => ({ code: Number(code), out: `${stdout}${stderr}` }),
      );
    return { work, enter };
  };

  it('leads through the check with unzip, sha256sum and openssl alone', async () => {
    const opened = await verifiers.openVerified('README');
    const archive = await verifiers.export(opened);
    const name = `case-${opened.number}.zip`;
    const { work, enter } = await openWith(archive, name);
    expect(await enter(`unzip -tq ${name}`)).toMatchObject({ code: 0 });
    const readme = new Parts(await readEntries(archive)).entry('README.txt').content.toString();
    expect(readme).toContain(`(unzip ${name})`);
    await mkdir(join(work, 'opened'));
    expect(await enter(`unzip -q ../${name}`, join(work, 'opened'))).toMatchObject({ code: 0 });
    const commands = [...readme.matchAll(/^ {3}\$ (.+)$/gm)].map(([, command = '']) => command);
    expect(commands).toHaveLength(4);
    const enterAll = () => Promise.all(commands.map((command) => enter(command, join(work, 'opened'))));
    const [sums, sumsSigned, signed, key] = await enterAll();
    expect(sums?.code).toBe(0);
    expect(sums?.out.match(/: OK$/gm)).toHaveLength((await readEntries(archive)).length - 3);
    for (const each of [sumsSigned, signed])
      expect(each).toMatchObject({ code: 0, out: expect.stringContaining('Verified Successfully') });
    expect(key?.out.slice(0, 32)).toBe(sealingKey.id);

    // What a forger without the key could do.
    const image = join(work, 'opened', new Parts(await readEntries(archive)).named('originals/'));
    await writeFile(image, imageOf('FORGED', 1));
    const [changed] = await enterAll();
    expect(changed).toMatchObject({ code: 1, out: expect.stringContaining('FAILED') });
    const list = join(work, 'opened', 'manifest.sha256');
    const text = await readFile(list, 'utf8');
    await writeFile(list, text.replace(sha256(imageOf('README', 1)), sha256(imageOf('FORGED', 1))));
    const [fine, notSigned] = await enterAll();
    expect(fine?.code).toBe(0);
    expect(notSigned?.code).not.toBe(0);
  });
});

describe('a package', () => {
  it('contains what belongs to the case, and says so in a PDF', async () => {
    const opened = await verifiers.openVerified('CONTENT');
    const parts = new Parts(await readEntries(await verifiers.export(opened)));
    const names = parts.entries.map(({ name }) => name);
    const images = [1, 2].map((n) => `originals/${sha256(imageOf('CONTENT', n))}.jpg`);
    expect(names).toEqual([
      ...['README.txt', 'key.pem', 'case.pdf', 'case.json', 'events.json', 'certificates.json', 'log.json'],
      ...['seal.json', ...images, `certificates/${sha256(certificateFile)}.pdf`],
      ...['manifest.json', 'manifest.sig', 'manifest.sha256', 'manifest.sha256.sig'],
    ]);
    expect(parts.entry(images[0] ?? '').content).toEqual(imageOf('CONTENT', 1));
    const said = parts.json('case.json');
    expect(said).toMatchObject({ number: opened.number, state: 'VERIFIED', licensePlateNumber: 'CONTENT' });
    const text = (await readPdf(parts.entry('case.pdf').content)).join(' ').replaceAll(/\s+/g, ' ');
    const speed = said.checks.find(({ name }: Json) => name === 'SPEED').message;
    const log = parts.json('log.json').entries.map((entry: Json) => JSON.parse(entry.text).action);
    for (const each of [opened.number, 'CONTENT', speed, said.firstBy.name, said.secondBy.name, ...log])
      expect(text).toContain(each);
    for (const { message } of said.checks) expect(text).toContain(message.slice(0, 20));
    expect(JSON.stringify(said)).not.toContain('/images/');
  });

  it('says in which images, and where in them, a second measurement was marked', async () => {
    const opened = await verifiers.open('MARKED');
    const [first, second] = opened.items.filter(({ sha256: sum }) => sum !== null);
    const marks = { firstMark: { x: 0.123, y: 0.5 }, secondMark: { x: 0.75, y: 0.321 } };
    const lines = { first: first?.id, second: second?.id, metres: 10.8, intervalMs: 500 };
    await gantry.ok('cases.measure', { id: opened.id, ...lines, ...marks }, { token: verifiers.first });
    await verifiers.verify(opened);
    const parts = new Parts(await readEntries(await verifiers.export(opened)));
    expect(parts.json('case.json').lines).toMatchObject({ ...lines, ...marks, kmh: 77.76 });
    const text = (await readPdf(parts.entry('case.pdf').content)).join(' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain('10.8 m in 0.5 s: 77.76 km/h');
    expect(text).toMatch(/First originals.*12\.3 % from the left, 50 % from the top/);
    expect(text).toMatch(/Second originals.*75 % from the left, 32\.1 % from the top/);
  });

  it('makes the case EXPORTED, is logged, and counts its downloads', async () => {
    const opened = await verifiers.openVerified('COUNTED');
    const made = await verifiers.request(opened);
    const bytes = Buffer.from(await (await verifiers.fetch(made)).arrayBuffer());
    await (await verifiers.fetch(made, verifiers.first)).arrayBuffer();
    expect(made).toMatchObject({
      sha256: sha256(bytes),
      bytes: bytes.length,
      fileName: `case-${opened.number}.zip`,
    });
    const detail = await detailOf(opened.id);
    expect(detail).toMatchObject({
      state: 'EXPORTED',
      exports: [{ id: made.id, downloads: 2, url: made.url }],
    });
    const entries = detail.log
      .slice(-3)
      .map(({ action, by, details }) => ({ action, by: by?.name, ...details }));
    expect(entries).toMatchObject([
      { action: 'exported', by: 'second Verifier', exportId: made.id, sha256: made.sha256, redacted: false },
      { action: 'downloaded', by: 'second Verifier', exportId: made.id },
      { action: 'downloaded', by: 'first Verifier', exportId: made.id },
    ]);
    // A second package has the log with the first one.
    expect(await verdictOf(await verifiers.export(opened))).toMatchObject({ verified: true });
  });

  it('is made of a closed case, too, as long as its events exist', async () => {
    const close = (id: string) =>
      gantry.ok('cases.close', { id, reason: 'Decided' }, { token: verifiers.first });
    for (const isExported of [false, true]) {
      const opened = await verifiers.openVerified(`CLOSED${isExported ? 2 : 1}`);
      if (isExported) await verifiers.request(opened);
      await close(opened.id);
      const archive = await verifiers.export(opened);
      const parts = new Parts(await readEntries(archive));
      expect(parts.json('case.json')).toMatchObject({ closedAt: expect.stringMatching(/^\d{4}/) });
      expect(await verdictOf(archive)).toMatchObject({ verified: true });
      expect(await detailOf(opened.id)).toMatchObject({
        ...{ state: 'EXPORTED', closedAt: expect.anything() },
        log: expect.arrayContaining([expect.objectContaining({ action: 'exported' })]),
      });
      await gantry.ok('events.delete', { id: opened.eventId }, { token: admin });
      expect(await verifiers.request(opened)).toMatchObject({
        status: 'FAILED',
        error: expect.stringContaining(`Event ${opened.eventId} of the case does not exist any more`),
      });
    }
    const { id, number } = await verifiers.open('CLOSED REJECTED');
    await gantry.ok('cases.reject', { id, code: 'UNREADABLE' }, { token: verifiers.first });
    await close(id);
    expect(await gantry.refusal('cases.export', { id }, { token: verifiers.second })).toMatchObject({
      status: 409,
      message: expect.stringContaining(`Case ${number} is REJECTED now`),
    });
  });

  it('is for those who verify cases', async () => {
    const opened = await verifiers.openVerified('ROLES');
    const made = await verifiers.request(opened);
    for (const token of [viewer, await gantry.tokenFor('ANALYST')]) {
      expect((await verifiers.fetch(made, token)).status).toBe(403);
      expect(await gantry.call('cases.export', { id: opened.id }, { token })).toMatchObject({ status: 403 });
      expect(await gantry.call('cases.getExport', { exportId: made.id }, { token })).toMatchObject({
        status: 403,
      });
    }
    expect((await fetch(`${gantry.url}${made.url}`)).status).toBe(401);
    expect((await verifiers.fetch({ url: `/cases/exports/${opened.id}/file` })).status).toBe(404);
    expect((await verifiers.fetch({ url: '/cases/exports/none/file' })).status).toBe(404);
  });

  it('is refused for a case that is not verified', async () => {
    const opened = await verifiers.open('EARLY');
    const ask = () => gantry.call('cases.export', { id: opened.id }, { token: verifiers.second });
    expect(await ask()).toMatchObject({ status: 409 });
    await gantry.ok('cases.check', { id: opened.id, reason: 'Seen' }, { token: verifiers.first });
    expect(await ask()).toMatchObject({ status: 409 });
  });

  it('loses its file after 30 days, and never its manifest', async () => {
    const opened = await verifiers.openVerified('EXPIRED');
    const made = await verifiers.request(opened);
    const days = (new Date(made.expiresAt ?? 0).getTime() - new Date(made.createdAt).getTime()) / DAY_MS;
    expect(days).toBeCloseTo(30, 1);
    const before = await getExport(made.id);
    expect(JSON.parse(before.manifest?.text ?? '')).toMatchObject({ case: { number: opened.number } });
    await asOwner(`UPDATE case_exports SET expires_at = now() - interval '1 s' WHERE id = $1`, [made.id]);
    const keys = await expireExports(db);
    for (const key of keys) await gantry.app.context.packageFiles.remove(key);
    expect(await readdir(join(config.DATA_DIR, 'packages'))).not.toContain(`${made.id}-1.zip`);
    const after = await getExport(made.id);
    expect(after).toMatchObject({ url: null, fileName: null, manifest: before.manifest });
    expect((await verifiers.fetch(made)).status).toBe(409);
    for (const statement of ['DELETE FROM case_exports', `UPDATE case_exports SET manifest = 'x'`])
      await expect(owner.query(`${statement} WHERE id = '${made.id}'`)).rejects.toThrow(
        'never changed or deleted',
      );
  });

  it('is refused if it were larger than 500 MB', () => {
    const files = [{ bytes: 400_000_000 }, { bytes: null }, { bytes: 100_000_000 }];
    expect(() => requireSize('2026-000001', files)).not.toThrow();
    expect(() => requireSize('2026-000001', [...files, { bytes: 1 }])).toThrow('more than 500 MB');
  });

  it('does not depend on clocks', async () => {
    const parts = new Parts(await readEntries(await verifiers.export(await verifiers.openVerified('CLOCK'))));
    // Made before the events happened, by a clock that was set back.
    const madeAt = '2020-02-29T23:59:59.999Z';
    parts.resign(sealingKey, (manifest) => {
      manifest.madeAt = madeAt;
    });
    expect(await verdictOf(pack(parts.entries, archiveTime(Date.parse(madeAt))))).toMatchObject({
      verified: true,
    });
  });

  it('names what keeps it from being made', async () => {
    const damaged = await verifiers.openVerified('DAMAGED');
    const sum = sha256(imageOf('DAMAGED', 2));
    await damageStored(gantry, sum, imageOf('DAMAGEX', 2));
    expect(await verifiers.request(damaged)).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining(`Image ${sum} of case ${damaged.number} is missing or damaged`),
      url: null,
    });
    expect(await detailOf(damaged.id)).toMatchObject({ state: 'VERIFIED' });
    await damageStored(gantry, sum, imageOf('DAMAGED', 2));
    expect(await verifiers.request(damaged)).toMatchObject({ status: 'DONE' });
  });
});

describe('a changed row', async () => {
  const opened = await verifiers.openVerified('ROWS');
  await gantry.app.context.sealNow();
  const { eventId = '', log, items } = await detailOf(opened.id);
  const certificateId = items.find(({ certificateId: id }) => id !== null)?.certificateId ?? '';
  const { rows: entries } = await owner.query('SELECT id FROM case_log WHERE case_id = $1 ORDER BY seq', [
    opened.id,
  ]);
  const faults = async () => (await checkSeals(db, { from: 1 })).faults;
  const put = async (table: string, row: Json) => {
    const names = Object.keys(row).filter((name) => name !== 'location_key');
    await asOwner(`DELETE FROM ${table} WHERE id = $1`, [row.id]);
    await asOwner(
      `INSERT INTO ${table} (${names}) ${table === 'case_log' ? 'OVERRIDING SYSTEM VALUE' : ''}
       SELECT ${names} FROM jsonb_populate_record(NULL::${table}, $1)`,
      [row],
    );
  };

  it.each([
    ['an event', 'events', eventId, 'vehicle_speed = 58', 'CHANGED', 'was changed after it was sealed'],
    [
      'the images of an event',
      'events',
      eventId,
      'images = images - 0',
      'CHANGED',
      'was changed after it was sealed',
    ],
    ['an entry of the log', 'case_log', entries[1]?.id, `details = '{}'`, 'CHANGED', 'Entry 2 of the log'],
    [
      'who made an entry',
      'case_log',
      entries.at(-1)?.id,
      'user_id = gen_random_uuid()',
      'CHANGED',
      `Entry ${log.length} of the log`,
    ],
    ['an entry that is removed', 'case_log', entries[1]?.id, 'DELETE', 'MISSING', 'Entry 3 of the log'],
    [
      'the end of a certificate',
      'certificates',
      certificateId,
      `valid_until = '2050-01-01'`,
      'CHANGED',
      'was changed after it was sealed',
    ],
    [
      'the tolerance of a certificate',
      'certificates',
      certificateId,
      `tolerance = '{"percent":0}'`,
      'CHANGED',
      'was changed after it was sealed',
    ],
  ])(
    'of %s is found by the check, and keeps the case from export',
    async (_, table, id, change, fault, message) => {
      expect(await faults()).toEqual([]);
      const { rows } = await owner.query(`SELECT to_jsonb(t) AS row FROM ${table} AS t WHERE id = $1`, [id]);
      await asOwner(
        change === 'DELETE'
          ? `DELETE FROM ${table} WHERE id = $1`
          : `UPDATE ${table} SET ${change} WHERE id = $1`,
        [id],
      );
      try {
        expect(await faults()).toMatchObject([{ fault, recordId: String(id) }]);
        const made = await verifiers.request(opened);
        expect(made).toMatchObject({ status: 'FAILED', error: expect.stringContaining(message) });
      } finally {
        await put(table, rows[0].row);
      }
    },
  );

  it('of a seal keeps the case from export, too', async () => {
    const { proof } = await gantry.ok<EventProof>('evidence.getProof', { eventId }, { token: admin });
    const seq = proof?.seal.seq ?? expect.fail('no proof');
    await asOwner(
      'UPDATE seals SET signature = set_byte(signature, 0, (get_byte(signature, 0) + 1) % 256) WHERE seq = $1',
      [seq],
    );
    try {
      expect(await faults()).toMatchObject([{ fault: 'SIGNATURE', seq }]);
      expect(await verifiers.request(opened)).toMatchObject({
        status: 'FAILED',
        error: expect.stringContaining(`SEAL seal ${seq}: Its signature is not that of its text`),
      });
    } finally {
      await asOwner('UPDATE seals SET signature = $1 WHERE seq = $2', [
        Buffer.from(proof?.seal.signature ?? '', 'base64'),
        seq,
      ]);
    }
    expect(await verdictOf(await verifiers.export(opened))).toMatchObject({ verified: true });
  });
});

describe('a redacted copy', () => {
  const exif = Buffer.from('Exif\0\0GPSLatitude 48.137 Canon EOS', 'latin1');
  const withThumbnail = Buffer.concat([exif, imageOf('THUMBNAIL', 1)]);
  const xmp = Buffer.from('http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>', 'latin1');
  const profile = Buffer.from('a profile');
  const comment = Buffer.from('a comment');
  const tail = Buffer.from('after the end');
  const secrets = [
    ...[
      'Exif',
      'GPS',
      'Canon',
      'ns.adobe.com',
      'xmpmeta',
      'a profile',
      'a comment',
      'Photoshop',
      'THUMBNAIL',
    ],
    ...['after the end', 'ICCP', 'XMP ', 'tIME', 'Else'],
  ];

  const pixels = Buffer.from(Array.from({ length: 32 * 24 * 4 }, (_, n) => (n * 7) % 256));
  const plainJpeg = encode({ width: 32, height: 24, data: pixels }, 90).data;
  const plainPng = png({ shade: 40 });
  /** The parts of a PNG or WebP, by their types. */
  const partsOf = (
    bytes: Buffer,
    from: number,
    sizes: (at: number) => { size: number; type: string; more: number },
  ) => {
    const parts: { type: string; data: Buffer }[] = [];
    for (let at = from; at + 8 <= bytes.length; ) {
      const { size, type, more } = sizes(at);
      parts.push({ type, data: bytes.subarray(at + 8, at + 8 + size) });
      at += 8 + size + more;
    }
    return parts;
  };
  const pngParts = (bytes: Buffer) =>
    partsOf(bytes, 8, (at) => {
      return { size: bytes.readUInt32BE(at), type: bytes.toString('latin1', at + 4, at + 8), more: 4 };
    });
  const webpParts = (bytes: Buffer) =>
    partsOf(bytes.subarray(0, bytes.readUInt32LE(4) + 8), 12, (at) => {
      const size = bytes.readUInt32LE(at + 4);
      return { size, type: bytes.toString('latin1', at, at + 4), more: size % 2 };
    });
  const webpChunks = (bytes: Buffer, types: readonly string[]) =>
    webpParts(bytes)
      .filter(({ type }) => types.includes(type))
      .map(({ type, data }) => webpChunk(type, data));
  /** A WebP of 16 × 8 pixels with what programs write into it. @param flags of what it says that it has */
  const fullWebp = (plain: Buffer, flags: number) =>
    Buffer.concat([
      webpOf([
        webpChunk('VP8X', Buffer.from([flags, 0, 0, 0, 15, 0, 0, 7, 0, 0])),
        webpChunk('ICCP', profile),
        ...webpChunks(plain, ['ALPH', 'VP8 ', 'VP8L']),
        webpChunk('EXIF', withThumbnail),
        webpChunk('XMP ', xmp),
        webpChunk('Else', comment),
      ]),
      tail,
    ]);
  const shownOfWebp = (bytes: Buffer) => Buffer.concat(webpChunks(bytes, ['ALPH', 'VP8 ', 'VP8L']));

  it.each<readonly [format: string, full: Buffer, shown: (bytes: Buffer) => Buffer]>([
    [
      'JPEG',
      Buffer.concat([
        plainJpeg.subarray(0, 2),
        jpegSegment(0xe1, withThumbnail),
        jpegSegment(0xe1, xmp),
        jpegSegment(0xe2, profile),
        jpegSegment(0xfe, comment),
        jpegSegment(0xed, Buffer.from('Photoshop 3.0')),
        plainJpeg.subarray(2),
        tail,
      ]),
      (bytes) => decode(bytes).data,
    ],
    [
      'PNG',
      Buffer.concat([
        plainPng.subarray(0, 33),
        pngChunk('iCCP', Buffer.concat([Buffer.from('a profile\0\0'), deflateSync(profile)])),
        pngChunk('eXIf', withThumbnail),
        pngChunk('iTXt', Buffer.concat([Buffer.from('XML:com.adobe.xmp\0\0\0\0\0'), xmp])),
        pngChunk('zTXt', Buffer.concat([Buffer.from('a comment\0\0'), deflateSync(comment)])),
        pngChunk('tIME', Buffer.from([7, 0xea, 1, 2, 3, 4, 5])),
        plainPng.subarray(33),
        tail,
      ]),
      (bytes) =>
        Buffer.concat(pngParts(bytes).flatMap(({ type, data }) => (/^I(HDR|DAT)$/.test(type) ? data : []))),
    ],
    // ICC profile, transparency, EXIF and XMP.
    ['WebP with transparency', fullWebp(LOSSY_WEBP, 0x3c), shownOfWebp],
    ['lossless WebP', fullWebp(LOSSLESS_WEBP, 0x2c), shownOfWebp],
  ])('has the pixels of the %s that was sent, and nothing else', async (format, full, shown) => {
    const opened = await verifiers.open(`EXIF ${format}`);
    const original = opened.items.find(({ role }) => role === 'FIRST') ?? expect.fail('no image');
    expect(await addCopy(opened.id, original.id, full)).toMatchObject({ status: 200 });
    const copy = (await detailOf(opened.id)).items.find(({ derivedFrom }) => derivedFrom === original.id);
    const answer = await fetch(`${gantry.url}${copy?.url}`, {
      headers: { authorization: `Bearer ${verifiers.first}` },
    });
    const served = Buffer.from(await answer.arrayBuffer());
    expect(sha256(served)).toBe(copy?.sha256);
    expect(shown(served).length).toBeGreaterThan(0);
    expect(shown(served).equals(shown(full))).toBe(true);
    expect(secrets.filter((secret) => full.includes(secret)).length).toBeGreaterThan(5);
    expect(secrets.filter((secret) => served.includes(secret))).toEqual([]);
    const [header] = format.includes('WebP') ? webpParts(served) : [];
    // What a WebP says that it has is what is left of it.
    if (header) expect([header.type, header.data[0]]).toEqual(['VP8X', (full[20] ?? 0) & 0x10]);
  });

  it.each<readonly [what: string, bytes: Buffer]>([
    [
      'a JPEG with a segment that no encoder writes',
      Buffer.concat([plainJpeg.subarray(0, 2), jpegSegment(0xf3, exif), plainJpeg.subarray(2)]),
    ],
    ['a JPEG without an end', Buffer.concat([plainJpeg.subarray(0, -2), Buffer.from([0, 0])])],
    [
      'a PNG that needs an unknown chunk',
      Buffer.concat([plainPng.subarray(0, 33), pngChunk('SeCR', exif), plainPng.subarray(33)]),
    ],
    [
      'a WebP that hides another image',
      webpOf(webpChunks(LOSSLESS_WEBP, ['VP8L']).flatMap((each) => [each, each])),
    ],
    [
      'a WebP of both kinds',
      webpOf([LOSSY_WEBP, LOSSLESS_WEBP].flatMap((each) => webpChunks(each, ['VP8 ', 'VP8L']))),
    ],
    ['a WebP that moves', fullWebp(LOSSLESS_WEBP, 0x02)],
  ])('is not %s', async (_, bytes) => {
    const opened = await verifiers.open('HIDING');
    expect(await addCopy(opened.id, opened.items[0]?.id ?? '', bytes)).toMatchObject({ status: 400 });
  });

  it('is all that a redacted package shows', async () => {
    const opened = await verifiers.open('REDACTED');
    const [first] = opened.items.filter(({ sha256: sum }) => sum !== null);
    const copies = [png({ shade: 21 }), png({ shade: 22 })];
    let from = first?.id ?? '';
    for (const bytes of copies) {
      expect(await addCopy(opened.id, from, bytes)).toMatchObject({ status: 200 });
      from = (await detailOf(opened.id)).items.at(-1)?.id ?? '';
    }
    const message = png({ shade: 23 });
    for (const fields of [{ image: message.toString('base64') }, { text: '<speed>78</speed>' }])
      await gantry.ok(
        'cases.addItem',
        { id: opened.id, role: 'RAW_MESSAGE', ...fields },
        { token: verifiers.first },
      );
    await verifiers.verify(opened);
    const redacted = await verifiers.export(opened, true);
    expect(await verdictOf(redacted)).toMatchObject({ verified: true });
    const parts = new Parts(await readEntries(redacted));
    const latest = (await detailOf(opened.id)).items.find(({ id }) => id === from);
    const images = parts.entries.map(({ name }) => name).filter((name) => /^(originals|copies)\//.test(name));
    expect(images).toEqual([`copies/${latest?.sha256}.png`]);
    expect(parts.json('case.json').leftOut).toHaveLength(4);
    for (const hidden of [imageOf('REDACTED', 1), imageOf('REDACTED', 2), message])
      for (const { content } of parts.entries) expect(content.includes(hidden)).toBe(false);
    const raw = ({ entries }: Parts) =>
      entries.filter(({ name }) => name.startsWith('raw/')).map(({ content }) => content.toString());
    expect(raw(parts)).toEqual(['<speed>78</speed>']);
    const court = new Parts(await readEntries(await verifiers.export(opened)));
    const inCourt = court.entries
      .map(({ name }) => name)
      .filter((name) => /^(originals|copies)\//.test(name));
    expect(inCourt.filter((name) => name.startsWith('originals/'))).toHaveLength(3);
    expect(raw(court)).toEqual(['<speed>78</speed>']);
    expect(inCourt.filter((name) => name.startsWith('copies/'))).toHaveLength(2);
  });

  it('is needed for a redacted package', async () => {
    const opened = await verifiers.openVerified('NOCOPY');
    const input = { id: opened.id, redacted: true };
    expect(await gantry.call('cases.export', input, { token: verifiers.second })).toMatchObject({
      status: 409,
      body: expect.objectContaining({}),
    });
  });

  it('must differ from its original', async () => {
    const opened = await verifiers.open('SAMECOPY');
    const [first, second] = opened.items.filter(({ sha256: sum }) => sum !== null);
    expect(await addCopy(opened.id, first?.id ?? '', plainJpeg)).toMatchObject({ status: 200 });
    const unchanged = withoutMetadata(readOk(imageOf('SAMECOPY', 1)));
    for (const bytes of [imageOf('SAMECOPY', 1), unchanged?.bytes ?? Buffer.alloc(0)])
      expect(await addCopy(opened.id, second?.id ?? '', bytes)).toMatchObject({ status: 400 });
  });

  it('takes the place of its original for all who do not verify cases', async () => {
    const opened = await verifiers.open('PLACE');
    const [first, second] = opened.items.filter(({ sha256: sum }) => sum !== null);
    const get = (sum: string | null | undefined, token: string) =>
      fetch(`${gantry.url}/images/${sum}`, { headers: { authorization: `Bearer ${token}` } });
    const hashOf = async (answer: Response) => sha256(Buffer.from(await answer.arrayBuffer()));
    expect(await hashOf(await get(first?.sha256, viewer))).toBe(first?.sha256);
    await addCopy(opened.id, first?.id ?? '', png({ shade: 77 }));
    const copy = (await detailOf(opened.id)).items.find(({ derivedFrom }) => derivedFrom === first?.id);
    const shown = await get(first?.sha256, viewer);
    expect(shown.url).toMatch(new RegExp(`/images/${copy?.sha256}$`));
    expect(await hashOf(shown)).toBe(copy?.sha256);
    expect(await hashOf(await get(first?.sha256, verifiers.first))).toBe(first?.sha256);
    expect(await hashOf(await get(second?.sha256, viewer))).toBe(second?.sha256);
  });
});

const readOk = (bytes: Buffer) => {
  const image = readImageBytes(bytes);
  if ('refusal' in image) throw new Error(image.refusal);
  return image;
};

describe('a lost key', () => {
  it('leaves the packages that were signed with it as they are, and later ones name both', async () => {
    await using old = await startGantry();
    const people = await Verifiers.begin(old);
    const opened = await people.openVerified('BEFORE');
    const before = await people.export(opened);
    await old.app[Symbol.asyncDispose]();
    const { config: settings } = old.app.context;
    await rm(join(settings.DATA_DIR, 'seal-key'));
    await using app = await createApp(settings, pino({ level: 'silent' }));
    const renewed = people.at(await app.listen());
    const after = await renewed.export(opened);
    const published = await (await fetch(`${renewed.gantry.url}/.well-known/gantry-seal.json`)).text();
    const keys = expectedKeys(published);
    expect(keys).toHaveLength(2);
    const verdicts = await verify([before, after], keys);
    expect(verdicts).toMatchObject([
      { verified: true, keyId: keys[0] },
      { verified: true, keyId: keys[1], sealedEvents: 1 },
    ]);
    const ofSeals = new Parts(await readEntries(after)).json('seal.json').keys.map(({ id }: Json) => id);
    expect(ofSeals.sort()).toEqual([...keys].sort());
    // Who knows only the new key does not take the seals of the old one for right.
    expect(await verdictOf(after, keys.slice(1))).toMatchObject({ verified: false });
  });
});
