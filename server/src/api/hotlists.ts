import {
  addHotlistEntryInput,
  createHotlistInput,
  deleteHotlistOutput,
  endHotlistEntryInput,
  endHotlistEntryOutput,
  hotlist,
  hotlistEntriesPage,
  hotlistEntry,
  hotlistsPage,
  listHotlistEntriesInput,
  listHotlistsInput,
  revertHotlistInput,
  updateHotlistEntryInput,
  updateHotlistInput,
} from '@gantry/contract/hotlists';
import { byId } from '@gantry/contract/id';
import { addEntry, endEntry, lookUpEntries, revertHotlist, updateEntry } from '../hotlists/entries.ts';
import { createHotlist, deleteHotlist, updateHotlist } from '../hotlists/service.ts';
import { getHotlist, listHotlists } from '../hotlists/store.ts';
import { allowed, pageOf, router } from './procedures.ts';

const WHO_SEES = 'Covert lists are seen by their owner, administrators and the roles of `visibleTo` only.';
const NEW_VERSION = 'This makes a new version of the list.';

export const hotlistsRouter = router({
  getAll: allowed('manageHotlists')
    .meta({ question: true, summary: 'List the hotlists', notes: WHO_SEES })
    .input(listHotlistsInput)
    .output(hotlistsPage)
    .query(async ({ ctx: { app, actor }, input }) =>
      pageOf('hotlists', await listHotlists(app.db, actor, input), input.take),
    ),

  getById: allowed('manageHotlists')
    .meta({ summary: 'Get one hotlist', notes: WHO_SEES })
    .input(byId)
    .output(hotlist)
    .query(({ ctx, input }) => getHotlist(ctx.app.db, ctx.actor, input.id)),

  create: allowed('manageHotlists')
    .meta({
      summary: 'Create a hotlist',
      notes:
        'A read of a plate on it becomes a hit, which a person has to confirm unless `verification` says otherwise. The watchlist is a list of its own (`watchlist.create`), whose alerts nobody has to confirm.',
    })
    .input(createHotlistInput)
    .output(hotlist)
    .mutation(({ ctx, input }) => createHotlist(ctx, input)),

  update: allowed('manageHotlists')
    .meta({
      summary: 'Change the settings of a hotlist',
      notes:
        'Only the given fields change. Hits keep what their entries said. With `expectedUpdatedAt`, a change by somebody else that you did not see is not overwritten (CONFLICT, with the name of that person).',
    })
    .input(updateHotlistInput)
    .output(hotlist)
    .mutation(({ ctx, input }) => updateHotlist(ctx, input)),

  delete: allowed('manageHotlists')
    .meta({ summary: 'Delete a hotlist with its entries', notes: 'Its hits are kept.' })
    .input(byId)
    .output(deleteHotlistOutput)
    .mutation(({ ctx, input }) => deleteHotlist(ctx, input.id)),

  getEntries: allowed('manageHotlists')
    .meta({
      question: true,
      summary: 'List the entries of a hotlist by plate',
      notes:
        'With `plate`, this is a search for a plate: it is recorded, refused (FORBIDDEN) to users from whom plates are hidden, and needs a reason if the service requires one.',
    })
    .input(listHotlistEntriesInput)
    .output(hotlistEntriesPage)
    .query(async ({ ctx, input }) => {
      const { version, ...page } = await lookUpEntries(ctx, input);
      return { ...pageOf('entries', page, input.take), version };
    }),

  addEntry: allowed('manageHotlists')
    .meta({
      summary: 'Add a plate to a hotlist',
      notes: `${NEW_VERSION} Reads of the last five minutes become hits of the kind LOOK_BACK; for earlier ones, call \`lookBack\`.`,
    })
    .input(addHotlistEntryInput)
    .output(hotlistEntry)
    .mutation(({ ctx, input }) => addEntry(ctx, input)),

  updateEntry: allowed('manageHotlists')
    .meta({
      summary: 'Change an entry of a hotlist',
      notes: `${NEW_VERSION} Only the given fields change. With another plate, region or reference, the entry gets another \`id\`.`,
    })
    .input(updateHotlistEntryInput)
    .output(hotlistEntry)
    .mutation(({ ctx, input }) => updateEntry(ctx, input)),

  endEntry: allowed('manageHotlists')
    .meta({ summary: 'Take a plate off a hotlist', notes: `${NEW_VERSION} Its hits are kept.` })
    .input(endHotlistEntryInput)
    .output(endHotlistEntryOutput)
    .mutation(({ ctx, input }) => endEntry(ctx, input)),

  revert: allowed('manageHotlists')
    .meta({
      summary: 'Restore the entries of a former version of a hotlist',
      notes: `${NEW_VERSION} It contains exactly the entries of the former one.`,
    })
    .input(revertHotlistInput)
    .output(hotlist)
    .mutation(({ ctx, input }) => revertHotlist(ctx, input)),
});
