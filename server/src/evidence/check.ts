import { hash } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { SealFault } from '@gantry/contract/evidence';
import type { Database } from '../platform/database/pool.ts';
import { readCheckpoints } from './proofs.ts';
import { findErased, findInParts, findRemoved, ID_BYTES, idOfBytes } from './records-store.ts';
import { REST, type SealerParts, sealLate } from './sealer.ts';
import {
  idOfKey,
  idsOf,
  isSignedBy,
  leafOfRecord,
  NO_SEAL,
  type StoredKey,
  type StoredSeal,
  textOfSeal,
} from './seals.ts';
import { firstSealSince, listKeys, listSeals, readCheck, storeCheck } from './store.ts';
import { HASH_BYTES, piecesOf, rootOf } from './tree.ts';

/** Maximum number of faults that are kept. */
export const MAX_FAULTS = 100;

/** Number of seals that are read at once: at most some 2 MB. */
const PAGE = 20;

export interface CheckOptions {
  /** The first seal to check; those before it are taken for right. */
  readonly from: number;
  /** The last one; all by default. */
  readonly until?: number;
  /** Maximum number of records; the check ends with the seal in which it is reached. */
  readonly records?: number;
  readonly onSeal?: (seal: StoredSeal) => void;
  readonly isOver?: () => boolean;
  /** How many times as long as it works it rests, so that other work of the process proceeds. */
  readonly rest?: number;
}

export interface Checked {
  /** Number of seals. */
  readonly seals: number;
  readonly records: number;
  /** Number of records that were erased for a person: they differ from what was sealed, and that is no fault. */
  readonly erased: number;
  /** The last seal that was checked; `from - 1` if there is none. */
  readonly last: number;
  readonly faults: readonly SealFault[];
}

/** Recomputes seals and all records that they seal. */
export async function checkSeals(db: Database, options: CheckOptions): Promise<Checked> {
  const { from, until = Number.POSITIVE_INFINITY, records: most = Number.POSITIVE_INFINITY } = options;
  const keys = new Map((await listKeys(db)).map((key) => [key.id, key]));
  const faults: SealFault[] = [];
  let [seals, records, erased, last] = [0, 0, 0, from - 1];
  let before = await hashBefore(db, from);
  while (last < until && records < most && !options.isOver?.()) {
    const page = await listSeals(db, last + 1, PAGE);
    for (const seal of page) {
      if (seal.seq > until || records >= most || options.isOver?.()) break;
      const rest = () => (options.isOver?.() ? 0 : (options.rest ?? 0));
      const ofRecords = await recordFaults(db, seal, rest);
      const found = [
        ...continuity(seal, last + 1, before),
        ...ownFaults(seal, keys.get(seal.keyId)),
        ...ofRecords.faults,
      ];
      erased += ofRecords.erased;
      faults.push(...found.slice(0, MAX_FAULTS - faults.length));
      options.onSeal?.(seal);
      seals++;
      records += seal.ids.length / ID_BYTES;
      [last, before] = [seal.seq, seal.hash];
    }
    if (page.length < PAGE) break;
  }
  return { seals, records, erased, last, faults };
}

async function hashBefore(db: Database, from: number): Promise<Buffer | null> {
  if (from <= 1) return NO_SEAL;
  const [before] = await listSeals(db, from - 1, 1);
  return before?.seq === from - 1 ? before.hash : null;
}

const ofSeal = (
  seal: Pick<StoredSeal, 'seq' | 'kind'>,
  fault: SealFault['fault'],
  recordId: string | null = null,
) => ({
  fault,
  seq: seal.seq,
  kind: seal.kind,
  recordId,
});

/** Whether a seal has the number that follows, and names the one before. */
function continuity(seal: StoredSeal, expected: number, before: Buffer | null): SealFault[] {
  if (seal.seq !== expected) return [{ fault: 'GAP', seq: expected, kind: null, recordId: null }];
  return before !== null && seal.previous.equals(before) ? [] : [ofSeal(seal, 'CHAIN')];
}

/** What is wrong with a seal, whatever the records say. */
function ownFaults(seal: StoredSeal, key: StoredKey | undefined): SealFault[] {
  const text = textOfSeal(seal);
  const faults: SealFault[] = [];
  if (!hash('sha256', text, 'buffer').equals(seal.hash)) faults.push(ofSeal(seal, 'TEXT'));
  if (!rootOf(piecesOf(seal.leaves, HASH_BYTES)).equals(seal.root)) faults.push(ofSeal(seal, 'ROOT'));
  if (key === undefined || idOfKey(key.publicKey) !== key.id) faults.push(ofSeal(seal, 'KEY'));
  else if (!isSignedBy(key, text, seal.signature)) faults.push(ofSeal(seal, 'SIGNATURE'));
  return faults;
}

