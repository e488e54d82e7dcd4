import type { SealFault, SealKind } from '@gantry/contract/evidence';
import { sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { NO_SEAL, type SealBefore, type SealHead, type StoredKey, type StoredSeal } from './seals.ts';

type Times = 'madeAt' | 'firstAt' | 'lastAt';
type SealRow = Record<string, unknown> & Omit<StoredSeal, Times> & Readonly<Record<Times, string>>;

const COLUMNS = sql.raw(
  `seq::float8 AS seq, kind, made_at AS "madeAt", first_at AS "firstAt", last_at AS "lastAt", ids, leaves, root, previous,
   hash, key_id AS "keyId", signature`,
);

function toSeal({ madeAt, firstAt, lastAt, ...row }: SealRow): StoredSeal {
  return { ...row, madeAt: Date.parse(madeAt), firstAt: Date.parse(firstAt), lastAt: Date.parse(lastAt) };
}

/** Excludes other processes that make seals until the transaction ends. @returns false if another one makes them */
export async function tryToSeal(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.execute<{ mine: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${locks.seals}) AS mine`,
  );
  return rows[0]?.mine ?? false;
}

/** Keeps PostgreSQL from ending a transaction that is idle. @throws when it has ended */
export async function keepAlive(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT`);
}

/** The last seal of the chain; before the first one, what it names as the one before. */
export async function readLastSeal(db: Executor): Promise<SealBefore & { readonly keyId: string | null }> {
  const { rows } = await db.execute<{ seq: number; hash: Buffer; keyId: string }>(
    sql`SELECT seq::float8 AS seq, hash, key_id AS "keyId" FROM seals ORDER BY seals.seq DESC LIMIT 1`,
  );
  return rows[0] ?? { seq: 0, hash: NO_SEAL, keyId: null };
}

export async function insertSeal(db: Executor, seal: StoredSeal): Promise<void> {
  await db.execute(sql`
    INSERT INTO seals (seq, kind, made_at, first_at, last_at, ids, leaves, root, previous, hash, key_id, signature)
    VALUES (${seal.seq}, ${seal.kind}, ${moment(seal.madeAt)}, ${moment(seal.firstAt)}, ${moment(seal.lastAt)},
      ${seal.ids}, ${seal.leaves}, ${seal.root}, ${seal.previous}, ${seal.hash}, ${seal.keyId}, ${seal.signature})`);
}

/** Seals from a number on, in the order of the chain. */
export async function listSeals(db: Executor, from: number, limit: number): Promise<StoredSeal[]> {
  const { rows } = await db.execute<SealRow>(
    sql`SELECT ${COLUMNS} FROM seals WHERE seals.seq >= ${from} ORDER BY seals.seq LIMIT ${limit}`,
  );
  return rows.map(toSeal);
}

/** The seals from one number until another, both included, in the order of the chain, without their records. */
export async function listSealHeads(db: Executor, from: number, until: number): Promise<SealHead[]> {
  const { rows } = await db.execute<
    Omit<SealHead, 'madeAt' | 'ids'> & { madeAt: string; bytes: number } & Record<string, unknown>
  >(sql`
    SELECT seq::float8 AS seq, kind, made_at AS "madeAt", length(ids) AS bytes, root, previous, key_id AS "keyId" FROM seals
    WHERE seals.seq BETWEEN ${from} AND ${until} ORDER BY seals.seq`);
  return rows.map(({ madeAt, bytes, ...row }) => ({
    ...row,
    madeAt: Date.parse(madeAt),
    ids: { length: bytes },
  }));
}

/** The last seal; null if there is none. */
export async function findLatestSeal(db: Executor): Promise<StoredSeal | null> {
  const { rows } = await db.execute<SealRow>(
    sql`SELECT ${COLUMNS} FROM seals ORDER BY seals.seq DESC LIMIT 1`,
  );
  return rows[0] ? toSeal(rows[0]) : null;
}

/** The first seal made at a time or later; null if there is none. */
export async function firstSealSince(db: Executor, time: number): Promise<number | null> {
  const { rows } = await db.execute<{ seq: number | null }>(
    sql`SELECT min(seq)::float8 AS seq FROM seals WHERE made_at >= ${moment(time)}`,
  );
  return rows[0]?.seq ?? null;
}

