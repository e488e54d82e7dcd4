import type { Option } from '../../ui/select.tsx';

/** A filter of a list. `name` is the query parameter of the page. */
export type Filter = { readonly name: string; readonly label: string } & (
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  /** Several options at once: a list in the URL, of numbers if `isNumeric`. */
  | { readonly kind: 'choices'; readonly options: readonly Option[]; readonly isNumeric?: boolean }
  | { readonly kind: 'yesNo'; readonly yes: string; readonly no: string }
  /** With `onEnter` it is set on Enter or blur, not while the user types, because every search is recorded. */
  | { readonly kind: 'text'; readonly hint?: string; readonly onEnter?: boolean }
  /** A whole number unless `isFractional`. */
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly isFractional?: boolean }
  /** A day, or a day and a time, in the time zone of the service: the start or the end of a range. */
  | { readonly kind: 'moment'; readonly isEnd: boolean }
  /** One of many items, or several if `isList`, found by part of its name. `nameOf` returns the name for an id. */
  | {
      readonly kind: 'lookUp';
      readonly find: (part: string) => Promise<readonly Option[]>;
      readonly nameOf: (id: string) => Promise<string>;
      readonly isList?: boolean;
    }
);

/** The values of the filters that are set, by name. */
export type FilterValues = Readonly<Record<string, unknown>>;

/** The start and the end of a range, `startDate` and `endDate`. */
export function dateFilters(from: string, until: string): readonly Filter[] {
  return [
    { kind: 'moment', name: 'startDate', label: from, isEnd: false },
    { kind: 'moment', name: 'endDate', label: until, isEnd: true },
  ];
}
