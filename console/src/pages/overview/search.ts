import { oneOf, text } from '../../shared/url/search.ts';

/** The query parameters of the overview. */
export const overviewSearch = {
  /** The id of the place whose details are shown. */
  place: text(),
  /** Shows the places as a list instead of on the map. */
  places: oneOf(['list']),
};
