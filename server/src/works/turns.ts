import type { IncidentType } from '@gantry/contract/incidents';
import { type WorksAction, type WorksKind, worksStateAfter } from '@gantry/contract/work-states';
import type { NamedPerson } from '../accounts/names-store.ts';
import { rankOf } from '../events/severity.ts';
import { openForWorks, resolveForWorks } from '../incidents/from-works.ts';
import type { Core } from '../platform/context.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import type { Outbox } from '../realtime/publish.ts';
import { setStatusOf } from '../sensors/status.ts';
import { lockStatuses } from '../sensors/status-store.ts';
import { turnAt } from './schedule.ts';
import { claimDue, scheduleOf, showOne, updateWorksRow, type WorksRow } from './store.ts';
import {
  deleteMaintained,
  endActive,
  insertActive,
  insertMaintained,
  insertMissed,
  listMaintainedByOthers,
} from './windows-store.ts';

// What begins and ends with the windows of works. Each turn is one transaction with all of its effects.

export type TurnParts = Pick<Core, 'db' | 'log'> & { readonly outbox: Outbox };

/** Maximum number of turns of one round; others follow in the next one. */
const MAX_TURNS = 500;

/** Takes all turns that are due, those that others do not take. Works that fail do not hold up the others. */
export async function takeTurns(parts: TurnParts, isOver: () => boolean): Promise<void> {
  const failed: string[] = [];
  for (let taken = 0; taken < MAX_TURNS && !isOver(); taken++) {
    let id: string | undefined;
    try {
      const isDone = await inTransaction(parts.db, async (tx) => {
        const row = await claimDue(tx, failed);
        id = row?.id;
        if (row) await takeTurn(parts, tx, row);
        return !row;
      });
      if (isDone) return;
    } catch (err) {
      if (id === undefined) throw err;
      failed.push(id);
      parts.log.error(
        { err, worksId: id },
        'the turn of planned works failed; the next round will try again',
      );
    }
  }
}

async function takeTurn(parts: TurnParts, tx: Transaction, row: WorksRow): Promise<void> {
  const { state, windowFrom, windowUntil } = row;
  if ((state !== 'APPROVED' && state !== 'ACTIVE') || !windowFrom || !windowUntil)
    throw new Error(`Works that are ${state} wait for a turn`);
  const now = await readDatabaseTime(tx);
  const window = { from: windowFrom.getTime(), until: windowUntil.getTime() };
  const turn = turnAt({ ...scheduleOf(row), state, window }, now);
  if (!turn) throw new Error('Works wait for a turn that is not due');
  const { action, missed, next } = turn;
  const to = worksStateAfter(action, state);
  if (!to) throw new Error(`Works that are ${state} cannot ${action}`);
  await insertMissed(tx, row.id, missed);
  if (action === 'begin') await beginWindow(parts, tx, row, window, new Date(now));
  else if (state === 'ACTIVE') await endWindow(parts, tx, row, 'ENDED', new Date(now));
  const after = await updateWorksRow(
    tx,
    row.id,
    {
      state: to,
      windowFrom: next && new Date(next.from),
      windowUntil: next && new Date(next.until),
      nextAt: next && new Date(to === 'ACTIVE' ? next.until : next.from),
    },
    'clock',
  );
  await publishWorks(tx, action, after, null);
  parts.log.info({ worksId: row.id, action, missed: missed.length }, 'planned works took a turn');
}

/** Tells subscribers how works are now. */
export async function publishWorks(
  tx: Transaction,
  action: WorksAction,
  row: WorksRow,
  by: NamedPerson | null,
): Promise<void> {
  const body = { action, works: await showOne(tx, row), by, at: row.updatedAt };
  await recordChanges(tx, [{ topic: 'works', body }]);
}

const typeOf: Readonly<Record<WorksKind, IncidentType>> = {
  ROADWORKS: 'ROADWORKS',
  CLOSURE: 'OBSTRUCTION',
  EVENT: 'OTHER',
  MAINTENANCE: 'ROADWORKS',
};

async function beginWindow(
  app: TurnParts,
  tx: Transaction,
  row: WorksRow,
  window: Interval,
  at: Date,
): Promise<void> {
  await beginMaintenance(app, tx, row);
  const { title, description, kind, locationId, lanes, proposedBy } = row;
  const closed = lanes?.filter((lane) => lane === 'CLOSED').length ?? null;
  const incidentId = row.opensIncident
    ? await openForWorks(app, tx, row.id, {
        ...{ title, description, type: typeOf[kind], severity: rankOf('LOW'), locationId },
        ...{ location: coordinatesOf(row), lanesBlocked: closed, reportedBy: proposedBy },
      })
    : null;
  await insertActive(tx, row.id, window, { at, incidentId });
}

/** Ends the window in force: its incident is resolved, and sensors get the status that they had. */
export async function endWindow(
  app: { readonly outbox: Outbox },
  tx: Transaction,
  row: WorksRow,
  state: 'ENDED' | 'CANCELLED',
  at: Date,
): Promise<void> {
  await endMaintenance(app, tx, row);
  const incidentId = await endActive(tx, row.id, state, at);
  if (incidentId) await resolveForWorks(app, tx, row.id, incidentId);
}

function coordinatesOf({ geometry }: WorksRow) {
  if (!geometry) return null;
  const [longitude, latitude] =
    geometry.type === 'Point' ? geometry.coordinates : (geometry.coordinates[0] ?? []);
  return longitude === undefined || latitude === undefined ? null : { latitude, longitude };
}

/**
 * Sets sensors to MAINTENANCE. They are locked before what other works did to them is read, so that works with sensors in
 * common take their turns one after another. A sensor that is in maintenance by hand stays so afterwards.
 */
async function beginMaintenance(
  app: { readonly outbox: Outbox },
  tx: Transaction,
  row: WorksRow,
): Promise<void> {
  if (row.sensorIds.length === 0) return;
  const known = await lockStatuses(tx, row.sensorIds);
  const others = await listMaintainedByOthers(tx, row.id, row.sensorIds);
  const ofOthers = new Map(others.map((each) => [each.sensorId, each]));
  const wanted = known.map(({ sensorId, since }) => ({ sensorId, since, to: 'MAINTENANCE' as const }));
  const setAt = await setStatusOf(app, tx, wanted, `maintenance: ${row.title}`);
  const maintained = known.map(({ sensorId, status, since }) => {
    const other = ofOthers.get(sensorId);
    const isSame = other?.setAt === since.toISOString();
    return {
      sensorId,
      statusBefore: isSame ? other.statusBefore : status,
      setAt: (setAt.get(sensorId) ?? since).toISOString(),
    };
  });
  await insertMaintained(tx, row.id, maintained);
}

/** Gives sensors the status that they had, unless somebody has changed it, or other works still need them. */
async function endMaintenance(
  app: { readonly outbox: Outbox },
  tx: Transaction,
  row: WorksRow,
): Promise<void> {
  if (row.sensorIds.length === 0) return;
  await lockStatuses(tx, row.sensorIds);
  const maintained = await deleteMaintained(tx, row.id);
  const others = await listMaintainedByOthers(
    tx,
    row.id,
    maintained.map(({ sensorId }) => sensorId),
  );
  const needed = new Set(others.map(({ sensorId }) => sensorId));
  const over = maintained.filter(({ sensorId }) => !needed.has(sensorId));
  const wanted = over.map(({ sensorId, statusBefore: to, setAt }) => ({
    sensorId,
    since: new Date(setAt),
    to,
  }));
  await setStatusOf(app, tx, wanted, `maintenance over: ${row.title}`);
}
