import { useQuery } from '@tanstack/react-query';
import type { Position } from 'geojson';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { placeLabels } from './dot-labels.ts';
import { loadOutlines, type Outlines } from './outlines.ts';
import {
  type Bounds,
  boundsOf,
  type MapPoint,
  type MapProps,
  type MapWorks,
  middleOf,
  rankColors,
} from './point.ts';
import { TRIANGLE } from './point-list.tsx';

/** The sizes in the drawing, in SVG units: CSS pixels, or more where the type of the page is larger. */
const MARGIN = 40;
const RADIUS = 9;
const TEXT = 12;
/** The height of the note in the corner, which no name may cover. */
const NOTE = 20;

/** Dots over outlines, for browsers without WebGL. Keyboard users use the list next to it. */
export function DotMap({ label, points, works, selectedId, onSelect }: MapProps) {
  const { t } = useTranslation('map');
  const { data: outlines } = useQuery({
    queryKey: ['outlines'],
    queryFn: loadOutlines,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const project = useMemo(
    () => projectionOf(boundsOf(points, works) ?? [-170, -58, 170, 75], size),
    [points, works, size],
  );
  const lines = useMemo(() => outlines && pathOf(outlines, project, size), [outlines, project, size]);
  const labels = useMemo(() => {
    const order = (point: MapPoint) => (point.id === selectedId ? -1 : rankColors.length - point.look.rank);
    const dots = points
      .toSorted((one, other) => order(one) - order(other))
      .map(({ id, label: name, longitude, latitude }) => {
        const [x, y] = project([longitude, latitude]);
        return { id, name, x, y };
      });
    return placeLabels(dots, RADIUS, { ...size, height: size.height - NOTE }, widthIn(box.current));
  }, [points, selectedId, project, size]);
  return (
    <div ref={box} className="relative h-full bg-bg" dir="ltr">
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${size.width} ${size.height}`}
        className="absolute size-full"
      >
        {lines && <path d={lines} fill="none" className="stroke-line-strong" strokeWidth={1.5} />}
        {works?.map((each) => (
          <WorksDrawing
            key={each.id}
            {...{ project, onSelect }}
            works={each}
            isSelected={each.id === selectedId}
          />
        ))}
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
                  r={id === selectedId ? RADIUS + 3 : RADIUS}
                  fill={`var(--${rankColors[look.rank]})`}
                  className={id === selectedId ? 'stroke-accent' : 'stroke-raised'}
                  strokeWidth={id === selectedId ? 4 : 2}
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
        {labels.map(({ id, text, x, y }) => (
          <text
            key={id}
            {...{ x, y }}
            dy="0.35em"
            fontSize={TEXT}
            textAnchor="middle"
            strokeWidth={3}
            paintOrder="stroke"
            className="pointer-events-none fill-text stroke-bg"
          >
            {`\u2068${text}\u2069`}
          </text>
        ))}
      </svg>
      <p className="absolute right-0 bottom-0 bg-surface px-1.5 text-xs text-muted">
        {t('simple')} · Natural Earth
      </p>
    </div>
  );
}

interface WorksDrawingProps {
  readonly works: MapWorks;
  readonly project: Projection;
  readonly isSelected: boolean;
  readonly onSelect: (id: string) => void;
}

/** The line of works, dashed until they are in force, and their triangle. */
function WorksDrawing({ works, project, isSelected, onSelect }: WorksDrawingProps) {
  const { id, label, text, isInForce, positions } = works;
  const line = positions.map((position) => project([...position]).join(',')).join('L');
  const [x, y] = project([...middleOf(works)]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keyboard users use the list next to the map
    <g onClick={() => onSelect(id)} className="cursor-pointer" data-works>
      <title>{`${label} · ${text}`}</title>
      {positions.length > 1 && (
        <>
          <path
            d={`M${line}`}
            fill="none"
            className={isSelected ? 'stroke-accent' : 'stroke-raised'}
            strokeWidth={isSelected ? 12 : 9}
            strokeLinecap="round"
          />
          <path
            d={`M${line}`}
            fill="none"
            className="stroke-high"
            strokeWidth={5}
            strokeDasharray={isInForce ? undefined : '6 5'}
          />
        </>
      )}
      <path
        d={TRIANGLE}
        transform={`translate(${x} ${y - RADIUS - 2}) scale(1.4)`}
        className={isSelected ? 'stroke-accent' : 'stroke-raised'}
        strokeWidth={5}
      />
      <path
        d={TRIANGLE}
        transform={`translate(${x} ${y - RADIUS - 2}) scale(1.4)`}
        className={isInForce ? 'fill-high stroke-high' : 'fill-raised stroke-high'}
        strokeWidth={1.5}
      />
    </g>
  );
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of the element in SVG units. The wall display enlarges the type of the page, and with it the drawing. */
function useSize(box: RefObject<HTMLDivElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 800, height: 500 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const unit = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
      const [width, height] = [element.clientWidth / unit, element.clientHeight / unit];
      if (width > 0 && height > 0) setSize({ width, height });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return size;
}

/** Measures text as the map writes it. Without a canvas, every character counts as a wide one. */
function widthIn(element: Element | null): (text: string) => number {
  const context = document.createElement('canvas').getContext('2d');
  if (!context || !element) return (text) => text.length * TEXT;
  context.font = `${TEXT}px ${getComputedStyle(element).fontFamily}`;
  return (text) => context.measureText(text).width;
}

type Projection = (position: Position) => [number, number];

const mercator = (latitude: number): number =>
  (Math.log(Math.tan(Math.PI / 4 + (Math.max(-85, Math.min(85, latitude)) * Math.PI) / 360)) * 180) / Math.PI;

/** Centres the bounds in the drawing (Web Mercator). A single position is shown with some kilometres around it. */
function projectionOf([west, south, east, north]: Bounds, { width, height }: Size): Projection {
  const [low, high] = [mercator(south), mercator(north)];
  const scale = Math.min(
    Math.max(width - 2 * MARGIN, 1) / Math.max(east - west, 0.05),
    Math.max(height - 2 * MARGIN, 1) / Math.max(high - low, 0.05),
  );
  const [x, y] = [(west + east) / 2, (low + high) / 2];
  return ([longitude = 0, latitude = 0]) => [
    width / 2 + (longitude - x) * scale,
    height / 2 - (mercator(latitude) - y) * scale,
  ];
}

/** The SVG path of the lines that come near the drawing. */
function pathOf({ borders, coasts }: Outlines, project: Projection, { width, height }: Size): string {
  const isNear = ([x, y]: [number, number]) => x > -width && x < 2 * width && y > -height && y < 2 * height;
  return [...borders.geometry.coordinates, ...coasts.geometry.coordinates]
    .map((line) => line.map(project))
    .filter((line) => line.some(isNear))
    .map((line) => `M${line.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join('L')}`)
    .join('');
}
