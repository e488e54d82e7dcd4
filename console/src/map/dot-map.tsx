import { useQuery } from '@tanstack/react-query';
import type { Position } from 'geojson';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { loadOutlines, type Outlines } from './outlines.ts';
import { type Bounds, boundsOf, type MapProps, rankColors } from './point.ts';

/** Size and margin of the drawing, in SVG units. */
const WIDTH = 1000;
const HEIGHT = 700;
const MARGIN = 60;

/** Dots over outlines, for browsers without WebGL. Keyboard users use the list next to it. */
export function DotMap({ label, points, selectedId, onSelect }: MapProps) {
  const { t } = useTranslation('map');
  const { data: outlines } = useQuery({
    queryKey: ['outlines'],
    queryFn: loadOutlines,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const project = useMemo(() => projectionOf(boundsOf(points) ?? [-170, -58, 170, 75]), [points]);
  const lines = useMemo(() => outlines && pathOf(outlines, project), [outlines, project]);
  return (
    <div className="relative h-full bg-bg" dir="ltr">
      <svg role="img" aria-label={label} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="size-full">
        {lines && <path d={lines} fill="none" className="stroke-line-strong" strokeWidth={1.5} />}
        {points
          .toSorted((one, other) => one.look.rank - other.look.rank)
          .map(({ id, label: name, longitude, latitude, look }) => {
            const [x, y] = project([longitude, latitude]);
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: keyboard users use the list next to the map
              <g key={id} onClick={() => onSelect(id)} className="cursor-pointer">
                <title>{`${name} · ${look.text}`}</title>
                <circle
                  cx={x}
                  cy={y}
                  r={id === selectedId ? 14 : 9}
                  fill={`var(--${rankColors[look.rank]})`}
                  className={id === selectedId ? 'stroke-accent' : 'stroke-raised'}
                  strokeWidth={id === selectedId ? 5 : 2}
                />
                <text
                  x={x}
                  y={y}
                  dy="0.35em"
                  fontSize={13}
                  textAnchor="middle"
                  className="fill-raised font-bold"
                >
                  {look.mark}
                </text>
              </g>
            );
          })}
      </svg>
      <p className="absolute right-0 bottom-0 bg-surface px-1.5 text-xs text-muted">
        {t('simple')} · Natural Earth
      </p>
    </div>
  );
}

type Projection = (position: Position) => [number, number];

const mercator = (latitude: number): number =>
  (Math.log(Math.tan(Math.PI / 4 + (Math.max(-85, Math.min(85, latitude)) * Math.PI) / 360)) * 180) / Math.PI;

/** Centres the bounds in the drawing (Web Mercator). A single position is shown with some kilometres around it. */
function projectionOf([west, south, east, north]: Bounds): Projection {
  const [low, high] = [mercator(south), mercator(north)];
  const scale = Math.min(
    (WIDTH - 2 * MARGIN) / Math.max(east - west, 0.05),
    (HEIGHT - 2 * MARGIN) / Math.max(high - low, 0.05),
  );
  const [x, y] = [(west + east) / 2, (low + high) / 2];
  return ([longitude = 0, latitude = 0]) => [
    WIDTH / 2 + (longitude - x) * scale,
    HEIGHT / 2 - (mercator(latitude) - y) * scale,
  ];
}

/** The SVG path of the lines that come near the drawing. */
function pathOf({ borders, coasts }: Outlines, project: Projection): string {
  const isNear = ([x, y]: [number, number]) => x > -WIDTH && x < 2 * WIDTH && y > -HEIGHT && y < 2 * HEIGHT;
  return [...borders.geometry.coordinates, ...coasts.geometry.coordinates]
    .map((line) => line.map(project))
    .filter((line) => line.some(isNear))
    .map((line) => `M${line.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join('L')}`)
    .join('');
}
