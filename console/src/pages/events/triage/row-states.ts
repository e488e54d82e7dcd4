import type { Event, EventDetail } from '@gantry/contract/events';
import type { Review } from '@gantry/contract/reviews';
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { api, service } from '../../../shared/service/service.ts';

/** The state of an event beyond its row: the latest review, and the changes since the row was read. */
interface Known {
  readonly review?: Review | null;
  readonly processed?: boolean;
  readonly archived?: boolean;
  readonly isGone?: boolean;
  /** When this state was noted, in milliseconds since 1970. */
  readonly at: number;
}

/** An event with its latest review, as shown in its row. */
export interface ReviewedEvent extends Event {
  /** The latest review; null if there is none, undefined until it is loaded. */
  readonly review: Review | null | undefined;
}

/** The latest review of an event, and who marked it as processed, if anybody did. */
export type PresentState = Pick<EventDetail, 'processedBy' | 'processedAt'> & {
  readonly review: Review | null;
};

export interface RowStates {
  readonly known: ReadonlyMap<string, Known>;
  readonly rows: readonly ReviewedEvent[];
  /** Records a change to an event, or state that was read from the service. */
  readonly note: (id: string, known: Omit<Known, 'at'>) => void;
  /** Reads the current state of an event from the service and records it. */
  readonly refresh: (id: string) => Promise<PresentState>;
}

/** Number of events per request for reviews. */
const CHUNK = 100;

/**
 * Joins the rows of a list with their reviews and with the changes since they were read.
 * @param readAt when each event was requested, by its id, in milliseconds since 1970
 * @param shared the states of another list whose recorded changes apply to these events too
 */
export function useRowStates(
  events: readonly Event[],
  readAt: ReadonlyMap<string, number>,
  shared?: RowStates,
): RowStates {
  const [own, setKnown] = useState<ReadonlyMap<string, Known>>(new Map());
  const known = shared?.known ?? own;
  const chunks = useMemo(() => {
    const ids = events.map(({ id }) => id);
    return Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, at) =>
      ids.slice(at * CHUNK, (at + 1) * CHUNK),
    );
  }, [events]);
  const answers = useQueries({
    queries: chunks.map((eventIds) => ({
      ...service.events.getReviews.queryOptions({ eventIds }),
      staleTime: 60_000,
    })),
    combine: combineReviews,
  });
  const note = useCallback(
    (id: string, added: Omit<Known, 'at'>) =>
      setKnown((all) => new Map(all).set(id, { ...all.get(id), ...added, at: Date.now() })),
    [],
  );
  const refresh = useCallback(
    async (id: string) => {
      const [{ processed, processedBy, processedAt, archived }, { reviews }] = await Promise.all([
        api.events.getById.query({ id }),
        api.events.getReviews.query({ eventIds: [id] }),
      ]);
      const review = reviews[0] ?? null;
      note(id, { processed, archived, review });
      return { review, processedBy, processedAt };
    },
    [note],
  );
  const rows = useMemo(
    () =>
      events.flatMap((event) => {
        const more = known.get(event.id);
        if (more?.isGone) return [];
        const asked = answers.get(event.id);
        const review =
          !more || more.review === undefined || (asked && asked.at > more.at) ? asked?.review : more.review;
        const flags = more && more.at > (readAt.get(event.id) ?? 0) ? more : event;
        return {
          ...event,
          review: review === undefined && answers.isComplete ? null : review,
          processed: flags.processed ?? event.processed,
          archived: flags.archived ?? event.archived,
        };
      }),
    [events, known, answers, readAt],
  );
  return { known, rows, note, refresh };
}

class Reviews extends Map<string, { review: Review; at: number }> {
  isComplete = true;
}

interface Answer {
  readonly data?: { readonly reviews: readonly Review[] } | undefined;
  readonly dataUpdatedAt: number;
}

function combineReviews(answers: readonly Answer[]): Reviews {
  const found = new Reviews();
  for (const { data, dataUpdatedAt } of answers) {
    if (!data) found.isComplete = false;
    for (const review of data?.reviews ?? []) found.set(review.eventId, { review, at: dataUpdatedAt });
  }
  return found;
}
