import type { Incident, IncidentDetail } from '@gantry/contract/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../shared/map/map.tsx';
import type { Rank } from '../../shared/map/point.ts';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useNow, useTime } from '../../shared/time/use-time.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useAllowed } from './allowed.ts';
import type { IncidentCommands } from './use-commands.tsx';

interface SidesProps {
  readonly incident: IncidentDetail;
  readonly commands: IncidentCommands;
}

/** The panels next to the timeline: assignee, times and place. */
export function IncidentSides({ incident, commands }: SidesProps) {
  const { t } = useTranslation('incidents');
  return (
    <>
      <Assignment incident={incident} commands={commands} />
      <Panel title={t('figures.title')}>
        <Times incident={incident} />
      </Panel>
      <IncidentPlace incident={incident} />
    </>
  );
}

function Assignment({ incident, commands }: SidesProps) {
  const { t } = useTranslation('incidents');
  const allowed = useAllowed();
  const user = useUser();
  const { assignedTo } = incident;
  return (
    <Panel title={t('fields.assignedTo')}>
      {assignedTo ? <bdi>{assignedTo.name}</bdi> : <p className="text-muted">{t('assignee.nobody')}</p>}
      {allowed(incident, 'assign') && (
        <div className="mt-2 flex flex-wrap gap-2">
          {assignedTo?.id !== user.id && (
            <Button onClick={() => commands.assignToMe(incident)}>{t('assignee.toMe')}</Button>
          )}
          <Button onClick={() => commands.run('assign', incident)}>{t('assignee.toSomebody')}</Button>
        </div>
      )}
    </Panel>
  );
}

const TICK_MS = 30_000;

function Times({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const time = useTime();
  const now = useNow(TICK_MS);
  const { openedAt, acknowledgedAt, resolvedAt, closedAt, updatedAt, reportedBy, status, lanesBlocked } =
    incident;
  const since = (at: Date) => time.duration(at.getTime() - openedAt.getTime());
  const isOver = status === 'RESOLVED' || status === 'CLOSED';
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
      <Row name={t('fields.openedAt')}>
        <Moment at={openedAt} />
      </Row>
      <Row name={t('fields.reportedBy')}>
        <bdi>{reportedBy?.name ?? t('byService')}</bdi>
      </Row>
      <Row name={t('figures.toAcknowledge')}>
        {acknowledgedAt ? since(acknowledgedAt) : time.duration(now - openedAt.getTime())}
        {!acknowledgedAt && <span className="text-muted"> {t('figures.soFar')}</span>}
      </Row>
      <Row name={t('figures.toResolve')}>
        {isOver && resolvedAt ? since(resolvedAt) : time.duration(now - openedAt.getTime())}
        {!isOver && <span className="text-muted"> {t('figures.soFar')}</span>}
      </Row>
      {closedAt && (
        <Row name={t('fields.closedAt')}>
          <Moment at={closedAt} />
        </Row>
      )}
      <Row name={t('fields.updatedAt')}>
        <Moment at={updatedAt} />
      </Row>
      {lanesBlocked !== null && <Row name={t('fields.lanesBlocked')}>{lanesBlocked}</Row>}
      <SensorRow id={incident.sensorId} />
    </dl>
  );
}

function SensorRow({ id }: { readonly id: string | null }) {
  const { t } = useTranslation('incidents');
  const { data } = useQuery({
    ...service.sensors.getById.queryOptions({ id: id ?? '' }),
    enabled: id !== null,
    retry: false,
  });
  if (!data) return null;
  return (
    <Row name={t('fields.sensor')}>
      <Link to="/sensors/$sensorId" params={{ sensorId: data.id }} className="text-accent underline">
        <bdi>{data.name}</bdi>
      </Link>
    </Row>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="figures min-w-0">{children}</dd>
    </>
  );
}

const ranks: Readonly<Record<Incident['severity'], Rank>> = { LOW: 1, MEDIUM: 2, HIGH: 3, CRITICAL: 4 };

/** The place of an incident: its location, address and coordinates, and a map. */
function IncidentPlace({ incident }: { readonly incident: Incident }) {
  const { t } = useTranslation(['incidents', 'common']);
  const { id, title, severity, location, locationId } = incident;
  const { data } = useQuery({
    ...service.locations.getById.queryOptions({ id: locationId ?? '' }),
    enabled: locationId !== null,
    retry: false,
  });
  const place = location ?? data?.coordinates ?? null;
  const text = place && `${place.latitude}, ${place.longitude}`;
  return (
    <Panel title={t('place.title')}>
      <div className="flex flex-col gap-2">
        {data && (
          <Link
            to="/locations/$locationId"
            params={{ locationId: data.id }}
            className="flex gap-2 text-accent underline"
          >
            <Icon name="location" className="mt-0.5" />
            <bdi>{data.name}</bdi>
          </Link>
        )}
        {location?.address !== undefined && <bdi className="text-muted">{location.address}</bdi>}
        {place && text ? (
          <>
            <p className="flex items-center gap-2">
              <bdi className="figures font-mono text-sm" dir="ltr">
                {text}
              </bdi>
              <CopyButton label={t('place.copy')} iconOnly text={text} />
            </p>
            <div className="h-48 overflow-hidden rounded-md border">
              <PlaceMap
                label={t('place.title')}
                points={[
                  {
                    id,
                    label: title,
                    latitude: place.latitude,
                    longitude: place.longitude,
                    look: { rank: ranks[severity], mark: '!', text: t(`common:severity.${severity}`) },
                  },
                ]}
                selectedId={id}
                onSelect={() => undefined}
                fit="selected"
              />
            </div>
          </>
        ) : (
          !data && <p className="text-muted">{t('place.unknown')}</p>
        )}
      </div>
    </Panel>
  );
}
