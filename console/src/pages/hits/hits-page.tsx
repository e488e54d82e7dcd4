import { hitStates } from '@gantry/contract/hit-values';
import type { Hit, HitState } from '@gantry/contract/hits';
import { permissionNames } from '@gantry/contract/permissions';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { type Pages, usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/select.tsx';
import { HitPane } from './hit-pane.tsx';

const keyOf = ({ id }: Hit): string => id;

/** The queue of hits: those that wait for a decision, the most urgent and oldest first, and the decided ones. */
export function HitsPage() {
  return useMay('manageIncidents') ? <Hits /> : <NotAllowed permission={permissionNames.manageIncidents} />;
}

function Hits() {
  const { t } = useTranslation('hits');
  const mayVerify = useMay('verifyHits');
  const mayManage = useMay('manageHotlists');
  const { state = mayVerify ? 'NEW' : 'ALL', hit: openId } = useSearch({ from: '/shell/hits' });
  const navigate = useNavigate({ from: '/hits' });
  const sortBy = state === 'NEW' ? ('priority' as const) : ('createdAt' as const);
  const input = { ...(state !== 'ALL' && { state }), sortBy };
  const pages = usePages({
    queryKey: service.hits.getAll.queryKey(input),
    load: (page, signal) => api.hits.getAll.query({ ...input, ...page }, { signal }),
    rows: 'hits',
    keyOf,
  });
  const hits = pages.rows;
  const change = (values: { state?: HitState | 'ALL' | undefined; hit?: string | undefined }) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const shown = useShownHit(hits, openId);
  const first = pages.isPreviousData ? undefined : hits[0]?.id;
  // A more urgent hit that arrives must not take the place of the one that somebody is about to decide on.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `change` is made anew each time
  useEffect(() => {
    if (openId === undefined && first !== undefined) change({ hit: first });
  }, [openId, first]);
  useCursor({ rows: hits, keyOf, activeKey: shown?.id, onMove: ({ id }) => change({ hit: id }) });
  const onDecided = ({ id }: Hit) => {
    const at = hits.findIndex((hit) => hit.id === id);
    if (state === 'NEW') change({ hit: (hits[at + 1] ?? hits.find((hit) => hit.id !== id))?.id });
  };
  const isEmpty = pages.total === 0;
  return (
    <>
      <PageHeader title={t('title')} note={pages.total !== null && t('total', { count: pages.total })}>
        <Select
          label={t('state')}
          hideLabel
          value={state}
          options={(['ALL', ...hitStates] as const).map((value) => ({ value, label: t(`states.${value}`) }))}
          onChange={(value) => change({ state: value, hit: undefined })}
        />
        {mayManage && (
          <Link to="/hotlists" className="text-accent underline">
            {t('lists')}
          </Link>
        )}
      </PageHeader>
      <PlatesHidden />
      {pages.error !== null && (
        <div className="p-4">
          <Failure error={pages.error} onRetry={pages.refetch} />
        </div>
      )}
      {isEmpty && !shown && (
        <Empty icon="watchlist" title={t(state === 'NEW' ? 'none' : 'noneDecided')}>
          {t('noneText')}
        </Empty>
      )}
      {(shown || !isEmpty) && (
        <div className="flex min-h-0 grow flex-col lg:flex-row">
          <Queue pages={pages} shownId={shown?.id} onShow={({ id }) => change({ hit: id })} />
          {shown && <HitPane key={shown.id} hit={shown} onDecided={onDecided} />}
        </div>
      )}
    </>
  );
}

/** The hit with an id: of the queue or, if it has left that, or is beyond the first page, by itself. */
function useShownHit(hits: readonly Hit[], id: string | undefined): Hit | undefined {
  const queued = hits.find((hit) => hit.id === id);
  const { data } = useQuery({
    ...service.hits.getById.queryOptions({ id: id ?? '' }),
    enabled: id !== undefined && queued === undefined,
  });
  return queued ?? (data?.id === id ? data : undefined);
}

interface QueueProps {
  readonly pages: Pages<Hit>;
  readonly shownId: string | undefined;
  readonly onShow: (hit: Hit) => void;
}

function Queue({ pages, shownId, onShow }: QueueProps) {
  const { t } = useTranslation('hits');
  return (
    <div className="max-h-48 shrink-0 overflow-y-auto border-b lg:max-h-none lg:w-80 lg:border-e lg:border-b-0">
      <ol aria-label={t('queue')}>
        {pages.rows.map((hit) => (
          <li key={hit.id}>
            <QueuedHit hit={hit} isShown={hit.id === shownId} onShow={() => onShow(hit)} />
          </li>
        ))}
      </ol>
      {pages.moreError !== null && <Failure error={pages.moreError} onRetry={pages.retryMore} />}
      {pages.hasMore && (
        <Button className="m-3" disabled={pages.isFetching} onClick={pages.loadMore}>
          {t('more')}
        </Button>
      )}
    </div>
  );
}

interface QueuedHitProps {
  readonly hit: Hit;
  readonly isShown: boolean;
  readonly onShow: () => void;
}

function QueuedHit({ hit, isShown, onShow }: QueuedHitProps) {
  const { t } = useTranslation('hits');
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isShown) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isShown]);
  return (
    <button
      ref={element}
      type="button"
      data-key={hit.id}
      onClick={onShow}
      aria-current={isShown ? 'true' : undefined}
      className={classes(
        'flex w-full flex-col gap-1 border-b p-3 text-start',
        isShown ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <span className="flex items-center gap-2">
        <bdi className="font-mono font-semibold">{hit.licensePlateNumber}</bdi>
        <SeverityBadge severity={hit.priority} />
        {hit.kind === 'LOOK_BACK' && <span className="text-sm text-muted">{t('lookBack')}</span>}
      </span>
      <span className="flex flex-wrap justify-between gap-2 text-sm text-muted">
        <bdi>{hit.hotlist.name}</bdi>
        <Moment at={hit.timestamp} as="ago" />
      </span>
    </button>
  );
}
