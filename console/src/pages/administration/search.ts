import { roles, sortOrders } from '@gantry/contract/values';
import { flag, moment, oneOf, text } from '../../shared/url/search.ts';

/** Query parameters of the list of users, named like the input of `users.getAll`. */
export const usersSearch = {
  search: text(200),
  role: oneOf(roles),
  department: text(100),
  isActive: flag,
  sortBy: oneOf(['firstName', 'email', 'role', 'lastLogin', 'createdAt']),
  sortOrder: oneOf(sortOrders),
  /** Id of the user whose details are shown. */
  user: text(),
};

/** Query parameters of the activity log, named like the input of `users.getActivityLog`. */
export const activitySearch = {
  userId: text(),
  action: text(100),
  about: text(),
  startDate: moment,
  endDate: moment,
  /** Id of the entry whose details are shown. */
  entry: text(),
};

/** Query parameters of the page of a webhook, named like the input of `webhooks.getDeliveries`. */
export const deliveriesSearch = {
  status: oneOf(['PENDING', 'DELIVERED', 'DEAD']),
  kind: oneOf([
    'event.ingested',
    'event.violation',
    'incident.changed',
    'sensor.statusChanged',
    'watchlist.alert',
    'test',
  ]),
  sortOrder: oneOf(sortOrders),
  /** Id of the delivery whose details are shown. */
  delivery: text(),
};

/** Query parameters of the list of legal holds, named like the input of `storage.getHolds`. */
export const holdsSearch = {
  released: flag,
  eventId: text(),
  /** Id of the hold whose details are shown. */
  hold: text(),
};
