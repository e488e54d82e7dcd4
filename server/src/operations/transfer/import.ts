import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IngestedItem } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { machineTime } from '../../platform/machine-time.ts';
import { retryAfterOf } from '../../platform/retry-after.ts';
import type { ReadLine } from './read-lines.ts';

/** What became of the events of a file. */
export interface ImportResult {
  stored: number;
  /** Events that were stored already, for example by an earlier import. */
  known: number;
  failed: number;
}

export interface ImportOptions {
  readonly lines: AsyncIterable<ReadLine>;
  /** The address of the service. */
  readonly url: string;
  /** The API keys of sensors by their deviceId. */
  readonly apiKeys: ReadonlyMap<string, string>;
  /** The deviceId of events that name none. */
  readonly deviceId: string | null;
  /** Those of these ids that the installation has already: they were exported from it. */
  readonly findExisting: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Called for each event that was not stored. */
  readonly onFailure: (line: number, reason: string) => void;
}

/** Maximum number of events of one sensor in a batch, and of bytes, unless a single event is larger. */
const BATCH = 500;
const BATCH_BYTES = 4_000_000;

/** Number of bytes in the batches of all sensors above which all batches are sent. */
const WAITING_BYTES = 32_000_000;

const ATTEMPTS = 20;
const PAUSE_MS = 1_000;
const ANSWER_MS = 60_000;

/** Fields that the export adds, and that a sensor does not report: the service determines them. */
const NOT_REPORTED = new Set([
  'id',
  'deviceId',
  'sensorId',
  'sensorName',
  'sensorType',
  'locationName',
  'processed',
  'archived',
  'createdAt',
]);

interface Waiting {
  readonly line: number;
  /** The id of an exported event; null for other events. */
  readonly id: string | null;
  readonly event: Readonly<Record<string, unknown>>;
}

/** The events of a sensor that are sent together. */
interface Batch {
  readonly events: Waiting[];
  bytes: number;
}

/** The service that the events are sent to. */
interface Service {
  /** Its address. */
  readonly url: string;
  /** Whether it has answered: then it is not reached only for a while, for example because it is restarted. */
  hasAnswered: boolean;
}

/** The service cannot be reached, or refuses the whole import. The message says what to do. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
}

/**
 * Sends the events of a file to a service, as their sensors would: they pass the same rules, and importing a file again
 * stores nothing twice. The events of a sensor are sent in the order of the file. They wait until there are enough of the
 * same sensor for a batch, because in the order of time the sensors alternate.
 * @throws ImportRefused when the service cannot be reached; what was sent before has been stored
 */
export async function importEvents(options: ImportOptions): Promise<ImportResult> {
  const { lines, apiKeys, deviceId, onFailure } = options;
  const service: Service = { url: options.url, hasAnswered: false };
  const result: ImportResult = { stored: 0, known: 0, failed: 0 };
  const fail = (line: number, reason: string): void => {
    result.failed++;
    onFailure(line, reason);
  };
  const batches = new Map<string, Batch>();
  let bytes = 0;

  const flush = async (device: string, batch: Batch): Promise<void> => {
    batches.delete(device);
    bytes -= batch.bytes;
    const ids = batch.events.flatMap(({ id }) => (id === null ? [] : [id]));
    const existing = ids.length === 0 ? new Set<string>() : await options.findExisting(ids);
    const waiting = batch.events.filter(({ id }) => id === null || !existing.has(id));
    result.known += batch.events.length - waiting.length;
    if (waiting.length === 0) return;
    const apiKey = apiKeys.get(device) ?? '';
    for (const [index, item] of (await send(service, apiKey, waiting)).entries()) {
      if ('error' in item) fail(waiting[index]?.line ?? 0, reasonOf(item.error));
      else if (item.duplicate) result.known++;
      else result.stored++;
    }
  };
  const flushAll = async (): Promise<void> => {
    for (const [device, batch] of batches) await flush(device, batch);
  };

  for await (const read of lines) {
    if ('flaw' in read) {
      fail(read.line, read.flaw);
      continue;
    }
    const named = read.event.deviceId ?? deviceId;
    if (typeof named !== 'string' || !apiKeys.has(named)) {
      fail(
        read.line,
        typeof named === 'string'
          ? `there is no sensor with the deviceId ${named}: register it first`
          : 'it has no deviceId: add one, or give --device-id',
      );
      continue;
    }
    if (read.event.timestamp === undefined) {
      fail(read.line, 'it has no timestamp');
      continue;
    }
    const event = reported(read.event);
    const size = Buffer.byteLength(JSON.stringify(event));
    const earlier = batches.get(named);
    if (earlier && earlier.bytes + size > BATCH_BYTES) await flush(named, earlier);
    const batch = batches.get(named) ?? { events: [], bytes: 0 };
    batches.set(named, batch);
    const { id } = read.event;
    batch.events.push({
      line: read.line,
      event,
      id: typeof id === 'string' && isUuid(id) ? id.toLowerCase() : null,
    });
    batch.bytes += size;
    bytes += size;
    if (batch.events.length >= BATCH) await flush(named, batch);
    if (bytes > WAITING_BYTES) await flushAll();
  }
  await flushAll();
  return result;
}

