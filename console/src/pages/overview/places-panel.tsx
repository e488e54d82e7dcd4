import type { WorksWindow } from '@gantry/contract/works';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../shared/map/map.tsx';
import { PointList } from '../../shared/map/point-list.tsx';
import { ViewSwitch } from '../../shared/map/view-switch.tsx';
import { type DrawableWorks, useMapWorks, useWorksBasis, whereOf } from '../../shared/places/works.ts';
import { Failure } from '../../shared/service/failure.tsx';
import {
  IncidentStatusBadge,
  SensorStatusBadge,
  SeverityBadge,
  TrafficLevelBadge,
} from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { useSpeedText } from '../../shared/status/speed.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { incidentPath } from './paths.ts';
import { useCounts } from './use-counts.ts';
import { type Place, usePlacePoints, usePlaces } from './use-places.ts';

interface PlacesPanelProps {
  /** The works of the next hours, in the order of their starts. */
  readonly windows: readonly WorksWindow[];
  readonly className?: string;
}

/** All places with their traffic, sensors and incidents, and the works of the next hours, on the map or as a list. */
export function PlacesPanel({ windows, className }: PlacesPanelProps) {
  const { t } = useTranslation('overview');
  const { place: selectedId, places: form, kiosk } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  // Calls made at the same time share one response, so the largest ones wait until the figures are loaded.
  const isFirstThere = !useCounts().isPending;
  const { places, isPending, error, refetch } = usePlaces(isFirstThere);
  const points = usePlacePoints(places);
  const works = useNextOfWorks(windows);
  const drawn = useMapWorks(works);
  const selected = places.find(({ id }) => id === selectedId);
  const selectedWorks = works.find(({ id }) => id === selectedId);
  const select = (id: string | undefined) =>
    void navigate({ search: (all) => ({ ...all, place: id }), replace: true });
  const legend = {
    0: t('map.legend.0'),
    1: t('map.legend.1'),
    2: t('map.legend.2'),
    3: t('map.legend.3'),
    4: t('map.legend.4'),
  };
  // The map fits its view to what it is first given, so works wait for the places.
  const shown = {
    label: t('map.title'),
    points,
    works: isPending ? [] : drawn,
    selectedId,
    onSelect: select,
    legend,
  };
  return (
    <Panel
      title={t('map.title')}
      isFull
      className={className}
      actions={
        !kiosk && (
          <ViewSwitch
            isMap={form !== 'list'}
            onSwitch={() =>
              void navigate({
                search: (all) => ({ ...all, places: form === 'list' ? undefined : 'list' }),
                replace: true,
              })
            }
          />
        )
      }
    >
      {error && <Failure error={error} onRetry={refetch} />}
      <div className="relative min-h-0 grow">
        {isFirstThere && (form === 'list' ? <PointList {...shown} /> : <PlaceMap {...shown} />)}
        {selected && <PlaceCard place={selected} onClose={() => select(undefined)} />}
        {selectedWorks && <WorksCard works={selectedWorks} onClose={() => select(undefined)} />}
      </div>
    </Panel>
  );
}

interface OneOfWorks extends DrawableWorks {
  readonly window: WorksWindow;
}

/** The window in force of each works, or the next one. */
function useNextOfWorks(windows: readonly WorksWindow[]): readonly OneOfWorks[] {
  return useMemo(() => {
    const first = new Map<string, OneOfWorks>();
    for (const window of windows) {
      const { worksId: id, title, from, until, state, onMap = null } = window;
      const isInForce = state === 'ACTIVE';
      if (isInForce || !first.has(id)) first.set(id, { id, title, from, until, isInForce, onMap, window });
    }
    return [...first.values()];
  }, [windows]);
}

/** The hours and the place of works, in a card over the corner of the map. */
function WorksCard({ works, onClose }: { readonly works: OneOfWorks; readonly onClose: () => void }) {
  const { t } = useTranslation(['overview', 'common']);
  const basisOf = useWorksBasis();
  const { id, title, from, until, isInForce, onMap, window } = works;
  const where = whereOf(window);
  const link = (
    <Link to="/works/$worksId" params={{ worksId: id }} className="hover:underline">
      <bdi className="line-clamp-2">{title}</bdi>
    </Link>
  );
  return (
    <Card name={title} heading={link} onClose={onClose}>
      <p className="flex flex-wrap items-center gap-x-2">
        {isInForce && (
          <Badge tone="high" icon="busy">
            {t('works.inForce')}
          </Badge>
        )}
        <span dir="ltr">
          <Moment at={from} /> – <Moment at={until} />
        </span>
      </p>
      {where !== '' && <bdi>{where}</bdi>}
      <p className="text-sm text-muted">{basisOf(onMap)}</p>
    </Card>
  );
}

interface CardProps {
  readonly name: string;
  readonly heading: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A card over the corner of the map. */
function Card({ name, heading, onClose, children }: CardProps) {
  const { t } = useTranslation('common');
  return (
    <section
      aria-label={name}
      aria-live="polite"
      className="absolute start-2 bottom-2 z-10 flex max-h-[70%] w-80 max-w-[calc(100%-1rem)] flex-col gap-2 overflow-y-auto rounded-md border bg-raised p-3 shadow-xl"
    >
      <header className="flex items-start gap-2">
        <h3 className="grow font-semibold">{heading}</h3>
        <Button kind="quiet" icon="close" iconOnly aria-label={t('dialog.close')} onClick={onClose} />
      </header>
      {children}
    </section>
  );
}

/** The traffic, incidents and sensors of a place. */
function PlaceCard({ place, onClose }: { readonly place: Place; readonly onClose: () => void }) {
  const titleOf = useIncidentTitle();
  const speedText = useSpeedText();
  const { name, location, traffic, sensors, incidents } = place;
  const heading = location ? (
    <Link to="/locations/$locationId" params={{ locationId: location.id }} className="hover:underline">
      <bdi className="line-clamp-2">{name}</bdi>
    </Link>
  ) : (
    <bdi className="line-clamp-2">{name}</bdi>
  );
  return (
    <Card name={name} heading={heading} onClose={onClose}>
      {traffic && (
        <p className="figures flex flex-wrap gap-x-3">
          <TrafficLevelBadge level={traffic.level} volume={traffic.volume} />
          {traffic.meanSpeed !== null && speedText(traffic.meanSpeed, 0, traffic.units)}
        </p>
      )}
      <ul className="flex flex-col gap-1">
        {incidents.map(({ id, title, type, severity, status }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-2">
            <Link to={incidentPath(id)} className="one-line min-w-0 grow hover:underline">
              <bdi>{titleOf({ title, type })}</bdi>
            </Link>
            <SeverityBadge severity={severity} />
            <IncidentStatusBadge status={status} />
          </li>
        ))}
        {sensors.map((sensor) => (
          <li key={sensor.id} className="flex flex-wrap items-center gap-x-2">
            <Link
              to="/sensors/$sensorId"
              params={{ sensorId: sensor.id }}
              className="one-line min-w-0 grow hover:underline"
            >
              <bdi>{sensor.name}</bdi>
            </Link>
            <SensorStatusBadge status={sensor.status} lastHeartbeat={sensor.lastHeartbeat} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
