import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { zxyToTileId } from 'pmtiles';

// PMTiles, version 3 (https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md): a header, the directory of the tiles in
// the order of their ids, metadata, and the tiles. The package of that name only reads such files.

const HEADER_BYTES = 127;
/** The header and the root directory must lie within this. */
const FIRST_BYTES = 16_384;
/** Entries in a leaf of a directory that is too large for the root. */
const LEAF_ENTRIES = 4_096;
const [GZIP, MVT] = [2, 1];

/** What the header says besides the positions of the parts. */
export interface TilesFacts {
  readonly minZoom: number;
  readonly maxZoom: number;
  /** Degrees. */
  readonly bounds: {
    readonly west: number;
    readonly south: number;
    readonly east: number;
    readonly north: number;
  };
  /** Becomes JSON. */
  readonly metadata: object;
}

interface Entry {
  readonly id: number;
  readonly offset: number;
  readonly length: number;
}

/** Writes vector tiles one by one, in any order, into a file. Disposing removes what is not finished. */
export class TilesFile implements AsyncDisposable {
  readonly #dataPath: string;
  readonly #data: FileHandle;
  readonly #entries: Entry[] = [];
  #offset = 0;

  private constructor(dataPath: string, data: FileHandle) {
    this.#dataPath = dataPath;
    this.#data = data;
  }

  /** @param dataPath where the tiles are kept until the file is written */
  static async create(dataPath: string): Promise<TilesFile> {
    return new TilesFile(dataPath, await open(dataPath, 'w', 0o600));
  }

  /** The number of tiles so far. */
  get tiles(): number {
    return this.#entries.length;
  }

  /** Adds a tile. @param tile as Mapbox vector tile, not compressed */
  async add(z: number, x: number, y: number, tile: Uint8Array): Promise<void> {
    const bytes = gzipSync(tile);
    await this.#data.write(bytes);
    this.#entries.push({ id: zxyToTileId(z, x, y), offset: this.#offset, length: bytes.length });
    this.#offset += bytes.length;
  }

  /** Writes the file, and makes it durable. @returns its size in bytes */
  async finish({ minZoom, maxZoom, bounds, metadata }: TilesFacts, path: string): Promise<number> {
    this.#entries.sort((one, other) => one.id - other.id);
    const { root, leaves } = directoriesOf(this.#entries);
    const json = gzipSync(JSON.stringify(metadata));
    const header = Buffer.alloc(HEADER_BYTES);
    header.write('PMTiles', 'latin1');
    header[7] = 3;
    const lengths = [root.length, json.length, leaves.length, this.#offset];
    let at = HEADER_BYTES;
    for (const [index, length] of lengths.entries()) {
      header.writeBigUInt64LE(BigInt(at), 8 + index * 16);
      header.writeBigUInt64LE(BigInt(length), 16 + index * 16);
      at += length;
    }
    // Addressed tiles, entries, and different contents: each tile is stored once.
    for (const place of [72, 80, 88]) header.writeBigUInt64LE(BigInt(this.#entries.length), place);
    // Byte 96 is 0: the tiles are not stored in the order of their ids.
    header.set([GZIP, GZIP, MVT, minZoom, maxZoom], 97);
    const { west, south, east, north } = bounds;
    const centre = [(west + east) / 2, (south + north) / 2];
    for (const [index, degrees] of [west, south, east, north].entries())
      header.writeInt32LE(Math.round(degrees * 1e7), 102 + index * 4);
    header[118] = minZoom;
    for (const [index, degrees] of centre.entries())
      header.writeInt32LE(Math.round(degrees * 1e7), 119 + index * 4);

    await this.#data.close();
    const file = await open(path, 'w', 0o644);
    try {
      for (const part of [header, root, json, leaves]) await file.write(part);
      for await (const chunk of createReadStream(this.#dataPath)) await file.write(chunk as Buffer);
      await file.sync();
    } finally {
      await file.close();
    }
    return at;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#data.close().catch(() => undefined);
    await rm(this.#dataPath, { force: true });
  }
}

/** The root directory, and the leaves to which it refers if it does not fit into the first bytes of the file. */
function directoriesOf(entries: readonly Entry[]): { readonly root: Buffer; readonly leaves: Buffer } {
  const whole = directoryOf(entries, 1);
  if (HEADER_BYTES + whole.length <= FIRST_BYTES) return { root: whole, leaves: Buffer.alloc(0) };
  for (let size = LEAF_ENTRIES; ; size *= 2) {
    const leaves: Buffer[] = [];
    const pointers: Entry[] = [];
    let offset = 0;
    for (let at = 0; at < entries.length; at += size) {
      const leaf = directoryOf(entries.slice(at, at + size), 1);
      pointers.push({ id: entries[at]?.id ?? 0, offset, length: leaf.length });
      leaves.push(leaf);
      offset += leaf.length;
    }
    const root = directoryOf(pointers, 0);
    if (HEADER_BYTES + root.length <= FIRST_BYTES) return { root, leaves: Buffer.concat(leaves) };
  }
}

/** @param runLength 1 for tiles, 0 for leaves */
function directoryOf(entries: readonly Entry[], runLength: 0 | 1): Buffer {
  const bytes: number[] = [];
  const write = (value: number): void => {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
    bytes.push(rest);
  };
  write(entries.length);
  entries.forEach(({ id }, at) => {
    write(id - (entries[at - 1]?.id ?? 0));
  });
  for (const _ of entries) write(runLength);
  for (const { length } of entries) write(length);
  entries.forEach(({ offset }, at) => {
    const before = entries[at - 1];
    write(before && before.offset + before.length === offset ? 0 : offset + 1);
  });
  return gzipSync(Buffer.from(bytes));
}
