import { MAX_NOTE_IMAGES } from '@gantry/contract/values';
import { type ChangeEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import type { Photos } from './use-photos.ts';

interface PhotoPickerProps {
  readonly photos: Photos;
  readonly isDisabled: boolean;
}

/** Adds images to a note, from the camera of a phone or from files, and shows those that will be sent. */
export function PhotoPicker({ photos, isDisabled }: PhotoPickerProps) {
  const { t, i18n } = useTranslation('incidents');
  const camera = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const { list, isPreparing, unreadable, isFull } = photos;
  const add = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    void photos.add([...(currentTarget.files ?? [])]);
    // Without the reset, choosing the same file again would not fire a change event.
    currentTarget.value = '';
  };
  const input = {
    type: 'file',
    accept: 'image/*',
    tabIndex: -1,
    'aria-hidden': true,
    className: 'hidden',
    onChange: add,
  } as const;
  const cannotAdd = isDisabled || list.length >= MAX_NOTE_IMAGES;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <PhotoList photos={photos} isDisabled={isDisabled} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          icon="camera"
          className="pointer-fine:hidden"
          disabled={cannotAdd}
          onClick={() => camera.current?.click()}
        >
          {t('photos.take')}
        </Button>
        <Button icon="image" disabled={cannotAdd} onClick={() => files.current?.click()}>
          {t('photos.attach')}
        </Button>
        <input ref={camera} {...input} capture="environment" />
        <input ref={files} {...input} multiple />
      </div>
      <div role="status" className="text-sm text-muted">
        {isPreparing && <p>{t('photos.preparing')}</p>}
        {isFull && <p>{t('photos.most', { n: MAX_NOTE_IMAGES.toLocaleString(i18n.language) })}</p>}
        {unreadable.map((name) => (
          <p key={name} className="text-critical">
            {t('photos.unreadable')} <bdi className="break-all">{name}</bdi>
          </p>
        ))}
      </div>
    </div>
  );
}

function PhotoList({ photos, isDisabled }: PhotoPickerProps) {
  const { t, i18n } = useTranslation('incidents');
  const { list } = photos;
  if (list.length === 0) return null;
  const n = (value: number) => value.toLocaleString(i18n.language);
  return (
    <ul className="flex flex-wrap gap-2">
      {list.map((photo, at) => (
        <li key={photo.address} className="relative">
          <img
            src={photo.address}
            alt={t('photos.preview', { n: n(at + 1), of: n(list.length) })}
            className="h-24 w-24 rounded-md border object-cover"
          />
          <Button
            icon="close"
            iconOnly
            aria-label={t('photos.remove', { n: n(at + 1) })}
            disabled={isDisabled}
            onClick={() => photos.remove(photo)}
            className="absolute end-0 top-0"
          />
        </li>
      ))}
    </ul>
  );
}
