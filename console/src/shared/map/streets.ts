import type { LayerSpecification, SourceSpecification } from 'maplibre-gl';
import { addressOf } from '../service/files.ts';
import { roadLayers } from './layers.ts';

/** The street map that the service has: a base map that was provided to it, or a city's own roads. */
export interface Streets {
  readonly source: SourceSpecification;
  /** Whose data it is. */
  readonly attribution: string;
  /** @param language the language of names, if the tiles have it */
  layers(isDark: boolean, language: string): LayerSpecification[];
}

export const STREETS = 'streets';

/** What the service says about its maps. */
interface KnownMaps {
  readonly mapTiles?: boolean;
  readonly roads?: { readonly version: string; readonly attribution: string | null } | null;
}

/** The data of the outlines below everything. */
export const OUTLINES = 'Natural Earth';

/** Loads the street map. Requests go only to the service. @returns null if the service has no street map */
export async function loadStreets(): Promise<Streets | null> {
  const known = await fetch(addressOf('/console.json')).then(
    (response) => (response.ok ? (response.json() as Promise<KnownMaps>) : null),
    () => null,
  );
  if (known?.mapTiles !== true && !known?.roads) return null;
  const [{ Protocol }, { addProtocol }] = await Promise.all([import('pmtiles'), import('maplibre-gl')]);
  addProtocol('pmtiles', new Protocol().tile);
  if (known.roads) {
    const { version, attribution } = known.roads;
    return {
      source: { type: 'vector', url: `pmtiles://${addressOf(`/map/roads.pmtiles?v=${version}`)}` },
      attribution: [attribution, OUTLINES].filter(Boolean).join(' · '),
      layers: () => roadLayers(STREETS),
    };
  }
  const { layers, namedFlavor } = await import('@protomaps/basemaps');
  return {
    source: { type: 'vector', url: `pmtiles://${addressOf('/map/area.pmtiles')}` },
    attribution: '© OpenStreetMap',
    layers: (isDark, language) =>
      layers(STREETS, namedFlavor(isDark ? 'black' : 'grayscale'), { lang: language }).flatMap(withoutImages),
  };
}

/** Removes icons, which would be requested from another host. Layers that are mostly icons are removed entirely. */
function withoutImages(layer: LayerSpecification): LayerSpecification[] {
  if (layer.type !== 'symbol') return [layer];
  if (layer.id === 'pois' || layer.id === 'roads_shields' || !layer.layout?.['text-field']) return [];
  const isOfText = ([name]: [string, unknown]) => !name.startsWith('icon-');
  return [
    {
      ...layer,
      layout: Object.fromEntries(Object.entries(layer.layout).filter(isOfText)),
      paint: Object.fromEntries(Object.entries(layer.paint ?? {}).filter(isOfText)),
    },
  ];
}
