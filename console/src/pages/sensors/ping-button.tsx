import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';

/** Has the service ping the sensor, and shows whether it answered, and the latency. */
export function PingButton({ id }: { readonly id: string }) {
  const { t, i18n } = useTranslation('sensors');
  const { sayFailure } = useNotices();
  const client = useQueryClient();
  const ping = useMutation({
    mutationFn: () => api.sensors.ping.mutate({ id }),
    onSuccess: () => void client.invalidateQueries({ queryKey: service.sensors.getById.queryKey({ id }) }),
    onError: sayFailure,
  });
  const latency = ping.data?.latencyMs?.toLocaleString(i18n.language, { maximumFractionDigits: 1 });
  return (
    <>
      <span role="status" className="figures">
        {ping.data?.reachable && (
          <Badge tone="calm" icon="good">
            {t('ping.answered', { latency })}
          </Badge>
        )}
        {ping.data && !ping.data.reachable && (
          <Badge tone="high" icon="offline">
            {t('ping.silent')}
          </Badge>
        )}
      </span>
      <Button icon="activity" disabled={ping.isPending} onClick={() => ping.mutate()}>
        {ping.isPending ? t('ping.running') : t('ping.action')}
      </Button>
    </>
  );
}
