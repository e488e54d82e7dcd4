import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HotlistImport, HotlistImportDetail, HotlistLookBack } from '@gantry/contract/hotlists';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runChecks } from '../../src/operations/consistency/checks.ts';
import { channels } from '../../src/platform/database/notify.ts';
import { createPool } from '../../src/platform/database/pool.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { isLong, lengthOf } from '../test-length.ts';
import { type ServiceProcess, spawnWithTimings, untilItServes } from './service-process.ts';

// Services in processes of their own on one database, which are killed at random moments while hotlists change and reads arrive.

/** Entries of each kind: only in the former version, only in the next one, and in both. A version is prepared in several parts. */
const EACH = 15_000;
/** Entries of which a look-back searches several parts. */
const SOUGHT = 6_000;
const ROUNDS = lengthOf({ gate: 1, full: 12 });
/** A million lines take minutes on a busy machine. */
const SETTLED_MS = lengthOf({ gate: 120_000, full: 900_000 });

const scratch = mkdtempSync(join(tmpdir(), 'gantry-hotlists-'));
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
let service: ServiceProcess;
let token = '';
let apiKey = '';

const start = () => {
  const settings = { DATABASE_URL: database.url, DATA_DIR: join(scratch, 'data') };
  return untilItServes(spawnWithTimings(scratch, settings, { sweepHotlistJobsMs: 200 }));
};

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 2, () => undefined);
  service = await start();
  token = await service.tokenFor('ADMIN');
  apiKey = await service.registerSensor();
});

afterAll(async () => {
  await service.stop();
  await pool.end();
  await database.drop();
  await rm(scratch, { recursive: true, force: true });
});

const ok = <Output>(procedure: string, input?: unknown): Promise<Output> =>
  service.ok(procedure, input, { token });

type Kind = 'OLD' | 'BOTH' | 'NEW' | 'NONE';
const platesOf = (kinds: readonly Kind[], count = EACH): string[] =>
  kinds.flatMap((kind) => Array.from({ length: count }, (_, at) => `${kind}${at}`));
const OLD = platesOf(['OLD', 'BOTH']);
const NEW = platesOf(['BOTH', 'NEW']);

const createList = async (name: string, fields: object = {}): Promise<string> =>
  (await ok<{ id: string }>('hotlists.create', { name, repeatMinutes: 0, ...fields })).id;
