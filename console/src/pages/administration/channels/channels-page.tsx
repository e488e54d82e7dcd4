import type { Notice, NoticeChannel } from '@gantry/contract/notices';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Field } from '../../../ui/field.tsx';
import { LinkButton } from '../../../ui/links.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { StateBadge } from '../state-badge.tsx';
import { ChannelDialog, refreshChannels } from './channel-dialog.tsx';

/** The channel whose dialog is open, and which dialog. */
interface Open {
  readonly dialog: 'edit' | 'test' | 'delete';
  readonly channel?: NoticeChannel;
}

/** The channels through which messages about alarms are sent. */
export function ChannelsPage() {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const [open, setOpen] = useState<Open | null>(null);
  const { data, error, refetch } = useQuery(service.channels.getAll.queryOptions());
  const close = () => setOpen(null);
  const create = () => setOpen({ dialog: 'edit' });
  useShortcuts([{ keys: 'n', label: t('channels.create'), scope: 'page', run: create }]);
  const add = (
    <Button kind="primary" icon="add" onClick={create}>
      {t('channels.create')}
    </Button>
  );
  const channels = data?.channels ?? [];
  return (
    <>
      <PageHeader title={t('channels.title')} note={data && t('channels.total', { count: channels.length })}>
        <LinkButton to="/administration/notices" icon="list">
          {t('parts.notices')}
        </LinkButton>
        {channels.length > 0 && add}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton rows={4} />}
        {data && channels.length === 0 && (
          <Empty icon="send" title={t('channels.none')} action={add}>
            {t('channels.noneText')}
          </Empty>
        )}
        {channels.length > 0 && (
          <ul aria-label={t('channels.title')} className="max-w-6xl rounded-md border bg-surface">
            {channels.map((channel) => (
              <ChannelItem key={channel.id} channel={channel} onOpen={setOpen} />
            ))}
          </ul>
        )}
      </div>
      {open?.dialog === 'edit' && (
        <ChannelDialog
          channel={open.channel}
          onClose={close}
          onSaved={() => {
            close();
            refreshChannels();
          }}
        />
      )}
      {open?.dialog === 'test' && open.channel && <TestDialog channel={open.channel} onClose={close} />}
      {open?.dialog === 'delete' && open.channel && (
        <ConfirmDialog
          title={t('channels.deleteTitle')}
          action={t('channels.deleteAction')}
          run={() => api.channels.delete.mutate({ id: open.channel?.id ?? '' })}
          onDone={() => {
            close();
            say(t('channels.deleted'));
            refreshChannels();
          }}
          onClose={close}
        >
          <p>
            <bdi className="font-semibold">{open.channel.name}</bdi>
          </p>
          <p>{t('channels.deleteText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function ChannelItem({
  channel,
  onOpen,
}: {
  readonly channel: NoticeChannel;
  readonly onOpen: (open: Open) => void;
}) {
  const { t } = useTranslation(['administration', 'common']);
  const { sayFailure } = useNotices();
  const { id, name, kind, enabled, url, to, plates, failingSince, lastError } = channel;
  const turn = useMutation({
    mutationFn: () => api.channels.update.mutate({ id, enabled: !enabled }),
    onSuccess: refreshChannels,
    onError: sayFailure,
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
      <div className="min-w-48 grow">
        <p className="flex flex-wrap items-center gap-x-2">
          <bdi className="font-medium">{name}</bdi>
          <span className="text-muted">{t(`channels.kinds.${kind}`)}</span>
          <StateBadge state={enabled ? 'webhooks.enabled' : 'webhooks.disabled'} />
          {plates === 'SHOW' && (
            <Badge tone="medium" icon="reveal">
              {t('channels.withPlates')}
            </Badge>
          )}
          {failingSince && (
            <Badge tone="critical" icon="failure">
              {t('channels.failing')}
            </Badge>
          )}
        </p>
        <p className="text-sm wrap-anywhere text-muted">
          <bdi dir="ltr">{url ?? to.join(', ')}</bdi>
        </p>
        {failingSince && (
          <p className="text-sm wrap-anywhere text-critical">
            <Moment at={failingSince} as="ago" /> · <bdi>{lastError}</bdi>
          </p>
        )}
      </div>
      <Button icon="send" disabled={!enabled} onClick={() => onOpen({ dialog: 'test', channel })}>
        {t('channels.test')}
      </Button>
      <Button icon="edit" onClick={() => onOpen({ dialog: 'edit', channel })}>
        {t('users.edit')}
      </Button>
      <Button icon={enabled ? 'muted' : 'alert'} disabled={turn.isPending} onClick={() => turn.mutate()}>
        {enabled ? t('webhooks.disable') : t('webhooks.enable')}
      </Button>
      <Button
        kind="danger"
        icon="delete"
        aria-label={t('channels.deleteOf', { name })}
        onClick={() => onOpen({ dialog: 'delete', channel })}
      >
        {t('common:dialog.delete')}
      </Button>
    </li>
  );
}

/** How often the console checks whether the message was taken, in milliseconds. */
const LOOK_MS = 700;

const isAnswered = ({ status, lastError }: Notice): boolean => status !== 'PENDING' || lastError !== null;

/** Sends a test to the recipients of a channel, or to one that is entered, and shows what became of it. */
function TestDialog({ channel, onClose }: { readonly channel: NoticeChannel; readonly onClose: () => void }) {
  const { t } = useTranslation(['administration', 'common']);
  const takesRecipient = ['SMTP', 'SMS', 'TELEGRAM'].includes(channel.kind);
  const [to, setTo] = useState(channel.to[0] ?? '');
  const send = useMutation({
    mutationFn: () =>
      api.channels.test.mutate({ id: channel.id, ...(takesRecipient && to !== '' && { to }) }),
  });
  const id = send.data?.noticeIds[0];
  const { data, error } = useQuery({
    ...service.notices.getById.queryOptions({ id: id ?? '' }),
    enabled: id !== undefined,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data && isAnswered(state.data) ? false : LOOK_MS),
  });
  const answered = data && isAnswered(data) ? data : undefined;
  const isDone = answered !== undefined;
  useEffect(() => {
    if (isDone) refreshChannels();
  }, [isDone]);
  return (
    <Dialog title={t('channels.testTitle', { name: channel.name })} open onClose={onClose}>
      {takesRecipient && !id && (
        <Field
          label={t('channels.testTo')}
          dir="ltr"
          value={to}
          onChange={({ target }) => setTo(target.value.trim())}
        />
      )}
      {id && (
        <p aria-live="polite" className={answered?.status === 'SENT' ? undefined : 'text-muted'}>
          {answered
            ? t(answered.status === 'SENT' ? 'channels.testGood' : 'channels.testBad')
            : t('channels.testWaits')}
        </p>
      )}
      {answered?.lastError && (
        <p className="wrap-anywhere text-critical">
          <bdi>{answered.lastError}</bdi>
        </p>
      )}
      {(send.error || error) && <Failure error={send.error ?? error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common:dialog.close')}</Button>
        {!id && (
          <Button kind="primary" icon="send" disabled={send.isPending} onClick={() => send.mutate()}>
            {t('channels.test')}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
