import { permissionNames } from '@gantry/contract/permissions';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../../shared/page/page-failure.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { useMay } from '../../../shared/session/may.ts';
import { backLook } from '../../../ui/back-look.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { ConnectionActions } from './connection-actions.tsx';
import { Discoveries } from './discoveries.tsx';
import { Messages } from './messages.tsx';
import { NotStored } from './not-stored.tsx';
import { useFormats } from './use-formats.ts';

/** The page of one connection: the messages of the device with their status, and devices that are not assigned yet. */
export function ConnectionPage() {
  if (!useMay('manageSensors')) return <NotAllowed permission={permissionNames.manageSensors} />;
  return <OneConnection />;
}

function OneConnection() {
  const { t } = useTranslation('connections');
  const { sensorId, connectionId } = useParams({
    from: '/shell/sensors/$sensorId/connections/$connectionId',
  });
  const { labelOf } = useFormats();
  const sensor = useQuery(service.sensors.getById.queryOptions({ id: sensorId }));
  const {
    data: connection,
    error,
    refetch,
  } = useQuery(service.connections.getById.queryOptions({ id: connectionId }));
  return (
    <>
      <PageHeader
        subject={connection && `${sensor.data?.name ?? ''} · ${labelOf(connection.format)}`}
        title={
          <>
            <Link to="/sensors/$sensorId" params={{ sensorId }} aria-label={t('back')} className={backLook}>
              <Icon name="previous" size={20} />
            </Link>
            <bdi className="line-clamp-2 inline">{sensor.data?.name ?? t('title')}</bdi>
          </>
        }
        note={
          connection && (
            <>
              {labelOf(connection.format)} · <bdi dir="ltr">{connection.username}</bdi>
            </>
          )
        }
      >
        {connection && <ConnectionActions connection={connection} />}
      </PageHeader>
      {error && !connection && (
        <div className="p-4">
          <Failure error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!connection && !error && <Skeleton rows={8} />}
      {connection && (
        <>
          <NotStored connection={connection} />
          <Discoveries connectionId={connection.id} recorder={sensor.data?.name ?? ''} />
          <Messages connectionId={connection.id} />
        </>
      )}
    </>
  );
}
