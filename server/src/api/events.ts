import { type InputIssue, MAX_ISSUES } from '@gantry/contract/errors';
import {
  batchEvent,
  event,
  eventDetail,
  eventStats,
  eventsPage,
  eventType,
  followEventsInput,
  type IngestedItem,
  ingestBatchInput,
  ingestBatchOutput,
  ingestedMessage,
  ingestInput,
  ingestOutput,
  listEventsInput,
  recentEventsInput,
  statsInput,
  succeeded,
} from '@gantry/contract/events';
import { byId } from '@gantry/contract/id';
import { mayDo } from '@gantry/contract/permissions';
import {
  eventHistory,
  getReviewsInput,
  latestReviews,
  recordedReview,
  review,
  reviewEventInput,
  undoReviewInput,
} from '@gantry/contract/reviews';
import { UNDO_MINUTES } from '@gantry/contract/values';
import { z } from 'zod';
import { getEventStats } from '../events/counts/totals.ts';
import { listRecentEvents } from '../events/list/run.ts';
import { reviewEvent, undoReview, viewEventHistory, viewReviews } from '../events/reviews.ts';
import {
  deleteEvent,
  followEvents,
  lookUpEvents,
  markAsArchived,
  markAsProcessed,
} from '../events/service.ts';
import { getEvent } from '../events/store.ts';
import { findIncidentIdsOf } from '../incidents/store.ts';
import { observedTime } from '../ingest/enrich.ts';
import { ingestEvent } from '../ingest/pipeline.ts';
import { changedValues, refuseUnknown, unknownFields } from '../ingest/unknown-fields.ts';
import { unavailable } from '../platform/error.ts';
import { resolveInterval } from '../platform/time.ts';
import { failureOf, inputFailure } from '../rpc/errors.ts';
import { messagesOf } from '../rpc/messages.ts';
import { lagOfBatch, type ReportLag } from '../sensors/sensor-clocks-store.ts';
import type { DeviceContext } from '../sensors/sensor-keys.ts';
import { noteObserved } from '../traffic/presence-store.ts';
import type { AppContext } from './context.ts';
import { eventBatches } from './event-batches.ts';
import { allowed, device, noteRefusedDevice, open, pageOf, router, signedIn } from './procedures.ts';

/**
 * Finds the unknown fields of an event, and values that change, and counts events with unknown fields.
 * @throws AppError `badRequest` for an unknown field if `isStrict`
 */
function noteUnknown({ metrics }: AppContext, given: unknown, isStrict: boolean): readonly InputIssue[] {
  const fields = unknownFields(given);
  const changed = changedValues(given);
  if (fields.length === 0) return changed;
  metrics.eventsWithUnknownFields.inc();
  if (isStrict) throw refuseUnknown(fields);
  return [...fields, ...changed];
}

/** The warnings of an answer, which has none if there is nothing to warn of. */
function warningsOf(...found: readonly (readonly InputIssue[])[]): { warnings?: InputIssue[] } {
  const warnings = found.flat().slice(0, MAX_ISSUES);
  return warnings.length > 0 ? { warnings } : {};
}

/** One event of a batch, validated and stored separately, so that an invalid event does not affect the others. */
async function ingestItem(
  ctx: DeviceContext<AppContext>,
  item: unknown,
  isStrict: boolean,
  noteLag: (lag: ReportLag) => void,
): Promise<IngestedItem> {
  const parsed = batchEvent.safeParse(item);
  try {
    if (!parsed.success) throw inputFailure(parsed.error);
    const unknown = noteUnknown(ctx.app, item, isStrict || parsed.data.strict === true);
    const { eventId, duplicate, warnings } = await ingestEvent(ctx, parsed.data, noteLag);
    return { eventId, duplicate, ...warningsOf(unknown, warnings) };
  } catch (error) {
    const { body, unexpected } = failureOf(error);
    if (unexpected)
      ctx.app.log.error({ err: error, requestId: ctx.caller.requestId }, 'an event of a batch failed');
    else noteRefusedDevice(ctx, 'events.ingestBatch', error);
    const { code, issues } = body.data;
    return { error: { code, message: body.message, ...(issues && { issues }) } };
  }
}

