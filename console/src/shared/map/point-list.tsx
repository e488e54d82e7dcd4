import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { classes } from '../../ui/classes.ts';
import { type MapPoint, type MapWorks, type PointLook, rankColors, worstFirst } from './point.ts';

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

/** The triangle of works, as on the map: filled while they are in force. */
export function WorksMark({ isInForce }: Pick<MapWorks, 'isInForce'>) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className="size-4 shrink-0 stroke-high forced-color-adjust-none"
      strokeWidth={2}
      strokeLinejoin="round"
    >
      <path d={TRIANGLE} transform="translate(8 14)" className={isInForce ? 'fill-high' : 'fill-raised'} />
    </svg>
  );
}

/** A triangle whose base has its middle at the origin. */
export const TRIANGLE = 'M-6,0L6,0L0,-11Z';

interface PointButtonProps {
  readonly point: MapPoint | MapWorks;
  readonly isSelected?: boolean;
  readonly onSelect: (id: string) => void;
}

/** A button with the label and state of a point, and the same dot as on the map. */
export function PointButton({ point, isSelected = false, onSelect }: PointButtonProps) {
  const { id, label } = point;
  const text = 'look' in point ? point.look.text : point.text;
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
      {'look' in point ? <Dot {...point.look} /> : <WorksMark {...point} />}
      <bdi className="one-line grow">{label}</bdi>
      <span
        className={classes(
          'text-sm',
          'look' in point ? 'shrink-0' : 'max-w-3/5 text-end leading-tight',
          'look' in point && point.look.rank === 0 && 'text-muted',
        )}
      >
        {text}
      </span>
    </button>
  );
}

interface PointListProps {
  readonly label: string;
  readonly points: readonly MapPoint[];
  readonly works?: readonly MapWorks[];
  readonly selectedId?: string | null | undefined;
  readonly onSelect: (id: string) => void;
}

const ROW_HEIGHT = 44;

/** Works and points of the map as a list for keyboard and screen reader users: works, then the highest rank first. */
export function PointList({ label, points, works, selectedId, onSelect }: PointListProps) {
  const scroller = useRef<HTMLElement>(null);
  const sorted = useMemo(() => [...(works ?? []), ...points.toSorted(worstFirst)], [points, works]);
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
