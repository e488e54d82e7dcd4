/** Geometries of well-known binary (ISO 13249-3, also with the flags of PostGIS), by their code. */
const KINDS = [
  'Geometry',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
] as const;
const [HAS_Z, HAS_M, HAS_SYSTEM] = [0x80000000, 0x40000000, 0x20000000];

/** Number of doubles of the envelope in the header of a GeoPackage, by its code. */
const ENVELOPES = [0, 4, 6, 6, 8];
/** The first two bytes of a geometry in a GeoPackage. */
const GP = 0x4750;

const MAX_LEVELS = 4;

/** A geometry like those of GeoJSON. */
type Shape = Readonly<Record<string, unknown>>;

interface Reader {
  readonly view: DataView;
  at: number;
}

/** The geometry of a column of a GeoPackage (OGC 12-128, 2.1.3); null if it is empty. A damaged one is a line without points. */
export function geometryOf(blob: Uint8Array): Shape | null {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  try {
    const flags = view.getUint8(3);
    if (view.getUint16(0) !== GP) return DAMAGED;
    if (flags & 0x10) return null;
    return readShape({ view, at: 8 + 8 * (ENVELOPES[(flags >> 1) & 7] ?? 0) }, 0);
  } catch (error) {
    if (error instanceof RangeError) return DAMAGED;
    throw error;
  }
}

const DAMAGED = { type: 'LineString', coordinates: [] };

/** @throws RangeError beyond the end, and for counts that cannot be true */
function readShape(reader: Reader, level: number): Shape {
  const { view } = reader;
  const little = view.getUint8(reader.at) === 1;
  const code = view.getUint32(reader.at + 1, little);
  reader.at += code & HAS_SYSTEM ? 9 : 5;
  const plain = code & 0x0fffffff;
  const [type = KINDS[0], form] = [KINDS[plain % 1000], Math.floor(plain / 1000)];
  const more = (form === 3 ? 2 : Math.min(form, 1)) + (code & HAS_Z ? 1 : 0) + (code & HAS_M ? 1 : 0);
  const list = <Item>(read: () => Item): Item[] => {
    const length = view.getUint32(reader.at, little);
    reader.at += 4;
    if (level > MAX_LEVELS || length > view.byteLength / 4) throw new RangeError('not a count');
    return Array.from({ length }, read);
  };
  const position = (): readonly number[] => {
    const found = [view.getFloat64(reader.at, little), view.getFloat64(reader.at + 8, little)];
    reader.at += 8 * (2 + more);
    return found;
  };
  switch (type) {
    case 'Geometry':
      return { type };
    case 'Point':
      return { type, coordinates: position() };
    case 'LineString':
      return { type, coordinates: list(position) };
    case 'Polygon':
      return { type, coordinates: list(() => list(position)) };
    default: {
      const parts = list(() => readShape(reader, level + 1));
      return type === 'GeometryCollection'
        ? { type, geometries: parts }
        : { type, coordinates: parts.map(({ coordinates }) => coordinates) };
    }
  }
}
