import type { Health, SystemSettings } from '@gantry/contract/system';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge, type Look } from '../../../ui/badge.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

/** The health, licence and features of the service. */
export function SystemPage() {
  const { t } = useTranslation('administration');
  return (
    <>
      <PageHeader title={t('system.title')} />
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid gap-3 lg:grid-cols-2">
          <HealthPanel />
          <LicencePanel />
          <FeaturesPanel />
        </div>
      </div>
    </>
  );
}

type Feature = keyof SystemSettings['features'];

/** The features of the service, and which of them are switched off. */
function FeaturesPanel() {
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

const REFRESH_MS = 10_000;

const looks: Readonly<Record<Health['status'], Look>> = {
  healthy: { tone: 'good', icon: 'good' },
  degraded: { tone: 'high', icon: 'high' },
  unhealthy: { tone: 'critical', icon: 'failure' },
};

/** The health of the service and its database, and the version of the service. */
function HealthPanel() {
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

/** The licence of the installation: the organisation, when it expires, and how many users and sensors it covers. */
function LicencePanel() {
  const { t, i18n } = useTranslation('administration');
  const { data, error, refetch } = useQuery(service.system.getLicense.queryOptions());
  const users = useQuery(service.users.getAll.queryOptions({ take: 1 }));
  const sensors = useQuery(service.sensors.getAll.queryOptions({ take: 1 }));
  const number = (n: number) => n.toLocaleString(i18n.language);
  const use = (used: number | undefined, most: number) => (
    <span className="figures">
      {used !== undefined && number(used)}{' '}
      <span className="text-muted">
        {most < 0 ? t('system.unlimited') : t('system.of', { most: number(most) })}
      </span>
    </span>
  );
  return (
    <Panel title={t('system.licence')}>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={6} />}
      {data && (
        <Facts
          facts={[
            [
              t('system.status'),
              data.valid ? (
                <Badge key="valid" tone="good" icon="good">
                  {t('system.valid')}
                </Badge>
              ) : (
                <Badge key="valid" tone="critical" icon="failure">
                  {t('system.invalid')}
                </Badge>
              ),
            ],
            [t('system.organization'), <bdi key="organization">{data.organization}</bdi>],
            [t('system.type'), <bdi key="type">{data.type}</bdi>],
            [t('system.issued'), <Moment key="issued" at={data.issuedAt} as="date" />],
            [
              t('system.expires'),
              data.expiresAt ? <Moment key="expires" at={data.expiresAt} as="date" /> : t('users.never'),
            ],
            [t('users.title'), use(users.data?.total, data.maxUsers)],
            [t('system.sensors'), use(sensors.data?.total, data.maxSensors)],
          ]}
        />
      )}
    </Panel>
  );
}
