import type { AcknowledgeAlertInput } from '@gantry/contract/watchlist';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, service } from '../service/service.ts';
import { useNotices } from '../undo/undo.tsx';

/** Acknowledges an alert. If somebody was faster, the service says who and when, and the list is read again. */
export function useAcknowledge() {
  const { t } = useTranslation('watchlist');
  const { say } = useNotices();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, note }: Pick<AcknowledgeAlertInput, 'id' | 'note'>) =>
      api.watchlist.acknowledgeAlert.mutate({ id, note }),
    onSuccess: ({ licensePlateNumber }) => say(t('alerts.done', { plate: licensePlateNumber })),
    onSettled: () => client.invalidateQueries({ queryKey: service.watchlist.getAlerts.pathKey() }),
  });
}

export type Acknowledge = ReturnType<typeof useAcknowledge>;
