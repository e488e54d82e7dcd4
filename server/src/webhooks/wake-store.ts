import { type SQL, sql } from 'drizzle-orm';
import { channels } from '../platform/database/notify.ts';

/**
 * The last part of a statement: when the transaction commits, every process looks for due deliveries of the webhooks in the
 * rows `(webhook_id)` of the query. PostgreSQL sends each webhook once for a transaction.
 */
export const addWakeUps = (of: SQL): SQL =>
  sql`SELECT count(pg_notify(${channels.deliveries}, webhook_id::text)) FROM (${of}) AS waking`;
