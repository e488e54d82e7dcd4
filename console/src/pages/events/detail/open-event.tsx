import type { ReviewDecision } from '@gantry/contract/reviews';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { prefetchEvent } from '../../../shared/events/use-image.ts';
import { service } from '../../../shared/service/service.ts';
import { useMay } from '../../../shared/session/session.ts';
import { type ReviewedEvent, type RowStates, useRowStates } from '../triage/row-states.ts';
import { TriageBar } from '../triage/triage-bar.tsx';
import type { useTriage } from '../triage/use-triage.ts';
import { EventPane } from './event-pane.tsx';

interface OpenEventProps {
  readonly id: string;
  readonly cursor: {
    readonly active?: ReviewedEvent;
    readonly next?: ReviewedEvent;
    readonly previous?: ReviewedEvent;
  };
  readonly triage: ReturnType<typeof useTriage>;
  readonly states: RowStates;
  readonly onOpen: (event: ReviewedEvent) => void;
  readonly onClose: () => void;
}

/** The event named in the URL, with the review commands that the user may use. The next event is prefetched. */
export function OpenEvent({ id, cursor, triage, states, onOpen, onClose }: OpenEventProps) {
  const client = useQueryClient();
  const mayDecide = useMay('manageIncidents');
  const { active, next, previous } = cursor;
  // The URL may name an event that is not among the rows of the list.
  const single = useSingleEvent(id, active === undefined, states);
  const event = active ?? single;
  const nextId = next?.id;
  useEffect(() => {
    if (nextId !== undefined) void prefetchEvent(client, nextId).catch(() => undefined);
  }, [client, nextId]);
  const decide = (decision: ReviewDecision, reason?: string) => {
    if (!event) return;
    void triage.decide(event, decision, reason);
    if (next && active) onOpen(next);
  };
  return (
    <EventPane
      id={id}
      onClose={onClose}
      onPrevious={previous && (() => onOpen(previous))}
      onNext={next && active && (() => onOpen(next))}
    >
      {mayDecide && event && (
        <TriageBar
          key={event.id}
          event={event}
          onDecide={decide}
          onArchive={() => void triage.archive(event)}
          onIncident={() =>
            void client.invalidateQueries({ queryKey: service.events.getHistory.queryKey({ id: event.id }) })
          }
        />
      )}
    </EventPane>
  );
}

/** Loads the open event as a row if the list does not contain it. */
function useSingleEvent(id: string, enabled: boolean, states: RowStates): ReviewedEvent | undefined {
  const { data, dataUpdatedAt } = useQuery({ ...service.events.getById.queryOptions({ id }), enabled });
  const events = useMemo(() => (enabled && data ? [data] : []), [enabled, data]);
  const readAt = useMemo(() => new Map([[id, dataUpdatedAt]]), [id, dataUpdatedAt]);
  return useRowStates(events, readAt, states).rows[0];
}
