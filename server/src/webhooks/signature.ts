import { createHmac } from 'node:crypto';

/**
 * What proves to a receiver that the body is ours and was sent at that time: HMAC-SHA256 over `timestamp.body`.
 * @param timestamp Unix seconds
 */
export function signatureOf(secret: string, timestamp: number, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
