import type { AcknowledgeAlertInput, WatchlistAlert } from '@gantry/contract/watchlist';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict, useFasterText } from '../conflict/faster.tsx';
import { useDrafts } from '../form/drafts.ts';
import { errorOf, isFailed } from '../service/batch.ts';
import { sentenceOf } from '../service/failure.tsx';
import { api, service } from '../service/service.ts';
import { useNotices } from '../undo/undo.tsx';

/**
 * Acknowledges an alert, which can be undone. The list is read again, which says who was faster if somebody was.
 * @param shownId the alert whose details are shown, which say why it could not be acknowledged; of another one a notice does
 */
export function useAcknowledge(shownId: string | undefined) {
  const { t } = useTranslation('watchlist');
  const { offerUndo, sayFailure } = useNotices();
  const client = useQueryClient();
  const whyNot = useWhyNot();
  const drafts = useDrafts();
  const shown = useRef(shownId);
  shown.current = shownId;
  const underWay = useRef(new Set<string>());
  const undo = async (id: string) => {
    try {
      const { results } = await api.watchlist.undoAcknowledgeAlertBatch.mutate({ ids: [id] });
      for (const result of results) if (isFailed(result)) throw errorOf(result);
    } finally {
      await forgetAlerts(client);
    }
  };
  const call = useMutation({
    mutationFn: ({ id, note }: Pick<AcknowledgeAlertInput, 'id' | 'note'>) =>
      api.watchlist.acknowledgeAlert.mutate({ id, note }),
    onSuccess: ({ id, licensePlateNumber }) => {
      drafts.forget(id);
      offerUndo(t('alerts.done', { plate: licensePlateNumber }), () => undo(id));
    },
    onSettled: async (_, error, { id }) => {
      if (error) underWay.current.delete(id);
      await forgetAlerts(client);
      underWay.current.delete(id);
    },
  });
  return {
    ...call,
    /** Does nothing while the same alert is being acknowledged: the second call would be refused because of the first. */
    async acknowledge({ id, licensePlateNumber }: WatchlistAlert, note: string): Promise<void> {
      if (underWay.current.has(id)) return;
      underWay.current.add(id);
      await call.mutateAsync({ id, note }).catch(async (error) => {
        if (shown.current === id) return;
        const why = await whyNot(id, error);
        sayFailure(new Error(t('alerts.notDone', { plate: licensePlateNumber, why })));
      });
    },
  };
}

export type Acknowledge = ReturnType<typeof useAcknowledge>;

/** Has the alerts that are shown read again. */
export async function forgetAlerts(client: QueryClient): Promise<void> {
  const shown = [service.watchlist.getAlerts, service.watchlist.getAlert];
  await Promise.all(shown.map((each) => client.invalidateQueries({ queryKey: each.pathKey() })));
}

/** Says why an alert could not be acknowledged: who was faster, in the user's language and zone, if somebody was. */
function useWhyNot(): (id: string, error: unknown) => Promise<string> {
  const fasterText = useFasterText();
  return async (id, error) => {
    const present = isConflict(error)
      ? await api.watchlist.getAlert.query({ id }).catch(() => undefined)
      : undefined;
    return present?.acknowledgedAt
      ? fasterText({ what: 'acknowledged', who: present.acknowledgedBy?.name, at: present.acknowledgedAt })
      : sentenceOf(error).sentence;
  };
}
