import type { CaseDetail } from '@gantry/contract/cases';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../shared/locale/size-text.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { downloadFile, saveFile } from '../../shared/service/files.ts';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';

/** How often it is asked whether a package is made, in milliseconds. */
const POLL_MS = 2_000;

type Export = CaseDetail['exports'][number];

/** The packages of a case: those under way with their progress, and those that can be downloaded. */
export function Exports({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  return (
    <Panel title={t('exports.title')} isFull>
      {of.exports.length === 0 && <p className="p-3 text-muted">{t('exports.none')}</p>}
      <ul>
        {of.exports.toReversed().map((each) => (
          <Row key={each.id} of={each} />
        ))}
      </ul>
      {of.exports.length > 0 && <p className="p-3 text-sm text-muted">{t('exports.proof')}</p>}
    </Panel>
  );
}

function Row({ of }: { readonly of: Export }) {
  const { t, i18n } = useTranslation('cases');
  const { sayFailure } = useNotices();
  const { data } = useQuery({
    ...service.cases.getExport.queryOptions({ exportId: of.id }),
    enabled: isUnderWay(of),
    refetchInterval: ({ state }) => isUnderWay(state.data ?? of) && POLL_MS,
  });
  const now: Export = (isUnderWay(of) ? data : undefined) ?? of;
  const download = useMutation({
    mutationFn: ({ url, fileName }: Export) => downloadFile(url ?? '', fileName ?? `${of.id}.zip`),
    onError: sayFailure,
    onSettled: () => queryClient.invalidateQueries({ queryKey: service.cases.pathKey() }),
  });
  const manifest = useMutation({
    mutationFn: async () => {
      const { manifest: made } = await api.cases.getExport.query({ exportId: of.id });
      if (made) saveFile(new Blob([made.text], { type: 'application/json' }), `${of.number}-manifest.json`);
    },
    onError: sayFailure,
  });
  const { url } = now;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
      <div className="min-w-0 grow">
        <p>
          {t(now.redacted ? 'packages.redacted' : 'packages.court')}{' '}
          {now.bytes !== null && <span className="text-muted">{sizeText(now.bytes, i18n.language)}</span>}
        </p>
        <p className="text-sm text-muted">
          <bdi>{now.by?.name}</bdi> <Moment at={now.createdAt} />
          {now.downloads > 0 && ` · ${t('exports.downloads', { count: now.downloads })}`}
        </p>
        {url === null && now.error === null && !isUnderWay(now) && (
          <p className="text-sm text-muted">{t('exports.expired')}</p>
        )}
        {url !== null && now.expiresAt !== null && (
          <p className="text-sm text-muted">
            {t('exports.until')} <Moment at={now.expiresAt} />
          </p>
        )}
        {now.sha256 !== null && (
          <p className="text-xs text-muted">
            SHA-256{' '}
            <bdi dir="ltr" className="font-mono break-all select-all">
              {now.sha256}
            </bdi>
          </p>
        )}
        {now.error !== null && (
          <p className="text-critical">
            <bdi lang="en" className="wrap-anywhere">
              {now.error}
            </bdi>
          </p>
        )}
      </div>
      {isUnderWay(now) && (
        <progress
          aria-label={t('exports.making')}
          value={now.status === 'RUNNING' ? now.progress : undefined}
          max={1}
          className="h-2 w-32 accent-accent"
        />
      )}
      {now.sha256 !== null && (
        <Button kind="quiet" icon="list" disabled={manifest.isPending} onClick={() => manifest.mutate()}>
          {t('exports.manifest')}
        </Button>
      )}
      {url !== null && (
        <Button icon="download" disabled={download.isPending} onClick={() => download.mutate(now)}>
          {t('items.download')}
        </Button>
      )}
    </li>
  );
}

const isUnderWay = ({ status }: Export): boolean => status === 'QUEUED' || status === 'RUNNING';
