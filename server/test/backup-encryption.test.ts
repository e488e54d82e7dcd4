import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { imageFilesAt } from '../src/images/blobs.ts';
import { readManifest, verifyArchive } from '../src/operations/backup/archive.ts';
import { contentBytesOf, Decryption, Encryption } from '../src/operations/backup/encryption.ts';
import { type MakeOptions, makeBackup } from '../src/operations/backup/make.ts';
import { makeRecordedBackup } from '../src/operations/backup/recorded.ts';
import { restoreBackup } from '../src/operations/backup/restore.ts';
import { readConfig } from '../src/platform/config.ts';
import { createTestDatabase, sharedGantry } from './harness.ts';
import { suiteLog } from './leaks.ts';
import { dataUrl, png } from './sample-images.ts';

// Backups that are encrypted for recipients of age.

const gantry = await sharedGantry();
const apiKey = await gantry.registerSensor();
const folder = await mkdtemp(join(tmpdir(), 'gantry-encrypted-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let close = closing.pop(); close; close = closing.pop()) await close();
});

const identity = await generateIdentity();
const recipient = await identityToRecipient(identity);
const keyFile = join(folder, 'identity');
await writeFile(keyFile, `# created: 2026-01-01T00:00:00Z\n# public key: ${recipient}\n${identity}\n`);
const decryption = await Decryption.readFile(keyFile);
const otherIdentity = await generateIdentity();
const otherFile = join(folder, 'other');
await writeFile(otherFile, `${otherIdentity}\n`);
const other = await Decryption.readFile(otherFile);

const { config, images } = gantry.app.context;
const optionsOf = () => ({
  connectionString: config.DATABASE_URL ?? '',
  files: images.files,
  dataDir: config.DATA_DIR,
  folder: join(folder, 'backups'),
  keep: null,
  recipients: [recipient],
  log: suiteLog(),
});
const back = (more: Partial<MakeOptions> = {}) => makeBackup({ ...optionsOf(), ...more });

const sent = png({ shade: 31 });
const PLATE = 'SECRET 123';
const withImage = await gantry.ingest(apiKey, { plate: PLATE, images: [dataUrl(sent, 'image/png')] });

const restoreInto = async (archive: string, storesObjects = false) => {
  const database = await createTestDatabase('template1');
  const dataDir = await mkdtemp(join(folder, 'restored-'));
  closing.push(() => database.drop());
  const onDisk = imageFilesAt(join(dataDir, 'images'));
  const files = storesObjects ? { ...onDisk, storesObjects } : onDisk;
  const restored = await restoreBackup({
    archive,
    manifest: await verifyArchive(archive, { decryption }),
    decryption,
    connectionString: database.url,
    allowUnsafe: true,
    files,
    dataDir,
    log: suiteLog(),
  });
  return { restored, url: database.url, dataDir, files };
};

const rowsOf = async (url: string, statement: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
};

/** A copy of a backup with its images, to damage. */
const copyOf = async (path: string): Promise<string> => {
  const copy = await mkdtemp(join(folder, 'copy-'));
  await cp(join(path, '..'), copy, { recursive: true });
  return join(copy, path.split('/').at(-1) ?? '');
};

const changeByte = async (path: string, at: number): Promise<void> => {
  const file = await open(path, 'r+');
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, at);
  await file.close();
};

const segmentIn = async (archive: string): Promise<string> => {
  const [pool = ''] = (await readdir(join(archive, '..'))).filter((name) => name.startsWith('pictures-'));
  const [name = ''] = await readdir(join(archive, '..', pool, 'segments'));
  return join(archive, '..', pool, 'segments', name);
};

