import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createS3Blobs, imageFilesAt } from '../src/images/blobs.ts';
import { type Manifest, verifyArchive } from '../src/operations/backup/archive.ts';
import { findArchive } from '../src/operations/backup/folder.ts';
import { makeBackup } from '../src/operations/backup/make.ts';
import { restoreBackup } from '../src/operations/backup/restore.ts';
import { beginBackup, readBackupsSoFar } from '../src/operations/backup/runs-store.ts';
import { nextBackupAt, oldAfter, readSchedule, scheduleOf } from '../src/operations/backup/schedule.ts';
import { readImageList } from '../src/operations/backup/stored-images.ts';
import { readBackupState } from '../src/operations/doctor/store.ts';
import { locks } from '../src/platform/database/locks.ts';
import { createTestDatabase, eventually, sharedGantry } from './harness.ts';
import { suiteLog } from './leaks.ts';
import { dataUrl, png } from './sample-images.ts';

// Faults of folders, disks and archives: each is reported in one sentence and leaves nothing half done, and a second
// attempt succeeds.

const run = promisify(execFile);

let good: string;
const home = await mkdtemp(join(tmpdir(), 'gantry-refusals-'));
const gantry = await sharedGantry({
  config: { BACKUP_DIR: join(home, 'scheduled'), BACKUP_SCHEDULE: '6h', BACKUP_KEEP: '2' },
});
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const apiKey = await gantry.registerSensor();
  await gantry.ingest(apiKey, { images: [dataUrl(png({ shade: 1 }), 'image/png')] });
  await eventually(
    async () => (await gantry.ok('backups.getAll', {}, { token })).backups[0]?.status,
    (status) => status === 'COMPLETED',
  );
  await mkdir(join(home, 'own'));
  good = (await makeInto(join(home, 'own'))).path;
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

const urlOf = (): string => gantry.app.context.config.DATABASE_URL ?? '';

const makeInto = (
  folder: string,
  connectionString = urlOf(),
  keep: number | null = null,
  files = gantry.app.context.images.files,
) =>
  makeBackup({
    connectionString,
    files,
    dataDir: gantry.app.context.config.DATA_DIR,
    folder,
    keep,
    log: suiteLog(),
  });

/** A copy of the good backup with its images, for a test to damage. */
const copyOfGood = async (): Promise<string> => {
  const folder = await mkdtemp(join(home, 'copy-'));
  await cp(dirname(good), folder, { recursive: true, filter: (name) => !name.includes('claim-') });
  return findArchive(folder);
};

const editManifest = async (archive: string, edit: (manifest: Manifest) => object): Promise<void> => {
  const path = join(archive, 'manifest.json');
  const text = JSON.stringify(edit(JSON.parse(await readFile(path, 'utf8'))));
  await writeFile(path, text);
  await writeFile(
    join(archive, 'manifest.sha256'),
    `${createHash('sha256').update(text).digest('hex')}  manifest.json\n`,
  );
};

