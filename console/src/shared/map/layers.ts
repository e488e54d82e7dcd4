import type { ExpressionSpecification, LayerSpecification } from 'maplibre-gl';
import { type ColorToken, tokenColor } from '../../ui/token-color.ts';
import { rankColors } from './point.ts';

/** Ids of the sources of the style. */
export const LAND = 'land';
export const LINES = 'lines';
export const POINTS = 'points';

/** Ids of the layers that react to the pointer. */
export const DOTS = 'point-dots';
export const GROUPS = 'point-groups';
/** Id of the lowest layer of the points. */
export const LABELS = 'point-labels';

/** The style has no URL for glyphs, so text is drawn with local fonts. */
const FONT = ['system-ui', 'sans-serif'];

type Colors = (token: ColorToken) => string;

/** The layers that need no tiles: water, land, coasts and borders. */
export function baseLayers(color: Colors = tokenColor): LayerSpecification[] {
  return [
    { id: 'base-water', type: 'background', paint: { 'background-color': color('bg') } },
    {
      id: 'base-land',
      type: 'fill',
      source: LAND,
      paint: { 'fill-color': color('surface'), 'fill-antialias': false },
    },
    {
      id: 'base-lines',
      type: 'line',
      source: LINES,
      paint: { 'line-color': color('line-strong'), 'line-width': 0.75 },
    },
  ];
}

/** The layers of the points, which are grouped where they would overlap. */
export function pointLayers(color: Colors = tokenColor): LayerSpecification[] {
  const tone: ExpressionSpecification = [
    'match',
    ['get', 'rank'],
    ...rankColors.flatMap((token, rank) => [rank, color(token)]),
    color('muted'),
  ] as unknown as ExpressionSpecification;
  // The highest rank in a group is shown by more than its colour.
  const mark: ExpressionSpecification = ['match', ['get', 'rank'], 4, ' !', 3, ' ×', ''];
  const isSelected: ExpressionSpecification = ['boolean', ['feature-state', 'selected'], false];
  return [
    // The lowest layer has the lowest priority: labels are placed where the counts leave room.
    {
      id: LABELS,
      type: 'symbol',
      source: POINTS,
      filter: ['!', ['has', 'point_count']],
      layout: {
        'text-field': ['get', 'label'],
        'text-font': FONT,
        'text-size': 12,
        'text-max-width': 12,
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        'text-radial-offset': 1.3,
        'symbol-sort-key': ['-', 0, ['get', 'rank']],
      },
      paint: { 'text-color': color('text'), 'text-halo-color': color('surface'), 'text-halo-width': 1.5 },
    },
    {
      id: GROUPS,
      type: 'circle',
      source: POINTS,
      filter: ['has', 'point_count'],
      paint: {
        'circle-radius': ['step', ['get', 'point_count'], 13, 10, 16, 100, 20],
        'circle-color': color('raised'),
        'circle-stroke-color': tone,
        'circle-stroke-width': 2.5,
      },
    },
    {
      id: 'point-counts',
      type: 'symbol',
      source: POINTS,
      filter: ['has', 'point_count'],
      layout: {
        'text-field': ['concat', ['get', 'point_count_abbreviated'], mark],
        'text-font': FONT,
        'text-size': 12,
        'text-allow-overlap': true,
        // As far as the circle extends beyond the number, where no label may be placed.
        'text-padding': 10,
      },
      paint: { 'text-color': color('text') },
    },
    {
      id: DOTS,
      type: 'circle',
      source: POINTS,
      filter: ['!', ['has', 'point_count']],
      paint: {
        'circle-radius': ['case', isSelected, 10, ['>', ['get', 'rank'], 0], 8, 6],
        'circle-color': tone,
        'circle-stroke-color': ['case', isSelected, color('accent'), color('raised')],
        'circle-stroke-width': ['case', isSelected, 4, 1.5],
      },
    },
    {
      id: 'point-marks',
      type: 'symbol',
      source: POINTS,
      filter: ['!', ['has', 'point_count']],
      layout: {
        // A dot without a mark has an invisible one: labels keep clear of marks, but not of circles.
        'text-field': ['case', ['==', ['get', 'mark'], ''], '○', ['get', 'mark']],
        'text-font': ['system-ui', 'bold'],
        'text-size': 12,
        'text-allow-overlap': true,
        'text-padding': 3,
      },
      paint: {
        'text-color': color('raised'),
        'text-opacity': ['case', ['==', ['get', 'mark'], ''], 0, 1],
      },
    },
  ];
}
