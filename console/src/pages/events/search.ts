import { directions, eventTypes, relativeDirections, severities, sortOrders } from '@gantry/contract/values';
import {
  flag,
  moment,
  number,
  numbers,
  oneOf,
  type SearchOf,
  someOf,
  text,
  texts,
  whole,
} from '../../shared/url/search.ts';

/** The query parameters of lists by the part of a road. */
export const corridorSearch = {
  road: text(100),
  fromKilometre: number(-99_999.999, 99_999.999),
  toKilometre: number(-99_999.999, 99_999.999),
};

/** The query parameters of the events page, named like the inputs of `events.getAll`. */
export const eventsSearch = {
  eventType: oneOf(eventTypes),
  sensorId: text(),
  processed: flag,
  archived: flag,
  violationType: text(200),
  licensePlateNumber: text(200),
  vehicleType: text(200),
  locationName: text(),
  severities: someOf(severities),
  minSpeed: number(0, 2000),
  maxSpeed: number(0, 2000),
  minExcess: number(0, 2000),
  hours: numbers(0, 23),
  weekdays: numbers(0, 6),
  sensorTags: texts(40),
  ...corridorSearch,
  plateRegion: text(6),
  minConfidence: whole(0, 100),
  lane: text(100),
  direction: oneOf([...directions, ...relativeDirections]),
  startDate: moment,
  endDate: moment,
  sortBy: oneOf(['timestamp', 'createdAt', 'eventType', 'severity']),
  sortOrder: oneOf(sortOrders),
  /** The id of the event whose details are shown. */
  event: text(),
};

/** The filters and the sort of the list. */
export type EventFilters = Omit<SearchOf<typeof eventsSearch>, 'event'>;
