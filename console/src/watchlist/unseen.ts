import { createStored } from '../preferences/stored.ts';

/** More are not counted. */
const MOST = 99;

/** The alerts that were raised since somebody at this browser looked at them, and that nobody has acknowledged. */
const stored = createStored<readonly string[]>('watchlist.unseen', [], (value) => Array.isArray(value));

export const useUnseen = stored.use;

/** Notes a new alert. */
export function addUnseen(id: string): void {
  const ids = stored.get();
  if (!ids.includes(id)) stored.set([...ids, id].slice(-MOST));
}

/** Somebody took care of it. */
export function removeUnseen(id: string): void {
  const ids = stored.get();
  if (ids.includes(id)) stored.set(ids.filter((each) => each !== id));
}

/** The user sees them all. */
export function forgetUnseen(): void {
  if (stored.get().length > 0) stored.set([]);
}
