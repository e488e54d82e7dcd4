import { sensorStatuses, sensorTypes, sortOrders } from '@gantry/contract/values';
import { flag, oneOf, text } from '../../shared/url/search.ts';

/** The query parameters of the sensors page, named as in `sensors.getAll`. */
export const sensorsSearch = {
  type: oneOf(sensorTypes),
  status: oneOf(sensorStatuses),
  locationId: text(),
  search: text(200),
  sortBy: oneOf(['name', 'type', 'status', 'createdAt', 'lastHeartbeat']),
  sortOrder: oneOf(sortOrders),
  view: oneOf(['map']),
  /** The id of the sensor at the cursor of the list, or selected on the map. */
  sensor: text(),
  /** Whether the form for a new sensor is open. */
  create: flag,
};
