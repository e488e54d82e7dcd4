import { sql } from 'drizzle-orm';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import type { ReportTime } from './messages-store.ts';

/** A report without a key of its maker. */
export interface UnkeyedReport extends Omit<ReportTime, 'keyHash'> {
  /** SHA-256 of the whole message and the position of the report in it, hexadecimal. */
  readonly bodyHash: string;
  /** Within how many milliseconds, before or after it, the same body is the same report. */
  readonly windowMs: number;
}

/**
 * Number of bytes of the hash of the body in a key. The time of receipt follows, so that a range of times is a range of
 * keys.
 */
const HASH_BYTES = 24;

/** Returns the first report with the same body within the window. If there is none, records this one and returns it. */
export async function firstRepetition(
  db: Database,
  report: UnkeyedReport,
): Promise<Omit<ReportTime, 'keyHash'>> {
  const { connectionId, bodyHash, believedAt, receivedAt, windowMs } = report;
  const hash = bodyHash.slice(0, 2 * HASH_BYTES);
  const keyAt = (time: number) => sql`decode(${`${hash}${time.toString(16).padStart(16, '0')}`}, 'hex')`;
  return inTransaction(db, async (tx) => {
    // The same message may be read by two processes at the same time.
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${connectionId} ${hash}`}, 0))`);
    const { rows } = await tx.execute<{ believed_at: number | null; received_at: number }>(sql`
      SELECT extract(epoch FROM believed_at)::float8 * 1000 AS believed_at,
        extract(epoch FROM received_at)::float8 * 1000 AS received_at
      FROM device_reports WHERE connection_id = ${connectionId}::uuid
        AND key_hash BETWEEN ${keyAt(Math.max(0, receivedAt - windowMs))} AND ${keyAt(receivedAt + windowMs)}
      ORDER BY key_hash LIMIT 1`);
    const [first] = rows;
    if (first) {
      return {
        connectionId,
        believedAt: first.believed_at === null ? null : Math.round(first.believed_at),
        receivedAt: Math.round(first.received_at),
      };
    }
    await tx.execute(sql`
      INSERT INTO device_reports (connection_id, key_hash, believed_at, received_at)
      VALUES (${connectionId}::uuid, ${keyAt(receivedAt)},
        to_timestamp(${believedAt === null ? null : believedAt / 1_000}::float8),
        to_timestamp(${receivedAt / 1_000}::float8))`);
    return { connectionId, believedAt, receivedAt };
  });
}
