import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { Decrypter, Encrypter, identityToRecipient } from 'age-encryption';
import { BackupRefused } from './refusal.ts';

/** The folder of the images of all backups that are not encrypted, which are beside it. Its files are named by their hashes. */
export const POOL = 'pictures';

// Files of backups are encrypted with age (https://age-encryption.org/v1), so that its command decrypts them, too.

/** What the name of an encrypted file ends with. */
export const ENCRYPTED_SUFFIX = '.age';

/** Encrypts files for recipients, whose identities decrypt them. */
export class Encryption {
  readonly recipients: readonly string[];

  /** @throws BackupRefused for a recipient that is none */
  constructor(recipients: readonly string[]) {
    this.recipients = [...new Set(recipients)].sort();
    this.#create();
  }

  /** The folder of images that these recipients can decrypt. Others do not read them, so other recipients have another one. */
  get pool(): string {
    return poolFor(this.recipients);
  }

  /** A stage of a pipeline. */
  async *encryptAll(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    yield* buffers(await this.#create().encrypt(webStreamOf(chunks)));
  }

  async encrypt(bytes: Uint8Array): Promise<Buffer> {
    return Buffer.from(await this.#create().encrypt(bytes));
  }

  #create(): Encrypter {
    const encrypter = new Encrypter();
    for (const recipient of this.recipients) {
      try {
        encrypter.addRecipient(recipient);
      } catch (cause) {
        throw new BackupRefused(
          `${recipient} is not a recipient: give the public key that age-keygen wrote, age1 and 58 letters and digits`,
          { cause },
        );
      }
    }
    return encrypter;
  }
}

/** The folder of the images of backups for these recipients; without any, they are not encrypted. */
export function poolFor(recipients: readonly string[]): string {
  if (recipients.length === 0) return POOL;
  return `${POOL}-${createHash('sha256').update(recipients.join(' ')).digest('hex').slice(0, 16)}`;
}

const IDENTITY = /^AGE-SECRET-KEY-1[0-9A-Z]{58}$/;

/** Decrypts files with the identities of a file, as `age-keygen` writes it. */
export class Decryption {
  readonly #identities: readonly string[];

  private constructor(identities: readonly string[]) {
    this.#identities = identities;
  }

  /** @throws BackupRefused when the file cannot be read or has no identity */
  static async readFile(path: string): Promise<Decryption> {
    const text = await ignoreErrno(readFile(path, 'utf8'), 'ENOENT', 'EACCES', 'EISDIR');
    if (text === undefined) throw new BackupRefused(`The file of the identity, ${path}, cannot be read`);
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    const identities = lines.filter((line) => IDENTITY.test(line));
    if (identities.length > 0) return new Decryption(identities);
    throw new BackupRefused(
      `${path} has no identity: give the file that age-keygen wrote, with a line that begins with AGE-SECRET-KEY-1`,
    );
  }

  /** Whether one of the identities belongs to one of the recipients. */
  async fits(recipients: readonly string[]): Promise<boolean> {
    for (const identity of this.#identities) {
      if (recipients.includes(await identityToRecipient(identity))) return true;
    }
    return false;
  }

  /** A stage of a pipeline. @throws an Error when the content was changed or is incomplete */
  async *decryptAll(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    yield* buffers(await this.#create().decrypt(webStreamOf(chunks)));
  }

  async decrypt(bytes: Uint8Array): Promise<Buffer> {
    return Buffer.from(await this.#create().decrypt(bytes));
  }

  #create(): Decrypter {
    const decrypter = new Decrypter();
    for (const identity of this.#identities) decrypter.addIdentity(identity);
    return decrypter;
  }
}

function webStreamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(chunks, { objectMode: false })) as ReadableStream<Uint8Array>;
}

async function* buffers(stream: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

/** The chunks of age: so many bytes, and a tag. */
const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const NONCE_BYTES = 16;
/** Larger than the header for any reasonable number of recipients. */
const HEADER_READ = 16_384;

/** How many bytes an encrypted file contains, from its size and its header; 0 when there is none, or it is none. */
export async function contentBytesOf(path: string): Promise<number> {
  const found = await ignoreErrno(stat(path), 'ENOENT', 'ENOTDIR');
  if (!found?.isFile()) return 0;
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_READ), 0, HEADER_READ, 0);
    const header = buffer.toString('latin1', 0, bytesRead);
    const mac = header.indexOf('\n--- ');
    const end = mac === -1 ? -1 : header.indexOf('\n', mac + 1);
    if (end === -1) return 0;
    const payload = found.size - (end + 1) - NONCE_BYTES;
    const chunks = Math.ceil(payload / (CHUNK_BYTES + TAG_BYTES));
    return Math.max(0, payload - chunks * TAG_BYTES);
  } finally {
    await file.close();
  }
}

/** The content of an encrypted file. */
export function readDecrypted(path: string, decryption: Decryption): AsyncGenerator<Buffer> {
  return decryption.decryptAll(createReadStream(path) as AsyncIterable<Uint8Array>);
}
