import { Component, lazy, type ReactNode, Suspense } from 'react';
import { loadCode } from '../../ui/load-code.ts';
import { MapLegend } from './legend.tsx';
import type { MapProps } from './point.ts';
import { hasWebGl } from './web-gl.ts';

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
