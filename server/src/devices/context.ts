import type { EventEmitter } from 'node:events';
import type { Mapper } from '@gantry/device-formats/mapper';
import type { ImageServices } from '../images/start.ts';
import type { IngestServices } from '../ingest/start.ts';
import type { Core } from '../platform/context.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import type { SensorServices } from '../sensors/start.ts';
import type { ConnectionDirectory } from './directory.ts';

/**
 * Announces that messages are due, or that messages of a connection have changed. A null id means any connection: it
 * follows a gap in the notifications.
 */
export type MessageSignals = EventEmitter<{ due: []; changed: [connectionId: string | null] }>;

/** The services of this module. */
export interface ConnectionServices {
  readonly connections: ConnectionDirectory;
  readonly mapper: Mapper;
  readonly messageSignals: MessageSignals;
}

/** The services that receiving and processing messages of devices uses. */
export type GatewayApp = Core &
  ConnectionServices &
  ImageServices &
  IngestServices &
  SensorServices &
  Pick<RealtimeServices, 'outbox'>;
