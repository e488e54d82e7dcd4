import type { RetentionRun } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { api } from '../../../shared/service/service.ts';
import type { ExportColumn } from '../../../shared/table/export.ts';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { retentionClasses } from './refresh.ts';
import { secondsOf, totalsOf } from './removal-text.ts';

/** A button that exports all retention runs as CSV, with what each removed. */
export function ExportRuns({ total }: { readonly total: number | null }) {
  const { t } = useTranslation('administration');
  const columns: readonly ExportColumn<RetentionRun>[] = [
    { header: t('runs.begun'), csv: ({ startedAt }) => startedAt },
    { header: t('runs.finished'), csv: ({ finishedAt }) => finishedAt },
    { header: t('runs.seconds'), csv: secondsOf },
    { header: t('runs.status'), csv: ({ status }) => t(`runStatus.${status}`) },
    { header: t('runs.by'), csv: ({ startedBy }) => startedBy?.name ?? t('runs.daily') },
    ...retentionClasses.map((name) => ({
      header: t(`classes.${name}`),
      csv: ({ removals }: RetentionRun) => totalsOf(removals)[name],
    })),
    { header: t('runs.error'), csv: ({ error }) => error },
  ];
  return (
    <ExportButton
      title={t('runs.title')}
      columns={columns}
      pages={{
        total,
        keyOf: ({ id }) => id,
        load: async (page, signal) => {
          const { runs, total: all } = await api.storage.getRetentionRuns.query(page, { signal });
          return { rows: runs, total: all };
        },
      }}
    />
  );
}
