import type { CaseDetail } from '@gantry/contract/cases';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useImage } from '../../shared/events/use-image.ts';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { speedFigure } from '../../shared/status/speed.ts';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { useImageName } from './compare.tsx';
import type { ImageItem } from './parts.tsx';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The point where a vehicle crosses a line, in shares of the image; the keys move it by this share. */
const CENTRE: Point = { x: 0.5, y: 0.5 };
const STEP = 0.01;

interface MeasureDialogProps {
  readonly of: CaseDetail;
  readonly images: readonly ImageItem[];
  readonly onClose: () => void;
}

/** Measures the speed a second time: the vehicle crosses one line in one image, and another one in the next. */
export function MeasureDialog({ of, images, onClose }: MeasureDialogProps) {
  const { t, i18n } = useTranslation('cases');
  // Copies may hide the line.
  const originals = images.filter(({ derivedFrom }) => derivedFrom === null);
  // It begins with the last measurement, so that another person can look at its marks and correct them.
  const has = (id: string | undefined) => originals.some((each) => each.id === id);
  const lines = has(of.lines?.first) && has(of.lines?.second) ? of.lines : null;
  const [ids, setIds] = useState<readonly [string, string]>([
    lines?.first ?? originals[0]?.id ?? '',
    lines?.second ?? originals[1]?.id ?? '',
  ]);
  const [marks, setMarks] = useState<readonly [Point | null, Point | null]>([
    lines?.firstMark ?? null,
    lines?.secondMark ?? null,
  ]);
  const [metres, setMetres] = useState(lines ? String(lines.metres) : '');
  const [interval, setInterval] = useState(lines ? String(lines.intervalMs) : '');
  const number = (text: string) => Number(text.replace(',', '.'));
  const [first, second] = ids.map((id) => originals.find((each) => each.id === id));
  const between =
    first?.capturedAt && second?.capturedAt ? second.capturedAt.getTime() - first.capturedAt.getTime() : null;
  const form = useForm({
    keep: `measure ${of.id}`,
    read: () => ({
      id: of.id,
      expectedVersion: of.version,
      first: ids[0],
      second: ids[1],
      metres: number(metres),
      ...(interval.trim() !== '' && { intervalMs: number(interval) }),
      ...(marks[0] && marks[1] && { firstMark: rounded(marks[0]), secondMark: rounded(marks[1]) }),
    }),
    save: async (input) => {
      if (marks.includes(null)) throw new Error(t('measure.incomplete'));
      return api.cases.measure.mutate(input);
    },
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: service.cases.pathKey() });
      onClose();
    },
  });
  const milliseconds = interval.trim() === '' ? between : number(interval);
  const kmh = milliseconds === null ? Number.NaN : (number(metres) / milliseconds) * 3_600;
  const choose = (at: 0 | 1, id: string) => {
    setIds(at === 0 ? [id, ids[1]] : [ids[0], id]);
    setMarks(at === 0 ? [null, marks[1]] : [marks[0], null]);
  };
  return (
    <FormDialog
      title={t('measure.title')}
      form={form}
      onClose={onClose}
      width="wide"
      action={t('measure.save')}
    >
      <p className="text-muted">{t('measure.text')}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        {([0, 1] as const).map((at) => (
          <Crossing
            key={at}
            label={t(at === 0 ? 'measure.first' : 'measure.second')}
            images={originals}
            item={at === 0 ? first : second}
            mark={marks[at]}
            onChoose={(id) => choose(at, id)}
            onMark={(mark) => setMarks(at === 0 ? [mark, marks[1]] : [marks[0], mark])}
          />
        ))}
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={t('measure.metres')}
          name="metres"
          inputMode="decimal"
          dir="ltr"
          value={metres}
          onChange={({ target }) => setMetres(target.value)}
          required
          error={form.errorOf('metres')}
        />
        <Field
          label={t('measure.interval')}
          name="intervalMs"
          inputMode="decimal"
          dir="ltr"
          value={interval}
          placeholder={between !== null && between > 0 ? String(between) : undefined}
          onChange={({ target }) => setInterval(target.value)}
          required={between === null || between <= 0}
          hint={t(between !== null && between > 0 ? 'measure.known' : 'measure.unknown')}
          error={form.errorOf('intervalMs')}
        />
      </div>
      <p role="status" className="text-lg font-semibold">
        {Number.isFinite(kmh) && kmh > 0 && marks[0] && marks[1]
          ? t('measure.result', { speed: speedFigure(kmh, i18n.language, 1) })
          : t('measure.incomplete')}
      </p>
    </FormDialog>
  );
}

/** As precise as a pixel of a large image. */
function rounded({ x, y }: Point): Point {
  const share = (value: number) => Math.min(1, Math.max(0, Math.round(value * 1e4) / 1e4));
  return { x: share(x), y: share(y) };
}

interface CrossingProps {
  readonly label: string;
  readonly images: readonly ImageItem[];
  readonly item: ImageItem | undefined;
  readonly mark: Point | null;
  readonly onChoose: (id: string) => void;
  readonly onMark: (mark: Point) => void;
}

/** An image in which the point is marked where the vehicle crosses a line: by a click, or with the arrow keys. */
function Crossing({ label, images, item, mark, onChoose, onMark }: CrossingProps) {
  const { t, i18n } = useTranslation('cases');
  const nameOf = useImageName();
  const press = (event: KeyboardEvent) => {
    const across = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key] ?? 0;
    const down = { ArrowUp: -STEP, ArrowDown: STEP }[event.key] ?? 0;
    if (across === 0 && down === 0 && event.key !== ' ') return;
    event.preventDefault();
    const { x, y } = mark ?? CENTRE;
    const inside = (share: number) => Math.min(1, Math.max(0, share));
    onMark({ x: inside(x + across), y: inside(y + down) });
  };
  const point = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    onMark({ x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height });
  };
  const share = (value: number) => Math.round(value * 100).toLocaleString(i18n.language);
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <Select
        label={label}
        value={item?.id ?? ''}
        options={images.map((each) => ({ value: each.id, label: nameOf(each) }))}
        onChange={onChoose}
      />
      {item && (
        <button
          type="button"
          dir="ltr"
          aria-label={
            mark
              ? t('measure.marked', { label, left: share(mark.x), top: share(mark.y) })
              : t('measure.unmarked', { label })
          }
          onPointerDown={point}
          onKeyDown={press}
          className="relative cursor-crosshair overflow-hidden rounded-md border bg-black"
        >
          <Picked item={item} />
          {mark && (
            <span
              aria-hidden="true"
              style={{ left: `${mark.x * 100}%`, top: `${mark.y * 100}%` }}
              className="absolute size-6 -translate-1/2 rounded-full border-2 border-[#fff] outline-2 outline-black before:absolute before:inset-x-0 before:top-1/2 before:h-px before:bg-[#fff] after:absolute after:inset-y-0 after:left-1/2 after:w-px after:bg-[#fff]"
            />
          )}
        </button>
      )}
    </div>
  );
}

function Picked({ item }: { readonly item: ImageItem }) {
  const { address, error } = useImage(item.url);
  if (error) return <Failure error={error} />;
  return address && <img src={address} alt="" draggable={false} className="block w-full" />;
}