/** The records of a seal that differ from what was sealed, or are missing though nobody removed them who may. */
async function recordFaults(
  db: Database,
  seal: StoredSeal,
  rest: () => number,
): Promise<{ readonly faults: readonly SealFault[]; readonly erased: number }> {
  const { kind } = seal;
  const ids = idsOf(seal).map((bytes) => idOfBytes(kind, bytes));
  const leaves = new Map(piecesOf(seal.leaves, HASH_BYTES).map((leaf, index) => [ids[index], leaf]));
  const differing: string[] = [];
  const missing: string[] = [];
  for await (const { part, records } of findInParts(db, kind, ids, rest))
    for (const id of part) {
      const record = records.get(id);
      if (record === undefined) missing.push(id);
      else if (!leafOfRecord(kind, record).equals(leaves.get(id) as Buffer)) differing.push(id);
    }
  const erased = differing.length === 0 ? new Set<string>() : await findErased(db, kind, differing);
  const removed =
    missing.length === 0
      ? new Set<string>()
      : await findRemoved(db, kind, missing, { from: seal.firstAt, until: seal.lastAt + 1 });
  return {
    faults: [
      ...differing.filter((id) => !erased.has(id)).map((id) => ofSeal(seal, 'CHANGED', id)),
      ...missing.filter((id) => !removed.has(id)).map((id) => ofSeal(seal, 'MISSING', id)),
    ],
    erased: erased.size,
  };
}

/** How far the check of every night goes back with what was written late, and with all seals. */
const RECENT_MS = DAY_MS + 2 * HOUR_MS;

/** How long a record may take to be sealed before the check of every night looks for it, in milliseconds. */
const LATE_MS = 300_000;

/** Number of records of older seals that are checked every night, in turn. */
const OLDER_RECORDS = 200_000;

/**
 * Seals what was written late, and checks the seals of the last day, a part of the older ones, and those with faults.
 * @returns the number of faults, up to `MAX_FAULTS`
 */
export async function checkOfTheNight(
  parts: SealerParts,
  now: number,
  isOver: () => boolean,
): Promise<number> {
  const { db, folder } = parts;
  await sealLate(parts, { from: now - RECENT_MS, until: now - LATE_MS }, isOver);
  const { nextSeq, faults: known } = await readCheck(db);
  const recentFrom = (await firstSealSince(db, now - RECENT_MS)) ?? Number.POSITIVE_INFINITY;
  const isOlder = nextSeq < recentFrom;
  const older = await checkSeals(db, {
    from: isOlder ? nextSeq : 1,
    until: recentFrom - 1,
    records: OLDER_RECORDS,
    isOver,
    rest: REST,
  });
  const recent = Number.isFinite(recentFrom)
    ? await checkSeals(db, { from: recentFrom, isOver, rest: REST })
    : null;
  const faults = [...older.faults, ...(recent?.faults ?? []), ...(await checkCheckpoints(db, folder))];
  const isChecked = (seq: number): boolean =>
    (seq >= (isOlder ? nextSeq : 1) && seq <= older.last) || seq >= recentFrom;
  for (const seq of new Set(known.filter(({ fault }) => fault !== 'CHECKPOINT').map((fault) => fault.seq)))
    if (!isChecked(seq))
      faults.push(...(await checkSeals(db, { from: seq, until: seq, isOver, rest: REST })).faults);
  const kept = faults.slice(0, MAX_FAULTS);
  await storeCheck(db, {
    checked: older.seals + (recent?.seals ?? 0),
    nextSeq: older.last + 1,
    faults: kept,
  });
  return kept.length;
}

/** Compares the checkpoints in the data folder with the chain. A file that cannot be read is a fault too. */
export async function checkCheckpoints(db: Database, folder: string): Promise<SealFault[]> {
  const faults: SealFault[] = [];
  for (const [date, noted] of await readCheckpoints(folder)) {
    const [seal] = noted === null ? [] : await listSeals(db, noted.seq, 1);
    if (seal && seal.seq === noted?.seq && seal.hash.toString('hex') === noted.hash) continue;
    faults.push({ fault: 'CHECKPOINT', seq: noted?.seq ?? 0, kind: null, recordId: `${date}.json` });
  }
  return faults;
}
