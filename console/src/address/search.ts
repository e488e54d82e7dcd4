import type { z } from 'zod';

/** The parameters of a page's address, by name. */
type Shape = Readonly<Record<string, z.ZodType>>;

/** What is left of an address: parameters that are valid. A page sets what is missing itself. */
export type SearchOf<S extends Shape> = { [Name in keyof S]?: Exclude<z.infer<S[Name]>, undefined> };

/**
 * Makes the `validateSearch` of a route: every parameter counts by itself, so a bad one is dropped and the others stay.
 * The shell names what was dropped.
 */
export function readSearch<S extends Shape>(shape: S): (raw: Record<string, unknown>) => SearchOf<S> {
  return (raw) => {
    const search: Record<string, unknown> = {};
    for (const [name, type] of Object.entries(shape)) {
      if (raw[name] === undefined) continue;
      const parsed = type.safeParse(raw[name]);
      if (parsed.success && parsed.data !== undefined) search[name] = parsed.data;
    }
    return search as SearchOf<S>;
  };
}
