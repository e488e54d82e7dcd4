import type { LineError } from '../../platform/sheet.ts';
import type { Part } from './columns.ts';
import type { FilePeriod } from './file-of-counts.ts';

/** The count of a cell, with what was measured of the same direction, lane and movement. */
export interface CellCount {
  readonly part: Part;
  /** Null for a gap. */
  readonly count: number | null;
  readonly more: Readonly<Record<string, unknown>>;
}

interface Draft extends Omit<FilePeriod, 'content'> {
  readonly more: CellCount['more'];
  /** By scheme and code; '' for a count of all classes. */
  readonly counts: Map<string, number | null>;
  /** A line whose part of it cannot be read. */
  refusedBy: number | null;
}

/** The periods of a file while its rows are read: each row may have one class of them, or several parts. */
export class Drafts {
  readonly #drafts = new Map<string, Draft>();

  get size(): number {
    return this.#drafts.size;
  }

  #draftOf(line: number, start: number, { class: _, ...part }: Part, more: CellCount['more']): Draft {
    const key = JSON.stringify([start, part.direction, part.lane, part.movement]);
    const known = this.#drafts.get(key);
    if (known) return known;
    const draft = { line, start, part, more, counts: new Map(), refusedBy: null };
    this.#drafts.set(key, draft);
    return draft;
  }

  /** Adds a count. @returns what is wrong with it, or null */
  add(line: number, start: number, { part, count, more }: CellCount): string | null {
    const draft = this.#draftOf(line, start, part, more);
    const code = part.class ? `${part.class.scheme}:${part.class.code}` : '';
    const { counts } = draft;
    if (counts.has(code) || (counts.size > 0 && (code === '') !== counts.has('')))
      return `This is the same interval, direction, lane and movement as on line ${draft.line}${code === '' ? '' : ', with the same class'}`;
    counts.set(code, count);
    return null;
  }

  /** Drops a period of which a part cannot be read, because the rest would be too few vehicles. */
  refuse(line: number, start: number, part: Part): void {
    this.#draftOf(line, start, part, {}).refusedBy ??= line;
  }

  /** The whole periods, and why others are not stored. */
  finish(): { periods: FilePeriod[]; flaws: LineError[] } {
    const periods: FilePeriod[] = [];
    const flaws: LineError[] = [];
    for (const draft of this.#drafts.values()) {
      const flaw = flawOf(draft);
      if (flaw !== null) flaws.push({ line: draft.line, message: flaw });
      else if (draft.refusedBy === null) periods.push(periodOf(draft));
    }
    return { periods, flaws };
  }
}

function flawOf({ counts, refusedBy }: Draft): string | null {
  if (refusedBy !== null)
    return counts.size === 0 ? null : `The interval is not stored, because line ${refusedBy} is a part of it`;
  const schemes = new Set([...counts.keys()].map((code) => code.split(':')[0]));
  if (schemes.size > 1)
    return `The classes of an interval are of one scheme, not of ${[...schemes].join(' and ')}`;
  const gaps = [...counts.values()].filter((count) => count === null).length;
  return gaps === 0 || gaps === counts.size
    ? null
    : 'Some classes of the interval are not known: write 0, or send emptyCells ZERO if empty cells mean that';
}

function periodOf({ line, start, part, counts, more }: Draft): FilePeriod {
  const [[first = '', volume = null] = []] = counts;
  if (volume === null) return { line, start, part, content: { volume } };
  const [scheme, ...rest] = first.split(':');
  if (rest.length === 0) return { line, start, part, content: { volume, ...more } };
  const codes = [...counts].map(([code, count]) => [code.slice(code.indexOf(':') + 1), count]);
  return { line, start, part, content: { byClass: { scheme, counts: Object.fromEntries(codes) }, ...more } };
}
