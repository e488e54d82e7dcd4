import type { Incident } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import type { Pages } from '../../shared/table/pages.ts';
import { useIncidentColumns } from './columns.tsx';

interface SaveIncidentsProps {
  readonly pages: Pages<Incident>;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
}

/** A button that saves the list of incidents as CSV, with more columns than the list shows. */
export function SaveIncidents({ pages, filters, values }: SaveIncidentsProps) {
  const { t } = useTranslation('incidents');
  const columns: readonly ExportColumn<Incident>[] = [
    ...useIncidentColumns(),
    { header: t('fields.closedAt'), csv: ({ closedAt }) => closedAt },
    { header: t('fields.reportedBy'), csv: ({ reportedBy }) => reportedBy?.name ?? null },
    { header: t('fields.latitude'), csv: ({ location }) => location?.latitude ?? null },
    { header: t('fields.longitude'), csv: ({ location }) => location?.longitude ?? null },
    { header: t('fields.lanesBlocked'), csv: ({ lanesBlocked }) => lanesBlocked },
    { header: t('fields.description'), csv: ({ description }) => description },
  ];
  return <ExportButton title={t('title')} {...{ columns, pages, filters, values }} />;
}
