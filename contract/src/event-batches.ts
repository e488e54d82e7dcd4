import { z } from 'zod';
import { batchOf, batchResults } from './batch.ts';
import { id } from './id.ts';
import {
  expectedProcessed,
  expectedReview,
  reasonOfReview,
  recordedReview,
  review,
  reviewDecision,
} from './reviews.ts';

// Inputs and results of the actions of users on many events in one call.

export const reviewBatchInput = z
  .object({
    events: batchOf(z.object({ id, expected: expectedReview, expectedProcessed }), 'event'),
    decision: reviewDecision,
    reason: reasonOfReview,
  })
  .superRefine(({ decision, reason }, ctx) => {
    if (decision !== 'REJECTED' || reason !== null) return;
    ctx.addIssue({ code: 'custom', path: ['reason'], message: 'Give the reason for the rejection' });
  });
export const reviewBatchOutput = batchResults(z.object({ id: z.string(), review }));

export const undoReviewBatchInput = z.object({ ids: batchOf(id, 'review').describe('The ids of reviews.') });
export const undoReviewBatchOutput = batchResults(z.object({ id: z.string(), review: recordedReview }));

export const eventBatchInput = z.object({ ids: batchOf(id, 'event').describe('The ids of events.') });
export const archiveBatchOutput = batchResults(
  z.object({ id: z.string(), changed: z.boolean().describe('false: it was so before.') }),
);
export const deleteBatchOutput = batchResults(z.object({ id: z.string(), success: z.literal(true) }));
