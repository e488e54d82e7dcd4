import type { Incident, IncidentAction } from '@gantry/contract/incidents';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { SeverityBadge } from '../../shared/status/severity.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { UnbrokenDays } from '../../shared/time/unbroken-days.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { useAllowed } from './allowed.ts';
import type { IncidentCommands } from './use-commands.tsx';

/** The actions that a card may offer; it shows the first that is allowed. */
const NEXT: readonly IncidentAction[] = ['acknowledge', 'start', 'resolve'];

interface CardProps {
  readonly incident: Incident;
  readonly isActive: boolean;
  readonly onMove: (id: string) => void;
  readonly commands: IncidentCommands;
}

/** An incident on the board, with a button for its next step. */
export function Card({ incident, isActive, onMove, commands }: CardProps) {
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
