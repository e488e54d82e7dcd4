import type { LayerSpecification, SourceSpecification } from 'maplibre-gl';
import { addressOf } from '../service/files.ts';

/** The street map, from a file that the operator may have provided to the service. */
export interface Streets {
  readonly source: SourceSpecification;
  /** @param language the language of names, if the tiles have it */
  layers(isDark: boolean, language: string): LayerSpecification[];
}

export const STREETS = 'streets';

/** Loads the street map. Requests go only to the service. @returns null if the service has no street map */
export async function loadStreets(): Promise<Streets | null> {
  const known = await fetch(addressOf('/console.json')).then(
    (response) => (response.ok ? (response.json() as Promise<{ mapTiles?: boolean }>) : null),
    () => null,
  );
  if (known?.mapTiles !== true) return null;
  const [{ Protocol }, { layers, namedFlavor }, { addProtocol }] = await Promise.all([
    import('pmtiles'),
    import('@protomaps/basemaps'),
    import('maplibre-gl'),
  ]);
  addProtocol('pmtiles', new Protocol().tile);
  return {
    source: { type: 'vector', url: `pmtiles://${addressOf('/map/area.pmtiles')}` },
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
