import { skipToken, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../../../shared/conflict/faster.tsx';
import { Failure, sentenceOf } from '../../../shared/service/failure.tsx';
import type { BulkFailure } from '../../../shared/service/run-bulk.ts';
import { service } from '../../../shared/service/service.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { useFasterDecision } from '../triage/use-triage.ts';
import type { BulkRun } from './use-bulk.ts';

interface BulkProgressBarProps {
  readonly run: BulkRun;
  readonly onCancel: () => void;
  readonly onClose: () => void;
}

/** The progress of a command over many events, and the failures. */
export function BulkProgressBar({ run, onCancel, onClose }: BulkProgressBarProps) {
  const { t, i18n } = useTranslation('events');
  const { action, progress, isRunning, failures, error } = run;
  const { done, of } = progress;
  const n = (value: number) => value.toLocaleString(i18n.language);
  const succeeded = done - failures.length;
  const isStopped = !isRunning && error === null && done < of;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <span role="status" className="figures">
          {action === 'collect'
            ? t('bulk.collecting')
            : isRunning
              ? t('bulk.progress', { done: n(done), of: n(of) })
              : t(`bulk.done.${action}`, { count: succeeded, n: n(succeeded), of: n(of) })}
        </span>
        {isRunning && (
          <progress
            className="h-2 min-w-40 grow accent-accent"
            value={done}
            max={of || 1}
            aria-label={t('bulk.label')}
          />
        )}
        {!isRunning && failures.length > 0 && (
          <Badge tone="high" icon="failure">
            {t('bulk.failed', { count: failures.length, n: n(failures.length) })}
          </Badge>
        )}
        <span className="grow" />
        {isRunning ? (
          <Button onClick={onCancel}>{t('bulk.cancel')}</Button>
        ) : (
          <>
            {(failures.length > 0 || isStopped) && (
              <Button icon="refresh" onClick={run.retry}>
                {isStopped ? t('bulk.resume') : t('bulk.retry')}
              </Button>
            )}
            <Button onClick={onClose}>{t('bulk.close')}</Button>
          </>
        )}
      </div>
      {error !== null && <Failure error={error} />}
      {failures.length > 0 && !isRunning && (
        <FailureList failures={failures} isReview={action === 'CONFIRMED' || action === 'REJECTED'} />
      )}
    </>
  );
}

/** Maximum number of failures that are listed. The others are only counted. */
const LISTED = 100;

interface FailureListProps {
  readonly failures: readonly BulkFailure<string>[];
  /** Whether the command was a review. If so, the reviews that caused conflicts are looked up and shown. */
  readonly isReview: boolean;
}

/** The events that failed, and why. Reviews by other users are described in the user's language and time zone. */
function FailureList({ failures, isReview }: FailureListProps) {
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
