import type { Report, ReportStatus } from '@gantry/contract/reports';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../ui/badge.tsx';
import { TipText } from '../../ui/tip-text.tsx';

const looks: Readonly<Record<ReportStatus, Look>> = {
  QUEUED: { tone: 'calm', icon: 'time' },
  RUNNING: { tone: 'calm', icon: 'refresh' },
  DONE: { tone: 'calm', icon: 'good' },
  FAILED: { tone: 'critical', icon: 'failure' },
  CANCELLED: { tone: 'low', icon: 'none' },
};

/** Whether a report is still queued or running. */
export function isUnfinished({ status }: Pick<Report, 'status'>): boolean {
  return status === 'QUEUED' || status === 'RUNNING';
}

/** The status of a report, with its progress, or why it failed. */
export function ReportState({ report }: { readonly report: Report }) {
  const { t, i18n } = useTranslation('reports');
  const { status, progress, error, waitingFor } = report;
  const waiting =
    waitingFor &&
    t('files.waitsForCounts', { n: new Intl.NumberFormat(i18n.language).format(waitingFor.events) });
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 0 });
  return (
    <span className="flex items-center gap-2">
      <Badge {...looks[status]}>{t(`statuses.${status}`)}</Badge>
      {status === 'RUNNING' && (
        <>
          <progress
            value={progress}
            max={1}
            aria-label={t('files.progress')}
            className="h-1.5 w-16 min-w-0 accent-accent"
          />
          <span className="figures text-sm text-muted">{share.format(progress)}</span>
        </>
      )}
      {waiting && (
        <TipText tip={waiting} className="text-muted">
          {waiting}
        </TipText>
      )}
      {status === 'FAILED' && error !== null && (
        <TipText tip={error} className="text-muted">
          {error}
        </TipText>
      )}
    </span>
  );
}
