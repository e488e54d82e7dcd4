import {
  archiveBatchOutput,
  deleteBatchOutput,
  eventBatchInput,
  reviewBatchInput,
  reviewBatchOutput,
  undoReviewBatchInput,
  undoReviewBatchOutput,
} from '@gantry/contract/event-batches';
import { UNDO_MINUTES } from '@gantry/contract/values';
import { reviewEvent, undoReview } from '../events/reviews.ts';
import { deleteEvent, markAsArchived, undoArchive } from '../events/service.ts';
import { EACH_BY_ITSELF, eachOf, itemsOf } from './batch.ts';
import { allowed } from './procedures.ts';

/** The procedures for single events, applied to many events at once. */
export const eventBatches = {
  reviewBatch: allowed('manageIncidents')
    .meta({ summary: 'Review many events with one decision', notes: `As \`review\`. ${EACH_BY_ITSELF}` })
    .input(reviewBatchInput)
    .output(reviewBatchOutput)
    .mutation(async ({ ctx, input: { events, decision, reason } }) => ({
      results: await eachOf(ctx, events, async (event) => ({
        id: event.id,
        review: await reviewEvent(ctx, { ...event, decision, reason }),
      })),
    })),

  undoReviewBatch: allowed('manageIncidents')
    .meta({ summary: 'Undo many of your own reviews', notes: `As \`undoReview\`. ${EACH_BY_ITSELF}` })
    .input(undoReviewBatchInput)
    .output(undoReviewBatchOutput)
    .mutation(async ({ ctx, input }) => ({
      results: await eachOf(ctx, itemsOf(input.ids), async ({ id }) => ({
        id,
        review: await undoReview(ctx, id),
      })),
    })),

  archiveBatch: allowed('manageIncidents')
    .meta({ summary: 'Archive many events', notes: `As \`markAsArchived\`. ${EACH_BY_ITSELF}` })
    .input(eventBatchInput)
    .output(archiveBatchOutput)
    .mutation(async ({ ctx, input }) => ({
      results: await eachOf(ctx, itemsOf(input.ids), async ({ id }) => ({
        id,
        changed: await markAsArchived(ctx, id),
      })),
    })),

  undoArchiveBatch: allowed('manageIncidents')
    .meta({
      summary: 'Take back that you archived events',
      notes: `Possible for ${UNDO_MINUTES} minutes, and only for what you archived yourself and not by a rejection (CONFLICT). \`changed\` is false for events that are not archived any more. ${EACH_BY_ITSELF}`,
    })
    .input(eventBatchInput)
    .output(archiveBatchOutput)
    .mutation(async ({ ctx, input }) => ({
      results: await eachOf(ctx, itemsOf(input.ids), async ({ id }) => ({
        id,
        changed: await undoArchive(ctx, id),
      })),
    })),

  deleteBatch: allowed('deleteEvents')
    .meta({ summary: 'Delete many events permanently', notes: `As \`delete\`. ${EACH_BY_ITSELF}` })
    .input(eventBatchInput)
    .output(deleteBatchOutput)
    .mutation(async ({ ctx, input }) => ({
      results: await eachOf(ctx, itemsOf(input.ids), async ({ id }) => {
        await deleteEvent(ctx, id);
        return { id, success: true as const };
      }),
    })),
};
