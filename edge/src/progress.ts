import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** Records that are not sent yet: from a position (inclusive) to another (exclusive; infinity for the newest). */
export interface Range {
  from: number;
  to: number;
}

/**
 * What of the spool is still to be sent, kept in a file. After an outage there are two lanes: the backlog, oldest first,
 * and what has arrived since the link is back. Without an outage there is only the second.
 */
export interface Progress {
  /** In the order of positions. The last range has no end. */
  readonly ranges: readonly Readonly<Range>[];
  /** The position before which everything is sent. */
  readonly sentBefore: number;
  /** Turns everything before a position into backlog, so that what is appended later is sent beside it. */
  divideAt(position: number): void;
  /** Records durably that a range is sent up to a position. */
  advance(range: Readonly<Range>, to: number): Promise<void>;
}

const FILE = 'progress.json';

/** @param end the position at which the spool ends now @param start where it begins */
export async function readProgress(folder: string, start: number, end: number): Promise<Progress> {
  const path = join(folder, FILE);
  const stored = parse(await readFile(path, 'utf8').catch(() => ''));
  // Without a file everything is sent again, which does no harm: the service knows the keys.
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
