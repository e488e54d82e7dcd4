import type { Role } from '@gantry/contract/permissions';
import type { Config } from '../platform/config.ts';

/** Whether the settings let a user see number plates who has all of these roles. */
export function mayRolesSeePlates(
  { HIDE_PLATES_FROM }: Pick<Config, 'HIDE_PLATES_FROM'>,
  ...roles: readonly Role[]
): boolean {
  return !roles.some((role) => (HIDE_PLATES_FROM as readonly Role[]).includes(role));
}
