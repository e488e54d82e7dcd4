import type { ReactNode } from 'react';
import { PlaceMap } from './map.tsx';
import type { MapProps } from './point.ts';
import { PointList } from './point-list.tsx';

/** The map with a list of its points next to it, or below it on narrow screens. `children` are shown above the list. */
export function MapWithList({ children, ...map }: MapProps & { readonly children?: ReactNode }) {
  return (
    <div className="flex min-h-0 grow flex-col md:flex-row">
      <div className="min-h-56 grow basis-1/2 md:basis-auto">
        <PlaceMap {...map} />
      </div>
      <aside className="flex min-h-0 basis-1/2 flex-col border-t md:w-80 md:shrink-0 md:basis-auto md:border-s md:border-t-0">
        {children}
        <div className="min-h-0 grow py-1">
          <PointList {...map} />
        </div>
      </aside>
    </div>
  );
}
