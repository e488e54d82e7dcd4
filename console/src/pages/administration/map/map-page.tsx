import type { CurrentRoads, MapState, RoadsReport, StagedRoads } from '@gantry/contract/map';
import { MAX_ATTRIBUTION, MAX_ROADS_FILE_BYTES } from '@gantry/contract/map-values';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { sizeText } from '../../../shared/locale/size-text.ts';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { addressOf, sendFile } from '../../../shared/service/files.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

/** How often the progress is asked for, in milliseconds. */
const PROGRESS_MS = 1_000;

/** The city's own roads on the map: which there are, and a file that takes their place after its report was read. */
export function MapPage() {
  const { t } = useTranslation('administration');
  const { data, error, refetch } = useQuery({
    ...service.map.get.queryOptions(),
    refetchInterval: ({ state }) => (state.data?.staged?.state === 'READING' ? PROGRESS_MS : false),
  });
  return (
    <>
      <PageHeader title={t('map.title')} />
      <div className="flex min-h-0 grow flex-col gap-3 overflow-y-auto px-4 py-3">
        {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton rows={6} />}
        {data && (
          <>
            {data.hasBaseMap && (
              <p className="rounded-md border border-medium bg-medium-surface p-3">
                {t('map.baseMap', { setting: '\u2066MAP_PMTILES\u2069' })}
              </p>
            )}
            <div className="grid items-start gap-3 xl:grid-cols-2">
              <CurrentPanel current={data.current} />
              <Panel title={t('map.file')}>
                {data.staged ? <Staged key={data.staged.id} staged={data.staged} /> : <SendFile />}
              </Panel>
            </div>
          </>
        )}
      </div>
    </>
  );
}

function useSetMap() {
  const client = useQueryClient();
  return (state: MapState) => client.setQueryData(service.map.get.queryKey(), state);
}

function CurrentPanel({ current }: { readonly current: CurrentRoads | null }) {
  const { t } = useTranslation(['administration', 'common']);
  const setMap = useSetMap();
  const [removes, setRemoves] = useState(false);
  const remove = current && (
    <Button icon="less" onClick={() => setRemoves(true)}>
      {t('map.remove')}
    </Button>
  );
  return (
    <Panel title={t('map.current')} actions={remove}>
      {!current && <p className="text-muted">{t('map.none')}</p>}
      {current && <Origin file={current} />}
      {current && <Report report={current.report} />}
      {removes && (
        <ConfirmDialog
          title={t('map.remove')}
          action={t('map.remove')}
          run={() => api.map.remove.mutate().then(setMap)}
          onDone={() => setRemoves(false)}
          onClose={() => setRemoves(false)}
        >
          <p>{t('map.removeText')}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

/** Sends a file, which the service then reads. Nothing on the map changes. */
function SendFile() {
  const { t, i18n } = useTranslation('administration');
  const client = useQueryClient();
  const [attribution, setAttribution] = useState('');
  const send = useMutation({
    mutationFn: (file: File) => {
      const facts = new URLSearchParams({ name: file.name, attribution });
      return sendFile(addressOf(`/map/file?${facts}`), file);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: service.map.pathKey() }),
  });
  const size = sizeText(MAX_ROADS_FILE_BYTES, i18n.language);
  return (
    <div className="flex flex-col gap-3">
      <p>{t('map.fileText', { size })}</p>
      <Field
        label={t('map.attribution')}
        hint={t('map.attributionHint')}
        maxLength={MAX_ATTRIBUTION}
        value={attribution}
        onChange={({ target }) => setAttribution(target.value)}
      />
      <label className="flex flex-col gap-1">
        <span className="text-sm text-muted">{t('map.choose')}</span>
        <input
          type="file"
          accept=".geojson,.json,.geojsonl,.ndjson,.gpkg,.zip"
          disabled={send.isPending}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file) send.mutate(file);
            // The same file may be chosen again after it was corrected.
            target.value = '';
          }}
        />
      </label>
      <p role="status" className="text-muted">
        {send.isPending && t('map.sending')}
      </p>
      {send.error && <Failure error={send.error} />}
    </div>
  );
}

const stateLooks = {
  READING: { tone: 'low', icon: 'refresh' },
  READY: { tone: 'good', icon: 'good' },
  REFUSED: { tone: 'critical', icon: 'failure' },
} as const;

