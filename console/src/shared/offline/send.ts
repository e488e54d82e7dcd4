import { createGantryClient, type GantryClient } from '@gantry/client';
import type { NoteAudience } from '@gantry/contract/incident-work';
import type { LogKind } from '@gantry/contract/log';
import { serviceAddress } from '../service/files.ts';
import type { Session } from '../session/session.ts';

/** What somebody in the field writes down. */
export type Entry =
  | {
      readonly kind: 'note';
      readonly incidentId: string;
      /** The title of the incident, as the user saw it. */
      readonly title: string;
      readonly note: string;
      /** Who may read it; absent: those who may see the incident only. */
      readonly audience?: NoteAudience;
      readonly images: readonly Blob[];
    }
  | {
      readonly kind: 'time';
      readonly incidentId: string;
      readonly title: string;
      /** The time that is when it was written, unless it is known already: T3 or T4. */
      readonly time: 'dispatchedAt' | 'arrivedAt';
    }
  | {
      readonly kind: 'fault';
      readonly sensorId: string;
      /** The name of the sensor; empty if it was not known. */
      readonly title: string;
      readonly text: string;
      readonly code: string | null;
      readonly ticket: string | null;
      /** When it was found; undefined: when it was written down. */
      readonly foundAt: string | undefined;
      readonly images: readonly Blob[];
    }
  | { readonly kind: 'log'; readonly logKind: LogKind; readonly text: string };

interface Sending {
  /** By this key the service adds it once, however often it is sent. */
  readonly key: string;
  /** By the clock of the service; null: now. */
  readonly writtenAt: Date | null;
  /** Receives the share that was sent, from 0 to 1. */
  readonly onSent?: (share: number) => void;
}

/** Sends an entry in the name of the user who wrote it. @throws GantryError */
export async function sendEntry(
  session: Session,
  entry: Entry,
  { key: idempotencyKey, writtenAt, onSent = () => undefined }: Sending,
): Promise<void> {
  const api = clientOf(session, onSent);
  if (entry.kind === 'log') {
    const { logKind: kind, text } = entry;
    await api.log.add.mutate({ kind, text, idempotencyKey, ...(writtenAt && { at: writtenAt }) });
  } else if (entry.kind === 'time') {
    const { incidentId: id, time } = entry;
    await api.incidents.setTimes.mutate({ id, [time]: writtenAt ?? 'now', ifUnknown: true });
  } else if (entry.kind === 'fault') {
    const { sensorId, text, code, ticket, foundAt = writtenAt?.toISOString() } = entry;
    const images = await dataUrlsOf(entry.images);
    await api.faults.report.mutate({ sensorId, text, code, ticket, foundAt, images, idempotencyKey });
  } else {
    const { incidentId: id, note, audience } = entry;
    const images = await dataUrlsOf(entry.images);
    await api.incidents.addNote.mutate({
      ...{ id, note, images, idempotencyKey },
      ...(audience && { audience }),
      ...(writtenAt && { writtenAt }),
    });
  }
}

/** The incident into which another one was merged; null if it was not, or cannot be read. */
export async function findMergedInto(session: Session, id: string): Promise<string | null> {
  const incident = await clientOf(session)
    .incidents.getById.query({ id })
    .catch(() => null);
  return incident?.work.mergedInto?.id ?? null;
}

/** Clocks that differ by less, in milliseconds, are not told apart: the header of an answer has whole seconds. */
const ALIKE_MS = 5_000;

/** How far the clock of this device is ahead of that of the service, in milliseconds; null if it cannot be reached. */
export async function clockAhead(): Promise<number | null> {
  try {
    const answer = await fetch('/icon.svg', { method: 'HEAD', cache: 'no-store' });
    const there = Date.parse(answer.headers.get('date') ?? '');
    const ahead = Date.now() - there;
    return Math.abs(ahead) > ALIKE_MS ? ahead : 0;
  } catch {
    return null;
  }
}

/** Files as `data:` URLs. */
export function dataUrlsOf(files: readonly Blob[]): Promise<string[]> {
  return Promise.all(files.map(dataUrlOf));
}

/** A file as a `data:` URL. */
function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read'));
    reader.readAsDataURL(file);
  });
}

/** Timeout in milliseconds; long, because a large request takes time on a slow connection. */
const TIMEOUT_MS = 120_000;

/** A client with the token of one session, whoever signs in meanwhile. */
function clientOf({ token }: Session, onSent?: (share: number) => void): GantryClient['api'] {
  const client = createGantryClient({
    url: serviceAddress,
    token,
    timeoutMs: TIMEOUT_MS,
    ...(onSent && { fetch: fetchWithProgress(onSent) }),
  });
  return client.api;
}

/** A `fetch` based on XMLHttpRequest, because `fetch` does not report the progress of uploads. */
function fetchWithProgress(onSent: (part: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(init.method ?? 'GET', String(input));
      new Headers(init.headers).forEach((value, name) => {
        request.setRequestHeader(name, value);
      });
      request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
        if (lengthComputable) onSent(loaded / total);
      };
      request.onload = () => resolve(answerOf(request));
      request.onerror = () => reject(new TypeError('the connection failed'));
      request.onabort = () => reject(new DOMException('The call was aborted', 'AbortError'));
      init.signal?.addEventListener('abort', () => request.abort());
      request.send(init.body as XMLHttpRequestBodyInit | null | undefined);
    });
}

function answerOf(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const name of ['retry-after', 'x-request-id']) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(request.responseText, { status: request.status, headers });
}
