import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Failure } from '../service/failure.tsx';
import { service } from '../service/service.ts';

/** Whether only heartbeats count as signs of life. Without an id, of a sensor that is being registered. */
export function HeartbeatsField({ sensorId }: { readonly sensorId?: string }) {
  const { t } = useTranslation('sensors');
  const { data, error } = useQuery({
    ...service.sensors.getSignsOfLife.queryOptions({ id: sensorId ?? '' }),
    enabled: sensorId !== undefined,
  });
  if (sensorId !== undefined && error) return <Failure error={error} />;
  if (sensorId !== undefined && !data) return null;
  const { requiresHeartbeats = false } = data ?? {};
  return (
    <label className="flex items-start gap-2 pointer-coarse:min-h-11">
      {/* What it was, so that only a change is sent. */}
      <input type="hidden" name="requiredHeartbeats" value={String(requiresHeartbeats)} />
      <input
        type="checkbox"
        name="requiresHeartbeats"
        defaultChecked={requiresHeartbeats}
        className="mt-1 size-4 accent-accent"
      />
      <span>
        {t('fields.requiresHeartbeats')}
        <span className="block text-sm text-muted">{t('fields.requiresHeartbeatsHint')}</span>
      </span>
    </label>
  );
}
