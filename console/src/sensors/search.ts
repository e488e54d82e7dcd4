import { sensorStatuses, sensorTypes, sortOrders } from '@gantry/contract/values';
import { flag, oneOf, text } from '../address/search.ts';

/** What the address of the sensors page may say. The names are those of `sensors.getAll`. */
export const sensorsSearch = {
  type: oneOf(sensorTypes),
  status: oneOf(sensorStatuses),
  locationId: text(),
  search: text(200),
  sortBy: oneOf(['name', 'type', 'status', 'createdAt', 'lastHeartbeat']),
  sortOrder: oneOf(sortOrders),
  view: oneOf(['map']),
  /** The sensor under the cursor of the list, or selected on the map. */
  sensor: text(),
  /** Whether the form for a new one is open. */
  create: flag,
};
