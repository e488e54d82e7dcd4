import { createHash, createPublicKey, type KeyObject, randomUUID, verify } from 'node:crypto';
import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_HOTLIST_FILE_BYTES } from '@gantry/contract/hotlists';
import { hasErrno, ignoreErrno } from '@gantry/embedded-postgres/errno';
import { AppError, unavailable } from '../platform/error.ts';

/** A file of a list that was received. */
export interface ReceivedFile {
  /** That of its import, and the name of the file. */
  readonly id: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** The files of hotlists on this machine: `<list>/uploads/<import>` until they are applied, and what a source puts into `<list>/in`. */
export class ImportFiles {
  readonly #folder: string;

  /** @param dataDir the data folder of the service */
  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'hotlists');
  }

  /** The folder into which a source puts files of a list. */
  inboxOf(hotlistId: string): string {
    return join(this.#folder, hotlistId, 'in');
  }

  pathOf({ hotlistId, id }: { readonly hotlistId: string; readonly id: string }): string {
    return join(this.#folder, hotlistId, 'uploads', id);
  }

  /**
   * Stores a file as it arrives, and makes it durable.
   * @throws AppError `badRequest` when it is empty, too large, or does not arrive as a whole; `unavailable` when the disk is full
   */
  async receive(hotlistId: string, input: Readable): Promise<ReceivedFile> {
    const id = randomUUID();
    const path = this.pathOf({ hotlistId, id });
    const digest = createHash('sha256');
    let bytes = 0;
    await mkdir(join(path, '..'), { recursive: true });
    try {
      await pipeline(
        input,
        async function* count(chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            bytes += chunk.length;
            if (bytes > MAX_HOTLIST_FILE_BYTES) throw tooLarge();
            digest.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(`${path}.part`, { flush: true }),
      );
      if (bytes === 0)
        throw new AppError('badRequest', 'The file is empty: send it as the body of the request');
      await rename(`${path}.part`, path);
    } catch (error) {
      await rm(`${path}.part`, { force: true });
      if (hasErrno(error, 'ENOSPC'))
        throw unavailable('The disk of the service is full: try again later', error);
      if (hasErrno(error, 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'))
        throw new AppError('badRequest', 'The file did not arrive as a whole: send it again');
      throw error;
    }
    return { id, bytes, sha256: digest.digest('hex') };
  }

  open(file: { readonly hotlistId: string; readonly id: string }): ReadStream {
    return createReadStream(this.pathOf(file));
  }

  /** Whether a signature (base64) is that of the file. Ed25519 needs the whole file in memory. */
  async isSigned(
    file: { readonly hotlistId: string; readonly id: string },
    key: KeyObject,
    signature: string,
  ): Promise<boolean> {
    return verify(null, await readFile(this.pathOf(file)), key, Buffer.from(signature, 'base64'));
  }

  async has(file: { readonly hotlistId: string; readonly id: string }): Promise<boolean> {
    return (await ignoreErrno(stat(this.pathOf(file)), 'ENOENT')) !== undefined;
  }

  async remove(file: { readonly hotlistId: string; readonly id: string }): Promise<void> {
    await rm(this.pathOf(file), { force: true });
  }

  /** The files that were received more than an hour ago, of all lists. */
  async listOld(now: number): Promise<{ hotlistId: string; id: string; name: string }[]> {
    const found: { hotlistId: string; id: string; name: string }[] = [];
    for (const hotlistId of (await ignoreErrno(readdir(this.#folder), 'ENOENT')) ?? []) {
      const folder = join(this.#folder, hotlistId, 'uploads');
      for (const name of (await ignoreErrno(readdir(folder), 'ENOENT')) ?? []) {
        const { mtimeMs = now } = (await ignoreErrno(stat(join(folder, name)), 'ENOENT')) ?? {};
        if (mtimeMs < now - OLD_MS) found.push({ hotlistId, id: name.replace(/\.part$/, ''), name });
      }
    }
    return found;
  }

  async removeNamed({
    hotlistId,
    name,
  }: {
    readonly hotlistId: string;
    readonly name: string;
  }): Promise<void> {
    await rm(join(this.#folder, hotlistId, 'uploads', name), { force: true });
  }
}

const OLD_MS = 3_600_000;

/** What precedes the 32 bytes of an Ed25519 key as SubjectPublicKeyInfo (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const PEM = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decoded(text: string): Buffer | null {
  const plain = text.replaceAll(/\s/g, '');
  return BASE64.test(plain) ? Buffer.from(plain, 'base64') : null;
}

/** The Ed25519 public key of a text: PEM, also on one line, or 32 bytes as base64. null for anything else. */
export function signingKeyOf(text: string): KeyObject | null {
  const bytes = decoded(PEM.exec(text.trim())?.[1] ?? text);
  const der =
    bytes?.length === SPKI.length + 32 ? bytes : bytes?.length === 32 ? Buffer.concat([SPKI, bytes]) : null;
  if (!der?.subarray(0, SPKI.length).equals(SPKI)) return null;
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

/** Maximum size of a file with a signature, in bytes. */
export const MAX_SIGNATURE_BYTES = 1_024;
const SIGNATURE_BYTES = 64;

/** The signature in a file, as base64: its 64 bytes, or their base64. '' for anything else. */
export function signatureIn(content: Buffer): string {
  const bytes = content.length === SIGNATURE_BYTES ? content : decoded(content.toString('latin1'));
  return bytes?.length === SIGNATURE_BYTES ? bytes.toString('base64') : '';
}

/** The error for a file with more than `MAX_HOTLIST_FILE_BYTES`. */
export function tooLarge(): AppError {
  const megabytes = MAX_HOTLIST_FILE_BYTES / 1_048_576;
  return new AppError(
    'badRequest',
    `The file has more than ${megabytes} MB: divide it, and import the parts with the mode ADD`,
  );
}
