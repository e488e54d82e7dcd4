import { caseKinds, caseStates, rejectionCodes, sortOrders } from '@gantry/contract/values';
import { moment, oneOf, someOf, text } from '../../shared/url/search.ts';

/** The query parameters of the page of cases, named as in `cases.getAll`. */
export const casesSearch = {
  /** Absent: the cases that are not decided. */
  part: oneOf(['second', 'over', 'all']),
  states: someOf(caseStates),
  kind: oneOf(caseKinds),
  violationType: text(200),
  code: oneOf(rejectionCodes),
  sensorId: text(),
  search: text(200),
  startDate: moment,
  endDate: moment,
  sortBy: oneOf(['age', 'number']),
  sortOrder: oneOf(sortOrders),
};
