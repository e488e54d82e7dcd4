import type { RetentionClass, RetentionPreview, RetentionRun } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../../shared/time/moment.tsx';
import { RemovalTable } from './removal-table.tsx';
import { secondsOf, totalsOf, useRemovalText } from './removal-text.ts';
import { RunStatusBadge } from './run-status.tsx';

interface RunItemProps {
  readonly run: RetentionRun;
  /** The totals of the preview, if the run was started on this page. */
  readonly expected: RetentionPreview['totals'] | undefined;
}

const sum = (totals: Record<RetentionClass, number>) => Object.values(totals).reduce((all, n) => all + n, 0);

/** A retention run, with its progress while it is running. */
export function RunItem({ run, expected }: RunItemProps) {
  const { t, i18n } = useTranslation('administration');
  const removalText = useRemovalText();
  const { status, startedAt, startedBy, error, removals } = run;
  const totals = totalsOf(removals);
  const isRunning = status === 'RUNNING';
  const seconds = secondsOf(run);
  // Without the number of images, the progress of the run is unknown.
  const most = expected && expected.images !== null ? sum({ ...expected, images: expected.images }) : 0;
  const text = isRunning
    ? t('runs.soFar', { what: removalText(totals) })
    : t('runs.removed', { what: removalText(totals) });
  return (
    <li className="flex flex-col gap-1.5 border-b px-3 py-2 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <RunStatusBadge status={status} />
        <Moment at={startedAt} />
        <span className="text-muted">{startedBy ? <bdi>{startedBy.name}</bdi> : t('runs.daily')}</span>
        {seconds !== null && (
          <span className="figures text-muted">
            {new Intl.NumberFormat(i18n.language, {
              style: 'unit',
              unit: 'second',
              maximumFractionDigits: 1,
            }).format(seconds)}
          </span>
        )}
      </div>
      {isRunning && most > 0 && (
        <progress
          aria-label={t('runs.progress')}
          value={sum(totals)}
          max={most}
          className="h-2 w-full max-w-md accent-accent"
        />
      )}
      {error !== null && (
        <p className="text-critical">
          <bdi>{error}</bdi>
        </p>
      )}
      {removals.length === 0 ? (
        <p className="text-muted">{text}</p>
      ) : (
        <details>
          <summary className="cursor-pointer">{text}</summary>
          <div className="mt-2 max-w-3xl">
            <RemovalTable removals={removals} />
          </div>
        </details>
      )}
    </li>
  );
}
