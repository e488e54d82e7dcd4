import { useUser } from '../session/session.ts';

/** A note that was begun. */
export interface Draft {
  readonly note: string;
  readonly photos: readonly Blob[];
}

/** By user, and what the note is about. */
const drafts = new Map<string, Draft>();

/** The notes that the user began in this tab, each by the id of what it is about. They stay while something else is shown. */
export function useDrafts() {
  const { id: userId } = useUser();
  const keyOf = (about: string) => `${userId} ${about}`;
  return {
    get: (about: string): Draft | undefined => drafts.get(keyOf(about)),
    keep: (about: string, changes: Partial<Draft>) =>
      void drafts.set(keyOf(about), { note: '', photos: [], ...drafts.get(keyOf(about)), ...changes }),
    forget: (about: string) => void drafts.delete(keyOf(about)),
  };
}
