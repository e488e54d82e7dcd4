import { promises as dns, type LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER_MAX_BYTES } from '@gantry/contract/webhooks';
import { safeText } from './describe-error.ts';
import { invalidInput } from './error.ts';
import { isPublicAddress } from './hosts.ts';
import { version } from './installation.ts';
import { retryAfterOf } from './retry-after.ts';
import { TIMINGS } from './timings.ts';

// Requests to addresses that users have entered, which may not reach into the operator's own network.

/** Returns all addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** Resolves names as connections do, including /etc/hosts. */
const resolveHost: Resolve = (host) => dns.lookup(host, { all: true, verbatim: true });

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The reason why nothing can be sent to an address, as a sentence for the user. */
export class UnusableAddress extends Error {
  override readonly name = 'UnusableAddress';
}

/** Time limit for resolving a name, in milliseconds. */
const RESOLVE_LIMIT_MS = 5_000;

/** The host of an address, without the brackets around IPv6 addresses. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Decides which addresses requests may be sent to. */
export class AddressRules {
  readonly #exceptions: ReadonlySet<string>;
  readonly #resolveName: Resolve;

  /** @param exceptions hosts, with or without a port, that are not checked, in the form returned by `parseAllowedHost` */
  constructor(exceptions: readonly string[], resolveName: Resolve = resolveHost) {
    this.#exceptions = new Set(exceptions);
    this.#resolveName = resolveName;
  }

