import { useUser } from '../session/session.ts';

/** A note that has not been sent. */
export interface Draft {
  readonly note: string;
  readonly photos: readonly Blob[];
}

/** By the ids of the user and of the object that the note belongs to. */
const drafts = new Map<string, Draft>();

/** The unsent notes of the user, by the id of their object. They are kept in this tab while other pages are shown. */
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
