import { MAX_LOOK_BACK_DAYS } from '@gantry/contract/hit-values';
import {
  addHotlistEntryInput,
  applyHotlistImportInput,
  createHotlistInput,
  deleteHotlistOutput,
  endHotlistEntryInput,
  endHotlistEntryOutput,
  findHotlistEntriesInput,
  foundHotlistEntriesPage,
  HOTLIST_VERSIONS_KEPT,
  hotlist,
  hotlistEntriesPage,
  hotlistFilePreview,
  hotlistImport,
  hotlistImportDetail,
  hotlistImportsPage,
  hotlistLookBack,
  hotlistsPage,
  listHotlistEntriesInput,
  listHotlistImportsInput,
  listHotlistsInput,
  listLookBacksInput,
  lookBackInput,
  lookBacksPage,
  MAX_LOOK_BACK_PLATES,
  previewHotlistFileInput,
  revertHotlistInput,
  savedHotlistEntry,
  stageHotlistImportInput,
  updateHotlistEntryInput,
  updateHotlistInput,
} from '@gantry/contract/hotlists';
import { byId } from '@gantry/contract/id';
import { addEntry, endEntry, findEntries, lookUpEntries, updateEntry } from '../hotlists/entries.ts';
import {
  applyImport,
  cancelImport,
  getImport,
  previewFile,
  revertHotlist,
  stageImport,
} from '../hotlists/imports.ts';
import { listImports } from '../hotlists/imports-store.ts';
import { cancelLookBack, orderLookBack } from '../hotlists/look-back.ts';
import { listLookBacks } from '../hotlists/look-backs-store.ts';
import { createHotlist, deleteHotlist, updateHotlist } from '../hotlists/service.ts';
import { findList, getHotlist, listHotlists } from '../hotlists/store.ts';
import { MAX_VARIANTS } from '../hotlists/variants.ts';
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

  findEntries: allowed('manageHotlists')
    .meta({
      question: true,
      summary: 'Find the entries for a plate in all hotlists',
      notes:
        'Of the lists that you see. This is a search for a plate: it is recorded, refused (FORBIDDEN) to users from whom plates are hidden, and needs a reason if the service requires one.',
    })
    .input(findHotlistEntriesInput)
    .output(foundHotlistEntriesPage)
    .query(async ({ ctx, input }) => pageOf('entries', await findEntries(ctx, input), input.take)),

  addEntry: allowed('manageHotlists')
    .meta({
      summary: 'Add a plate to a hotlist',
      notes: `${NEW_VERSION} Reads of the last five minutes become hits of the kind LOOK_BACK; for earlier ones, call \`lookBack\`.`,
    })
    .input(addHotlistEntryInput)
    .output(savedHotlistEntry)
    .mutation(({ ctx, input }) => addEntry(ctx, input)),

  updateEntry: allowed('manageHotlists')
    .meta({
      summary: 'Change an entry of a hotlist',
      notes: `${NEW_VERSION} Only the given fields change. With another plate, region or reference, the entry gets another \`id\`.`,
    })
    .input(updateHotlistEntryInput)
    .output(savedHotlistEntry)
    .mutation(({ ctx, input }) => updateEntry(ctx, input)),

  endEntry: allowed('manageHotlists')
    .meta({ summary: 'Take a plate off a hotlist', notes: `${NEW_VERSION} Its hits are kept.` })
    .input(endHotlistEntryInput)
    .output(endHotlistEntryOutput)
    .mutation(({ ctx, input }) => endEntry(ctx, input)),

  stage: allowed('manageHotlists')
    .meta({
      summary: 'Read an uploaded file and compare it with its hotlist',
      notes: `Upload the file with \`PUT /hotlists/<id>/file\`, whose answer is the import. This takes a while: ask \`getImport\` until its state is no longer STAGING. Guards refuse a file without a valid line, with more than 1 % invalid lines, with fewer than half of the entries of before, or older than the one in force. A COMPLETE file ends all entries that it does not have, except patterns with \`*\`, which no file can list.`,
    })
    .input(stageHotlistImportInput)
    .output(hotlistImport)
    .mutation(({ ctx, input }) => stageImport(ctx, input)),

  previewFile: allowed('manageHotlists')
    .meta({ question: true, summary: 'Show how a template reads the first lines of an uploaded file' })
    .input(previewHotlistFileInput)
    .output(hotlistFilePreview)
    .mutation(({ ctx, input }) => previewFile(ctx, input)),

  getImports: allowed('manageHotlists')
    .meta({ question: true, summary: 'List the imports of a hotlist, newest first' })
    .input(listHotlistImportsInput)
    .output(hotlistImportsPage)
    .query(async ({ ctx: { app, actor }, input }) => {
      const { id } = await findList(app.db, actor, input.id);
      return pageOf('imports', await listImports(app.db, id, input), input.take);
    }),

  getImport: allowed('manageHotlists')
    .meta({ summary: 'Get one import, with samples of what it changes' })
    .input(byId)
    .output(hotlistImportDetail)
    .query(({ ctx, input }) => getImport(ctx, input.id)),

  applyImport: allowed('manageHotlists')
    .meta({
      summary: 'Put a staged import in force',
      notes: `${NEW_VERSION} It takes a while: ask \`getImport\` until its state is no longer APPLYING. Until the new version is in force as a whole, the former one is. What a guard refused needs a reason in \`override\`.`,
    })
    .input(applyHotlistImportInput)
    .output(hotlistImport)
    .mutation(({ ctx, input }) => applyImport(ctx, input)),

  cancelImport: allowed('manageHotlists')
    .meta({ summary: 'Discard an import that is not applied' })
    .input(byId)
    .output(hotlistImport)
    .mutation(({ ctx, input }) => cancelImport(ctx, input.id)),

  revert: allowed('manageHotlists')
    .meta({
      summary: 'Restore the entries of a former version of a hotlist',
      notes: `${NEW_VERSION} It contains exactly the entries of the former one. It takes a while: ask \`getImport\` until its state is no longer APPLYING. The last ${HOTLIST_VERSIONS_KEPT} versions are kept, and those that the last ${HOTLIST_VERSIONS_KEPT} imports made or replaced: \`formerVersions\` of the list.`,
    })
    .input(revertHotlistInput)
    .output(hotlistImport)
    .mutation(({ ctx, input }) => revertHotlist(ctx, input)),

  lookBack: allowed('manageHotlists')
    .meta({
      summary: 'Search past events for entries of a hotlist',
      notes: `At most ${MAX_LOOK_BACK_PLATES} entries and ${MAX_LOOK_BACK_DAYS} days. What it finds are hits of the kind LOOK_BACK. Up to ${MAX_VARIANTS} spellings of each plate are looked for; those with fewer differences first.`,
    })
    .input(lookBackInput)
    .output(hotlistLookBack)
    .mutation(({ ctx, input }) => orderLookBack(ctx, input)),

  getLookBacks: allowed('manageHotlists')
    .meta({ question: true, summary: 'List the look-backs of a hotlist, newest first' })
    .input(listLookBacksInput)
    .output(lookBacksPage)
    .query(async ({ ctx: { app, actor }, input }) => {
      const { id } = await findList(app.db, actor, input.id);
      return pageOf('lookBacks', await listLookBacks(app.db, id, input), input.take);
    }),

  cancelLookBack: allowed('manageHotlists')
    .meta({ summary: 'Stop a look-back', notes: 'What it has found stays.' })
    .input(byId)
    .output(hotlistLookBack)
    .mutation(({ ctx, input }) => cancelLookBack(ctx, input.id)),
});
