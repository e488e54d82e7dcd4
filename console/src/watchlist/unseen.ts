import { createStored } from '../preferences/stored.ts';

/** The maximum number of alerts that are remembered, and so of those that are counted. */
const MOST = 99;

interface Told {
  readonly id: string;
  readonly isOpen: boolean;
  /** Whether it was seen in this browser. */
  readonly isSeen: boolean;
}

/** The latest alerts that this browser received. The most recently changed ones are last. */
const stored = createStored<readonly Told[]>('watchlist.told', [], (value) => Array.isArray(value));

const isUnseen = ({ isOpen, isSeen }: Told): boolean => isOpen && !isSeen;

/** The number of open alerts that have not been seen in this browser. */
export function useUnseenCount(): number {
  return stored.use().filter(isUnseen).length;
}

/** Whether there are alerts, open or acknowledged, that have not been seen in this browser. */
export function useHasUnseen(): boolean {
  return stored.use().some(({ isSeen }) => !isSeen);
}

/** Records an open alert: a new one, or one whose acknowledgement was undone. */
export function noteOpen(id: string): void {
  note(id, true);
}

/** Records that an alert was acknowledged. */
export function noteAcknowledged(id: string): void {
  note(id, false);
}

function note(id: string, isOpen: boolean): void {
  const all = stored.get();
  const known = all.find((each) => each.id === id);
  if (known?.isOpen === isOpen) return;
  const told = { id, isOpen, isSeen: known?.isSeen ?? false };
  stored.set([...all.filter((each) => each.id !== id), told].slice(-MOST));
}

/** Marks all alerts as seen. */
export function forgetUnseen(): void {
  if (stored.get().some(({ isSeen }) => !isSeen))
    stored.set(stored.get().map((each) => ({ ...each, isSeen: true })));
}

/** The ids of the alerts that this browser received before, so that a reloaded page does not announce them again. */
export function toldBefore(): readonly string[] {
  return stored.get().map(({ id }) => id);
}
