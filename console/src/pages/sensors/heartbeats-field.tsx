import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';

/** The checkbox for whether only heartbeats count as signs of life. @param sensorId absent for a new sensor */
export function HeartbeatsField({ sensorId }: { readonly sensorId?: string }) {
  const { data, error } = useQuery({
    ...service.sensors.getSignsOfLife.queryOptions({ id: sensorId ?? '' }),
    enabled: sensorId !== undefined,
  });
  if (sensorId !== undefined && error) return <Failure error={error} />;
  if (sensorId !== undefined && !data) return null;
  return <HeartbeatsChoice initial={data?.requiresHeartbeats ?? false} />;
}

function HeartbeatsChoice({ initial }: { readonly initial: boolean }) {
  const { t } = useTranslation('sensors');
  // The value when the form was opened; a refetch may bring a change by another user.
  const [requiresHeartbeats] = useState(initial);
  return (
    <label className="flex items-start gap-2 pointer-coarse:min-h-11">
      {/* The original value, so that only a change is sent. */}
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
