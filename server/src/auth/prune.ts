import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { pruneApiTokens } from './api-tokens-store.ts';
import { pruneOidcLogins } from './oidc/store.ts';
import { pruneSessions } from './sessions-store.ts';

const EVERY_MS = 600_000;

/** Number of API tokens, and of logins at the provider, that one statement removes. */
const AT_ONCE = 1_000;

/**
 * Removes expired sessions, revocations of expired tokens, API tokens that ended long ago, and logins at the provider
 * that were not completed in time, every ten minutes, until it is disposed of.
 */
export function startPruningSessions({ db, log }: { db: Database; log: Logger }): AsyncDisposable {
  return startPeriodic(
    { everyMs: EVERY_MS, log, failure: 'old sessions could not be removed now; the next run will try again' },
    async (isOver) => {
      while (!isOver() && (await pruneSessions(db)) > 0);
      while (!isOver() && (await pruneApiTokens(db, AT_ONCE)) > 0);
      while (!isOver() && (await pruneOidcLogins(db, AT_ONCE)) > 0);
    },
  );
}
