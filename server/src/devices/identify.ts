import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { formatNamed } from '@gantry/device-formats';
import type { GatewayApp } from './context.ts';
import { checkDigest, type DigestNonces, digestChallenges, parseDigest } from './digest.ts';
import { hashOf, isToken, REALM } from './secrets.ts';
import type { KnownConnection } from './store.ts';
import type { GatewayTarget } from './target.ts';

/** A sender that is not known, and how it is refused. */
export interface Unidentified {
  readonly status: 401 | 404;
  readonly challenges: readonly string[];
  readonly isGuess: boolean;
}

/** The sender of a request, or how the request is refused. */
export type Identified = { readonly connection: KnownConnection } | Unidentified;

type IdentifyingApp = Pick<GatewayApp, 'connections'>;

/**
 * The sender of a request by its request line and headers; null when they do not identify the sender, so that the
 * body must.
 * @throws AppError `unavailable` when the database is unavailable
 */
export async function identifyByHead(
  app: IdentifyingApp,
  nonces: DigestNonces,
  target: GatewayTarget,
  request: IncomingMessage,
): Promise<Identified | null> {
  const admitted = (connection: KnownConnection | null): Identified | null =>
    connection && target.formats.includes(connection.format) ? { connection } : null;
  const unknown = (isGuess = true, stale = false): Identified => challenge(nonces, target, isGuess, stale);

  if (target.token !== null) {
    const found = admitted(await app.connections.byToken(target.token));
    return found ?? { status: 404, challenges: [], isGuess: true };
  }
  const key = headerOf(request, 'x-api-key') ?? headerOf(request, 'x-auth-key');
  if (key !== null) return admitted(await byToken(app, key)) ?? unknown();
  const authorization = headerOf(request, 'authorization');
  if (authorization === null) return null;
  const [scheme = '', value = ''] = splitOnce(authorization.trim());
  switch (scheme.toLowerCase()) {
    case 'token':
    case 'bearer':
      return admitted(await byToken(app, value)) ?? unknown();
    case 'basic':
      return admitted(await byBasic(app, value)) ?? unknown();
    case 'digest': {
      const answer = parseDigest(value);
      const connection = answer && (await app.connections.byUsername(answer.username));
      if (!answer || !admitted(connection) || !connection) return unknown();
      const outcome = await checkDigest(nonces, connection, answer, request);
      if (outcome === 'accepted') return { connection };
      return unknown(outcome === 'wrong', outcome === 'stale');
    }
    default:
      return admitted(await byToken(app, authorization.trim())) ?? unknown();
  }
}

/**
 * The refusal of a request of an unknown sender, with the methods of authentication that the formats offer.
 * @param isGuess whether the request counts as a wrong guess
 * @param stale whether only the nonce must be replaced
 */
export function challenge(
  nonces: DigestNonces,
  { formats }: GatewayTarget,
  isGuess: boolean,
  stale = false,
): Unidentified {
  const methods = new Set(formats.flatMap((format) => formatNamed(format).authentication));
  const challenges = [
    ...(methods.has('digest') ? digestChallenges(nonces, stale) : []),
    ...(methods.has('basic') ? [`Basic realm="${REALM}", charset="UTF-8"`] : []),
  ];
  return { status: 401, challenges, isGuess };
}

async function byToken(app: IdentifyingApp, token: string): Promise<KnownConnection | null> {
  return isToken(token) ? app.connections.byToken(token) : null;
}

/** The connection of Basic credentials, whose password may be that of the connection or its token. */
async function byBasic(app: IdentifyingApp, value: string): Promise<KnownConnection | null> {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) return null;
  const connection = await app.connections.byUsername(text.slice(0, colon));
  const hash = hashOf(text.slice(colon + 1)).toString('hex');
  return connection && (hash === connection.passwordHash || hash === connection.tokenHash)
    ? connection
    : null;
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  const text = Array.isArray(value) ? value[0] : value;
  return text === undefined || text.trim() === '' ? null : text;
}

function splitOnce(text: string): [string, string] {
  const blank = text.search(/\s/);
  return blank === -1 ? [text, ''] : [text.slice(0, blank), text.slice(blank + 1).trim()];
}

