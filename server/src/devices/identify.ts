import type { IncomingMessage } from 'node:http';
import { formatNamed } from '@gantry/device-formats';
import type { GatewayApp } from './context.ts';
import type { DigestNonces } from './digest.ts';
import { checkDigest, digestChallenges, parseDigest } from './digest.ts';
import { hashOf, isToken, REALM } from './secrets.ts';
import type { KnownConnection } from './store.ts';
import type { GatewayTarget } from './target.ts';

/** The sender of a request, or how the request is refused. */
/** A sender that is not known, and how it is refused. */
export interface Unidentified {
  readonly status: 401 | 404;
  readonly challenges: readonly string[];
  readonly isGuess: boolean;
}

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
