import { besides, type DayRange, moved } from '../range/days.ts';
import { type Place, placeOf } from './place.ts';
import type { comparisons } from './search.ts';

/** What is looked at: a place on some days. */
export interface Subject {
  readonly place: Place;
  readonly days: DayRange;
}

export type Comparison = (typeof comparisons)[number];

interface Compared {
  readonly compare?: Comparison;
  readonly compareStart?: string;
  readonly compareEnd?: string;
  readonly withLocationId?: string;
  readonly withSensorId?: string;
}

/** A year before, on the same days of the week. */
const YEAR_DAYS = 364;

/** What a subject is compared with; null when it is not, or when the address does not say with what. */
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
