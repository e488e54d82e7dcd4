import type { Report } from '@gantry/contract/reports';
import { reportFileKinds, reportStatuses } from '@gantry/contract/values';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { sizeText } from '../../shared/locale/size-text.ts';
import { useToday } from '../../shared/range/range-picker.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { figureColumn, SecondLine, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { GenerateDialog } from './generate-dialog.tsx';
import { ReportActions, useDownload } from './report-actions.tsx';
import { isUnfinished, ReportState } from './report-status.tsx';
import { ReportsFrame } from './reports-frame.tsx';

const keyOf = ({ id }: Report): string => id;

/** The list of generated reports and their files. */
export function FilesPage() {
  const { t } = useTranslation('reports');
  const search = useSearch({ from: '/shell/reports/files' });
  const navigate = useNavigate({ from: '/reports/files' });
  const today = useToday();
  const mayView = useMay('viewReports');
  const mayGenerate = useMay('generateReports');
  const [isGenerating, setIsGenerating] = useState(false);
  const [cursor, setCursor] = useState<string | null>(null);
  const download = useDownload();
  const columns = useFileColumns();
  const pages = usePages({
    queryKey: service.reports.getReports.queryKey(search),
    load: (page, signal) => api.reports.getReports.query({ ...search, ...page }, { signal }),
    rows: 'reports',
    keyOf,
    enabled: mayView,
    isUnderWay: isUnfinished,
  });
  useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: cursor,
    onMove: ({ id }) => setCursor(id),
    onOpen: (report) => report.url !== null && download.mutate(report),
  });
  const filters = useMemo<readonly Filter[]>(
    () => [
      {
        kind: 'choice',
        name: 'kind',
        label: t('kind'),
        options: reportFileKinds.map((value) => ({ value, label: t(`kinds.${value}`) })),
      },
      {
        kind: 'choice',
        name: 'status',
        label: t('status'),
        options: reportStatuses.map((value) => ({ value, label: t(`statuses.${value}`) })),
      },
    ],
    [t],
  );
  const change = (values: FilterValues) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  useShortcuts(
    mayGenerate
      ? [{ keys: 'n', label: t('generate.title'), scope: 'page', run: () => setIsGenerating(true) }]
      : [],
  );
  const generate = mayGenerate && (
    <Button kind="primary" icon="add" onClick={() => setIsGenerating(true)}>
      {t('generate.title')}
    </Button>
  );
  return (
    <ReportsFrame commands={generate}>
      <FilterBar filters={filters} values={search} onChange={change} />
      <DataTable
        label={t('parts.files')}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        activeKey={cursor}
        onActivate={({ id }) => setCursor(id)}
        empty={
          search.kind || search.status ? (
            <Empty
              icon="filter"
              title={t('files.noMatch')}
              action={<Button onClick={() => void navigate({ search: {} })}>{t('files.clear')}</Button>}
            />
          ) : (
            <Empty icon="file" title={t('files.first')} action={generate}>
              {mayGenerate && t('files.firstText')}
            </Empty>
          )
        }
      />
      {isGenerating && today !== null && (
        <GenerateDialog today={today} onClose={() => setIsGenerating(false)} />
      )}
    </ReportsFrame>
  );
}

function useFileColumns(): readonly Column<Report>[] {
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
      { id: 'range', header: t('files.range'), width: '14rem', wideOnly: true, cell: rangeOf },
      {
        id: 'status',
        header: t('status'),
        notNarrow: true,
        cell: (report) => <ReportState report={report} />,
      },
      figureColumn('rows', t('files.rows'), ({ rowCount }) => rowCount, { width: '6rem', wideOnly: true }),
      { id: 'size', header: t('files.size'), width: '7.5rem', isFigure: true, wideOnly: true, cell: sizeOf },
      {
        id: 'by',
        header: t('files.by'),
        width: '10rem',
        wideOnly: true,
        cell: ({ createdBy, scheduleId }) =>
          scheduleId === null ? <bdi>{createdBy?.name}</bdi> : t('files.bySchedule'),
      },
      timeColumn('created', t('files.created'), ({ createdAt }) => createdAt, {
        width: '7rem',
        wideOnly: true,
        as: 'ago',
      }),
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
