import { messageStatuses } from '@gantry/contract/values';
import { oneOf, text } from '../address/search.ts';

/** What the address of a connection may say. The names are those of `connections.getMessages`. */
export const connectionSearch = {
  status: oneOf(messageStatuses),
  /** The message whose details are shown. */
  message: text(),
};