/** The seals of a kind that may contain a record that was written then, the first ones first. */
export async function listSealsAround(db: Executor, kind: SealKind, time: number): Promise<StoredSeal[]> {
  // Plan: seals_by_kind.
  const { rows } = await db.execute<SealRow>(sql`
    SELECT ${COLUMNS} FROM seals WHERE kind = ${kind} AND last_at >= ${moment(time)} AND first_at <= ${moment(time)}
    ORDER BY seals.last_at, seals.seq LIMIT 1000`);
  return rows.map(toSeal);
}

/** The ids of all records of a kind in seals with a record that was written then or later. */
export async function readSealedIds(
  db: Executor,
  kind: SealKind,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<Buffer[]> {
  // Plan: seals_by_kind.
  const { rows } = await db.execute<{ ids: Buffer }>(sql`
    SELECT ids FROM seals WHERE kind = ${kind} AND last_at >= ${moment(from)} AND first_at < ${moment(until)}`);
  return rows.map(({ ids }) => ids);
}

type KeyRow = Record<string, unknown> & Omit<StoredKey, 'createdAt'> & { readonly createdAt: string };

/** The keys with which seals were signed, the first one first. */
export async function listKeys(db: Executor): Promise<StoredKey[]> {
  const { rows } = await db.execute<KeyRow>(sql`
    SELECT id, public_key AS "publicKey", replaces, created_at AS "createdAt" FROM seal_keys ORDER BY created_at, id`);
  return rows.map(({ createdAt, ...key }) => ({ ...key, createdAt: new Date(createdAt).getTime() }));
}

/** Records a public key, unless it is known. */
export async function insertKey(
  db: Executor,
  { id, publicKey, replaces }: Omit<StoredKey, 'createdAt'>,
): Promise<void> {
  await db.execute(sql`
    INSERT INTO seal_keys (id, public_key, replaces) VALUES (${id}, ${publicKey}, ${replaces})
    ON CONFLICT (id) DO NOTHING`);
}

/** Until when the records of each kind were sealed, in Unix milliseconds. */
export async function readProgress(db: Executor): Promise<ReadonlyMap<SealKind, number>> {
  const { rows } = await db.execute<{ kind: SealKind; until: string }>(
    sql`SELECT kind, sealed_until AS until FROM seal_progress`,
  );
  return new Map(rows.map(({ kind, until }) => [kind, new Date(until).getTime()]));
}

export async function noteProgress(db: Executor, kind: SealKind, until: number): Promise<void> {
  await db.execute(sql`UPDATE seal_progress SET sealed_until = ${moment(until)} WHERE kind = ${kind}`);
}

/** What is known of the last check. */
export interface CheckNote {
  /** Unix milliseconds; null before the first check. */
  readonly startedAt: number | null;
  readonly checked: number;
  /** The seal from which the next check of older ones begins. */
  readonly nextSeq: number;
  readonly faults: readonly SealFault[];
}

export async function readCheck(db: Executor): Promise<CheckNote> {
  const { rows } = await db.execute<{
    startedAt: string | null;
    checked: number;
    nextSeq: number;
    faults: SealFault[];
  }>(sql`SELECT started_at AS "startedAt", checked, next_seq::float8 AS "nextSeq", faults FROM seal_check`);
  const [row] = rows;
  if (!row) throw new Error('The row of the check of seals is missing');
  return { ...row, startedAt: row.startedAt === null ? null : new Date(row.startedAt).getTime() };
}

/**
 * Begins the check of a night, unless a process already has.
 * @param due when it is due, in Unix milliseconds
 * @returns whether this process is to do it
 */
export async function beginCheck(db: Executor, due: number): Promise<boolean> {
  const { rows } = await db.execute(sql`
    UPDATE seal_check SET started_at = now(), checked = 0
    WHERE started_at IS NULL OR started_at < ${moment(due)} RETURNING true`);
  return rows.length > 0;
}

export async function storeCheck(
  db: Executor,
  { checked, nextSeq, faults }: Omit<CheckNote, 'startedAt'>,
): Promise<void> {
  await db.execute(sql`
    UPDATE seal_check SET checked = ${checked}, next_seq = ${nextSeq}, faults = ${JSON.stringify(faults)}::jsonb,
      started_at = coalesce(started_at, now())`);
}