describe('a damaged or foreign archive', () => {
  const TABLE = 'tables/users.copy.gz';
  const flipByte = async (path: string): Promise<void> => {
    const bytes = await readFile(path);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    await writeFile(path, bytes);
  };
  const segmentOf = async (archive: string): Promise<string> => {
    const segments = join(dirname(archive), 'pictures', 'segments');
    return join(segments, (await readdir(segments))[0] ?? '');
  };
  const withFile = (name: string) => (manifest: Manifest) => ({
    ...manifest,
    tables: manifest.tables.map((table, n) =>
      n === 0 ? { ...table, file: { ...table.file, name } } : table,
    ),
  });

  const cases: [string, (archive: string) => Promise<unknown>, RegExp][] = [
    [
      'cut short by a byte',
      async (a) => truncate(join(a, TABLE), (await stat(join(a, TABLE))).size - 1),
      /users\.copy\.gz has \d+ bytes instead of \d+/,
    ],
    ['changed by a bit', (a) => flipByte(join(a, TABLE)), /users\.copy\.gz was changed/],
    ['without a file', (a) => rm(join(a, TABLE)), /users\.copy\.gz is missing/],
    ['with a changed image', async (a) => flipByte(await segmentOf(a)), /the image \S+ in \S+ was changed/],
    ['without an image', async (a) => rm(await segmentOf(a)), /the image \S+ in \S+ is missing/],
    ['with an edited manifest', (a) => flipByte(join(a, 'manifest.json')), /manifest\.json was changed/],
    ['without its checksum', (a) => rm(join(a, 'manifest.sha256')), /manifest\.sha256 is missing/],
    [
      'whose manifest leads elsewhere',
      (a) => editManifest(a, withFile('../../../../etc/passwd')),
      /manifest\.json has no valid tables\.0\.file\.name/,
    ],
    [
      'whose manifest names an absolute path',
      (a) => editManifest(a, withFile('/etc/passwd')),
      /manifest\.json has no valid tables\.0\.file\.name/,
    ],
    [
      'whose manifest names SQL',
      (a) =>
        editManifest(a, (m) => ({
          ...m,
          tables: m.tables.map((t) => ({ ...t, name: 'users"; DROP TABLE x' })),
        })),
      /no valid tables\.0\.name/,
    ],
    [
      'of a newer format',
      (a) => editManifest(a, (m) => ({ ...m, formatVersion: 4, gantryVersion: '9.0.0' })),
      /made by version 9\.0\.0, which is newer/,
    ],
    [
      'of the format of encrypted ones, without recipients',
      (a) => editManifest(a, (m) => ({ ...m, formatVersion: 3 })),
      /manifest\.json has no valid recipients/,
    ],
    [
      'of a newer schema',
      (a) =>
        editManifest(a, (m) => ({
          ...m,
          gantryVersion: '9.0.0',
          migrations: [...m.migrations, { name: '9999-x.sql', checksum: 'a'.repeat(64) }],
        })),
      /made by version 9\.0\.0, which is newer/,
    ],
    [
      'of a changed schema',
      (a) =>
        editManifest(a, (m) => ({
          ...m,
          migrations: m.migrations.map((each) => ({ ...each, checksum: 'a'.repeat(64) })),
        })),
      /whose migration 0001-foundations\.sql differs/,
    ],
    ['of something else', (a) => editManifest(a, () => ({ hello: 'world' })), /is not a backup of Gantry/],
  ];
  it.each(cases)('%s is refused before anything changes', async (_, spoil, message) => {
    const archive = await copyOfGood();
    await verifyArchive(archive);
    await spoil(archive);
    await expect(verifyArchive(archive)).rejects.toThrow(message);
  });

  it('is refused when its manifest states more rows than it has', async () => {
    const archive = await copyOfGood();
    await editManifest(archive, (m) => ({ ...m, tables: m.tables.map((t) => ({ ...t, rows: t.rows + 1 })) }));
    const database = await createTestDatabase('template1');
    const dataDir = await mkdtemp(join(home, 'data-'));
    const target = {
      connectionString: database.url,
      dataDir,
      files: imageFilesAt(join(dataDir, 'images')),
      allowUnsafe: true,
      log: suiteLog(),
    };
    await expect(
      restoreBackup({ ...target, archive, manifest: await verifyArchive(archive) }),
    ).rejects.toThrow(/has \d+ rows instead of \d+: the backup is damaged/);
    // Nothing was stored, so the good backup can be restored into the same place, but not twice.
    const options = { ...target, archive: good, manifest: await verifyArchive(good) };
    expect((await restoreBackup(options)).events).toBe(1);
    await expect(restoreBackup(options)).rejects.toThrow(
      /^The database is not empty: its table users has rows\. Use an empty database/,
    );
    await database.drop();
  });

  it('is reported where there is no backup', async () => {
    await expect(findArchive(join(home, 'nowhere'))).rejects.toThrow(/is not a folder that can be read/);
    await expect(findArchive(home)).rejects.toThrow(/^There is no backup in /);
  });
});

