import { isPlainDate } from '@gantry/contract/time';
import { UNDO_MINUTES } from '@gantry/contract/values';
import type {
  AcknowledgeAlertInput,
  CreateWatchlistEntryInput,
  FollowAlertsInput,
  UpdateWatchlistEntryInput,
  WatchlistAlert,
  WatchlistEntry,
} from '@gantry/contract/watchlist';
import { type ActivityAction, recordActivity } from '../activity/store.ts';
import { EARLIEST_EVENT } from '../events/event-row.ts';
import { requireSeesPlates } from '../events/plate-access.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { resolveInterval, resolveTime } from '../platform/time.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { getAlert, setAcknowledged, setOpen } from './alerts-store.ts';
import type { WatchlistServices } from './start.ts';
import { deleteEntryRow, getEntry, insertEntry, updateEntryRow } from './store.ts';

// No event is later than this, or earlier than EARLIEST_EVENT, so bounds beyond these times need not be stored.
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

type WatchlistContext = ActorContext<Core & WatchlistServices>;

interface Validity {
  readonly validFrom: Date | null | undefined;
  readonly validUntil: Date | null | undefined;
}

/**
 * Adds an entry to the watchlist.
 * @throws AppError `badRequest` when it would end before it begins; `forbidden` for users who see no plates
 */
export async function createEntry(
  ctx: WatchlistContext,
  input: CreateWatchlistEntryInput,
): Promise<WatchlistEntry> {
  requireSeesPlates(ctx);
  const { validFrom = null, validUntil = null } = resolveValidity(input, ctx.app.settings.current().timezone);
  const fields = { ...input, validFrom, validUntil, createdBy: ctx.actor.id };
  return changeList(ctx, 'watchlist.create', (tx) => insertEntry(tx, fields));
}

/**
 * Sets the given fields. Alerts keep the values that the entry had when they were raised.
 * @throws AppError `notFound`; `badRequest` when it would end before it begins; `forbidden` for a pattern of users who see
 * no plates; `conflict` when somebody has changed it since the caller saw it
 */
export async function updateEntry(
  ctx: WatchlistContext,
  { id, expectedUpdatedAt, ...input }: UpdateWatchlistEntryInput,
): Promise<WatchlistEntry> {
  if (input.pattern !== undefined) requireSeesPlates(ctx);
  const { timezone } = ctx.app.settings.current();
  const changes = { ...input, ...resolveValidity(input, timezone) };
  const seenAt =
    expectedUpdatedAt === undefined ? undefined : new Date(resolveTime(expectedUpdatedAt, timezone));
  const change = async (tx: Transaction) => {
    const changed = await updateEntryRow(tx, id, { ...changes, updatedBy: ctx.actor.id, seenAt });
    if (changed) return changed;
    const { updatedBy, updatedAt } = await getEntry(tx, id);
    throw new AppError(
      'conflict',
      `${updatedBy?.name ?? 'Somebody'} changed this entry at ${updatedAt.toISOString()}: reload it before you change it`,
    );
  };
  return changeList(ctx, 'watchlist.update', change, { fields: givenFields(changes) });
}

/**
 * Deletes an entry. Its alerts stay.
 * @throws AppError `notFound`
 */
export async function deleteEntry(ctx: WatchlistContext, id: string): Promise<{ success: true; id: string }> {
  const gone = await changeList(ctx, 'watchlist.delete', (tx) => deleteEntryRow(tx, id));
  return { success: true, id: gone.id };
}

/**
 * Acknowledges an alert. If several users do so at the same time, one succeeds, and the others receive an error with
 * that user's name.
 * @throws AppError `notFound`; `conflict` when it was acknowledged before
 */
export function acknowledgeAlert(
  { app, actor, caller }: WatchlistContext,
  { id, note }: AcknowledgeAlertInput,
): Promise<WatchlistAlert> {
  return inTransaction(app.db, async (tx) => {
    const alert = await setAcknowledged(tx, id, actor.id, note);
    if (!alert) {
      const { acknowledgedBy, acknowledgedAt } = await getAlert(tx, id);
      throw new AppError(
        'conflict',
        `${acknowledgedBy?.name} acknowledged this alert at ${acknowledgedAt?.toISOString()}`,
      );
    }
    const details = { alertId: alert.id, entryId: alert.entryId, plate: alert.licensePlateNumber };
    await recordActivity(tx, actor.id, caller, 'watchlist.acknowledgeAlert', details);
    // Not sent to webhooks, whose receivers treat every message of this kind as a new alert.
    await recordChanges(tx, [{ topic: 'watchlist', body: alert }]);
    return alert;
  });
}

