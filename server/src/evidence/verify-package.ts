import { createHash, createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Archive, type ArchivedFile, ArchiveFault, archiveTime } from './archive.ts';
import { leafOf, rootAlong } from './tree.ts';

// Verifies an evidence package with nothing but Node.js: docs/evidence.md is what it implements, and it is also the program
// gantry-verify.mjs, so it imports nothing that needs a database, a setting or a library.

export const PACKAGE_FORMAT = 'gantry-package/1';

/** What can be wrong with a package; docs/evidence.md says what each means. */
export type PackageFaultKind =
  | 'ARCHIVE'
  | 'MANIFEST'
  | 'KEY'
  | 'SIGNATURE'
  | 'MISSING'
  | 'EXTRA'
  | 'CONTENT'
  | 'SUMS'
  | 'SEAL'
  | 'CHECKPOINT'
  | 'EVENT'
  | 'CERTIFICATE'
  | 'IMAGE'
  | 'LOG'
  | 'CASE';

export interface PackageFault {
  readonly fault: PackageFaultKind;
  /** Where it is: a file of the package, an event, a seal, an entry of the log; null for the archive as a whole. */
  readonly at: string | null;
  readonly message: string;
}

export interface PackageVerdict {
  readonly verified: boolean;
  readonly faults: readonly PackageFault[];
  /** As the manifest says; null if it cannot be read or is not signed. */
  readonly package: {
    readonly case: string;
    readonly id: string;
    readonly madeAt: string;
    readonly madeBy: string;
    readonly redacted: boolean;
  } | null;
  /** The id of the key in the package; null if there is none. */
  readonly keyId: string | null;
  /** Whether that key is the expected one; null if none was given. */
  readonly keyIsExpected: boolean | null;
  /** Number of events that are sealed, of all. The others are only as trustworthy as the signature. */
  readonly sealedEvents: number;
  readonly events: number;
  readonly files: number;
}

/** Files of at most this size are read as a whole. */
const MAX_TEXT_BYTES = 64_000_000;

const MANIFEST = 'manifest.json';
const SUMS = 'manifest.sha256';
const SIGNATURE = 'manifest.sig';
const SUMS_SIGNATURE = 'manifest.sha256.sig';
/** The files that the manifest does not name, in their order at the end of the archive. */
const UNLISTED = [MANIFEST, SIGNATURE, SUMS, SUMS_SIGNATURE];
const KEY = 'key.pem';

/** Something that a file says is not of the form that it must have. */
class WrongForm extends Error {
  override readonly name = 'WrongForm';
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new WrongForm(`${what} is not an object`);
  return value as Fields;
}

function list(of: Fields, name: string): readonly unknown[] {
  const value = of[name];
  if (!Array.isArray(value)) throw new WrongForm(`${name} is not a list`);
  return value;
}

function text(of: Fields, name: string): string {
  const value = of[name];
  if (typeof value !== 'string') throw new WrongForm(`${name} is not a text`);
  return value;
}

