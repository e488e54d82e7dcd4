import { skipToken, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../../conflict/faster.tsx';
import { sentenceOf } from '../../service/failure.tsx';
import { service } from '../../service/service.ts';
import { useFasterDecision } from '../triage/faster-text.ts';
import type { BulkFailure } from './run-bulk.ts';

/** Failures that are listed one by one; more are only counted. */
const LISTED = 100;

interface FailureListProps {
  readonly failures: readonly BulkFailure<string>[];
  /** Whether they failed at being reviewed, so that a faster review is the reason of a conflict. */
  readonly isReview: boolean;
}

/** What could not be done, and why; who was faster, in the user's language and zone. */
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
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
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
