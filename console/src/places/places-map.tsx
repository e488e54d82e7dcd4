import type { ReactNode } from 'react';
import { MapWithList } from '../map/map-with-list.tsx';
import type { MapProps } from '../map/point.ts';
import { Failure } from '../service/failure.tsx';

interface PlacesMapProps extends MapProps {
  /** What is said of those whose place is not known. */
  readonly withoutPlace: string | false;
  /** Why there is nothing to show; null when there is. */
  readonly error: unknown;
  readonly onRetry: () => void;
  /** The one that is selected. */
  readonly children: ReactNode;
}

/** Things that have a place, on the map; says how many of them have none. */
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
  /** The link to its own page. */
  readonly link: ReactNode;
}

/** What is selected on the map, above the list beside it. */
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

/** How the link to the page of what is selected looks. */
export const placeLink =
  'inline-flex min-h-8 items-center gap-1 self-start text-accent underline pointer-coarse:min-h-11';
