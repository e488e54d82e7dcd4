type Position = { readonly latitude: number; readonly longitude: number };

const isPosition = (value: unknown): value is Position =>
  typeof value === 'object' && value !== null && 'latitude' in value && 'longitude' in value;

type Fields = Readonly<Record<string, unknown>>;

const hasFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Whether two values are equal for a form: positions are compared by their coordinates, and undefined equals null. */
export function isSame(one: unknown, other: unknown): boolean {
  if (isPosition(one) && isPosition(other))
    return one.latitude === other.latitude && one.longitude === other.longitude;
  if (hasFields(one) && hasFields(other))
    return Object.keys({ ...one, ...other }).every((name) => isSame(one[name], other[name]));
  return (one ?? null) === (other ?? null);
}

/**
 * The entered values that differ from the initial ones. Only these are sent, so that changes by other users to other
 * fields are kept.
 */
export function changesOf<Entered extends object>(
  before: { readonly [Name in keyof Entered]?: unknown },
  entered: Entered,
): Partial<Entered> {
  return Object.fromEntries(
    Object.entries(entered).filter(([name, value]) => !isSame(before[name as keyof Entered], value)),
  ) as Partial<Entered>;
}
