import {
  type CreateHotlistInput,
  type Hotlist,
  MAX_HOTLISTS,
  type UpdateHotlistInput,
} from '@gantry/contract/hotlists';
import { isUuid } from '@gantry/contract/id';
import { findNames } from '../accounts/names-store.ts';
import { getUser } from '../accounts/users-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { isUniqueViolation } from '../platform/database/failure.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { UnusableAddress } from '../platform/outbound.ts';
import { resolveTime } from '../platform/time.ts';
import { maySeeList } from '../watchlist/hits-store.ts';
import type { WatchlistServices } from '../watchlist/start.ts';
import type { WebhookServices } from '../webhooks/start.ts';
import { setNear } from './entries-store.ts';
import { signingKeyOf } from './import-files.ts';
import { requireFewForOneOff } from './room.ts';
import {
  countLists,
  deleteListRow,
  findList,
  getHotlist,
  insertList,
  type ListRow,
  lockIdleList,
  updateListRow,
} from './store.ts';

export type HotlistContext = ActorContext<Core & WatchlistServices & WebhookServices>;

/** @throws AppError `badRequest` when there are too many lists, a list has the name, or the owner or source cannot be used */
export async function createHotlist(ctx: HotlistContext, input: CreateHotlistInput): Promise<Hotlist> {
  const { app, actor, caller } = ctx;
  requireSource(ctx, input);
  const created = await named(() =>
    inTransaction(app.db, async (tx) => {
      if ((await countLists(tx)).lists >= MAX_HOTLISTS)
        throw new AppError('badRequest', `There are ${MAX_HOTLISTS} hotlists already: delete one first`);
      await requireOwner(tx, input.ownerId);
      const list = await findList(tx, null, await insertList(tx, input, actor.id));
      requireSeen(ctx, list);
      await recordActivity(tx, actor.id, caller, 'hotlists.create', { hotlistId: list.id, name: list.name });
      await notify(tx, channels.hotlists, list.id);
      await notify(tx, channels.hotlistJobs, '');
      return getHotlist(tx, actor, list.id);
    }),
  );
  await app.hotlists.refresh();
  return created;
}

/**
 * Sets the given settings.
 * @throws AppError `notFound`; `badRequest` as `createHotlist`; `forbidden` for a new owner by another than the owner or an
 * administrator; `conflict` when somebody has changed it since the caller saw it
 */
export async function updateHotlist(
  ctx: HotlistContext,
  { id, expectedUpdatedAt, ...changes }: UpdateHotlistInput,
): Promise<Hotlist> {
  const { app, actor, caller } = ctx;
  requireSource(ctx, changes);
  const { timezone } = app.settings.current();
  const seenAt =
    expectedUpdatedAt === undefined ? undefined : new Date(resolveTime(expectedUpdatedAt, timezone));
  const updated = await named(() =>
    inTransaction(app.db, async (tx) => {
      const before = await lockIdleList(tx, actor, id);
      requireMayHandOver(ctx, before, changes.ownerId);
      await requireOwner(tx, changes.ownerId);
      if (!(await updateListRow(tx, before.id, { ...changes, userId: actor.id, seenAt })))
        throw await changedBefore(tx, before);
      const after = await findList(tx, null, before.id);
      requireSeen(ctx, after);
      if (before.tolerance !== after.tolerance) await changeTolerance(tx, after);
      const details = { hotlistId: after.id, name: after.name, fields: givenFields(changes) };
      await recordActivity(tx, actor.id, caller, 'hotlists.update', details);
      await notify(tx, channels.hotlists, after.id);
      await notify(tx, channels.hotlistJobs, '');
      return getHotlist(tx, actor, after.id);
    }),
  );
  await app.hotlists.refresh();
  return updated;
}

/** Deletes a list with its entries. Its hits stay. @throws AppError `notFound` */
export async function deleteHotlist(ctx: HotlistContext, id: string): Promise<{ success: true; id: string }> {
  const { app, actor, caller } = ctx;
  const gone = await inTransaction(app.db, async (tx) => {
    const list = await lockIdleList(tx, actor, id);
    await deleteListRow(tx, list.id, actor.id);
    await recordActivity(tx, actor.id, caller, 'hotlists.delete', { hotlistId: list.id, name: list.name });
    await notify(tx, channels.hotlists, list.id);
    return list;
  });
  await app.hotlists.refresh();
  return { success: true, id: gone.id };
}

async function changeTolerance(tx: Executor, { id, tolerance, entryCount }: ListRow): Promise<void> {
  if (tolerance === 'ONE_OFF') requireFewForOneOff(entryCount);
  await setNear(tx, id, tolerance === 'ONE_OFF');
}

/** @throws AppError `badRequest` when the user would no longer see the list */
function requireSeen({ actor }: HotlistContext, list: ListRow): void {
  if (maySeeList(actor, list)) return;
  throw invalidInput(
    'visibleTo',
    'You would not see this covert list yourself: stay its owner, or add your role',
  );
}

function requireMayHandOver({ actor }: HotlistContext, list: ListRow, ownerId: string | undefined): void {
  if (
    ownerId === undefined ||
    ownerId === list.ownerId ||
    actor.role === 'ADMIN' ||
    list.ownerId === actor.id
  )
    return;
  throw new AppError('forbidden', 'Only its owner or an administrator can give a list to somebody else');
}

async function requireOwner(tx: Executor, ownerId: string | undefined): Promise<void> {
  if (ownerId === undefined) return;
  if (!isUuid(ownerId)) throw invalidInput('ownerId', 'There is no such user');
  await getUser(tx, ownerId).catch(() => {
    throw invalidInput('ownerId', 'There is no such user');
  });
}

/** @throws AppError `badRequest` at `source.url` for an address that may not be read, or at `source.publicKey` */
function requireSource({ app }: HotlistContext, { source }: Pick<UpdateHotlistInput, 'source'>): void {
  if (source?.publicKey !== undefined && signingKeyOf(source.publicKey) === null)
    throw invalidInput(
      'source.publicKey',
      'Use an Ed25519 public key: PEM that begins with -----BEGIN PUBLIC KEY-----, or its 32 bytes as base64',
    );
  if (source?.type !== 'URL') return;
  try {
    if (app.webhookUrls.parse(source.url).protocol === 'https:') return;
  } catch (error) {
    if (error instanceof UnusableAddress) throw invalidInput('source.url', error.message);
    throw error;
  }
  throw invalidInput('source.url', 'Use an address with https');
}

async function changedBefore(tx: Executor, { updatedBy, updatedAt }: ListRow): Promise<AppError> {
  const nameOf = await findNames(tx, [updatedBy]);
  return new AppError(
    'conflict',
    `${nameOf(updatedBy)?.name ?? 'Somebody'} changed this list at ${updatedAt.toISOString()}: reload it before you change it`,
  );
}

async function named<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error))
      throw invalidInput('name', 'Another list has this name: choose a different one');
    throw error;
  }
}
