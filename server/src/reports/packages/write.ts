import { createHash, hash } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { MadePackage } from '../../cases/exports-store.ts';
import { type ArchivedFile, archiveDirectory, archiveTime, localHeader } from '../../evidence/archive.ts';
import type { SealingKey } from '../../evidence/seals.ts';
import { PACKAGE_FORMAT, sumsOf } from '../../evidence/verify-package.ts';
import { AppError } from '../../platform/error.ts';
import { version } from '../../platform/installation.ts';
import type { FileRole, PackageContents } from './contents.ts';
import { readmeOf } from './readme.ts';

/** Maximum size of all files of a package together, in bytes. */
export const MAX_PACKAGE_BYTES = 500_000_000;

/** What a file of a package is, besides its bytes. */
interface ListedFile {
  readonly name: string;
  readonly role: FileRole;
  readonly bytes: number;
  readonly sha256: string;
  readonly itemId?: string;
  readonly eventId?: string;
  readonly certificateId?: string;
  readonly derivedFrom?: string;
}

/** An archive that is written to a stream, one file after another. Errors of the stream reject the next call. */
class ArchiveStream {
  readonly #to: Writable;
  readonly #time: number;
  readonly #files: ArchivedFile[] = [];
  readonly #digest = createHash('sha256');
  #at = 0;
  #failure: Error | null = null;

  constructor(to: Writable, madeAt: number) {
    this.#to = to;
    this.#time = archiveTime(madeAt);
    to.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  /** Adds a file. The next one waits until the stream accepts more. */
  async add(name: string, content: Buffer): Promise<void> {
    const file = { name, bytes: content.length, crc: crc32(content), at: this.#at };
    this.#files.push(file);
    await this.#write(localHeader(file, this.#time));
    await this.#write(content);
  }

  /** Ends the stream. @returns the size and the hash of the archive */
  async end(): Promise<{ readonly bytes: number; readonly sha256: Buffer }> {
    await this.#write(archiveDirectory(this.#files, this.#time, this.#at));
    this.#to.end();
    await finished(this.#to);
    return { bytes: this.#at, sha256: this.#digest.digest() };
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#digest.update(bytes);
    this.#at += bytes.length;
    if (!this.#to.write(bytes)) await once(this.#to, 'drain');
  }
}

export interface PackageParts {
  readonly key: SealingKey;
  /** When it is made, in Unix milliseconds. */
  readonly madeAt: number;
  readonly id: string;
  readonly redacted: boolean;
  /** The bytes of an image or a file of a certificate. @throws AppError if it is missing or damaged */
  readonly read: (sha256: string) => Promise<Buffer>;
  readonly pdf: Buffer;
  /** Called after each file with the share that is done, from 0 to 1. */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Writes the archive of a package and ends the stream. No more than one image is in memory.
 * @throws AppError `conflict` if it would be too large; what `read` throws; the reason of the signal
 */
export async function writePackage(
  contents: PackageContents,
  parts: PackageParts,
  to: Writable,
): Promise<Omit<MadePackage, 'fileKey'>> {
  const { key, madeAt, read, pdf, onProgress, signal } = parts;
  const archive = new ArchiveStream(to, madeAt);
  const listed: ListedFile[] = [];
  let bytes = 0;
  const add = async (content: Buffer, file: Omit<ListedFile, 'bytes' | 'sha256'>): Promise<void> => {
    signal.throwIfAborted();
    bytes += content.length;
    if (bytes > MAX_PACKAGE_BYTES) throw tooLarge(contents.case.number);
    listed.push({ ...file, bytes: content.length, sha256: hash('sha256', content, 'hex') });
    await archive.add(file.name, content);
  };
  await add(Buffer.from(readmeOf(contents, parts)), { name: 'README.txt', role: 'README' });
  await add(Buffer.from(key.pem), { name: 'key.pem', role: 'KEY' });
  await add(pdf, { name: 'case.pdf', role: 'REPORT' });
  await add(json(caseFile(contents)), { name: 'case.json', role: 'CASE' });
  await add(json({ events: contents.eventRecords }), { name: 'events.json', role: 'EVENTS' });
  const certificates = { certificates: contents.certificateRecords };
  await add(json(certificates), { name: 'certificates.json', role: 'CERTIFICATES' });
  await add(json(contents.logFile), { name: 'log.json', role: 'LOG' });
  await add(json(contents.sealFile), { name: 'seal.json', role: 'SEALS' });
  for (const [index, { name, role, item }] of contents.files.entries()) {
    const content = item.sha256 === null ? Buffer.from(item.text ?? '') : await read(item.sha256);
    const { eventId, certificateId, derivedFrom } = item;
    await add(content, {
      ...{ name, role, itemId: item.id },
      ...(eventId !== null && { eventId }),
      ...(certificateId !== null && { certificateId }),
      ...(derivedFrom !== null && { derivedFrom }),
    });
    onProgress((index + 1) / contents.files.length);
  }
  const manifest = json(manifestOf(contents, parts, listed));
  const signature = key.sign(manifest);
  const own = { name: 'manifest.json', sha256: hash('sha256', manifest, 'hex') };
  const sums = Buffer.from(sumsOf([...listed, own]));
  await archive.add(own.name, manifest);
  await archive.add('manifest.sig', signature);
  await archive.add('manifest.sha256', sums);
  await archive.add('manifest.sha256.sig', key.sign(sums));
  return { ...(await archive.end()), manifest, signature };
}

/** @throws AppError `conflict` if what is known of the files of a package is already too much */
export function requireSize(number: string, files: readonly { readonly bytes: number | null }[]): void {
  const bytes = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  if (bytes > MAX_PACKAGE_BYTES) throw tooLarge(number);
}

function tooLarge(number: string): AppError {
  return new AppError(
    'conflict',
    `The files of case ${number} have more than ${MAX_PACKAGE_BYTES / 1e6} MB, which is what a package may have: unlock it, and open cases with fewer images`,
  );
}

function json(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
}

function manifestOf(
  { case: row, madeBy }: PackageContents,
  { id, redacted, madeAt, key }: PackageParts,
  files: readonly ListedFile[],
): object {
  const { number, kind, state, version: caseVersion } = row;
  return {
    format: PACKAGE_FORMAT,
    id,
    case: { id: row.id, number, kind, state, version: caseVersion },
    redacted,
    madeAt: new Date(madeAt).toISOString(),
    madeBy,
    program: `Gantry ${version}`,
    keyId: key.id,
    files,
  };
}

/** What `case.json` says. */
function caseFile({ case: row, summary, items, leftOut, certificates, nameOf }: PackageContents): object {
  const { measuredKmh, limitKmh, toleranceKmh, checks, checkedAt, lines } = row;
  return {
    ...summary,
    ...{ measuredKmh, limitKmh, toleranceKmh, checks: checks ?? [], checkedAt },
    lines: lines && { ...lines, by: nameOf(lines.userId), userId: undefined },
    items: items.map(({ addedBy, ...item }) => ({ ...item, addedBy: nameOf(addedBy) })),
    leftOut: leftOut.map(({ id, role, eventId }) => ({ id, role, eventId })),
    certificates: certificates.map(({ withdrawnBy, createdBy, ...certificate }) => ({
      ...certificate,
      createdBy: nameOf(createdBy),
    })),
  };
}
