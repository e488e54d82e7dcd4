import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { join } from 'node:path';
import type { Seal, SealKey, SealKind } from '@gantry/contract/evidence';
import canonicalizer from 'canonicalize';
import { dataFolderAt } from '../platform/database/open.ts';
import { ID_BYTES, type SealedRecord } from './records-store.ts';
import { HASH_BYTES, leafOf, piecesOf, rootOf } from './tree.ts';

/** A seal as it is stored. */
export interface StoredSeal {
  readonly seq: number;
  readonly kind: SealKind;
  /** Unix milliseconds */
  readonly madeAt: number;
  /** When the first and the last of its records were written, in Unix milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The ids of its records, `ID_BYTES` each. */
  readonly ids: Buffer;
  /** Their hashes, `HASH_BYTES` each. */
  readonly leaves: Buffer;
  readonly root: Buffer;
  readonly previous: Buffer;
  readonly hash: Buffer;
  readonly keyId: string;
  readonly signature: Buffer;
}

/** What the first seal names as the hash of the one before. */
export const NO_SEAL = Buffer.alloc(HASH_BYTES);

/** The types of the package say that its only export is the default of a module; it is the function itself. */
const canonicalize = canonicalizer as unknown as (value: unknown) => string | undefined;

/** JSON of one form only (RFC 8785), so that equal values have equal hashes. */
export function canonicalText(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value cannot be written as JSON');
  return text;
}

/** What is hashed of a record. */
export function textOfRecord(kind: SealKind, { fields }: SealedRecord): string {
  return canonicalText({ record: kind, ...fields });
}

/** What the text of a seal says. */
export type SealHead = Pick<StoredSeal, 'seq' | 'kind' | 'madeAt' | 'root' | 'previous' | 'keyId'> & {
  readonly ids: { readonly length: number };
};

/** The text of a seal that is hashed and signed. */
export function textOfSeal(seal: SealHead): string {
  const { seq, kind, madeAt, ids, root, previous, keyId } = seal;
  return canonicalText({
    seq,
    kind,
    madeAt: new Date(madeAt).toISOString(),
    count: ids.length / ID_BYTES,
    root: root.toString('hex'),
    previous: previous.toString('hex'),
    keyId,
  });
}

/** A seal as callers may read it. */
export function viewSeal(stored: StoredSeal): Seal {
  const { seq, kind, madeAt, ids, root, previous, keyId, signature } = stored;
  return {
    seq,
    kind,
    madeAt: new Date(madeAt),
    count: ids.length / ID_BYTES,
    root: root.toString('hex'),
    previous: previous.toString('hex'),
    hash: stored.hash.toString('hex'),
    keyId,
    text: textOfSeal(stored),
    signature: signature.toString('base64'),
  };
}

/** A public key of seals as it is stored. */
export interface StoredKey {
  readonly id: string;
  /** SubjectPublicKeyInfo (DER). */
  readonly publicKey: Buffer;
  readonly replaces: string | null;
  /** Unix milliseconds */
  readonly createdAt: number;
}

/** The id of a public key: the first bytes of its hash, in hexadecimal digits. */
export function idOfKey(publicKey: Buffer): string {
  return hash('sha256', publicKey, 'hex').slice(0, 2 * ID_BYTES);
}

export function readPublicKey(publicKey: Buffer): KeyObject {
  return createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
}

function pemOf(publicKey: Buffer): string {
  return readPublicKey(publicKey).export({ format: 'pem', type: 'spki' }) as string;
}

/** A key as callers may read it. */
export function viewKey({ id, publicKey, replaces, createdAt }: StoredKey): SealKey {
  return { id, algorithm: 'Ed25519', publicKey: pemOf(publicKey), replaces, createdAt: new Date(createdAt) };
}

/** The key of this installation, with which seals are signed. */
export class SealingKey {
  readonly id: string;
  /** SubjectPublicKeyInfo (DER). */
  readonly publicKey: Buffer;
  readonly #privateKey: KeyObject;

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
    this.publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
    this.id = idOfKey(this.publicKey);
  }

  /** The public key in PEM. */
  get pem(): string {
    return pemOf(this.publicKey);
  }

  sign(content: string | Buffer): Buffer {
    return sign(null, Buffer.from(content), this.#privateKey);
  }
}

/** The file of the private key in the data folder. */
export const KEY_FILE = 'seal-key';

/** Reads the private key of the data folder, or makes one. @throws DataFolderUnusable; Error if the file is not such a key */
async function openPrivateKey(dataDir: string): Promise<KeyObject> {
  const pem = await dataFolderAt(dataDir).keepSecret(KEY_FILE, () =>
    generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  );
  const key = privateKeyOf(pem);
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new Error(
    `${join(dataDir, KEY_FILE)} is not an Ed25519 private key in PEM: restore it from a copy of the data folder. If there is none, remove it: a new key is made, which names the one before, and which plate was erased can no longer be proven`,
  );
}

function privateKeyOf(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

/** The key with which seals are signed. @throws DataFolderUnusable */
export async function openSealingKey(dataDir: string): Promise<SealingKey> {
  return new SealingKey(await openPrivateKey(dataDir));
}

/**
 * A secret of 32 bytes for another purpose: HKDF (RFC 5869, SHA-256) of the 32 bytes of the private key.
 * @param purpose the text `info`
 * @throws DataFolderUnusable
 */
export async function deriveSecret(dataDir: string, purpose: string, salt: Buffer): Promise<Buffer> {
  const { d = '' } = (await openPrivateKey(dataDir)).export({ format: 'jwk' });
  return Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), salt, purpose, 32));
}

/** Whether the key signed this text. */
export function isSignedBy(key: StoredKey, text: string, signature: Buffer): boolean {
  return verify(null, Buffer.from(text), readPublicKey(key.publicKey), signature);
}

/** What a new seal continues. */
export type SealBefore = Pick<StoredSeal, 'seq' | 'hash'>;

/** Makes the next seal of the chain. */
export function makeSeal(
  before: SealBefore,
  key: SealingKey,
  {
    kind,
    madeAt,
    records,
  }: { readonly kind: SealKind; readonly madeAt: number; readonly records: readonly HashedRecord[] },
): StoredSeal {
  const leaves = records.map(({ leaf }) => leaf);
  const unsigned = {
    seq: before.seq + 1,
    kind,
    madeAt,
    ids: Buffer.concat(records.map(({ idBytes }) => idBytes)),
    root: rootOf(leaves),
    previous: before.hash,
    keyId: key.id,
  };
  const text = textOfSeal(unsigned);
  return {
    ...unsigned,
    firstAt: Math.min(...records.map(({ at }) => at)),
    lastAt: Math.max(...records.map(({ at }) => at)),
    leaves: Buffer.concat(leaves),
    hash: hash('sha256', text, 'buffer'),
    signature: key.sign(text),
  };
}

/** A record with its hash. */
export interface HashedRecord {
  readonly idBytes: Buffer;
  readonly leaf: Buffer;
  /** When the record was written, in Unix milliseconds. */
  readonly at: number;
}

/** The hash of a record in a seal. */
export function leafOfRecord(kind: SealKind, record: SealedRecord): Buffer {
  return leafOf(textOfRecord(kind, record));
}

/** The ids of the records of a seal. */
export function idsOf({ ids }: Pick<StoredSeal, 'ids'>): Buffer[] {
  return piecesOf(ids, ID_BYTES);
}
