import { type SQL, sql } from 'drizzle-orm';
import { QUEUE_SCHEMA } from './queue-schema.ts';

/** What the queue knows how to do. */
export type TaskName = 'deliver-webhooks' | 'generate-reports';

/**
 * A call, to be selected once for each row, that adds a job if and when the transaction commits.
 * @param runAt when it is due
 */
export const addJob = (task: TaskName, payload: SQL, runAt: SQL): SQL =>
  sql`${sql.identifier(QUEUE_SCHEMA)}.add_job(${task}, ${payload}, run_at => ${runAt})`;
