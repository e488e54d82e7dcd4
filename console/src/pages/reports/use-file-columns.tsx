import type { Report } from '@gantry/contract/reports';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../shared/locale/size-text.ts';
import type { Column } from '../../shared/table/data-table.tsx';
import { SecondLine } from '../../shared/table/second-line.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { ReportActions } from './report-actions.tsx';
import { ReportState } from './report-status.tsx';

/** The columns of the list of reports. */
export function useFileColumns(): readonly Column<Report>[] {
  const { t, i18n } = useTranslation('reports');
  const time = useServiceTime();
  return useMemo(() => {
    const rangeOf = ({ range }: Report) => {
      const days = [time.date(range.startDate), time.date(range.endDate)];
      return <bdi dir="ltr">{[...new Set(days)].join(' – ')}</bdi>;
    };
    const sizeOf = ({ size }: Report) => size !== null && sizeText(size, i18n.language);
    return [
      {
        id: 'kind',
        header: t('kind'),
        cell: (report) => (
          <>
            <span className="flex gap-2">
              <span className="one-line max-w-full shrink-0">
                {t(`kinds.${report.kind}`)} <span className="text-muted">{report.format}</span>{' '}
                <span className="text-muted @5xl:hidden">{sizeOf(report)}</span>
              </span>
              <span className="one-line @xl:hidden">
                <ReportState report={report} />
              </span>
            </span>
            <SecondLine wideOnly>
              {rangeOf(report)} · <Moment at={report.createdAt} as="ago" />
            </SecondLine>
          </>
        ),
      },
      {
        id: 'range',
        header: t('files.range'),
        width: '14rem',
        wideOnly: true,
        cell: rangeOf,
      },
      {
        id: 'status',
        header: t('status'),
        notNarrow: true,
        cell: (report) => <ReportState report={report} />,
      },
      {
        id: 'rows',
        header: t('files.rows'),
        width: '6rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ rowCount }) => rowCount.toLocaleString(i18n.language),
      },
      {
        id: 'size',
        header: t('files.size'),
        width: '7.5rem',
        isFigure: true,
        wideOnly: true,
        cell: sizeOf,
      },
      {
        id: 'by',
        header: t('files.by'),
        width: '10rem',
        wideOnly: true,
        cell: ({ createdBy, scheduleId }) =>
          scheduleId === null ? <bdi>{createdBy?.name}</bdi> : t('files.bySchedule'),
      },
      {
        id: 'created',
        header: t('files.created'),
        width: '7rem',
        wideOnly: true,
        cell: ({ createdAt }) => <Moment at={createdAt} as="ago" />,
      },
      {
        id: 'actions',
        header: t('files.actions'),
        width: '6.5rem',
        isFigure: true,
        cell: (report) => <ReportActions report={report} />,
      },
    ];
  }, [t, i18n.language, time]);
}
