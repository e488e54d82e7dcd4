import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HotlistImport } from '@gantry/contract/hotlists';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { imageFilesAt } from '../src/images/blobs.ts';
import { verifyArchive } from '../src/operations/backup/archive.ts';
import { type BackupResult, makeBackup } from '../src/operations/backup/make.ts';
import { moveDatabase } from '../src/operations/backup/move.ts';
import { restoreBackup } from '../src/operations/backup/restore.ts';
import { excludeOthers } from '../src/operations/backup/source-store.ts';
import { pathInPool } from '../src/operations/backup/stored-images.ts';
import { runChecks } from '../src/operations/consistency/checks.ts';
import { readConfig } from '../src/platform/config.ts';
import { locks } from '../src/platform/database/locks.ts';
import { migrate, readMigrations, tablesOfMigrations } from '../src/platform/database/migrate.ts';
import { migrationsFolder } from '../src/platform/installation.ts';
import { type App, createApp } from '../src/programs/app.ts';
import { Caller, createTestDatabase, eventually, type Gantry, sharedGantry } from './harness.ts';
import { suiteLog } from './leaks.ts';
import { provideEvents } from './many-events.ts';
import { damageStored, dataUrl, png } from './sample-images.ts';
import { lengthOf } from './test-length.ts';

// Backups of a running service, restored elsewhere.

const EMPTY = 'template1';
/** More events than fit into the buffers between the database and the files. */
const MANY = lengthOf({ gate: 40_000, full: 300_000 });