describe('a target', () => {
  it('is refused while a service runs on it, and when it has other tables', async () => {
    const manifest = await verifyArchive(good);
    const options = {
      archive: good,
      manifest,
      dataDir: await mkdtemp(join(home, 'data-')),
      allowUnsafe: true,
      log: suiteLog(),
    };
    const files = imageFilesAt(join(home, 'unused'));
    await expect(restoreBackup({ ...options, files, connectionString: urlOf() })).rejects.toThrow(
      /^A service is running on this database: stop it first/,
    );
    const database = await createTestDatabase('template1');
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('CREATE TABLE invoices (n int)');
    await client.end();
    await expect(restoreBackup({ ...options, files, connectionString: database.url })).rejects.toThrow(
      /^The database has tables of something else, such as invoices/,
    );
    await writeFile(join(options.dataDir, 'jwt-secret'), 'of another installation');
    await expect(restoreBackup({ ...options, files, connectionString: database.url })).rejects.toThrow(
      /jwt-secret belongs to another installation/,
    );
    await database.drop();
  });
});

describe('a folder for backups', () => {
  it('that is missing with its parent, a file, or without Gantry behind it, is refused', async () => {
    await expect(makeInto(join(home, 'no', 'such'))).rejects.toThrow(
      /^The folder above \S+ does not exist: create it/,
    );
    await writeFile(join(home, 'file'), '');
    await expect(makeInto(join(home, 'file'))).rejects.toThrow(/is not a folder: choose another one/);
    const database = await createTestDatabase('template1');
    await expect(makeInto(join(home, 'own'), database.url)).rejects.toThrow(
      /^There is no Gantry in this database/,
    );
    await database.drop();
  });

  it('that may not be written is refused', async (test) => {
    // Permissions do not restrict root.
    if (process.getuid?.() === 0) return test.skip();
    const folder = await mkdtemp(join(home, 'shut-'));
    await chmod(folder, 0o500);
    await expect(makeInto(folder)).rejects.toThrow(/cannot be written: give it to the user/);
    await chmod(folder, 0o700);
  });

  /** Calls `work` with a new folder that has a file system of its own. @returns false if it cannot be mounted here */
  const inMounted = async (options: string, work: (folder: string) => Promise<void>): Promise<boolean> => {
    const folder = await mkdtemp(join(home, 'mounted-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
    } catch {
      return false;
    }
    try {
      await work(folder);
    } finally {
      await run('umount', [folder]);
    }
    return true;
  };

  it('that is read-only, as most are for the service of the Debian package, is refused', async (test) => {
    const isTried = await inMounted('ro', async (folder) => {
      await expect(makeInto(folder)).rejects.toThrow(
        /is read-only for this process: allow it in the unit of systemd \(ReadWritePaths\)/,
      );
    });
    if (!isTried) test.skip();
  });

  it('on a full disk keeps no partial backup, and receives a complete one once there is space', async (test) => {
    const isTried = await inMounted('size=128k,mode=0700', async (folder) => {
      await writeFile(join(folder, 'filler'), Buffer.alloc(100_000));
      await expect(makeInto(folder)).rejects.toThrow(
        /^The disk of \S+ is full: make room, or choose another folder/,
      );
      expect((await readdir(folder)).filter((name) => name.includes('gantry-'))).toEqual([]);
      await rm(join(folder, 'filler'));
      await run('mount', ['-o', 'remount,size=16m', folder]);
      await verifyArchive((await makeInto(folder)).path);
    });
    if (!isTried) test.skip();
  });
});

describe('a store of images that refuses them', () => {
  it('ends a backup and a restore with a sentence that names it', async () => {
    const server = createServer((_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<Error><Code>AccessDenied</Code><Message>Not for you</Message></Error>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using blobs = await createS3Blobs({
      bucket: 'pictures',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    });
    const files = { ...imageFilesAt(home), blobs, storesObjects: true };
    const { rows } = await gantry.pool.query('SELECT sha256, segment, position FROM images');
    const place = (sha256: Buffer, segment: number | null, position: number | null) =>
      gantry.pool.query('UPDATE images SET segment = $2, position = $3 WHERE sha256 = $1', [
        sha256,
        segment,
        position,
      ]);
    for (const { sha256 } of rows) await place(sha256, null, null);
    const message = /^The store of images \(S3_BUCKET, .*\) failed \(Not for you\): gantry doctor checks it/;
    const folder = await mkdtemp(join(home, 'refused-'));
    await expect(makeInto(folder, urlOf(), null, files)).rejects.toThrow(message);
    for (const { sha256, segment, position } of rows) await place(sha256, segment, position);
    expect((await readdir(folder)).filter((name) => name.includes('gantry-'))).toEqual([]);
    const database = await createTestDatabase('template1');
    const options = {
      archive: good,
      manifest: await verifyArchive(good),
      dataDir: await mkdtemp(join(home, 'data-')),
      allowUnsafe: true,
      log: suiteLog(),
    };
    await expect(restoreBackup({ ...options, files, connectionString: database.url })).rejects.toThrow(
      /^The store of images/,
    );
    await database.drop();
    server.close();
  });
});

describe('removing old backups', () => {
  it('keeps the one just made, whatever the names of others, and those of other installations', async () => {
    const folder = dirname(await copyOfGood());
    const copyAs = (name: string) => cp(good, join(folder, name), { recursive: true });
    await copyAs('gantry-20990101T000000Z');
    await copyAs('gantry-20010101T000000Z');
    await editManifest(join(folder, 'gantry-20010101T000000Z'), (manifest) => ({
      ...manifest,
      installationId: randomUUID(),
    }));
    // Nothing says that these belong to the installation.
    const [damaged, nameless] = ['gantry-20020101T000000Z', 'gantry-20030101T000000Z'];
    await copyAs(damaged);
    await writeFile(join(folder, damaged, 'manifest.json'), '{"format":');
    await copyAs(nameless);
    await editManifest(join(folder, nameless), (manifest) => ({ ...manifest, installationId: null }));
    const made = await makeInto(folder, urlOf(), 2);
    expect(made.removed).toEqual([basename(good)]);
    expect((await readdir(folder)).filter((name) => name.startsWith('gantry-')).sort()).toEqual([
      'gantry-20010101T000000Z',
      damaged,
      nameless,
      made.name,
      'gantry-20990101T000000Z',
    ]);
    await expect(findArchive(folder)).rejects.toThrow(
      /^The newest backup in \S+, gantry-20990101T000000Z, is named after a time in the future/,
    );
    await verifyArchive(made.path);
  });
});

describe('a database that a newer version has migrated', () => {
  it('is not backed up, because its new tables would be missing', async () => {
    await gantry.pool.query(`INSERT INTO schema_migrations (name, checksum) VALUES ('9999-new.sql', 'x')`);
    try {
      await expect(makeInto(join(home, 'own'))).rejects.toThrow(
        'The database has migration 9999-new.sql, which this version does not know: use the version that runs on it',
      );
    } finally {
      await gantry.pool.query(`DELETE FROM schema_migrations WHERE name = '9999-new.sql'`);
    }
  });
});

describe('the commands', () => {
  const gantryCommand = async (args: readonly string[], settings: Record<string, string> = {}) => {
    const env = { PATH: process.env.PATH, LOG_LEVEL: 'error', ALLOW_UNSAFE_DATABASE: 'true', ...settings };
    const program = fileURLToPath(new URL('../dist/gantry.js', import.meta.url));
    const ended = (error: { code: number; stdout: string; stderr: string }) => error;
    const { code, stdout, stderr } = await run(process.execPath, [program, ...args], { cwd: home, env })
      .then((outcome) => ({ code: 0, ...outcome }))
      .catch(ended);
    return { code, stdout, stderr };
  };
  const settings = () => ({ DATABASE_URL: urlOf(), DATA_DIR: gantry.app.context.config.DATA_DIR });

  it('make and check backups, and report a refusal in one line', async () => {
    const folder = await mkdtemp(join(home, 'command-'));
    const made = await gantryCommand(['backup', folder, '--json'], settings());
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(made.stdout)).toMatchObject({ events: 1, pictures: { count: 1 } });
    const { backups } = await gantry.ok('backups.getAll', {}, { token });
    expect(backups[0]).toMatchObject({ origin: 'COMMAND', status: 'COMPLETED', folder });
    const checked = await gantryCommand(['restore', folder, '--verify-only']);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('complete and undamaged') });
    expect(await gantryCommand(['restore', folder], settings())).toMatchObject({
      code: 1,
      stderr: 'Not restored. A service is running on this database: stop it first\n',
    });
    expect(await gantryCommand(['backup'], settings())).toMatchObject({
      code: 1,
      stderr: 'No backup was made. There is no folder for backups: name one, or set BACKUP_DIR\n',
    });
  });

  it('that fail in a folder that is not that of the service do not degrade its health', async () => {
    const { db, config } = gantry.app.context;
    const failed = await gantryCommand(['backup', join(home, 'no', 'folder')], settings());
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('create it, or choose another'),
    });
    const { backups } = await gantry.ok('backups.getAll', {}, { token });
    expect(backups[0]).toMatchObject({ origin: 'COMMAND', status: 'FAILED' });
    expect(await readBackupsSoFar(db, config.BACKUP_DIR)).toMatchObject({ lastStatus: 'COMPLETED' });
    expect(await readBackupState(db, config.BACKUP_DIR)).toMatchObject({ error: null });
    // Without BACKUP_DIR, commands make all backups, so their failures count.
    expect(await readBackupsSoFar(db, undefined)).toMatchObject({ lastStatus: 'FAILED' });
    expect(await readBackupState(db, undefined)).toMatchObject({
      error: expect.stringContaining('create it'),
    });
  });

  it('move only an embedded database, and only to an address', async () => {
    expect(await gantryCommand(['move-to', 'db.example.org'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Not moved\. The address must be one such as postgres:[^\n]*\n$/),
    });
    expect(await gantryCommand(['move-to', urlOf()], settings())).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Not moved\. DATABASE_URL is set, so [^\n]*\n$/),
    });
    const nowhere = { DATA_DIR: join(home, 'empty-data') };
    expect(await gantryCommand(['move-to', urlOf()], nowhere)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Not moved\. There is no database in [^\n]*\n$/),
    });
  });
});

