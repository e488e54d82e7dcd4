import type { LayerSpecification, SourceSpecification } from 'maplibre-gl';
import { addressOf } from '../service/address.ts';

/** The streets that an operator may have given the service as one file. */
export interface Streets {
  readonly source: SourceSpecification;
  /** @param language in which names are written where the tiles have it */
  layers(isDark: boolean, language: string): LayerSpecification[];
}

export const STREETS = 'streets';

/** Gets them ready, from the service and nowhere else. @returns null where the service has none */
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
      layers(STREETS, namedFlavor(isDark ? 'black' : 'grayscale'), { lang: language }).flatMap(
        withoutPictures,
      ),
  };
}

/** Pictures would come from elsewhere. Names stay without theirs; what is a picture and little else is left out. */
function withoutPictures(layer: LayerSpecification): LayerSpecification[] {
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
