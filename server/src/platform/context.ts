import type { Role } from '@gantry/contract/permissions';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { SettingsCache } from './caches.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Nodes } from './database/nodes.ts';
import type { Database } from './database/pool.ts';
import type { RefusalLog } from './log.ts';
import type { Mailer } from './mail.ts';
import type { Metrics } from './metrics.ts';
import type { Timings } from './timings.ts';

/**
 * Services that nearly all modules use. Each module declares its own in its `start.ts`; `api/context.ts` combines them,
 * and `programs/app` builds the result.
 */
export interface Core {
  readonly config: Config;
  readonly log: Logger;
  readonly pool: Pool;
  readonly db: Database;
  /** Connections for what devices need besides storing events, which uses the writer's connection. */
  readonly devices: Database;
  /** Connections for storing and processing messages of devices. */
  readonly gateways: Database;
  /** Connections for expensive queries; `rpc/run.ts` uses them in place of `db`. */
  readonly questions: Database;
  /** The connection that checks whether the database responds. */
  readonly health: Database;
  /** The servers of the database, if there are several. */
  readonly nodes: Nodes;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly timings: Timings;
  readonly settings: SettingsCache;
  readonly readiness: Readiness;
  readonly refusals: RefusalLog;
  /** Sends e-mail, if a mail server is configured. */
  readonly mailer: Mailer;
}

/** An API token with which a call was made. */
export interface ApiTokenInUse {
  readonly id: string;
  readonly name: string;
}

/** The origin of a request. */
export interface Caller {
  readonly requestId: string;
  /** When the request arrived, by the monotonic clock of this process (`performance.now()`). */
  readonly since: number;
  readonly address: string;
  /** The Host header as received. */
  readonly host: string | null;
  readonly userAgent: string | null;
  /** The Authorization header as received. */
  readonly authorization: string | null;
  /** Set once the call was admitted with an API token. */
  readonly apiToken?: ApiTokenInUse;
}

/** The context of a procedure: the services it may use, and the caller. */
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
  /** Whether the settings let the user see number plates. */
  readonly seesPlates: boolean;
}

/** The context of a procedure for users who are logged in. */
export interface ActorContext<App = Core> extends RequestContext<App> {
  readonly actor: Actor;
}

/** Whether the service accepts requests. While it drains, it still answers but reports that it is not ready. */
export class Readiness {
  #isDraining = false;
  /** Names of parts that do not work. While there are any, the health of the service is `degraded`, and it stays ready. */
  readonly concerns = new Set<string>();

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Makes the service report that it is not ready. */
  drain(): void {
    this.#isDraining = true;
  }
}
