import type { MessageDetail, MessageStatus } from '@gantry/contract/connections';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Images } from '../../../shared/events/images.tsx';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { SidePane } from '../../../shared/table/side-pane.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { readable } from '../../../ui/readable.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { MessageStatusBadge } from './message-status.tsx';

/** Refetch interval while the status of the message is not final, in milliseconds. */
const AGAIN_MS = 1_000;
const unsettled: readonly (MessageStatus | undefined)[] = ['RECEIVED', 'HELD'];

/** The details of one message: its status and the reason for it, its images, and its body, with JSON indented. */
export function MessagePane({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTranslation('connections');
  const client = useQueryClient();
  const { say } = useNotices();
  const {
    data: message,
    error,
    refetch,
  } = useQuery({
    ...service.connections.getMessage.queryOptions({ id }),
    refetchInterval: ({ state }) => unsettled.includes(state.data?.status) && AGAIN_MS,
  });
  const replay = useMutation({
    mutationFn: () => api.connections.replay.mutate({ messageId: id }),
    onSuccess: ({ count }) => {
      say(t('replay.done', { count }));
      void client.invalidateQueries({ queryKey: service.connections.pathKey() });
    },
  });
  return (
    <SidePane label={t('messages.details')} title={t('messages.details')} onClose={onClose}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!message && !error && <Skeleton rows={6} />}
      {message && (
        <>
          <Button
            icon="refresh"
            className="self-start"
            disabled={replay.isPending}
            onClick={() => replay.mutate()}
          >
            {t('replay.one')}
          </Button>
          {replay.error && <Failure error={replay.error} />}
          <MessageFacts message={message} />
          {message.pictures.length > 0 && <Images images={message.pictures} label={t('messages.images')} />}
          {message.parts.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the parts of a message never changes
            <MessagePart key={at} part={part} />
          ))}
        </>
      )}
    </SidePane>
  );
}

function MessageFacts({ message }: { readonly message: MessageDetail }) {
  const { t, i18n } = useTranslation('connections');
  const { receivedAt, status, reason, eventIds, method, path, contentType, bytes } = message;
  return (
    <Facts
      facts={[
        [t('messages.status'), <MessageStatusBadge key="status" status={status} />],
        [t('messages.reason'), reason !== null && <bdi key="reason">{reason}</bdi>],
        [t('messages.receivedAt'), <Moment key="at" at={receivedAt} />],
        [
          t('messages.events'),
          eventIds.length > 0 && (
            <ul key="events" className="flex flex-col gap-1">
              {eventIds.map((event) => (
                <li key={event}>
                  <Link to="/events" search={{ event }} className="font-mono text-sm text-accent underline">
                    {event}
                  </Link>
                </li>
              ))}
            </ul>
          ),
        ],
        [
          t('messages.request'),
          <bdi key="request" dir="ltr" className="font-mono text-sm">
            {method} {path}
          </bdi>,
        ],
        [t('messages.contentType'), contentType !== null && <bdi key="type">{contentType}</bdi>],
        [t('messages.bytes'), bytes.toLocaleString(i18n.language)],
      ].map(([name, value]) => [name, value === false ? null : value] as [string, typeof value])}
    />
  );
}

function MessagePart({ part }: { readonly part: MessageDetail['parts'][number] }) {
  const { t } = useTranslation('connections');
  const { name, fileName, contentType, text, base64, picture } = part;
  // Images are shown above.
  if (picture !== null) return null;
  const title = fileName ?? name ?? t('messages.body');
  const body = text === null ? (base64 ?? '') : readable(text);
  return (
    <Panel
      title={contentType === null ? title : `${title} · ${contentType}`}
      actions={<CopyButton text={text ?? base64 ?? ''} label={t('messages.copy')} iconOnly />}
      isFull
    >
      <section
        aria-label={title}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto p-3"
      >
        <pre dir="ltr" className="font-mono text-sm break-all whitespace-pre-wrap">
          {body}
        </pre>
      </section>
    </Panel>
  );
}
