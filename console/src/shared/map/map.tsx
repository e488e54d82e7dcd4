import { Component, lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { loadCode } from '../../ui/load-code.ts';
import { type MapProps, marks, type Rank } from './point.ts';
import { Dot, WorksMark } from './point-list.tsx';

const VectorMap = lazy(async () => ({
  default: (await loadCode(() => import('./vector-map.tsx'))).VectorMap,
}));
const DotMap = lazy(async () => ({ default: (await loadCode(() => import('./dot-map.tsx'))).DotMap }));

/**
 * The map, which fills its parent element. Its code is loaded when it is first rendered; a placeholder keeps the space
 * until then. Without WebGL, or if the map fails, dots over outlines are shown instead. Points on the map cannot be
 * selected by keyboard, so a page on which they can be selected also offers a `PointList`.
 */
export function PlaceMap(props: MapProps) {
  const placeholder = <div data-loading className="h-full bg-bg" />;
  const simple = (
    <Suspense fallback={placeholder}>
      <DotMap {...props} />
    </Suspense>
  );
  return (
    <div className="flex h-full flex-col">
      <div className="min-h-0 grow">
        {hasWebGl() ? (
          <Otherwise show={simple}>
            <Suspense fallback={placeholder}>
              <VectorMap {...props} />
            </Suspense>
          </Otherwise>
        ) : (
          simple
        )}
      </div>
      <MapLegend {...props} />
    </div>
  );
}

/** An error boundary that shows something else if its children fail to render. */
class Otherwise extends Component<
  { readonly show: ReactNode; readonly children: ReactNode },
  { failed: boolean }
> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.show : this.props.children;
  }
}

const ranks: readonly Rank[] = [4, 3, 2, 1, 0];

/** What the colours and marks of points and works on a map mean, as far as they occur. Stands below the map, to hide no point. */
function MapLegend({ points, works = [], legend }: Pick<MapProps, 'points' | 'works' | 'legend'>) {
  const { t } = useTranslation('map');
  const entries = ranks.flatMap((rank) => {
    const texts = new Set(points.filter(({ look }) => look.rank === rank).map(({ look }) => look.text));
    const text = texts.size === 0 ? '' : (legend?.[rank] ?? [...texts].join(' · '));
    return text === '' ? [] : { rank, text };
  });
  const ofPoints = points.length < 2 ? [] : entries;
  const ofWorks = new Map(
    works
      .toSorted((one, other) => Number(other.isInForce) - Number(one.isInForce))
      .map(({ legend: text, isInForce }) => [text, isInForce]),
  );
  if (ofPoints.length === 0 && ofWorks.size === 0) return null;
  return (
    <ul
      aria-label={t('legend')}
      className="flex shrink-0 flex-wrap gap-x-4 gap-y-0.5 border-t bg-surface px-2 py-1 text-sm"
    >
      {ofPoints.map(({ rank, text }) => (
        <li key={rank} className="flex items-center gap-2">
          <Dot rank={rank} mark={marks[rank]} />
          <span className="min-w-0">{text}</span>
        </li>
      ))}
      {[...ofWorks].map(([text, isInForce]) => (
        <li key={text} className="flex items-center gap-2">
          <WorksMark isInForce={isInForce} />
          <span className="min-w-0">{text}</span>
        </li>
      ))}
    </ul>
  );
}

let probed: boolean | null = null;

/** Whether the browser supports WebGL 2, in hardware or emulated in software. Determined once. */
function hasWebGl(): boolean {
  probed ??= probe();
  return probed;
}

function probe(): boolean {
  try {
    const context = document.createElement('canvas').getContext('webgl2');
    // Browsers limit the number of contexts, so the probe releases its own.
    context?.getExtension('WEBGL_lose_context')?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}
