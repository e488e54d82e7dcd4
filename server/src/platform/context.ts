import type { Role } from '@gantry/contract/permissions';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Passwords } from '../auth/passwords.ts';
import type { SessionWatch } from '../auth/session-watch.ts';
import type { LoginThrottle } from '../auth/throttle.ts';
import type { TokenClaims, TokenSession, Tokens } from '../auth/tokens.ts';
import type { Images } from '../images/images.ts';
import type { EventTimes } from '../ingest/event-time.ts';
import type { RateLimits } from '../ingest/rate-limits.ts';
import type { EventWriter } from '../ingest/writer.ts';
import type { Hub } from '../realtime/hub.ts';
import type { FindEvents } from '../realtime/items.ts';
import type { Streams } from '../realtime/streams.ts';
import type { ReportFiles } from '../reports/files.ts';
import type { Retention } from '../retention/schedule.ts';
import type { LastContacts } from '../sensors/last-contacts.ts';
import type { PublicList } from '../sensors/public-list.ts';
import type { SensorKeys } from '../sensors/sensor-keys.ts';
import type { Watchlist } from '../watchlist/watch.ts';
import type { AddressRules } from '../webhooks/address.ts';
import type { WebhookDispatch } from '../webhooks/dispatch.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './database/pool.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';
import type { SettingsCache } from './settings-cache.ts';

/** What the whole service shares. `app.ts` builds it; everything else is handed it. */
export interface AppContext {
  readonly config: Config;
  readonly log: Logger;
  readonly pool: Pool;
  readonly db: Database;
  /** The connections for what devices need, besides that of the writer. */
  readonly devices: Database;
  /** The connections for questions: `wire/questions.ts` puts them in the place of `db`. */
  readonly questions: Database;
  /** The connection that tells whether the database answers. */
  readonly health: Database;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly eventTimes: EventTimes;
  readonly eventRates: RateLimits;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly loginThrottle: LoginThrottle;
  readonly sessionWatch: SessionWatch;
  readonly settings: SettingsCache;
  readonly sensorKeys: SensorKeys;
  readonly publicSensors: PublicList;
  readonly lastContacts: LastContacts;
  readonly eventWriter: EventWriter;
  readonly images: Images;
  readonly retention: Retention;
  readonly watchlist: Watchlist;
  readonly webhooks: WebhookDispatch;
  readonly webhookAddresses: AddressRules;
  readonly findEvents: FindEvents;
  readonly realtime: Hub;
  readonly streams: Streams;
  readonly readiness: Readiness;
  readonly reportFiles: ReportFiles;
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

/** What a procedure gets: the service and who is calling. */
export interface RequestContext {
  readonly app: AppContext;
  readonly caller: Caller;
}

/** The user behind a request. */
export interface Actor {
  readonly id: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  readonly sessionEpoch: number;
  /** The token they came with. */
  readonly token: TokenClaims;
  /** The session it belongs to; null for a token from before there were sessions that was not refreshed yet. */
  readonly session: TokenSession | null;
}

/** What a procedure behind a login gets. */
export interface ActorContext extends RequestContext {
  readonly actor: Actor;
}
