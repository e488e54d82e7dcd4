import {
  type GeoJSONSource,
  type LayerSpecification,
  Map as MapLibre,
  ScaleControl,
  setWorkerUrl,
} from 'maplibre-gl';
import 'maplibre-gl/dist/maplibre-gl.css';
import './map.css';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url';
import { copyForPrint } from '../../ui/print-copy.ts';
import { baseLayers, DOTS, GROUPS, LABELS, LAND, LINES, POINTS, pointLayers } from './layers.ts';
import { loadOutlines } from './outlines.ts';
import type { Bounds, MapPoint } from './point.ts';
import { loadStreets, STREETS, type Streets } from './streets.ts';

setWorkerUrl(workerUrl);

/** Several points that would overlap, and their position on the map in pixels. */
export interface Group {
  /** Number of points. */
  readonly size: number;
  /** Ids of all points. */
  readonly ids: readonly string[];
  readonly x: number;
  readonly y: number;
  /** Zooms in until the group splits, or to the maximum zoom level. */
  readonly approach: () => void;
}

interface MapOptions {
  readonly container: HTMLElement;
  readonly label: string;
  readonly language: string;
  readonly onPoint: (id: string) => void;
  /** @param group null once the map moves, because the position of the group is then out of date */
  readonly onGroup: (group: Group | null) => void;
  /** Called when the streets have been added, which need a different attribution. */
  readonly onStreets: () => void;
}

/** The interface of the map for the component that shows it. */
export interface VectorMap {
  setPoints(points: readonly MapPoint[]): void;
  select(id: string | null): void;
  show(bounds: Bounds): void;
  applyColors(isDark: boolean): void;
  zoomBy(steps: number): void;
  remove(): void;
}

/** Maximum zoom level when the map is fitted to points. */
const NEAR_ZOOM = 14;
const MOST_ZOOM = 19;
/** Padding around fitted points, in pixels, for their labels, half of which is at most 72 wide, and for the buttons. */
const ROUND_POINTS = { top: 48, bottom: 48, left: 76, right: 76 };

const nothing = { type: 'FeatureCollection' as const, features: [] };

