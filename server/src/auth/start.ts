import type { Foundation } from '../platform/start.ts';
import { createOidcProvider, type OidcProvider } from './oidc/provider.ts';
import { createPasswords, type PasswordCost, type Passwords } from './passwords.ts';
import { startPruningSessions } from './prune.ts';
import { createSecretBox, type SecretBox } from './secret-box.ts';
import { createSessionWatch, type SessionWatch } from './session-watch.ts';
import { createLoginThrottle, type LoginThrottle } from './throttle.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** The services of authentication that the application context contains. */
export interface AuthServices {
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly loginThrottle: LoginThrottle;
  readonly sessionWatch: SessionWatch;
  readonly secrets: SecretBox;
  /** null when no provider is configured. */
  readonly oidc: OidcProvider | null;
}

/**
 * @param secret signs the tokens; at least 32 bytes
 * @param passwordCost of new hashes, for tests
 */
export async function startAuth(
  { core: { config, db, log, pool, clock, timings }, resources }: Foundation,
  secret: string,
  passwordCost?: PasswordCost,
): Promise<AuthServices> {
  resources.use(startPruningSessions({ db, log }));
  return {
    tokens: await createTokens(secret, clock.now),
    passwords: await createPasswords(passwordCost),
    loginThrottle: createLoginThrottle(pool),
    secrets: createSecretBox(secret),
    oidc: config.OIDC_ISSUER === undefined ? null : createOidcProvider(config.OIDC_ISSUER, config, log),
    sessionWatch: resources.use(createSessionWatch({ db, config, log, timings })),
  };
}