describe('scheduled backups', () => {
  it('are made by the service, listed, limited in number, and measured', async () => {
    const asked = await gantry.ok('backups.create', undefined, { token });
    expect(asked).toMatchObject({
      status: 'RUNNING',
      origin: 'USER',
      startedBy: { name: expect.any(String) },
    });
    const second = await gantry.refusal('backups.create', undefined, { token });
    expect(second).toMatchObject({
      status: 409,
      message: 'A backup is already in progress: wait until it has finished',
    });
    const list = async () => gantry.ok('backups.getAll', {}, { token });
    const { backups, settings, lastCompletedAt } = await eventually(
      list,
      (page) => page.backups[0].status !== 'RUNNING',
    );
    expect(backups[0]).toMatchObject({
      id: asked.id,
      status: 'COMPLETED',
      progress: 1,
      events: 1,
      pictures: 1,
      recipients: [],
      error: null,
    });
    expect(backups.at(-1)).toMatchObject({ origin: 'SCHEDULE', startedBy: null });
    expect(settings).toMatchObject({ schedule: '6h', keep: 2, recipients: [] });
    expect(Date.parse(settings.nextAt)).toBe(Date.parse(backups[0].startedAt) + 6 * 3_600_000);
    expect(lastCompletedAt).toBe(backups[0].finishedAt);
    await verifyArchive(join(backups[0].folder, backups[0].name));
    const metrics = await eventually(
      async () => (await gantry.fetch('/metrics')).body as string,
      (text) => /gantry_backup_bytes [1-9]/.test(text),
    );
    expect(metrics).toMatch(/gantry_backup_age_seconds [0-9.]+\n/);
    expect(metrics).toContain('gantry_backup_old_after_seconds 32400\n');
    expect(metrics).toContain('gantry_backup_failing 0');
  });

  it('are made and reported although some are dated in the future, by a clock that was ahead', async () => {
    const { rows } = await gantry.pool.query(`
      INSERT INTO backups (origin, folder, status, started_at, alive_at, finished_at) VALUES
        ('SCHEDULE', 'a', 'COMPLETED', now() + interval '1 year', now() + interval '1 year', now() + interval '1 year'),
        ('SCHEDULE', 'a', 'FAILED', now() + interval '2 years', now() + interval '2 years', now() + interval '2 years'),
        ('SCHEDULE', 'a', 'RUNNING', now() + interval '3 years', now() + interval '3 years', NULL)
      RETURNING id`);
    try {
      const { settings, lastCompletedAt } = await gantry.ok('backups.getAll', {}, { token });
      expect(Date.parse(settings.nextAt)).toBeLessThan(Date.now() + 7 * 3_600_000);
      expect(Date.parse(lastCompletedAt)).toBeLessThan(Date.now() + 1_000);
      expect((await readBackupState(gantry.app.context.db, undefined)).age_hours).toBeGreaterThanOrEqual(0);
      // The backup that seems to be running is considered to have lost its process.
      const { backups } = await gantry.ok('backups.getAll', {}, { token });
      expect(backups[0]).toMatchObject({ status: 'STOPPED', finishedAt: expect.any(String) });
      expect(await gantry.ok('backups.create', undefined, { token })).toMatchObject({ status: 'RUNNING' });
      await eventually(
        async () => (await readBackupsSoFar(gantry.app.context.db, undefined)).lastStatus,
        (status) => status === 'COMPLETED',
      );
    } finally {
      await gantry.pool.query('DELETE FROM backups WHERE id = ANY ($1)', [rows.map(({ id }) => id)]);
    }
  });

  it('are not held up for minutes by one whose process was killed, but by one that is at work', async () => {
    const { db } = gantry.app.context;
    const started = async (seconds: number): Promise<boolean> => {
      await gantry.pool.query(
        `INSERT INTO backups (origin, folder, alive_at) VALUES ('COMMAND', 'a', now() - make_interval(secs => $1))`,
        [seconds],
      );
      const id = await beginBackup(db, { origin: 'COMMAND', folder: 'a', startedBy: null });
      await gantry.pool.query(`DELETE FROM backups WHERE status = 'RUNNING' OR folder = 'a'`);
      return id !== null;
    };
    const client = await gantry.pool.connect();
    try {
      expect([await started(10), await started(25)]).toEqual([false, true]);
      await client.query('SELECT pg_advisory_lock($1)', [locks.backup]);
      expect([await started(10), await started(25), await started(130)]).toEqual([false, false, true]);
    } finally {
      client.release(true);
    }
  });

  it.each([
    ['backups', '02:00', 36],
    ['backups', '168h', 252],
    ['backups', 'manual', 168],
    [undefined, '02:00', 168],
  ])('into %s by %s are old after %i hours', (BACKUP_DIR, BACKUP_SCHEDULE, hours) => {
    expect(oldAfter(scheduleOf({ BACKUP_DIR, BACKUP_SCHEDULE }))).toBe(hours * 3_600_000);
  });

  it('that fail are recorded and degrade the health of the service, which stays ready', async () => {
    const folder = join(home, 'scheduled');
    await rm(folder, { recursive: true });
    await writeFile(folder, 'no folder');
    await gantry.ok('backups.create', undefined, { token });
    const { backups } = await eventually(
      async () => gantry.ok('backups.getAll', {}, { token }),
      (page) => page.backups[0].status !== 'RUNNING',
    );
    expect(backups[0]).toMatchObject({ status: 'FAILED', name: null });
    expect(backups[0].error).toMatch(/is not a folder: choose another one$/);
    await eventually(
      async () => (await gantry.ok('system.health')).status,
      (status) => status === 'degraded',
    );
    expect((await gantry.fetch('/ready')).status).toBe(200);
    await rm(folder);
    await gantry.ok('backups.create', undefined, { token });
    await eventually(
      async () => (await gantry.ok('system.health')).status,
      (status) => status === 'healthy',
    );
  });

  it.each([
    ['02:00', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'], // 02:00 does not exist on that day: an hour later
    ['12:30', '2026-11-22T11:00:00Z', '2026-11-22T11:30:00.000Z'],
    ['12:30', '2026-11-22T11:30:00Z', '2026-11-23T11:30:00.000Z'],
    ['6h', '2026-11-22T11:30:00Z', '2026-11-22T17:30:00.000Z'],
  ])('%s after %s are due at %s', (text, last, next) => {
    const start = Date.parse(last);
    const soFar = {
      now: start,
      installedAt: 0,
      lastStart: start,
      lastStatus: 'COMPLETED' as const,
      lastEnd: start,
      lastFailure: null,
      completed: { start, end: start, bytes: 1 },
    };
    const at = nextBackupAt(readSchedule(text), 'Europe/Berlin', soFar);
    expect(new Date(at ?? 0).toISOString()).toBe(next);
    expect(nextBackupAt(readSchedule('manual'), 'UTC', soFar)).toBeNull();
    const failed = { ...soFar, lastStatus: 'FAILED' as const, completed: null };
    expect(nextBackupAt(readSchedule(text), 'UTC', failed)).toBe(start + 1_800_000);
    // The same applies when a backup on request fails between two scheduled ones.
    const between = { ...soFar, lastStatus: 'FAILED' as const };
    expect(nextBackupAt(readSchedule(text), 'UTC', between)).toBe(start + 1_800_000);
  });
});

describe('a list of images', () => {
  const listed = async (...chunks: (string | Buffer)[]) => {
    const found: unknown[] = [];
    for await (const each of readImageList(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) {
      found.push(each);
    }
    return found;
  };
  const hash = 'ab'.repeat(32);

  it('is read whatever the limits of its chunks are', async () => {
    const text = `${hash}\t12\n${hash}\t0\n`;
    for (let at = 0; at <= text.length; at++)
      expect(await listed(text.slice(0, at), text.slice(at))).toEqual([
        { sha256: hash, bytes: 12, segment: null, position: null },
        { sha256: hash, bytes: 0, segment: null, position: null },
      ]);
  });

  it.each([
    ['../../../../etc/passwd\t1'],
    [`${hash.toUpperCase()}\t1`],
    [`${hash}/..\t1`],
    [`${hash}`],
    [`${hash}\t`],
    [`${hash}\t-1`],
    [`${hash}\t1e3`],
    [`${hash}\t1\r`],
    [`${hash}\t1\t2`],
    [''],
  ])('is refused with the line %j', async (line) => {
    await expect(listed(`${hash}\t1\n${line}\n`)).rejects.toThrow(
      'The list of images of the backup is damaged: line 2 is not a hash and a size',
    );
  });

  it('is refused after the beginning of a line without an end', async () => {
    let read = 0;
    const endless = function* () {
      for (; read < 1_000; read++) yield Buffer.alloc(65_536, 'a');
    };
    const reading = async () => {
      for await (const _ of readImageList(Readable.from(endless())));
    };
    await expect(reading()).rejects.toThrow('line 1 is not a hash');
    expect(read).toBeLessThan(100);
  });
});
