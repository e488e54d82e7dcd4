import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import type { Caller } from '../platform/context.ts';
import { ANSWER_LIMITS, AnswerBudget, type BodyLimit, BodyReader, drain } from './budgets.ts';
import { type Failure, failureOf, WireError } from './errors.ts';
import { allowOrigins, commonHeaders, headersForOrigin, type OriginCheck } from './headers.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

export type Headers = Readonly<Record<string, string>>;

/**
 * Handles the requests of one form of the API, such as those to /v1.
 * @returns false for a request of another form, with which it does nothing
 */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** What the requests of one service have in common, in whatever form they arrive. */
export class FrontEnd {
  readonly bodies = new BodyReader();
  readonly answers: AnswerBudget;
  readonly callerOf: CallerOf;
  /** Whether a page of the origin may call the API. */
  readonly allows: OriginCheck;
  readonly log: Logger;
  /** Set while the service is stopping, so that no connection is kept for another request. */
  isClosing = false;

  constructor(config: Config, log: Logger, limits = ANSWER_LIMITS) {
    this.answers = new AnswerBudget(limits);
    this.callerOf = createCallerOf(config.TRUSTED_PROXIES, log);
    this.allows = allowOrigins(config.WEB_ORIGIN, config.PREVIEW_ORIGINS);
    this.log = log;
  }
}

/** One request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId = randomUUID();
  readonly #frontEnd: FrontEnd;
  readonly #exposedHeaders: string | undefined;
  #endsConnection = false;

  /** @param exposedHeaders those that a page of an allowed origin may read; by default those of /trpc */
  constructor(
    frontEnd: FrontEnd,
    request: IncomingMessage,
    response: ServerResponse,
    exposedHeaders?: string,
  ) {
    this.#frontEnd = frontEnd;
    this.request = request;
    this.response = response;
    this.#exposedHeaders = exposedHeaders;
  }

  /**
   * The whole body; null if there is none.
   * @param limit by default 10 MB
   * @throws WireError as `BodyReader.read` does
   */
  readBody(limit?: BodyLimit): Promise<Buffer> | null {
    return this.#frontEnd.bodies.read(this.request, this.response, limit);
  }

  /** Discards a body that is not wanted. */
  drain(): void {
    this.#endConnectionIfClosing();
    drain(this.request, this.response);
  }

  /** Sends an answer with the common headers. @param body null for none, which is not the same as an empty one */
  send(
    status: number,
    headers: Headers,
    body: { readonly type: string; readonly content: string | Buffer } | null,
  ): void {
    const head = this.#commonHeaders();
    for (const [name, value] of Object.entries(headers)) head.push(name, value);
    const bytes = body ? Buffer.byteLength(body.content) : 0;
    if (body) head.push('content-type', body.type, 'content-length', String(bytes));
    this.write(status, head, body?.content ?? '', bytes);
  }

  /**
   * Sends an answer with these headers only.
   * @param head names and values alternate
   * @param bytes size of the content
   */
  write(status: number, head: OutgoingHttpHeader[], content: string | Buffer, bytes: number): void {
    const { response } = this;
    this.#endConnectionIfClosing();
    response.writeHead(status, head);
    response.end(content);
    this.#frontEnd.answers.limitReading(response, bytes);
  }

  /** Begins an answer that is sent in parts. Its headers override the common ones. */
  beginStream(headers: Headers): void {
    const { response } = this;
    this.#endConnectionIfClosing();
    const head = this.#commonHeaders();
    for (let at = 0; at < head.length; at += 2) response.setHeader(head[at] ?? '', head[at + 1] ?? '');
    response.writeHead(200, headers);
  }

  /** Limits the time for reading an answer that was sent in parts. @param bytes size of the answer */
  limitReading(bytes: number): void {
    this.#frontEnd.answers.limitReading(this.response, bytes);
  }

  /**
   * What to answer after an error, which is logged if it is one of the service; the rest of the request is discarded.
   * Null if nothing can be answered, because the answer has started: then the connection is closed.
   */
  failed(error: unknown): Failure | null {
    const { response, requestId } = this;
    const { log } = this.#frontEnd;
    if (response.headersSent) {
      // Usually the client has left.
      if (!response.destroyed) log.error({ err: error, requestId }, 'a stream failed');
      response.destroy();
      return null;
    }
    const failure = failureOf(error);
    if (failure.unexpected) log.error({ err: error, requestId }, 'a request failed');
    this.drain();
    return failure;
  }

  #commonHeaders(): string[] {
    const { origin } = this.request.headers;
    return [
      ...commonHeaders(this.requestId),
      ...headersForOrigin(origin, this.#frontEnd.allows, this.#exposedHeaders),
    ];
  }

  /** While the service is stopping, the connection ends with the answer; with an unwanted body, at the end of that. */
  #endConnectionIfClosing(): void {
    if (this.#endsConnection || !this.#frontEnd.isClosing) return;
    this.#endsConnection = true;
    this.response.shouldKeepAlive = false;
  }
}

/**
 * Makes sure that a request has one Host header, as HTTP/1.1 requires; HTTP/1.0 permits none. With two, a proxy and the
 * service might use different ones.
 * @throws WireError BAD_REQUEST
 */
export function requireOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  throw new WireError('BAD_REQUEST', 'Send exactly one Host header');
}

/** An address as some proxies write it: possibly with a port, and an IPv6 address in brackets. */
const WITH_PORT = /^(?:([\d.]+)|\[([^\]]*)\])(?::\d{1,5})?$/;

/** Determines the origin of a request. */
export type CallerOf = (request: IncomingMessage, requestId: string) => Caller;

/** @param proxies addresses or networks of proxies whose X-Forwarded-For is trusted */
function createCallerOf(proxies: readonly string[], log: Logger): CallerOf {
  const trusted = proxyAddress.compile([...proxies]);
  let hasWarned = false;

  // Logged once: anybody may send the header, and behind an unlisted proxy every request has it.
  const warnOf = (peer: string): void => {
    if (hasWarned || trusted(peer, 0)) return;
    hasWarned = true;
    log.warn(
      { peer },
      'a request has an X-Forwarded-For header, but its sender is not in TRUSTED_PROXIES: if it is your proxy, add it there; until then, all callers behind it count as one',
    );
  };

  const addressOf = ({ headers, socket }: IncomingMessage): string => {
    const peer = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return peer;
    warnOf(peer);
    // Each proxy adds the address of its sender at the end.
    const addresses = [...addressesIn(String(forwarded)), peer].reverse();
    return addresses.find((each, at) => !trusted(each, at)) ?? addresses.at(-1) ?? peer;
  };

  return (request, requestId) => ({
    requestId,
    since: performance.now(),
    address: addressOf(request),
    host: request.headers.host ?? null,
    userAgent: request.headers['user-agent'] ?? null,
    authorization: request.headers.authorization ?? null,
  });
}

/** The addresses in an X-Forwarded-For header, without ports, which differ for each connection of a caller. */
function addressesIn(header: string): string[] {
  const addresses = header.split(',').map((each) => each.trim().replace(WITH_PORT, '$1$2'));
  return addresses.filter((address) => address !== '');
}
