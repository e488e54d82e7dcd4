import type { Works, WorksOnMap, WorksWindow } from '@gantry/contract/works';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { MapWorks } from '../map/point.ts';
import { useTime } from '../time/use-time.ts';

type Where = Pick<Works, 'road' | 'direction' | 'fromKilometre' | 'toKilometre'> &
  Partial<Pick<WorksWindow, 'place'>>;

/** Where works are, such as `A2 NB km 12.4 – 14`; empty if they have no road and no location. */
export function whereOf({ road, direction, fromKilometre, toKilometre, place }: Where): string {
  const ends = [fromKilometre, toKilometre].filter((each) => each !== null);
  const kilometres = ends.length === 0 ? null : `km ${ends.join(' – ')}`;
  return [place, road, direction === 'BOTH' ? null : direction, kilometres]
    .filter((each) => each !== null && each !== undefined)
    .join(' ');
}

/** Works that may be drawn on a map, with the window in force or the next one. */
export interface DrawableWorks {
  readonly id: string;
  readonly title: string;
  readonly from: Date;
  readonly until: Date;
  readonly isInForce: boolean;
  /** What its mark means, for the legend; by default, that they are in force or will be. */
  readonly legend?: string;
  readonly onMap: WorksOnMap;
}

/** The lines and marks of works on a map. Those whose place is not known are left out. */
export function useMapWorks(all: readonly DrawableWorks[]): readonly MapWorks[] {
  const { t } = useTranslation('works', { keyPrefix: 'onMap' });
  const time = useTime();
  return useMemo(() => {
    // Times read from left to right in every language.
    const show = (at: Date) => `\u2066${time.dateTime(at)}\u2069`;
    return all.flatMap(({ id, title, from, until, isInForce, legend, onMap }) => {
      if (!onMap) return [];
      const { type, coordinates } = onMap.geometry;
      const positions = (type === 'Point' ? [coordinates] : coordinates).map(
        ([longitude = 0, latitude = 0]) => [longitude, latitude] as const,
      );
      const text = t(isInForce ? 'inForceUntil' : 'from', { from: show(from), until: show(until) });
      const meaning = legend ?? t(isInForce ? 'inForce' : 'toCome');
      return { id, label: title, text, isInForce, legend: meaning, positions };
    });
  }, [all, t, time]);
}

/** Says from what the place of works on a map is known, or that it is not. */
export function useWorksBasis(): (onMap: WorksOnMap) => string {
  const { t } = useTranslation('works', { keyPrefix: 'onMap' });
  return (onMap) =>
    onMap ? t(`basis.${onMap.basis}`, { location: `\u2068${onMap.location ?? ''}\u2069` }) : t('nowhere');
}
