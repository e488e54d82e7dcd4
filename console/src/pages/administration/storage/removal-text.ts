import type { RetentionClass, RetentionPreview, RetentionRun } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { retentionClasses } from './refresh.ts';

/** Formats totals as a text: `12,345 events and 678 images`, or `nothing`. */
export function useRemovalText(): (totals: RetentionPreview['totals']) => string {
  const { t, i18n } = useTranslation('administration');
  return (totals) => {
    const parts = retentionClasses
      .map((name) => [name, totals[name]] as const)
      .filter(([, count]) => count !== 0)
      .map(([name, count]) =>
        count === null
          ? t('amount.uncountedImages')
          : t(`amount.${name}`, { count, n: count.toLocaleString(i18n.language) }),
      );
    return parts.length === 0 ? t('amount.nothing') : new Intl.ListFormat(i18n.language).format(parts);
  };
}

/** The total number of removed items in each class. */
export function totalsOf(
  removals: readonly { readonly class: RetentionClass; readonly rows: number }[],
): Record<RetentionClass, number> {
  const totals = { events: 0, images: 0, reports: 0, activity: 0, traffic: 0 };
  for (const removal of removals) totals[removal.class] += removal.rows;
  return totals;
}

/** The duration of a run in seconds; null while it is running. */
export function secondsOf({ startedAt, finishedAt }: RetentionRun): number | null {
  return finishedAt && Math.max(0, (finishedAt.getTime() - startedAt.getTime()) / 1000);
}