function count(of: Fields, name: string): number {
  const value = of[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new WrongForm(`${name} is not a number`);
  return value as number;
}

const SHA256 = /^[0-9a-f]{64}$/;

function digest(of: Fields, name: string): string {
  const value = text(of, name);
  if (!SHA256.test(value)) throw new WrongForm(`${name} is not a SHA-256 in hexadecimal digits`);
  return value;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parse(content: Buffer | string, what: string): Fields {
  try {
    return fields(JSON.parse(typeof content === 'string' ? content : UTF8.decode(content)), what);
  } catch (error) {
    if (error instanceof WrongForm) throw error;
    throw new WrongForm(`${what} is not JSON in UTF-8`);
  }
}

const sha256 = (content: Buffer | string): string => hash('sha256', content, 'hex');

/** The id of a key: the first 16 bytes of the hash of its DER form, in hexadecimal digits. @throws WrongForm */
function readKey(pem: string): { readonly id: string; readonly key: KeyObject } {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') throw new WrongForm('It is not an Ed25519 key');
    return { id: sha256(key.export({ format: 'der', type: 'spki' })).slice(0, 32), key };
  } catch (error) {
    throw error instanceof WrongForm ? error : new WrongForm('It is not a public key in PEM');
  }
}

function isSigned(key: KeyObject, content: Buffer, signature: Buffer): boolean {
  return signature.length === 64 && verify(null, content, key, signature);
}

/** A file as the manifest says. */
interface ListedFile {
  readonly name: string;
  readonly role: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly eventId: string | null;
  readonly certificateId: string | null;
}

interface Manifest {
  readonly said: Fields;
  readonly madeAt: string;
  readonly keyId: string;
  readonly files: readonly ListedFile[];
  readonly head: NonNullable<PackageVerdict['package']>;
}

function readManifest(content: Buffer): Manifest {
  const said = parse(content, MANIFEST);
  if (said.format !== PACKAGE_FORMAT)
    throw new WrongForm(`Its format is not ${PACKAGE_FORMAT}: a newer program may know it`);
  const files = list(said, 'files').map((each) => {
    const file = fields(each, 'A file');
    const idIn = (name: string) => (typeof file[name] === 'string' ? (file[name] as string) : null);
    return {
      name: text(file, 'name'),
      role: text(file, 'role'),
      bytes: count(file, 'bytes'),
      sha256: digest(file, 'sha256'),
      eventId: idIn('eventId'),
      certificateId: idIn('certificateId'),
    };
  });
  const madeAt = text(said, 'madeAt');
  const time = new Date(madeAt);
  if (Number.isNaN(time.getTime()) || time.toISOString() !== madeAt)
    throw new WrongForm('madeAt is not a time in UTC');
  const head = {
    case: text(fields(said.case, 'case'), 'number'),
    id: text(said, 'id'),
    madeAt,
    madeBy: text(fields(said.madeBy, 'madeBy'), 'name'),
    redacted: said.redacted === true,
  };
  return { said, madeAt, keyId: text(said, 'keyId'), files, head };
}

/** What has been found so far. */
class Findings {
  readonly faults: PackageFault[] = [];

  add(fault: PackageFaultKind, at: string | null, message: string): void {
    this.faults.push({ fault, at, message });
  }

  /** Does a part of the work; what is not of the right form is a fault, and so may the rest of it be. */
  attempt<Result>(fault: PackageFaultKind, at: string, work: () => Result): Result | null {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof WrongForm)) throw error;
      this.add(fault, at, error.message);
      return null;
    }
  }
}

/**
 * Verifies a package. Its stages are the archive, the manifest with its signature, the files, and what the files say: one
 * begins only if those before found nothing.
 * @param expected the ids of keys that are known to be the service's; null if none is known
 * @throws Error if the file cannot be read
 */
export function verifyPackage(path: string, expected: readonly string[] | null = null): PackageVerdict {
  const findings = new Findings();
  const verdict = { package: null, keyId: null, keyIsExpected: null, sealedEvents: 0, events: 0, files: 0 };
  const ended = (known: Partial<PackageVerdict> = {}): PackageVerdict => ({
    ...verdict,
    ...known,
    verified: findings.faults.length === 0 && known.keyIsExpected !== false,
    faults: findings.faults,
  });
  let archive: Archive;
  try {
    archive = new Archive(path);
  } catch (error) {
    if (!(error instanceof ArchiveFault)) throw error;
    findings.add('ARCHIVE', error.file, error.message);
    return ended();
  }
  try {
    const contents = new Contents(archive);
    const signed = verifyManifest(contents, findings);
    if (signed === null) return ended();
    const { manifest, keyId } = signed;
    const known = {
      keyId,
      keyIsExpected: expected === null ? null : expected.includes(keyId),
      package: manifest.head,
      files: manifest.files.length,
    };
    verifyFiles(contents, manifest, signed.key, findings);
    if (findings.faults.length > 0) return ended(known);
    return ended({ ...known, ...verifyEvidence(contents, manifest, expected, findings) });
  } finally {
    archive[Symbol.dispose]();
  }
}

