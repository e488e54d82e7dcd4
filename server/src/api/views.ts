import { byId } from '@gantry/contract/id';
import {
  createViewInput,
  defaultView,
  deletedView,
  listViewsInput,
  savedView,
  savedViews,
  setDefaultViewInput,
  updateViewInput,
} from '@gantry/contract/views';
import {
  createView,
  deleteView,
  setDefaultView,
  updateView,
  viewSavedViews,
} from '../accounts/views/service.ts';
import { allowed, router, signedIn } from './procedures.ts';

const SHARING = 'Users with the role VIEWER can save views for themselves, but not share them (FORBIDDEN).';

export const viewsRouter = router({
  getAll: signedIn
    .meta({ question: true, summary: 'List the saved views of a page: your own and the shared ones' })
    .input(listViewsInput)
    .output(savedViews)
    .query(({ ctx, input }) => viewSavedViews(ctx, input.page)),

  create: signedIn
    .meta({
      summary: 'Save a view of a page',
      notes: `A user can have one view of a name for each page, ignoring case (CONFLICT), and 100 views. ${SHARING}`,
    })
    .input(createViewInput)
    .output(savedView)
    .mutation(({ ctx, input }) => createView(ctx, input)),

  update: signedIn
    .meta({
      summary: 'Change your own view',
      notes: `Only the given fields change. The default of everybody must remain shared. ${SHARING}`,
    })
    .input(updateViewInput)
    .output(savedView)
    .mutation(({ ctx, input }) => updateView(ctx, input)),

  delete: signedIn
    .meta({
      summary: 'Delete your own view',
      notes:
        'Administrators can delete any shared view, and only they can delete the default of everybody. When a user is deleted, the views that the user did not share are deleted as well.',
    })
    .input(byId)
    .output(deletedView)
    .mutation(({ ctx, input }) => deleteView(ctx, input.id)),

  setDefault: allowed('systemSettings')
    .meta({
      summary: 'Choose the shared view with which everybody starts a page',
      notes: '`id: null` chooses none.',
    })
    .input(setDefaultViewInput)
    .output(defaultView)
    .mutation(({ ctx, input }) => setDefaultView(ctx, input)),
});