/** The event as its sensor would report it. The key is the same at every import, so that none is stored twice. */
function reported(event: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(event).filter(([name, value]) => !NOT_REPORTED.has(name) && value !== null);
  const report = Object.fromEntries(kept);
  if (report.idempotencyKey !== undefined) return report;
  const { id } = event;
  return {
    ...report,
    idempotencyKey: typeof id === 'string' ? `import:${id}` : `import:${contentKey(report)}`,
  };
}

function contentKey(report: Readonly<Record<string, unknown>>): string {
  return hash('sha256', JSON.stringify(report), 'hex').slice(0, 40);
}

function reasonOf({ message, issues }: Extract<IngestedItem, { error: unknown }>['error']): string {
  const details = issues?.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return details ? details : message;
}

const TEMPORARY = new Set([408, 429, 502, 503, 504]);

/**
 * Sends a batch, again if necessary, until there is a result for each event.
 * @returns the results, in the order of the events
 * @throws ImportRefused when the service cannot be reached or does not accept the events
 */
async function send(service: Service, apiKey: string, waiting: readonly Waiting[]): Promise<IngestedItem[]> {
  const results: IngestedItem[] = [];
  let left = waiting.map((each, index) => ({ ...each, index }));
  for (let attempt = 1; left.length > 0; attempt++) {
    const isLast = attempt === ATTEMPTS;
    const { items, pauseMs } = await post(
      service,
      apiKey,
      left.map(({ event }) => event),
      isLast,
    );
    left = left.filter(({ index }, at) => {
      const item = items?.[at];
      const isOver = item !== undefined && (isLast || !('error' in item && isRetried(item.error.code)));
      if (isOver && item) results[index] = item;
      return !isOver;
    });
    if (left.length === 0) break;
    if (isLast)
      throw new ImportRefused(
        `The service at ${service.url} does not accept the events now: import the file again later`,
      );
    await sleep(pauseMs);
  }
  return results;
}

function isRetried(code: string): boolean {
  return code === 'TOO_MANY_REQUESTS' || code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR';
}

interface Answer {
  /** Null when the batch has to be sent again. */
  readonly items: readonly IngestedItem[] | null;
  readonly pauseMs: number;
}

async function post(
  service: Service,
  apiKey: string,
  events: readonly unknown[],
  isLast: boolean,
): Promise<Answer> {
  const { url } = service;
  let answer: Response;
  try {
    answer = await fetch(new URL('/trpc/events.ingestBatch', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ json: { apiKey, events } }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (cause) {
    if (service.hasAnswered && !isLast) return { items: null, pauseMs: PAUSE_MS };
    throw new ImportRefused(
      `The service at ${url} cannot be reached: start it, or give its address with --url`,
      {
        cause,
      },
    );
  }
  service.hasAnswered = true;
  const asked = retryAfterOf(Object.fromEntries(answer.headers), machineTime());
  const pauseMs = Math.max(PAUSE_MS, asked ?? 0);
  if (TEMPORARY.has(answer.status)) return { items: null, pauseMs };
  const body = (await answer.json().catch(() => null)) as {
    result?: { data?: { json?: { results?: IngestedItem[] } } };
    error?: { json?: { message?: string } };
  } | null;
  const items = body?.result?.data?.json?.results;
  if (items) return { items, pauseMs };
  throw new ImportRefused(
    `The service at ${url} refuses the events: ${body?.error?.json?.message ?? `HTTP status ${answer.status}`}`,
  );
}
