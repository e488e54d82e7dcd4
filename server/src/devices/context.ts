import type { ImageServices } from '../images/start.ts';
import type { IngestServices } from '../ingest/start.ts';
import type { Core } from '../platform/context.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import type { SensorServices } from '../sensors/start.ts';
import type { ConnectionServices } from './connections-start.ts';

/** The services that gateways use. */
export type GatewayApp = Core &
  ConnectionServices &
  ImageServices &
  IngestServices &
  SensorServices &
  Pick<RealtimeServices, 'outbox'>;
