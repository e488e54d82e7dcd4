import type { ListAlertsInput, WatchlistAlert } from '@gantry/contract/watchlist';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict, useFasterText } from '../conflict/faster.tsx';
import { type BulkFailure, type BulkProgress, collectIds, runBatches } from '../events/bulk/run-bulk.ts';
import { sentenceOf } from '../service/failure.tsx';
import { api, service } from '../service/service.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { useNotices } from '../undo/undo.tsx';

interface BulkAcknowledgeProps {
  readonly input: Partial<ListAlertsInput>;
  readonly rows: readonly WatchlistAlert[];
  readonly selection: { readonly selected: ReadonlySet<string>; readonly clear: () => void };
}

interface Run {
  readonly progress: BulkProgress | null;
  readonly failures: readonly BulkFailure<string>[];
  readonly isRunning: boolean;
}

/** Rows that one call gets. */
const TAKE = 100;

/** Acknowledges all alerts that are selected, or all open ones that meet the filters, with one note. */
export function BulkAcknowledge({ input, rows, selection }: BulkAcknowledgeProps) {
  const { t, i18n } = useTranslation(['watchlist', 'common']);
  const { sayFailure } = useNotices();
  const client = useQueryClient();
  const fasterText = useFasterText();
  const [all, setAll] = useState(false);
  const [run, setRun] = useState<Run | null>(null);
  const stop = useRef(new AbortController());
  const { selected } = selection;
  if (selected.size === 0 && !run) return null;
  const n = (value: number) => value.toLocaleString(i18n.language);
  const byId = new Map(rows.map((row) => [row.id, row]));

  const whyNot = (id: string, error: unknown) => {
    const { acknowledgedAt, acknowledgedBy } = byId.get(id) ?? {};
    return isConflict(error) && acknowledgedAt
      ? fasterText({ what: 'acknowledged', who: acknowledgedBy?.name, at: acknowledgedAt })
      : sentenceOf(error).sentence;
  };

  /** Those that match and are open at this moment; what is raised later is not meant. */
  const findOpen = () => {
    const filters = { ...input, acknowledged: false, endDate: input.endDate ?? new Date().toISOString() };
    const load = async (skip: number) => {
      const { alerts, total } = await api.watchlist.getAlerts.query({ ...filters, skip, take: TAKE });
      return { ids: alerts.map(({ id }) => id), total };
    };
    return collectIds(load, TAKE, stop.current.signal);
  };
  const start = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const note = String(new FormData(event.currentTarget).get('note') ?? '');
    stop.current = new AbortController();
    setRun({ progress: null, failures: [], isRunning: true });
    try {
      const items = all ? await findOpen() : [...selected].filter((id) => !byId.get(id)?.acknowledgedAt);
      const failures = await runBatches({
        items,
        act: async (ids) =>
          (await api.watchlist.acknowledgeAlertBatch.mutate({ ids: [...ids], note })).results,
        onDone: () => undefined,
        signal: stop.current.signal,
        onProgress: (progress) => setRun({ progress, failures: [], isRunning: true }),
      });
      setRun((last) => ({ progress: last?.progress ?? { done: 0, of: 0 }, failures, isRunning: false }));
    } catch (error) {
      setRun(null);
      sayFailure(error);
    }
    await client.invalidateQueries({ queryKey: service.watchlist.getAlerts.pathKey() });
  };
  const leave = () => {
    setRun(null);
    setAll(false);
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
              : t('bulk.done', { count: done - failures.length, n: n(done - failures.length), of: n(of) })}
          </span>
          {run.isRunning && (
            <progress
              value={done}
              max={of || 1}
              aria-label={t('bulk.label')}
              className="h-2 min-w-40 grow accent-accent"
            />
          )}
          <Button className="ms-auto" onClick={run.isRunning ? () => stop.current.abort() : leave}>
            {run.isRunning ? t('common:dialog.cancel') : t('common:dialog.close')}
          </Button>
        </div>
      ) : (
        <form onSubmit={(event) => void start(event)} className="flex flex-wrap items-center gap-2">
          <span role="status" className="figures font-medium">
            {all ? t('bulk.all') : t('bulk.selected', { count: selected.size, n: n(selected.size) })}
          </span>
          {!all && (
            <Button kind="quiet" className="text-accent" onClick={() => setAll(true)}>
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
