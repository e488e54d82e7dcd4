import type { RetentionPreview } from '@gantry/contract/storage';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { ExportRuns } from './export-runs.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { refreshStorage } from './refresh.ts';
import { RunItem } from './run-item.tsx';

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
