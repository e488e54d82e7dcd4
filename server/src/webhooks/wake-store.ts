import { type SQL, sql } from 'drizzle-orm';
import { addJob } from '../platform/jobs/jobs-store.ts';

/** The last part of a statement: adds a job for each row `(webhook_id, due_at)` of the query, which then looks what is due. */
export const addWakeUps = (of: SQL): SQL => sql`
  SELECT count(${addJob('deliver-webhooks', sql`json_build_object('webhookId', webhook_id)`, sql`due_at`)})
  FROM (${of}) AS waking`;
