import type { AcknowledgeAlertInput, WatchlistAlert } from '@gantry/contract/watchlist';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict, useFasterText } from '../../shared/conflict/faster.tsx';
import { useDrafts } from '../../shared/form/drafts.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { sentenceOf } from '../../shared/service/failure.tsx';
import { errorOf, isFailed } from '../../shared/service/run-bulk.ts';
import { api, service } from '../../shared/service/service.ts';

/**
 * Acknowledges an alert and offers to undo it. Afterwards the alerts are refetched, also after a failure: if another
 * user acknowledged the alert first, they show who.
 * @param shownId the alert in the details pane, which shows its failures itself; those of others are shown as notices
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
    /** Does nothing while the same alert is being acknowledged: the second request would fail with a conflict. */
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

/** Invalidates the queries for alerts, so that those in use are refetched. */
export async function forgetAlerts(client: QueryClient): Promise<void> {
  const shown = [service.watchlist.getAlerts, service.watchlist.getAlert];
  await Promise.all(shown.map((each) => client.invalidateQueries({ queryKey: each.pathKey() })));
}

/**
 * Describes why an alert could not be acknowledged. If another user acknowledged it first: who and when, in the user's
 * language and time zone.
 */
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
