import { type PointerEvent, type RefObject, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { useLasting } from '../../ui/skeleton.tsx';
import { Failure } from '../service/failure.tsx';
import { isKept, useImage } from './use-image.ts';

const ZOOMS = [1, 1.5, 2, 3, 4, 6, 8] as const;

/** The zoom of a page's images, with its shortcuts: its scale (1 fits an image into its frame) and its buttons. */
export function useZoom() {
  const { t } = useTranslation('events');
  const [at, setAt] = useState(0);
  const by = (steps: number) => setAt((now) => Math.max(0, Math.min(now + steps, ZOOMS.length - 1)));
  useShortcuts([
    { keys: '+', label: t('images.zoomIn'), scope: 'page', run: () => by(1) },
    { keys: '-', label: t('images.zoomOut'), scope: 'page', run: () => by(-1) },
  ]);
  const scale = ZOOMS[at] ?? 1;
  const buttons = (
    <>
      <Button
        kind="quiet"
        icon="none"
        iconOnly
        aria-label={t('images.zoomOut')}
        disabled={at === 0}
        onClick={() => by(-1)}
      />
      <span className="figures w-12 text-center text-sm text-muted" dir="ltr">
        {Math.round(scale * 100)} %
      </span>
      <Button
        kind="quiet"
        icon="add"
        iconOnly
        aria-label={t('images.zoomIn')}
        disabled={at === ZOOMS.length - 1}
        onClick={() => by(1)}
      />
    </>
  );
  return { scale, fit: () => setAt(0), buttons };
}

interface ImagesProps {
  readonly images: readonly string[];
  /** What the images show, for screen readers. */
  readonly label: string;
}

/** The images of an event. Those on other hosts are not loaded; their URLs are listed. */
export function Images({ images, label }: ImagesProps) {
  const { t } = useTranslation('events');
  const kept = images.filter(isKept);
  const elsewhere = images.filter((image) => !isKept(image));
  return (
    <>
      {kept.length > 0 && <ImageViewer key={kept[0]} images={kept} label={label} />}
      {elsewhere.length > 0 && (
        <div className="text-sm text-muted">
          <p>{t('images.elsewhere')}</p>
          <ul>
            {elsewhere.map((address) => (
              <li key={address}>
                <bdi className="line-clamp-2 font-mono">{address}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

interface ImageViewerProps extends ImagesProps {
  /** The index of the image that is shown first; 0 by default. */
  readonly start?: number;
  /** If set, the viewer starts in full screen, and this is called when the user leaves full screen. */
  readonly onClose?: () => void;
}

/** A viewer for images stored by the service: one at a time, with zoom and full screen. */
export function ImageViewer({ images, label, start = 0, onClose }: ImageViewerProps) {
  const { t } = useTranslation('events');
  const [at, setAt] = useState(start);
  const zoom = useZoom();
  const [isFull, setFull] = useState(onClose !== undefined);
  const turnFull = () => (onClose ? onClose() : setFull(!isFull));
  const show = (next: number) => {
    setAt((next + images.length) % images.length);
    zoom.fit();
  };
  useShortcuts([
    { keys: '[', label: t('images.previous'), scope: 'page', run: () => show(at - 1) },
    { keys: ']', label: t('images.next'), scope: 'page', run: () => show(at + 1) },
    { keys: 'v', label: t('images.full'), scope: 'page', run: turnFull },
  ]);
  const image = images[at];
  if (image === undefined) return null;
  return (
    <figure
      className={classes(
        'flex flex-col overflow-hidden border bg-black',
        isFull ? 'fixed inset-0 z-40' : 'h-72 shrink-0 rounded-md',
      )}
    >
      {isFull && <CloseOnEscape onClose={turnFull} />}
      <ZoomedImage
        key={image}
        reference={image}
        zoom={zoom.scale}
        alt={t('images.alt', { label, n: at + 1, of: images.length })}
      />
      <figcaption className="flex items-center gap-1 border-t bg-surface px-1 py-0.5">
        {images.length > 1 && (
          <>
            <Button
              kind="quiet"
              icon="previous"
              iconOnly
              aria-label={t('images.previous')}
              onClick={() => show(at - 1)}
            />
            <span className="figures text-sm text-muted" dir="ltr">
              {at + 1} / {images.length}
            </span>
            <Button
              kind="quiet"
              icon="next"
              iconOnly
              aria-label={t('images.next')}
              onClick={() => show(at + 1)}
            />
          </>
        )}
        <span className="grow" />
        {zoom.buttons}
        <Button
          kind="quiet"
          icon={isFull ? 'close' : 'fullScreen'}
          iconOnly
          aria-label={t(isFull ? 'images.leaveFull' : 'images.full')}
          aria-pressed={isFull}
          autoFocus={onClose !== undefined}
          onClick={turnFull}
        />
      </figcaption>
    </figure>
  );
}

/** Mounted in full screen: Escape leaves full screen and does nothing else, and the page behind does not scroll. */
function CloseOnEscape({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('events');
  useShortcuts([{ keys: 'Escape', label: t('images.leaveFull'), scope: 'page', run: onClose }]);
  useEffect(() => {
    document.body.style.overflow = 'hidden';
    return () => {
      document.body.style.overflow = '';
    };
  }, []);
  return null;
}

interface ZoomedImageProps {
  readonly reference: string;
  readonly alt: string;
  /** The scale of the image; 1 fits it into the frame. */
  readonly zoom: number;
  /** Receives the frame, which scrolls. */
  readonly frame?: RefObject<HTMLDivElement | null>;
  readonly onScroll?: () => void;
  /** A place in the image to mark, in shares of its size. */
  readonly mark?: { readonly x: number; readonly y: number } | null;
}

/** One image. If it is larger than the frame, it can be dragged with a mouse or pen, or scrolled. */
export function ZoomedImage({ reference, alt, zoom, frame, onScroll, mark }: ZoomedImageProps) {
  const { t } = useTranslation('common');
  const { address, error, refetch } = useImage(reference);
  const [size, setSize] = useState<Size | null>(null);
  const isLate = useLasting(address === null && !error);
  const draw = (event: PointerEvent<HTMLDivElement>) => {
    if (event.buttons !== 1 || event.pointerType === 'touch') return;
    event.currentTarget.scrollBy({ left: -event.movementX, top: -event.movementY });
  };
  return (
    <div
      ref={frame}
      onPointerMove={draw}
      onScroll={onScroll}
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
        <div style={{ width: `${zoom * 100}%`, height: `${zoom * 100}%` }} className="relative">
          <img
            src={address}
            alt={alt}
            draggable={false}
            className="size-full object-contain"
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              setSize({ width: naturalWidth, height: naturalHeight })
            }
          />
          {mark && size && <Mark at={mark} size={size} />}
        </div>
      )}
    </div>
  );
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A cross at a place in an image. It is fitted into the frame as the image is. */
function Mark({
  at,
  size: { width, height },
}: {
  readonly at: { x: number; y: number };
  readonly size: Size;
}) {
  const arm = Math.max(width, height) / 40;
  const path = `M${-arm} 0H${arm}M0 ${-arm}V${arm}`;
  return (
    <svg
      aria-hidden="true"
      data-mark=""
      viewBox={`0 0 ${width} ${height}`}
      className="pointer-events-none absolute inset-0 size-full fill-none"
    >
      <g transform={`translate(${at.x * width} ${at.y * height})`}>
        {[
          { stroke: '#000', width: 4 },
          { stroke: '#fff', width: 2 },
        ].map((line) => (
          <g key={line.width} stroke={line.stroke} strokeWidth={line.width}>
            <circle r={arm} vectorEffect="non-scaling-stroke" />
            <path d={path} vectorEffect="non-scaling-stroke" />
          </g>
        ))}
      </g>
    </svg>
  );
}
