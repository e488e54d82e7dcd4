import type { CaseSummary } from '@gantry/contract/cases';
import { findNames, type NameOf } from '../../accounts/names-store.ts';
import { type CertificateRow, findCertificates } from '../../cases/certificates-store.ts';
import { type ExportRow, fileNameOfExport } from '../../cases/exports-store.ts';
import {
  brokenEntry,
  type ItemRow,
  isImage,
  type LogRow,
  listItems,
  listLog,
  listLogIds,
  textOfEntry,
} from '../../cases/items-store.ts';
import { redactedItems } from '../../cases/redaction.ts';
import { type CaseRow, getCaseRow, showCase } from '../../cases/store.ts';
import { findProof, isUnchanged, linkCheckpoints, type RecordProof } from '../../evidence/proofs.ts';
import { findRecords } from '../../evidence/records-store.ts';
import { textOfRecord, textOfSeal, viewKey } from '../../evidence/seals.ts';
import { listKeys } from '../../evidence/store.ts';
import { endingOf } from '../../images/read-image.ts';
import type { Database } from '../../platform/database/pool.ts';
import { AppError } from '../../platform/error.ts';

// What a package contains, but for the bytes of its images and files.

/** What a file of a package is, as its manifest says. */
export type FileRole =
  | 'README'
  | 'KEY'
  | 'REPORT'
  | 'CASE'
  | 'EVENTS'
  | 'CERTIFICATES'
  | 'LOG'
  | 'SEALS'
  | 'ORIGINAL'
  | 'COPY'
  | 'CERTIFICATE'
  | 'RAW_MESSAGE';

/** A file of an item of the case. */
export interface ItemFile {
  readonly name: string;
  readonly role: 'ORIGINAL' | 'COPY' | 'CERTIFICATE' | 'RAW_MESSAGE';
  readonly item: ItemRow;
}

/** The sealed record of an event or a certificate. */
interface Record {
  readonly id: string;
  readonly sealed: boolean;
  readonly record: string;
}

export interface PackageContents {
  readonly case: CaseRow;
  readonly summary: CaseSummary;
  readonly items: readonly ItemRow[];
  /** Those of the items that a redacted package leaves out. */
  readonly leftOut: readonly ItemRow[];
  readonly files: readonly ItemFile[];
  readonly certificates: readonly CertificateRow[];
  readonly log: readonly LogRow[];
  readonly nameOf: NameOf;
  readonly madeBy: NonNullable<ReturnType<NameOf>>;
  readonly fileName: string;
  readonly eventRecords: readonly Record[];
  readonly certificateRecords: readonly Record[];
  /** What `log.json` and `seal.json` say. */
  readonly logFile: object;
  readonly sealFile: object;
}

interface ContentsParts {
  readonly db: Database;
  /** The folder of checkpoints. */
  readonly checkpoints: string;
}

const refused = (message: string): AppError => new AppError('conflict', message);

/**
 * Reads what a package will contain.
 * @throws AppError `conflict` if the case was changed since the package was requested, or something in it is not as it was sealed
 */
export async function readContents(parts: ContentsParts, wanted: ExportRow): Promise<PackageContents> {
  const { db } = parts;
  const row = await getCaseRow(db, wanted.caseId);
  requireExportable(row, wanted);
  const items = await listItems(db, row.id);
  const log = await listLog(db, row.id);
  const broken = brokenEntry(row.id, log);
  if (broken) throw refused(`Entry ${broken.seq} of the log of case ${row.number} was changed`);
  const proofs = new Proofs();
  const eventIds = new Set([row.eventId, ...items.map(({ eventId }) => eventId)].flatMap((id) => id ?? []));
  const eventRecords = await recordsOf(db, 'EVENT', [...eventIds], proofs);
  const certificateIds = items.flatMap(({ certificateId }) => certificateId ?? []);
  const certificateRecords = await recordsOf(db, 'CERTIFICATE', certificateIds, proofs);
  const logFile = {
    entries: log.map((entry) => ({ text: textOfEntry(row.id, entry), hash: entry.hash })),
    sealed: await lastSealedEntry(db, row, proofs),
  };
  const shown = wanted.redacted ? redactedItems(items) : items;
  const ids = [
    row.closedBy,
    wanted.createdBy,
    ...log.map(({ userId }) => userId),
    ...items.map(({ addedBy }) => addedBy),
  ];
  const nameOf = await findNames(db, ids);
  return {
    case: row,
    summary: await showCase(db, row),
    items: shown,
    leftOut: items.filter((item) => !shown.includes(item)),
    files: filesOf(shown),
    certificates: await findCertificates(db, certificateIds),
    log,
    nameOf,
    madeBy: nameOf(wanted.createdBy) ?? { id: wanted.createdBy, name: wanted.createdBy },
    fileName: fileNameOfExport(wanted),
    ...{ eventRecords, certificateRecords, logFile },
    sealFile: await proofs.file(parts),
  };
}

