import { reportKinds, reportStatuses } from '@gantry/contract/values';
import { day, oneOf } from '../address/search.ts';

/** What the address of the analytics may say. */
export const analyticsSearch = {
  startDate: day,
  endDate: day,
  interval: oneOf(['hour', 'day', 'week']),
};

/** What the address of the list of files may say. */
export const filesSearch = { kind: oneOf(reportKinds), status: oneOf(reportStatuses) };
