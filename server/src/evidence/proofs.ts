import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SealKind } from '@gantry/contract/evidence';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Executor } from '../platform/database/transaction.ts';
import { bytesOfId, type SealedRecord } from './records-store.ts';
import { idsOf, leafOfRecord, type StoredSeal, textOfSeal } from './seals.ts';
import { listSealHeads, listSealsAround } from './store.ts';
import { HASH_BYTES, pathOf, piecesOf } from './tree.ts';

/** Where a record is sealed. Hashes are hexadecimal digits. */
export interface RecordProof {
  /** As it was when it was sealed. */
  readonly leaf: string;
  /** Its place among the records of the seal, from 0. */
  readonly index: number;
  /** From the leaf to the root. */
  readonly path: string[];
  readonly seal: StoredSeal;
}

/** The proof of a record; null if it is not sealed. */
export async function findProof(
  db: Executor,
  kind: SealKind,
  record: SealedRecord,
): Promise<RecordProof | null> {
  const bytes = bytesOfId(kind, record.id);
  for (const seal of await listSealsAround(db, kind, record.at)) {
    const index = idsOf(seal).findIndex((each) => each.equals(bytes));
    if (index === -1) continue;
    const leaves = piecesOf(seal.leaves, HASH_BYTES);
    const leaf = (leaves[index] as Buffer).toString('hex');
    return { leaf, index, path: pathOf(leaves, index).map((each) => each.toString('hex')), seal };
  }
  return null;
}

/** Whether a record is as it was sealed. */
export function isUnchanged(kind: SealKind, record: SealedRecord, { leaf }: RecordProof): boolean {
  return leafOfRecord(kind, record).toString('hex') === leaf;
}

/** A checkpoint in the data folder. */
export interface Checkpoint {
  /** The day that it begins (UTC), such as 2026-05-01. */
  readonly date: string;
  readonly seq: number;
  /** Of the seal, in hexadecimal digits. */
  readonly hash: string;
}

const NAME = /^(\d{4}-\d{2}-\d{2})\.json$/;

/** The checkpoints in the data folder by their dates; null for a file that cannot be read as one. */
export async function readCheckpoints(folder: string): Promise<ReadonlyMap<string, Checkpoint | null>> {
  const names = (await ignoreErrno(readdir(folder), 'ENOENT')) ?? [];
  const checkpoints = new Map<string, Checkpoint | null>();
  for (const name of names.sort()) {
    const [, date] = NAME.exec(name) ?? [];
    if (date !== undefined)
      checkpoints.set(date, readCheckpoint(date, await readFile(join(folder, name), 'utf8')));
  }
  return checkpoints;
}

function readCheckpoint(date: string, text: string): Checkpoint | null {
  try {
    const { seal } = JSON.parse(text) as { seal: Checkpoint };
    const { seq, hash } = seal;
    return Number.isSafeInteger(seq) && typeof hash === 'string' ? { date, seq, hash } : null;
  } catch {
    return null;
  }
}

/** Maximum number of seals between a seal and the checkpoint that follows it: three days. */
const MAX_CHAIN = 10_000;

/** A checkpoint with the texts of the seals that lead to it. */
export interface LinkedCheckpoint extends Checkpoint {
  /** The seal from which the chain leads. */
  readonly from: number;
  readonly chain: readonly string[];
}

/** The first checkpoint after each of these seals, as far as there is one; one chain for the seals of a day. */
export async function linkCheckpoints(
  db: Executor,
  folder: string,
  seals: readonly number[],
): Promise<LinkedCheckpoint[]> {
  const checkpoints = [...(await readCheckpoints(folder)).values()]
    .flatMap((each) => each ?? [])
    // The clock may have been set back.
    .sort((a, b) => a.seq - b.seq);
  const linked = new Map<string, LinkedCheckpoint>();
  for (const from of [...seals].sort((a, b) => a - b)) {
    const next = checkpoints.find(({ seq }) => seq >= from);
    if (next === undefined || linked.has(next.date) || next.seq - from > MAX_CHAIN) continue;
    const heads = await listSealHeads(db, from + 1, next.seq);
    linked.set(next.date, { ...next, from, chain: heads.map(textOfSeal) });
  }
  return [...linked.values()];
}
