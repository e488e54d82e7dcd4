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
import { tokenColor } from '../../ui/token-color.ts';
import {
  baseLayers,
  DOTS,
  GROUPS,
  LAND,
  LINES,
  LOWEST,
  POINTS,
  pointLayers,
  WORKS,
  WORKS_LINES,
  WORKS_MARKS,
  worksLineLayers,
  worksMarkLayer,
} from './layers.ts';
import { loadOutlines } from './outlines.ts';
import { type Bounds, type MapPoint, type MapWorks, middleOf } from './point.ts';
import { loadStreets, STREETS, type Streets } from './streets.ts';

setWorkerUrl(workerUrl);

/** Several points that would overlap, and their position on the map in pixels. */
export interface Group {
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
  /** Called with the id of a point or of works. */
  readonly onPoint: (id: string) => void;
  /** @param group null once the map moves, because the position of the group is then out of date */
  readonly onGroup: (group: Group | null) => void;
  /** Called when the streets have been added, which need a different attribution. */
  readonly onStreets: (attribution: string) => void;
}

/** Maximum zoom level when the map is fitted to points. */
const NEAR_ZOOM = 14;
const MAX_ZOOM = 19;
/** Padding around fitted points, in pixels, for their labels, half of which is at most 72 wide, and for the buttons. */
const ROUND_POINTS = { top: 48, bottom: 48, left: 76, right: 76 };

const nothing = { type: 'FeatureCollection' as const, features: [] };

/** A map with points. The base map, which is loaded later, is drawn below them. */
export class DrawnMap {
  readonly #options: MapOptions;
  readonly #map: MapLibre;
  /** The map may be removed before its style is loaded. */
  readonly #ready: Promise<void>;
  readonly #stopPrinting: () => void;
  #isDark = false;
  #streets: Streets | null = null;
  #selected: string | null = null;
  #points: readonly MapPoint[] = [];
  #works: readonly MapWorks[] = [];
  #isRemoved = false;

  /** @throws Error if the browser cannot draw the map */
  constructor(options: MapOptions) {
    this.#options = options;
    const { container, label } = options;
    const map = emptyMap(container, label);
    this.#map = map;
    this.#ready = new Promise<void>((resolve) => map.once('style.load', () => resolve()));
    // If a part of the base map cannot be loaded, the points are still shown.
    map.on('error', ignore);
    // Data set while the source still loads its initial, empty data may be lost, so it is set again after that.
    map.once('load', () => {
      this.#source()?.setData(featuresOf(this.#points));
      this.#worksSource()?.setData(featuresOfWorks(this.#works));
    });
    // For screenshots and tests: from now on everything requested so far is drawn.
    map.once('idle', () => {
      container.dataset.drawn = 'true';
    });
    void Promise.all([this.#ready, loadOutlines()]).then(([, outlines]) => {
      map.getSource<GeoJSONSource>(LAND)?.setData(outlines.land);
      map.getSource<GeoJSONSource>(LINES)?.setData({
        type: 'FeatureCollection',
        features: [outlines.borders, outlines.coasts],
      });
    }, ignore);
    void Promise.all([this.#ready, loadStreets()]).then(
      ([, loaded]) => loaded && this.#addStreets(loaded),
      ignore,
    );
    this.#listen();
    this.#stopPrinting = makePrintable(map);
  }

  setPoints(points: readonly MapPoint[]): void {
    this.#points = points;
    this.#whenReady(() => {
      if (this.#points === points) this.#source()?.setData(featuresOf(points));
    });
  }

