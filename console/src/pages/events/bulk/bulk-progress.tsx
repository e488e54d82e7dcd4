import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { FailureList } from './failure-list.tsx';
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
