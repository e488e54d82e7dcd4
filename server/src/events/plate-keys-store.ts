import { setTimeout as sleep } from 'node:timers/promises';
import { PLATE_KEY_VERSION, plateKey } from '@gantry/contract/plate';
import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { textArray, uuidArray } from '../platform/database/arrays.ts';
import { locks } from '../platform/database/locks.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { startPeriodic } from '../platform/periodic.ts';

/**
 * Brings the stored keys of plates along after an upgrade that changed their rules, in small steps and with half of one
 * connection's time. Searches find both forms of a key meanwhile. Disposing waits for the step in progress; another
 * process, or the next start, continues.
 */
export function startRenewingPlateKeys({
  db,
  log,
  everyMs,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly everyMs: number;
}): AsyncDisposable {
  const rounds = startPeriodic(
    { everyMs, log, failure: 'the keys of plates could not be renewed now; trying again later' },
    async (isOver) => {
      while (!isOver()) {
        const began = performance.now();
        if ((await renewPlateKeys(db)) !== 'ahead') return;
        await sleep(performance.now() - began, undefined, { ref: false });
      }
    },
  );
  rounds.startNow();
  return rounds;
}

/** Maximum number of keys that one step reads, and of events that it changes, so that it takes a fraction of a second. */
const READ_AT_ONCE = 20_000;
const CHANGED_AT_ONCE = 1_000;

/**
 * The result of a step: `ahead` if more is to be done, `passed` if it ended a pass over all keys, `done` if all keys
 * conform to the rules, `elsewhere` if another process is at work.
 */
export type PlateKeyStep = 'ahead' | 'passed' | 'done' | 'elsewhere';

/**
 * Brings the next stored plate keys up to the present rules of `plateKey`. Passes are repeated until one that began at
 * least a day after the upgrade finds nothing to change: until then a process of the earlier version may store keys.
 */
export function renewPlateKeys(db: Database): Promise<PlateKeyStep> {
  return inTransaction(db, async (tx) => {
    const { rows: locked } = await tx.execute<{ mine: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${locks.plateKeys}) AS mine`,
    );
    if (!locked[0]?.mine) return 'elsewhere';
    const { rows } = await tx.execute<{ version: number; position: string }>(
      sql`SELECT version, position FROM plate_keys`,
    );
    const [state] = rows;
    if (!state || state.version >= PLATE_KEY_VERSION) return 'done';
    const page = await readKeys(tx, state.position);
    if (page.last === null) return endPass(tx);
    const stale = page.odd.filter((key) => plateKey(key) !== key);
    const first = stale.slice(0, CHANGED_AT_ONCE);
    const changed = first.length === 0 ? 0 : await changeKeys(tx, first);
    // Further events may have the same keys, or further keys of the page be stale.
    const position =
      changed === CHANGED_AT_ONCE ? state.position : first.length < stale.length ? first.at(-1) : page.last;
    await tx.execute(sql`UPDATE plate_keys SET position = ${position}, changed = changed + ${changed}`);
    return 'ahead';
  });
}

interface Page extends Record<string, unknown> {
  /** null: there are no further keys. */
  readonly last: string | null;
  /** Those with other characters than A to Z and 0 to 9, which no rule changes, in order. */
  readonly odd: readonly string[];
}

async function readKeys(tx: Transaction, after: string): Promise<Page> {
  // Plan: events_by_plate of every partition, only the index.
  const { rows } = await tx.execute<Page>(sql`
    SELECT max(plate_key) AS last,
      coalesce(array_agg(DISTINCT plate_key) FILTER (WHERE plate_key ~ '[^A-Z0-9]'), '{}') AS odd
    FROM (SELECT plate_key FROM events WHERE plate_key > ${after} ORDER BY plate_key LIMIT ${READ_AT_ONCE}) AS page`);
  return rows[0] ?? { last: null, odd: [] };
}

/** Renews the keys of some events. @returns the number of changed events; less than the maximum if they were all */
async function changeKeys(tx: Transaction, keys: readonly string[]): Promise<number> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    SELECT id FROM events WHERE plate_key = ANY (${textArray(keys, (key) => key)}) LIMIT ${CHANGED_AT_ONCE}`);
  const renewed = JSON.stringify(Object.fromEntries(keys.map((key) => [key, plateKey(key)])));
  // An event that was removed meanwhile is gone; its key needs no change.
  await tx.execute(sql`
    UPDATE events SET plate_key = coalesce(${renewed}::jsonb ->> plate_key, plate_key)
    WHERE id = ANY (${uuidArray(rows, ({ id }) => id)})`);
  return rows.length;
}

async function endPass(tx: Transaction): Promise<PlateKeyStep> {
  const { rows } = await tx.execute<{ version: number }>(sql`
    UPDATE plate_keys SET position = '', changed = 0,
      version = CASE WHEN changed = 0 AND since < now() - interval '1 day' THEN ${PLATE_KEY_VERSION}::smallint ELSE version END
    RETURNING version`);
  return rows[0]?.version === PLATE_KEY_VERSION ? 'done' : 'passed';
}
