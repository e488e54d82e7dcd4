import { createHmac } from 'node:crypto';
import { promises as dns, type LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER_MAX_BYTES } from '@gantry/contract/webhooks';
import { safeText } from '../platform/describe-error.ts';
import { isPublicAddress } from '../platform/hosts.ts';
import { version } from '../platform/installation.ts';
import { retryAfterOf } from '../platform/retry-after.ts';
import { TIMINGS } from '../platform/timings.ts';
import type { Attempt, AttemptResult } from './deliveries-store.ts';

/** Returns all addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** Resolves names as connections do, including /etc/hosts. */
const resolveHost: Resolve = (host) => dns.lookup(host, { all: true, verbatim: true });

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The reason why webhooks cannot be sent to an address, as a sentence for the user. */
export class UnusableAddress extends Error {
  override readonly name = 'UnusableAddress';
}

/** Time limit for resolving a name, in milliseconds. */
const RESOLVE_LIMIT_MS = 5_000;

/** The host of an address, without the brackets around IPv6 addresses. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Decides which addresses webhooks may be sent to. */
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
    `${host} is not on the public internet: webhooks may not reach into the operator’s own network. WEBHOOK_ALLOW_HOSTS can make exceptions`,
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

/** Makes one attempt. It never rejects: the result contains the reason of a failure. */
export type SendAttempt = (attempt: Attempt) => Promise<AttemptResult>;

/** Time limit of an attempt from resolving the name to the head of the answer, in milliseconds. */
export const ATTEMPT_LIMIT_MS = 10_000;

/** The statuses with which `Retry-After` applies. */
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

interface SenderLimits {
  /** Time limit of an attempt, in milliseconds. */
  readonly limitMs?: number;
  /** Time limit for the body of an answer, in milliseconds. It does not affect the result. */
  readonly answerBodyMs?: number;
}

/** @param now returns the time in Unix milliseconds, which is signed */
export function createSender(
  rules: AddressRules,
  now: () => number,
  { limitMs = ATTEMPT_LIMIT_MS, answerBodyMs = TIMINGS.answerBodyMs }: SenderLimits = {},
): SendAttempt {
  return async (attempt) => {
    const signal = AbortSignal.timeout(limitMs);
    try {
      return await exchange(attempt, { rules, now, answerBodyMs }, signal);
    } catch (error) {
      const reason = signal.aborted ? `It did not answer within ${limitMs / 1_000} s` : describe(error);
      return { status: null, answer: null, error: storable(reason), retryAfterMs: null };
    }
  };
}

function headersOf({ id, kind, body, secret }: Attempt, now: number): http.OutgoingHttpHeaders {
  const timestamp = Math.floor(now / 1_000);
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': `Gantry/${version}`,
    'x-gantry-delivery': id,
    'x-gantry-kind': kind,
    'x-gantry-timestamp': timestamp,
    'x-gantry-signature': signatureOf(secret, timestamp, body),
  };
}

/**
 * The addresses that the connection uses are checked, so that a second, different answer of the DNS cannot bypass the
 * check.
 */
function lookupOf(rules: AddressRules, url: URL): LookupFunction {
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
function storable(text: string): string {
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

async function exchange(
  attempt: Attempt,
  { rules, now, answerBodyMs }: { rules: AddressRules; now: () => number; answerBodyMs: number },
  signal: AbortSignal,
): Promise<AttemptResult> {
  const url = rules.parse(attempt.url);
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: 'POST',
    headers: headersOf(attempt, now()),
    agent: false,
    signal,
    ...(isIP(hostOf(url)) === 0 && { lookup: lookupOf(rules, url) }),
  });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end(attempt.body);
  });
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

/**
 * Proves to a receiver that Gantry sent this body at this time: HMAC-SHA256 over `timestamp.body`.
 * @param timestamp Unix seconds
 */
function signatureOf(secret: string, timestamp: number, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
