import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SealKind, SealMode } from '@gantry/contract/evidence';
import { sealKinds } from '@gantry/contract/values';
import { readDatabaseTime } from '../platform/database/moment.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import {
  bytesOfId,
  findInParts,
  ID_BYTES,
  idOfBytes,
  listHitEvents,
  listRecords,
  type RecordMark,
} from './records-store.ts';
import { type HashedRecord, leafOfRecord, makeSeal, type SealingKey, viewKey, viewSeal } from './seals.ts';
import {
  findLatestSeal,
  insertKey,
  insertSeal,
  keepAlive,
  listKeys,
  noteProgress,
  readLastSeal,
  readProgress,
  readSealedIds,
  tryToSeal,
} from './store.ts';
import { piecesOf } from './tree.ts';

export interface SealerParts {
  readonly db: Database;
  readonly key: SealingKey;
  readonly mode: SealMode;
  /** The folder of checkpoints. */
  readonly folder: string;
}

/**
 * How long a transaction that writes records may take, in milliseconds: records of the time before the last round are
 * looked for again. The check of every night finds later ones.
 */
const OVERLAP_MS = 20_000;

/** How far a round looks back after the clock was set back, in milliseconds: more than the time between two rounds. */
const SET_BACK_MS = 300_000;

/** Maximum number of records of a seal. */
const AT_ONCE = 2_000;

/**
 * How many times as long as it works the sealer rests, so that events do not wait for it: without rests, it took 35 % of
 * the thread for five seconds of every thirty at 2,000 events/s, 200 of them with an image, and p99 was 2.2 s.
 */
export const REST = 5;

/** After this time, in milliseconds, a round rests no more: what is sealed has priority now. */
const WITHOUT_REST_AFTER_MS = 20_000;

/** How much time without new records passes until the place where the next round begins is written again. */
const IDLE_MS = 600_000;

/**
 * Runs work that makes seals, in one of the processes that call it at the same time.
 * @param work receives what it must call before each seal, which fails if another process may make seals now
 * @returns its result; null if another process makes seals
 */
function sealing<Result>(
  { db }: SealerParts,
  work: (stillOurs: () => Promise<void>) => Promise<Result>,
): Promise<Result | null> {
  // This transaction only holds the lock: it writes nothing, so it holds up nobody.
  return inTransaction(db, async (tx) => ((await tryToSeal(tx)) ? work(() => keepAlive(tx)) : null));
}

/**
 * Seals the records that were written since the last round.
 * @returns the number of sealed records; null if another process seals
 */
export function sealNew(parts: SealerParts, isOver: () => boolean): Promise<number | null> {
  const { db } = parts;
  return sealing(parts, async (stillOurs) => {
    await introduceKey(parts);
    const progress = await readProgress(db);
    const began = performance.now();
    const rest = () => (isOver() || performance.now() - began > WITHOUT_REST_AFTER_MS ? 0 : REST);
    const until = await readDatabaseTime(db);
    let sealed = 0;
    for (const kind of sealKinds) {
      const last = progress.get(kind) ?? 0;
      // A clock that was set back: otherwise nothing would be sealed until it shows the time of the last round again.
      const isSetBack = last > until;
      const from = isSetBack ? until - SET_BACK_MS : last - OVERLAP_MS;
      const written = { from, until: until + 1 };
      const count = await sealKind(parts, kind, written, { stillOurs, isOver, rest });
      if (isOver()) break;
      if (count > 0 || isSetBack || until - last > IDLE_MS) await noteProgress(db, kind, until);
      sealed += count;
    }
    if (sealed > 0) await keepCheckpoint(parts);
    return sealed;
  });
}

/** Seals what was written in an interval and was not sealed, because its transaction took long. */
export function sealLate(
  parts: SealerParts,
  { from, until }: Interval,
  isOver: () => boolean,
): Promise<number | null> {
  return sealing(parts, async (stillOurs) => {
    const rest = () => (isOver() ? 0 : REST);
    let sealed = 0;
    for (const kind of sealKinds)
      for (let at = from; at < until && !isOver(); at += IDLE_MS) {
        const written = { from: at, until: Math.min(until, at + IDLE_MS) };
        sealed += await sealKind(parts, kind, written, { stillOurs, isOver, rest });
      }
    return sealed;
  });
}