/** The files of an archive by name. */
class Contents {
  readonly archive: Archive;
  readonly files: ReadonlyMap<string, ArchivedFile>;

  constructor(archive: Archive) {
    this.archive = archive;
    this.files = new Map(archive.files.map((file) => [file.name, file]));
  }

  /** A file as a whole. @throws WrongForm if there is none, or it is too large */
  whole(name: string): Buffer {
    const file = this.files.get(name);
    if (file === undefined) throw new WrongForm(`There is no ${name}`);
    if (file.bytes > MAX_TEXT_BYTES) throw new WrongForm(`${name} is larger than in any package`);
    return Buffer.concat([...this.archive.read(file)].map((piece) => Buffer.from(piece)));
  }

  fields(name: string): Fields {
    return parse(this.whole(name), name);
  }

  /** The hash and the checksum of a file. */
  digests(file: ArchivedFile): { readonly sha256: string; readonly crc: number } {
    const digest = createHash('sha256');
    let crc = 0;
    for (const piece of this.archive.read(file)) {
      digest.update(piece);
      crc = crc32(piece, crc);
    }
    return { sha256: digest.digest('hex'), crc };
  }
}

/** Verifies that the manifest is signed with the key in the package. @returns null if it is not */
function verifyManifest(
  contents: Contents,
  findings: Findings,
): { readonly manifest: Manifest; readonly keyId: string; readonly key: KeyObject } | null {
  const content = findings.attempt('MANIFEST', MANIFEST, () => contents.whole(MANIFEST));
  const signature = findings.attempt('SIGNATURE', SIGNATURE, () => contents.whole(SIGNATURE));
  const key = findings.attempt('KEY', KEY, () => readKey(contents.whole(KEY).toString()));
  if (content === null || signature === null || key === null) return null;
  if (!isSigned(key.key, content, signature)) {
    findings.add('SIGNATURE', MANIFEST, `${SIGNATURE} is not the signature of this ${MANIFEST} by ${KEY}`);
    return null;
  }
  const manifest = findings.attempt('MANIFEST', MANIFEST, () => readManifest(content));
  if (manifest === null) return null;
  if (manifest.keyId !== key.id) {
    findings.add('KEY', KEY, 'It is not the key that the manifest names');
    return null;
  }
  if (archiveTime(Date.parse(manifest.madeAt)) !== contents.archive.time) {
    findings.add('ARCHIVE', null, 'The files do not have the time at which the package was made');
    return null;
  }
  return { manifest, keyId: key.id, key: key.key };
}

/** The lines of `manifest.sha256`, as sha256sum reads them. */
export function sumsOf(files: readonly { readonly name: string; readonly sha256: string }[]): string {
  return files.map(({ name, sha256: sum }) => `${sum}  ${name}\n`).join('');
}

/** Verifies that the archive has the files of the manifest and no other ones. */
function verifyFiles(contents: Contents, { files }: Manifest, key: KeyObject, findings: Findings): void {
  const verifySum = (archived: ArchivedFile, crc: number): void => {
    if (crc !== archived.crc)
      findings.add('ARCHIVE', archived.name, 'Its checksum in the archive is that of another file');
  };
  for (const file of files) {
    const archived = contents.files.get(file.name);
    if (archived === undefined) {
      findings.add('MISSING', file.name, 'The manifest names it, and it is not there');
      continue;
    }
    const found = contents.digests(archived);
    if (found.sha256 !== file.sha256 || archived.bytes !== file.bytes)
      findings.add('CONTENT', file.name, 'It is not the file that the manifest names');
    else verifySum(archived, found.crc);
  }
  const order = [...files.map(({ name }) => name), ...UNLISTED];
  const known = new Set(order);
  for (const name of contents.files.keys())
    if (!known.has(name)) findings.add('EXTRA', name, 'The manifest does not name it');
  verifySums(contents, files, key, findings);
  for (const name of UNLISTED) {
    const archived = contents.files.get(name);
    const isRight = !findings.faults.some(({ at }) => at === name || `${at}.sig` === name);
    if (archived !== undefined && isRight) verifySum(archived, contents.digests(archived).crc);
  }
  const isOrdered = contents.archive.files.every(({ name }, index) => name === order[index]);
  if (findings.faults.length === 0 && !isOrdered)
    findings.add('ARCHIVE', null, 'The files are not in the order of the manifest');
}