/** Creates a map. @throws Error if the browser cannot draw it */
export function createMap(options: MapOptions): VectorMap {
  const { container, label, language, onPoint, onGroup, onStreets } = options;
  let isDark = false;
  let streets: Streets | null = null;
  let selected: string | null = null;
  let latest: readonly MapPoint[] = [];
  let isRemoved = false;
  const map = new MapLibre({
    container,
    style: {
      version: 8,
      sources: {
        [LAND]: { type: 'geojson', data: nothing },
        [LINES]: { type: 'geojson', data: nothing },
        [POINTS]: {
          type: 'geojson',
          data: nothing,
          promoteId: 'id',
          cluster: true,
          clusterRadius: 36,
          // Sensors on one pole have the same position, so they stay a group at every zoom level.
          clusterMaxZoom: MOST_ZOOM,
          maxzoom: MOST_ZOOM + 1,
          clusterProperties: { rank: ['max', ['get', 'rank']] },
        },
      },
      layers: [...baseLayers(), ...pointLayers()],
    },
    bounds: [-170, -58, 170, 75],
    maxZoom: MOST_ZOOM,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    locale: { 'Map.Title': label },
  });
  map.addControl(new ScaleControl(), 'bottom-left');
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  // If a part of the base map cannot be loaded, the points are still shown.
  map.on('error', ignore);

  const ready = new Promise<void>((resolve) => map.once('style.load', () => resolve()));
  // The map may be removed before its style is loaded.
  const whenReady = (work: () => void) => void ready.then(() => !isRemoved && work());
  const source = () => map.getSource<GeoJSONSource>(POINTS);
  // Data set while the source still loads its initial, empty data may be lost, so it is set again after that.
  map.once('load', () => source()?.setData(featuresOf(latest)));
  // For screenshots and tests: from now on everything requested so far is drawn.
  map.once('idle', () => {
    container.dataset.drawn = 'true';
  });
  const layers = (): LayerSpecification[] => [
    ...(streets?.layers(isDark, language) ?? []),
    ...baseLayers(),
    ...pointLayers(),
  ];
  const applyColors = () => {
    for (const { id, paint } of layers()) {
      if (!map.getLayer(id)) continue;
      for (const [name, value] of Object.entries(paint ?? {}))
        map.setPaintProperty(id, name as never, value as never);
    }
  };
  const addStreets = (loaded: Streets) => {
    streets = loaded;
    map.addSource(STREETS, loaded.source);
    for (const layer of loaded.layers(isDark, language)) map.addLayer(layer, LABELS);
    onStreets();
  };
  void Promise.all([ready, loadOutlines()]).then(([, outlines]) => {
    map.getSource<GeoJSONSource>(LAND)?.setData(outlines.land);
    map.getSource<GeoJSONSource>(LINES)?.setData({
      type: 'FeatureCollection',
      features: [outlines.borders, outlines.coasts],
    });
  }, ignore);
  void Promise.all([ready, loadStreets()]).then(([, loaded]) => loaded && addStreets(loaded), ignore);

  map.on('click', DOTS, ({ features }) => {
    const id = features?.[0]?.properties.id as unknown;
    if (typeof id === 'string') onPoint(id);
  });
  map.on('click', GROUPS, async ({ features }) => {
    const group = features?.[0];
    const points = source();
    if (group?.geometry.type !== 'Point' || !points) return;
    const center = group.geometry.coordinates as [number, number];
    const id = Number(group.properties.cluster_id);
    const size = Number(group.properties.point_count);
    const members = await points.getClusterLeaves(id, size, 0);
    const zoom = await points.getClusterExpansionZoom(id);
    const { x, y } = map.project(center);
    const approach = () => void map.easeTo({ center, zoom: Math.min(zoom, MOST_ZOOM) });
    const ids = members.map(({ properties }) => String(properties?.id));
    onGroup({ size, ids, x, y, approach });
  });
  map.on('movestart', () => onGroup(null));
  for (const layer of [DOTS, GROUPS]) {
    map.on('mouseenter', layer, () => map.getCanvas().style.setProperty('cursor', 'pointer'));
    map.on('mouseleave', layer, () => map.getCanvas().style.removeProperty('cursor'));
  }

  const stopPrinting = makePrintable(map);

  const mark = (id: string, is: boolean) => map.setFeatureState({ source: POINTS, id }, { selected: is });
  return {
    setPoints(points) {
      latest = points;
      whenReady(() => {
        if (latest === points) source()?.setData(featuresOf(points));
      });
    },
    select(id) {
      whenReady(() => {
        if (selected !== null) mark(selected, false);
        selected = id;
        if (id === null) return;
        mark(id, true);
        const point = latest.find((each) => each.id === id);
        if (point && !map.getBounds().contains([point.longitude, point.latitude]))
          map.easeTo({ center: [point.longitude, point.latitude] });
      });
    },
    show([west, south, east, north]) {
      // The legend below the map may have appeared with the points.
      map.resize();
      map.fitBounds([west, south, east, north], {
        padding: ROUND_POINTS,
        maxZoom: NEAR_ZOOM,
        animate: false,
      });
    },
    applyColors(dark) {
      isDark = dark;
      whenReady(applyColors);
    },
    zoomBy: (steps) => void map.zoomTo(map.getZoom() + steps),
    remove() {
      isRemoved = true;
      stopPrinting();
      map.remove();
    },
  };
}

function featuresOf(points: readonly MapPoint[]) {
  return {
    type: 'FeatureCollection' as const,
    features: points.map(({ id, label, latitude, longitude, look: { rank, mark } }) => ({
      type: 'Feature' as const,
      properties: { id, label, rank, mark },
      geometry: { type: 'Point' as const, coordinates: [longitude, latitude] },
    })),
  };
}

function ignore(): void {}

/**
 * Replaces the map with a copy while the page is printed, because browsers print a WebGL canvas blank.
 * @returns a function that removes the copy and the event listeners
 */
function makePrintable(map: MapLibre): () => void {
  const drawing = map.getCanvas();
  return copyForPrint({
    drawing,
    container: map.getContainer(),
    look: 'absolute inset-0 size-full object-contain object-left',
    draw() {
      // The canvas can be read only in the task that has drawn it.
      map.redraw();
      const copy = document.createElement('canvas');
      copy.width = drawing.width;
      copy.height = drawing.height;
      copy.getContext('2d')?.drawImage(drawing, 0, 0);
      return copy;
    },
  });
}
