import type { StorageStats } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { Bar } from './bar.tsx';

interface MonthTableProps {
  readonly months: StorageStats['months'];
  readonly size: (bytes: number) => string;
}

/** The events of each month, with a bar for how many they are. */
export function MonthTable({ months, size }: MonthTableProps) {
  const { t, i18n } = useTranslation('administration');
  const shown = months.filter(({ events }) => events > 0);
  if (shown.length === 0) return null;
  const most = Math.max(...shown.map(({ events }) => events));
  const head = 'border-b py-1 text-sm font-medium text-muted';
  return (
    <section
      aria-label={t('storage.months')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      className="max-h-72 overflow-y-auto"
    >
      <table className="w-full border-separate border-spacing-0">
        <thead className="sticky top-0 bg-surface">
          <tr>
            <th scope="col" className={`${head} text-start`}>
              {t('storage.month')}
            </th>
            <th scope="col" className={`${head} w-1/2 max-sm:hidden`}>
              <span className="sr-only">{t('storage.share')}</span>
            </th>
            <th scope="col" className={`${head} text-end`}>
              {t('storage.events')}
            </th>
            <th scope="col" className={`${head} text-end`}>
              {t('storage.size')}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ month, events, bytes }) => (
            <tr key={month}>
              <td dir="ltr" className="figures py-1 rtl:text-end">
                {month}
              </td>
              <td className="px-3 max-sm:hidden">
                <Bar share={events / most} />
              </td>
              <td className="figures text-end">{events.toLocaleString(i18n.language)}</td>
              <td className="figures text-end text-muted">{bytes !== null && size(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
