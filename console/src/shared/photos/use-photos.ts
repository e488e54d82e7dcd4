import { MAX_NOTE_IMAGES } from '@gantry/contract/values';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { keptInput } from '../form/kept.ts';
import { useNotices } from '../notices/notices.tsx';

/** An image to be sent. */
export interface Photo {
  readonly file: Blob;
  /** Object URL for an `img`. */
  readonly address: string;
}

export interface Photos {
  readonly list: readonly Photo[];
  /** Whether images are being scaled down. */
  readonly isPreparing: boolean;
  /** Names of the files that the browser cannot read as images. */
  readonly unreadable: readonly string[];
  /** Whether files were left out because a note can have at most `MAX_NOTE_IMAGES` images. */
  readonly isFull: boolean;
  readonly add: (files: readonly File[]) => Promise<void>;
  readonly remove: (photo: Photo) => void;
  readonly replace: (files: readonly Blob[]) => void;
}

/** The images of a note that is being written. @param started the images of its draft */
export function usePhotos(started: readonly Blob[] = []): Photos {
  const [list, setList] = useState<readonly Photo[]>(() => started.map(photoOf));
  const [preparing, setPreparing] = useState(0);
  const [unreadable, setUnreadable] = useState<readonly string[]>([]);
  const [isFull, setFull] = useState(false);
  const shown = useRef(list);
  shown.current = list;
  useEffect(() => () => release(shown.current), []);

  return {
    list,
    isPreparing: preparing > 0,
    unreadable,
    isFull,
    async add(files) {
      const room = MAX_NOTE_IMAGES - list.length - preparing;
      const taken = files.slice(0, Math.max(0, room));
      setFull(taken.length < files.length);
      setUnreadable([]);
      setPreparing((n) => n + taken.length);
      // One at a time, because phones have little memory.
      for (const file of taken) {
        try {
          const small = await scaleDown(file);
          setList((all) => [...all, photoOf(small)]);
        } catch {
          setUnreadable((names) => [...names, file.name]);
        } finally {
          setPreparing((n) => n - 1);
        }
      }
    },
    remove(photo) {
      release([photo]);
      setList((all) => all.filter((each) => each !== photo));
      setFull(false);
    },
    replace(files) {
      release(shown.current);
      setList(files.map(photoOf));
      setFull(false);
      setUnreadable([]);
    },
  };
}

function photoOf(file: Blob): Photo {
  return { file, address: URL.createObjectURL(file) };
}

function release(photos: readonly Photo[]): void {
  for (const { address } of photos) URL.revokeObjectURL(address);
}

/** Keeps the images of a form with what is entered into it (`useKept`), until it is sent or cancelled. */
export function useKeptPhotos(about: string, { list, replace }: Photos): void {
  const { t } = useTranslation('common');
  const { say } = useNotices();
  const isRead = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the kept images are read once
  useEffect(() => {
    void keptInput.readFiles(about).then((files) => {
      isRead.current = true;
      if (files.length > 0) replace(files);
    });
  }, [about]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: stores the images only when they change
  useEffect(() => {
    if (!isRead.current) return;
    const files = list.map(({ file }) => file);
    void keptInput.writeFiles(about, files).catch(() => say(t('kept.full')));
  }, [list]);
}

/** Maximum length of the longer side of an image, in pixels. */
const MAX_SIDE = 2_000;

/** Target size of an image, in bytes: five of them in base64 fit into one request of at most 10 MB. */
const MAX_BYTES = 1_400_000;

/** JPEG qualities, tried in order until the file is small enough. */
const QUALITIES = [0.85, 0.7, 0.5, 0.3] as const;

/**
 * Converts an image to a JPEG of at most 2,000 pixels per side, with its orientation applied. Metadata that the camera
 * wrote into the file, such as the position, is removed.
 * @throws Error if the browser cannot read the file as an image
 */
async function scaleDown(file: Blob): Promise<Blob> {
  const image = await createImageBitmap(file);
  try {
    const scale = Math.min(1, MAX_SIDE / Math.max(image.width, image.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(image.width * scale));
    canvas.height = Math.max(1, Math.round(image.height * scale));
    const context = canvas.getContext('2d');
    if (!context) throw new Error('The browser cannot draw');
    // A JPEG has no transparency.
    context.fillStyle = 'white';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    let smallest: Blob | null = null;
    for (const quality of QUALITIES) {
      smallest = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
      if (smallest && smallest.size <= MAX_BYTES) break;
    }
    if (!smallest) throw new Error('The browser cannot make a JPEG');
    return smallest;
  } finally {
    image.close();
  }
}
