import { hash } from 'node:crypto';
import { mayActAs } from '@gantry/contract/permissions';
import type { Executor } from '../platform/database/transaction.ts';
import { findTokenOwners, type TokenOwner } from './api-tokens-store.ts';

/** SHA-256: the token is random, so it needs no slow hash. */
export function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * The owners of the tokens with these hashes that are valid now. A token is not valid while its role has permissions
 * that its owner does not have.
 */
export async function findValidOwners(db: Executor, hashes: readonly string[]): Promise<TokenOwner[]> {
  return (await findTokenOwners(db, hashes)).filter(({ role, ownerRole }) => mayActAs(ownerRole, role));
}
