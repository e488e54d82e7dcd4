import type { ListAlertsInput } from '@gantry/contract/watchlist';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../shared/notices/notices.tsx';
import type { FailedItem } from '../../shared/service/batch.ts';
import {
  type BulkFailure,
  type BulkProgress,
  collectIds,
  runBatches,
} from '../../shared/service/run-bulk.ts';
import { api } from '../../shared/service/service.ts';
import { forgetAlerts } from './use-acknowledge.ts';

export interface AcknowledgeRun {
  readonly action: 'acknowledge' | 'undo';
  /** null while the ids of the alerts are still being loaded. */
  readonly progress: BulkProgress | null;
  /** The alerts that failed, by id. */
  readonly failures: readonly BulkFailure<string>[];
  readonly isRunning: boolean;
}

/** The selected alerts, or all open alerts that match the filters. */
export type AcknowledgeTarget =
  | { readonly ids: readonly string[] }
  | { readonly filters: Partial<ListAlertsInput> };

/** The request for one batch of alerts. The results are in the order of the ids. */
type Act = (ids: string[]) => Promise<readonly (object | FailedItem)[]>;

/** The page size when the ids are loaded. */
const TAKE = 100;

/** Acknowledges many alerts with one note. One undo reverts all of them. */
export function useBulkAcknowledge() {
  const { t, i18n } = useTranslation('watchlist');
  const { offerUndo, sayFailure } = useNotices();
  const client = useQueryClient();
  const [run, setRun] = useState<AcknowledgeRun | null>(null);
  const stop = useRef(new AbortController());

  /** Runs an action on many alerts and keeps `run` up to date. @returns the ids for which it succeeded */
  const show = async (
    action: AcknowledgeRun['action'],
    find: (signal: AbortSignal) => Promise<readonly string[]>,
    act: Act,
  ): Promise<string[]> => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    const done: string[] = [];
    setRun({ action, progress: null, failures: [], isRunning: true });
    try {
      const items = await find(signal);
      const failures = await runBatches({
        items,
        act: (ids) => act([...ids]),
        onDone: (all) => done.push(...all.map(({ item }) => item)),
        signal,
        onProgress: (progress) => setRun({ action, progress, failures: [], isRunning: true }),
      });
      const progress = { done: done.length + failures.length, of: items.length };
      setRun({ action, progress, failures, isRunning: false });
    } catch (error) {
      setRun(null);
      sayFailure(error);
    }
    return done;
  };

  const undo = async (ids: readonly string[]) => {
    const act: Act = async (some) =>
      (await api.watchlist.undoAcknowledgeAlertBatch.mutate({ ids: some })).results;
    await show('undo', async () => ids, act);
    await forgetAlerts(client);
  };
  const start = async (target: AcknowledgeTarget, note: string) => {
    const act: Act = async (ids) => (await api.watchlist.acknowledgeAlertBatch.mutate({ ids, note })).results;
    const find = async (signal: AbortSignal) =>
      'ids' in target ? target.ids : findOpen(target.filters, signal);
    const done = await show('acknowledge', find, act);
    // Offered before the list is refetched, so that the shortcut for undo works as soon as the result is shown.
    const n = done.length.toLocaleString(i18n.language);
    if (done.length > 0) offerUndo(t('bulk.did', { count: done.length, n }), () => undo(done));
    await forgetAlerts(client);
  };
  return { run, start, cancel: () => stop.current.abort(), forget: () => setRun(null) };
}

/** The ids of the open alerts that match the filters. Without an end date, alerts raised from now on are excluded. */
function findOpen(filters: Partial<ListAlertsInput>, signal: AbortSignal): Promise<string[]> {
  const { endDate = new Date().toISOString() } = filters;
  const load = async (skip: number) => {
    const question = { ...filters, endDate, acknowledged: false, skip, take: TAKE };
    const { alerts, total } = await api.watchlist.getAlerts.query(question, { signal });
    return { ids: alerts.map(({ id }) => id), total };
  };
  return collectIds(load, TAKE, signal);
}
