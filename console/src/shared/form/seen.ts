import i18next from 'i18next';
import { useRef, useState } from 'react';

/** Another user has saved different values in fields that the form was about to change. Nothing was sent. */
export class ChangedMeanwhile extends Error {
  /** The current values of these fields, by path. */
  readonly values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown> = new Map()) {
    super(i18next.t('common:faster.sameFields'));
    this.name = 'ChangedMeanwhile';
    this.values = values;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The current values, by path, of the fields in `changes` that another user has changed as well. It is not a conflict
 * if both users chose the same value.
 * @param seen the object as the user last saw it
 * @param now the object as it is stored now
 */
export function changedByOthers(seen: object, now: object, changes: object): Map<string, unknown> {
  const [before, after, wanted] = [seen, now, changes] as [Fields, Fields, Fields];
  const names = Object.keys(wanted).filter(
    (name) => !isSame(before[name], after[name]) && !isSame(after[name], wanted[name]),
  );
  return new Map(names.flatMap((name) => leaves(name, after[name], wanted[name])));
}

/** The paths of the leaf values in which the two differ, with the value in `now`. */
function leaves(path: string, now: unknown, wanted: unknown): [string, unknown][] {
  const isOne = (value: unknown) => typeof value !== 'object' || value === null;
  if (isOne(now) && isOne(wanted)) return [[path, now]];
  const [has, wants] = [now ?? {}, wanted ?? {}] as [Fields, Fields];
  return Object.keys({ ...has, ...wants })
    .filter((name) => !isSame(has[name], wants[name]))
    .flatMap((name) => leaves(`${path}.${name}`, has[name], wants[name]));
}

/**
 * Keeps the object that a form was opened with, and checks before saving whether another user has changed the same
 * fields. If so, saving fails once, so that the user overwrites these values only after seeing them and saving again.
 * Used for objects whose update has no such condition in the service.
 * @param given the object that is edited; undefined for a new one
 * @param find fetches the object again
 */
export function useSeen<Thing extends object>(given: Thing | undefined, find: () => Promise<Thing>) {
  const [before] = useState(given);
  const seen = useRef(given);
  return {
    /** The object as it was when the form was opened; the page behind the form may refetch it. */
    before,
    /** @throws ChangedMeanwhile if another user has changed the same fields since the object was last read */
    async refuseUnseen(changes: object): Promise<void> {
      if (!seen.current || Object.keys(changes).length === 0) return;
      const now = await find();
      const theirs = changedByOthers(seen.current, now, changes);
      seen.current = now;
      if (theirs.size > 0) throw new ChangedMeanwhile(theirs);
    },
  };
}

type Position = { readonly latitude: number; readonly longitude: number };

const isPosition = (value: unknown): value is Position =>
  typeof value === 'object' && value !== null && 'latitude' in value && 'longitude' in value;

const hasFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Whether two values are equal for a form: positions are compared by their coordinates, and undefined equals null. */
function isSame(one: unknown, other: unknown): boolean {
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
