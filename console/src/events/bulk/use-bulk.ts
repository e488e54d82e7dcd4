import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../service/service.ts';
import { useUser } from '../../session/session.ts';
import { useNotices } from '../../undo/undo.tsx';
import type { EventFilters } from '../search.ts';
import type { RowStates } from '../triage/row-states.ts';
import { type Changed, commandOf, undoOf } from './commands.ts';
import { type BulkFailure, type BulkProgress, collectIds, runBatches } from './run-bulk.ts';

export type BulkAction = 'CONFIRMED' | 'REJECTED' | 'archive' | 'delete';

/** Those that were selected, or all that met the filters at a moment. */
export type BulkTarget = { readonly ids: readonly string[] } | AllMatching;

export interface AllMatching {
  readonly filters: EventFilters;
  readonly reason: string | undefined;
  readonly total: number;
}

export interface BulkRun {
  readonly action: BulkAction | 'undo';
  /** null: the events are still being collected. */
  readonly progress: BulkProgress | null;
  readonly isRunning: boolean;
  /** By event. */
  readonly failures: readonly BulkFailure<string>[];
  /** Why nothing was done at all. */
  readonly error: unknown;
  /** Does it again for those that failed. */
  readonly retry: () => void;
}

const PAGE = 100;
/** The bar is drawn again at most this often, in milliseconds. */
const DRAW_MS = 100;

/** Does something to many events in the background, in few calls, and undoes it in one step. */
export function useBulk({ rows, note }: Pick<RowStates, 'rows' | 'note'>) {
  const { t, i18n } = useTranslation('events');
  const user = useUser();
  const { offerUndo } = useNotices();
  const [run, setRun] = useState<BulkRun | null>(null);
  const stop = useRef(new AbortController());

  /** Runs the work with the bar showing how far it is. */
  const show = async (
    action: BulkRun['action'],
    retry: (failed: readonly string[]) => void,
    work: (
      signal: AbortSignal,
      onProgress: (progress: BulkProgress) => void,
    ) => Promise<BulkFailure<string>[]>,
  ): Promise<void> => {
    stop.current = new AbortController();
    let failed: readonly string[] = [];
    setRun({
      action,
      progress: null,
      isRunning: true,
      failures: [],
      error: null,
      retry: () => retry(failed),
    });
    let drawnAt = 0;
    const onProgress = (progress: BulkProgress) => {
      if (progress.done < progress.of && Date.now() - drawnAt < DRAW_MS) return;
      drawnAt = Date.now();
      setRun((now) => now && { ...now, progress });
    };
    try {
      const failures = await work(stop.current.signal, onProgress);
      failed = failures.map(({ item }) => item);
      setRun((now) => now && { ...now, isRunning: false, failures });
    } catch (error) {
      setRun((now) => now && { ...now, isRunning: false, error });
    }
  };

  const undo = (action: BulkAction, changed: readonly Changed[]): Promise<void> =>
    show(
      'undo',
      (failed) =>
        void undo(
          action,
          changed.filter(({ id }) => failed.includes(id)),
        ),
      async (signal, onProgress) => {
        onProgress({ done: 0, of: changed.length });
        const failures = await runBatches({
          items: changed,
          act: undoOf(action),
          onDone: (done) => {
            for (const { item } of done) {
              if (!item.before) continue;
              const { review = null, processed, archived } = item.before;
              note(item.id, { review, processed, archived });
            }
          },
          signal,
          onProgress,
        });
        return failures.map(({ item, error }) => ({ item: item.id, error }));
      },
    );

  const start = (target: BulkTarget, action: BulkAction, reason?: string): Promise<void> =>
    show(
      action,
      (failed) => void start({ ids: failed }, action, reason),
      async (signal, onProgress) => {
        // Who chooses single rows has seen what others decided about them; who chooses all that match has not.
        const isSeen = 'ids' in target;
        const seen = isSeen ? rows : rows.filter(({ review }) => !review || review.by.id === user.id);
        const [rowById, seenById] = [rows, seen].map((all) => new Map(all.map((row) => [row.id, row])));
        const ids = isSeen ? target.ids : await idsOf(target, signal);
        onProgress({ done: 0, of: ids.length });
        const changed: Changed[] = [];
        const failures = await runBatches({
          items: ids,
          act: commandOf(action, reason ?? null, (id) => seenById?.get(id)),
          onDone: (done) => {
            for (const { item: id, result } of done) {
              const row = rowById?.get(id);
              if (row || action === 'delete') note(id, result.known);
              if (result.undoId !== null) changed.push({ id, undoId: result.undoId, before: row });
            }
          },
          signal,
          onProgress,
        });
        if (changed.length > 0) {
          const n = changed.length.toLocaleString(i18n.language);
          const words = { count: changed.length, n, of: ids.length.toLocaleString(i18n.language) };
          offerUndo(t(`bulk.done.${action}`, words), () => undo(action, changed));
        }
        return failures;
      },
    );

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
