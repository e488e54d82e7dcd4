import { reportKinds, reportStatuses } from '@gantry/contract/values';
import { day, oneOf } from '../../shared/url/search.ts';

/** The query parameters of the analytics page. */
export const analyticsSearch = {
  startDate: day,
  endDate: day,
  interval: oneOf(['hour', 'day', 'week']),
};

/** The query parameters of the list of files. */
export const filesSearch = { kind: oneOf(reportKinds), status: oneOf(reportStatuses) };
