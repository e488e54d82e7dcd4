import type { JudgeInput, Judgement } from '@gantry/contract/audit';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

/** The actions by which users were shown plates, or what may show them: searches, looks and downloads. */
const LOOKS = ['events.lookUpPlate', 'events.view', 'images.view', 'reports.download'];

/** A sample as it is stored, with counts of its entries. */
export interface SampleRow {
  readonly id: string;
  readonly drawnAt: string;
  readonly drawnBy: string;
  readonly from: string;
  readonly until: string;
  readonly seed: string;
  readonly population: number;
  readonly drawn: number;
  readonly judged: number;
  readonly unjustified: number;
}

const SAMPLES = sql`
  SELECT id, drawn_at AS "drawnAt", drawn_by AS "drawnBy", from_at AS from, until_at AS until, seed, population,
    counted.*
  FROM audit_samples CROSS JOIN LATERAL (
    SELECT count(*)::int AS drawn, count(latest.verdict)::int AS judged,
      (count(*) FILTER (WHERE latest.verdict = 'UNJUSTIFIED'))::int AS unjustified
    FROM audit_entries LEFT JOIN LATERAL (
      SELECT verdict FROM audit_judgements WHERE entry_id = audit_entries.entry_id ORDER BY id DESC LIMIT 1
    ) AS latest ON true
    WHERE sample_id = audit_samples.id
  ) AS counted`;

/**
 * Draws looks of an interval at random and stores them as a sample. A hash of the seed and the id decides, so the same
 * seed draws the same entries.
 * @returns the id of the sample; null if there are no looks
 */
export async function insertSample(
  tx: Executor,
  drawnBy: string,
  { from, until }: Interval,
  { n, seed }: { readonly n: number; readonly seed: string },
): Promise<string | null> {
  // Plan: activity_by_time.
  const { rows } = await tx.execute<{ id: string }>(sql`
    WITH looks AS (
      SELECT id FROM activity
      WHERE at >= ${moment(from)} AND at < ${moment(until)} AND action = ANY (${sql.param(LOOKS)}::text[])
    ), sample AS (
      INSERT INTO audit_samples (drawn_by, from_at, until_at, seed, population)
      SELECT ${drawnBy}::uuid, ${moment(from)}, ${moment(until)}, ${seed}, count(*) FROM looks HAVING count(*) > 0
      RETURNING id
    ), drawn AS (
      SELECT id, row_number() OVER (ORDER BY sha256(convert_to(${seed} || ' ' || id, 'UTF8')), id) AS position FROM looks
    ), stored AS (
      INSERT INTO audit_entries (sample_id, position, entry_id)
      SELECT sample.id, position, drawn.id FROM drawn, sample WHERE position <= ${n}
    )
    SELECT id FROM sample`);
  return rows[0]?.id ?? null;
}

/** One page of the samples, newest first. */
export async function listSamples(
  db: Executor,
  { skip, take }: { readonly skip: number; readonly take: number },
): Promise<Page<SampleRow>> {
  const { rows } = await db.execute<SampleRow & Record<string, unknown>>(
    sql`${SAMPLES} ORDER BY drawn_at DESC, id LIMIT ${take} OFFSET ${skip}`,
  );
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM audit_samples`,
  );
  return { items: rows, total: counted[0]?.total ?? 0 };
}

/** One sample; null when there is none. */
export async function findSample(db: Executor, id: string): Promise<SampleRow | null> {
  if (!isUuid(id)) return null;
  const { rows } = await db.execute<SampleRow & Record<string, unknown>>(
    sql`${SAMPLES} WHERE id = ${id}::uuid`,
  );
  return rows[0] ?? null;
}

/** The ids of the entries of a sample, in the order in which they were drawn. */
export async function listEntryIds(db: Executor, sampleId: string): Promise<number[]> {
  const { rows } = await db.execute<{ id: number }>(
    sql`SELECT entry_id AS id FROM audit_entries WHERE sample_id = ${sampleId}::uuid ORDER BY position`,
  );
  return rows.map(({ id }) => id);
}

/** Whether an entry is in a sample. */
export async function isDrawn(db: Executor, entryId: number): Promise<boolean> {
  const { rows } = await db.execute(
    sql`SELECT FROM audit_entries WHERE entry_id = ${entryId}::bigint LIMIT 1`,
  );
  return rows.length > 0;
}

/** A judgement with the entry that it is about. */
export interface JudgementRow extends Pick<Judgement, 'verdict' | 'note'> {
  readonly entryId: number;
  readonly by: string;
  readonly at: string;
}

/** The judgements of entries, oldest first. */
export async function listJudgements(db: Executor, entryIds: readonly number[]): Promise<JudgementRow[]> {
  const { rows } = await db.execute<JudgementRow & Record<string, unknown>>(sql`
    SELECT entry_id AS "entryId", verdict, note, judged_by AS by, judged_at AS at FROM audit_judgements
    WHERE entry_id = ANY (${sql.param(entryIds)}::bigint[]) ORDER BY id`);
  return rows;
}

/** Adds a judgement. */
export async function insertJudgement(
  tx: Executor,
  entryId: number,
  judgedBy: string,
  { verdict, note }: Pick<JudgeInput, 'verdict' | 'note'>,
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO audit_judgements (entry_id, verdict, note, judged_by)
    VALUES (${entryId}::bigint, ${verdict}, ${note}, ${judgedBy}::uuid)`);
}

/** The ids of entries that retention keeps: those of samples in which an entry was not judged yet. */
export const ENTRIES_UNDER_AUDIT: SQL = sql`(
  SELECT entry_id FROM audit_entries WHERE sample_id IN (
    SELECT sample_id FROM audit_entries AS drawn
    WHERE NOT EXISTS (SELECT FROM audit_judgements WHERE entry_id = drawn.entry_id)
  )
)`;
