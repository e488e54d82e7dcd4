import { type PointerEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useLasting } from '../../ui/skeleton.tsx';
import { Failure } from '../service/failure.tsx';
import { usePicture } from './use-picture.ts';

interface PictureProps {
  readonly reference: string;
  readonly alt: string;
  /** The scale of the picture; 1 fits it into the frame. */
  readonly zoom: number;
}

/** One picture. If it is larger than the frame, it can be dragged with a mouse or pen, or scrolled. */
export function Picture({ reference, alt, zoom }: PictureProps) {
  const { t } = useTranslation('common');
  const { address, error, refetch } = usePicture(reference);
  const frame = useRef<HTMLDivElement>(null);
  const isLate = useLasting(address === null && !error);
  const draw = (event: PointerEvent) => {
    if (event.buttons !== 1 || event.pointerType === 'touch') return;
    frame.current?.scrollBy({ left: -event.movementX, top: -event.movementY });
  };
  return (
    <div
      ref={frame}
      onPointerMove={draw}
      tabIndex={zoom > 1 ? 0 : undefined}
      className="min-h-0 grow overflow-auto"
    >
      {error ? (
        <div className="p-3">
          <Failure error={error} onRetry={refetch} />
        </div>
      ) : address === null ? (
        <p role="status" className="grid h-full place-items-center text-[#a3abb5]">
          {isLate && t('loading')}
        </p>
      ) : (
        <img
          src={address}
          alt={alt}
          draggable={false}
          style={{ width: `${zoom * 100}%`, height: `${zoom * 100}%` }}
          className="max-w-none object-contain"
        />
      )}
    </div>
  );
}