/** Verifies that `manifest.sha256` follows from the manifest, and is signed: by itself, it says nothing. */
function verifySums(
  contents: Contents,
  files: readonly ListedFile[],
  key: KeyObject,
  findings: Findings,
): void {
  const missing = [SUMS, SUMS_SIGNATURE].filter((name) => !contents.files.has(name));
  for (const name of missing) findings.add('MISSING', name, 'Each package has it');
  if (missing.length > 0) return;
  const manifest = { name: MANIFEST, sha256: sha256(contents.whole(MANIFEST)) };
  const expected = Buffer.from(sumsOf([...files, manifest]));
  if (!contents.whole(SUMS).equals(expected))
    findings.add('SUMS', SUMS, 'It does not have the hashes of the manifest');
  else if (!isSigned(key, expected, contents.whole(SUMS_SIGNATURE)))
    findings.add('SIGNATURE', SUMS, `${SUMS_SIGNATURE} is not its signature by ${KEY}`);
}

/** A seal whose hash and signature are right. */
interface VerifiedSeal {
  readonly kind: string;
  readonly count: number;
  readonly root: string;
  readonly previous: string;
  readonly hash: string;
}

/** Reads the text of a seal. @throws WrongForm */
function readSeal(
  given: string,
): Omit<VerifiedSeal, 'hash'> & { readonly seq: number; readonly keyId: string } {
  const said = parse(given, 'The text of the seal');
  return {
    seq: count(said, 'seq'),
    kind: text(said, 'kind'),
    count: count(said, 'count'),
    root: digest(said, 'root'),
    previous: digest(said, 'previous'),
    keyId: text(said, 'keyId'),
  };
}

/** What `seal.json` proves: which leaves were sealed, by kind and id of their records. */
interface Proofs {
  readonly leaves: ReadonlyMap<string, string>;
}

const NO_PROOFS: Proofs = { leaves: new Map() };

function verifySeals(said: Fields, expected: readonly string[] | null, findings: Findings): Proofs {
  const keys = new Map<string, KeyObject>();
  for (const each of list(said, 'keys')) {
    const key = fields(each, 'A key');
    const id = text(key, 'id');
    const read = findings.attempt('SEAL', `key ${id}`, () => readKey(text(key, 'publicKey')));
    if (read === null) continue;
    if (read.id !== id) findings.add('SEAL', `key ${id}`, 'Its id is not that of the key');
    else if (expected?.includes(id) === false) findings.add('SEAL', `key ${id}`, 'It is not an expected key');
    else keys.set(id, read.key);
  }
  const seals = new Map<number, VerifiedSeal>();
  for (const each of list(said, 'seals')) {
    const seal = fields(each, 'A seal');
    const seq = count(seal, 'seq');
    const at = `seal ${seq}`;
    findings.attempt('SEAL', at, () => {
      const given = text(seal, 'text');
      const { seq: own, keyId, ...read } = readSeal(given);
      const key = keys.get(keyId);
      if (own !== seq) throw new WrongForm('Its text has another number');
      if (sha256(given) !== digest(seal, 'hash')) throw new WrongForm('Its hash is not that of its text');
      if (key === undefined) throw new WrongForm('It is signed with a key that is not there');
      if (!isSigned(key, Buffer.from(given), Buffer.from(text(seal, 'signature'), 'base64')))
        throw new WrongForm('Its signature is not that of its text');
      seals.set(seq, { ...read, hash: sha256(given) });
    });
  }
  const leaves = new Map<string, string>();
  for (const each of list(said, 'proofs')) {
    const proof = fields(each, 'A proof');
    const [kind, id] = [text(proof, 'kind'), text(proof, 'id')];
    findings.attempt('SEAL', `${kind} ${id}`, () => {
      const [seal, leaf] = [seals.get(count(proof, 'seq')), digest(proof, 'leaf')];
      if (seal?.kind !== kind) throw new WrongForm('It is in no seal that is right');
      const path = list(proof, 'path').map((_, index, all) => digest({ hash: all[index] }, 'hash'));
      const hashes = path.map((hex) => Buffer.from(hex, 'hex'));
      const root = rootAlong(Buffer.from(leaf, 'hex'), count(proof, 'index'), seal.count, hashes);
      if (root?.toString('hex') !== seal.root)
        throw new WrongForm('Its path does not lead to the root of the seal');
      leaves.set(`${kind} ${id}`, leaf);
    });
  }
  for (const each of list(said, 'checkpoints'))
    verifyCheckpoint(fields(each, 'A checkpoint'), seals, findings);
  return { leaves };
}

