import { useTranslation } from 'react-i18next';
import { useNotices } from '../notices/notices.tsx';
import { currentSession } from '../session/session.ts';
import { keptInput } from './kept.ts';

/** A note that has not been sent. */
export interface Draft {
  readonly note: string;
  readonly photos: readonly Blob[];
}

const keyOf = (about: string): string => `note ${about}`;

/** The next user of the tab must not get the images of the one before. */
const ownKeyOf = (about: string): string => `${currentSession()?.user.id} ${keyOf(about)}`;

/** The images of notes as this tab knows them, by user and key; those that a reload has left in the storage are read first. */
const photosOf = new Map<string, readonly Blob[]>();

const listeners = new Set<(key: string) => void>();

/**
 * The unsent notes of the user, by the id of their object. They are kept in this browser until they are sent, also while
 * other pages are shown and if the page is reloaded.
 */
export function useDrafts() {
  const { t } = useTranslation('common');
  const { say } = useNotices();
  const get = (about: string): Draft | undefined => {
    const { note } = keptInput.read(keyOf(about))?.values ?? {};
    const photos = photosOf.get(ownKeyOf(about)) ?? [];
    return note === undefined && photos.length === 0 ? undefined : { note: note ?? '', photos };
  };
  const keep = (about: string, { note, photos }: Partial<Draft>) => {
    const key = keyOf(about);
    const failed = () => say(t('kept.full'));
    if (photos !== undefined) {
      photosOf.set(ownKeyOf(about), photos);
      void keptInput.writeFiles(key, photos).catch(failed);
    }
    if (note === undefined) return;
    try {
      if (note === '' && !photosOf.get(ownKeyOf(about))?.length) keptInput.remove(key);
      else keptInput.write(key, { values: { note } });
    } catch {
      failed();
    }
  };
  return {
    get,
    keep,
    /** Puts a note that could not be sent back before what was written meanwhile. */
    putBack(about: string, { note, photos }: Draft): void {
      const written = get(about);
      keep(about, {
        note: [note, written?.note].filter(Boolean).join('\n'),
        photos: [...photos, ...(written?.photos ?? [])],
      });
      for (const listener of listeners) listener(keyOf(about));
    },
    /**
     * Calls `listener` when the note about an object is put back, and when its images have been read after a reload.
     * @returns a function that unsubscribes
     */
    onPutBack(about: string, listener: () => void): () => void {
      const key = keyOf(about);
      const heard = (changed: string) => changed === key && listener();
      listeners.add(heard);
      const ownKey = ownKeyOf(about);
      if (!photosOf.has(ownKey))
        void keptInput.readFiles(key).then((photos) => {
          if (photos.length === 0 || photosOf.get(ownKey)?.length) return;
          photosOf.set(ownKey, photos);
          heard(key);
        });
      return () => listeners.delete(heard);
    },
    forget(about: string): void {
      photosOf.delete(ownKeyOf(about));
      keptInput.remove(keyOf(about));
    },
  };
}
