import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

/** Formats a number of vehicles, and that of the comparison, if given: `1,381 vehicles / 1,219 vehicles`. */
export function useVehicles(): (count: number, other?: number | null) => string {
  const { t, i18n } = useTranslation('traffic');
  return useCallback(
    (...counts) =>
      counts
        .flatMap((count) => count ?? [])
        .map((count) => t('vehicles', { count, n: count.toLocaleString(i18n.language) }))
        .map((text, _, all) => (all.length > 1 ? `\u2068${text}\u2069` : text))
        .join(' / '),
    [t, i18n.language],
  );
}
