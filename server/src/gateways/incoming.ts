import type { KnownConnection } from '../connections/store.ts';

/** A message as it arrived, from a sender that was recognized. */
export interface Incoming {
  readonly connection: Pick<KnownConnection, 'id' | 'format'>;
  /** Unix milliseconds */
  readonly receivedAt: number;
  /** The HTTP method, or `MQTT`. */
  readonly method: string;
  /** The path below the address of the connection; empty if none. */
  readonly path: string;
  readonly topic: string | null;
  readonly contentType: string | null;
  /** The Content-Encoding header; null for none. */
  readonly encoding: string | null;
  readonly body: Buffer;
}
