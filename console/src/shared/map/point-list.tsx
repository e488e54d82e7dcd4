import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { classes } from '../../ui/classes.ts';
import { type MapPoint, type PointLook, rankColors, worstFirst } from './point.ts';

/** The dot of a point, as on the map. */
export function Dot({ rank, mark }: Pick<PointLook, 'rank' | 'mark'>) {
  return (
    <span
      aria-hidden="true"
      className="grid size-4 shrink-0 place-items-center rounded-full text-xs leading-none font-bold text-raised forced-color-adjust-none"
      style={{ background: `var(--${rankColors[rank]})` }}
    >
      {mark}
    </span>
  );
}

interface PointButtonProps {
  readonly point: MapPoint;
  readonly isSelected?: boolean;
  readonly onSelect: (id: string) => void;
}

/** A button with the label and state of a point, and the same dot as on the map. */
export function PointButton({ point, isSelected = false, onSelect }: PointButtonProps) {
  const { id, label, look } = point;
  return (
    <button
      type="button"
      aria-current={isSelected || undefined}
      onClick={() => onSelect(id)}
      className={classes(
        'flex min-h-9 w-full items-center gap-2 rounded px-2 text-start hover:bg-hover pointer-coarse:min-h-11',
        isSelected && 'bg-selected',
      )}
    >
      <Dot {...look} />
      <bdi className="one-line grow">{label}</bdi>
      <span className={classes('shrink-0 text-sm', look.rank === 0 && 'text-muted')}>{look.text}</span>
    </button>
  );
}

interface PointListProps {
  readonly label: string;
  readonly points: readonly MapPoint[];
  readonly selectedId?: string | null | undefined;
  readonly onSelect: (id: string) => void;
}

const ROW_HEIGHT = 44;

/** The points of the map as a list for keyboard and screen reader users, the highest rank first. */
export function PointList({ label, points, selectedId, onSelect }: PointListProps) {
  const scroller = useRef<HTMLElement>(null);
  const sorted = useMemo(() => points.toSorted(worstFirst), [points]);
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  return (
    <section
      ref={scroller}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
      tabIndex={0}
      className="h-full overflow-y-auto px-1 contain-strict"
    >
      <ul className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const point = sorted[index];
          return (
            point && (
              <li
                key={point.id}
                aria-posinset={index + 1}
                aria-setsize={sorted.length}
                className="absolute inset-x-0"
                style={{ top: start }}
              >
                <PointButton point={point} isSelected={point.id === selectedId} onSelect={onSelect} />
              </li>
            )
          );
        })}
      </ul>
    </section>
  );
}
