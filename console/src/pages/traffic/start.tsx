import type { TopLocationsInput } from '@gantry/contract/traffic';
import type { DayRange } from '../../shared/range/days.ts';
import { LiveTable } from './live-table.tsx';
import { TopTable } from './top-table.tsx';

interface StartProps {
  readonly days: DayRange;
  readonly by: NonNullable<TopLocationsInput['by']>;
  readonly onSort: (by: NonNullable<TopLocationsInput['by']>) => void;
  readonly onChoose: (locationId: string) => void;
}

/** The overview shown until a place is chosen: the current levels of traffic, and the top locations of the range. */
export function Start({ days, by, onSort, onChoose }: StartProps) {
  return (
    <div className="grid gap-3 px-4 py-3 xl:grid-cols-2">
      <LiveTable onChoose={onChoose} />
      <TopTable days={days} by={by} onSort={onSort} onChoose={onChoose} />
    </div>
  );
}
