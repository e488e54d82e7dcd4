import type { Event, EventDetail } from '@gantry/contract/events';
import type { Review } from '@gantry/contract/reviews';
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { api, service } from '../../service/service.ts';

/** What is known of an event beyond its row: its latest review, and what changed since the row was read. */
interface Known {
  readonly review?: Review | null;
  readonly processed?: boolean;
  readonly archived?: boolean;
  readonly isGone?: boolean;
  /** When it became known, in milliseconds since 1970. */
  readonly at: number;
}

/** An event as its row shows it. */
export interface ReviewedEvent extends Event {
  /** The latest one; null: none; undefined: not known yet. */
  readonly review: Review | null | undefined;
}

/** Who decided about an event, or marked it, as far as anybody did. */
export type PresentState = Pick<EventDetail, 'processedBy' | 'processedAt'> & {
  readonly review: Review | null;
};

export interface RowStates {
  readonly known: ReadonlyMap<string, Known>;
  readonly rows: readonly ReviewedEvent[];
  /** Notes what was done or learned about an event. */
  readonly note: (id: string, known: Omit<Known, 'at'>) => void;
  /** Asks the service how the event is now. */
  readonly refresh: (id: string) => Promise<PresentState>;
}

/** Reviews that one call asks for. */
const CHUNK = 100;

/**
 * Joins the rows of a list with their reviews and with what was done about them since they were read.
 * @param readAt when each event was asked for, by its id, in milliseconds since 1970
 * @param shared what is known of events by the list beside which these are shown
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
