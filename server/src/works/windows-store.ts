import { setImmediate } from 'node:timers/promises';
import type { SensorStatus } from '@gantry/contract/sensors';
import {
  type ListWindowsInput,
  MAX_WINDOWS,
  type WorksDetail,
  type WorksWindow,
} from '@gantry/contract/works';
import { and, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm';
import { locations, works, worksWindows } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { findOnMap } from './places-store.ts';
import { windowsAfter } from './schedule.ts';
import { scheduleOf, type WorksRow } from './store.ts';

// The windows of works: those that began or passed are stored, those to come are computed.

const toDates = ({ from, until }: Interval) => ({ startsAt: new Date(from), endsAt: new Date(until) });

/** Records that a window began. */
export async function insertActive(
  tx: Transaction,
  worksId: string,
  window: Interval,
  { at, incidentId }: { readonly at: Date; readonly incidentId: string | null },
): Promise<void> {
  await tx
    .insert(worksWindows)
    .values({ worksId, ...toDates(window), state: 'ACTIVE', beganAt: at, incidentId });
}

/** Records windows that passed without having started. */
export async function insertMissed(
  tx: Transaction,
  worksId: string,
  windows: readonly Interval[],
): Promise<void> {
  if (windows.length === 0) return;
  await tx
    .insert(worksWindows)
    .values(windows.map((window) => ({ worksId, ...toDates(window), state: 'MISSED' as const })));
}

/** Ends the window that is in force. @returns its incident, if it has one */
export async function endActive(
  tx: Transaction,
  worksId: string,
  state: 'ENDED' | 'CANCELLED',
  at: Date,
): Promise<string | null> {
  const [row] = await tx
    .update(worksWindows)
    .set({ state, endedAt: at })
    .where(and(eq(worksWindows.worksId, worksId), eq(worksWindows.state, 'ACTIVE')))
    .returning({ incidentId: worksWindows.incidentId });
  return row?.incidentId ?? null;
}

/** The end of the window that is in force becomes another one. */
export async function moveEndOfActive(tx: Transaction, worksId: string, until: Date): Promise<void> {
  await tx
    .update(worksWindows)
    .set({ endsAt: until })
    .where(and(eq(worksWindows.worksId, worksId), eq(worksWindows.state, 'ACTIVE')));
}

/** A sensor that is in maintenance because of works. */
export interface MaintainedSensor extends Record<string, unknown> {
  readonly sensorId: string;
  readonly statusBefore: SensorStatus;
  /** ISO 8601. */
  readonly setAt: string;
}

const MAINTAINED = sql.raw(`sensor_id AS "sensorId", status_before AS "statusBefore",
  to_char(set_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "setAt"`);

/** The sensors that are in maintenance because of other works. */
export async function listMaintainedByOthers(
  tx: Transaction,
  worksId: string,
  ids: readonly string[],
): Promise<MaintainedSensor[]> {
  const { rows } = await tx.execute<MaintainedSensor>(sql`
    SELECT DISTINCT ON (sensor_id) ${MAINTAINED} FROM works_sensors
    WHERE sensor_id = ANY (${sql.param([...ids])}::uuid[]) AND works_id <> ${worksId}::uuid
    ORDER BY sensor_id, set_at DESC`);
  return rows;
}

export async function insertMaintained(
  tx: Transaction,
  worksId: string,
  sensors: readonly MaintainedSensor[],
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO works_sensors (works_id, sensor_id, status_before, set_at)
    SELECT ${worksId}::uuid, "sensorId", "statusBefore", "setAt"
    FROM jsonb_to_recordset(${JSON.stringify(sensors)}::jsonb)
      AS given ("sensorId" uuid, "statusBefore" text, "setAt" timestamptz)`);
}

export async function deleteMaintained(tx: Transaction, worksId: string): Promise<MaintainedSensor[]> {
  const { rows } = await tx.execute<MaintainedSensor>(
    sql`DELETE FROM works_sensors WHERE works_id = ${worksId}::uuid RETURNING ${MAINTAINED}`,
  );
  return rows;
}

/** Numbers of windows in the detail of works. */
const LAST_WINDOWS = 50;
const NEXT_WINDOWS = 10;

/** What says when works are in force, without what may be long, such as their geometry. */
const SCHEDULED = {
  id: works.id,
  state: works.state,
  startsAt: works.startsAt,
  endsAt: works.endsAt,
  timezone: works.timezone,
  recurrence: works.recurrence,
  windowFrom: works.windowFrom,
  windowUntil: works.windowUntil,
};
type ScheduledWorks = Pick<WorksRow, keyof typeof SCHEDULED>;

/** Number of works whose windows are computed before other requests get a turn. */
const WORKS_A_TURN = 100;

/** From when on the windows of works are to come: the others are stored, or were before they were approved. */
function comingSince({ state, windowFrom, windowUntil }: ScheduledWorks, now: number): number | null {
  if (state === 'DRAFT') return now;
  if (state === 'APPROVED') return windowFrom?.getTime() ?? now;
  return state === 'ACTIVE' ? (windowUntil?.getTime() ?? now) : null;
}

/** The windows of works that are to come and end after a time, in order. @param now Unix milliseconds */
function* comingWindows(row: ScheduledWorks, now: number, after = -Infinity): Generator<Interval> {
  const since = comingSince(row, now);
  if (since !== null) yield* windowsAfter(scheduleOf(row), Math.max(since, after));
}

/** The last windows of works, and the next ones. @param now Unix milliseconds */
export async function listWindowsOf(
  db: Executor,
  row: WorksRow,
  now: number,
): Promise<WorksDetail['windows']> {
  const stored = await db
    .select()
    .from(worksWindows)
    .where(eq(worksWindows.worksId, row.id))
    .orderBy(desc(worksWindows.id))
    .limit(LAST_WINDOWS);
  const coming: Interval[] = [];
  for (const window of comingWindows(row, now)) {
    if (coming.length === NEXT_WINDOWS) break;
    coming.push(window);
  }
  return [
    ...stored.reverse().map(({ startsAt, endsAt, state, beganAt, endedAt, incidentId }) => ({
      ...{ from: startsAt, until: endsAt, state, beganAt, endedAt, incidentId },
    })),
    ...coming.map(({ from, until }) => ({
      ...{ from: new Date(from), until: new Date(until), state: 'PLANNED' as const },
      ...{ beganAt: null, endedAt: null, incidentId: null },
    })),
  ];
}

/** The windows of all works that overlap a range, in the order of their starts. @param now Unix milliseconds */
export async function listWindows(
  db: Executor,
  { from, until }: Interval,
  { drafts, onMap = false }: Pick<ListWindowsInput, 'drafts'> & Partial<Pick<ListWindowsInput, 'onMap'>>,
  now: number,
): Promise<{ windows: WorksWindow[]; hasMore: boolean }> {
  const stored = await readStored(db, { from, until });
  const found: FoundWindow[] = stored.map(({ worksId, startsAt, endsAt, state, incidentId }) => ({
    ...{ worksId, from: startsAt.getTime(), until: endsAt.getTime(), state, incidentId },
  }));
  const scheduled = await db
    .select(SCHEDULED)
    .from(works)
    .where(
      and(
        inArray(works.state, drafts ? ['DRAFT', 'APPROVED', 'ACTIVE'] : ['APPROVED', 'ACTIVE']),
        lt(works.startsAt, new Date(until)),
        gt(works.endsAt, new Date(from)),
      ),
    );
  for (const [n, row] of scheduled.entries()) {
    if (n > 0 && n % WORKS_A_TURN === 0) await setImmediate();
    for (const window of comingWindows(row, now, from)) {
      if (window.from >= until) break;
      found.push({ ...window, worksId: row.id, state: 'PLANNED', incidentId: null });
    }
  }
  found.sort((a, b) => a.from - b.from || (a.worksId < b.worksId ? -1 : 1));
  const shown = found.slice(0, MAX_WINDOWS);
  const rows = await readWorks(db, [...new Set(shown.map(({ worksId }) => worksId))]);
  const onMapOf = onMap
    ? await findOnMap(
        db,
        rows.map(({ works: row }) => row),
      )
    : null;
  const byId = new Map(rows.map((each) => [each.works.id, each]));
  return {
    windows: shown.flatMap((window) => {
      const one = byId.get(window.worksId);
      return one ? [{ ...windowOf(one, window), ...(onMapOf && { onMap: onMapOf(one.works.id) }) }] : [];
    }),
    hasMore: found.length > MAX_WINDOWS,
  };
}

interface FoundWindow extends Interval {
  readonly worksId: string;
  readonly state: WorksWindow['state'];
  readonly incidentId: string | null;
}

function readStored(db: Executor, { from, until }: Interval) {
  return db
    .select()
    .from(worksWindows)
    .where(and(lt(worksWindows.startsAt, new Date(until)), gt(worksWindows.endsAt, new Date(from))))
    .orderBy(worksWindows.startsAt, worksWindows.id)
    .limit(MAX_WINDOWS + 1);
}

function readWorks(db: Executor, ids: string[]) {
  return db
    .select({ works, place: locations.name })
    .from(works)
    .leftJoin(locations, eq(locations.id, works.locationId))
    .where(inArray(works.id, ids));
}

function windowOf(
  { works: row, place }: { readonly works: WorksRow; readonly place: string | null },
  { from, until, state, incidentId }: FoundWindow,
): WorksWindow {
  const { id: worksId, title, kind, road, direction, fromKilometre, toKilometre } = row;
  return {
    ...{ worksId, title, kind, worksState: row.state, road, direction, fromKilometre, toKilometre, place },
    ...{ from: new Date(from), until: new Date(until), state, incidentId },
  };
}
