import type { ReactNode } from 'react';
import { PlaceMap } from '../map/map.tsx';
import type { MapProps } from '../map/point.ts';
import { PointList } from '../map/point-list.tsx';
import { Failure } from '../service/failure.tsx';

interface PlacesMapProps extends MapProps {
  /** The text about objects without coordinates, which the map cannot show; false if there are none. */
  readonly withoutPlace: string | false;
  /** The error that replaces the map; null if there is data to show. */
  readonly error: unknown;
  readonly onRetry: () => void;
  /** The details of the selected object. */
  readonly children: ReactNode;
}

/** Sensors or locations on the map, with the text about those that have no coordinates. */
export function PlacesMap({ withoutPlace, error, onRetry, children, ...map }: PlacesMapProps) {
  if (error !== null) {
    return (
      <div className="p-4">
        <Failure error={error} onRetry={onRetry} />
      </div>
    );
  }
  return (
    <MapWithList {...map}>
      {children}
      {withoutPlace && <p className="border-b px-3 py-2 text-sm text-muted">{withoutPlace}</p>}
    </MapWithList>
  );
}

interface SelectedPlaceProps {
  readonly name: string;
  readonly children: ReactNode;
  /** The link to the page of the object. */
  readonly link: ReactNode;
}

/** The object that is selected on the map, shown above the list of points. */
export function SelectedPlace({ name, children, link }: SelectedPlaceProps) {
  return (
    <section className="flex flex-col gap-1 border-b bg-surface p-3" aria-live="polite">
      <h2 className="font-semibold">
        <bdi className="line-clamp-2">{name}</bdi>
      </h2>
      {children}
      {link}
    </section>
  );
}

/** The classes of the link to the page of the selected object. */
export const placeLink =
  'inline-flex min-h-8 items-center gap-1 self-start text-accent underline pointer-coarse:min-h-11';

/** The map with a list of its points next to it, or below it on narrow screens. `children` are shown above the list. */
function MapWithList({ children, ...map }: MapProps & { readonly children?: ReactNode }) {
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
