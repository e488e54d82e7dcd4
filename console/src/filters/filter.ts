import type { Option } from '../ui/select.tsx';

/** One thing that a list can be narrowed by: a parameter of the page's address. */
export type Filter = { readonly name: string; readonly label: string } & (
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  /** Several of them: a list in the address. */
  | { readonly kind: 'choices'; readonly options: readonly Option[] }
  | { readonly kind: 'yesNo'; readonly yes: string; readonly no: string }
  /** With `onEnter` it is set by Enter or by leaving the field, and not while somebody types: every search is recorded. */
  | { readonly kind: 'text'; readonly hint?: string; readonly onEnter?: boolean }
  /** A day, or a day and a time, in the zone of the service. */
  | { readonly kind: 'moment' }
  /** One of many things, found by a part of its name. `name` says what an id stands for. */
  | {
      readonly kind: 'lookUp';
      readonly find: (part: string) => Promise<readonly Option[]>;
      readonly nameOf: (id: string) => Promise<string>;
    }
);

/** The filters that are set, by name. */
export type FilterValues = Readonly<Record<string, unknown>>;
