import { trafficIntervals } from '@gantry/contract/values';
import { day, oneOf, text } from '../address/search.ts';

/** What two periods or places are compared by: days before the chosen ones, other days, or the same days at another place. */
export const comparisons = ['before', 'weekBefore', 'yearBefore', 'days', 'place'] as const;

/** What the address of the traffic page may say. The names are those of the procedures of `traffic`. */
export const trafficSearch = {
  locationId: text(),
  sensorId: text(),
  startDate: day,
  endDate: day,
  interval: oneOf(trafficIntervals),
  vehicleType: text(100),
  compare: oneOf(comparisons),
  compareStart: day,
  compareEnd: day,
  withLocationId: text(),
  withSensorId: text(),
  /** By what the top locations are sorted. */
  by: oneOf(['volume', 'meanSpeed', 'shareOverLimit']),
  /** What the map of the week shows. */
  week: oneOf(['volume', 'speed']),
};
