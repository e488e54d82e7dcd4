import { MAX_ROAD_POINTS, type RoadClass, type RoadsFormat } from '@gantry/contract/map-values';

/** The reason why a file cannot be used, as sentences that say what would be right. */
export class RoadsRefused extends Error {
  override readonly name = 'RoadsRefused';
}

/** A feature as the file has it; nothing in it has been checked. */
export interface RawFeature {
  readonly geometry: unknown;
  readonly properties: unknown;
}

/** Receives the features of a file in their order. @throws RoadsRefused */
export type FeatureReceiver = (feature: RawFeature) => void;

/** What a reader knows about its file besides the features. */
export interface ReadFile {
  readonly format: RoadsFormat;
  readonly projection: string;
}

/** How much of the file was read, from 0 to 1. */
export type OnProgress = (share: number) => void;

/** Precision of stored coordinates: 1e-7 degrees are about a centimetre. */
export const UNITS_PER_DEGREE = 1e7;

/** The lines of roads in little memory. A feature of several lines is several of them. */
export class Roads {
  /** Longitude and latitude of all points, one line after another, in units of 1e-7 degrees. */
  #points = new Int32Array(1 << 16);
  #used = 0;
  readonly #starts: number[] = [];
  readonly #names: (string | null)[] = [];
  readonly #classes: RoadClass[] = [];
  readonly #known = new Map<string, string>();

  get lines(): number {
    return this.#starts.length;
  }

  get points(): number {
    return this.#used / 2;
  }

  /** @param positions longitude and latitude in degrees, alternating @throws RoadsRefused when there are too many points */
  add(positions: readonly number[], name: string | null, roadClass: RoadClass): void {
    this.addUnits(
      positions.map((degrees) => Math.round(degrees * UNITS_PER_DEGREE)),
      name,
      roadClass,
    );
  }

  /** @param points longitude and latitude in units of 1e-7 degrees, alternating @throws RoadsRefused as `add` */
  addUnits(points: readonly number[], name: string | null, roadClass: RoadClass): void {
    const needed = this.#used + points.length;
    if (needed / 2 > MAX_ROAD_POINTS)
      throw new RoadsRefused(
        `The roads have more than ${MAX_ROAD_POINTS / 1e6} million points: leave out minor roads, simplify the lines, or choose a smaller area`,
      );
    if (needed > this.#points.length) {
      const larger = new Int32Array(Math.max(needed, Math.ceil(this.#points.length * 1.5)));
      larger.set(this.#points);
      this.#points = larger;
    }
    this.#starts.push(this.#used);
    this.#points.set(points, this.#used);
    this.#used = needed;
    // Equal names are one text in memory.
    if (name !== null && !this.#known.has(name)) this.#known.set(name, name);
    this.#names.push(name === null ? null : (this.#known.get(name) ?? name));
    this.#classes.push(roadClass);
  }

  /** The points of a line, as a part of the memory of all: longitude and latitude in units of 1e-7 degrees. */
  line(at: number): Int32Array {
    return this.#points.subarray(this.#starts[at], this.#starts[at + 1] ?? this.#used);
  }

  name(at: number): string | null {
    return this.#names[at] ?? null;
  }

  roadClass(at: number): RoadClass {
    return this.#classes[at] ?? 'MINOR';
  }
}
