import type { Kept } from './stamp.ts';

/** Messages could not be delivered now, and must be sent again. The message of the error gives the reason. */
export class NotDelivered extends Error {
  override name = 'NotDelivered';
  /** The earliest time of the next attempt, in milliseconds from now; null if the service did not say. */
  readonly retryAfterMs: number | null;
  /** Whether the service refused the request because of its content, so that the same request would be refused again. */
  readonly isRefusal: boolean;
  /** The HTTP status of the answer, if there was one. */
  readonly status: number | null;

  constructor(
    message: string,
    {
      retryAfterMs = null as number | null,
      isRefusal = false,
      status = null as number | null,
      cause = undefined as unknown,
    } = {},
  ) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.isRefusal = isRefusal;
    this.status = status;
  }
}

/** A message that the service will never accept, with its reason. */
export interface Refused {
  readonly kept: Kept;
  readonly reason: string;
}

/**
 * Delivers messages.
 * @returns the messages that the service refused; all others are stored durably by the service
 * @throws NotDelivered
 */
export type Target = (messages: readonly Kept[], signal: AbortSignal) => Promise<readonly Refused[]>;

const TIMEOUT_MS = 60_000;

/** Maximum size of an answer. The largest one says of 500 events why they were refused. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** The error codes of single events that the service may accept later. */
const TEMPORARY = new Set(['SERVICE_UNAVAILABLE', 'TOO_MANY_REQUESTS', 'TIMEOUT', 'INTERNAL_SERVER_ERROR']);

/** Messages of one request, and the time of which they are everything that the device reported. */
interface Part {
  readonly messages: Kept[];
  readonly observed?: { readonly from: number; readonly until: number };
}

/** Divides messages where the time of which nothing was missed is interrupted, because a request names one such time. */
export function partsOf(messages: readonly Kept[]): Part[] {
  const parts: Part[] = [];
  for (const kept of messages) {
    const until = Date.parse(kept.at);
    const from = until - (kept.observedMs ?? 0);
    const last = parts.at(-1);
    if (last && from === until) last.messages.push(kept);
    else if (last && (last.observed?.until ?? from) === from) {
      last.messages.push(kept);
      parts[parts.length - 1] = { ...last, observed: { from: last.observed?.from ?? from, until } };
    } else parts.push({ messages: [kept], ...(from < until && { observed: { from, until } }) });
  }
  return parts;
}

/** Delivers events by `events.ingestBatch`. */
export function createEventTarget(url: string, apiKey: string): Target {
  const address = new URL('trpc/events.ingestBatch', url.endsWith('/') ? url : `${url}/`);
  const deliver = async (part: Part, signal: AbortSignal): Promise<readonly Refused[]> => {
    const { messages, observed } = part;
    const span = observed && {
      observed: {
        from: new Date(observed.from).toISOString(),
        until: new Date(observed.until).toISOString(),
      },
    };
    const json = { apiKey, ...span, events: messages.map(({ event }) => event) };
    const answer = await post(address, 'application/json', JSON.stringify({ json }), signal).catch(
      (error) => {
        // By a clock that is ahead, the observed time ends in the future. Events are refused one by one.
        if (observed && error instanceof NotDelivered && error.status === 400) return null;
        throw error;
      },
    );
    if (answer === null && observed) return deliver({ messages }, signal);
    const results: unknown = (answer as { result?: { data?: { json?: { results?: unknown } } } })?.result
      ?.data?.json?.results;
    if (!Array.isArray(results) || results.length !== messages.length) {
      throw notGantry(address);
    }
    const refused: Refused[] = [];
    for (const [index, result] of results.entries()) {
      const error = (result as { error?: { code?: unknown; message?: unknown } }).error;
      if (!error) continue;
      if (TEMPORARY.has(String(error.code))) throw new NotDelivered(String(error.message));
      const kept = messages[index];
      if (kept) refused.push({ kept, reason: String(error.message) });
    }
    return refused;
  };
  return async (messages, signal) => {
    const refused: Refused[] = [];
    for (const part of partsOf(messages)) refused.push(...(await deliver(part, signal)));
    return refused;
  };
}

/** The media type of a batch of messages in a device's own format. */
export const EDGE_BATCH = 'application/vnd.gantry.edge+json';

/** Delivers messages to the address of a connection, which reads them in the format of the device. */
export function createConnectionTarget(url: string): Target {
  const address = new URL(url);
  return async (messages, signal) => {
    const answer = await post(address, EDGE_BATCH, JSON.stringify(messages), signal);
    // Another server may answer anything with 200, such as the page of a modem for logging in.
    if ((answer as { stored?: unknown } | null)?.stored !== messages.length) throw notGantry(address);
    return [];
  };
}

async function post(address: URL, contentType: string, body: string, signal: AbortSignal): Promise<unknown> {
  // Held until the answer: in Node.js 20, AbortSignal.any does not keep a time limit from being collected.
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
      signal: AbortSignal.any([signal, limit]),
    });
    text = await textOf(response);
  } catch (cause) {
    const what = limit.aborted ? `did not answer within ${TIMEOUT_MS / 1_000} s` : 'cannot be reached';
    throw new NotDelivered(`${address.origin} ${what}`, { cause });
  }
  if (response.ok) return parse(text);
  const after = Number(response.headers.get('retry-after') ?? Number.NaN);
  throw new NotDelivered(`${address.origin} answered ${response.status}: ${sentenceOf(text)}`, {
    retryAfterMs: Number.isFinite(after) ? after * 1_000 : null,
    isRefusal: isRefusal(response.status, text),
    status: response.status,
  });
}

/** The text of an answer. @throws Error when it is longer than any of Gantry, and may have no end */
async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function notGantry({ origin }: URL): NotDelivered {
  return new NotDelivered(`${origin} does not answer as Gantry does: check the address`);
}

/** Whether a request was refused because of its content: it is too large, or its JSON is not accepted. */
function isRefusal(status: number, text: string): boolean {
  if (status !== 400) return status === 413;
  const data = (parse(text) as { error?: { json?: { data?: { code?: unknown; issues?: unknown } } } } | null)
    ?.error?.json?.data;
  // Issues concern the API key: the service validates events one by one, and reports invalid ones in an answer with 200.
  return data?.code === 'BAD_REQUEST' && data.issues === undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sentenceOf(text: string): string {
  const message = (parse(text) as { error?: { json?: { message?: unknown } } } | null)?.error?.json?.message;
  return typeof message === 'string' ? message : text.slice(0, 200);
}
