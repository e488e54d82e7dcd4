import type { Role } from '@gantry/contract/permissions';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Passwords } from './auth/passwords.ts';
import type { LoginThrottle } from './auth/throttle.ts';
import type { Tokens } from './auth/tokens.ts';
import type { Config } from './config.ts';
import type { Database } from './database/pool.ts';
import type { Images } from './images/images.ts';
import type { LastContacts } from './ingest/last-contacts.ts';
import type { SensorKeys } from './ingest/sensor-keys.ts';
import type { EventWriter } from './ingest/writer.ts';
import type { Metrics } from './metrics.ts';
import type { Hub } from './realtime/hub.ts';
import type { FindEvents } from './realtime/items.ts';
import type { Streams } from './realtime/streams.ts';
import type { ReportFiles } from './reports/files.ts';
import type { Retention } from './storage/schedule.ts';
import type { SettingsCache } from './system/settings-cache.ts';
import type { Watchlist } from './watchlist/watch.ts';
import type { AddressRules } from './webhooks/address.ts';
import type { WebhookDispatch } from './webhooks/dispatch.ts';

/** What the whole service shares. `app.ts` builds it; everything else is handed it. */
export interface AppContext {
  readonly config: Config;
  readonly log: Logger;
  readonly pool: Pool;
  readonly db: Database;
  readonly metrics: Metrics;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly loginThrottle: LoginThrottle;
  readonly settings: SettingsCache;
  readonly sensorKeys: SensorKeys;
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
  readonly token: { readonly id: string; readonly expiresAt: Date };
}

/** What a procedure behind a login gets. */
export interface ActorContext extends RequestContext {
  readonly actor: Actor;
}
