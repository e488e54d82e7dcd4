import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../shared/map/map.tsx';
import { PointList } from '../../shared/map/point-list.tsx';
import { ViewSwitch } from '../../shared/map/view-switch.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import {
  IncidentStatusBadge,
  SensorStatusBadge,
  SeverityBadge,
  TrafficLevelBadge,
} from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { useSpeedText } from '../../shared/status/speed.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { incidentPath } from './paths.ts';
import { useCounts } from './use-counts.ts';
import { type Place, usePlacePoints, usePlaces } from './use-places.ts';

/** All places with their traffic, sensors and incidents, on the map or as a list. */
export function PlacesPanel({ className }: { readonly className?: string }) {
  const { t } = useTranslation('overview');
  const { place: selectedId, places: form, kiosk } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  // Calls made at the same time share one response, so the largest ones wait until the figures are loaded.
  const isFirstThere = !useCounts().isPending;
  const { places, error, refetch } = usePlaces(isFirstThere);
  const points = usePlacePoints(places);
  const selected = places.find(({ id }) => id === selectedId);
  const select = (id: string | undefined) =>
    void navigate({ search: (all) => ({ ...all, place: id }), replace: true });
  const legend = {
    0: t('map.legend.0'),
    1: t('map.legend.1'),
    2: t('map.legend.2'),
    3: t('map.legend.3'),
    4: t('map.legend.4'),
  };
  const shown = { label: t('map.title'), points, selectedId, onSelect: select, legend };
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
      </div>
    </Panel>
  );
}

/** The traffic, incidents and sensors of a place, in a card over the corner of the map. */
function PlaceCard({ place, onClose }: { readonly place: Place; readonly onClose: () => void }) {
  const { t } = useTranslation(['overview', 'common']);
  const titleOf = useIncidentTitle();
  const speedText = useSpeedText();
  const { name, location, traffic, sensors, incidents } = place;
  return (
    <section
      aria-label={name}
      aria-live="polite"
      className="absolute start-2 bottom-2 flex max-h-[70%] w-80 max-w-[calc(100%-1rem)] flex-col gap-2 overflow-y-auto rounded-md border bg-raised p-3 shadow-xl"
    >
      <header className="flex items-start gap-2">
        <h3 className="grow font-semibold">
          {location ? (
            <Link
              to="/locations/$locationId"
              params={{ locationId: location.id }}
              className="hover:underline"
            >
              <bdi className="line-clamp-2">{name}</bdi>
            </Link>
          ) : (
            <bdi className="line-clamp-2">{name}</bdi>
          )}
        </h3>
        <Button kind="quiet" icon="close" iconOnly aria-label={t('common:dialog.close')} onClick={onClose} />
      </header>
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
    </section>
  );
}
