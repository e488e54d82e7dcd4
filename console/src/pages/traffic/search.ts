import { trafficIntervals } from '@gantry/contract/values';
import { day, oneOf, text } from '../../shared/url/search.ts';

/** The comparisons: with earlier days, with days of the user's choice, or with the same days at another place. */
export const comparisons = ['before', 'weekBefore', 'yearBefore', 'days', 'place'] as const;

/** The query parameters of the traffic page. Those sent to the service are named as in its `traffic` procedures. */
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
  /** The figure by which the top locations are sorted. */
  by: oneOf(['volume', 'meanSpeed', 'shareOverLimit']),
  /** The figure in the chart of the hours of the week. */
  week: oneOf(['volume', 'speed']),
};
