import type { ListAlertsInput, WatchlistAlert } from '@gantry/contract/watchlist';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict, useFasterText } from '../../shared/conflict/faster.tsx';
import { useKept } from '../../shared/form/use-kept.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { sentenceOf } from '../../shared/service/failure.tsx';
import {
  type BulkFailure,
  type BulkProgress,
  collectIds,
  type FailedItem,
  runBatches,
} from '../../shared/service/run-bulk.ts';
import { api } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { forgetAlerts } from './use-acknowledge.ts';

interface BulkAcknowledgeProps {
  readonly input: Partial<ListAlertsInput>;
  readonly rows: readonly WatchlistAlert[];
  readonly selection: { readonly selected: ReadonlySet<string>; readonly clear: () => void };
}

/** The bar that acknowledges the selected alerts, or all open alerts that match the filters, with one note. */
export function BulkAcknowledge({ input, rows, selection }: BulkAcknowledgeProps) {
  const { t, i18n } = useTranslation(['watchlist', 'common']);
  const fasterText = useFasterText();
  const [allBeside, setAllBeside] = useState<ReadonlySet<string> | null>(null);
  const { run, start, cancel, forget } = useBulkAcknowledge();
  const kept = useKept('acknowledge alerts');
  const { selected } = selection;
  // `all` applies until the selection changes. Every change, including the reset for another query, creates a new set.
  const all = allBeside === selected;
  if (selected.size === 0 && !run) return null;
  const n = (value: number) => value.toLocaleString(i18n.language);
  const byId = new Map(rows.map((row) => [row.id, row]));

  const whyNot = (id: string, error: unknown) => {
    const { acknowledgedAt, acknowledgedBy } = byId.get(id) ?? {};
    return isConflict(error) && acknowledgedAt && run?.action === 'acknowledge'
      ? fasterText({ what: 'acknowledged', who: acknowledgedBy?.name, at: acknowledgedAt })
      : sentenceOf(error).sentence;
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const note = String(new FormData(event.currentTarget).get('note') ?? '');
    const open = [...selected].filter((id) => !byId.get(id)?.acknowledgedAt);
    void start(all ? { filters: input } : { ids: open }, note);
  };
  const leave = () => {
    forget();
    setAllBeside(null);
    selection.clear();
  };
  const { done = 0, of = 0 } = run?.progress ?? {};
  const failures = run?.failures ?? [];
  return (
    <section aria-label={t('bulk.label')} className="flex flex-col gap-2 border-b bg-selected px-3 py-1.5">
      {run ? (
        <div className="flex flex-wrap items-center gap-3">
          <span role="status" className="figures">
            {run.isRunning
              ? t('bulk.progress', { done: n(done), of: n(of) })
              : t(run.action === 'undo' ? 'bulk.undone' : 'bulk.done', {
                  count: done - failures.length,
                  n: n(done - failures.length),
                  of: n(of),
                })}
          </span>
          {run.isRunning && (
            <progress
              value={done}
              max={of || 1}
              aria-label={t('bulk.label')}
              className="h-2 min-w-40 grow accent-accent"
            />
          )}
          <Button className="ms-auto" onClick={run.isRunning ? cancel : leave}>
            {run.isRunning ? t('common:dialog.cancel') : t('common:dialog.close')}
          </Button>
        </div>
      ) : (
        <form ref={kept.ref} onSubmit={submit} className="flex flex-wrap items-center gap-2">
          <span role="status" className="figures font-medium">
            {all ? t('bulk.all') : t('bulk.selected', { count: selected.size, n: n(selected.size) })}
          </span>
          {!all && input.acknowledged !== true && (
            <Button kind="quiet" className="text-accent" onClick={() => setAllBeside(selected)}>
              {t('bulk.chooseAll')}
            </Button>
          )}
          <Field
            label={t('alerts.noteLabel')}
            hideLabel
            placeholder={t('alerts.noteLabel')}
            name="note"
            maxLength={1000}
            className="min-w-40 grow"
          />
          <Button kind="primary" type="submit" icon="acknowledge">
            {t('alerts.acknowledge')}
          </Button>
          <Button kind="quiet" onClick={leave}>
            {t('bulk.clear')}
          </Button>
        </form>
      )}
      {failures.length > 0 && (
        <ul className="max-h-40 overflow-y-auto rounded-md border bg-raised p-2 text-sm">
          {failures.map(({ item, error }) => (
            <li key={item} className="flex gap-3 py-0.5">
              <bdi className="shrink-0 font-mono text-muted">
                {byId.get(item)?.licensePlateNumber ?? item.slice(0, 8)}
              </bdi>
              <bdi>{whyNot(item, error)}</bdi>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

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
function useBulkAcknowledge() {
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
