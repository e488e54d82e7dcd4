import { sortOrders } from '@gantry/contract/values';
import { flag, oneOf, text } from '../../shared/url/search.ts';

/** The query parameters of the locations page, named as in `locations.getAll`. */
export const locationsSearch = {
  search: text(200),
  sortBy: oneOf(['name', 'createdAt']),
  sortOrder: oneOf(sortOrders),
  view: oneOf(['map']),
  /** The id of the location at the cursor of the list, or selected on the map. */
  location: text(),
  /** Whether the form for a new location is open. */
  create: flag,
};
