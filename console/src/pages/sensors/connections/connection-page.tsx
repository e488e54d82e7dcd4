import type { Connection, CreatedConnection } from '@gantry/contract/connections';
import { permissionNames } from '@gantry/contract/permissions';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { NotAllowed } from '../../../shared/page/page-failure.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Loaded, NameWithBack } from '../../../shared/page/resource-page.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { useMay } from '../../../shared/session/session.ts';
import { Button } from '../../../ui/button.tsx';
import { BackLink } from '../../../ui/links.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Discoveries, NotStored } from './discoveries.tsx';
import { EditConnectionDialog } from './edit-dialog.tsx';
import { Messages } from './messages.tsx';
import { SecretsDialog, StepsDialog } from './secrets.tsx';
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
  const query = useQuery(service.connections.getById.queryOptions({ id: connectionId }));
  const connection = query.data;
  return (
    <>
      <PageHeader
        subject={connection && `${sensor.data?.name ?? ''} · ${labelOf(connection.format)}`}
        title={
          <NameWithBack
            name={sensor.data?.name ?? t('title')}
            back={<BackLink to="/sensors/$sensorId" params={{ sensorId }} aria-label={t('back')} />}
          />
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
      <Loaded query={query}>
        {(loaded) => (
          <>
            <NotStored connection={loaded} />
            <Discoveries connectionId={loaded.id} nvr={sensor.data?.name ?? ''} />
            <Messages connectionId={loaded.id} />
          </>
        )}
      </Loaded>
    </>
  );
}

type Asked = 'edit' | 'steps' | 'rotate' | 'delete' | null;

/** The actions for a connection: replay refused messages, edit, replace the secrets, delete. */
function ConnectionActions({ connection }: { readonly connection: Connection }) {
  const { t } = useTranslation(['connections', 'common']);
  const client = useQueryClient();
  const navigate = useNavigate();
  const notices = useNotices();
  const [asked, setAsked] = useState<Asked>(null);
  const [rotated, setRotated] = useState<CreatedConnection | null>(null);
  const { id, sensorId } = connection;
  const refresh = () => void client.invalidateQueries({ queryKey: service.connections.pathKey() });
  const replay = useMutation({
    mutationFn: () => api.connections.replay.mutate({ connectionId: id, status: 'REFUSED' }),
    onSuccess: ({ count }) => {
      notices.say(t('replay.done', { count }));
      refresh();
    },
    onError: notices.sayFailure,
  });
  useShortcuts([{ keys: 'e', label: t('edit.title'), scope: 'page', run: () => setAsked('edit') }]);
  const close = () => setAsked(null);
  return (
    <>
      <Button icon="refresh" disabled={replay.isPending} onClick={() => replay.mutate()}>
        {t('replay.refused')}
      </Button>
      <Button icon="edit" onClick={() => setAsked('edit')}>
        {t('edit.action')}
      </Button>
      <Button icon="list" onClick={() => setAsked('steps')}>
        {t('secrets.show')}
      </Button>
      <Button icon="key" onClick={() => setAsked('rotate')}>
        {t('rotate.action')}
      </Button>
      <Button kind="danger" icon="delete" onClick={() => setAsked('delete')}>
        {t('common:dialog.delete')}
      </Button>
      {asked === 'edit' && <EditConnectionDialog connection={connection} onClose={close} />}
      {asked === 'steps' && <StepsDialog id={id} onClose={close} />}
      {asked === 'rotate' && (
        <ConfirmDialog
          title={t('rotate.title')}
          action={t('rotate.action')}
          run={async () => setRotated(await api.connections.rotate.mutate({ id }))}
          onDone={close}
          onClose={close}
        >
          <p>{t('rotate.text')}</p>
        </ConfirmDialog>
      )}
      {rotated && (
        <SecretsDialog title={t('rotate.done')} connection={rotated} onClose={() => setRotated(null)} />
      )}
      {asked === 'delete' && (
        <ConfirmDialog
          title={t('delete.title')}
          action={t('common:dialog.delete')}
          run={() => api.connections.delete.mutate({ id })}
          onDone={() => {
            refresh();
            void navigate({ to: '/sensors/$sensorId', params: { sensorId } });
          }}
          onClose={close}
        >
          <p>{t('delete.text')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
