import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

/** The licence of the installation: the organisation, when it expires, and how many users and sensors it covers. */
export function LicencePanel() {
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
