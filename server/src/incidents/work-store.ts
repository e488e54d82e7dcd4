import { isUuid } from '@gantry/contract/id';
import { type SettableTime, settableTimes } from '@gantry/contract/incident-states';
import { MAX_LANE_HISTORY } from '@gantry/contract/incident-work';
import { asc, desc, eq, inArray, sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import { incidents, incidentWork, laneStates } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Lanes, Times } from './times.ts';

type StoredWork = typeof incidentWork.$inferSelect;
/** What is recorded of the work on an incident, apart from its times. */
export type WorkFields = Omit<StoredWork, 'incidentId' | 'timesSet' | SettableTime>;

/** The work on an incident. Times are in Unix milliseconds. */
export interface Work extends WorkFields {
  /** The times that people have set. */
  readonly set: Times;
  /** Those with the derived ones and the opening, all in order. */
  readonly times: Times;
}

const NOTHING: WorkFields = {
  isFalseAlarm: false,
  injured: null,
  hazardous: null,
  heavyVehicle: null,
  responderStruck: null,
  secondaryOf: null,
  mergedInto: null,
  planId: null,
  planVersion: null,
};

/** The work on an incident; before anything is recorded, only its opening is known. */
export async function readWork(
  db: Executor,
  { id, openedAt }: { readonly id: string; readonly openedAt: Date },
): Promise<Work> {
  const [row] = await db.select().from(incidentWork).where(eq(incidentWork.incidentId, id));
  const opening = { openedAt: openedAt.getTime() };
  if (!row) return { ...NOTHING, set: {}, times: opening };
  const { incidentId: _, timesSet, ...fields } = row;
  const set = Object.entries(timesSet).map(([name, at]) => [name, Date.parse(at)]);
  const times = settableTimes.flatMap((name) => {
    const at = row[name];
    return at === null ? [] : [[name, at.getTime()] as const];
  });
  return { ...fields, set: Object.fromEntries(set), times: { ...opening, ...Object.fromEntries(times) } };
}

/** Stores the work on an incident, which is locked. */
export async function saveWork(
  tx: Transaction,
  incidentId: string,
  { set, times, ...fields }: Work,
): Promise<void> {
  const dateOf = (of: Times, name: SettableTime): Date | null => {
    const at = of[name];
    return at === undefined ? null : new Date(at);
  };
  const timesSet = Object.fromEntries(
    settableTimes.flatMap((name) => {
      const at = dateOf(set, name);
      return at === null ? [] : [[name, at.toISOString()]];
    }),
  );
  const moments = Object.fromEntries(settableTimes.map((name) => [name, dateOf(times, name)]));
  const values = { ...pickFields(fields), timesSet, ...moments };
  await tx
    .insert(incidentWork)
    .values({ incidentId, ...values })
    .onConflictDoUpdate({ target: incidentWork.incidentId, set: values });
}

/** An incident that is reopened is no false alarm any more. */
export async function takeBackRejection(tx: Transaction, incidentId: string): Promise<void> {
  await tx.update(incidentWork).set({ isFalseAlarm: false }).where(eq(incidentWork.incidentId, incidentId));
}

function pickFields(fields: WorkFields): WorkFields {
  const names = Object.keys(NOTHING) as (keyof WorkFields)[];
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as unknown as WorkFields;
}

export type LaneRow = Omit<typeof laneStates.$inferSelect, 'id' | 'incidentId'>;

const laneColumns = {
  at: laneStates.at,
  userId: laneStates.userId,
  direction: laneStates.direction,
  lanes: laneStates.lanes,
  shoulder: laneStates.shoulder,
};

/** Adds how the lanes of a carriageway are from a time on. */
export async function insertLanes(tx: Transaction, incidentId: string, row: LaneRow): Promise<void> {
  await tx.insert(laneStates).values({ incidentId, ...row });
}

/** The last changes of lanes, in the order in which they were entered. */
export async function listLaneHistory(db: Executor, incidentId: string): Promise<LaneRow[]> {
  const rows = await db
    .select(laneColumns)
    .from(laneStates)
    .where(eq(laneStates.incidentId, incidentId))
    .orderBy(desc(laneStates.id))
    .limit(MAX_LANE_HISTORY);
  return rows.reverse();
}

/** How the lanes of each carriageway are now, by direction. */
export async function listLanes(db: Executor, incidentId: string): Promise<LaneRow[]> {
  return db
    .selectDistinctOn([laneStates.direction], laneColumns)
    .from(laneStates)
    .where(eq(laneStates.incidentId, incidentId))
    .orderBy(asc(laneStates.direction), desc(laneStates.id));
}

/** All changes of lanes, for the times that follow from them. */
export async function readLanes(tx: Executor, incidentId: string): Promise<Lanes[]> {
  const rows = await tx
    .select(laneColumns)
    .from(laneStates)
    .where(eq(laneStates.incidentId, incidentId))
    .orderBy(asc(laneStates.id));
  return rows.map(({ direction, lanes, at }) => ({ direction, lanes, at: at.getTime() }));
}

/** An incident as others refer to it. */
export interface IncidentLink {
  readonly id: string;
  readonly title: string;
}

/** The incidents with these ids. */
export async function findLinks(db: Executor, ids: readonly string[]): Promise<Map<string, IncidentLink>> {
  const wanted = ids.filter(isUuid);
  if (wanted.length === 0) return new Map();
  const { id, title } = incidents;
  const rows = await db.select({ id, title }).from(incidents).where(inArray(id, wanted));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Maximum number of incidents that are shown with one. */
const MAX_LINKED = 50;

/** The incidents that are a consequence of this one, or were merged into it, by opening. */
export function listLinked(
  db: Executor,
  incidentId: string,
  by: 'secondaryOf' | 'mergedInto',
): Promise<IncidentLink[]> {
  return db
    .select({ id: incidents.id, title: incidents.title })
    .from(incidentWork)
    .innerJoin(incidents, eq(incidents.id, incidentWork.incidentId))
    .where(eq(incidentWork[by], incidentId))
    .orderBy(asc(incidents.openedAt), asc(incidents.id))
    .limit(MAX_LINKED);
}

/** Whether an incident is another one, or a consequence of it, directly or through others. */
export async function isConsequence(tx: Transaction, id: string, of: string): Promise<boolean> {
  const { rows } = await tx.execute<{ found: boolean }>(sql`
    WITH RECURSIVE causes (id) AS (
      SELECT ${id}::uuid
      UNION SELECT secondary_of FROM causes JOIN incident_work ON incident_id = causes.id WHERE secondary_of IS NOT NULL
    )
    SELECT ${of}::uuid IN (SELECT id FROM causes) AS found`);
  return rows[0]?.found === true;
}

/** Locks incidents in the order of their ids, so that transactions with several in common cannot deadlock. */
export async function lockIncidents(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx
    .select({ id: incidents.id })
    .from(incidents)
    .where(inArray(incidents.id, ids.filter(isUuid)))
    .orderBy(asc(incidents.id))
    .for('no key update');
}

/** The incident into which this one was merged; null if it was not. */
export async function findMergedInto(db: Executor, incidentId: string): Promise<IncidentLink | null> {
  const [row] = await db
    .select({ id: incidents.id, title: incidents.title })
    .from(incidentWork)
    .innerJoin(incidents, eq(incidents.id, incidentWork.mergedInto))
    .where(eq(incidentWork.incidentId, incidentId));
  return row ?? null;
}

/** Excludes other transactions that link incidents, until this one ends. Call it after incidents are locked. */
export async function lockLinks(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.incidentLinks})`);
}
