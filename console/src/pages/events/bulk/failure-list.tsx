import { skipToken, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../../../shared/conflict/faster.tsx';
import { sentenceOf } from '../../../shared/service/failure.tsx';
import type { BulkFailure } from '../../../shared/service/run-bulk.ts';
import { service } from '../../../shared/service/service.ts';
import { useFasterDecision } from '../triage/faster-text.ts';

/** Maximum number of failures that are listed. The others are only counted. */
const LISTED = 100;

interface FailureListProps {
  readonly failures: readonly BulkFailure<string>[];
  /** Whether the command was a review. If so, the reviews that caused conflicts are looked up and shown. */
  readonly isReview: boolean;
}

/** The events that failed, and why. Reviews by other users are described in the user's language and time zone. */
export function FailureList({ failures, isReview }: FailureListProps) {
  const { t } = useTranslation('events');
  const fasterDecision = useFasterDecision();
  const listed = failures.slice(0, LISTED);
  const late = isReview ? listed.filter(({ error }) => isConflict(error)).map(({ item }) => item) : [];
  const { data } = useQuery(
    service.events.getReviews.queryOptions(late.length > 0 ? { eventIds: late } : skipToken),
  );
  const reviews = new Map(data?.reviews.map((review) => [review.eventId, review]));
  return (
    <ul
      // biome-ignore lint/a11y/noNoninteractiveTabindex: makes the scrollable area usable with the keyboard
      tabIndex={0}
      aria-label={t('bulk.failures')}
      className="max-h-40 overflow-y-auto rounded-md border bg-raised p-2 text-sm"
    >
      {listed.map(({ item, error }) => {
        const review = isConflict(error) ? reviews.get(item) : undefined;
        return (
          <li key={item} className="flex gap-3 py-0.5">
            <bdi className="shrink-0 font-mono text-muted" dir="ltr">
              {item.slice(0, 13)}…
            </bdi>
            <bdi>
              {review
                ? fasterDecision({ review, processedBy: null, processedAt: null })
                : sentenceOf(error).sentence}
            </bdi>
          </li>
        );
      })}
    </ul>
  );
}
