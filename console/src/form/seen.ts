import i18next from 'i18next';
import { useRef, useState } from 'react';
import { isSame } from './changes.ts';

/** Somebody else has saved other values in fields that a form was about to change. Nothing was sent. */
export class ChangedMeanwhile extends Error {
  /** What the fields hold now, by their paths. */
  readonly values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown> = new Map()) {
    super(i18next.t('common:faster.sameFields'));
    this.name = 'ChangedMeanwhile';
    this.values = values;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * What is to be changed and was changed by somebody else, too, with the values that it has now by their paths. Who chose the
 * same value is no conflict.
 * @param seen as the user knows it
 */
export function changedByOthers(seen: object, now: object, changes: object): Map<string, unknown> {
  const [before, after, wanted] = [seen, now, changes] as [Fields, Fields, Fields];
  const names = Object.keys(wanted).filter(
    (name) => !isSame(before[name], after[name]) && !isSame(after[name], wanted[name]),
  );
  return new Map(names.flatMap((name) => leaves(name, after[name], wanted[name])));
}

/** The single values in which two differ, with what the first has. */
function leaves(path: string, now: unknown, wanted: unknown): [string, unknown][] {
  const isOne = (value: unknown) => typeof value !== 'object' || value === null;
  if (isOne(now) && isOne(wanted)) return [[path, now]];
  const [has, wants] = [now ?? {}, wanted ?? {}] as [Fields, Fields];
  return Object.keys({ ...has, ...wants })
    .filter((name) => !isSame(has[name], wants[name]))
    .flatMap((name) => leaves(`${path}.${name}`, has[name], wants[name]));
}

/**
 * What a form began with, and the check that it makes before it saves: what somebody else has saved meanwhile in the same fields
 * is overwritten only by who has seen it, and saves once more. For what the service has no such condition.
 * @param given what is changed; absent: something new
 * @param find reads it again
 */
export function useSeen<Thing extends object>(given: Thing | undefined, find: () => Promise<Thing>) {
  const [before] = useState(given);
  const seen = useRef(given);
  return {
    /** As it was when the form was opened; the page behind it may read it again. */
    before,
    /** @throws ChangedMeanwhile */
    async refuseUnseen(changes: object): Promise<void> {
      if (!seen.current || Object.keys(changes).length === 0) return;
      const now = await find();
      const theirs = changedByOthers(seen.current, now, changes);
      seen.current = now;
      if (theirs.size > 0) throw new ChangedMeanwhile(theirs);
    },
  };
}
