import { useUser } from '../session/session.ts';

/** A note that has not been sent. */
export interface Draft {
  readonly note: string;
  readonly photos: readonly Blob[];
}

/** By the ids of the user and of the object that the note belongs to. */
const drafts = new Map<string, Draft>();

const listeners = new Set<(key: string) => void>();

/** The unsent notes of the user, by the id of their object. They are kept in this tab while other pages are shown. */
export function useDrafts() {
  const { id: userId } = useUser();
  const keyOf = (about: string) => `${userId} ${about}`;
  return {
    get: (about: string): Draft | undefined => drafts.get(keyOf(about)),
    keep: (about: string, changes: Partial<Draft>) =>
      void drafts.set(keyOf(about), { note: '', photos: [], ...drafts.get(keyOf(about)), ...changes }),
    /** Puts a note that could not be sent back before what was written meanwhile. */
    putBack(about: string, { note, photos }: Draft): void {
      const written = drafts.get(keyOf(about));
      drafts.set(keyOf(about), {
        note: [note, written?.note].filter(Boolean).join('\n'),
        photos: [...photos, ...(written?.photos ?? [])],
      });
      for (const listener of listeners) listener(keyOf(about));
    },
    /**
     * Calls `listener` when the note about an object is put back.
     * @returns a function that unsubscribes
     */
    onPutBack(about: string, listener: () => void): () => void {
      const heard = (key: string) => key === keyOf(about) && listener();
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    forget: (about: string) => void drafts.delete(keyOf(about)),
  };
}