/** A file that was received: how far it is, what it contains, and the decision to put it on the map. */
function Staged({ staged }: { readonly staged: StagedRoads }) {
  const { t, i18n } = useTranslation('administration');
  const setMap = useSetMap();
  const { id, state, progress, problem, report } = staged;
  const act = useMutation({
    mutationFn: (action: 'applyFile' | 'discardFile') => api.map[action].mutate({ id }),
    onSuccess: setMap,
  });
  return (
    <div className="flex flex-col gap-3">
      <p role="status">
        <Badge {...stateLooks[state]}>{t(`map.states.${state}`)}</Badge>
      </p>
      {state === 'READING' && (
        <div className="flex items-center gap-3">
          <progress
            aria-label={t('map.states.READING')}
            value={progress}
            max={1}
            className="h-2 w-full max-w-md accent-accent"
          />
          <span className="figures text-sm text-muted">
            {new Intl.NumberFormat(i18n.language, { style: 'percent' }).format(progress)}
          </span>
        </div>
      )}
      <Origin file={staged} />
      {problem !== null && (
        <p className="text-critical">
          <bdi className="wrap-anywhere">{problem}</bdi>
        </p>
      )}
      {report && <Report report={report} />}
      {act.error && <Failure error={act.error} />}
      <div className="flex flex-wrap gap-2">
        {state === 'READY' && (
          <Button
            kind="primary"
            icon="acknowledge"
            disabled={act.isPending}
            onClick={() => act.mutate('applyFile')}
          >
            {t('map.apply')}
          </Button>
        )}
        <Button disabled={act.isPending} onClick={() => act.mutate('discardFile')}>
          {t(state === 'REFUSED' ? 'map.another' : 'map.discard')}
        </Button>
      </div>
    </div>
  );
}

function Origin({
  file,
}: {
  readonly file: Omit<CurrentRoads, 'report'> & { readonly by?: StagedRoads['by'] };
}) {
  const { t } = useTranslation('administration');
  const { fileName, attribution, at, by } = file;
  return (
    <Facts
      facts={[
        [t('map.fileName'), fileName && <bdi key="file">{fileName}</bdi>],
        [t('map.attribution'), attribution && <bdi key="attribution">{attribution}</bdi>],
        [
          t('map.received'),
          <span key="at">
            <Moment at={at} /> {by && <bdi className="text-muted">{by.name}</bdi>}
          </span>,
        ],
      ]}
    />
  );
}

/** What a file contains, and what is left out of it. */
function Report({ report }: { readonly report: RoadsReport }) {
  const { t, i18n } = useTranslation('administration');
  const n = (value: number) => value.toLocaleString(i18n.language);
  const degrees = (value: number) => value.toLocaleString(i18n.language, { maximumFractionDigits: 3 });
  const { format, projection, features, kept, points, named, nameField, classes, classField, leftOut } =
    report;
  const { west, south, east, north } = report.bounds;
  const field = (name: string | null) =>
    name === null ? (
      <span className="text-high">{t('map.noField')}</span>
    ) : (
      <bdi className="font-mono text-muted">{name}</bdi>
    );
  return (
    <div className="mt-3 flex flex-col gap-3 border-t pt-3">
      <Facts
        facts={[
          [t('map.format'), `${t(`map.formats.${format}`)} · \u2068${projection}\u2069`],
          [t('map.features'), n(features)],
          [t('map.kept'), t('map.keptText', { roads: n(kept), points: n(points) })],
          [
            t('map.names'),
            <span key="names">
              {n(named)} {field(nameField)}
            </span>,
          ],
          [
            t('map.classes'),
            <span key="classes">
              {classes
                .map(({ roadClass, count }) => `${t(`map.roadClasses.${roadClass}`)} ${n(count)}`)
                .join(' · ')}{' '}
              {field(classField)}
            </span>,
          ],
          [
            t('map.bounds'),
            <bdi key="bounds" dir="ltr" className="figures">
              {degrees(west)}, {degrees(south)} – {degrees(east)}, {degrees(north)}
            </bdi>,
          ],
          [
            t('map.tiles'),
            t('map.tilesText', { tiles: n(report.tiles), size: sizeText(report.bytes, i18n.language) }),
          ],
          [
            t('map.thinned'),
            report.thinnedTiles > 0 &&
              t('map.thinnedText', { count: report.thinnedTiles, n: n(report.thinnedTiles) }),
          ],
        ]}
      />
      {leftOut.length > 0 && (
        <section aria-label={t('map.leftOut')}>
          <h3 className="font-medium">{t('map.leftOut')}</h3>
          <ul className="list-disc ps-5">
            {leftOut.map(({ reason, count, first }) => (
              <li key={reason}>
                {t(`map.reasons.${reason}`)}: <span className="figures">{n(count)}</span>{' '}
                <span className="text-sm text-muted">
                  {t('map.first', { features: first.map(n).join(', '), count: first.length })}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
