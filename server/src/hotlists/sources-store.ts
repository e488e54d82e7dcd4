import type { HotlistSource } from '@gantry/contract/hotlists';
import { sql } from 'drizzle-orm';
import type { HotlistSourceState } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** A list whose source is to be looked into. */
export interface DueSource {
  readonly id: string;
  readonly source: HotlistSource;
  readonly state: HotlistSourceState | null;
}

type SourceRow = { [Field in keyof DueSource]: DueSource[Field] };

/** The lists whose folders this process looks into, and those whose addresses are due, which it takes for their interval. */
export async function claimSources(db: Executor): Promise<{ due: DueSource[]; any: boolean }> {
  const { rows } = await db.execute<SourceRow>(sql`
    SELECT id, source, source_state AS state FROM hotlists WHERE source IS NOT NULL AND is_active AND deleted_at IS NULL`);
  if (rows.length === 0) return { due: [], any: false };
  // A list that was created since the first statement may be claimed, too, so this one returns what it needs.
  const { rows: claimed } = await db.execute<SourceRow>(sql`
    UPDATE hotlists SET source_due_at = now() + make_interval(mins => (source ->> 'everyMinutes')::integer)
    WHERE source ->> 'type' = 'URL' AND is_active AND deleted_at IS NULL AND source_due_at <= now()
    RETURNING id, source, source_state AS state`);
  return { due: [...rows.filter(({ source }) => source.type === 'FOLDER'), ...claimed], any: true };
}

/** Makes the source of a list due at once that this process took and did not read. */
export async function releaseSource(db: Executor, hotlistId: string): Promise<void> {
  await db.execute(
    sql`UPDATE hotlists SET source_due_at = now() WHERE id = ${hotlistId}::uuid AND source ->> 'type' = 'URL'`,
  );
}

/** Whether a file of the source is being read or applied: the next one waits for it. */
export async function hasSourceImports(db: Executor, hotlistId: string): Promise<boolean> {
  const { rows } = await db.execute(sql`
    SELECT FROM hotlist_imports WHERE hotlist_id = ${hotlistId}::uuid AND state IN ('STAGING', 'APPLYING') LIMIT 1`);
  return rows.length > 0;
}

/** Records what is known of a source, if that has changed. */
export async function noteSource(db: Executor, hotlistId: string, state: HotlistSourceState): Promise<void> {
  await db.execute(sql`
    UPDATE hotlists SET source_state = ${JSON.stringify(state)}::jsonb
    WHERE id = ${hotlistId}::uuid AND source_state IS DISTINCT FROM ${JSON.stringify(state)}::jsonb`);
}