describe('an encrypted backup', () => {
  it('is listed with its recipients, and others as not encrypted, or as not known', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const recorded = async (recipients?: string[]) => {
      await makeRecordedBackup({
        ...optionsOf(),
        folder: join(folder, 'listed'),
        ...(recipients && { recipients }),
      });
      const { backups } = await gantry.ok('backups.getAll', { take: 1 }, { token });
      return backups[0];
    };
    expect(await recorded()).toMatchObject({ status: 'COMPLETED', recipients: [recipient] });
    expect(await recorded([])).toMatchObject({ status: 'COMPLETED', recipients: [] });
    // As a version that makes a backup before it migrates, or an earlier one.
    await gantry.pool.query('ALTER TABLE backups RENAME recipients TO former');
    try {
      expect(await recorded()).toMatchObject({ status: 'COMPLETED', name: expect.any(String) });
    } finally {
      await gantry.pool.query('ALTER TABLE backups RENAME former TO recipients');
    }
    const { backups } = await gantry.ok('backups.getAll', { take: 1 }, { token });
    expect(backups[0].recipients).toBe(null);
  });

  it('is restored elsewhere with its identity, images and secrets included', async () => {
    const made = await back();
    expect(made.pictures).toMatchObject({ count: 1, copied: 1, lacking: 0 });
    const { url, restored, dataDir, files } = await restoreInto(made.path);
    expect(restored).toMatchObject({ events: 1, pictures: 1 });
    const everything = 'SELECT to_jsonb(events) AS row FROM events ORDER BY id';
    expect(await rowsOf(url, everything)).toEqual(await rowsOf(config.DATABASE_URL ?? '', everything));
    const [{ segment, position }] = await rowsOf(
      url,
      'SELECT name AS segment, position FROM images JOIN image_segments ON id = segment',
    );
    expect(await files.segments.read(segment, position, sent.length)).toEqual(sent);
    // The key of the seals exists once something was sealed.
    const names = (await readManifest(made.path)).secrets.map(({ name }) => name);
    expect(names).toContain('secrets/jwt-secret.age');
    for (const name of names.map((each) => each.slice('secrets/'.length, -'.age'.length)))
      expect(await readFile(join(dataDir, name), 'utf8')).toBe(
        await readFile(join(config.DATA_DIR, name), 'utf8'),
      );
    expect(withImage).not.toBe('');
  });

  it('is restored into a store of objects', async () => {
    const { files } = await restoreInto((await back()).path, true);
    const sha256 = createHash('sha256').update(sent).digest('hex');
    expect(await files.blobs.stat(sha256)).toEqual({ bytes: sent.length });
  });

  it('has no plate, image or secret in any file', async () => {
    const { path } = await back();
    const secret = await readFile(join(config.DATA_DIR, 'jwt-secret'));
    for (const each of await readdir(join(path, '..'), { recursive: true, withFileTypes: true })) {
      if (!each.isFile()) continue;
      const bytes = await readFile(join(each.parentPath, each.name));
      const content = each.name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
      for (const part of [Buffer.from(PLATE), sent, secret])
        expect([each.name, content.includes(part)]).toEqual([each.name, false]);
    }
  });

  it('copies no segment again unless it grew, and begins anew for other recipients', async () => {
    const own = await mkdtemp(join(folder, 'own-'));
    const first = await back({ folder: own });
    const segment = await segmentIn(first.path);
    const before = await stat(segment);
    expect((await back({ folder: own })).pictures).toMatchObject({ copied: 0, count: 1 });
    expect((await stat(segment)).ino).toBe(before.ino);
    await gantry.ingest(apiKey, { images: [dataUrl(png({ shade: 77 }), 'image/png')] });
    const grown = await back({ folder: own });
    expect(grown.pictures).toMatchObject({ copied: 1, count: 2 });
    expect(await contentBytesOf(segment)).toBeGreaterThan(0);
    await verifyArchive(grown.path, { decryption });
    await verifyArchive(first.path, { decryption });

    const recipients = [await identityToRecipient(otherIdentity)];
    const next = await back({ folder: own, recipients, keep: 1 });
    expect(next.removed).toHaveLength(3);
    await verifyArchive(next.path, { decryption: other });
    const pools = (await readdir(own)).filter((name) => name.startsWith('pictures'));
    expect(pools).toEqual([new Encryption(recipients).pool]);
  });

  it('is checked without an identity as far as that goes, and names whose identity it needs', async () => {
    const { path } = await back();
    await verifyArchive(path);
    const manifest = await readManifest(path);
    expect(manifest).toMatchObject({ formatVersion: 3, recipients: [recipient] });
    await expect(verifyArchive(path, { decryption: other })).rejects.toThrow(
      `The identity does not belong to the backup ${path}, which is encrypted for ${recipient}`,
    );
    const options = {
      archive: path,
      manifest,
      connectionString: '',
      allowUnsafe: true,
      files: images.files,
      dataDir: folder,
      log: suiteLog(),
    };
    await expect(restoreBackup(options)).rejects.toThrow(
      `is encrypted for ${recipient}: name the file of its identity with --identity`,
    );
  });

  it.each(['a byte is changed', 'it is truncated', 'it is missing'])(
    'is refused by the name of the file if %s',
    async (what) => {
      const damage = async (path: string): Promise<void> => {
        if (what === 'it is missing') return rm(path);
        const { size } = await stat(path);
        return what === 'it is truncated' ? truncate(path, size - 1) : changeByte(path, size - 20);
      };
      const made = await back();
      const table = await copyOf(made.path);
      await damage(join(table, 'tables', 'users.copy.gz.age'));
      await expect(verifyArchive(table)).rejects.toThrow('tables/users.copy.gz.age');
      const withSegment = await copyOf(made.path);
      const segment = await segmentIn(withSegment);
      await damage(segment);
      await expect(verifyArchive(withSegment, { decryption })).rejects.toThrow(
        segment.split('/').at(-1) ?? '',
      );
      if (what !== 'a byte is changed')
        await expect(verifyArchive(withSegment)).rejects.toThrow('is missing or incomplete');
    },
  );

  it('says which files were exchanged although their hashes were adapted', async () => {
    const archive = await copyOf((await back()).path);
    const name = 'tables/users.copy.gz.age';
    await changeByte(join(archive, name), (await stat(join(archive, name))).size - 5);
    const text = await readFile(join(archive, 'manifest.json'), 'utf8');
    const manifest = JSON.parse(text);
    const sha256 = createHash('sha256')
      .update(await readFile(join(archive, name)))
      .digest('hex');
    for (const { file } of manifest.tables) if (file.name === name) file.sha256 = sha256;
    const changed = JSON.stringify(manifest);
    await writeFile(join(archive, 'manifest.json'), changed);
    await writeFile(
      join(archive, 'manifest.sha256'),
      `${createHash('sha256').update(changed).digest('hex')}  manifest.json\n`,
    );
    await verifyArchive(archive);
    await expect(verifyArchive(archive, { decryption })).rejects.toThrow(`${name} cannot be decrypted`);
  });

  it('refuses recipients and identities that are none', async () => {
    await expect(back({ recipients: ['age1abc'] })).rejects.toThrow('age1abc is not a recipient');
    const wrong = recipient.slice(0, -1) + (recipient.endsWith('q') ? 'p' : 'q');
    await expect(back({ recipients: [wrong] })).rejects.toThrow('is not a recipient');
    await writeFile(join(folder, 'empty'), '# nothing\n');
    await expect(Decryption.readFile(join(folder, 'empty'))).rejects.toThrow('has no identity');
    await expect(Decryption.readFile(join(folder, 'absent'))).rejects.toThrow('cannot be read');
    expect(() => readConfig({ BACKUP_DIR: folder, BACKUP_ENCRYPT_TO: 'age1abc' })).toThrow(
      'BACKUP_ENCRYPT_TO',
    );
    expect(
      readConfig({ BACKUP_DIR: folder, BACKUP_ENCRYPT_TO: `${recipient}, ${recipient}` }).BACKUP_ENCRYPT_TO,
    ).toHaveLength(2);
  });

  const hasAge = spawnSync('age', ['--version']).status === 0;
  it.skipIf(!hasAge)('is decrypted by the command age', async () => {
    const { path } = await back();
    const { stdout } = await promisify(execFile)(
      'age',
      ['-d', '-i', keyFile, join(path, 'tables', 'users.copy.gz.age')],
      { encoding: 'buffer' },
    );
    expect(gunzipSync(stdout).toString()).toContain('admin@gantry.local');
  });
});