const orderFile = async (hotlistId: string, file: Buffer | string, template?: object): Promise<string> => {
  const { status, body } = await service.fetch(`/hotlists/${hotlistId}/file?name=list.csv`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}` },
    body: file,
  });
  expect(status).toBe(201);
  await ok('hotlists.stage', { importId: body.id, template });
  return body.id;
};
const order = (hotlistId: string, plates: readonly string[]): Promise<string> =>
  orderFile(hotlistId, ['plate', ...plates].join('\n'));
const settled = (id: string) =>
  eventually(
    () => ok<HotlistImportDetail>('hotlists.getImport', { id }),
    ({ state }) => state !== 'STAGING' && state !== 'APPLYING',
    SETTLED_MS,
  );
const apply = async (importId: string, expectedVersion: number) => {
  await ok('hotlists.applyImport', { id: importId, expectedVersion, override: 'As ordered' });
  return importId;
};

/** Reports reads of plates of all kinds, one after another, until the service is gone. @returns how many it acknowledged */
const readUntilGone = async (prefixes: readonly string[]): Promise<number> => {
  for (let n = 0; ; n++) {
    const licensePlateNumber = `${prefixes[n % prefixes.length]}${n % EACH}`;
    try {
      await service.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber });
    } catch {
      return n;
    }
  }
};

/** Kills the service at a random moment of what was ordered. @param ms about how long that takes */
const killWithin = async (ms: number): Promise<void> => {
  // It may be gone before the readers come to each kind.
  for (const prefix of ['OLD', 'BOTH', 'NEW', 'NONE'])
    await service.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: `${prefix}1` });
  const reading = Promise.all([
    readUntilGone(['OLD', 'BOTH', 'NEW', 'NONE']),
    readUntilGone(['NEW', 'NONE', 'OLD', 'BOTH']),
  ]);
  await sleep(Math.random() * ms);
  service.process.kill('SIGKILL');
  await Promise.all([reading, service.ended]);
};
/** Starts another service, for which no lease of the one that was killed is left. */
const recover = async (): Promise<void> => {
  for (const table of ['hotlist_imports', 'hotlist_look_backs'])
    await pool.query(`UPDATE ${table} SET due_at = now() WHERE due_at IS NOT NULL`);
  service = await start();
};
const timed = async <Result>(work: () => Promise<Result>): Promise<[Result, number]> => {
  const began = performance.now();
  return [await work(), performance.now() - began];
};

const inForce = async (hotlistId: string) => {
  const { rows } = await pool.query<{ plate: string; n: number; version: number }>(
    `SELECT plate, entry_count AS n, version FROM hotlists JOIN hotlist_entries ON hotlist_id = hotlists.id
     WHERE hotlists.id = $1 AND from_version <= version AND (to_version IS NULL OR to_version > version)`,
    [hotlistId],
  );
  return { plates: rows.map(({ plate }) => plate).sort(), count: rows[0]?.n, version: rows[0]?.version };
};
const expectInForce = async (hotlistId: string, version: number, plates: readonly string[]) => {
  const found = await inForce(hotlistId);
  expect(found).toMatchObject({ version, count: plates.length });
  // Comparing so many plates one by one takes minutes if they differ.
  expect(found.plates.join() === [...plates].sort().join()).toBe(true);
};

/** Waits until every read has been compared, also by the look-backs after changes. */
const allCompared = () =>
  eventually(
    async () => {
      await pool.query(
        `UPDATE hotlist_look_backs SET due_at = now() WHERE state = 'WAITING' AND due_at > now()`,
      );
      await pool.query(`NOTIFY ${channels.hotlistJobs}`);
      const { rows } = await pool.query<{ n: number }>(
        `SELECT (SELECT count(*) FROM events_to_follow_up) + (SELECT count(*) FROM hotlist_look_backs WHERE due_at IS NOT NULL) AS n`,
      );
      return rows[0]?.n;
    },
    (left) => left === 0,
  );

/** Whether lists and their hits are what a recomputation gives. */
const expectConsistent = async () => {
  const results = await runChecks({
    connectionString: database.url,
    features: ['watchlist'],
    limit: 5,
    onResult: () => undefined,
  });
  const ofHits = results.filter(({ rebuild }) => rebuild === 'hits');
  expect(ofHits.flatMap(({ differences }) => differences)).toEqual([]);
};

/** Whether each read has one hit if its plate is of a kind in force, none if it never was, and never two. */
const expectHits = async (hotlistId: string, kinds: readonly string[], never: readonly string[]) => {
  const { rows } = await pool.query<{ kind: string; hits: number; reads: number }>(
    `SELECT rtrim(plate, '0123456789') AS kind, hits, count(*) AS reads FROM (
       SELECT plate, (SELECT count(*) FROM watchlist_alerts WHERE event_id = events.id AND hotlist_id = $1) AS hits FROM events
     ) AS counted GROUP BY 1, 2 ORDER BY 1, 2`,
    [hotlistId],
  );
  expect(rows.filter(({ hits }) => hits > 1)).toEqual([]);
  expect(rows.filter(({ kind, hits }) => kinds.includes(kind) && hits !== 1)).toEqual([]);
  expect(rows.filter(({ kind, hits }) => never.includes(kind) && hits !== 0)).toEqual([]);
  for (const kind of kinds) expect(rows.map((row) => row.kind)).toContain(kind);
};

describe('a service that is killed while a hotlist changes', () => {
  it('leaves the former version or the next one in force, and every read is compared with one of them, once', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await pool.query('DELETE FROM events');
      const id = await createList(`Round ${round}`);
      const [first, stageMs] = await timed(async () => {
        const importId = await order(id, OLD);
        await settled(importId);
        return importId;
      });
      const [, applyMs] = await timed(async () => settled(await apply(first, 0)));
      await expectInForce(id, 1, OLD);

      const staged = await order(id, NEW);
      await killWithin(stageMs);
      await expectInForce(id, 1, OLD);
      await recover();
      expect(await settled(staged)).toMatchObject({
        state: 'STAGED',
        added: EACH,
        removed: EACH,
        same: EACH,
        changed: 0,
        repeated: 0,
      });
      await allCompared();
      await expectHits(id, ['OLD', 'BOTH'], ['NEW', 'NONE']);

      await apply(staged, 1);
      await killWithin(applyMs);
      const { version } = await inForce(id);
      await expectInForce(id, version ?? 0, version === 1 ? OLD : NEW);
      await recover();
      expect(await settled(staged)).toMatchObject({
        state: 'APPLIED',
        version: 2,
        added: EACH,
        removed: EACH,
      });
      await expectInForce(id, 2, NEW);
      await allCompared();
      await expectHits(id, ['BOTH', 'NEW'], ['NONE']);

      const reverted = await ok<HotlistImport>('hotlists.revert', { id, version: 1 });
      await killWithin(applyMs);
      const { version: now } = await inForce(id);
      await expectInForce(id, now ?? 0, now === 2 ? NEW : OLD);
      await recover();
      expect(await settled(reverted.id)).toMatchObject({ state: 'APPLIED', version: 3 });
      await expectInForce(id, 3, OLD);
      await allCompared();
      await expectHits(id, ['OLD', 'BOTH'], ['NONE']);
      await expectConsistent();
    }
  }, 1_200_000);

  it.runIf(isLong)(
    'does so with a million lines in any form',
    async () => {
      const [few, most] = [100_000, 900_000];
      const first = [...platesOf(['OLD'], few), ...platesOf(['BOTH'], most)];
      const next = [...platesOf(['BOTH'], most), ...platesOf(['NEW'], few)];
      const columns = { number: 'plate', reason: 'reason' };
      const id = await createList('A million');
      const staged = async (file: Buffer, template: object) => {
        const importId = await orderFile(id, file, template);
        const [found, ms] = await timed(() => settled(importId));
        expect(found).toMatchObject({ state: 'STAGED', lines: 1_000_000, invalid: 0, repeated: 0 });
        return { importId, ms };
      };
      await pool.query('DELETE FROM events');
      const inWindows = Buffer.from(
        `plate;reason\r\n${first.map((plate) => `${plate};gest\xf6hlen`).join('\r\n')}`,
        'latin1',
      );
      const one = await staged(inWindows, { encoding: 'WINDOWS-1252', delimiter: ';', columns });
      const [applied, applyMs] = await timed(async () => settled(await apply(one.importId, 0)));
      expect(applied).toMatchObject({ state: 'APPLIED', added: 1_000_000 });
      await expectInForce(id, 1, first);
      const { entries } = await ok<{ entries: object[] }>('hotlists.getEntries', {
        hotlistId: id,
        plate: 'OLD7',
      });
      expect(entries).toMatchObject([{ reason: 'gestöhlen' }]);

      const fixed = Buffer.from(next.map((plate) => `${plate.padEnd(12)}gestöhlen`).join('\n'));
      const second = await orderFile(id, fixed, {
        layout: 'FIXED',
        headerLines: 0,
        columns: { number: { start: 1, length: 12 }, reason: { start: 13, length: 20 } },
      });
      await killWithin(one.ms);
      await expectInForce(id, 1, first);
      await recover();
      const counts = { added: few, removed: few, same: most, changed: 0 };
      expect(await settled(second)).toMatchObject({ state: 'STAGED', ...counts });
      await allCompared();
      await expectHits(id, ['OLD', 'BOTH'], ['NEW', 'NONE']);
      // The reads of more than five minutes before a change are not compared with it.
      await pool.query('DELETE FROM events');
      await apply(second, 1);
      await killWithin(applyMs / 2);
      const { version } = await inForce(id);
      await expectInForce(id, version ?? 0, version === 1 ? first : next);
      await recover();
      expect(await settled(second)).toMatchObject({ state: 'APPLIED', version: 2, ...counts });
      await expectInForce(id, 2, next);
      await allCompared();
      await expectHits(id, ['BOTH', 'NEW'], ['NONE']);

      const marked = Buffer.from(
        `\uFEFFplate,reason\r\n${first.map((plate) => `${plate},lost`).join('\r\n')}\r\n`,
      );
      const third = await staged(marked, { columns });
      expect(await settled(await apply(third.importId, 2))).toMatchObject({
        version: 3,
        changed: most,
        added: few,
      });
      await expectInForce(id, 3, first);
      await pool.query('DELETE FROM events');
      const reverted = await ok<HotlistImport>('hotlists.revert', { id, version: 2 });
      await killWithin(applyMs);
      await recover();
      expect(await settled(reverted.id)).toMatchObject({ state: 'APPLIED', version: 4 });
      await expectInForce(id, 4, next);
      await allCompared();
      await expectHits(id, ['BOTH', 'NEW'], ['NONE']);
      await expectConsistent();
    },
    3_600_000,
  );

  it('leaves a look-back to another, and each read of the past is found once', async () => {
    for (let n = 0; n < 60; n++)
      await service.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: `PAST${n * 100}` });
    // Otherwise the look-back after the change finds them.
    await pool.query(`UPDATE events SET created_at = now() - interval '1 hour' WHERE plate LIKE 'PAST%'`);
    const id = await createList('Look-back', { tolerance: 'CONFUSABLE', maxDifferences: 1 });
    const importId = await order(
      id,
      Array.from({ length: SOUGHT }, (_, at) => `PAST${at}`),
    );
    await settled(importId);
    await settled(await apply(importId, 0));
    await allCompared();
    const lookBack = async (ordered: string) =>
      (await ok<{ lookBacks: HotlistLookBack[] }>('hotlists.getLookBacks', { id })).lookBacks.find(
        (each) => each.id === ordered,
      );
    const { id: ordered } = await ok<HotlistLookBack>('hotlists.lookBack', { id, version: 1, days: 1 });
    await eventually(
      () => lookBack(ordered),
      (found) => found !== undefined && found.state !== 'WAITING',
    );
    await killWithin(300);
    await recover();
    const done = await eventually(
      () => lookBack(ordered),
      (found) => found?.state === 'DONE',
    );
    expect(done).toMatchObject({ plates: SOUGHT, done: SOUGHT });
    await allCompared();
    await expectHits(id, ['PAST'], ['OLD', 'NEW', 'BOTH', 'NONE']);
  }, 300_000);
});

describe('two processes on one database', () => {
  it('compare reads with a change that one of them made, without waiting for a look-back', async () => {
    const other = await start();
    const id = await createList('Two processes');
    for (const [changes, reads] of [
      [service, other],
      [other, service],
    ] as const) {
      const plate = changes === service ? 'TWO 1' : 'TWO 2';
      await changes.ok('hotlists.addEntry', { hotlistId: id, plate, reason: 'Stolen' }, { token });
      await pool.query(`UPDATE hotlist_look_backs SET due_at = NULL, state = 'DONE' WHERE hotlist_id = $1`, [
        id,
      ]);
      const found = await eventually(
        async () => {
          await reads.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: plate });
          const { hits } = await ok<{ hits: { licensePlateNumber: string; kind: string }[] }>('hits.getAll', {
            hotlistId: id,
          });
          return hits.filter(({ licensePlateNumber }) => licensePlateNumber === plate);
        },
        (hits) => hits.length > 0,
      );
      expect(found[0]?.kind).toBe('LIVE');
    }
    await other.stop();
  });
});
