import type { Analytics } from '@gantry/contract/analytics';
import { useTranslation } from 'react-i18next';
import { GAP } from '../../shared/chart/use-cell-text.ts';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A duration in the largest unit of which it has at least one. */
function lengthText(seconds: number | null, language: string): string {
  if (seconds === null) return GAP;
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['second', 1];
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 1,
  }).format(seconds / size);
}

/** How long it took until events were marked as processed: median, mean and 90th percentile. */
export function ProcessingTime({ times }: { readonly times: Analytics['processingTime'] }) {
  const { t, i18n } = useTranslation('reports');
  const { count, median, mean, p90 } = times;
  const rows = [
    [t('processing.median'), lengthText(median, i18n.language)],
    [t('processing.mean'), lengthText(mean, i18n.language)],
    [t('processing.p90'), lengthText(p90, i18n.language)],
  ] as const;
  return (
    <section className="flex min-w-0 flex-col gap-2 self-start rounded-md border bg-surface p-3">
      <header>
        <h2 className="text-lg font-semibold">{t('processing.title')}</h2>
        <p className="figures text-sm text-muted">
          {t('processing.n', { count, n: count.toLocaleString(i18n.language) })}
        </p>
      </header>
      <dl className="grid gap-2 sm:grid-cols-3">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt className="text-sm text-muted">{name}</dt>
            <dd className="figures text-xl font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
