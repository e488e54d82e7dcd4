import type { EventDetail } from '@gantry/contract/events';
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { service } from '../../../shared/service/service.ts';
import { later } from '../../../ui/load-code.ts';
import { Fact, Facts } from './section.tsx';

const usePlaceMap = later(async () => (await import('../../../shared/map/map.tsx')).PlaceMap);

const READ_ONCE = { staleTime: 300_000, retry: false } as const;
const sensorOf = (id: string) => ({ ...service.sensors.getById.queryOptions({ id }), ...READ_ONCE });
const locationOf = (id: string) => ({ ...service.locations.getById.queryOptions({ id }), ...READ_ONCE });

/** The location of the sensor of an event; null until it is loaded, or if there is none. */
export function useLocationOf(sensorId: string | null) {
  const { data: sensor } = useQuery({ ...sensorOf(sensorId ?? ''), enabled: sensorId !== null });
  const locationId = sensor?.locationId ?? null;
  const { data: location } = useQuery({ ...locationOf(locationId ?? ''), enabled: locationId !== null });
  return location ?? null;
}

/** Fetches the location of the sensor of an event, unless it is cached. @returns null if there is none */
export async function readLocationOf(client: QueryClient, sensorId: string | null) {
  const sensor = sensorId === null ? null : await client.fetchQuery(sensorOf(sensorId));
  return sensor?.locationId ? client.fetchQuery(locationOf(sensor.locationId)) : null;
}

/** The sensor that sent the event, its location, and the position on a map. */
export function Place({ event }: { readonly event: EventDetail }) {
  const { t } = useTranslation('events');
  const location = useLocationOf(event.sensorId);
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

/** The position of the event, as coordinates and on a map. */
function EventMap({ latitude, longitude }: EventMapProps) {
  const { t } = useTranslation('events');
  const PlaceMap = usePlaceMap(true);
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
        {PlaceMap && (
          <PlaceMap
            label={label}
            points={points}
            selectedId="event"
            onSelect={() => undefined}
            fit="selected"
          />
        )}
      </div>
    </>
  );
}
