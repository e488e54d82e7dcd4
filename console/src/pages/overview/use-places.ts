import type { Incident } from '@gantry/contract/incidents';
import type { Location } from '@gantry/contract/locations';
import type { LocatedSensor } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { type MapPoint, worstOf } from '../../shared/map/point.ts';
import { type TrafficNow, useAllLocations, useLiveTraffic } from '../../shared/places/points.ts';
import { isFeatureOff } from '../../shared/service/features.ts';
import { service } from '../../shared/service/service.ts';
import { levelLooks, levelText, statusLooks } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import type { Tone } from '../../ui/badge.tsx';
import { OPEN, useHasIncidents } from './use-counts.ts';

/** A place on the overview: a location, or the position of a sensor or incident that belongs to no location. */
export interface Place {
  readonly id: string;
  readonly name: string;
  readonly location: Location | null;
  readonly coordinates: { readonly latitude: number; readonly longitude: number } | null;
  readonly traffic: TrafficNow | undefined;
  readonly sensors: readonly LocatedSensor[];
  readonly incidents: readonly Incident[];
}

const severityTones = { LOW: 'low', MEDIUM: 'medium', HIGH: 'high', CRITICAL: 'critical' } as const;

/**
 * Loads the places of the overview map.
 * @param enabled whether the queries may start
 * @returns `error` is set if the locations, sensors or incidents could not be loaded; a disabled feature is not an error
 */
export function usePlaces(enabled: boolean) {
  const hasIncidents = useHasIncidents();
  const titleOf = useIncidentTitle();
  const allLocations = useAllLocations(enabled);
  const traffic = useLiveTraffic(enabled).data;
  const allSensors = useQuery({ ...service.sensors.getAllSensors.queryOptions(), enabled });
  const [locations, sensors] = [allLocations.data, allSensors.data];
  const isPending = allLocations.isPending || allSensors.isPending;
  const openIncidents = useQuery({
    // If more incidents are open than one response contains, the least severe are left out.
    ...service.incidents.getAll.queryOptions({
      status: [...OPEN],
      sortBy: 'severity',
      sortOrder: 'desc',
      take: 100,
    }),
    enabled: enabled && hasIncidents,
  });
  const incidents = openIncidents.data?.incidents;
  const failed = [allLocations, allSensors, openIncidents].filter(
    ({ error, data }) =>
      error &&
      !data &&
      !['locations', 'sensors', 'incidents'].some((feature) => isFeatureOff(error, feature)),
  );
  const places = useMemo((): readonly Place[] => {
    // The map fits its view to the first points that it is given, so it gets none until all are loaded.
    if (isPending) return [];
    const levels = new Map(traffic?.locations.map((each) => [each.locationId, each]));
    // A sensor or incident at an unknown location, such as when locations are disabled, becomes a place of its own.
    const known = new Set(locations?.map(({ id }) => id));
    const at = (id: string | null | undefined) => (id && known.has(id) ? id : null);
    const sensorsAt = Map.groupBy(sensors ?? [], ({ location }) => at(location?.id));
    const incidentsAt = Map.groupBy(incidents ?? [], ({ locationId }) => at(locationId));
    const single = { location: null, traffic: undefined, sensors: [], incidents: [] };
    return [
      ...(locations ?? []).map((location) => ({
        id: location.id,
        name: location.name,
        location,
        coordinates:
          location.coordinates ?? placeOfAny(sensorsAt.get(location.id), incidentsAt.get(location.id)),
        traffic: levels.get(location.id),
        sensors: sensorsAt.get(location.id) ?? [],
        incidents: incidentsAt.get(location.id) ?? [],
      })),
      ...(sensorsAt.get(null) ?? []).map((sensor) => ({
        ...single,
        id: sensor.id,
        name: sensor.name,
        coordinates: sensor.coordinates,
        sensors: [sensor],
      })),
      ...(incidentsAt.get(null) ?? []).map((incident) => ({
        ...single,
        id: incident.id,
        name: titleOf(incident),
        coordinates: incident.location,
        incidents: [incident],
      })),
    ];
  }, [isPending, locations, traffic, sensors, incidents, titleOf]);
  return {
    places,
    isPending,
    error: failed[0]?.error ?? null,
    refetch: () => {
      for (const { refetch } of failed) void refetch();
    },
  };
}

/** The position of a location without coordinates: that of one of its sensors, or else of its incidents. */
function placeOfAny(
  sensors: readonly LocatedSensor[] = [],
  incidents: readonly Incident[] = [],
): Place['coordinates'] {
  const sensor = sensors.find(({ coordinates }) => coordinates);
  return sensor?.coordinates ?? incidents.find(({ location }) => location)?.location ?? null;
}

/** The places as map points. Each has the worst tone of its traffic, sensors and incidents, and a description. */
export function usePlacePoints(places: readonly Place[]): readonly MapPoint[] {
  const { t } = useTranslation(['overview', 'common']);
  return useMemo(
    () =>
      places.flatMap(({ id, name, coordinates, traffic, sensors, incidents }) => {
        if (!coordinates) return [];
        const silent = sensors.filter(({ status }) => status !== 'ONLINE');
        const tones: Tone[] = [
          ...sensors.map(({ status }) => statusLooks[status].tone),
          ...incidents.map(({ severity }) => severityTones[severity]),
        ];
        const says: string[] = [];
        if (traffic) {
          tones.push(levelLooks[traffic.level].tone);
          says.push(t(`common:trafficLevel.${levelText(traffic)}`));
        }
        if (incidents.length > 0) says.push(t('map.incidents', { count: incidents.length }));
        if (silent.length > 0) says.push(t('map.silent', { count: silent.length }));
        if (says.length === 0 && sensors[0]) says.push(t(`common:sensorStatus.${sensors[0].status}`));
        return {
          id,
          label: name,
          latitude: coordinates.latitude,
          longitude: coordinates.longitude,
          look: worstOf(tones, says.join(' · ')),
        };
      }),
    [places, t],
  );
}
