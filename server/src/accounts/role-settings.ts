import type { Role } from '@gantry/contract/permissions';
import { SECOND_FACTOR_MISSING } from '@gantry/contract/second-factor';
import type { Config } from '../platform/config.ts';
import { AppError } from '../platform/error.ts';
import type { TokenUser } from './sessions-store.ts';

/** Whether the settings let a user who has all of these roles see number plates. */
export function mayRolesSeePlates(
  { HIDE_PLATES_FROM }: Pick<Config, 'HIDE_PLATES_FROM'>,
  ...roles: readonly Role[]
): boolean {
  return !roles.some((role) => (HIDE_PLATES_FROM as readonly Role[]).includes(role));
}

/** Whether the settings require a second factor of the user's role, and the user has none. */
export function lacksSecondFactor(
  { SECOND_FACTOR_FOR }: Pick<Config, 'SECOND_FACTOR_FOR'>,
  { role, hasSecondFactor }: Pick<TokenUser, 'role' | 'hasSecondFactor'>,
): boolean {
  return !hasSecondFactor && (SECOND_FACTOR_FOR as readonly Role[]).includes(role);
}

/** The error for a user whose role requires a second factor that they do not have. */
export function secondFactorMissing(): AppError {
  return new AppError('forbidden', SECOND_FACTOR_MISSING);
}
