import type { Random } from '../random.ts';
import type { Sighting } from './sighting.ts';

/** One HTTP request of a device. */
export interface DeviceRequest {
  /** Appended to the address of the connection; empty for most makers. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
  /** Delay before the request is sent, in milliseconds, counted from the end of the previous one about the same vehicle. */
  readonly afterMs: number;
}

/** A maker of cameras: the messages of its devices, and how often they repeat them. */
export interface Maker {
  /** The messages about one vehicle, in order. The last one completes the report. */
  messagesOf(sighting: Sighting, random: Random): readonly DeviceRequest[];
  /** The heartbeat, if devices of the maker send any. */
  heartbeatOf?(sighting: Pick<Sighting, 'device' | 'at'>): DeviceRequest;
  /** How often a device repeats a message that was not accepted: 0 means never, infinity until it is accepted. */
  readonly repeats: number;
  /** The fraction of accepted messages that a device sends a second time. */
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

/** A time (Unix milliseconds) as text in UTC, such as `2026-07-05 20:44:40.123`. */
export function wallTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').slice(0, 23);
}

/** The text, escaped for the content of an XML element. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
