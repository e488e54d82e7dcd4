import { besides, type DayRange, moved, rangeOfPreset } from '../../shared/range/days.ts';
import type { comparisons } from './search.ts';

/** The place whose traffic is shown: a location with all of its sensors, or a single sensor. */
export type Place = { readonly locationId: string } | { readonly sensorId: string };

/** The place that the query parameters select. A location takes precedence over a sensor. */
export function placeOf(locationId: string | undefined, sensorId: string | undefined): Place | null {
  if (locationId !== undefined) return { locationId };
  return sensorId === undefined ? null : { sensorId };
}

/** The subject of the charts: a place and a range of days. */
export interface Subject {
  readonly place: Place;
  readonly days: DayRange;
}

interface Chosen {
  readonly locationId?: string;
  readonly sensorId?: string;
  readonly startDate?: string;
  readonly endDate?: string;
}

/** The place and the days that the query parameters select, in order; by default the last seven days. */
export function chosenSubject(search: Chosen, today: string): { place: Place | null; days: DayRange } {
  const usual = rangeOfPreset('last7', today);
  const { startDate = search.endDate ?? usual.startDate, endDate = search.startDate ?? usual.endDate } =
    search;
  return {
    place: placeOf(search.locationId, search.sensorId),
    days: startDate <= endDate ? { startDate, endDate } : { startDate: endDate, endDate: startDate },
  };
}

export type Comparison = (typeof comparisons)[number];

interface Compared {
  readonly compare?: Comparison;
  readonly compareStart?: string;
  readonly compareEnd?: string;
  readonly withLocationId?: string;
  readonly withSensorId?: string;
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
      const other = placeOf(search.withLocationId, search.withSensorId);
      return other && { place: other, days };
    }
    default:
      return null;
  }
}
