import { severities, sortOrders } from '@gantry/contract/values';
import { flag, moment, oneOf, text } from '../address/search.ts';

/** What the address of the watchlist may say. The names are those of `watchlist.getAlerts` and `watchlist.getAll`. */
export const watchlistSearch = {
  /** The alerts unless it says `plates`. */
  part: oneOf(['plates']),
  priority: oneOf(severities),
  acknowledged: flag,
  entryId: text(),
  startDate: moment,
  endDate: moment,
  search: text(200),
  active: flag,
  sortBy: oneOf(['createdAt', 'pattern', 'priority', 'validUntil']),
  sortOrder: oneOf(sortOrders),
  /** The alert whose details are shown. */
  alert: text(),
  /** The plate whose form is open; `new` for one that is added. */
  plate: text(),
};
