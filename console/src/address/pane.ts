import type { FilterValues } from '../filters/filter.ts';

/**
 * Whether a change of the address takes the place of the one before it, so that Back leads past it. All do but the one that
 * opens a pane: on a phone the pane covers the list, and Back closes it.
 * @param name of the parameter that says what the pane shows
 * @param openId what it shows; undefined: it is closed
 */
export function isInPlace(values: FilterValues, name: string, openId: string | undefined): boolean {
  return openId !== undefined || values[name] === undefined;
}