function isUnavailable(result: IngestedItem): boolean {
  return 'error' in result && result.error.code === 'SERVICE_UNAVAILABLE';
}

export const eventsRouter = router({
  ingest: device
    .meta({
      summary: 'Report one event',
      notes:
        'The answer is sent after the event is durable. With `timestamp` and `idempotencyKey`, a repeated event is stored once. Unknown fields are ignored and named in `warnings`; with `strict`, the event is refused. On SERVICE_UNAVAILABLE (503) and TOO_MANY_REQUESTS (429), wait for `Retry-After` and send the event again; also after TIMEOUT (408), and when there is no answer.',
    })
    .input(ingestInput)
    .output(ingestOutput)
    .mutation(async ({ ctx, input }) => {
      ctx.app.eventRates.take(ctx.sensor, 1);
      const unknown = noteUnknown(ctx.app, ctx.given, input.strict === true);
      const { eventId, warnings } = await ingestEvent(ctx, input);
      return { success: true as const, eventId, ...warningsOf(unknown, warnings) };
    }),

  ingestBatch: device
    .meta({
      summary: 'Report up to 1000 events at once, for devices that were offline',
      notes:
        'Each event is stored or refused individually; `strict` applies to all of them, or in an event to this one. `results` has one entry per event, in the order in which they were sent. Send an event again if its `error` has the code SERVICE_UNAVAILABLE or TIMEOUT. The whole call is refused with SERVICE_UNAVAILABLE (503) only if no event can be stored at the moment, and with TOO_MANY_REQUESTS (429) if the sensor sends more than `EVENT_RATE_FACTOR` allows.',
    })
    .input(ingestBatchInput)
    .output(ingestBatchOutput)
    .mutation(async ({ ctx, input }) => {
      const { app } = ctx;
      const observed =
        input.observed && observedTime(input.observed, app.settings.current().timezone, app.clock.now());
      app.eventRates.take(ctx.sensor, input.events.length);
      const lags: ReportLag[] = [];
      const results = await Promise.all(
        input.events.map((item) => ingestItem(ctx, item, input.strict === true, (lag) => lags.push(lag))),
      );
      const lag = lagOfBatch(lags);
      if (lag) app.sensorClocks.recordReport(ctx.sensor.id, lag);
      // Nothing was accepted, so the whole request should be repeated, as for a single event.
      if (results.every(isUnavailable))
        throw unavailable('No event could be stored: send them again in a moment');
      // What could not be stored is sent again, with its time.
      if (observed && !results.some(isUnavailable)) await noteObserved(app.db, ctx.sensor.id, observed);
      return { success: results.every((result) => !('error' in result)), results };
    }),

  getAll: signedIn
    .meta({
      question: true,
      summary: 'List events, newest first by default',
      notes:
        'A search for a plate (`licensePlateNumber`) is recorded in the activity log: who, when, which plate and, if given, the `reason`.',
    })
    .input(listEventsInput)
    .output(eventsPage)
    .query(async ({ ctx, input }) => pageOf('events', await lookUpEvents(ctx, input), input.take)),

  getById: signedIn
    .meta({ summary: 'Get one event with all its fields' })
    .input(byId)
    .output(eventDetail)
    .query(({ ctx, input }) => getEvent(ctx.app.db, input.id)),

  getRecent: signedIn
    .meta({ question: true, summary: 'List the latest events' })
    .input(recentEventsInput)
    .output(z.array(event))
    .query(async ({ ctx: { app }, input }) =>
      listRecentEvents(app.db, input, app.clock.now(), await app.nodes.sendsSkippedRows()),
    ),

  markAsProcessed: allowed('manageIncidents')
    .meta({
      summary: 'Mark an event as processed',
      notes: 'Marking an event again succeeds and changes nothing.',
    })
    .input(byId)
    .output(succeeded)
    .mutation(async ({ ctx, input }) => {
      await markAsProcessed(ctx, input.id);
      return { success: true as const };
    }),

  markAsArchived: allowed('manageIncidents')
    .meta({
      summary: 'Archive an event',
      notes:
        'The event need not be processed; its `processed` flag does not change. Archiving an event again succeeds and changes nothing.',
    })
    .input(byId)
    .output(succeeded)
    .mutation(async ({ ctx, input }) => {
      await markAsArchived(ctx, input.id);
      return { success: true as const };
    }),

  review: allowed('manageIncidents')
    .meta({
      summary: 'Confirm or reject an event, or ask for a second look',
      notes:
        'CONFIRMED marks the event as processed; REJECTED, which needs a `reason`, marks it as processed and archives it; SECOND_LOOK marks nothing. A review replaces the one before: what that one marked and the new one does not is no longer marked. With `expected`, a review by somebody else that you did not see is not replaced: CONFLICT names who reviewed the event, how and when. With `expected: null` the same applies to an event without a review that somebody else marked as processed, unless `expectedProcessed: true` says that you saw that.',
    })
    .input(reviewEventInput)
    .output(review)
    .mutation(({ ctx, input }) => reviewEvent(ctx, input)),

  undoReview: allowed('manageIncidents')
    .meta({
      summary: 'Undo your own latest review of an event',
      notes: `Possible for ${UNDO_MINUTES} minutes, and only while nobody has reviewed the event again. \`processed\` and \`archived\` become what they were before the review, except where somebody changed them since. The review remains in the history of the event. A case that a rule has opened because of it stays: reject that.`,
    })
    .input(undoReviewInput)
    .output(recordedReview)
    .mutation(({ ctx, input }) => undoReview(ctx, input.id)),

  ...eventBatches,

  getReviews: signedIn
    .meta({ question: true, summary: 'Get the latest review of each of up to 100 events' })
    .input(getReviewsInput)
    .output(latestReviews)
    .query(({ ctx, input }) => viewReviews(ctx, input.eventIds)),

  getHistory: signedIn
    .meta({ summary: 'Get what people did with an event: reviews, marks and incidents' })
    .input(byId)
    .output(eventHistory)
    .query(async ({ ctx, input }) => {
      const history = await viewEventHistory(ctx, input.id);
      const seesIncidents =
        mayDo(ctx.actor.role, 'manageIncidents') && ctx.app.config.FEATURES.includes('incidents');
      const incidentIds = seesIncidents ? await findIncidentIdsOf(ctx.app.db, history.eventId) : null;
      return { ...history, incidentIds };
    }),

  delete: allowed('deleteEvents')
    .meta({
      summary: 'Delete an event permanently',
      notes:
        'What has not been sent of it to webhooks is not sent. An event under a legal hold cannot be deleted: CONFLICT names the user who set the hold and the reason.',
    })
    .input(byId)
    .output(succeeded)
    .mutation(async ({ ctx, input }) => {
      await deleteEvent(ctx, input.id);
      return { success: true as const };
    }),

  getStats: signedIn
    .meta({ question: true, summary: 'Count events by type, violation type and state' })
    .input(statsInput)
    .output(eventStats)
    .query(({ ctx: { app }, input }) =>
      getEventStats(app.db, resolveInterval(input, app.settings.current().timezone)),
    ),

  onIngested: signedIn
    .meta({
      summary: 'Stream events in the order in which they are stored',
      notes:
        'Accepts the filters of `getAll`. Following a plate is recorded in the activity log, as a search for it is.',
      message: ingestedMessage,
    })
    .input(followEventsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('event', followEvents(ctx, input, signal))),

  getEventTypes: open
    .meta({ summary: 'List the event types' })
    .output(z.array(eventType))
    .query(() => [...eventType.options]),
});
