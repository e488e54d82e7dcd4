import { sortOrders } from '@gantry/contract/values';
import { flag, oneOf, text } from '../address/search.ts';

/** What the address of the locations page may say. The names are those of `locations.getAll`. */
export const locationsSearch = {
  search: text(200),
  sortBy: oneOf(['name', 'createdAt']),
  sortOrder: oneOf(sortOrders),
  view: oneOf(['map']),
  /** The location under the cursor of the list, or selected on the map. */
  location: text(),
  /** Whether the form for a new one is open. */
  create: flag,
};
