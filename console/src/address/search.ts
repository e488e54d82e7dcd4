import { noteDropped } from './dropped.ts';

/** One parameter of an address. @returns what it says; undefined when it says nothing that the page understands */
export type Parameter<Value> = (raw: unknown) => Value | undefined;

type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What an address says: the parameters that are there and valid. */
export type SearchOf<P extends Parameters> = { [Name in keyof P]?: Exclude<ReturnType<P[Name]>, undefined> };

/** The names that the routes around the pages understand: a page is given them, too. */
const around = new Set<string>();

/**
 * Makes the `validateSearch` of a route: every parameter counts by itself, so a bad one is dropped and the others stay.
 * The page says what was dropped. The library that checks the service's inputs is not used here: it would be a tenth of
 * the first load.
 */
export function readSearch<P extends Parameters>(
  parameters: P,
): (raw: Record<string, unknown>) => SearchOf<P> {
  return reader(parameters, (name) => !around.has(name));
}

/** As `readSearch`, for a route around the pages: what it does not know may be theirs. */
export function readSearchAround<P extends Parameters>(
  parameters: P,
): (raw: Record<string, unknown>) => SearchOf<P> {
  for (const name of Object.keys(parameters)) around.add(name);
  return reader(parameters, () => false);
}

function reader<P extends Parameters>(
  parameters: P,
  isUnknown: (name: string) => boolean,
): (raw: Record<string, unknown>) => SearchOf<P> {
  return (raw) => {
    const search: Record<string, unknown> = {};
    for (const [name, read] of Object.entries(parameters)) {
      const value = read(raw[name]);
      if (value !== undefined) search[name] = value;
    }
    noteDropped(
      Object.keys(raw).filter(
        (name) =>
          raw[name] !== undefined && (name in parameters ? search[name] === undefined : isUnknown(name)),
      ),
    );
    return search as SearchOf<P>;
  };
}

/** One of some values. */
export function oneOf<const Value extends string>(values: readonly Value[]): Parameter<Value> {
  return (raw) => values.find((value) => value === raw);
}

/** Some of these values, without repetition. */
export function someOf<const Value extends string>(values: readonly Value[]): Parameter<readonly Value[]> {
  return (raw) => {
    const found = values.filter((value) => (Array.isArray(raw) ? raw.includes(value) : raw === value));
    return found.length > 0 ? found : undefined;
  };
}

/** A text that is not empty. A number in the address is one, too: plates and names may be all digits. */
export function text(max = 300): Parameter<string> {
  return (raw) => {
    const value = typeof raw === 'number' ? String(raw) : raw;
    return typeof value === 'string' && value !== '' && value.length <= max ? value : undefined;
  };
}

/** Yes or no. */
export const flag: Parameter<boolean> = (raw) => (typeof raw === 'boolean' ? raw : undefined);

/** A whole number of a range. */
export function whole(least: number, most: number): Parameter<number> {
  return (raw) =>
    Number.isInteger(raw) && Number(raw) >= least && Number(raw) <= most ? Number(raw) : undefined;
}

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** A day, or a day and a time, in ISO 8601. Without an offset it is in the zone of the service. */
export const moment: Parameter<string> = (raw) =>
  typeof raw === 'string' && MOMENT.test(raw) && isDay(raw.slice(0, 10)) ? raw : undefined;

/** A plain date, which is a day in the zone of the service. */
export const day: Parameter<string> = (raw) => {
  const value = moment(raw);
  return value?.length === 10 ? value : undefined;
};

function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
