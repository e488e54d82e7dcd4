import { byId } from '@gantry/contract/id';
import { pageCount } from '@gantry/contract/page';
import {
  acknowledgeAlertInput,
  alertMessage,
  alertsPage,
  createWatchlistEntryInput,
  deleteWatchlistEntryOutput,
  followAlertsInput,
  listAlertsInput,
  listWatchlistInput,
  updateWatchlistEntryInput,
  watchlistAlert,
  watchlistEntry,
  watchlistPage,
} from '@gantry/contract/watchlist';
import { resolveInterval } from '../platform/time.ts';
import { messagesOf } from '../rpc/messages.ts';
import { listAlerts } from '../watchlist/alerts-store.ts';
import { followAlerts } from '../watchlist/follow.ts';
import { acknowledgeAlert, changeEntry, createEntry, removeEntry } from '../watchlist/service.ts';
import { listEntries } from '../watchlist/store.ts';
import { allowed, router } from './procedures.ts';

export const watchlistRouter = router({
  getAll: allowed('manageIncidents')
    .meta({ question: true, summary: 'The plates to look out for, page by page' })
    .input(listWatchlistInput)
    .output(watchlistPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listEntries(ctx.app.db, input);
      return { entries: items, total, pageCount: pageCount(total, input.take) };
    }),

  create: allowed('manageWatchlist')
    .meta({
      summary: 'Look out for a plate',
      notes:
        'Every event with a plate that matches raises an alert, if the entry is valid at the time of the event. ' +
        'Events that are stored already raise none.',
    })
    .input(createWatchlistEntryInput)
    .output(watchlistEntry)
    .mutation(({ ctx, input }) => createEntry(ctx, input)),

  update: allowed('manageWatchlist')
    .meta({
      summary: 'Change an entry of the watchlist',
      notes:
        'Only the given fields change; `null` takes a bound away. Alerts keep what the entry said when they were raised.',
    })
    .input(updateWatchlistEntryInput)
    .output(watchlistEntry)
    .mutation(({ ctx, input }) => changeEntry(ctx, input)),

  delete: allowed('manageWatchlist')
    .meta({ summary: 'No longer look out for a plate', notes: 'Its alerts stay.' })
    .input(byId)
    .output(deleteWatchlistEntryOutput)
    .mutation(({ ctx, input }) => removeEntry(ctx, input.id)),

  getAlerts: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'The reads of watched plates, newest first unless asked otherwise',
      notes: '`startDate` and `endDate` are about when the alert was raised, `createdAt`.',
    })
    .input(listAlertsInput)
    .output(alertsPage)
    .query(async ({ ctx: { app }, input }) => {
      const interval = resolveInterval(input, app.settings.current().timezone);
      const { items, total } = await listAlerts(app.db, input, interval);
      return { alerts: items, total, pageCount: pageCount(total, input.take) };
    }),

  onAlert: allowed('manageIncidents')
    .meta({
      summary: 'Reads of watched plates, as they are stored and as they are acknowledged',
      notes:
        'An alert is told when it is raised, with `acknowledgedAt: null`, and again when somebody acknowledged it. Webhooks are told of it once, when it is raised.',
      message: alertMessage,
    })
    .input(followAlertsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('alert', followAlerts(ctx, input, signal))),

  acknowledgeAlert: allowed('manageIncidents')
    .meta({
      summary: 'Say that an alert is being dealt with',
      notes: 'Of two people at once one does, and the other gets CONFLICT with who did and when.',
    })
    .input(acknowledgeAlertInput)
    .output(watchlistAlert)
    .mutation(({ ctx, input }) => acknowledgeAlert(ctx, input)),
});
