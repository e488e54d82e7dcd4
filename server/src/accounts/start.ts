import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { pruneApiTokens } from './api-tokens-store.ts';
import { createOidcProvider, type OidcProvider } from './oidc/provider.ts';
import { pruneOidcLogins } from './oidc/store.ts';
import { pruneResets } from './password-resets-store.ts';
import { createPasswords, type PasswordCost, type Passwords } from './passwords.ts';
import { SessionMonitor } from './session-monitor.ts';
import { pruneSessions } from './sessions-store.ts';
import { LoginThrottle } from './throttle.ts';
import { createTokens, SecretBox, type Tokens } from './tokens.ts';

/** The services of authentication that the application context contains. */
export interface AuthServices {
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly loginThrottle: LoginThrottle;
  readonly sessionMonitor: SessionMonitor;
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
    loginThrottle: new LoginThrottle(pool),
    secrets: new SecretBox(secret),
    oidc: config.OIDC_ISSUER === undefined ? null : createOidcProvider(config.OIDC_ISSUER, config, log),
    sessionMonitor: resources.use(new SessionMonitor({ db, config, log, timings })),
  };
}

const PRUNE_EVERY_MS = 600_000;

/** Number of API tokens, of logins at the provider and of links for a new password that one statement removes. */
const MAX_AT_ONCE = 1_000;

/**
 * Removes expired sessions, revocations of expired tokens, API tokens that ended long ago, and logins at the provider and
 * links for a new password that were not used in time, every ten minutes, until it is disposed of.
 */
function startPruningSessions({ db, log }: { db: Database; log: Logger }): AsyncDisposable {
  return startPeriodic(
    {
      everyMs: PRUNE_EVERY_MS,
      log,
      failure: 'old sessions could not be removed now; the next run will try again',
    },
    async (isOver) => {
      while (!isOver() && (await pruneSessions(db)) > 0);
      while (!isOver() && (await pruneApiTokens(db, MAX_AT_ONCE)) > 0);
      while (!isOver() && (await pruneOidcLogins(db, MAX_AT_ONCE)) > 0);
      while (!isOver() && (await pruneResets(db, MAX_AT_ONCE)) > 0);
    },
  );
}
