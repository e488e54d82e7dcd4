import type { CaseDetail } from '@gantry/contract/cases';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useZoom, ZoomedImage } from '../../shared/events/images.tsx';
import { useTime } from '../../shared/time/use-time.ts';
import { classes } from '../../ui/classes.ts';
import { Select } from '../../ui/select.tsx';
import type { ImageItem } from './parts.tsx';

/** Returns a function for the name of an image of a case: its role, when it was taken, and whether it is a copy. */
export function useImageName(): (item: ImageItem) => string {
  const { t } = useTranslation('cases');
  const time = useTime();
  return ({ role, capturedAt, derivedFrom }) =>
    [
      t(`roles.${role}`),
      capturedAt && `\u2066${time.time(capturedAt)}\u2069`,
      derivedFrom !== null && t('items.copy'),
    ]
      .filter(Boolean)
      .join(' · ');
}

interface CompareProps {
  readonly images: readonly ImageItem[];
  /** The second measurement, whose marks are shown in its images. */
  readonly lines: CaseDetail['lines'];
}

/** The images of a case, two beside each other, which are zoomed and moved together. */
export function Compare({ images, lines }: CompareProps) {
  const { t, i18n } = useTranslation('cases');
  const [chosen, setChosen] = useState<readonly (string | undefined)[]>([]);
  const zoom = useZoom();
  const left = useRef<HTMLDivElement>(null);
  const right = useRef<HTMLDivElement>(null);
  const nameOf = useImageName();
  const shown = images.slice(0, 2).map((usual, at) => images.find(({ id }) => id === chosen[at]) ?? usual);
  const frames = [left, right];
  const markOf = ({ id }: ImageItem) =>
    (id === lines?.first ? lines.firstMark : id === lines?.second ? lines.secondMark : null) ?? null;
  const altOf = (item: ImageItem): string => {
    const mark = markOf(item);
    const share = (value: number) => Math.round(value * 100).toLocaleString(i18n.language);
    return mark
      ? t('compare.marked', { image: nameOf(item), left: share(mark.x), top: share(mark.y) })
      : nameOf(item);
  };
  const follow = (at: number) => {
    const [from, to] = [frames[at]?.current, frames[1 - at]?.current];
    if (!from || !to) return;
    // Setting what is already there causes no further event.
    to.scrollTo({ left: from.scrollLeft, top: from.scrollTop });
  };
  return (
    <section aria-label={t('compare.label')} className="flex flex-col overflow-hidden rounded-md border">
      <div className={classes('grid gap-px bg-line', shown.length > 1 && 'sm:grid-cols-2')}>
        {shown.map((item, at) => (
          <figure
            // biome-ignore lint/suspicious/noArrayIndexKey: the left and the right one
            key={at}
            className="flex min-w-0 flex-col bg-surface"
          >
            <div className="flex h-64 flex-col bg-black lg:h-96">
              <ZoomedImage
                key={item.id}
                reference={item.url}
                alt={altOf(item)}
                mark={markOf(item)}
                zoom={zoom.scale}
                {...(frames[at] && { frame: frames[at] })}
                onScroll={() => follow(at)}
              />
            </div>
            <figcaption className="p-1">
              <Select
                label={t(at === 0 ? 'compare.first' : 'compare.second')}
                hideLabel
                value={item.id}
                options={images.map((each) => ({ value: each.id, label: nameOf(each) }))}
                onChange={(id) => setChosen((all) => (at === 0 ? [id, all[1]] : [all[0], id]))}
              />
            </figcaption>
          </figure>
        ))}
      </div>
      <div className="flex items-center justify-end gap-1 border-t bg-surface px-1 py-0.5 print:hidden">
        {zoom.buttons}
      </div>
    </section>
  );
}
