import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from '@gantry/contract/connections';
import type { Format, Reading } from '../../src/format.ts';
import { readParts } from '../../src/read-parts.ts';
import { splitBody } from '../../src/split-body.ts';

/** How a test sends a message; everything has a default. */
export interface Sent {
  readonly contentType?: string | null;
  readonly path?: string;
  readonly topic?: string;
  readonly options?: ConnectionOptions;
  readonly zone?: string;
  readonly receivedAt?: number;
}

/** The payload of a real device in `messages/`. */
export function devicePayload(file: string): Promise<Buffer> {
  return readFile(new URL(`../messages/${file}`, import.meta.url));
}

/** Reads a body with the format. The body passes through the same steps as one that arrives over HTTP. */
export async function readBody(format: Format, body: Buffer | string, sent: Sent = {}): Promise<Reading> {
  const { parts } = splitBody(sent.contentType ?? null, Buffer.from(body));
  const message = {
    parts: readParts(parts),
    path: sent.path ?? '',
    topic: sent.topic ?? null,
    receivedAt: sent.receivedAt ?? Date.UTC(2026, 6, 1),
  };
  return format.read(message, { options: sent.options ?? {}, zone: sent.zone ?? 'Europe/Berlin' });
}

/** Reads a payload of `messages/` with the format. */
export async function readPayload(format: Format, file: string, sent: Sent = {}): Promise<Reading> {
  return readBody(format, await devicePayload(file), sent);
}
