import type { Role } from '@gantry/contract/permissions';
import { email } from '@gantry/contract/users';
import type { Config } from '../../platform/config.ts';

/** What a provider says about a user. */
export type Claims = Readonly<Record<string, unknown>>;

/** The e-mail address in lower case; null unless the provider says that it was verified. */
export function emailOf({ email: address, email_verified: isVerified }: Claims): string | null {
  if (isVerified !== true && isVerified !== 'true') return null;
  return email.safeParse(address).data ?? null;
}

/**
 * The first and the last name of the user. Both are required, so a missing one is taken from other claims or replaced
 * by a placeholder.
 */
export function nameOf(claims: Claims): { firstName: string; lastName: string } {
  const { given_name, family_name, name, preferred_username } = claims;
  const [first, ...rest] = textOf(name).split(/\s+/);
  return {
    firstName: textOf(given_name) || first || textOf(preferred_username) || 'User',
    lastName: textOf(family_name) || rest.join(' ') || '-',
  };
}

/** The role for the user's groups: the first in the settings that the user has; null when there is none. */
export function roleOf(
  claims: Claims,
  { OIDC_ROLE_CLAIM: claim, OIDC_ROLES: roles }: Pick<Config, 'OIDC_ROLE_CLAIM' | 'OIDC_ROLES'>,
): Role | null {
  const held = new Set([claimAt(claims, claim)].flat());
  return roles.find(({ value }) => held.has(value))?.role ?? null;
}

/** A claim by its name or, for one within objects, by its path. */
function claimAt(claims: Claims, names: string): unknown {
  if (Object.hasOwn(claims, names)) return claims[names];
  return names
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Claims)[name]
          : undefined,
      claims,
    );
}

const NAME_MAX = 100;

function textOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  return [...value.toWellFormed().replaceAll('\u0000', '').trim()].slice(0, NAME_MAX).join('');
}
