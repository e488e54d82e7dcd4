import { messageStatuses } from '@gantry/contract/values';
import { oneOf, text } from '../../../shared/url/search.ts';

/** The query parameters of the page of a connection. Filters have the same names as in `connections.getMessages`. */
export const connectionSearch = {
  status: oneOf(messageStatuses),
  /** The message whose details are shown. */
  message: text(),
};
