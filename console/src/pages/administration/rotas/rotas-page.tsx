import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { type ListedRota, RotaDialog } from './rota-dialog.tsx';

/** Number of days whose shifts are shown. */
const SHOWN_DAYS = 14;

interface Open {
  readonly dialog: 'edit' | 'delete';
  readonly rota?: ListedRota;
}

/** The rotas: who is on duty now and in the next two weeks. */
export function RotasPage() {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const [open, setOpen] = useState<Open | null>(null);
  const { data, error, refetch } = useQuery(service.rotas.getAll.queryOptions());
  const close = () => setOpen(null);
  const refresh = () => {
    close();
    void queryClient.invalidateQueries({ queryKey: service.rotas.pathKey() });
  };
  const create = () => setOpen({ dialog: 'edit' });
  useShortcuts([{ keys: 'n', label: t('rotas.create'), scope: 'page', run: create }]);
  const add = (
    <Button kind="primary" icon="add" onClick={create}>
      {t('rotas.create')}
    </Button>
  );
  const rotas = data?.rotas ?? [];
  return (
    <>
      <PageHeader title={t('rotas.title')}>{rotas.length > 0 && add}</PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton rows={4} />}
        {data && rotas.length === 0 && (
          <Empty icon="users" title={t('rotas.none')} action={add}>
            {t('rotas.noneText')}
          </Empty>
        )}
        <div className="grid max-w-6xl gap-3 lg:grid-cols-2">
          {rotas.map((rota) => (
            <RotaPanel key={rota.id} rota={rota} onOpen={setOpen} />
          ))}
        </div>
      </div>
      {open?.dialog === 'edit' && <RotaDialog rota={open.rota} onClose={close} onSaved={refresh} />}
      {open?.dialog === 'delete' && open.rota && (
        <ConfirmDialog
          title={t('rotas.deleteTitle')}
          action={t('rotas.deleteAction')}
          run={() => api.rotas.delete.mutate({ id: open.rota?.id ?? '' })}
          onDone={() => {
            say(t('rotas.deleted'));
            refresh();
          }}
          onClose={close}
        >
          <p>
            <bdi className="font-semibold">{open.rota.name}</bdi>
          </p>
          <p>{t('rotas.deleteText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function RotaPanel({ rota, onOpen }: { readonly rota: ListedRota; readonly onOpen: (open: Open) => void }) {
  const { t } = useTranslation(['administration', 'common']);
  const { data, error } = useQuery(service.rotas.getOnDuty.queryOptions({ id: rota.id, days: SHOWN_DAYS }));
  return (
    <Panel
      title={rota.name}
      isFull
      actions={
        <>
          <Button icon="edit" onClick={() => onOpen({ dialog: 'edit', rota })}>
            {t('users.edit')}
          </Button>
          <Button
            kind="danger"
            icon="delete"
            aria-label={t('rotas.deleteOf', { name: rota.name })}
            onClick={() => onOpen({ dialog: 'delete', rota })}
          >
            {t('common:dialog.delete')}
          </Button>
        </>
      }
    >
      <p className="border-b p-3">
        {t('rotas.now')} <bdi className="font-semibold">{rota.onDuty?.name ?? t('rotas.nobody')}</bdi>
      </p>
      {error && <Failure error={error} />}
      <ul aria-label={t('rotas.shifts')} className="max-h-72 overflow-y-auto">
        {data?.shifts.map(({ from, until, user, layer }) => (
          <li
            key={from.toISOString()}
            className="flex flex-wrap gap-x-3 border-b px-3 py-1.5 last:border-b-0"
          >
            <span dir="ltr" className="text-muted">
              <Moment at={from} /> – <Moment at={until} />
            </span>
            <bdi className={user ? 'grow' : 'grow text-critical'}>{user?.name ?? t('rotas.nobody')}</bdi>
            {user && layer === null && <span className="text-muted">{t('rotas.override')}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
