import { useRef, useState } from 'react';
import { api } from '../../service/service.ts';
import { useUser } from '../../session/session.ts';
import type { EventFilters } from '../search.ts';
import type { ReviewedEvent, RowStates } from '../triage/row-states.ts';
import { seenOf } from '../triage/use-triage.ts';
import { type BulkFailure, type BulkProgress, collectIds, runBulk } from './run-bulk.ts';

export type BulkAction = 'CONFIRMED' | 'REJECTED' | 'archive' | 'delete';

/** Those that were selected, or all that met the filters at a moment. */
export type BulkTarget = { readonly ids: readonly string[] } | AllMatching;

export interface AllMatching {
  readonly filters: EventFilters;
  readonly reason: string | undefined;
  readonly total: number;
}

export interface BulkRun {
  readonly action: BulkAction;
  /** Why they are rejected. */
  readonly reason: string | undefined;
  /** null: the events are still being collected. */
  readonly progress: BulkProgress | null;
  readonly isRunning: boolean;
  readonly failures: readonly BulkFailure<string>[];
  /** Why nothing was done at all. */
  readonly error: unknown;
}

const PAGE = 100;
/** The bar is drawn again at most this often, in milliseconds. */
const DRAW_MS = 100;

/** Does something to many events in the background. */
export function useBulk({ rows, note }: Pick<RowStates, 'rows' | 'note'>) {
  const user = useUser();
  const [run, setRun] = useState<BulkRun | null>(null);
  const stop = useRef(new AbortController());

  const start = async (target: BulkTarget, action: BulkAction, reason?: string): Promise<void> => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setRun({ action, reason, progress: null, isRunning: true, failures: [], error: null });
    // Who chooses single rows has seen what others decided about them; who chooses all that match has not.
    const known = 'ids' in target ? rows : rows.filter(({ review }) => !review || review.by.id === user.id);
    const byId = new Map(known.map((row) => [row.id, row]));
    let drawnAt = 0;
    const onProgress = (progress: BulkProgress) => {
      if (progress.done < progress.of && Date.now() - drawnAt < DRAW_MS) return;
      drawnAt = Date.now();
      setRun((now) => now && { ...now, progress });
    };
    try {
      const items = 'ids' in target ? target.ids : await idsOf(target, signal);
      onProgress({ done: 0, of: items.length });
      const act = async (id: string) => note(id, await actOn(id, byId.get(id), action, reason));
      const failures = await runBulk({ items, act, signal, onProgress });
      setRun((now) => now && { ...now, isRunning: false, failures });
    } catch (error) {
      setRun((now) => now && { ...now, isRunning: false, error });
    }
  };
  return { run, start, cancel: () => stop.current.abort(), forget: () => setRun(null) };
}

function idsOf({ filters, reason }: AllMatching, signal: AbortSignal) {
  const load = async (skip: number) => {
    const question = { ...filters, ...(reason && { reason }), skip, take: PAGE };
    const { events, total } = await api.events.getAll.query(question, { signal });
    return { ids: events.map(({ id }) => id), total };
  };
  return collectIds(load, PAGE, signal);
}

/** @param seen the row, if it was loaded. An event that was not seen is not taken from somebody who decided about it. */
async function actOn(id: string, seen: ReviewedEvent | undefined, action: BulkAction, reason?: string) {
  if (action === 'delete') {
    await api.events.delete.mutate({ id });
    return { isGone: true };
  }
  if (action === 'archive') {
    await api.events.markAsArchived.mutate({ id });
    return { archived: true };
  }
  const expected = seen ? await seenOf(seen) : { expected: null };
  const review = await api.events.review.mutate({
    id,
    decision: action,
    reason: reason ?? null,
    ...expected,
  });
  return { review, processed: true, ...(action === 'REJECTED' && { archived: true }) };
}
