import type { LookUpReason } from '@gantry/contract/events';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../../shared/notices/notices.tsx';
import {
  type BulkFailure,
  type BulkProgress,
  collectIds,
  runBatches,
} from '../../../shared/service/run-bulk.ts';
import { api } from '../../../shared/service/service.ts';
import { useUser } from '../../../shared/session/session.ts';
import type { EventFilters } from '../search.ts';
import type { RowStates } from '../triage/row-states.ts';
import { type BulkAction, type Changed, commandOf, undoOf } from './commands.ts';

/** The events of a bulk command: the selected rows, or all events that matched the filters when they were read. */
export interface BulkTarget {
  readonly ids: readonly string[];
  /** Whether the user saw the reviews of these events: true for selected rows, false for all matching events. */
  readonly isSeen: boolean;
}

export interface BulkRun {
  /** `collect`: the ids of the matching events are being read. */
  readonly action: BulkAction | 'undo' | 'collect';
  readonly progress: BulkProgress;
  readonly isRunning: boolean;
  /** The ids of the events that failed, each with the error. */
  readonly failures: readonly BulkFailure<string>[];
  /** The error that stopped the whole run; null if there is none. */
  readonly error: unknown;
  /** Repeats the command for the events that failed and for those that were left when the run was stopped. */
  readonly retry: () => void;
}

const PAGE = 100;
/** Minimum interval between updates of the progress bar, in milliseconds. */
const DRAW_MS = 100;

/** The initial state of a run. */
const BEGINNING = {
  progress: { done: 0, of: 0 },
  isRunning: true,
  failures: [],
  error: null,
} as const satisfies Partial<BulkRun>;

/**
 * Runs a command over many events in the background, in few requests, and offers to undo it in one step.
 * `onDeleted` is called after each run that deletes.
 */
export function useBulk({
  rows,
  note,
  onDeleted,
}: Pick<RowStates, 'rows' | 'note'> & { readonly onDeleted: () => Promise<void> }) {
  const { t, i18n } = useTranslation('events');
  const user = useUser();
  const { offerUndo } = useNotices();
  const { show, ...shown } = useRun();

  const undo = (action: BulkAction, changed: readonly Changed[]): Promise<void> =>
    show(
      'undo',
      changed.map(({ id }) => id),
      (rest) => {
        const left = new Set(rest);
        void undo(
          action,
          changed.filter(({ id }) => left.has(id)),
        );
      },
      async (signal, onProgress, finished) => {
        const failures = await runBatches({
          items: changed,
          act: undoOf(action),
          onDone: (done) => {
            for (const { item } of done) {
              finished.add(item.id);
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

  const start = async (target: BulkTarget, action: BulkAction, reason?: string): Promise<void> => {
    const { ids, isSeen } = target;
    await show(
      action,
      ids,
      (rest) => void start({ ...target, ids: rest }, action, reason),
      async (signal, onProgress, finished) => {
        const seen = isSeen ? rows : rows.filter(({ review }) => !review || review.by.id === user.id);
        const [rowById, seenById] = [rows, seen].map((all) => new Map(all.map((row) => [row.id, row])));
        const changed: Changed[] = [];
        const failures = await runBatches({
          items: ids,
          act: commandOf(action, reason ?? null, (id) => seenById?.get(id)),
          onDone: (done) => {
            for (const { item: id, result } of done) {
              finished.add(id);
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
    if (action === 'delete') await onDeleted();
  };

  return { ...shown, start };
}

/** The run that the bar shows, and what starts one. */
function useRun() {
  const [run, setRun] = useState<BulkRun | null>(null);
  const stop = useRef(new AbortController());

  /** Runs `work`, which notes the ids of the events that are done, and shows its progress and result in the bar. */
  const show = async (
    action: BulkAction | 'undo',
    ids: readonly string[],
    retry: (rest: readonly string[]) => void,
    work: (
      signal: AbortSignal,
      onProgress: (progress: BulkProgress) => void,
      done: Set<string>,
    ) => Promise<BulkFailure<string>[]>,
  ): Promise<void> => {
    stop.current = new AbortController();
    const done = new Set<string>();
    let progress: BulkProgress = { done: 0, of: ids.length };
    setRun({ ...BEGINNING, progress, action, retry: () => retry(ids.filter((id) => !done.has(id))) });
    let drawnAt = 0;
    const onProgress = (made: BulkProgress) => {
      progress = made;
      if (Date.now() - drawnAt < DRAW_MS) return;
      drawnAt = Date.now();
      setRun((now) => now && { ...now, progress: made });
    };
    try {
      const failures = await work(stop.current.signal, onProgress, done);
      setRun((now) => now && { ...now, progress, isRunning: false, failures });
    } catch (error) {
      setRun((now) => now && { ...now, isRunning: false, error });
    }
  };

  /** Reads the ids of all matching events. @returns null if it was cancelled, or if it failed, which the bar shows */
  const collect = async (filters: EventFilters, why: LookUpReason): Promise<readonly string[] | null> => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setRun({ ...BEGINNING, action: 'collect', retry: () => undefined });
    try {
      const ids = await idsOf(filters, why, signal);
      setRun(null);
      return signal.aborted ? null : ids;
    } catch (error) {
      setRun((now) => (signal.aborted ? null : now && { ...now, isRunning: false, error }));
      return null;
    }
  };

  return { run, show, collect, cancel: () => stop.current.abort(), forget: () => setRun(null) };
}

function idsOf(filters: EventFilters, why: LookUpReason, signal: AbortSignal): Promise<string[]> {
  // Without an end date, events that arrive from now on are excluded. The oldest come first: otherwise new events would
  // shift the pages.
  const endDate = filters.endDate ?? new Date().toISOString();
  const input = { ...filters, endDate, sortBy: 'timestamp', sortOrder: 'asc' } as const;
  const load = async (skip: number) => {
    const question = { ...input, ...why, skip, take: PAGE };
    const { events, total } = await api.events.getAll.query(question, { signal });
    return { ids: events.map(({ id }) => id), total };
  };
  return collectIds(load, PAGE, signal);
}
