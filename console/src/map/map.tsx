import { Component, lazy, type ReactNode, Suspense } from 'react';
import { loadCode } from '../service/load-code.ts';
import type { MapProps } from './point.ts';
import { hasWebGl } from './web-gl.ts';

const VectorMap = lazy(async () => ({
  default: (await loadCode(() => import('./vector-map.tsx'))).VectorMap,
}));
const DotMap = lazy(async () => ({ default: (await loadCode(() => import('./dot-map.tsx'))).DotMap }));

/**
 * The map, which fills the element that it stands in. It is loaded when it is shown, and its place is kept meanwhile. Without
 * WebGL, or if the map fails, dots over outlines take its place. A page with a map has a `PointList` beside it.
 */
export function PlaceMap(props: MapProps) {
  const placeholder = <div data-loading className="h-full bg-bg" />;
  const simple = (
    <Suspense fallback={placeholder}>
      <DotMap {...props} />
    </Suspense>
  );
  if (!hasWebGl()) return simple;
  return (
    <Otherwise show={simple}>
      <Suspense fallback={placeholder}>
        <VectorMap {...props} />
      </Suspense>
    </Otherwise>
  );
}

/** Shows something else when what it holds fails. */
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