/** Verifies that a chain of seals leads from a seal to the one that a checkpoint names. */
function verifyCheckpoint(
  checkpoint: Fields,
  seals: ReadonlyMap<number, VerifiedSeal>,
  findings: Findings,
): void {
  findings.attempt('CHECKPOINT', text(checkpoint, 'date'), () => {
    const from = count(checkpoint, 'from');
    const first = seals.get(from);
    if (first === undefined) throw new WrongForm(`Seal ${from}, from which it leads, is not right`);
    let [seq, before] = [from, first.hash];
    for (const link of list(checkpoint, 'chain')) {
      if (typeof link !== 'string') throw new WrongForm('A seal of its chain is not a text');
      const seal = readSeal(link);
      seq += 1;
      if (seal.seq !== seq || seal.previous !== before)
        throw new WrongForm(`Seal ${seq} does not name the one before`);
      before = sha256(link);
      if ((seals.get(seq)?.hash ?? before) !== before) throw new WrongForm(`Seal ${seq} is another one`);
    }
    if (seq !== count(checkpoint, 'seq') || before !== digest(checkpoint, 'hash'))
      throw new WrongForm('Its seal is not the last one of the chain');
  });
}

/** Records of a kind that a package has, and how many of them are as they were sealed. */
interface VerifiedRecords {
  readonly records: ReadonlyMap<string, Fields>;
  readonly sealed: number;
}

/** Verifies the records of one kind against the leaves of their seals. */
function verifyRecords(
  kind: 'EVENT' | 'CERTIFICATE',
  said: readonly unknown[],
  { leaves }: Proofs,
  findings: Findings,
): VerifiedRecords {
  const records = new Map<string, Fields>();
  let sealed = 0;
  for (const each of said) {
    const entry = fields(each, 'A record');
    const id = text(entry, 'id');
    findings.attempt(kind, id, () => {
      const given = text(entry, 'record');
      const record = parse(given, 'The record');
      if (record.record !== kind || record.id !== id)
        throw new WrongForm('The record is that of another one');
      records.set(id, record);
      const leaf = leaves.get(`${kind} ${id}`);
      if (entry.sealed !== true) {
        if (leaf !== undefined) throw new WrongForm('It is sealed, although the package says that it is not');
      } else if (leaf === leafOf(given).toString('hex')) sealed += 1;
      else throw new WrongForm('The record is not the one that was sealed');
    });
  }
  return { records, sealed };
}

/** Verifies that images and files of certificates are those that the records name. */
function verifyBelonging(
  { files, head }: Manifest,
  events: ReadonlyMap<string, Fields>,
  certificates: ReadonlyMap<string, Fields>,
  entries: readonly LogEntry[],
  findings: Findings,
): void {
  const added = new Set(
    entries.flatMap(({ action, details }) => (action === 'itemAdded' ? [details.sha256] : [])),
  );
  for (const { name, role, sha256: sum, eventId, certificateId } of files) {
    const isFolder = /^(?:originals|copies|certificates)\/([0-9a-f]{64})\.[a-z]+$/.exec(name);
    if (isFolder !== null && isFolder[1] !== sum) findings.add('IMAGE', name, 'Its name is not its hash');
    const isImage = role === 'ORIGINAL' || role === 'COPY';
    if (role === 'ORIGINAL' && head.redacted)
      findings.add('IMAGE', name, 'It is an original in a redacted package');
    if (isImage && eventId === null && !added.has(sum))
      findings.add('IMAGE', name, 'No event has it, and no entry of the log says that it was added');
    if (isImage && eventId !== null) {
      const images = events.get(eventId)?.images;
      if (!Array.isArray(images) || !images.includes(`/images/${sum}`))
        findings.add('IMAGE', name, `Event ${eventId} has no such image`);
    }
    if (role === 'CERTIFICATE' && certificates.get(certificateId ?? '')?.sha256 !== sum)
      findings.add('CERTIFICATE', certificateId ?? name, 'Its file is another one');
  }
}

