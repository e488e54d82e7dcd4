import type { EventDetail } from '@gantry/contract/events';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../map/map.tsx';
import { service } from '../../service/service.ts';
import { Fact, Facts } from './section.tsx';

/** The sensor of an event and the place where it stands. */
export function usePlace(sensorId: string | null) {
  const { data: sensor } = useQuery({
    ...service.sensors.getById.queryOptions({ id: sensorId ?? '' }),
    enabled: sensorId !== null,
    staleTime: 300_000,
    retry: false,
  });
  const locationId = sensor?.locationId ?? null;
  const { data: location } = useQuery({
    ...service.locations.getById.queryOptions({ id: locationId ?? '' }),
    enabled: locationId !== null,
    staleTime: 300_000,
    retry: false,
  });
  return { sensor, location: location ?? null };
}

/** Which sensor sent the event, and where that was. */
export function Place({ event }: { readonly event: EventDetail }) {
  const { t } = useTranslation('events');
  const { location } = usePlace(event.sensorId);
  const where = event.location ?? location?.coordinates ?? null;
  const name = event.locationName ?? location?.name ?? null;
  return (
    <>
      <Facts>
        <Fact name={t('fields.sensor')}>
          {event.sensorId === null ? (
            <bdi>{event.sensorName ?? '–'}</bdi>
          ) : (
            <Link to={`/sensors/${event.sensorId}` as string} className="text-accent underline">
              <bdi>{event.sensorName ?? event.sensorId}</bdi>
            </Link>
          )}
        </Fact>
        {name !== null && (
          <Fact name={t('fields.location')}>
            {location ? (
              <Link to={`/locations/${location.id}` as string} className="text-accent underline">
                <bdi>{name}</bdi>
              </Link>
            ) : (
              <bdi>{name}</bdi>
            )}
          </Fact>
        )}
        {where?.address && (
          <Fact name={t('fields.address')}>
            <bdi>{where.address}</bdi>
          </Fact>
        )}
      </Facts>
      {where && <EventMap latitude={where.latitude} longitude={where.longitude} />}
    </>
  );
}

interface EventMapProps {
  readonly latitude: number;
  readonly longitude: number;
}

/** Where the event happened, as coordinates and on a map. */
function EventMap({ latitude, longitude }: EventMapProps) {
  const { t } = useTranslation('events');
  const label = t('fields.location');
  const points = useMemo(
    () => [{ id: 'event', label, latitude, longitude, look: { rank: 2, mark: '', text: label } as const }],
    [label, latitude, longitude],
  );
  return (
    <>
      <Facts>
        <Fact name={t('fields.coordinates')}>
          <span dir="ltr" className="figures">
            {latitude.toFixed(5)}, {longitude.toFixed(5)}
          </span>
        </Fact>
      </Facts>
      <div className="h-44 overflow-hidden rounded-md border">
        <PlaceMap
          label={label}
          points={points}
          selectedId="event"
          onSelect={() => undefined}
          fit="selected"
        />
      </div>
    </>
  );
}
