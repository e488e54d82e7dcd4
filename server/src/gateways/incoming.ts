import type { KnownConnection } from '../connections/store.ts';

/** The method of messages of `gantry-edge`. */
export const EDGE = 'EDGE';

/** A message as it arrived, from a sender that was recognised. */
export interface Incoming {
  readonly connection: Pick<KnownConnection, 'id' | 'format'>;
  /** Unix milliseconds */
  readonly receivedAt: number;
  /** The HTTP method, `MQTT`, or `EDGE` for a message of `gantry-edge`, which gave it a key. */
  readonly method: string;
  /** The path below the address of the connection; empty if none. */
  readonly path: string;
  readonly topic: string | null;
  readonly contentType: string | null;
  /** The Content-Encoding header; null for none. */
  readonly encoding: string | null;
  readonly body: Buffer;
}
