import type { Health } from '@gantry/contract/system';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import type { IconName } from '../../../ui/icon.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

const REFRESH_MS = 10_000;

const looks: Readonly<Record<Health['status'], { tone: Tone; icon: IconName }>> = {
  healthy: { tone: 'good', icon: 'good' },
  degraded: { tone: 'high', icon: 'high' },
  unhealthy: { tone: 'critical', icon: 'failure' },
};

/** The health of the service and its database, and the version of the service. */
export function HealthPanel() {
  const { t } = useTranslation('administration');
  const health = useQuery({ ...service.system.health.queryOptions(), refetchInterval: REFRESH_MS });
  const settings = useQuery(service.system.getSettings.queryOptions());
  const { data, error } = health;
  return (
    <Panel title={t('system.health')}>
      {error && <Failure error={error} onRetry={() => void health.refetch()} />}
      {!data && !error && <Skeleton rows={4} />}
      {data && (
        <Facts
          facts={[
            [
              t('system.status'),
              <Badge key="status" {...looks[data.status]}>
                {t(`health.${data.status}`)}
              </Badge>,
            ],
            [
              t('storage.database'),
              data.database === 'connected' ? (
                <Badge key="database" tone="good" icon="good">
                  {t('health.connected')}
                </Badge>
              ) : (
                <Badge key="database" tone="critical" icon="offline">
                  {t('health.disconnected')}
                </Badge>
              ),
            ],
            [t('system.asOf'), <Moment key="at" at={data.timestamp} />],
            [t('system.product'), settings.data && <bdi key="app">{settings.data.appName}</bdi>],
            [
              t('system.version'),
              <bdi key="version" className="figures">
                {data.version}
              </bdi>,
            ],
            [t('system.environment'), settings.data && <bdi key="env">{settings.data.environment}</bdi>],
          ]}
        />
      )}
    </Panel>
  );
}