describe('encryption', () => {
  it.each([0, 1, 65_535, 65_536, 65_537, 200_000])(
    'keeps %i bytes, and tells their number from the file',
    async (size) => {
      const encryption = new Encryption([recipient]);
      const plain = Buffer.alloc(size, 'x');
      async function* chunks() {
        yield plain.subarray(0, 100);
        yield plain.subarray(100);
      }
      const parts: Buffer[] = [];
      for await (const part of encryption.encryptAll(chunks())) parts.push(part);
      const path = join(folder, `bytes-${size}`);
      await writeFile(path, Buffer.concat(parts));
      expect(await contentBytesOf(path)).toBe(size);
      expect(await decryption.decrypt(Buffer.concat(parts))).toEqual(plain);
    },
  );

  it('needs the same memory for any length', async () => {
    const encryption = new Encryption([recipient]);
    const most = async (megabytes: number): Promise<number> => {
      async function* chunks() {
        for (let n = 0; n < megabytes * 4; n++) yield Buffer.alloc(262_144, n);
      }
      let [peak, n] = [0, 0];
      for await (const _ of decryption.decryptAll(encryption.encryptAll(chunks()))) {
        if (n++ % 64 === 0) peak = Math.max(peak, process.memoryUsage().arrayBuffers);
      }
      return peak;
    };
    await most(8);
    expect(await most(96)).toBeLessThan((await most(16)) + 48_000_000);
  });
});
