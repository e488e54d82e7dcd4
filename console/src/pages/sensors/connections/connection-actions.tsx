import type { Connection, CreatedConnection } from '@gantry/contract/connections';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/confirm-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { EditConnectionDialog } from './edit-dialog.tsx';
import { SecretsDialog, StepsDialog } from './secrets.tsx';

type Asked = 'edit' | 'steps' | 'rotate' | 'delete' | null;

/** The actions for a connection: replay refused messages, edit, replace the secrets, delete. */
export function ConnectionActions({ connection }: { readonly connection: Connection }) {
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
