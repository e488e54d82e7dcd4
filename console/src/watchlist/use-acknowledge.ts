import type { AcknowledgeAlertInput } from '@gantry/contract/watchlist';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, service } from '../service/service.ts';
import { useNotices } from '../undo/undo.tsx';

/** Acknowledges an alert. The list is read again, which says who was faster if somebody was. */
export function useAcknowledge() {
  const { t } = useTranslation('watchlist');
  const { say } = useNotices();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, note }: Pick<AcknowledgeAlertInput, 'id' | 'note'>) =>
      api.watchlist.acknowledgeAlert.mutate({ id, note }),
    onSuccess: ({ licensePlateNumber }) => say(t('alerts.done', { plate: licensePlateNumber })),
    onSettled: () =>
      Promise.all(
        [service.watchlist.getAlerts, service.watchlist.getAlert].map((each) =>
          client.invalidateQueries({ queryKey: each.pathKey() }),
        ),
      ),
  });
}

export type Acknowledge = ReturnType<typeof useAcknowledge>;