/** An entry of the log of a case. */
interface LogEntry {
  readonly action: string;
  readonly userId: string | null;
  readonly details: Fields;
  readonly hash: string;
}

const NO_ENTRY = '0'.repeat(64);

/** Verifies that each entry of the log names the one before. @returns the entries as far as they are right */
function verifyLog(said: readonly unknown[], caseId: string, findings: Findings): LogEntry[] {
  const entries: LogEntry[] = [];
  let before = NO_ENTRY;
  for (const [index, each] of said.entries()) {
    const isRight = findings.attempt('LOG', `entry ${index + 1}`, () => {
      const entry = fields(each, 'An entry');
      const given = text(entry, 'text');
      const read = parse(given, 'The text of the entry');
      if (read.caseId !== caseId) throw new WrongForm('It belongs to another case');
      if (read.seq !== index + 1) throw new WrongForm('Its number does not follow the one before');
      if (read.prev !== before) throw new WrongForm('It does not name the entry before');
      if (sha256(given) !== digest(entry, 'hash')) throw new WrongForm('Its hash is not that of its text');
      before = sha256(given);
      const { userId } = read;
      const by = typeof userId === 'string' ? userId : null;
      const details = fields(read.details ?? {}, 'details');
      entries.push({ action: text(read, 'action'), userId: by, details, hash: before });
      return true;
    });
    // Each entry names the one before, so those after a wrong one are wrong, too.
    if (isRight === null) break;
  }
  return entries;
}

/** Verifies that the last entry that was sealed is as it was sealed: the others follow from it. */
function verifyLogSeal(
  said: Fields,
  entries: readonly LogEntry[],
  { leaves }: Proofs,
  findings: Findings,
): void {
  if ((said.sealed ?? null) === null) return;
  const sealed = fields(said.sealed, 'sealed');
  const seq = count(sealed, 'seq');
  findings.attempt('LOG', `entry ${seq}`, () => {
    const given = text(sealed, 'record');
    if (leaves.get(`CASE_LOG ${text(sealed, 'id')}`) !== leafOf(given).toString('hex'))
      throw new WrongForm('The record of the entry is not the one that was sealed');
    const record = parse(given, 'The record');
    if (record.seq !== seq || record.hash !== entries[seq - 1]?.hash)
      throw new WrongForm('The sealed entry is another one');
  });
}

/** Who checked a case and who agreed, as its log says. */
function personsOf(entries: readonly LogEntry[]): {
  readonly first: string | null;
  readonly last: string | null;
} {
  let [first, last]: (string | null)[] = [null, null];
  for (const { action, userId } of entries) {
    if (action === 'opened' || action === 'unlocked') [first, last] = [null, null];
    else if (action === 'checked') [first, last] = [userId, null];
    else if (action === 'verified' || action === 'decided') last = userId;
  }
  return { first: first ?? null, last: last ?? null };
}

/** Verifies that what the package says about the case is what its log says. */
function verifyCase(
  said: Fields,
  { said: manifest }: Manifest,
  entries: readonly LogEntry[],
  findings: Findings,
) {
  findings.attempt('CASE', 'case.json', () => {
    const { id, number, state } = fields(manifest.case, 'case');
    if (said.id !== id || said.number !== number || said.state !== state)
      throw new WrongForm('It is not the case that the manifest names');
    const by = (name: string) =>
      (said[name] ?? null) === null ? null : text(fields(said[name], name), 'id');
    const [first, last] = [by('firstBy'), by('decidedBy') ?? by('secondBy')];
    const persons = personsOf(entries);
    if (first !== persons.first || last !== persons.last)
      throw new WrongForm('It does not name those who verified the case according to its log');
    if (said.needsSecond === true && (last === null || first === last))
      throw new WrongForm('The case needs two persons, and was verified by one');
  });
}

