import { createHmac } from 'node:crypto';

/**
 * Proves to a receiver that Gantry sent this body at this time: HMAC-SHA256 over `timestamp.body`.
 * @param timestamp Unix seconds
 */
export function signatureOf(secret: string, timestamp: number, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
