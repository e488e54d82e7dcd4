import type { Analytics } from '@gantry/contract/analytics';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon } from '../../ui/icon.tsx';

const names = ['events', 'violations', 'incidents', 'processed', 'unprocessed', 'archived'] as const;

/** Changes of 1000 % or more are not shown: they only mean that the previous value was very small. */
const MOST_CHANGE = 10;

/** The totals of a range, compared with the previous period of the same length. */
export function Totals({ analytics }: { readonly analytics: Analytics }) {
  const { totals, firstEventAt, start, end } = analytics;
  const { t, i18n } = useTranslation('reports');
  const number = (value: number) => value.toLocaleString(i18n.language);
  const change = new Intl.NumberFormat(i18n.language, {
    style: 'percent',
    signDisplay: 'exceptZero',
    maximumFractionDigits: 1,
  });
  // The comparison of a whole period with a part of one says nothing.
  const previousStart = 2 * start.getTime() - end.getTime();
  const isPartial = firstEventAt !== null && firstEventAt.getTime() > previousStart && firstEventAt < start;
  return (
    <>
      {isPartial && (
        <p className="mb-2 text-sm text-muted">
          <Icon name="help" size={14} className="me-1 inline align-text-bottom" />
          {t('totals.partial')} <Moment at={firstEventAt} />
        </p>
      )}
      <dl className="grid grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-6">
        {names.map((name) => {
          const { value, previous, change: since } = totals[name];
          return (
            <div key={name} className="flex flex-col rounded-md border bg-surface px-3 py-2">
              <dt className="text-sm text-muted">{t(`totals.${name}`)}</dt>
              <dd className="figures">
                <span className="text-xl font-semibold">{number(value)}</span>
                <p className="text-sm text-muted">
                  {since !== null && !isPartial && Math.abs(since) < MOST_CHANGE && (
                    <>
                      <bdi dir="ltr">{change.format(since)}</bdi> ·{' '}
                    </>
                  )}
                  {previous === null ? t('totals.unknown') : t('totals.previous', { n: number(previous) })}
                </p>
              </dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}