/** How far the time of a signature may differ from the clock of the service, in seconds. A repeated message is signed again. */
const SIGNATURE_SECONDS = 300;

/** `<Unix seconds>|<hexadecimal HMAC-SHA256 of the body, a bar and the same seconds>`, as Verkada sends it. */
const SIGNATURE = /^\s*(\d{9,11})\|([0-9a-f]{64})\s*$/i;

/** The key in the body of OpenALPR: `"custom_data": {"API_KEY": "…"}`, also as JSON in a text. */
const BODY_KEY = /\\?"(?:API_KEY|api_key|apiKey)\\?"\s*:\s*\\?"([1-9A-Za-z]{24})\\?"/;

/**
 * Maximum size in bytes of a body that identifies its sender: a signature takes a hash of the body for each connection
 * of its format, a key one search. Senders with the token in the address may send larger ones.
 */
const MAX_BYTES = { signature: 64 * 1024, key: 1024 * 1024 };

/** How many signatures are computed before other requests have a turn. */
const SIGNATURES_AT_ONCE = 32;

/**
 * Whether the body of a request without credentials in its head may identify the sender: the size up to which it may, in
 * bytes; 0 if it cannot, so that it need not be read.
 */
export function identifyingBytes({ formats }: GatewayTarget, request: IncomingMessage, now: number): number {
  const sizes = formats.map((format) => {
    const { authentication } = formatNamed(format);
    if (authentication.includes('hmac')) return freshSignature(request, now) ? MAX_BYTES.signature : 0;
    return authentication.includes('body') ? MAX_BYTES.key : 0;
  });
  return Math.max(0, ...sizes);
}

/**
 * The sender of a request by its signature or by a key in its body; null when there is none.
 * @param body as it was sent, which is what is signed
 * @param plain the body without its compression
 */
export async function identifyByBody(
  app: Pick<GatewayApp, 'connections' | 'clock'>,
  { formats }: GatewayTarget,
  request: IncomingMessage,
  { body, plain }: { readonly body: Buffer; readonly plain: Buffer },
): Promise<KnownConnection | null> {
  for (const format of formats) {
    const { authentication } = formatNamed(format);
    const signature = authentication.includes('hmac') ? freshSignature(request, app.clock.now()) : null;
    if (signature) {
      for (const [n, connection] of app.connections.ofFormat(format).entries()) {
        if (n > 0 && n % SIGNATURES_AT_ONCE === 0) await setImmediate();
        if (isSigned(connection, signature, body)) return connection;
      }
    }
    if (authentication.includes('body')) {
      const key = BODY_KEY.exec(plain.toString('latin1'))?.[1];
      const connection = key && isToken(key) ? await app.connections.byToken(key) : null;
      if (connection && connection.format === format) return connection;
    }
  }
  return null;
}

interface Signature {
  /** Unix seconds, as they were sent */
  readonly seconds: string;
  readonly hash: Buffer;
}

/** The signature of a request; null without one, or if it cannot be read or its time is not the present. */
function freshSignature({ headers }: IncomingMessage, now: number): Signature | null {
  const [, seconds, hash] = SIGNATURE.exec(String(headers['verkada-signature'] ?? '')) ?? [];
  if (seconds === undefined || hash === undefined) return null;
  if (Math.abs(now / 1_000 - Number(seconds)) > SIGNATURE_SECONDS) return null;
  return { seconds, hash: Buffer.from(hash, 'hex') };
}

function isSigned({ signingKey }: KnownConnection, { seconds, hash }: Signature, body: Buffer): boolean {
  if (signingKey === null) return false;
  const expected = createHmac('sha256', signingKey).update(body).update(`|${seconds}`).digest();
  return timingSafeEqual(expected, hash);
}

/** Whether a request whose address identifies the sender has a wrong signature. */
export function isWronglySigned(
  connection: KnownConnection,
  request: IncomingMessage,
  body: Buffer,
  now: number,
): boolean {
  if (connection.signingKey === null || request.headers['verkada-signature'] === undefined) return false;
  const signature = freshSignature(request, now);
  return signature === null || !isSigned(connection, signature, body);
}
