import { createHmac } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import {
  type AddressRules,
  type AttemptResult,
  createOutbound,
  type OutboundLimits,
} from '../platform/outbound.ts';
import type { Attempt } from './deliveries-store.ts';

/** Makes one attempt. It never rejects: the result contains the reason of a failure. */
export type SendAttempt = (attempt: Attempt) => Promise<AttemptResult>;

/** @param now returns the time in Unix milliseconds, which is signed */
export function createSender(rules: AddressRules, now: () => number, limits?: OutboundLimits): SendAttempt {
  const send = createOutbound(rules, now, limits);
  return (attempt) => {
    const { url, body } = attempt;
    return send({ url, body, headers: headersOf(attempt, now()) });
  };
}

function headersOf({ id, kind, body, secret }: Attempt, now: number): OutgoingHttpHeaders {
  const timestamp = Math.floor(now / 1_000);
  return {
    'content-type': 'application/json',
    'x-gantry-delivery': id,
    'x-gantry-kind': kind,
    'x-gantry-timestamp': timestamp,
    'x-gantry-signature': signatureOf(secret, timestamp, body),
  };
}

/**
 * Proves to a receiver that Gantry sent this body at this time: HMAC-SHA256 over `timestamp.body`.
 * @param timestamp Unix seconds
 */
function signatureOf(secret: string, timestamp: number, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