const closing: (() => Promise<unknown>)[] = [];
const gantry = await sharedGantry({ overrides: { timings: { sweepHotlistJobsMs: 50 } } });
const apiKey = await gantry.registerSensor();
const folder = await mkdtemp(join(tmpdir(), 'gantry-backups-'));
afterEach(async () => {
  for (let close = closing.pop(); close; close = closing.pop()) await close();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const urlOf = (of: Gantry): string => of.app.context.config.DATABASE_URL ?? '';

const back = (
  of: Gantry,
  more: { folder?: string; keep?: number; signal?: AbortSignal } = {},
): Promise<BackupResult> =>
  makeBackup({
    connectionString: urlOf(of),
    files: of.app.context.images.files,
    dataDir: of.app.context.config.DATA_DIR,
    folder,
    keep: null,
    log: suiteLog(),
    ...more,
  });

/** An empty database and an empty data folder. */
const emptyTarget = async (template = EMPTY) => {
  const database = await createTestDatabase(template);
  const dataDir = await mkdtemp(join(tmpdir(), 'gantry-restored-'));
  closing.push(
    () => database.drop(),
    () => rm(dataDir, { recursive: true, force: true }),
  );
  return { url: database.url, dataDir, files: imageFilesAt(join(dataDir, 'images')) };
};
type Target = Awaited<ReturnType<typeof emptyTarget>>;

const restore = async (archive: string, { url, dataDir, files }: Target) =>
  restoreBackup({
    archive,
    manifest: await verifyArchive(archive),
    connectionString: url,
    allowUnsafe: true,
    files,
    dataDir,
    log: suiteLog(),
  });

const serve = async ({ url, dataDir }: Target): Promise<{ app: App; caller: Caller }> => {
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    ALLOW_UNSAFE_DATABASE: 'true',
  });
  const app = await createApp(config, suiteLog(), null);
  closing.push(async () => app[Symbol.asyncDispose]());
  return { app, caller: new Caller(await app.listen()) };
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

const differencesIn = async (connectionString: string) => {
  const results = await runChecks({
    connectionString,
    features: gantry.app.context.config.FEATURES,
    limit: 5,
    onResult: () => undefined,
  });
  return results.flatMap(({ differences }) => differences);
};

const untilSettled = (caller: Caller, token: string, id: string): Promise<HotlistImport> =>
  eventually(
    () => caller.ok('hotlists.getImport', { id }, { token }),
    ({ state }) => state !== 'STAGING' && state !== 'APPLYING',
  );

const isSettled = () =>
  eventually(
    async () => (await gantry.count('events_to_follow_up')) + (await gantry.count('event_totals_unfolded')),
    (n) => n === 0,
  );

describe('a backup', () => {
  it('contains every table that migrations make', async () => {
    const known = await tablesOfMigrations(migrationsFolder);
    const there = await rowsOf(
      urlOf(gantry),
      `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
        AND relname !~ '^events_\\d' AND relname <> 'schema_migrations'`,
    );
    expect(there.map(({ relname }) => relname).filter((name) => !known.has(name))).toEqual([]);
  });

  it('restores events, images and accounts elsewhere, and the service continues normally', async () => {
    const report = { timestamp: new Date().toISOString(), idempotencyKey: randomUUID() };
    const sent = png({ shade: 7 });
    const withImage = await gantry.ingest(apiKey, { ...report, images: [dataUrl(sent, 'image/png')] });
    await gantry.ingest(apiKey, { eventType: 'INCIDENT', plate: 'B-ÄÖ 1', description: 'a\tb\\c\nd' });
    await gantry.ingest(apiKey, { timestamp: '2023-05-06T07:08:09.010Z', vehicleSpeed: 0.1 + 0.2 });
    const token = await gantry.tokenFor('ADMIN');
    await isSettled();
    const made = await back(gantry);
    expect(made).toMatchObject({ events: 3, pictures: { count: 1, copied: 1, lacking: 0 } });
    expect(await differencesIn(urlOf(gantry))).toEqual([]);

    const target = await emptyTarget();
    expect(await restore(made.path, target)).toMatchObject({ events: 3, pictures: 1, migrated: [] });
    const everything = 'SELECT to_jsonb(events) AS row FROM events ORDER BY id';
    expect(await rowsOf(target.url, everything)).toEqual(await rowsOf(urlOf(gantry), everything));
    expect(await differencesIn(target.url)).toEqual([]);

    const { caller, app } = await serve(target);
    expect(app.firstAdministrator).toBeNull();
    // Sessions end; passwords and keys remain valid.
    expect((await caller.refusal('users.getAll', {}, { token })).status).toBe(401);
    const fresh = await caller.tokenFor('ADMIN');
    const [image] = (await caller.ok('events.getById', { id: withImage }, { token: fresh })).images;
    const served = await fetch(`${caller.url}${image}`, { headers: { authorization: `Bearer ${fresh}` } });
    expect(Buffer.from(await served.arrayBuffer())).toEqual(sent);
    expect(await caller.ingest(apiKey, { ...report, images: [dataUrl(sent, 'image/png')] })).toBe(withImage);
    expect((await rowsOf(target.url, 'SELECT count(*)::int AS n FROM events'))[0].n).toBe(3);
    await caller.ingest(apiKey, { timestamp: '2023-05-07T07:08:09.010Z' });
    expect(await readFile(join(target.dataDir, 'jwt-secret'), 'utf8')).toBe(
      await readFile(join(gantry.app.context.config.DATA_DIR, 'jwt-secret'), 'utf8'),
    );
    // The statistics of the planner exist, and the sequences continue.
    const [{ analyzed }] = await rowsOf(
      target.url,
      `SELECT bool_and(reltuples >= 0) AS analyzed FROM pg_class WHERE relname LIKE 'events\\_2%' AND relkind = 'r'`,
    );
    expect(analyzed).toBe(true);
    const [{ distinct }] = await rowsOf(
      target.url,
      'SELECT count(DISTINCT id) = count(*) AND max(id) > 1 AS distinct FROM activity',
    );
    expect(distinct).toBe(true);
  });

  it('restores hotlists with their versions, imports, hits and sightings, which answer as before', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    const { id } = await gantry.ok('hotlists.create', { name: 'Wanted', hitDays: 30 }, { token });
    const staged = async (plates: readonly string[]) => {
      const { body } = await gantry.fetch(`/hotlists/${id}/file?name=list.csv`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}` },
        body: ['plate', ...plates].join('\n'),
      });
      await gantry.ok('hotlists.stage', { importId: body.id }, { token });
      return untilSettled(gantry, token, body.id);
    };
    const first = await staged(['BK 1', 'BK 2', 'BK 3']);
    await gantry.ok('hotlists.applyImport', { id: first.id, expectedVersion: 0 }, { token });
    await untilSettled(gantry, token, first.id);
    await gantry.ok('hotlists.addEntry', { hotlistId: id, plate: 'BK 4*', reason: 'Seen' }, { token });
    const second = await staged(['BK 2', 'BK 3', 'BK 5']);
    await gantry.ok('hotlists.applyImport', { id: second.id, expectedVersion: 2 }, { token });
    await untilSettled(gantry, token, second.id);
    const waiting = await staged(['BK 5', 'BK 6']);
    for (const licensePlateNumber of ['BK 2', 'BK 2', 'BK 41', 'BK 1'])
      await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber });
    await isSettled();
    await eventually(
      () => gantry.count(`watchlist_alerts WHERE hotlist_id = '${id}'`),
      (n) => n === 2,
    );
    const { hits } = await gantry.ok('hits.getAll', { hotlistId: id }, { token });
    await gantry.ok('hits.confirm', { id: hits[0].id, note: 'Same car' }, { token });

    const answers = async (caller: Caller) => {
      const as = { token: await caller.tokenFor('ADMIN') };
      const { hits: found } = await caller.ok('hits.getAll', { hotlistId: id }, as);
      return {
        list: await caller.ok('hotlists.getById', { id }, as),
        entries: await caller.ok('hotlists.getEntries', { hotlistId: id }, as),
        imports: await caller.ok('hotlists.getImports', { id }, as),
        waiting: await caller.ok('hotlists.getImport', { id: waiting.id }, as),
        lookBacks: await caller.ok('hotlists.getLookBacks', { id }, as),
        hits: await Promise.all(
          found.map((hit: { id: string }) => caller.ok('hits.getById', { id: hit.id }, as)),
        ),
      };
    };
    // The look-backs after the changes are not the subject.
    await gantry.pool.query(`UPDATE hotlist_look_backs SET due_at = NULL, state = 'DONE'`);
    const before = await answers(gantry);
    expect(before.list).toMatchObject({ version: 3, entryCount: 4, formerVersions: [2, 1, 0] });
    expect(before.hits.map(({ sightings }) => sightings).sort()).toEqual([1, 2]);

    const target = await emptyTarget();
    await restore((await back(gantry)).path, target);
    expect(await differencesIn(target.url)).toEqual([]);
    const { caller } = await serve(target);
    expect(await answers(caller)).toEqual(before);
    const as = { token: await caller.tokenFor('ADMIN') };
    await caller.ok('hotlists.applyImport', { id: waiting.id, expectedVersion: 3, override: 'Fewer' }, as);
    expect(await untilSettled(caller, as.token, waiting.id)).toMatchObject({ state: 'APPLIED', version: 4 });
    const reverted = await caller.ok('hotlists.revert', { id, version: 1 }, as);
    expect(await untilSettled(caller, as.token, reverted.id)).toMatchObject({ state: 'APPLIED', version: 5 });
    const { entries } = await caller.ok('hotlists.getEntries', { hotlistId: id }, as);
    expect(entries.map(({ plate }: { plate: string }) => plate)).toEqual(['BK 1', 'BK 2', 'BK 3']);
    const eventId = await caller.ingest(apiKey, {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'BK 3',
    });
    await eventually(
      async () => (await caller.ok('hits.getAll', { hotlistId: id }, as)).hits,
      (found) => found.some((hit: { eventId: string }) => hit.eventId === eventId),
    );
  }, 300_000);

  it('is readable by its owner only', async () => {
    const { path } = await back(gantry);
    const names = await readdir(path, { recursive: true });
    for (const name of [...names, '.']) {
      const found = await stat(join(path, name));
      expect([name, (found.mode & 0o777).toString(8)]).toEqual([name, found.isDirectory() ? '700' : '600']);
    }
  });

  it('does not copy an image again, and removes old backups with the images that only they reference', async () => {
    const own = await mkdtemp(join(folder, 'own-'));
    await gantry.ingest(apiKey, { images: [dataUrl(png({ shade: 8 }), 'image/png')] });
    const first = await back(gantry, { folder: own });
    expect(first.pictures.copied).toBe(first.pictures.count);
    const second = await back(gantry, { folder: own });
    expect(second.pictures).toMatchObject({ copied: 0, count: first.pictures.count });
    const stray = 'ab'.repeat(32);
    await mkdir(join(own, 'pictures', 'ab', 'ab'), { recursive: true });
    await writeFile(pathInPool(join(own, 'pictures'), stray), 'x');
    const third = await back(gantry, { folder: own, keep: 1 });
    expect(third.removed).toEqual([first.name, second.name]);
    expect((await readdir(own)).filter((name) => !name.startsWith('claim-')).sort()).toEqual([
      third.name,
      'pictures',
    ]);
    await expect(stat(pathInPool(join(own, 'pictures'), stray))).rejects.toThrow('ENOENT');
    await verifyArchive(third.path);
  });

  it('leaves nothing behind when it is stopped; the next one removes the files of a killed one', async () => {
    const own = await mkdtemp(join(folder, 'own-'));
    await mkdir(join(own, '.partial-gantry-20260101T000000Z', 'tables'), { recursive: true });
    const stopping = AbortSignal.timeout(0);
    await eventually(async () => stopping.aborted, Boolean);
    await expect(back(gantry, { folder: own, signal: stopping })).rejects.toThrow();
    expect((await readdir(own)).filter((name) => name.startsWith('gantry-'))).toEqual([]);
    const made = await back(gantry, { folder: own });
    expect((await readdir(own)).filter((name) => /^[.g]/.test(name))).toEqual([made.name]);
  });

  it('has given back its locks once it is made, so that another can follow at once', async () => {
    const client = new pg.Client({ connectionString: urlOf(gantry) });
    await client.connect();
    for (let n = 0; n < 3; n++) {
      await back(gantry);
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS got, pg_advisory_unlock($1)', [
        locks.backup,
      ]);
      expect(rows[0].got).toBe(true);
    }
    await client.end();
  });

  it('makes retention wait, so that no image and no partition disappears meanwhile', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const client = new pg.Client({ connectionString: urlOf(gantry) });
    await client.connect();
    await excludeOthers(client);
    const old = await gantry.ingest(apiKey, { timestamp: '2024-01-02T03:04:05Z' });
    const isThere = async () => (await gantry.count(`events WHERE id = '${old}'`)) === 1;
    await gantry.ok('storage.setRetention', { events: { default: 300, byType: {} } }, { token });
    const { id } = await gantry.ok('storage.runRetention', undefined, { token });
    const started = 'SELECT beat_at > started_at AS alive FROM retention_runs WHERE id';
    // The run shows liveness signals while it waits, and removes nothing.
    await eventually(
      async () => (await rowsOf(urlOf(gantry), `${started} = '${id}'`))[0],
      ({ alive }) => alive,
    );
    expect(await isThere()).toBe(true);
    await expect(back(gantry)).rejects.toThrow(/^Another backup of this database is in progress/);
    await client.end();
    await eventually(isThere, (there) => !there);
    await gantry.ok('storage.setRetention', { events: { default: null, byType: {} } }, { token });
  });

  it('is completed without an image that is missing in the store, and reports it', async () => {
    const own = await mkdtemp(join(folder, 'own-'));
    const id = await gantry.ingest(apiKey, { images: [dataUrl(png({ shade: 9 }), 'image/png')] });
    const [{ hash }] = await rowsOf(
      urlOf(gantry),
      `SELECT encode(sha256, 'hex') AS hash FROM event_images WHERE event_id = '${id}'`,
    );
    await damageStored(gantry, hash, null);
    const made = await back(gantry, { folder: own });
    expect(made.pictures.lacking).toBe(1);
    const target = await emptyTarget();
    await restore(made.path, target);
    const stored = `SELECT stored_at FROM images WHERE encode(sha256, 'hex') = '${hash}'`;
    expect(await rowsOf(target.url, stored)).toEqual([{ stored_at: null }]);
  });

  it('of an older version is restored and then migrated', async () => {
    const old = await emptyTarget();
    const own = await mkdtemp(join(folder, 'own-'));
    const names = (await readMigrations(migrationsFolder)).map(({ name }) => name);
    const only = new Set(names.filter((name) => name < '0023'));
    await migrate(old.url, { folder: migrationsFolder, only });
    await rowsOf(
      old.url,
      `INSERT INTO users (email, password_hash, first_name, last_name, role) VALUES ('a@b.c', 'x', 'A', 'B', 'ADMIN')`,
    );
    const made = await makeBackup({
      ...old,
      connectionString: old.url,
      folder: own,
      keep: null,
      log: suiteLog(),
    });
    const target = await emptyTarget();
    const { migrated } = await restore(made.path, target);
    expect(migrated).toEqual(names.filter((name) => !only.has(name)));
    expect(await rowsOf(target.url, 'SELECT email FROM users')).toEqual([{ email: 'a@b.c' }]);
  });

  it(`of ${MANY.toLocaleString('en')} events is restored`, async () => {
    const big = await emptyTarget('template1');
    await migrate(big.url, { folder: migrationsFolder });
    await provideEvents(big.url, MANY);
    const own = await mkdtemp(join(folder, 'own-'));
    const made = await makeBackup({
      ...big,
      connectionString: big.url,
      folder: own,
      keep: null,
      log: suiteLog(),
    });
    expect(made.events).toBe(MANY);
    const target = await emptyTarget();
    const restored = await restore(made.path, target);
    expect(restored).toMatchObject({ events: MANY });
    const sums = `SELECT count(*)::int AS n, sum(hashtext(events::text)::bigint) AS sum FROM events`;
    expect(await rowsOf(target.url, sums)).toEqual(await rowsOf(big.url, sums));
  });
});

describe('a move to another server', () => {
  it('copies everything, keeps the source, and refuses a second time', async () => {
    const target = await emptyTarget();
    const source = await emptyTarget();
    await restore((await back(gantry)).path, source);
    const options = { from: source.url, to: target.url, allowUnsafe: true, log: suiteLog() };
    const moved = await moveDatabase(options);
    const events = 'SELECT count(*)::int AS n FROM events';
    expect(await rowsOf(target.url, events)).toEqual([{ n: moved.events }]);
    expect(await rowsOf(source.url, events)).toEqual([{ n: moved.events }]);
    expect(await differencesIn(target.url)).toEqual([]);
    await expect(moveDatabase(options)).rejects.toThrow(
      /^The database is not empty: its table users has rows\./,
    );
    await expect(moveDatabase({ ...options, from: urlOf(gantry) })).rejects.toThrow(
      /^A service is running on this database/,
    );
  });
});
