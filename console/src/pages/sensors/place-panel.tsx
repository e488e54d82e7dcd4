import type { Sensor } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../shared/map/map.tsx';
import { useSensorPoints } from '../../shared/places/points.ts';
import { service } from '../../shared/service/service.ts';
import { Facts, Panel } from '../../ui/panel.tsx';

/**
 * The panel with the place of a sensor and a map. Without an address or coordinates of its own, the address and the
 * point on the map are those of its location.
 */
export function PlacePanel({ sensor }: { readonly sensor: Sensor }) {
  const { t } = useTranslation('sensors');
  const { locationId, coordinates, name } = sensor;
  const { data: location } = useQuery({
    ...service.locations.getById.queryOptions({ id: locationId ?? '' }),
    enabled: locationId !== null,
  });
  const address = coordinates?.address ?? location?.address;
  const points = useSensorPoints([{ ...sensor, coordinates: coordinates ?? location?.coordinates ?? null }]);
  return (
    <Panel title={t('place')}>
      <Facts
        facts={[
          [
            t('fields.location'),
            location && (
              <Link
                to="/locations/$locationId"
                params={{ locationId: location.id }}
                className="text-accent underline"
              >
                <bdi>{location.name}</bdi>
              </Link>
            ),
          ],
          [t('fields.address'), address && <bdi key="address">{address}</bdi>],
          [
            t('fields.coordinates'),
            coordinates && (
              <span dir="ltr" className="figures">
                {coordinates.latitude.toFixed(5)}, {coordinates.longitude.toFixed(5)}
              </span>
            ),
          ],
        ]}
      />
      {points.length > 0 ? (
        <div className="mt-3 h-64">
          <PlaceMap label={name} points={points} selectedId={sensor.id} onSelect={ignore} />
        </div>
      ) : (
        <p className="mt-2 text-muted">{t('noPlace')}</p>
      )}
    </Panel>
  );
}

function ignore(): void {}
