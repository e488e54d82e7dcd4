import type { Random } from '../random.ts';
import type { Sighting } from './sighting.ts';

/** One HTTP request of a device. */
export interface DeviceRequest {
  /** Appended to the address of the connection; empty for most makers. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
  /** How long after the request before it, in milliseconds. */
  readonly afterMs: number;
}

/** A maker of cameras: what its devices send, and what they do when it does not arrive. */
export interface Maker {
  /** The messages about one vehicle, in their order. The last one completes it. */
  messagesOf(sighting: Sighting, random: Random): readonly DeviceRequest[];
  /** The sign of life, if the maker's devices send one. */
  heartbeatOf?(sighting: Pick<Sighting, 'device' | 'at'>): DeviceRequest;
  /** How often a device sends a message again that was not accepted: 0 never, infinity until it is. */
  readonly repeats: number;
  /** The share of messages that a device sends again although they were accepted. */
  readonly doubled: number;
}

export function json(value: unknown, path = '', afterMs = 0): DeviceRequest {
  return { path, contentType: 'application/json', body: Buffer.from(JSON.stringify(value)), afterMs };
}

export function xml(text: string, contentType = 'application/xml'): DeviceRequest {
  return { path: '', contentType, body: Buffer.from(text), afterMs: 0 };
}

interface Part {
  readonly headers: string;
  readonly content: Buffer | string;
}

export function multipart(boundary: string, parts: readonly Part[]): DeviceRequest {
  const body = Buffer.concat([
    ...parts.flatMap(({ headers, content }) => [
      Buffer.from(`--${boundary}\r\n${headers}\r\nContent-Length: ${Buffer.byteLength(content)}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  return { path: '', contentType: `multipart/form-data; boundary=${boundary}`, body, afterMs: 0 };
}

/** The text of a time in UTC, `2026-07-05 20:44:40.123` for example. */
export function wallTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').slice(0, 23);
}

/** The text for the content of an XML element. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
