import type { ShiftSummary } from '@gantry/contract/shifts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { LogEntries } from '../../shared/log/log-entries.tsx';
import { IncidentStatusBadge, SensorStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { FaultBadge } from '../../shared/status/fault-badge.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';

/** What a shift hands over: what is open, in one panel for each kind. */
export function SummaryView({ summary }: { readonly summary: ShiftSummary }) {
  const { t } = useTranslation('shift');
  const titleOf = useIncidentTitle();
  const { at, incidents, hits, alarms, sensors, instructions, works } = summary;
  return (
    <>
      <p className="text-sm text-muted">
        {t('asOf')} <Moment at={at} />
      </p>
      <Part title={t('parts.instructions')} total={instructions.total} shown={instructions.items.length}>
        <LogEntries label={t('parts.instructions')} entries={instructions.items} />
      </Part>
      <Part title={t('parts.incidents')} total={incidents.total} shown={incidents.items.length}>
        <ul>
          {incidents.items.map(({ id, title, type, severity, status, openedAt, place, assignedTo, note }) => (
            <Row
              key={id}
              to={`/incidents/${id}`}
              name={titleOf({ title, type })}
              at={openedAt}
              state={
                <>
                  <SeverityBadge severity={severity} /> <IncidentStatusBadge status={status} />
                  {assignedTo && <bdi>{assignedTo.name}</bdi>}
                  {place !== null && <bdi>{place}</bdi>}
                </>
              }
              note={note && <bdi>{note.text}</bdi>}
            />
          ))}
        </ul>
      </Part>
      <Part title={t('parts.alarms')} total={alarms.total} shown={alarms.items.length}>
        <ul>
          {alarms.items.map(
            ({ id, ruleName, severity, text, place, firedAt, acknowledgedBy, isSilenced }) => (
              <Row
                key={id}
                to="/alarms"
                name={place ?? ruleName}
                at={firedAt}
                state={
                  <>
                    <SeverityBadge severity={severity} />
                    <bdi>{ruleName}</bdi>
                    {acknowledgedBy && <bdi>{acknowledgedBy.name}</bdi>}
                    {isSilenced && (
                      <Badge tone="calm" icon="muted">
                        {t('silenced')}
                      </Badge>
                    )}
                  </>
                }
                note={<bdi lang="en">{text}</bdi>}
              />
            ),
          )}
        </ul>
      </Part>
      <Part title={t('parts.hits')} total={hits.total} shown={hits.total}>
        <ul>
          {hits.items.map(({ hotlistId, name, count, oldestAt }) => (
            <Row key={hotlistId} to="/hits" name={name} at={oldestAt} state={t('hits', { count })} />
          ))}
        </ul>
      </Part>
      {works && (
        <Part title={t('parts.works')} total={works.total} shown={works.items.length}>
          <ul>
            {works.items.map(({ worksId, title, from, until, state, road, place }) => (
              <Row
                key={`${worksId} ${from.getTime()}`}
                to={`/works/${worksId}`}
                name={title}
                at={from}
                state={
                  <>
                    <span>
                      {t(state === 'ACTIVE' ? 'inForce' : 'until')} <Moment at={until} />
                    </span>
                    {(place ?? road) !== null && <bdi>{place ?? road}</bdi>}
                  </>
                }
              />
            ))}
          </ul>
        </Part>
      )}
      <Part title={t('parts.sensors')} total={sensors.total} shown={sensors.items.length}>
        <ul>
          {sensors.items.map(({ id, name, status, since, place, fault }) => (
            <Row
              key={id}
              to={`/sensors/${id}`}
              name={name}
              at={since}
              state={
                <>
                  <SensorStatusBadge status={status} />
                  {fault && <FaultBadge state={fault.state} />}
                  {fault?.ticket && <bdi>{fault.ticket}</bdi>}
                  {place !== null && <bdi>{place}</bdi>}
                </>
              }
              note={fault && <bdi>{fault.text}</bdi>}
            />
          ))}
        </ul>
      </Part>
    </>
  );
}

interface PartProps {
  readonly title: string;
  readonly total: number;
  /** Number of those that are listed. */
  readonly shown: number;
  readonly children: ReactNode;
}

function Part({ title, total, shown, children }: PartProps) {
  const { t, i18n } = useTranslation('shift');
  return (
    <Panel title={`${title} (${total.toLocaleString(i18n.language)})`} isFull>
      {total === 0 ? <p className="p-3 text-muted">{t('nothing')}</p> : children}
      {total > shown && (
        <p className="border-t p-3 text-muted">{t('moreNotListed', { count: total - shown })}</p>
      )}
    </Panel>
  );
}

interface RowProps {
  readonly to: string;
  readonly name: string;
  readonly at: Date;
  readonly state: ReactNode;
  readonly note?: ReactNode;
}

function Row({ to, name, at, state, note }: RowProps) {
  return (
    <li className="flex items-start gap-3 border-b px-3 py-1.5 last:border-b-0">
      <div className="flex min-w-0 grow flex-col">
        <Link to={to} className="wrap-anywhere text-accent underline">
          <bdi>{name}</bdi>
        </Link>
        <span className="flex flex-wrap items-center gap-x-3 text-sm text-muted">{state}</span>
        {note && <span className="text-sm wrap-anywhere">{note}</span>}
      </div>
      <Moment at={at} className="text-sm text-muted" />
    </li>
  );
}
