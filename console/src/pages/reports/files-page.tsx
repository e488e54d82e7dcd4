import type { Report } from '@gantry/contract/reports';
import { reportKinds, reportStatuses } from '@gantry/contract/values';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { useToday } from '../../shared/range/use-today.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/may.ts';
import { DataTable } from '../../shared/table/data-table.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { GenerateDialog } from './generate-dialog.tsx';
import { isUnfinished } from './report-status.tsx';
import { ReportsFrame } from './reports-frame.tsx';
import { useDownload } from './use-download.ts';
import { useFileColumns } from './use-file-columns.tsx';

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
  const pages = usePages<Report>({
    queryKey: service.reports.getReports.queryKey(search),
    load: async (page, signal) => {
      const { reports, total } = await api.reports.getReports.query({ ...search, ...page }, { signal });
      return { rows: reports, total };
    },
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
        options: reportKinds.map((value) => ({ value, label: t(`kinds.${value}`) })),
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
