import type { FilterValues } from '../filters/filter.ts';

/**
 * Whether a change of the URL replaces the current history entry instead of adding one. Only opening a pane adds an
 * entry: on a phone the pane covers the list, and Back closes it.
 * @param values the query parameters to be set
 * @param name the query parameter with the id of the object in the pane
 * @param openId the id of the object that the pane shows now; undefined if the pane is closed
 */
export function isInPlace(values: FilterValues, name: string, openId: string | undefined): boolean {
  return openId !== undefined || values[name] === undefined;
}