/** Verifies what the files say about one another, which a signature alone does not show. */
function verifyEvidence(
  contents: Contents,
  manifest: Manifest,
  expected: readonly string[] | null,
  findings: Findings,
): Pick<PackageVerdict, 'sealedEvents' | 'events'> {
  const read = <Result>(
    fault: PackageFaultKind,
    name: string,
    none: Result,
    work: (said: Fields) => Result,
  ): Result => findings.attempt(fault, name, () => work(contents.fields(name))) ?? none;
  const noRecords: VerifiedRecords = { records: new Map(), sealed: 0 };
  const proofs = read('SEAL', 'seal.json', NO_PROOFS, (said) => verifySeals(said, expected, findings));
  const events = read('EVENT', 'events.json', noRecords, (said) =>
    verifyRecords('EVENT', list(said, 'events'), proofs, findings),
  );
  const certificates = read('CERTIFICATE', 'certificates.json', noRecords, (said) =>
    verifyRecords('CERTIFICATE', list(said, 'certificates'), proofs, findings),
  );
  const entries = read<readonly LogEntry[]>('LOG', 'log.json', [], (said) => {
    const { id } = fields(manifest.said.case, 'case');
    const found = verifyLog(list(said, 'entries'), String(id), findings);
    verifyLogSeal(said, found, proofs, findings);
    return found;
  });
  verifyBelonging(manifest, events.records, certificates.records, entries, findings);
  read('CASE', 'case.json', undefined, (said) => verifyCase(said, manifest, entries, findings));
  return { sealedEvents: events.sealed, events: events.records.size };
}

/**
 * The ids of the keys that a user expects: of a public key in PEM, of what `/.well-known/gantry-seal.json` answered, or ids
 * themselves, separated by commas.
 * @param given the contents of a file, or ids
 * @throws Error if it is none of these
 */
export function expectedKeys(given: string): string[] {
  const ids = given.split(',').map((each) => each.trim());
  if (ids.every((id) => /^[0-9a-f]{32}$/.test(id))) return ids;
  if (given.trimStart().startsWith('-----BEGIN')) return [readKey(given).id];
  return list(parse(given, 'The file'), 'keys').map(
    (each) => readKey(text(fields(each, 'A key'), 'publicKey')).id,
  );
}

/** The verdict in words, a line each. */
export function tellVerdict(verdict: PackageVerdict): string[] {
  const { faults, package: made, keyId, keyIsExpected, sealedEvents, events, files } = verdict;
  const lines = faults.map(
    ({ fault, at, message }) => `${fault.padEnd(11)} ${at === null ? '' : `${shown(at)}: `}${message}`,
  );
  if (made !== null) {
    const kind = made.redacted ? 'with redacted images' : 'with original images';
    lines.push(
      `Case ${shown(made.case)}, ${kind}, made ${shown(made.madeAt)} by ${shown(made.madeBy)}: ${files} files`,
    );
  }
  if (keyIsExpected === false)
    lines.push(`KEY         The package is signed with key ${keyId}, which is not the expected one`);
  if (!verdict.verified) return [...lines, 'NOT VERIFIED'];
  lines.push(`${sealedEvents} of ${events} events are as they were sealed when they were recorded`);
  if (keyIsExpected === null)
    lines.push(`Compare key ${keyId} with that of the service: anybody can sign with another one`);
  return [...lines, 'VERIFIED'];
}

/** A text of a file as it can be shown in a terminal. */
function shown(given: string): string {
  return /^[\x20-\x7e]{1,120}$/.test(given)
    ? given
    : JSON.stringify(given.slice(0, 120)).replaceAll(/[^\x20-\x7e]/g, '?');
}
