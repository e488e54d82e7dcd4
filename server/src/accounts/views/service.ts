import { mayDo } from '@gantry/contract/permissions';
import {
  type CreateViewInput,
  MAX_SAVED_VIEWS,
  type SavedView,
  type SavedViews,
  type SetDefaultViewInput,
  type UpdateViewInput,
} from '@gantry/contract/views';
import { recordActivity } from '../../activity/store.ts';
import type { Actor, ActorContext } from '../../platform/context.ts';
import { isUniqueViolation } from '../../platform/database/failure.ts';
import { type Executor, inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { AppError, invalidInput } from '../../platform/error.ts';
import { givenFields } from '../../platform/given.ts';
import { findNames } from '../names-store.ts';
import { invalidToken } from '../tokens.ts';
import {
  countViewsLocked,
  deleteView as deleteFrom,
  insertView,
  listViews,
  lockView,
  setDefaultView as setDefaultIn,
  showViews,
  updateView as updateIn,
  type ViewRow,
} from './store.ts';

/** The user's own views of a page and the shared ones, and which one is the default for all users. */
export async function viewSavedViews(
  { app: { db }, actor }: ActorContext,
  page: string,
): Promise<SavedViews> {
  const rows = await listViews(db, page, actor.id);
  const defaultId = rows.find(({ isDefault }) => isDefault)?.id ?? null;
  return { views: await showViews(db, rows), defaultId };
}

/**
 * Saves a view of the caller.
 * @throws AppError `forbidden` when the role may not share; `badRequest` when the user has too many; `conflict` when
 * the user has one of this name for the page; `unauthorized` when the user has been deleted meanwhile
 */
export function createView(ctx: ActorContext, input: CreateViewInput): Promise<SavedView> {
  const { app, actor, caller } = ctx;
  if (input.shared) requireMayShare(actor);
  return naming(input.name, () =>
    inTransaction(app.db, async (tx) => {
      const had = await countViewsLocked(tx, actor.id);
      if (had === null) throw invalidToken();
      if (had >= MAX_SAVED_VIEWS) {
        throw new AppError('badRequest', `You have ${MAX_SAVED_VIEWS} saved views already: delete one first`);
      }
      const row = await insertView(tx, actor.id, input);
      const { id: viewId, page, name, shared } = row;
      await recordActivity(tx, actor.id, caller, 'views.create', { viewId, page, name, shared });
      return showOne(tx, row);
    }),
  );
}

/**
 * Sets the given fields of a view of the caller.
 * @throws AppError `notFound`; `forbidden` when it is somebody else's or the role may not share; `conflict` when the name
 * is taken, or the default for all users would no longer be shared
 */
export function updateView(ctx: ActorContext, input: UpdateViewInput): Promise<SavedView> {
  const { app, actor, caller } = ctx;
  const { id: _, ...changes } = input;
  return naming(input.name ?? '', () =>
    inTransaction(app.db, async (tx) => {
      const before = await lockView(tx, input.id, actor.id);
      if (before.createdBy !== actor.id) throw await notOwn(tx, before, 'change');
      if (input.shared ?? before.shared) requireMayShare(actor);
      if (input.shared === false && before.isDefault) throw isDefaultRefusal('kept to yourself');
      const row = await updateIn(tx, input);
      const { id: viewId, page, name, shared } = row;
      const details = { viewId, page, name, shared, fields: givenFields(changes) };
      await recordActivity(tx, actor.id, caller, 'views.update', details);
      return showOne(tx, row);
    }),
  );
}

/**
 * Deletes a view of the caller; administrators may delete any shared view.
 * @throws AppError `notFound`; `forbidden` when it is somebody else's; `conflict` when it is the default for all users
 * and the caller is not an administrator
 */
export function deleteView({ app, actor, caller }: ActorContext, id: string) {
  const isAdministrator = mayDo(actor.role, 'systemSettings');
  return inTransaction(app.db, async (tx) => {
    const row = await lockView(tx, id, actor.id);
    if (row.createdBy !== actor.id && !isAdministrator) throw await notOwn(tx, row, 'delete');
    if (row.isDefault && !isAdministrator) throw isDefaultRefusal('deleted');
    await deleteFrom(tx, row.id);
    const { page, name, shared } = row;
    await recordActivity(tx, actor.id, caller, 'views.delete', { viewId: row.id, page, name, shared });
    return { success: true as const, id: row.id };
  });
}

/**
 * Chooses the view that all users see first on a page.
 * @throws AppError `notFound`; `badRequest` when it is not a shared view of the page; `conflict` when two calls do so
 * at the same time
 */
export async function setDefaultView(
  { app, actor, caller }: ActorContext,
  { page, id }: SetDefaultViewInput,
): Promise<{ defaultId: string | null }> {
  try {
    return await inTransaction(app.db, async (tx) => {
      const row = id === null ? null : await lockView(tx, id, actor.id);
      if (row && (!row.shared || row.page !== page)) {
        throw invalidInput('id', `Only a shared view of the page ${page} can be its default`);
      }
      const viewId = row?.id ?? null;
      await setDefaultIn(tx, page, viewId);
      await recordActivity(tx, actor.id, caller, 'views.setDefault', {
        page,
        viewId,
        name: row?.name ?? null,
      });
      return { defaultId: viewId };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError(
      'conflict',
      'Somebody else chose the default of this page at the same time: reload it',
      {
        cause: error,
      },
    );
  }
}

async function naming<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError(
      'conflict',
      `You have a view named “${name}” for this page already: choose another name, or update that view`,
      { cause: error },
    );
  }
}

function requireMayShare({ role }: Actor): void {
  if (role !== 'VIEWER') return;
  throw new AppError(
    'forbidden',
    'With your role VIEWER you can save views for yourself, but not share them',
  );
}

async function notOwn(db: Executor, { createdBy }: ViewRow, verb: string): Promise<AppError> {
  const who = (await findNames(db, [createdBy]))(createdBy)?.name;
  return new AppError('forbidden', `This view was saved by ${who}: you can ${verb} only your own views`);
}

function isDefaultRefusal(wish: string): AppError {
  return new AppError(
    'conflict',
    `Everybody starts the page with this view, so it cannot be ${wish}: ask an administrator to choose another default first`,
  );
}

async function showOne(tx: Transaction, row: ViewRow): Promise<SavedView> {
  const [shown] = await showViews(tx, [row]);
  if (!shown) throw new Error('A view that is there was not shown');
  return shown;
}
