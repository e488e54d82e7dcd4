import { noteDropped } from './dropped.tsx';

/** Validates one query parameter. @returns its value; undefined if it is missing or invalid */
export type Parameter<Value> = (raw: unknown) => Value | undefined;

type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The query parameters of a URL that are present and valid. */
export type SearchOf<P extends Parameters> = { [Name in keyof P]?: Exclude<ReturnType<P[Name]>, undefined> };

/** The query parameters of layout routes. Page routes receive them too, and must not report them as unknown. */
const around = new Set<string>();

/**
 * Returns the `validateSearch` of a route. Each parameter is validated on its own: invalid and unknown ones are dropped
 * and reported by `DroppedNotice`, the others are kept. Zod, which validates the inputs of the service, is not used
 * here: it would be a tenth of the first load.
 */
export function readSearch<P extends Parameters>(
  parameters: P,
): (raw: Record<string, unknown>) => SearchOf<P> {
  return reader(parameters, (name) => !around.has(name));
}

/** As `readSearch`, for a layout route. Unknown parameters are not reported, because they may belong to its pages. */
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

/** One of the given values. */
export function oneOf<const Value extends string>(values: readonly Value[]): Parameter<Value> {
  return (raw) => values.find((value) => value === raw);
}

/** One or more of the given values, in the given order and without duplicates. */
export function someOf<const Value extends string>(values: readonly Value[]): Parameter<Value[]> {
  return (raw) => {
    const found = values.filter((value) => (Array.isArray(raw) ? raw.includes(value) : raw === value));
    return found.length > 0 ? found : undefined;
  };
}

/**
 * A non-empty string of at most `max` characters. Numbers are accepted, because the router parses plates and names of
 * digits alone as numbers.
 */
export function text(max = 300): Parameter<string> {
  return (raw) => {
    const value = typeof raw === 'number' ? String(raw) : raw;
    return typeof value === 'string' && value !== '' && value.length <= max ? value : undefined;
  };
}

/** `true` or `false`. */
export const flag: Parameter<boolean> = (raw) => (typeof raw === 'boolean' ? raw : undefined);

/** An integer from `least` to `most`. */
export function whole(least: number, most: number): Parameter<number> {
  return (raw) =>
    Number.isInteger(raw) && Number(raw) >= least && Number(raw) <= most ? Number(raw) : undefined;
}

/** A number from `least` to `most`. */
export function number(least: number, most: number): Parameter<number> {
  return (raw) => (typeof raw === 'number' && raw >= least && raw <= most ? raw : undefined);
}

/** One or more integers from `least` to `most`, in order and without duplicates. */
export function numbers(least: number, most: number): Parameter<number[]> {
  const one = whole(least, most);
  return (raw) => {
    const found = [raw].flat().map(one);
    const known = found.filter((value) => value !== undefined);
    if (known.length === 0 || known.length < found.length) return undefined;
    return [...new Set(known)].sort((a, b) => a - b);
  };
}

/** One or more texts, as `text` reads each, without duplicates. */
export function texts(max: number): Parameter<string[]> {
  const one = text(max);
  return (raw) => {
    const found = [raw].flat().map(one);
    const known = found.filter((value) => value !== undefined);
    return known.length === 0 || known.length < found.length ? undefined : [...new Set(known)];
  };
}

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** A date, or a date and a time, in ISO 8601. Without an offset it is in the service's time zone. */
export const moment: Parameter<string> = (raw) =>
  typeof raw === 'string' && MOMENT.test(raw) && isDay(raw.slice(0, 10)) ? raw : undefined;

/** A date without a time, which is a day in the service's time zone. */
export const day: Parameter<string> = (raw) => {
  const value = moment(raw);
  return value?.length === 10 ? value : undefined;
};

function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
