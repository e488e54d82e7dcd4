import { byId } from '@gantry/contract/id';
import { UNDO_MINUTES } from '@gantry/contract/values';
import {
  acknowledgeAlertBatchInput,
  acknowledgeAlertBatchOutput,
  acknowledgeAlertInput,
  alertMessage,
  alertsPage,
  createWatchlistEntryInput,
  deleteWatchlistEntryOutput,
  followAlertsInput,
  listAlertsInput,
  listWatchlistInput,
  undoAcknowledgeAlertBatchInput,
  undoAcknowledgeAlertBatchOutput,
  updateWatchlistEntryInput,
  watchlistAlert,
  watchlistEntry,
  watchlistEntryDetail,
  watchlistPage,
} from '@gantry/contract/watchlist';
import { requireSeesPlates } from '../events/plate-access.ts';
import { resolveInterval } from '../platform/time.ts';
import { messagesOf } from '../rpc/messages.ts';
import { getAlert, listAlerts } from '../watchlist/alerts-store.ts';
import {
  acknowledgeAlert,
  createEntry,
  deleteEntry,
  followAlerts,
  undoAcknowledgement,
  updateEntry,
} from '../watchlist/service.ts';
import { getEntry, listEntries } from '../watchlist/store.ts';
import { EACH_BY_ITSELF, eachOf, itemsOf } from './batch.ts';
import { allowed, pageOf, router } from './procedures.ts';

export const watchlistRouter = router({
  getAll: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'List the entries of the watchlist',
      notes:
        '`search` and `sortBy: "pattern"` are refused (FORBIDDEN) if number plates are hidden from the role of the caller.',
    })
    .input(listWatchlistInput)
    .output(watchlistPage)
    .query(async ({ ctx, input }) => {
      // The results would confirm a guess, or show between which plates a hidden one is sorted.
      if (input.search !== undefined || input.sortBy === 'pattern') requireSeesPlates(ctx);
      return pageOf('entries', await listEntries(ctx.app.db, input), input.take);
    }),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one entry of the watchlist, with who changed it last' })
    .input(byId)
    .output(watchlistEntryDetail)
    .query(({ ctx, input }) => getEntry(ctx.app.db, input.id)),

  create: allowed('manageWatchlist')
    .meta({
      summary: 'Add a plate to the watchlist',
      notes:
        'Every event with a matching plate raises an alert if the entry is valid at the time of the event. ' +
        'Events that are already stored raise no alert. Several entries may have the same pattern, for example for different ' +
        'times or reasons; each of them raises an alert of its own.',
    })
    .input(createWatchlistEntryInput)
    .output(watchlistEntry)
    .mutation(({ ctx, input }) => createEntry(ctx, input)),

  update: allowed('manageWatchlist')
    .meta({
      summary: 'Change an entry of the watchlist',
      notes:
        'Only the given fields change; `null` removes a bound. Alerts keep the values that the entry had when they were raised. With `expectedUpdatedAt`, a change by somebody else that you did not see is not overwritten (CONFLICT, with the name of that person).',
    })
    .input(updateWatchlistEntryInput)
    .output(watchlistEntry)
    .mutation(({ ctx, input }) => updateEntry(ctx, input)),

  delete: allowed('manageWatchlist')
    .meta({ summary: 'Remove a plate from the watchlist', notes: 'Its alerts are kept.' })
    .input(byId)
    .output(deleteWatchlistEntryOutput)
    .mutation(({ ctx, input }) => deleteEntry(ctx, input.id)),

  getAlerts: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'List alerts, newest first by default',
      notes: '`startDate` and `endDate` apply to the time at which the alert was raised, `createdAt`.',
    })
    .input(listAlertsInput)
    .output(alertsPage)
    .query(async ({ ctx: { app }, input }) => {
      const interval = resolveInterval(input, app.settings.current().timezone);
      return pageOf('alerts', await listAlerts(app.db, input, interval), input.take);
    }),

  getAlert: allowed('manageIncidents')
    .meta({ summary: 'Get one alert' })
    .input(byId)
    .output(watchlistAlert)
    .query(({ ctx, input }) => getAlert(ctx.app.db, input.id)),

  onAlert: allowed('manageIncidents')
    .meta({
      summary: 'Stream alerts when they are raised and when they are acknowledged',
      notes:
        'An alert is sent when it is raised, with `acknowledgedAt: null`, and again when somebody acknowledges it or takes that back. It is sent to webhooks once, when it is raised.',
      message: alertMessage,
    })
    .input(followAlertsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('alert', followAlerts(ctx, input, signal))),

  acknowledgeAlert: allowed('manageIncidents')
    .meta({
      summary: 'Acknowledge an alert',
      notes:
        'If two people acknowledge it at the same time, one succeeds and the other receives CONFLICT with the name of the first and the time.',
    })
    .input(acknowledgeAlertInput)
    .output(watchlistAlert)
    .mutation(({ ctx, input }) => acknowledgeAlert(ctx, input)),

  acknowledgeAlertBatch: allowed('manageIncidents')
    .meta({
      summary: 'Acknowledge many alerts with one note',
      notes: `As \`acknowledgeAlert\`. ${EACH_BY_ITSELF}`,
    })
    .input(acknowledgeAlertBatchInput)
    .output(acknowledgeAlertBatchOutput)
    .mutation(async ({ ctx, input: { ids, note } }) => ({
      results: await eachOf(ctx, itemsOf(ids), async ({ id }) => ({
        id,
        alert: await acknowledgeAlert(ctx, { id, note }),
      })),
    })),

  undoAcknowledgeAlertBatch: allowed('manageIncidents')
    .meta({
      summary: 'Take back that you acknowledged alerts',
      notes: `Possible for ${UNDO_MINUTES} minutes, and only for what you acknowledged yourself (CONFLICT). The alert is open again, without the note. An alert that is open stays as it is. ${EACH_BY_ITSELF}`,
    })
    .input(undoAcknowledgeAlertBatchInput)
    .output(undoAcknowledgeAlertBatchOutput)
    .mutation(async ({ ctx, input: { ids } }) => ({
      results: await eachOf(ctx, itemsOf(ids), async ({ id }) => ({
        id,
        alert: await undoAcknowledgement(ctx, id),
      })),
    })),
});