  setWorks(works: readonly MapWorks[]): void {
    this.#works = works;
    this.#whenReady(() => {
      if (this.#works === works) this.#worksSource()?.setData(featuresOfWorks(works));
    });
  }

  select(id: string | null): void {
    this.#whenReady(() => {
      if (this.#selected !== null) this.#mark(this.#selected, false);
      this.#selected = id;
      if (id === null) return;
      this.#mark(id, true);
      const center = this.#positionOf(id);
      if (center && !this.#map.getBounds().contains(center)) this.#map.easeTo({ center });
    });
  }

  show([west, south, east, north]: Bounds): void {
    // The legend below the map may have appeared with the points.
    this.#map.resize();
    this.#map.fitBounds([west, south, east, north], {
      padding: ROUND_POINTS,
      maxZoom: NEAR_ZOOM,
      animate: false,
    });
  }

  applyColors(isDark: boolean): void {
    this.#isDark = isDark;
    this.#whenReady(() => {
      for (const { id, paint } of this.#layers()) {
        if (!this.#map.getLayer(id)) continue;
        for (const [name, value] of Object.entries(paint ?? {}))
          this.#map.setPaintProperty(id, name as never, value as never);
      }
    });
  }

  zoomBy(steps: number): void {
    this.#map.zoomTo(this.#map.getZoom() + steps);
  }

  remove(): void {
    this.#isRemoved = true;
    this.#stopPrinting();
    this.#map.remove();
  }

  #source(): GeoJSONSource | undefined {
    return this.#map.getSource<GeoJSONSource>(POINTS);
  }

  #worksSource(): GeoJSONSource | undefined {
    return this.#map.getSource<GeoJSONSource>(WORKS);
  }

  #positionOf(id: string): [number, number] | null {
    const point = this.#points.find((each) => each.id === id);
    if (point) return [point.longitude, point.latitude];
    const works = this.#works.find((each) => each.id === id);
    return works ? [...middleOf(works)] : null;
  }

  #whenReady(work: () => void): void {
    void this.#ready.then(() => !this.#isRemoved && work());
  }

  #mark(id: string, is: boolean): void {
    for (const source of [POINTS, WORKS]) this.#map.setFeatureState({ source, id }, { selected: is });
  }

  #layers(): LayerSpecification[] {
    return [
      ...(this.#streets?.layers(this.#isDark, this.#options.language) ?? []),
      ...baseLayers(),
      ...overlays(),
    ];
  }

  #addStreets(loaded: Streets): void {
    this.#streets = loaded;
    this.#map.addSource(STREETS, loaded.source);
    for (const layer of loaded.layers(this.#isDark, this.#options.language))
      this.#map.addLayer(layer, LOWEST);
    this.#options.onStreets(loaded.attribution);
  }

  /** Listens to clicks on points, groups and works. What is drawn above the rest gets the click. */
  #listen(): void {
    const map = this.#map;
    for (const layer of [WORKS_MARKS, DOTS, ...WORKS_LINES])
      map.on('click', layer, (click) => {
        const id = click.features?.[0]?.properties.id as unknown;
        if (typeof id !== 'string' || click.defaultPrevented) return;
        click.preventDefault();
        this.#options.onPoint(id);
      });
    map.on('click', GROUPS, async (click) => {
      const { features } = click;
      if (click.defaultPrevented) return;
      click.preventDefault();
      const group = features?.[0];
      const points = this.#source();
      if (group?.geometry.type !== 'Point' || !points) return;
      const center = group.geometry.coordinates as [number, number];
      const id = Number(group.properties.cluster_id);
      const size = Number(group.properties.point_count);
      const members = await points.getClusterLeaves(id, size, 0);
      const zoom = await points.getClusterExpansionZoom(id);
      const { x, y } = map.project(center);
      const approach = () => void map.easeTo({ center, zoom: Math.min(zoom, MAX_ZOOM) });
      const ids = members.map(({ properties }) => String(properties?.id));
      this.#options.onGroup({ size, ids, x, y, approach });
    });
    map.on('movestart', () => this.#options.onGroup(null));
    for (const layer of [DOTS, GROUPS, WORKS_MARKS, ...WORKS_LINES]) {
      map.on('mouseenter', layer, () => map.getCanvas().style.setProperty('cursor', 'pointer'));
      map.on('mouseleave', layer, () => map.getCanvas().style.removeProperty('cursor'));
    }
  }
}

/** A map without points, which can be moved and zoomed but not turned. */
function emptyMap(container: HTMLElement, label: string): MapLibre {
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
          clusterMaxZoom: MAX_ZOOM,
          maxzoom: MAX_ZOOM + 1,
          clusterProperties: { rank: ['max', ['get', 'rank']] },
        },
        [WORKS]: { type: 'geojson', data: nothing, promoteId: 'id' },
      },
      layers: [...baseLayers(), ...overlays()],
    },
    bounds: [-170, -58, 170, 75],
    maxZoom: MAX_ZOOM,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    locale: { 'Map.Title': label },
  });
  map.addControl(new ScaleControl(), 'bottom-left');
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  return map;
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

/** The layers above the base map. */
const overlays = (): LayerSpecification[] => [...worksLineLayers(), ...pointLayers(), worksMarkLayer()];

function featuresOfWorks(works: readonly MapWorks[]) {
  return {
    type: 'FeatureCollection' as const,
    features: works.flatMap((each) => {
      const { id, isInForce, positions } = each;
      const common = { type: 'Feature' as const, properties: { id, isInForce } };
      const mark = { type: 'Point' as const, coordinates: [...middleOf(each)] };
      const line = { type: 'LineString' as const, coordinates: positions.map((position) => [...position]) };
      return [
        ...(positions.length > 1 ? [{ ...common, geometry: line }] : []),
        { ...common, geometry: mark },
      ];
    }),
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
      // On paper, a dark map is turned into a light one that keeps its hues.
      if (tokenColor('text') !== tokenColor('text', 'light'))
        copy.style.filter = 'invert(1) hue-rotate(180deg)';
      return copy;
    },
  });
}
