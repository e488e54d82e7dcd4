import type { Hub } from './hub.ts';
import type { FindEvents } from './items.ts';
import type { Outbox } from './publish.ts';
import type { Streams } from './streams.ts';

/** What this room adds to the service. */
export interface RealtimeServices {
  readonly realtime: Hub;
  readonly streams: Streams;
  readonly findEvents: FindEvents;
  /** Where what is published goes besides the streams. */
  readonly outbox: Outbox;
}
