import type { CaseDetail } from '@gantry/contract/cases';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useImage } from '../../shared/events/use-image.ts';
import { sizeText } from '../../shared/locale/size-text.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { base64Of } from '../../shared/service/files.ts';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { ImageItem } from './parts.tsx';
import { type Area, areaBetween, changed, MIN_SIDE, redacted } from './redaction.ts';

interface RedactDialogProps {
  readonly of: CaseDetail;
  readonly item: ImageItem;
  readonly onClose: () => void;
}

/** A copy that was made, to be looked at before it is saved. */
interface Copy {
  readonly file: Blob;
  readonly address: string;
}

/** Makes a copy of an image in which areas are unrecognisable: they are drawn, then the copy is looked at and saved. */
export function RedactDialog({ of, item, onClose }: RedactDialogProps) {
  const { t } = useTranslation(['cases', 'common']);
  const { say } = useNotices();
  const { address, blob, error } = useImage(item.url);
  // Every step is kept, so that each can be undone; the last one is the present state.
  const [steps, setSteps] = useState<readonly (readonly Area[])[]>([[]]);
  const areas = steps.at(-1) ?? [];
  const [copy, setCopy] = useState<Copy | null>(null);
  useEffect(() => () => void (copy && URL.revokeObjectURL(copy.address)), [copy]);
  const make = useMutation({
    mutationFn: async () => {
      if (!blob) throw new Error(t('common:loading'));
      const file = await redacted(blob, areas);
      return { file, address: URL.createObjectURL(file) };
    },
    onSuccess: setCopy,
  });
  const save = useMutation({
    mutationFn: async (file: Blob) =>
      api.cases.addItem.mutate({
        id: of.id,
        role: item.role as Exclude<ImageItem['role'], 'CERTIFICATE'>,
        image: await base64Of(file),
        derivedFrom: item.id,
        ...(item.capturedAt && { capturedAt: item.capturedAt.toISOString() }),
      }),
    onSuccess: () => {
      say(t('redact.saved'));
      onClose();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: service.cases.pathKey() }),
  });
  const undo = () => setSteps((all) => (all.length > 1 ? all.slice(0, -1) : all));
  const set = (next: readonly Area[]) => setSteps((all) => [...all, next]);
  return (
    <Dialog title={t('redact.title')} open onClose={onClose} width="wide">
      {copy === null ? (
        <>
          <p className="text-muted">{t('redact.text')}</p>
          {error && <Failure error={error} />}
          {address !== null && <Editor address={address} areas={areas} onChange={set} onUndo={undo} />}
        </>
      ) : (
        <Check copy={copy} />
      )}
      {(make.error ?? save.error) && <Failure error={make.error ?? save.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {copy === null ? (
          <>
            <Button icon="undo" className="me-auto" disabled={steps.length === 1} onClick={undo}>
              {t('common:undo.undo')}
            </Button>
            <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
            <Button
              kind="primary"
              disabled={areas.length === 0 || !blob || make.isPending}
              onClick={() => make.mutate()}
            >
              {t('redact.look')}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={() => setCopy(null)}>{t('redact.back')}</Button>
            <Button kind="primary" disabled={save.isPending} onClick={() => save.mutate(copy.file)}>
              {t('redact.save')}
            </Button>
          </>
        )}
      </div>
    </Dialog>
  );
}

/** The copy as it will be saved: the bytes that are shown are those that are sent. */
function Check({ copy: { address, file } }: { readonly copy: Copy }) {
  const { t, i18n } = useTranslation('cases');
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const heading = useRef<HTMLParagraphElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <p ref={heading} tabIndex={-1}>
        {t('redact.check')}
      </p>
      <div className="max-h-[60vh] overflow-auto rounded-md border bg-black">
        <img
          src={address}
          alt={t('redact.copyOf')}
          className="max-w-none min-w-full"
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setSize({ width, height })
          }
        />
      </div>
      {size && (
        <p className="text-sm text-muted">
          <bdi dir="ltr" className="figures">
            {size.width} × {size.height}
          </bdi>{' '}
          · JPEG · {sizeText(file.size, i18n.language)}
        </p>
      )}
    </>
  );
}

/** Steps of the keys, as shares of the image; with Shift, the size changes. */
const STEP = 0.01;
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};
/** The area that is added by a button, for those who do not draw. */
const ADDED: Area = { x: 0.4, y: 0.4, width: 0.2, height: 0.2 };

