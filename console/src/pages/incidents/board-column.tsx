import type { Incident, IncidentAction, IncidentStatus } from '@gantry/contract/incidents';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { IncidentStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Moment, UnbrokenDays } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useAllowed } from './allowed.ts';
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
      className="flex shrink-0 flex-col rounded-md border bg-surface md:min-h-0 md:min-w-52 md:grow print:min-w-0 md:basis-0"
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

/** The actions that a card may offer; it shows the first that is allowed. */
const NEXT = ['acknowledge', 'start', 'resolve'] as const satisfies readonly IncidentAction[];

interface CardProps {
  readonly incident: Incident;
  readonly isActive: boolean;
  readonly onMove: (id: string) => void;
  readonly commands: IncidentCommands;
}

/** An incident on the board, with a button for its next step. */
function Card({ incident, isActive, onMove, commands }: CardProps) {
  const { t } = useTranslation('incidents');
  const allowed = useAllowed();
  const { id, title, type, severity, assignedTo, openedAt } = incident;
  const titleOf = useIncidentTitle();
  const next = NEXT.find((action) => allowed(incident, action));
  return (
    <li
      data-card={id}
      className={classes(
        'relative flex shrink-0 flex-col gap-1.5 rounded-md border bg-raised p-2.5',
        isActive ? 'border-accent bg-selected outline-1 outline-accent' : 'hover:border-line-strong',
      )}
    >
      <Link
        to="/incidents/$incidentId"
        params={{ incidentId: id }}
        aria-current={isActive || undefined}
        // Only on keyboard focus: on a press, the board would scroll under the pointer and the click would be lost.
        onFocus={({ currentTarget }) => !isActive && currentTarget.matches(':focus-visible') && onMove(id)}
        // The link covers the whole card.
        className="font-medium after:absolute after:inset-0"
      >
        <bdi className="line-clamp-2">
          <UnbrokenDays text={titleOf({ title, type })} />
        </bdi>
      </Link>
      <div className="flex items-center gap-3 text-sm">
        <SeverityBadge severity={severity} />
        <span className="ms-auto text-muted">
          <Moment at={openedAt} as="ago" />
        </span>
      </div>
      <div className="flex min-h-8 flex-wrap items-center gap-2 text-sm">
        <span className="flex min-w-0 grow basis-14 items-center gap-2 text-muted">
          <Icon name="users" size={14} />
          <span className="one-line">{assignedTo ? <bdi>{assignedTo.name}</bdi> : t('assignee.nobody')}</span>
        </span>
        {next && (
          <Button className="relative text-sm!" onClick={() => commands.run(next, incident)}>
            {t(`actions.${next}`)}
          </Button>
        )}
      </div>
    </li>
  );
}
