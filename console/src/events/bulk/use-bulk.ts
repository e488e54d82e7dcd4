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
export interface BulkTarget {
  readonly ids: readonly string[];
  /** Who chooses single rows has seen what others decided about them; who chooses all that match has not. */
  readonly isSeen: boolean;
}

export interface BulkRun {
  /** `collect`: it is read which events match. */
  readonly action: BulkAction | 'undo' | 'collect';
  readonly progress: BulkProgress;
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

/** A run that has just begun. */
const BEGINNING = {
  progress: { done: 0, of: 0 },
  isRunning: true,
  failures: [],
  error: null,
} as const satisfies Partial<BulkRun>;

/** Does something to many events in the background, in few calls, and undoes it in one step. */
export function useBulk({ rows, note }: Pick<RowStates, 'rows' | 'note'>) {
  const { t, i18n } = useTranslation('events');
  const user = useUser();
  const { offerUndo } = useNotices();
  const [run, setRun] = useState<BulkRun | null>(null);
  const stop = useRef(new AbortController());

  /** Runs the work with the bar showing how far it is. */
  const show = async (
    action: BulkAction | 'undo',
    retry: (failed: readonly string[]) => void,
    work: (
      signal: AbortSignal,
      onProgress: (progress: BulkProgress) => void,
    ) => Promise<BulkFailure<string>[]>,
  ): Promise<void> => {
    stop.current = new AbortController();
    let failed: readonly string[] = [];
    setRun({ ...BEGINNING, action, retry: () => retry(failed) });
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

  /** Reads which events meet the filters now. @returns null: it was stopped, or it failed, which the bar says */
  const collect = async (
    filters: EventFilters,
    reason: string | undefined,
  ): Promise<readonly string[] | null> => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setRun({ ...BEGINNING, action: 'collect', retry: () => undefined });
    try {
      const ids = await idsOf(filters, reason, signal);
      setRun(null);
      return signal.aborted ? null : ids;
    } catch (error) {
      setRun((now) => (signal.aborted ? null : now && { ...now, isRunning: false, error }));
      return null;
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
      (failed) => void start({ ...target, ids: failed }, action, reason),
      async (signal, onProgress) => {
        const { ids, isSeen } = target;
        const seen = isSeen ? rows : rows.filter(({ review }) => !review || review.by.id === user.id);
        const [rowById, seenById] = [rows, seen].map((all) => new Map(all.map((row) => [row.id, row])));
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

  return { run, collect, start, cancel: () => stop.current.abort(), forget: () => setRun(null) };
}

function idsOf(filters: EventFilters, reason: string | undefined, signal: AbortSignal): Promise<string[]> {
  // What arrives from now on is not meant. Events that come meanwhile move the pages if the newest are first.
  const endDate = filters.endDate ?? new Date().toISOString();
  const input = { ...filters, endDate, sortBy: 'timestamp', sortOrder: 'asc' } as const;
  const load = async (skip: number) => {
    const question = { ...input, ...(reason && { reason }), skip, take: PAGE };
    const { events, total } = await api.events.getAll.query(question, { signal });
    return { ids: events.map(({ id }) => id), total };
  };
  return collectIds(load, PAGE, signal);
}
