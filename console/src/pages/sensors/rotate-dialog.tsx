import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/select.tsx';

interface RotateDialogProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** The choices for how long the previous key stays valid, in minutes. */
const OVERLAPS = ['0', '15', '60', '1440'] as const;

/** The dialog that replaces the key of a sensor, and then offers to copy the new one. */
export function RotateDialog({ id, name, onClose }: RotateDialogProps) {
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
