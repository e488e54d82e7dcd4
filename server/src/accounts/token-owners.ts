import { hash } from 'node:crypto';
import { mayActAs, type Role } from '@gantry/contract/permissions';
import type { Executor } from '../platform/database/transaction.ts';
import { findTokenOwners, type TokenOwner } from './api-tokens-store.ts';

/** The SHA-256 hash of an API token, in hexadecimal. The token is random, so it needs no slow hash. */
export function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The owner of a token that is valid. */
export interface ValidOwner extends TokenOwner {
  /** The role with whose permissions the token acts now. */
  readonly actingRole: Role;
}

/**
 * The owners of the tokens with these hashes that are valid now. A token acts with its own role or
 * with that of its owner, whichever has fewer permissions. It is not valid while each of the two has permissions that
 * the other lacks.
 */
export async function findValidOwners(db: Executor, hashes: readonly string[]): Promise<ValidOwner[]> {
  return (await findTokenOwners(db, hashes)).flatMap((owner) => {
    const actingRole = lowerRole(owner.role, owner.ownerRole);
    return actingRole === null ? [] : [{ ...owner, actingRole }];
  });
}

/** The role whose permissions the other one has too; null if each has permissions that the other lacks. */
function lowerRole(one: Role, other: Role): Role | null {
  if (mayActAs(other, one)) return one;
  return mayActAs(one, other) ? other : null;
}
