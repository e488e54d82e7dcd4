import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveSecret } from '../../evidence/seals.ts';
import type { ErasureRow } from './store.ts';

/**
 * What is kept of a plate: HMAC-SHA-256 of its key, with a secret that HKDF derives from the private key of the seals and a
 * salt of 16 bytes. With the private key it can be compared with a plate; without it, plates cannot be tried.
 */
export type Proof = Pick<ErasureRow, 'salt' | 'proof'>;

const SALT_BYTES = 16;

async function proofWith(dataDir: string, key: string, salt: Buffer): Promise<Buffer> {
  return createHmac('sha256', await deriveSecret(dataDir, 'gantry erasure', salt))
    .update(key)
    .digest();
}

/** @throws DataFolderUnusable */
export async function makeProof(dataDir: string, key: string): Promise<Proof> {
  const salt = randomBytes(SALT_BYTES);
  return { salt, proof: await proofWith(dataDir, key, salt) };
}

/** Those of the erasures that concern a plate. @throws DataFolderUnusable */
export async function erasuresOf(
  dataDir: string,
  key: string,
  erasures: readonly ErasureRow[],
): Promise<ErasureRow[]> {
  const own: ErasureRow[] = [];
  for (const erasure of erasures) {
    const proof = await proofWith(dataDir, key, erasure.salt);
    if (proof.length === erasure.proof.length && timingSafeEqual(proof, erasure.proof)) own.push(erasure);
  }
  return own;
}

/** A proof as the activity log contains it. */
export function textsOfProof({ salt, proof }: Proof) {
  return { salt: salt.toString('hex'), proof: proof.toString('hex') };
}
