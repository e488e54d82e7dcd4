import { z } from 'zod';
import { id } from './id.ts';
import { person } from './person.ts';
import { optionalText } from './text.ts';

// Reviews: the decisions of operators about events.

/** CONFIRMED: the event is as reported. REJECTED: it is not. SECOND_LOOK: somebody else should decide. */
export const reviewDecision = z.enum(['CONFIRMED', 'REJECTED', 'SECOND_LOOK']);
export type ReviewDecision = z.infer<typeof reviewDecision>;

/** Maximum number of events in one `events.getReviews`. */
export const MAX_REVIEWED_EVENTS = 100;

export const review = z.object({
  id: z.string(),
  eventId: z.string(),
  decision: reviewDecision,
  reason: z.string().nullable(),
  by: person,
  at: z.date(),
});
export type Review = z.infer<typeof review>;

/** A review in the history of an event. */
export const recordedReview = review.extend({
  undoneAt: z.date().nullable().describe('When its author undid it; null: it is in force, or was replaced.'),
});
export type RecordedReview = z.infer<typeof recordedReview>;

export const reasonOfReview = optionalText(500).describe('Required for REJECTED.');

export const expectedReview = id
  .nullish()
  .describe(
    'The id of the latest review of the event as you saw it; `null`: you saw none. If that is no longer so, nothing changes (CONFLICT). If it is not given, the review is recorded in any case.',
  );

export const expectedProcessed = z
  .boolean()
  .optional()
  .describe(
    'With `expected: null`: whether you saw the event marked as processed without a review. If it was marked, or is no longer marked, since then, nothing changes (CONFLICT). Default: false.',
  );

export const reviewEventInput = z
  .object({
    id: id.describe('The id of the event.'),
    decision: reviewDecision,
    reason: reasonOfReview,
    expected: expectedReview,
    expectedProcessed,
  })
  .superRefine(({ decision, reason }, ctx) => {
    if (decision !== 'REJECTED' || reason !== null) return;
    ctx.addIssue({ code: 'custom', path: ['reason'], message: 'Give the reason for the rejection' });
  });
export type ReviewEventInput = z.infer<typeof reviewEventInput>;

export const undoReviewInput = z.object({ id: id.describe('The id of the review.') });

export const getReviewsInput = z.object({
  eventIds: z
    .array(id)
    .min(1, 'Ask for at least one event')
    .max(MAX_REVIEWED_EVENTS, `Ask for at most ${MAX_REVIEWED_EVENTS} events`),
});

export const latestReviews = z.object({
  reviews: z.array(review).describe('The latest review of each event that has one, in no particular order.'),
});

export const eventHistory = z.object({
  eventId: z.string(),
  reviews: z.array(recordedReview).describe('Oldest first, including those that were undone.'),
  processedAt: z.date().nullable(),
  processedBy: person.nullable(),
  archivedAt: z.date().nullable(),
  archivedBy: person.nullable(),
  incidentIds: z
    .array(z.string())
    .nullable()
    .describe(
      'The incidents that the event is attached to; null without the permission Manage Incidents, or without the feature incidents.',
    ),
});
export type EventHistory = z.infer<typeof eventHistory>;