interface EditorProps {
  readonly address: string;
  readonly areas: readonly Area[];
  readonly onChange: (areas: readonly Area[]) => void;
  readonly onUndo: () => void;
}

/** What is being dragged from a point: a new area, or one by its number. */
interface Drag {
  readonly from: { readonly x: number; readonly y: number };
  readonly moved: number | null;
  readonly now: Area;
}

/** The image with its areas, which are drawn with a mouse, pen or finger, or added, moved and sized with keys. */
function Editor({ address, areas, onChange, onUndo }: EditorProps) {
  const { t, i18n } = useTranslation('cases');
  const frame = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const n = (share: number) => Math.round(share * 100).toLocaleString(i18n.language);
  const pointOf = ({ clientX, clientY }: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    if (!box) return { x: 0, y: 0 };
    return { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height };
  };
  const begin = (event: PointerEvent, moved: number | null) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    const from = pointOf(event);
    const area = moved === null ? undefined : areas[moved];
    setDrag({ from, moved, now: area ?? areaBetween(from, from) });
    frame.current?.setPointerCapture(event.pointerId);
  };
  const draggedTo = (event: PointerEvent, { from, moved, now }: Drag): Area => {
    const point = pointOf(event);
    if (moved === null) return areaBetween(from, point);
    const area = areas[moved];
    return area ? changed(area, { x: point.x - from.x, y: point.y - from.y }) : now;
  };
  const move = (event: PointerEvent) => {
    if (drag) setDrag({ ...drag, now: draggedTo(event, drag) });
  };
  const end = (event: PointerEvent) => {
    if (!drag) return;
    const { moved } = drag;
    // A quick finger is further on than at its last movement.
    const now = draggedTo(event, drag);
    setDrag(null);
    if (moved === null) {
      if (now.width >= MIN_SIDE && now.height >= MIN_SIDE) onChange([...areas, now]);
    } else if (now.x !== areas[moved]?.x || now.y !== areas[moved]?.y) onChange(areas.with(moved, now));
  };
  const press = (event: KeyboardEvent, at: number) => {
    const area = areas[at];
    const [across, down] = ARROWS[event.key] ?? [];
    if (!area) return;
    if (across !== undefined && down !== undefined) {
      event.preventDefault();
      const by = event.shiftKey ? { width: across, height: down } : { x: across, y: down };
      onChange(areas.with(at, changed(area, by)));
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault();
      onChange(areas.toSpliced(at, 1));
      frame.current?.focus();
    }
  };
  const shown =
    drag === null ? areas : drag.moved === null ? [...areas, drag.now] : areas.with(drag.moved, drag.now);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: undoes as everywhere, whatever has the focus
    <div
      className="flex min-h-0 flex-col gap-2"
      onKeyDown={(event) => {
        if (event.key !== 'z' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        onUndo();
      }}
    >
      <div className="min-h-0 overflow-auto">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be as wide as its image */}
        <div
          ref={frame}
          role="group"
          aria-label={t('redact.areas')}
          tabIndex={-1}
          dir="ltr"
          className="relative mx-auto w-fit cursor-crosshair touch-none select-none"
          onPointerDown={(event) => begin(event, null)}
          onPointerMove={move}
          onPointerUp={end}
          onPointerCancel={() => setDrag(null)}
        >
          <img src={address} alt="" draggable={false} className="block max-h-[60vh] max-w-full" />
          {shown.map(({ x, y, width, height }, at) => (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: an area is what has its number
              key={at}
              type="button"
              aria-label={t('redact.area', {
                n: (at + 1).toLocaleString(i18n.language),
                left: n(x),
                top: n(y),
                width: n(width),
                height: n(height),
              })}
              aria-describedby="redact-keys"
              onPointerDown={(event) => begin(event, at)}
              onKeyDown={(event) => press(event, at)}
              style={{
                left: `${x * 100}%`,
                top: `${y * 100}%`,
                width: `${width * 100}%`,
                height: `${height * 100}%`,
              }}
              className={classes(
                'absolute cursor-move border border-[#fff] bg-black focus-visible:outline-4',
                drag !== null && 'opacity-70',
              )}
            />
          ))}
        </div>
      </div>
      <p id="redact-keys" className="text-sm text-muted">
        {t('redact.keys')}
      </p>
      <Button icon="add" className="self-start" onClick={() => onChange([...areas, ADDED])}>
        {t('redact.add')}
      </Button>
    </div>
  );
}
