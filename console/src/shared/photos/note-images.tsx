import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ImageViewer } from '../events/images.tsx';
import { isKept, useImage } from '../events/use-image.ts';

/** The references of the stored images of a timeline entry, from its `details`. */
export function imagesIn(details: Readonly<Record<string, unknown>> | null): readonly string[] {
  const images = details?.images;
  return Array.isArray(images)
    ? images.filter((image): image is string => typeof image === 'string' && isKept(image))
    : [];
}

interface NoteImagesProps {
  readonly images: readonly string[];
  /** The name of the user who added them. */
  readonly by: string;
}

/** Thumbnails of the images of a note; each opens in a viewer that fills the window. */
export function NoteImages({ images, by }: NoteImagesProps) {
  const { t, i18n } = useTranslation('incidents');
  const [opened, setOpened] = useState<number | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const n = (value: number) => value.toLocaleString(i18n.language);
  const close = () => {
    if (opened !== null) list.current?.querySelectorAll('button')[opened]?.focus();
    setOpened(null);
  };
  return (
    <>
      <ul ref={list} className="mt-1 flex flex-wrap gap-2">
        {images.map((image, at) => (
          <li key={image}>
            <button
              type="button"
              aria-label={t('photos.open', { n: n(at + 1), of: n(images.length), by })}
              onClick={() => setOpened(at)}
              className="block h-20 w-28 cursor-zoom-in overflow-hidden rounded-md border bg-hover"
            >
              <Small reference={image} />
            </button>
          </li>
        ))}
      </ul>
      {opened !== null && (
        // A dialog around the images stays open: it would close on the same key.
        // biome-ignore lint/a11y/noStaticElementInteractions: the viewer has a button that does the same
        <div
          tabIndex={-1}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            close();
          }}
        >
          <ImageViewer images={images} label={by} start={opened} onClose={close} />
        </div>
      )}
    </>
  );
}

function Small({ reference }: { readonly reference: string }) {
  const { t } = useTranslation('incidents');
  const { address, error } = useImage(reference);
  if (error)
    return <span className="grid h-full place-items-center text-sm text-muted">{t('photos.missing')}</span>;
  return address === null ? null : <img src={address} alt="" className="h-full w-full object-cover" />;
}
