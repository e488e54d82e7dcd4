import type { Sensor } from '@gantry/contract/sensors';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { RotateDialog } from './rotate-dialog.tsx';

/**
 * The panel with the API key of a sensor. The key can be copied without being shown; showing it is a separate action.
 * The service records both.
 */
export function KeyPanel({ sensor: { id, name } }: { readonly sensor: Pick<Sensor, 'id' | 'name'> }) {
  const { t } = useTranslation('sensors');
  const notices = useNotices();
  const [rotates, setRotates] = useState(false);
  const info = useQuery(service.sensors.getKeyInfo.queryOptions({ id }));
  const reveal = useMutation({
    mutationFn: () => api.sensors.revealKey.mutate({ id }),
    onError: notices.sayFailure,
    // The key is not kept in the cache for longer than it is shown.
    gcTime: 0,
  });
  const shown = reveal.data?.apiKey;
  const when = (at: Date | null | undefined, otherwise: string) => (at ? <Moment at={at} /> : otherwise);
  return (
    <Panel title={t('key.title')}>
      <div className="flex flex-wrap gap-2">
        <CopyButton
          label={t('key.copy')}
          text={async () => (await api.sensors.revealKey.mutate({ id })).apiKey}
        />
        {shown === undefined ? (
          <Button icon="reveal" disabled={reveal.isPending} onClick={() => reveal.mutate()}>
            {t('key.reveal')}
          </Button>
        ) : (
          <Button onClick={reveal.reset}>{t('key.hide')}</Button>
        )}
        <Button icon="refresh" onClick={() => setRotates(true)}>
          {t('key.rotate')}
        </Button>
      </div>
      {shown !== undefined && (
        <code dir="ltr" className="mt-2 rounded-md border bg-bg p-2 wrap-anywhere select-all">
          {shown}
        </code>
      )}
      {info.data && (
        <div className="mt-3">
          <Facts
            facts={[
              [t('key.lastUsed'), when(info.data.lastUsedAt, t('key.notYet'))],
              [t('key.rotated'), when(info.data.rotatedAt, t('key.never'))],
              [
                t('key.previousUntil'),
                info.data.previousValidUntil && <Moment at={info.data.previousValidUntil} />,
              ],
              [
                t('key.previousLastUsed'),
                info.data.previousValidUntil && when(info.data.previousLastUsedAt, t('key.notYet')),
              ],
            ]}
          />
        </div>
      )}
      {rotates && (
        <RotateDialog
          id={id}
          name={name}
          onClose={() => {
            setRotates(false);
            reveal.reset();
          }}
        />
      )}
    </Panel>
  );
}
