import type { Analytics } from '@gantry/contract/analytics';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Moment } from '../time/moment.tsx';

interface RepeatPlatesProps {
  readonly analytics: Analytics;
  readonly from: Date;
}

/** The plates that were seen most often, and the way to their events. */
export function RepeatPlates({ analytics: { repeatPlates }, from }: RepeatPlatesProps) {
  const { t, i18n } = useTranslation('reports');
  const { since, plates } = repeatPlates;
  const head = 'border-b px-2 pb-1 text-sm font-medium text-muted';
  return (
    <section className="flex min-w-0 flex-col gap-2 rounded-md border bg-raised p-3">
      <header>
        <h2 className="text-lg font-semibold">{t('plates.title')}</h2>
        {since > from && (
          <p className="text-sm text-muted">
            {t('plates.since')} <Moment at={since} />
          </p>
        )}
      </header>
      {plates.length === 0 ? (
        <p className="text-muted">{t('plates.none')}</p>
      ) : (
        <section
          aria-label={t('plates.title')}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
          tabIndex={0}
          className="max-h-80 overflow-auto"
        >
          <table className="w-full border-separate border-spacing-0">
            <thead>
              <tr>
                <th scope="col" className={`${head} text-start`}>
                  {t('filters.licensePlateNumber')}
                </th>
                <th scope="col" className={`${head} text-end`}>
                  {t('plates.seen')}
                </th>
                <th scope="col" className={`${head} text-end`}>
                  {t('plates.last')}
                </th>
              </tr>
            </thead>
            <tbody>
              {plates.map(({ licensePlateNumber, count, lastSeen }) => (
                <tr key={licensePlateNumber}>
                  <th scope="row" className="border-b px-2 py-1 text-start font-normal">
                    <Link
                      to="/events"
                      search={{ licensePlateNumber }}
                      className="text-accent underline-offset-2 hover:underline"
                    >
                      <bdi className="font-mono">{licensePlateNumber}</bdi>
                    </Link>
                  </th>
                  <td className="figures border-b px-2 py-1 text-end">
                    {count.toLocaleString(i18n.language)}
                  </td>
                  <td className="border-b px-2 py-1 text-end">
                    <Moment at={lastSeen} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
