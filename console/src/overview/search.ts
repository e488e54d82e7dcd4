import { oneOf, text } from '../address/search.ts';

/** What the address of the overview may say. */
export const overviewSearch = {
  /** The place whose details are shown. */
  place: text(),
  /** Places as a list instead of the map. */
  places: oneOf(['list']),
};
