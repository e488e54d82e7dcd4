import { z } from 'zod';
import { id } from './id.ts';
import {
  expectedProcessed,
  expectedReview,
  reasonOfReview,
  recordedReview,
  review,
  reviewDecision,
} from './reviews.ts';
import { MAX_BATCH_EVENTS } from './values.ts';

// The same for many events in one call. Each succeeds or fails by itself.

function some<Item extends z.ZodType>(item: Item, what: string) {
  return z
    .array(item)
    .min(1, `Name at least one ${what}`)
    .max(MAX_BATCH_EVENTS, `Name at most ${MAX_BATCH_EVENTS} ${what}s`);
}

const error = z.object({ code: z.string(), message: z.string() });
const failed = z.object({ id: z.string(), error });

/** Results in the order of the input, each of them what was done or why it was not. */
function resultsOf<Done extends z.ZodObject>(done: Done) {
  return z.object({
    results: z
      .array(z.union([done, failed]))
      .describe(
        'One entry per item, in the order in which they were sent; those that failed have an `error`.',
      ),
  });
}

export const reviewBatchInput = z
  .object({
    events: some(z.object({ id, expected: expectedReview, expectedProcessed }), 'event'),
    decision: reviewDecision,
    reason: reasonOfReview,
  })
  .superRefine(({ decision, reason }, ctx) => {
    if (decision !== 'REJECTED' || reason !== null) return;
    ctx.addIssue({ code: 'custom', path: ['reason'], message: 'Give the reason for the rejection' });
  });
export const reviewBatchOutput = resultsOf(z.object({ id: z.string(), review }));

export const undoReviewBatchInput = z.object({ ids: some(id, 'review').describe('The ids of reviews.') });
export const undoReviewBatchOutput = resultsOf(z.object({ id: z.string(), review: recordedReview }));

export const eventBatchInput = z.object({ ids: some(id, 'event').describe('The ids of events.') });
export const archiveBatchOutput = resultsOf(
  z.object({ id: z.string(), changed: z.boolean().describe('false: it was so before.') }),
);
export const deleteBatchOutput = resultsOf(z.object({ id: z.string(), success: z.literal(true) }));
