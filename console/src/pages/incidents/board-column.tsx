import type { Incident, IncidentStatus } from '@gantry/contract/incidents';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { IncidentStatusBadge } from '../../shared/status/incident-status.tsx';
import { Button } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Card } from './card.tsx';
import type { IncidentCommands } from './use-commands.tsx';

interface BoardColumnProps {
  readonly status: IncidentStatus;
  readonly incidents: readonly Incident[];
  /** null: not loaded yet. */
  readonly total: number | null;
  readonly cursor: string | undefined;
  readonly onMove: (id: string) => void;
  readonly commands: IncidentCommands;
  /** Shows more cards; null: the column already shows the maximum. */
  readonly onMore: (() => void) | null;
}

/** The incidents of one status. */
export function BoardColumn({
  status,
  incidents,
  total,
  cursor,
  onMove,
  commands,
  onMore,
}: BoardColumnProps) {
  const { t, i18n } = useTranslation(['incidents', 'common']);
  const name = t(`common:incidentStatus.${status}`);
  const hasMore = total !== null && total > incidents.length;
  return (
    <section
      aria-label={name}
      className="flex shrink-0 flex-col rounded-md border bg-surface md:min-h-0 md:min-w-52 md:grow md:basis-0"
    >
      <h2 className="flex items-center gap-2 border-b px-3 py-2 font-medium">
        <IncidentStatusBadge status={status} />
        <span className="figures ms-auto text-muted">{total?.toLocaleString(i18n.language)}</span>
      </h2>
      {total === null && <Skeleton rows={3} height="h-24" />}
      {total === 0 && <p className="px-3 py-4 text-sm text-muted">{t('board.none')}</p>}
      <ul
        tabIndex={incidents.length > 0 ? 0 : undefined}
        aria-label={name}
        className="flex min-h-0 flex-col gap-2 p-2 md:overflow-y-auto"
      >
        {incidents.map((incident) => (
          <Card
            key={incident.id}
            incident={incident}
            isActive={incident.id === cursor}
            onMove={onMove}
            commands={commands}
          />
        ))}
        {hasMore && (
          <li className="flex justify-center">
            {onMore ? (
              <Button kind="quiet" onClick={onMore}>
                {t('board.more')}
              </Button>
            ) : (
              <Link
                from="/incidents"
                to="/incidents"
                search={(all) => ({ ...all, view: 'list' as const, status: [status] })}
                className="px-2 py-1 text-accent underline"
              >
                {t('board.allInList', { n: total.toLocaleString(i18n.language) })}
              </Link>
            )}
          </li>
        )}
      </ul>
    </section>
  );
}
