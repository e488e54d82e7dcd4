import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** A range of records that have not been sent: `from` is inclusive, `to` exclusive, and infinity in the last range. */
export interface Range {
  from: number;
  to: number;
}

/**
 * The parts of the spool that have not been sent, stored in a file. Normally there is one range. After an outage there are
 * several: the backlog, and the last range, with the records that were appended since the backlog was divided from it.
 */
export interface Progress {
  /** In the order of positions. The last range has no end. */
  readonly ranges: readonly Readonly<Range>[];
  /** The position before which everything has been sent. */
  readonly sentBefore: number;
  /** Makes everything before a position backlog, so that records from there on can be sent before the backlog is finished. */
  divideAt(position: number): void;
  /** Records durably that a range has been sent up to a position. */
  advance(range: Readonly<Range>, to: number): Promise<void>;
}

const FILE = 'progress.json';

/**
 * Reads the progress from its file, limited to the records that the spool contains.
 * @param start the position at which the spool begins
 * @param end the position at which it ends
 */
export async function readProgress(folder: string, start: number, end: number): Promise<Progress> {
  const path = join(folder, FILE);
  const stored = parse(await readFile(path, 'utf8').catch(() => ''));
  // Without a file everything is sent again. This does no harm, because the service recognises the idempotency keys.
  const ranges: Range[] = (stored ?? [{ from: start, to: Number.POSITIVE_INFINITY }])
    .map(({ from, to }) => ({ from: Math.min(Math.max(from, start), end), to }))
    .filter(({ from, to }) => from < to);
  if (ranges.at(-1)?.to !== Number.POSITIVE_INFINITY)
    ranges.push({ from: end, to: Number.POSITIVE_INFINITY });

  const store = async (): Promise<void> => {
    const draft = `${path}.new`;
    const file = await open(draft, 'w');
    try {
      await file.writeFile(
        JSON.stringify(ranges.map(({ from, to }) => [from, Number.isFinite(to) ? to : null])),
      );
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  };

  return {
    ranges,
    get sentBefore() {
      return ranges[0]?.from ?? 0;
    },
    divideAt(position) {
      const last = ranges.at(-1);
      if (!last || position <= last.from) return;
      const before = ranges.at(-2);
      if (before?.to === last.from) {
        before.to = position;
        last.from = position;
      } else ranges.splice(-1, 1, { from: last.from, to: position }, { from: position, to: last.to });
    },
    async advance(range, to) {
      const own = ranges.find((each) => each === range);
      if (!own) return;
      own.from = to;
      if (own.from >= own.to) ranges.splice(ranges.indexOf(own), 1);
      await store();
    },
  };
}

/** The ranges of the file; null when it is missing or damaged. */
function parse(text: string): Range[] | null {
  try {
    const pairs: unknown = JSON.parse(text);
    if (!Array.isArray(pairs)) return null;
    const ranges = pairs.map((pair: unknown) => {
      const [from, to] = Array.isArray(pair) ? pair : [];
      return { from: Number(from), to: to === null ? Number.POSITIVE_INFINITY : Number(to) };
    });
    return ranges.every(({ from, to }) => from >= 0 && to >= from) ? ranges : null;
  } catch {
    return null;
  }
}
