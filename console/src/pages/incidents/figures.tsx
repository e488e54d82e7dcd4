import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../../shared/service/service.ts';
import { useTime } from '../../shared/time/use-time.ts';

/** The number of open incidents, and the mean times to acknowledge and to resolve one. */
export function IncidentFigures() {
  const { t, i18n } = useTranslation('incidents');
  const time = useTime();
  const { data } = useQuery(service.incidents.getStats.queryOptions());
  if (!data) return null;
  const { open, meanTimeToAcknowledge, meanTimeToResolve } = data;
  return (
    <div className="flex flex-wrap gap-x-4">
      <span>{t('figures.open', { count: open, n: open.toLocaleString(i18n.language) })}</span>
      {meanTimeToAcknowledge !== null && (
        <span className="max-md:hidden">
          {t('figures.meanToAcknowledge')} {time.duration(meanTimeToAcknowledge * 1000)}
        </span>
      )}
      {meanTimeToResolve !== null && (
        <span className="max-md:hidden">
          {t('figures.meanToResolve')} {time.duration(meanTimeToResolve * 1000)}
        </span>
      )}
    </div>
  );
}
