import type { Sensor } from '@gantry/contract/sensors';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { Select } from '../../ui/select.tsx';

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

interface RotateDialogProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** The choices for how long the previous key stays valid, in minutes. */
const OVERLAPS = ['0', '15', '60', '1440'] as const;

/** The dialog that replaces the key of a sensor, and then offers to copy the new one. */
function RotateDialog({ id, name, onClose }: RotateDialogProps) {
  const { t } = useTranslation(['sensors', 'common']);
  const client = useQueryClient();
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('0');
  const rotate = useMutation({
    mutationFn: () => api.sensors.rotateKey.mutate({ id, overlapMinutes: Number(overlap) }),
    onSuccess: () => void client.invalidateQueries({ queryKey: service.sensors.pathKey() }),
    gcTime: 0,
  });
  if (rotate.data) {
    return (
      <Dialog title={t('key.done')} open onClose={onClose}>
        <p>{overlap === '0' ? t('key.oldInvalid') : t('key.oldUntil', { minutes: Number(overlap) })}</p>
        <div className="flex justify-end gap-2">
          <CopyButton label={t('key.copyNew')} text={rotate.data.apiKey} />
          <Button kind="primary" onClick={onClose}>
            {t('common:dialog.close')}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={t('key.rotate')} open onClose={onClose}>
      <p>
        <bdi className="font-semibold">{name}</bdi>
      </p>
      <p>{t('key.rotateText')}</p>
      <Select
        label={t('key.overlap')}
        value={overlap}
        options={OVERLAPS.map((value) => ({ value, label: t(`key.overlaps.${value}`) }))}
        onChange={setOverlap}
      />
      {rotate.error && <Failure error={rotate.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
        <Button kind="primary" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
          {t('key.rotate')}
        </Button>
      </div>
    </Dialog>
  );
}
