import type { EventProof, SealStatus } from '@gantry/contract/evidence';
import { isUuid } from '@gantry/contract/id';
import type { Core } from '../platform/context.ts';
import { notFound } from '../platform/error.ts';
import { findProof, isUnchanged } from './proofs.ts';
import { findErased, findRecords } from './records-store.ts';
import { textOfRecord, viewKey, viewSeal } from './seals.ts';
import type { EvidenceServices } from './start.ts';
import { findLatestSeal, listKeys, readCheck } from './store.ts';

type EvidenceContext = Core & EvidenceServices;

/** What is sealed, with which keys, and what the last check found. */
export async function getSealStatus({ db, sealMode }: EvidenceContext): Promise<SealStatus> {
  const { startedAt, checked, faults } = await readCheck(db);
  return {
    mode: sealMode,
    ...(await getSealKeys(db)),
    check: startedAt === null ? null : { startedAt: new Date(startedAt), checked, faults: [...faults] },
  };
}

/** The public keys and the latest seal, which everybody may know. */
export async function getSealKeys(db: Core['db']): Promise<Pick<SealStatus, 'keys' | 'latest'>> {
  const latest = await findLatestSeal(db);
  return { keys: (await listKeys(db)).map(viewKey), latest: latest && viewSeal(latest) };
}

/** How long the seal of an event may take, in milliseconds. */
const WAIT_MS = 300_000;

/**
 * Proves that an event is as it was sealed.
 * @throws AppError `notFound` without such an event
 */
export async function proveEvent(
  { db, sealMode, clock }: EvidenceContext,
  eventId: string,
): Promise<EventProof> {
  if (!isUuid(eventId)) throw notFound('Event');
  const id = eventId.toLowerCase();
  const record = (await findRecords(db, 'EVENT', [id])).get(id);
  if (record === undefined) throw notFound('Event');
  const proof = await findProof(db, 'EVENT', record);
  const text = textOfRecord('EVENT', record);
  if (proof === null) {
    const isNew = sealMode !== 'off' && clock.now() - record.at < WAIT_MS;
    return { eventId: id, state: isNew ? 'WAITING' : 'UNSEALED', record: text, proof: null };
  }
  const { leaf, index, path, seal } = proof;
  const key = (await listKeys(db)).find((each) => each.id === seal.keyId);
  if (key === undefined) throw notFound('Key of the seal');
  const isSame = isUnchanged('EVENT', record, proof);
  const isErased = !isSame && (await findErased(db, 'EVENT', [id])).has(id);
  return {
    eventId: id,
    state: isSame ? 'PROVEN' : isErased ? 'ERASED' : 'CHANGED',
    record: text,
    proof: { leaf, index, path, seal: viewSeal(seal), key: viewKey(key) },
  };
}
