import { hitStates } from '@gantry/contract/hit-values';
import type { Hit, HitState } from '@gantry/contract/hits';
import { permissionNames } from '@gantry/contract/permissions';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { classes } from '../../ui/classes.ts';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/select.tsx';
import { HitPane } from './hit-pane.tsx';

const keyOf = ({ id }: Hit): string => id;

/** The queue of hits: those that wait for a decision, the most urgent and oldest first, and the decided ones. */
export function HitsPage() {
  return useMay('manageIncidents') ? <Hits /> : <NotAllowed permission={permissionNames.manageIncidents} />;
}

/** Number of hits in the queue. Decided ones make room for others. */
const QUEUE = 50;

function Hits() {
  const { t } = useTranslation('hits');
  const { state = 'NEW', hit: openId } = useSearch({ from: '/shell/hits' });
  const navigate = useNavigate({ from: '/hits' });
  const mayManage = useMay('manageHotlists');
  const isNew = state === 'NEW';
  const input = { state, sortBy: isNew ? ('priority' as const) : ('createdAt' as const), take: QUEUE };
  const { data, error, refetch } = useQuery({
    ...service.hits.getAll.queryOptions(input),
    placeholderData: keepPreviousData,
  });
  const hits = data?.hits ?? [];
  const shown = hits.find(({ id }) => id === openId) ?? hits[0];
  const change = (values: { state?: HitState | undefined; hit?: string | undefined }) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  useCursor({ rows: hits, keyOf, activeKey: shown?.id, onMove: ({ id }) => change({ hit: id }) });
  return (
    <>
      <PageHeader title={t('title')} note={data && t('total', { count: data.total })}>
        <Select
          label={t('state')}
          hideLabel
          value={state}
          options={hitStates.map((value) => ({ value, label: t(`states.${value}`) }))}
          onChange={(value) => change({ state: value === 'NEW' ? undefined : value, hit: undefined })}
        />
        {mayManage && (
          <Link to="/hotlists" className="text-accent underline">
            {t('lists')}
          </Link>
        )}
      </PageHeader>
      <PlatesHidden />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data && !shown && (
        <Empty icon="watchlist" title={t(isNew ? 'none' : 'noneDecided')}>
          {t('noneText')}
        </Empty>
      )}
      {shown && (
        <div className="flex min-h-0 grow flex-col lg:flex-row">
          <ol
            aria-label={t('queue')}
            className="max-h-48 shrink-0 overflow-y-auto border-b lg:max-h-none lg:w-80 lg:border-e lg:border-b-0"
          >
            {hits.map((hit) => (
              <li key={hit.id}>
                <QueuedHit hit={hit} isShown={hit.id === shown.id} onShow={() => change({ hit: hit.id })} />
              </li>
            ))}
          </ol>
          <HitPane key={shown.id} hit={shown} />
        </div>
      )}
    </>
  );
}

interface QueuedHitProps {
  readonly hit: Hit;
  readonly isShown: boolean;
  readonly onShow: () => void;
}

function QueuedHit({ hit, isShown, onShow }: QueuedHitProps) {
  return (
    <button
      type="button"
      onClick={onShow}
      aria-current={isShown ? 'true' : undefined}
      className={classes('flex w-full flex-col gap-1 border-b p-3 text-start', isShown && 'bg-raised')}
    >
      <span className="flex items-center gap-2">
        <bdi className="font-mono font-semibold">{hit.licensePlateNumber}</bdi>
        <SeverityBadge severity={hit.priority} />
      </span>
      <span className="flex flex-wrap justify-between gap-2 text-sm text-muted">
        <bdi>{hit.hotlist.name}</bdi>
        <Moment at={hit.timestamp} as="ago" />
      </span>
    </button>
  );
}