/**
 * A package shows what was verified when it was requested: since then, the case must not have been unlocked.
 * @throws AppError `conflict`
 */
export function requireExportable(row: CaseRow, { createdAt }: Pick<ExportRow, 'createdAt'>): void {
  if (row.lockedAt === null)
    throw refused(`Case ${row.number} is ${row.state} now: only a VERIFIED case is exported`);
  if (row.lockedAt > createdAt)
    throw refused(`Case ${row.number} was verified again meanwhile: export it again`);
}

/** The proofs of a package, with the seals that they lead to. */
class Proofs {
  readonly #proofs: { readonly kind: string; readonly id: string; readonly proof: RecordProof }[] = [];

  add(kind: string, id: string, proof: RecordProof): void {
    this.#proofs.push({ kind, id, proof });
  }

  /** What `seal.json` says. */
  async file({ db, checkpoints }: ContentsParts): Promise<object> {
    const seals = new Map(this.#proofs.map(({ proof: { seal } }) => [seal.seq, seal]));
    const ofEvents = this.#proofs.filter(({ kind }) => kind === 'EVENT').map(({ proof }) => proof.seal.seq);
    const keyIds = new Set([...seals.values()].map(({ keyId }) => keyId));
    const keys = (await listKeys(db)).filter(({ id }) => keyIds.has(id)).map(viewKey);
    return {
      keys: keys.map(({ id, publicKey }) => ({ id, publicKey })),
      seals: [...seals.values()]
        .sort((a, b) => a.seq - b.seq)
        .map((seal) => ({
          seq: seal.seq,
          text: textOfSeal(seal),
          hash: seal.hash.toString('hex'),
          signature: seal.signature.toString('base64'),
        })),
      proofs: this.#proofs.map(({ kind, id, proof: { seal, leaf, index, path } }) => ({
        ...{ kind, id, seq: seal.seq, leaf, index, path },
      })),
      checkpoints: await linkCheckpoints(db, checkpoints, ofEvents),
    };
  }
}

const NOUNS = { EVENT: 'Event', CERTIFICATE: 'Certificate' } as const;

async function recordsOf(
  db: Database,
  kind: 'EVENT' | 'CERTIFICATE',
  ids: readonly string[],
  proofs: Proofs,
): Promise<Record[]> {
  const records = await findRecords(db, kind, ids);
  const said: Record[] = [];
  for (const id of ids) {
    const record = records.get(id);
    if (!record) throw refused(`${NOUNS[kind]} ${id} of the case does not exist any more`);
    const proof = await findProof(db, kind, record);
    if (proof !== null && !isUnchanged(kind, record, proof))
      throw refused(
        `${NOUNS[kind]} ${id} of the case was changed after it was sealed: gantry evidence check names it`,
      );
    if (proof !== null) proofs.add(kind, id, proof);
    said.push({ id, sealed: proof !== null, record: textOfRecord(kind, record) });
  }
  return said;
}

/** The last entry of the log that is sealed, which names all before it; null if none is. */
async function lastSealedEntry(
  db: Database,
  { id: caseId, number }: CaseRow,
  proofs: Proofs,
): Promise<{ readonly seq: number; readonly id: string; readonly record: string } | null> {
  const ids = await listLogIds(db, caseId);
  const records = await findRecords(db, 'CASE_LOG', ids);
  for (const record of ids.reverse().flatMap((id) => records.get(id) ?? [])) {
    const proof = await findProof(db, 'CASE_LOG', record);
    if (proof === null) continue;
    const { id, fields } = record;
    if (!isUnchanged('CASE_LOG', record, proof))
      throw refused(`Entry ${fields.seq} of the log of case ${number} was changed after it was sealed`);
    proofs.add('CASE_LOG', id, proof);
    return { seq: fields.seq as number, id, record: textOfRecord('CASE_LOG', record) };
  }
  return null;
}

/** The files of the items, each once. */
function filesOf(items: readonly ItemRow[]): ItemFile[] {
  const files = new Map<string, ItemFile>();
  for (const item of items) {
    const file = fileOf(item);
    if (file !== null && !files.has(file.name)) files.set(file.name, file);
  }
  return [...files.values()];
}

function fileOf(item: ItemRow): ItemFile | null {
  const { id, sha256, role, contentType, derivedFrom, text } = item;
  if (sha256 === null)
    return role === 'RAW_MESSAGE' && text !== null ? { name: `raw/${id}.txt`, role, item } : null;
  const name = `${sha256}.${endingOf(contentType)}`;
  if (!isImage(item)) return { name: `certificates/${name}`, role: 'CERTIFICATE', item };
  return derivedFrom === null
    ? { name: `originals/${name}`, role: 'ORIGINAL', item }
    : { name: `copies/${name}`, role: 'COPY', item };
}