/**
 * Withdraws the user's acknowledgement of an alert. An alert that is open stays as it is.
 * @throws AppError `notFound`; `conflict` when somebody else acknowledged it, or when it is too late
 */
export function undoAcknowledgement(
  { app, actor, caller }: WatchlistContext,
  id: string,
): Promise<WatchlistAlert> {
  return inTransaction(app.db, async (tx) => {
    const opened = await setOpen(tx, id, actor.id, UNDO_MINUTES);
    if (!opened) {
      const alert = await getAlert(tx, id);
      if (alert.acknowledgedAt) throw undoRefusal(alert, actor.id);
      return alert;
    }
    const details = { alertId: opened.id, entryId: opened.entryId, plate: opened.licensePlateNumber };
    await recordActivity(tx, actor.id, caller, 'watchlist.undoAcknowledgeAlert', details);
    await recordChanges(tx, [{ topic: 'watchlist', body: opened }]);
    return opened;
  });
}

function undoRefusal({ acknowledgedBy, acknowledgedAt }: WatchlistAlert, userId: string): AppError {
  const who = acknowledgedBy?.name ?? 'Somebody else';
  const at = acknowledgedAt?.toISOString();
  return new AppError(
    'conflict',
    acknowledgedBy?.id === userId
      ? `This can be undone for ${UNDO_MINUTES} min, and you acknowledged this alert at ${at}`
      : `${who} acknowledged this alert at ${at}: only they can take it back`,
  );
}

function momentOf(time: number): Date {
  return new Date(Math.min(Math.max(time, EARLIEST_EVENT), LATEST));
}

/** The times of the bounds, the last one inclusive; null and undefined are returned unchanged. */
function resolveValidity(
  { validFrom, validUntil }: Pick<UpdateWatchlistEntryInput, keyof Validity>,
  zone: string,
): Validity {
  // Each bound separately: the result is checked once the stored bounds are known.
  const lastOf = (end: string): number =>
    isPlainDate(end) ? resolveInterval({ endDate: end }, zone).until - 1 : resolveTime(end, zone);
  return {
    validFrom: typeof validFrom === 'string' ? momentOf(resolveTime(validFrom, zone)) : validFrom,
    validUntil: typeof validUntil === 'string' ? momentOf(lastOf(validUntil)) : validUntil,
  };
}

/**
 * Changes the watchlist and records it. The change applies in this process when this resolves, in the others within a
 * second.
 * @throws AppError `badRequest` when it would leave an entry that ends before it begins
 */
async function changeList(
  { app, actor, caller }: WatchlistContext,
  action: ActivityAction,
  change: (tx: Transaction) => Promise<WatchlistEntry>,
  more: Record<string, unknown> = {},
): Promise<WatchlistEntry> {
  const changed = await inTransaction(app.db, async (tx) => {
    const entry = await change(tx);
    const { id: entryId, pattern, reason, validFrom, validUntil } = entry;
    if (validFrom && validUntil && validUntil < validFrom) {
      throw invalidInput(
        'validUntil',
        'validUntil is before validFrom: give a later time, or null for no end',
      );
    }
    await recordActivity(tx, actor.id, caller, action, { entryId, pattern, reason, ...more });
    await notify(tx, channels.watchlist, '');
    return entry;
  });
  await app.watchlist.refresh();
  return changed;
}

/** Streams alerts, of all entries or of one, and of all priorities or of one. @throws AppError as `follow` does */
export function followAlerts(
  ctx: FollowContext,
  { entryId, priority, lastEventId }: FollowAlertsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'watchlist'>> {
  const entry = entryId?.toLowerCase();
  const matches = (alert: WatchlistAlert): boolean =>
    (entry === undefined || alert.entryId === entry) &&
    (priority === undefined || alert.priority === priority);
  return follow(ctx, { topics: ['watchlist'], matches, lastEventId }, signal);
}
