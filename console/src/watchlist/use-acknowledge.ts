import type { AcknowledgeAlertInput } from '@gantry/contract/watchlist';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { errorOf, isFailed } from '../service/batch.ts';
import { api, service } from '../service/service.ts';
import { useNotices } from '../undo/undo.tsx';

/** Acknowledges an alert, which can be undone. The list is read again, which says who was faster if somebody was. */
export function useAcknowledge() {
  const { t } = useTranslation('watchlist');
  const { offerUndo } = useNotices();
  const client = useQueryClient();
  const undo = async (id: string) => {
    try {
      const { results } = await api.watchlist.undoAcknowledgeAlertBatch.mutate({ ids: [id] });
      for (const result of results) if (isFailed(result)) throw errorOf(result);
    } finally {
      await forgetAlerts(client);
    }
  };
  return useMutation({
    mutationFn: ({ id, note }: Pick<AcknowledgeAlertInput, 'id' | 'note'>) =>
      api.watchlist.acknowledgeAlert.mutate({ id, note }),
    onSuccess: ({ id, licensePlateNumber }) =>
      offerUndo(t('alerts.done', { plate: licensePlateNumber }), () => undo(id)),
    onSettled: () => forgetAlerts(client),
  });
}

export type Acknowledge = ReturnType<typeof useAcknowledge>;

/** Has the alerts that are shown read again. */
export async function forgetAlerts(client: QueryClient): Promise<void> {
  const shown = [service.watchlist.getAlerts, service.watchlist.getAlert];
  await Promise.all(shown.map((each) => client.invalidateQueries({ queryKey: each.pathKey() })));
}
