import type { StorageStats } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { Bar } from './bar.tsx';

interface MonthTableProps {
  readonly months: StorageStats['months'];
  readonly size: (bytes: number) => string;
}

/** The number of events of each month that has any, with a bar, and their size. */
export function MonthTable({ months, size }: MonthTableProps) {
  const { t, i18n } = useTranslation('administration');
  const shown = months.filter(({ events }) => events > 0);
  if (shown.length === 0) return null;
  const most = Math.max(...shown.map(({ events }) => events));
  return (
    <ScrolledTable
      label={t('storage.months')}
      head="bg-surface"
      rows={shown}
      keyOf={({ month }) => month}
      columns={[
        { header: t('storage.month'), isLeftToRight: true, cell: ({ month }) => month },
        {
          header: t('storage.share'),
          hideHeader: true,
          shown: 'w-1/2 max-sm:hidden',
          cell: ({ events }) => <Bar share={events / most} />,
        },
        {
          header: t('storage.events'),
          isFigure: true,
          cell: ({ events }) => events.toLocaleString(i18n.language),
        },
        {
          header: t('storage.size'),
          isFigure: true,
          className: 'text-muted',
          cell: ({ bytes }) => bytes !== null && size(bytes),
        },
      ]}
    />
  );
}
