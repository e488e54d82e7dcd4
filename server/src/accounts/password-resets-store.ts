import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../platform/database/transaction.ts';

const LIFETIME = sql.raw(`interval '1 hour'`);

interface NewReset {
  /** SHA-256 of the token in the link. */
  readonly tokenHash: string;
  readonly userId: string;
  /** The session epoch of the user: the link ends when their sessions do, as with another change of the password. */
  readonly epoch: number;
}

/** Stores a link, in place of earlier ones of the user. */
export async function insertReset(tx: Transaction, { tokenHash, userId, epoch }: NewReset): Promise<void> {
  await tx.execute(sql`DELETE FROM password_resets WHERE user_id = ${userId}::uuid`);
  await tx.execute(sql`
    INSERT INTO password_resets (token_hash, user_id, epoch, expires_at)
    VALUES (${tokenHash}, ${userId}::uuid, ${epoch}, now() + ${LIFETIME})`);
}

/** Whether there is a link with the hash that has not expired. */
export async function findReset(db: Executor, tokenHash: string): Promise<boolean> {
  const { rows } = await db.execute(
    sql`SELECT 1 FROM password_resets WHERE token_hash = ${tokenHash} AND expires_at > now()`,
  );
  return rows.length > 0;
}

/**
 * Takes a link, which can be done once, and locks its user.
 * @returns the id of the user; null when the link has expired, or the user was deactivated or changed their password since
 */
export async function takeReset(tx: Transaction, tokenHash: string): Promise<string | null> {
  const { rows } = await tx.execute<{ user_id: string; epoch: number }>(sql`
    DELETE FROM password_resets WHERE token_hash = ${tokenHash} AND expires_at > now() RETURNING user_id, epoch`);
  const [reset] = rows;
  if (!reset) return null;
  const { rows: users } = await tx.execute<{ id: string }>(sql`
    SELECT id FROM users WHERE id = ${reset.user_id}::uuid AND is_active AND session_epoch = ${reset.epoch}
    FOR NO KEY UPDATE`);
  return users[0]?.id ?? null;
}

/** Removes links that have expired. @returns the number of removed rows */
export async function pruneResets(db: Executor, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM password_resets WHERE token_hash IN (
      SELECT token_hash FROM password_resets WHERE expires_at < now() LIMIT ${most} FOR UPDATE SKIP LOCKED)`);
  return rowCount ?? 0;
}
