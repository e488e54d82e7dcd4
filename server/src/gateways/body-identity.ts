import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { formatNamed } from '../connections/formats.ts';
import { isToken } from '../connections/secrets.ts';
import type { KnownConnection } from '../connections/store.ts';
import type { GatewayApp } from './context.ts';
import type { GatewayTarget } from './target.ts';

/** How far the time of a signature may differ from the clock of the service, in seconds. A repeated message is signed again. */
const SIGNATURE_SECONDS = 300;

/** `<Unix seconds>|<hexadecimal HMAC-SHA256 of the body, a bar and the same seconds>`, as Verkada sends it. */
const SIGNATURE = /^\s*(\d{9,11})\|([0-9a-f]{64})\s*$/i;

/** The key in the body of OpenALPR: `"custom_data": {"API_KEY": "…"}`, also as JSON in a text. */
const BODY_KEY = /\\?"(?:API_KEY|api_key|apiKey)\\?"\s*:\s*\\?"([1-9A-Za-z]{24})\\?"/;

/** Whether a format of the target may identify the sender by the body. */
export function mayBeInBody({ formats }: GatewayTarget): boolean {
  return formats.some((format) => {
    const { authentication } = formatNamed(format);
    return authentication.includes('hmac') || authentication.includes('body');
  });
}

/** The sender of a request by its signature or by a key in its body; null when there is none. */
export async function identifyByBody(
  app: Pick<GatewayApp, 'connections' | 'clock'>,
  { formats }: GatewayTarget,
  request: IncomingMessage,
  body: Buffer,
): Promise<KnownConnection | null> {
  for (const format of formats) {
    const { authentication } = formatNamed(format);
    if (authentication.includes('hmac')) {
      const signer = app.connections
        .ofFormat(format)
        .find((connection) => isSigned(connection, request, body, app.clock.now()));
      if (signer) return signer;
    }
    if (authentication.includes('body')) {
      const key = BODY_KEY.exec(body.toString('latin1'))?.[1];
      const connection = key && isToken(key) ? await app.connections.byToken(key) : null;
      if (connection && connection.format === format) return connection;
    }
  }
  return null;
}

function isSigned(
  { signingKey }: KnownConnection,
  { headers }: IncomingMessage,
  body: Buffer,
  now: number,
): boolean {
  const [, seconds = '', signature = ''] = SIGNATURE.exec(String(headers['verkada-signature'] ?? '')) ?? [];
  if (signingKey === null || seconds === '') return false;
  if (Math.abs(now / 1_000 - Number(seconds)) > SIGNATURE_SECONDS) return false;
  const expected = createHmac('sha256', signingKey).update(body).update(`|${seconds}`).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

/** Whether a request whose address identifies the sender has a wrong signature. */
export function isWronglySigned(
  connection: KnownConnection,
  request: IncomingMessage,
  body: Buffer,
  now: number,
): boolean {
  return (
    connection.signingKey !== null &&
    request.headers['verkada-signature'] !== undefined &&
    !isSigned(connection, request, body, now)
  );
}
