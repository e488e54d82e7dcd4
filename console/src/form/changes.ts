type Position = { readonly latitude: number; readonly longitude: number };

const isPosition = (value: unknown): value is Position =>
  typeof value === 'object' && value !== null && 'latitude' in value && 'longitude' in value;

type Fields = Readonly<Record<string, unknown>>;

const hasFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Whether a form would send the same: of a place its coordinates count, and nothing is the same as null. */
export function isSame(one: unknown, other: unknown): boolean {
  if (isPosition(one) && isPosition(other))
    return one.latitude === other.latitude && one.longitude === other.longitude;
  if (hasFields(one) && hasFields(other))
    return Object.keys({ ...one, ...other }).every((name) => isSame(one[name], other[name]));
  return (one ?? null) === (other ?? null);
}

/**
 * What was entered otherwise than the form began with. Only that is sent, so that what others have changed meanwhile stays
 * as it is.
 */
export function changesOf<Entered extends object>(
  before: { readonly [Name in keyof Entered]?: unknown },
  entered: Entered,
): Partial<Entered> {
  return Object.fromEntries(
    Object.entries(entered).filter(([name, value]) => !isSame(before[name as keyof Entered], value)),
  ) as Partial<Entered>;
}
