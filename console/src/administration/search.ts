import { roles, sortOrders } from '@gantry/contract/values';
import { flag, moment, oneOf, text } from '../address/search.ts';

/** What the address of the users may say. The names are those of `users.getAll`. */
export const usersSearch = {
  search: text(200),
  role: oneOf(roles),
  department: text(100),
  isActive: flag,
  sortBy: oneOf(['firstName', 'email', 'role', 'lastLogin', 'createdAt']),
  sortOrder: oneOf(sortOrders),
  /** The user whose details are shown. */
  user: text(),
};

/** What the address of the activity log may say. The names are those of `users.getActivityLog`. */
export const activitySearch = {
  userId: text(),
  action: text(100),
  about: text(),
  startDate: moment,
  endDate: moment,
  /** The entry whose details are shown. */
  entry: text(),
};

/** What the address of a webhook may say. The names are those of `webhooks.getDeliveries`. */
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
  /** The delivery whose details are shown. */
  delivery: text(),
};

/** What the address of the legal holds may say. The names are those of `storage.getHolds`. */
export const holdsSearch = {
  released: flag,
  eventId: text(),
  /** The hold whose details are shown. */
  hold: text(),
};
