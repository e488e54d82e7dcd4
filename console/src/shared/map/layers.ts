import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from 'maplibre-gl';
import { type ColorToken, tokenColor } from '../../ui/token-color.ts';
import { rankColors } from './point.ts';

/** Ids of the sources of the style. */
export const LAND = 'land';
export const LINES = 'lines';
export const POINTS = 'points';
export const WORKS = 'works';

/** Ids of the layers that react to the pointer. */
export const DOTS = 'point-dots';
export const GROUPS = 'point-groups';
export const WORKS_LINES = ['works-in-force', 'works-to-come'] as const;
export const WORKS_MARKS = 'works-marks';
/** Id of the lowest layer above the base map. */
export const LOWEST = 'works-edges';

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

/** The lines of works, which are below the points: solid while the works are in force, dashed before. */
export function worksLineLayers(color: Colors = tokenColor): LayerSpecification[] {
  const layout = { 'line-cap': 'round', 'line-join': 'round' } as const;
  const isSelected: ExpressionSpecification = ['boolean', ['feature-state', 'selected'], false];
  const isLine: ExpressionSpecification = ['==', ['geometry-type'], 'LineString'];
  const line = { type: 'line', source: WORKS } as const;
  return [
    {
      ...line,
      id: LOWEST,
      filter: isLine,
      layout,
      paint: {
        'line-color': ['case', isSelected, color('accent'), color('raised')],
        'line-width': ['case', isSelected, 13, 9],
      },
    },
    {
      ...line,
      id: WORKS_LINES[0],
      filter: ['all', isLine, ['get', 'isInForce']],
      layout,
      paint: { 'line-color': color('high'), 'line-width': 6 },
    },
    {
      ...line,
      id: WORKS_LINES[1],
      filter: ['all', isLine, ['!', ['get', 'isInForce']]],
      layout: { 'line-join': 'round' },
      paint: { 'line-color': color('high'), 'line-width': 6, 'line-dasharray': [1, 0.75] },
    },
  ];
}

/** The marks of works: triangles above their positions, so that they cover no point there. */
export function worksMarkLayer(color: Colors = tokenColor): LayerSpecification {
  const isSelected: ExpressionSpecification = ['boolean', ['feature-state', 'selected'], false];
  return {
    id: WORKS_MARKS,
    type: 'symbol',
    source: WORKS,
    filter: ['==', ['geometry-type'], 'Point'],
    layout: {
      'text-field': ['case', ['get', 'isInForce'], '▲', '△'],
      'text-font': ['system-ui', 'bold'],
      'text-size': 22,
      'text-anchor': 'bottom',
      'text-offset': [0, -0.45],
      'text-allow-overlap': true,
    },
    paint: {
      'text-color': color('high'),
      'text-halo-color': ['case', isSelected, color('accent'), color('raised')],
      'text-halo-width': 2,
    },
  };
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
      id: 'point-labels',
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

/** The classes of roads from the least important to the most, in the order in which they are drawn. */
const ROADS = [
  { kinds: ['path'], from: 13, widths: [0, 0.5, 1, 3], fill: 'line', edge: null, namesFrom: 16 },
  { kinds: ['service'], from: 13, widths: [0, 0.5, 1, 5], fill: 'line', edge: null, namesFrom: 15.5 },
  { kinds: ['minor'], from: 11, widths: [0, 0.5, 2, 10], fill: 'line', edge: null, namesFrom: 14 },
  { kinds: ['tertiary'], from: 10, widths: [0, 0.75, 3, 13], fill: 'line', edge: null, namesFrom: 13 },
  {
    kinds: ['secondary'],
    from: 9,
    widths: [0.25, 1, 4, 16],
    fill: 'raised',
    edge: 'line-strong',
    namesFrom: 12,
  },
  {
    kinds: ['primary'],
    from: 7,
    widths: [0.5, 1.75, 5, 19],
    fill: 'raised',
    edge: 'line-strong',
    namesFrom: 10.5,
  },
  {
    kinds: ['motorway', 'trunk'],
    from: 5,
    widths: [1, 2.5, 6.5, 24],
    fill: 'line-strong',
    edge: 'surface',
    namesFrom: 9,
  },
] as const satisfies readonly {
  readonly kinds: readonly string[];
  readonly from: number;
  readonly widths: readonly number[];
  readonly fill: ColorToken;
  readonly edge: ColorToken | null;
  readonly namesFrom: number;
}[];

/** The zoom levels of the widths above. */
const WIDTH_ZOOMS = [7, 10, 14, 18] as const;

/** How much wider than a main road its edge is, in pixels. */
const EDGE = 1.5;

const widthOf = (widths: readonly number[], more = 0): ExpressionSpecification =>
  [
    'interpolate',
    ['exponential', 1.5],
    ['zoom'],
    ...WIDTH_ZOOMS.flatMap((zoom, at) => [zoom, (widths[at] ?? 0) + more]),
  ] as unknown as ExpressionSpecification;

/**
 * The layers of a city's own roads, from the tiles that the service made. Main roads have edges, and lie above all minor ones.
 * @param source the id of the source, whose tiles have the layer `roads`
 */
export function roadLayers(source: string, color: Colors = tokenColor): LayerSpecification[] {
  const kindIn = (kinds: readonly string[]): FilterSpecification => [
    'in',
    ['get', 'kind'],
    ['literal', [...kinds]],
  ];
  const line = { type: 'line', source, 'source-layer': 'roads' } as const;
  const layout = { 'line-cap': 'round', 'line-join': 'round' } as const;
  const lines = ROADS.flatMap(({ kinds, from, widths, fill, edge }): LayerSpecification[] => {
    const common = { ...line, minzoom: from, filter: kindIn(kinds), layout };
    const paint = (token: ColorToken, more = 0) => ({
      'line-color': color(token),
      'line-width': widthOf(widths, more),
    });
    return [
      ...(edge === null ? [] : [{ ...common, id: `road-edge-${kinds[0]}`, paint: paint(edge, EDGE) }]),
      { ...common, id: `road-${kinds[0]}`, paint: paint(fill) },
    ];
  });
  const names = ROADS.map(
    ({ kinds, namesFrom }): LayerSpecification => ({
      id: `road-name-${kinds[0]}`,
      type: 'symbol',
      source,
      'source-layer': 'roads',
      minzoom: namesFrom,
      filter: kindIn(kinds),
      layout: {
        'symbol-placement': 'line',
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': ['interpolate', ['linear'], ['zoom'], 10, 10, 16, 12.5],
        'text-max-angle': 30,
        'text-padding': 4,
        'symbol-spacing': 350,
      },
      paint: { 'text-color': color('muted'), 'text-halo-color': color('surface'), 'text-halo-width': 1.75 },
    }),
  );
  return [...lines, ...names];
}
