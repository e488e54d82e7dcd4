import type { SystemSettings } from '@gantry/contract/system';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

type Feature = keyof SystemSettings['features'];

/** The features of the service, and which of them are switched off. */
export function FeaturesPanel() {
  const { t } = useTranslation('administration');
  const { data, error, refetch } = useQuery(service.system.getSettings.queryOptions());
  return (
    <Panel title={t('system.features')} className="lg:col-span-2">
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={6} />}
      {data && (
        <>
          <ul className="grid gap-x-8 gap-y-1.5 sm:grid-cols-2 xl:grid-cols-4">
            {(Object.keys(data.features) as Feature[]).map((feature) => (
              <li key={feature} className="flex items-center justify-between gap-3">
                {t(`features.${feature}`)}
                {data.features[feature] ? (
                  <Badge tone="calm" icon="good">
                    {t('system.on')}
                  </Badge>
                ) : (
                  <Badge tone="medium" icon="none">
                    {t('system.off')}
                  </Badge>
                )}
              </li>
            ))}
          </ul>
          <p className="mt-3 text-sm text-muted">{t('system.featuresText')}</p>
        </>
      )}
    </Panel>
  );
}
