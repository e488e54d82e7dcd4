import { besides, type DayRange, moved, rangeOfPreset } from '../../shared/range/days.ts';
import type { comparisons } from './search.ts';

/** The place whose traffic is shown: a location with all of its sensors, a measuring point, or a single sensor. */
export type Place =
  | { readonly locationId: string }
  | { readonly pointId: string }
  | { readonly sensorId: string };

/** The query parameters of a place, all absent. */
export const NO_PLACE = { locationId: undefined, pointId: undefined, sensorId: undefined } as const;

interface PlaceIds {
  readonly locationId?: string | null | undefined;
  readonly pointId?: string | null | undefined;
  readonly sensorId?: string | null | undefined;
}

/** The place that the query parameters select: of several, a location before a point, and a point before a sensor. */
export function placeOf({ locationId, pointId, sensorId }: PlaceIds): Place | null {
  if (locationId != null) return { locationId };
  if (pointId != null) return { pointId };
  return sensorId == null ? null : { sensorId };
}

/** The ids of a place, of which one is given. */
export function idsOf(place: Place): { locationId?: string; pointId?: string; sensorId?: string } {
  return place;
}

/** The subject of the charts: a place and a range of days. */
export interface Subject {
  readonly place: Place;
  readonly days: DayRange;
}

interface Chosen extends PlaceIds {
  readonly startDate?: string;
  readonly endDate?: string;
}

/** The place and the days that the query parameters select, in order; by default the last seven days. */
export function chosenSubject(search: Chosen, today: string): { place: Place | null; days: DayRange } {
  const usual = rangeOfPreset('last7', today);
  const { startDate = search.endDate ?? usual.startDate, endDate = search.startDate ?? usual.endDate } =
    search;
  return {
    place: placeOf(search),
    days: startDate <= endDate ? { startDate, endDate } : { startDate: endDate, endDate: startDate },
  };
}

export type Comparison = (typeof comparisons)[number];

interface Compared {
  readonly compare?: Comparison;
  readonly compareStart?: string;
  readonly compareEnd?: string;
  readonly withLocationId?: string;
  readonly withPointId?: string;
  readonly withSensorId?: string;
}

/** The place of the comparison that the query parameters select. */
export function otherPlaceOf(search: Compared): Place | null {
  return placeOf({
    locationId: search.withLocationId,
    pointId: search.withPointId,
    sensorId: search.withSensorId,
  });
}

/** 52 weeks, so that the same days of the week are compared. */
const YEAR_DAYS = 364;

/** The subject of the comparison; null if there is no comparison, or its days or place are missing from the URL. */
export function comparedWith({ place, days }: Subject, search: Compared): Subject | null {
  switch (search.compare) {
    case 'before':
      return { place, days: besides(days, -1) };
    case 'weekBefore':
      return { place, days: moved(days, -7) };
    case 'yearBefore':
      return { place, days: moved(days, -YEAR_DAYS) };
    case 'days': {
      const { compareStart: startDate, compareEnd: endDate } = search;
      return startDate !== undefined && endDate !== undefined
        ? { place, days: { startDate, endDate } }
        : null;
    }
    case 'place': {
      const other = otherPlaceOf(search);
      return other && { place: other, days };
    }
    default:
      return null;
  }
}
