import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** Records that a counter was used with a nonce. @returns false if it, or a higher one, was used before */
export async function useNonce(
  db: Executor,
  nonce: string,
  counter: number,
  expiresAt: Date,
): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    INSERT INTO digest_nonces AS known (nonce, used, expires_at)
    VALUES (${nonce}, ${counter}, ${expiresAt.toISOString()}::timestamptz)
    ON CONFLICT (nonce) DO UPDATE SET used = excluded.used WHERE known.used < excluded.used`);
  return (rowCount ?? 0) > 0;
}

/** Removes nonces that cannot be used any more. @returns their number */
export async function removeExpiredNonces(db: Executor, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM digest_nonces WHERE nonce IN (
      SELECT nonce FROM digest_nonces WHERE expires_at < now() ORDER BY expires_at LIMIT ${most})`);
  return rowCount ?? 0;
}
