import type { RetentionClass, RetentionPreview, RetentionRun } from '@gantry/contract/storage';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import type { ExportColumn } from '../../../shared/table/export.ts';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { StateBadge } from '../state-badge.tsx';
import { PreviewDialog, RemovalTable, secondsOf, totalsOf, useRemovalText } from './preview-dialog.tsx';
import { refreshStorage, retentionClasses } from './refresh.ts';

const SHOWN = 20;
/** How often the list is refetched while a run is in progress, in milliseconds. */
const PROGRESS_MS = 1_500;

/** The latest retention runs, with a button that starts one after a preview. */
export function RunsPanel() {
  const { t } = useTranslation('administration');
  const { say, sayFailure } = useNotices();
  const [expected, setExpected] = useState<{ id: string; preview: RetentionPreview } | null>(null);
  const { data, error, refetch } = useQuery({
    ...service.storage.getRetentionRuns.queryOptions({ take: SHOWN }),
    refetchInterval: ({ state }) =>
      state.data?.runs.some(({ status }) => status === 'RUNNING') ? PROGRESS_MS : false,
  });
  const preview = useMutation({
    mutationFn: () => api.storage.previewRetention.query({}),
    onError: sayFailure,
  });
  const isRunning = data?.runs.some(({ status }) => status === 'RUNNING') ?? false;
  return (
    <Panel
      title={t('runs.title')}
      className="xl:col-span-2"
      isFull
      actions={
        <>
          <ExportRuns total={data?.total ?? null} />
          <Button icon="refresh" disabled={isRunning || preview.isPending} onClick={() => preview.mutate()}>
            {t('runs.now')}
          </Button>
        </>
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={4} />}
      {data?.runs.length === 0 && <p className="p-3 text-muted">{t('runs.none')}</p>}
      {data && data.runs.length > 0 && (
        <ul aria-label={t('runs.title')}>
          {data.runs.map((run) => (
            <RunItem
              key={run.id}
              run={run}
              expected={expected?.id === run.id ? expected.preview.totals : undefined}
            />
          ))}
        </ul>
      )}
      {preview.data && (
        <PreviewDialog
          preview={preview.data}
          title={t('runs.nowTitle')}
          action={t('runs.now')}
          note={t('runs.nowText')}
          run={async () => {
            const { id } = await api.storage.runRetention.mutate();
            setExpected({ id, preview: preview.data });
          }}
          onDone={() => {
            preview.reset();
            say(t('runs.started'));
            void refreshStorage();
          }}
          onClose={preview.reset}
        />
      )}
    </Panel>
  );
}

interface RunItemProps {
  readonly run: RetentionRun;
  /** The totals of the preview, if the run was started on this page. */
  readonly expected: RetentionPreview['totals'] | undefined;
}

const sum = (totals: Record<RetentionClass, number>) => Object.values(totals).reduce((all, n) => all + n, 0);

/** A retention run, with its progress while it is running. */
function RunItem({ run, expected }: RunItemProps) {
  const { t, i18n } = useTranslation('administration');
  const removalText = useRemovalText();
  const { status, startedAt, startedBy, error, removals } = run;
  const totals = totalsOf(removals);
  const isRunning = status === 'RUNNING';
  const seconds = secondsOf(run);
  // Without the number of images, the progress of the run is unknown.
  const most = expected && expected.images !== null ? sum({ ...expected, images: expected.images }) : 0;
  const text = isRunning
    ? t('runs.soFar', { what: removalText(totals) })
    : t('runs.removed', { what: removalText(totals) });
  return (
    <li className="flex flex-col gap-1.5 border-b px-3 py-2 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <StateBadge state={`runStatus.${status}`} />
        <Moment at={startedAt} />
        <span className="text-muted">{startedBy ? <bdi>{startedBy.name}</bdi> : t('runs.daily')}</span>
        {seconds !== null && (
          <span className="figures text-muted">
            {new Intl.NumberFormat(i18n.language, {
              style: 'unit',
              unit: 'second',
              maximumFractionDigits: 1,
            }).format(seconds)}
          </span>
        )}
      </div>
      {isRunning && most > 0 && (
        <progress
          aria-label={t('runs.progress')}
          value={sum(totals)}
          max={most}
          className="h-2 w-full max-w-md accent-accent"
        />
      )}
      {error !== null && (
        <p className="text-critical">
          <bdi>{error}</bdi>
        </p>
      )}
      {removals.length === 0 ? (
        <p className="text-muted">{text}</p>
      ) : (
        <details>
          <summary className="cursor-pointer">{text}</summary>
          <div className="mt-2 max-w-3xl">
            <RemovalTable removals={removals} />
          </div>
        </details>
      )}
    </li>
  );
}

/** A button that exports all retention runs as CSV, with what each removed. */
function ExportRuns({ total }: { readonly total: number | null }) {
  const { t } = useTranslation('administration');
  const columns: readonly ExportColumn<RetentionRun>[] = [
    { header: t('runs.begun'), csv: ({ startedAt }) => startedAt },
    { header: t('runs.finished'), csv: ({ finishedAt }) => finishedAt },
    { header: t('runs.seconds'), csv: secondsOf },
    { header: t('runs.status'), csv: ({ status }) => t(`runStatus.${status}`) },
    { header: t('runs.by'), csv: ({ startedBy }) => startedBy?.name ?? t('runs.daily') },
    ...retentionClasses.map((name) => ({
      header: t(`classes.${name}`),
      csv: ({ removals }: RetentionRun) => totalsOf(removals)[name],
    })),
    { header: t('runs.error'), csv: ({ error }) => error },
  ];
  return (
    <ExportButton
      title={t('runs.title')}
      columns={columns}
      pages={{
        total,
        keyOf: ({ id }) => id,
        load: async (page, signal) => {
          const { runs, total: all } = await api.storage.getRetentionRuns.query(page, { signal });
          return { rows: runs, total: all };
        },
      }}
    />
  );
}
