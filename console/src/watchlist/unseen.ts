import { createStored } from '../preferences/stored.ts';

/** More are not counted. */
const MOST = 99;

interface Told {
  readonly id: string;
  readonly isOpen: boolean;
  /** Whether somebody at this browser looked at it. */
  readonly isSeen: boolean;
}

/** The latest alerts that this browser received. */
const stored = createStored<readonly Told[]>('watchlist.told', [], (value) => Array.isArray(value));

const isUnseen = ({ isOpen, isSeen }: Told): boolean => isOpen && !isSeen;

/** How many alerts nobody has acknowledged and nobody at this browser has looked at. */
export function useUnseenCount(): number {
  return stored.use().filter(isUnseen).length;
}

/** Notes an alert that is open: a new one, or one whose acknowledgement was undone. */
export function noteOpen(id: string): void {
  note(id, true);
}

/** Notes that somebody acknowledged an alert. */
export function noteAcknowledged(id: string): void {
  note(id, false);
}

function note(id: string, isOpen: boolean): void {
  const all = stored.get();
  const known = all.find((each) => each.id === id);
  if (known?.isOpen === isOpen) return;
  // An alert that was acknowledged before it was received needs no attention.
  const told = { id, isOpen, isSeen: known?.isSeen ?? !isOpen };
  stored.set([...all.filter((each) => each.id !== id), told].slice(-MOST));
}

/** The user sees them all. */
export function forgetUnseen(): void {
  if (stored.get().some(isUnseen)) stored.set(stored.get().map((each) => ({ ...each, isSeen: true })));
}

/** The ids of alerts of earlier pages of this browser, which a page that is loaded again need not announce. */
export function toldBefore(): readonly string[] {
  return stored.get().map(({ id }) => id);
}
