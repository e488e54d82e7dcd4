import type { Analytics } from '@gantry/contract/analytics';
import { useTranslation } from 'react-i18next';

const names = ['events', 'violations', 'incidents', 'processed', 'unprocessed', 'archived'] as const;

/** Changes of 1000 % or more are not shown: they only mean that the previous value was very small. */
const MOST_CHANGE = 10;

/** The totals of a range, compared with the previous period of the same length. */
export function Totals({ totals }: { readonly totals: Analytics['totals'] }) {
  const { t, i18n } = useTranslation('reports');
  const number = (value: number) => value.toLocaleString(i18n.language);
  const change = new Intl.NumberFormat(i18n.language, {
    style: 'percent',
    signDisplay: 'exceptZero',
    maximumFractionDigits: 1,
  });
  return (
    <dl className="grid grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-6">
      {names.map((name) => {
        const { value, previous, change: since } = totals[name];
        return (
          <div key={name} className="flex flex-col rounded-md border bg-surface px-3 py-2">
            <dt className="text-sm text-muted">{t(`totals.${name}`)}</dt>
            <dd className="figures">
              <span className="text-xl font-semibold">{number(value)}</span>
              <p className="text-sm text-muted">
                {since !== null && Math.abs(since) < MOST_CHANGE && (
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
  );
}