  /**
   * Parses an address into its canonical form.
   * @throws UnusableAddress when it is invalid, or its host is an internal address
   */
  parse(text: string): URL {
    const url = parseUrl(text);
    const host = hostOf(url);
    if (isIP(host) !== 0 && !this.#isExcepted(url) && !isPublicAddress(host)) throw inside(host);
    return url;
  }

  /**
   * The IP addresses to connect to.
   * @throws UnusableAddress when there is none, or one of them is internal
   */
  async resolve(url: URL): Promise<readonly LookupAddress[]> {
    const host = hostOf(url);
    const resolved = this.#resolveName(host).catch(() => []);
    const addresses = await Promise.race([resolved, nothingAfter(RESOLVE_LIMIT_MS)]);
    if (addresses.length === 0) throw new UnusableAddress(`${host} cannot be resolved to an address`);
    // A single internal address is enough to refuse, because others control which one is used.
    if (!this.#isExcepted(url) && !addresses.every(({ address }) => isPublicAddress(address)))
      throw inside(host);
    return addresses;
  }

  #isExcepted({ hostname, port, protocol }: URL): boolean {
    const withPort = `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
    return this.#exceptions.has(hostname) || this.#exceptions.has(withPort);
  }
}

function nothingAfter(ms: number): Promise<readonly LookupAddress[]> {
  return sleep(ms, [], { ref: false });
}

function inside(host: string): UnusableAddress {
  return new UnusableAddress(
    `${host} is not on the public internet: nothing is sent into the operator’s own network. WEBHOOK_ALLOW_HOSTS can make exceptions`,
  );
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new UnusableAddress('Use an address such as https://example.org/hook');
  const url = new URL(text);
  if (!(url.protocol in DEFAULT_PORTS)) throw new UnusableAddress('Use an address with http or https');
  if (url.port === '0') throw new UnusableAddress('Use a port between 1 and 65535');
  if (url.username !== '' || url.password !== '') {
    throw new UnusableAddress('Leave user name and password out: the signature tells who sends');
  }
  return url;
}

/**
 * The canonical form of an address that a user has entered.
 * @param field of the input that contains it
 * @throws AppError `badRequest` when nothing may be sent there
 */
export async function requireUsable(rules: AddressRules, text: string, field = 'url'): Promise<string> {
  try {
    const url = rules.parse(text);
    await rules.resolve(url);
    return url.href;
  } catch (error) {
    if (error instanceof UnusableAddress) throw invalidInput(field, error.message);
    throw error;
  }
}

/** A request to send. */
export interface OutboundRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly headers: http.OutgoingHttpHeaders;
  /** null for none. */
  readonly body: string | null;
}

/** The result of an attempt to send something. */
export interface AttemptResult {
  /** HTTP status, if there was an answer. */
  readonly status: number | null;
  /** The beginning of the answer. */
  readonly answer: string | null;
  /** Why it failed; null for success. */
  readonly error: string | null;
  /** The delay that the receiver requested, in milliseconds. */
  readonly retryAfterMs?: number | null;
  /** Whether another attempt would fail, too. */
  readonly isPermanent?: boolean;
}

/** Time limit of an attempt from resolving the name to the head of the answer, in milliseconds. */
export const ATTEMPT_LIMIT_MS = 10_000;

/** The statuses with which `Retry-After` applies. */
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

export interface OutboundLimits {
  /** Time limit of an attempt, in milliseconds. */
  readonly limitMs?: number;
  /** Time limit for the body of an answer, in milliseconds. It does not affect the result. */
  readonly answerBodyMs?: number;
}

/** Makes one attempt. It never rejects: the result contains the reason of a failure. */
export type SendRequest = (request: OutboundRequest) => Promise<AttemptResult>;

/** @param now returns the time in Unix milliseconds, to which a date in `Retry-After` is compared */
export function createOutbound(
  rules: AddressRules,
  now: () => number,
  { limitMs = ATTEMPT_LIMIT_MS, answerBodyMs = TIMINGS.answerBodyMs }: OutboundLimits = {},
): SendRequest {
  return async (request) => {
    const signal = AbortSignal.timeout(limitMs);
    try {
      return await exchange(request, { rules, now, answerBodyMs }, signal);
    } catch (error) {
      const reason = signal.aborted ? `It did not answer within ${limitMs / 1_000} s` : describe(error);
      return { status: null, answer: null, error: storable(reason), retryAfterMs: null };
    }
  };
}

/**
 * The addresses that the connection uses are checked, so that a second, different answer of the DNS cannot bypass the
 * check.
 */
export function lookupOf(rules: AddressRules, url: URL): LookupFunction {
  return (_host, options, done) => {
    rules.resolve(url).then(
      (addresses) => {
        if (options.all) done(null, [...addresses]);
        else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

/** Replaces characters that PostgreSQL cannot store. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed();
}

/** The beginning of the body, as far as it was received. A slow or interrupted body does not affect the result. */
async function readBeginning(response: http.IncomingMessage, limitMs: number): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let room = ANSWER_MAX_BYTES;
  const timer = setTimeout(() => response.destroy(), limitMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += decoder.write(chunk.subarray(0, room));
      room -= chunk.length;
      if (room <= 0) break;
    }
  } catch {
    // The part that was received is kept.
  } finally {
    clearTimeout(timer);
  }
  return storable(text);
}

function failureOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `It answered with a redirect (${status}), which is not followed`;
  return `It answered with status ${status}`;
}

/** Maximum number of interim answers (1xx) before the answer to a request. Node.js reads any number of them. */
const MAX_INTERIM_ANSWERS = 16;

/** Sends a request, and waits for the head of its answer. */
export function responseOf(
  request: http.ClientRequest,
  body: string | null = null,
): Promise<http.IncomingMessage> {
  let interim = 0;
  return new Promise((resolve, reject) => {
    request
      .on('response', resolve)
      .on('information', () => {
        if (++interim > MAX_INTERIM_ANSWERS)
          request.destroy(new Error('It sends interim answers (1xx) only'));
      })
      .on('error', reject)
      // After an answer that changes the protocol (101), Node.js closes the connection without an error.
      .on('close', () => reject(new Error('The connection was closed without an answer')))
      .end(body ?? undefined);
  });
}

async function exchange(
  { url: address, method = 'POST', headers, body }: OutboundRequest,
  { rules, now, answerBodyMs }: { rules: AddressRules; now: () => number; answerBodyMs: number },
  signal: AbortSignal,
): Promise<AttemptResult> {
  const url = rules.parse(address);
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    headers: {
      'user-agent': `Gantry/${version}`,
      ...(body !== null && { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
    agent: false,
    signal,
    ...(isIP(hostOf(url)) === 0 && { lookup: lookupOf(rules, url) }),
  });
  const response = await responseOf(request, body);
  // Errors of the connection after the answer are ignored.
  request.on('error', () => undefined);
  try {
    const status = response.statusCode ?? 0;
    const retryAfterMs = ASKS_TO_WAIT.has(status) ? retryAfterOf(response.headers, now()) : null;
    return {
      status,
      answer: await readBeginning(response, answerBodyMs),
      error: failureOf(status),
      retryAfterMs,
    };
  } finally {
    request.destroy();
  }
}

function describe(error: unknown): string {
  // Several addresses were tried, and none responded.
  const [first] = error instanceof AggregateError ? error.errors : [];
  return safeText(first ?? error).slice(0, 500);
}
