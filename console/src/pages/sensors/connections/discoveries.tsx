import type { Connection, Discovery } from '@gantry/contract/connections';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { sensorLookUp } from '../../../shared/places/look-ups.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icon.tsx';

const AGAIN_MS = 10_000;

/** Maximum length of the name of a sensor. */
const NAME_MAX = 50;

/** The devices of an NVR that are not assigned to a sensor. Renders nothing if there are none. */
export function Discoveries({
  connectionId,
  nvr,
}: {
  readonly connectionId: string;
  /** The name of the sensor that represents the NVR. */
  readonly nvr: string;
}) {
  const { t } = useTranslation('connections');
  const [asked, setAsked] = useState<Discovery | null>(null);
  const { data } = useQuery({
    ...service.connections.getDiscoveries.queryOptions({ connectionId, take: 100 }),
    refetchInterval: AGAIN_MS,
  });
  if (!data || data.total === 0) return null;
  return (
    <section
      aria-label={t('discoveries.title')}
      className="max-h-52 shrink-0 overflow-y-auto border-b bg-medium-surface px-4 py-2"
    >
      <p className="flex items-center gap-2 font-semibold">
        <Icon name="help" className="text-medium" /> {t('discoveries.title')}
      </p>
      <ul>
        {data.discoveries.map((discovery) => (
          <li key={discovery.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1">
            <bdi className="min-w-0 grow font-mono wrap-anywhere">{discovery.device}</bdi>
            <span className="text-muted">{t('discoveries.messages', { count: discovery.messages })}</span>
            <Moment at={discovery.lastSeen} />
            <Button icon="add" onClick={() => setAsked(discovery)}>
              {t('discoveries.register')}
            </Button>
          </li>
        ))}
      </ul>
      {asked && <RegisterDialog discovery={asked} nvr={nvr} onClose={() => setAsked(null)} />}
    </section>
  );
}

/** Creates a sensor for a device or assigns it to an existing one, and replays the messages it has sent meanwhile. */
function RegisterDialog({
  discovery,
  nvr,
  onClose,
}: {
  readonly discovery: Discovery;
  readonly nvr: string;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation('connections');
  const client = useQueryClient();
  const { say } = useNotices();
  const form = useForm({
    keep: `device ${discovery.id}`,
    read: (entered) => {
      const sensorId = entered.text('sensorId');
      return { id: discovery.id, ...(sensorId === '' ? { name: entered.text('name') } : { sensorId }) };
    },
    save: (input) => api.connections.register.mutate(input),
    onSuccess: ({ replayed }) => {
      void client.invalidateQueries({ queryKey: service.connections.pathKey() });
      void client.invalidateQueries({ queryKey: service.sensors.pathKey() });
      say(t('discoveries.done', { count: replayed }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('discoveries.registerTitle')}
      form={form}
      onClose={onClose}
      action={t('discoveries.register')}
    >
      <p>
        <bdi className="font-mono wrap-anywhere">{discovery.device}</bdi>
      </p>
      <Field
        label={t('discoveries.name')}
        name="name"
        defaultValue={`${nvr} ${discovery.device}`.trim().slice(0, NAME_MAX)}
        error={form.errorOf('name')}
        autoComplete="off"
      />
      <LookUpField label={t('discoveries.existing')} name="sensorId" defaultValue={null} {...sensorLookUp} />
    </FormDialog>
  );
}

/**
 * Warnings about a connection: messages that the service refused because there were too many, messages that were lost,
 * and problems with its topics. Renders nothing if there are none.
 */
export function NotStored({ connection }: { readonly connection: Connection }) {
  const { t } = useTranslation('connections');
  const { limitedMessages, lastLimitedAt, lostMessages, lastLostAt, topicsWarning } = connection;
  if (limitedMessages === 0 && lostMessages === 0 && topicsWarning === null) return null;
  return (
    <ul className="flex flex-col gap-1 border-b bg-surface px-4 py-2">
      {lostMessages > 0 && (
        <li>
          <Badge tone="critical" icon="failure">
            {t('lost', { count: lostMessages })}
          </Badge>{' '}
          <span className="text-muted">
            {lastLostAt && <Moment at={lastLostAt} />} · {t('lostText')}
          </span>
        </li>
      )}
      {limitedMessages > 0 && (
        <li>
          <Badge tone="high" icon="high">
            {t('limited', { count: limitedMessages })}
          </Badge>{' '}
          <span className="text-muted">
            {lastLimitedAt && <Moment at={lastLimitedAt} />} · {t('limitedText')}
          </span>
        </li>
      )}
      {topicsWarning !== null && (
        <li>
          <Badge tone="high" icon="high">
            {t(`topicsWarning.${topicsWarning}`)}
          </Badge>{' '}
          <span className="text-muted">{t(`topicsWarningText.${topicsWarning}`)}</span>
        </li>
      )}
    </ul>
  );
}
