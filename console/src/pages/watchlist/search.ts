import { severities, sortOrders } from '@gantry/contract/values';
import { flag, moment, oneOf, text } from '../../shared/url/search.ts';

/** The query parameters of the watchlist page, named as in `watchlist.getAlerts` and `watchlist.getAll`. */
export const watchlistSearch = {
  /** The list that the page shows; absent: the alerts. */
  part: oneOf(['plates']),
  priority: oneOf(severities),
  acknowledged: flag,
  backlog: flag,
  entryId: text(),
  startDate: moment,
  endDate: moment,
  search: text(200),
  active: flag,
  sortBy: oneOf(['createdAt', 'pattern', 'priority', 'validUntil']),
  sortOrder: oneOf(sortOrders),
  /** The id of the alert whose details are shown. */
  alert: text(),
  /** The id of the entry whose form is open; `new` for a new entry. */
  plate: text(),
};
