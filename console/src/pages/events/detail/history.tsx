import type { EventHistory } from '@gantry/contract/reviews';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { useIncidentTitle } from '../../../shared/status/incident-title.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { decisionLooks } from '../triage/review-mark.tsx';

interface Entry {
  readonly key: string;
  readonly icon: IconName;
  readonly what: string;
  readonly who: string | null;
  readonly at: Date;
  readonly reason?: string | null;
}

/** The history of an event, oldest entry first, and the incidents that the event belongs to. */
export function History({ id }: { readonly id: string }) {
  const { t } = useTranslation('events');
  const history = useQuery(service.events.getHistory.queryOptions({ id }));
  const entries = useEntries(history.data);
  if (history.error) return <Failure error={history.error} onRetry={() => void history.refetch()} />;
  if (!history.data) return <Skeleton rows={2} />;
  const incidents = history.data.incidentIds ?? [];
  if (entries.length === 0 && incidents.length === 0) {
    return <p className="text-muted">{t('history.nothing')}</p>;
  }
  return (
    <ul className="flex flex-col gap-1.5">
      {entries.map(({ key, icon, what, who, at, reason }) => (
        <li key={key} className="flex gap-2">
          <Icon name={icon} size={14} className="mt-1 text-muted" />
          <div className="min-w-0">
            {what} {who !== null && <bdi className="font-medium">{who}</bdi>}{' '}
            <span className="text-sm text-muted">
              <Moment at={at} />
            </span>
            {reason && (
              <p className="text-muted">
                <bdi>{reason}</bdi>
              </p>
            )}
          </div>
        </li>
      ))}
      {incidents.map((incidentId) => (
        <li key={incidentId} className="flex gap-2">
          <Icon name="incident" size={14} className="mt-1 text-muted" />
          <IncidentName id={incidentId} />
        </li>
      ))}
    </ul>
  );
}

function IncidentName({ id }: { readonly id: string }) {
  const { t } = useTranslation('events');
  const titleOf = useIncidentTitle();
  const { data } = useQuery({ ...service.incidents.getById.queryOptions({ id }), retry: false });
  return (
    <Link to={`/incidents/${id}` as string} className="min-w-0 text-accent underline">
      {t('history.incident')} <bdi>{data ? titleOf(data) : id}</bdi>
    </Link>
  );
}

function useEntries(history: EventHistory | undefined): readonly Entry[] {
  const { t } = useTranslation('events');
  if (!history) return [];
  const { reviews, processedAt, processedBy, archivedAt, archivedBy } = history;
  const entries: Entry[] = reviews.flatMap(({ id, decision, by, at, reason, undoneAt }) => [
    { key: id, icon: decisionLooks[decision].icon, what: t(`history.${decision}`), who: by.name, at, reason },
    ...(undoneAt
      ? [
          {
            key: `${id}/undone`,
            icon: 'undo' as const,
            what: t('history.undone'),
            who: by.name,
            at: undoneAt,
          },
        ]
      : []),
  ]);
  // A review may also mark the event as processed or archived. That mark is not listed as a second entry.
  const isOfReview = (at: Date) => reviews.some((review) => Math.abs(review.at.getTime() - at.getTime()) < 1);
  if (processedAt && !isOfReview(processedAt)) {
    const who = processedBy?.name ?? null;
    entries.push({
      key: 'processed',
      icon: 'acknowledge',
      what: t('history.processed'),
      who,
      at: processedAt,
    });
  }
  if (archivedAt && !isOfReview(archivedAt)) {
    const who = archivedBy?.name ?? null;
    entries.push({ key: 'archived', icon: 'save', what: t('history.archived'), who, at: archivedAt });
  }
  return entries.sort((one, other) => one.at.getTime() - other.at.getTime());
}
