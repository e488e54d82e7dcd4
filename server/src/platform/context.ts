import type { Role } from '@gantry/contract/permissions';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './database/pool.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';
import type { SettingsCache } from './settings-cache.ts';
import type { Timings } from './timings.ts';

/**
 * What nearly everything uses. Each room names what it adds in its `start.ts`, and `api/context.ts` has the sum, which
 * `app.ts` builds.
 */
export interface Core {
  readonly config: Config;
  readonly log: Logger;
  readonly pool: Pool;
  readonly db: Database;
  /** The connections for what devices need, besides that of the writer. */
  readonly devices: Database;
  /** The connections for expensive questions: `rpc/questions.ts` puts them in the place of `db`. */
  readonly questions: Database;
  /** The connection that tells whether the database answers. */
  readonly health: Database;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly timings: Timings;
  readonly settings: SettingsCache;
  readonly readiness: Readiness;
}

/** Where a request came from. */
export interface Caller {
  readonly requestId: string;
  /** When the request arrived, by the monotonic clock of this process (`performance.now()`). */
  readonly since: number;
  readonly address: string;
  readonly userAgent: string | null;
  /** The Authorization header as it was sent. */
  readonly authorization: string | null;
}

/** What a procedure gets: what it may use of the service, and who is calling. */
export interface RequestContext<App = Core> {
  readonly app: App;
  readonly caller: Caller;
}

/** The user behind a request. */
export interface Actor {
  readonly id: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
}

/** What a procedure for users who are logged in gets. */
export interface ActorContext<App = Core> extends RequestContext<App> {
  readonly actor: Actor;
}