/** Records the key with which this installation signs, as the first record that it seals. */
async function introduceKey({ db, key }: SealerParts): Promise<void> {
  const last = await readLastSeal(db);
  if (last.keyId === key.id) return;
  await insertKey(db, { id: key.id, publicKey: key.publicKey, replaces: last.keyId });
}

interface Round {
  readonly stillOurs: () => Promise<void>;
  readonly isOver: () => boolean;
  /** How many times as long as it works it rests. */
  readonly rest: () => number;
}

/** Seals the records of an interval that are not sealed yet. @returns their number */
async function sealKind(
  { db, key, mode }: SealerParts,
  kind: SealKind,
  written: Interval,
  { stillOurs, isOver, rest }: Round,
): Promise<number> {
  let sealed = 0;
  let sealedIds: Set<string> | null = null;
  const seal = async (marks: readonly RecordMark[]): Promise<void> => {
    if (marks.length === 0) return;
    await stillOurs();
    // Mostly there are no records, and they need not be read.
    sealedIds ??= await knownIds(db, kind, written);
    const known = sealedIds;
    const ids = marks.map(({ id }) => id).filter((id) => !known.has(id));
    const records = await hashAll(db, kind, ids, { stillOurs, rest });
    for (const id of ids) known.add(id);
    if (records.length === 0) return;
    await stillOurs();
    const madeAt = await readDatabaseTime(db);
    await insertSeal(db, makeSeal(await readLastSeal(db), key, { kind, madeAt, records }));
    sealed += records.length;
  };
  let after: RecordMark | null = null;
  while (!isOver()) {
    const page: RecordMark[] = await listRecords(db, kind, written, { after, limit: AT_ONCE, mode });
    await seal(page);
    after = page.at(-1) ?? null;
    if (page.length < AT_ONCE) break;
  }
  if (kind === 'EVENT' && mode === 'evidence' && !isOver())
    await seal(await listHitEvents(db, written, AT_ONCE));
  return sealed;
}

async function knownIds(db: Database, kind: SealKind, written: Interval): Promise<Set<string>> {
  const known = new Set<string>();
  for (const ids of await readSealedIds(db, kind, written))
    for (const bytes of piecesOf(ids, ID_BYTES)) known.add(idOfBytes(kind, bytes));
  return known;
}

/** The hashes of the records with these ids, as far as they exist. */
async function hashAll(
  db: Database,
  kind: SealKind,
  ids: readonly string[],
  { stillOurs, rest }: Pick<Round, 'stillOurs' | 'rest'>,
): Promise<HashedRecord[]> {
  const hashed: HashedRecord[] = [];
  for await (const { part, records } of findInParts(db, kind, ids, rest)) {
    await stillOurs();
    for (const id of part) {
      const record = records.get(id);
      if (record)
        hashed.push({ idBytes: bytesOfId(kind, id), leaf: leafOfRecord(kind, record), at: record.at });
    }
  }
  return hashed;
}

/** The name of the file that keeps the last seal of a day (UTC). */
function checkpointOf(folder: string, madeAt: number): string {
  return join(folder, `${new Date(madeAt).toISOString().slice(0, 10)}.json`);
}

/**
 * Writes the first seal of a day to a file, so that a copy of the folder outside the installation shows if somebody
 * replaces the whole chain.
 */
async function keepCheckpoint({ db, folder }: SealerParts): Promise<void> {
  const latest = await findLatestSeal(db);
  if (latest === null) return;
  const path = checkpointOf(folder, latest.madeAt);
  if (existsSync(path)) return;
  const key = (await listKeys(db)).find(({ id }) => id === latest.keyId);
  if (key === undefined) return;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const text = JSON.stringify({ seal: viewSeal(latest), key: viewKey(key) }, null, 2);
  await writeFile(`${path}.new`, `${text}\n`);
  await rename(`${path}.new`, path);
}
