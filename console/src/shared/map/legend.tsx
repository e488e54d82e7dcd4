import { useTranslation } from 'react-i18next';
import { marks } from './look.ts';
import type { MapProps, Rank } from './point.ts';
import { Dot } from './point-list.tsx';

const ranks: readonly Rank[] = [4, 3, 2, 1, 0];

/** What the colours and marks of the points on a map mean, as far as they occur. Stands below the map, to hide no point. */
export function MapLegend({ points, legend }: Pick<MapProps, 'points' | 'legend'>) {
  const { t } = useTranslation('map');
  const entries = ranks.flatMap((rank) => {
    const texts = new Set(points.filter(({ look }) => look.rank === rank).map(({ look }) => look.text));
    const text = texts.size === 0 ? '' : (legend?.[rank] ?? [...texts].join(' · '));
    return text === '' ? [] : { rank, text };
  });
  if (points.length < 2 || entries.length === 0) return null;
  return (
    <ul
      aria-label={t('legend')}
      className="flex shrink-0 flex-wrap gap-x-4 gap-y-0.5 border-t bg-surface px-2 py-1 text-sm"
    >
      {entries.map(({ rank, text }) => (
        <li key={rank} className="flex items-center gap-2">
          <Dot rank={rank} mark={marks[rank]} />
          <span className="min-w-0">{text}</span>
        </li>
      ))}
    </ul>
  );
}
