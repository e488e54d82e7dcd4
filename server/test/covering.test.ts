import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cover, endOf, PERIODS, type Piece, startOf } from '../src/events/counts/covering.ts';

const START = Date.UTC(2023, 0);
const END = Date.UTC(2027, 0);
const MAX_PIECES: Readonly<Record<Piece['source'], number>> = {
  events: 30 * 60_000,
  hour: 12,
  day: 16,
  month: 6,
  year: Number.POSITIVE_INFINITY,
};

const aMoment = fc.oneof(
  fc.integer({ min: START, max: END }),
  fc
    .tuple(fc.constantFrom(...PERIODS), fc.integer({ min: START, max: END }))
    .map(([period, time]) => startOf(period, time)),
  fc.constantFrom(START, START + 1, END, END - 1),
);
const anInterval = fc
  .tuple(aMoment, aMoment)
  .map(([a, b]) => ({ from: Math.min(a, b), until: Math.max(a, b) }));

/** The number of times that the pieces count a moment. Pieces with a negative sign are subtracted. */
const timesCounted = (pieces: readonly Piece[], time: number): number =>
  pieces.reduce((sum, { from, until, sign }) => (from <= time && time < until ? sum + sign : sum), 0);

/** The number of whole periods, or of milliseconds, in a piece. */
const lengthOf = ({ source, from, until }: Piece): number => {
  if (source === 'events') return until - from;
  let count = 0;
  for (let time = from; time < until; time = endOf(source, time)) count++;
  return count;
};

describe('the covering of an interval', () => {
  it('counts every time within it exactly once, and no other', () => {
    fc.assert(
      fc.property(anInterval, fc.array(aMoment, { maxLength: 50 }), (interval, others) => {
        const { pieces } = cover(interval);
        const edges = pieces.flatMap(({ from, until }) => [from - 1, from, until - 1, until]);
        for (const time of [...others, ...edges, interval.from, interval.until]) {
          const isWithin = interval.from <= time && time < interval.until;
          expect([time, timesCounted(pieces, time)]).toEqual([time, isWithin ? 1 : 0]);
        }
      }),
    );
  });

  it('consists of whole periods in UTC', () => {
    fc.assert(
      fc.property(anInterval, (interval) => {
        for (const { source, from, until } of cover(interval).pieces) {
          expect(from).toBeLessThan(until);
          if (source !== 'events')
            expect([from, until]).toEqual([startOf(source, from), startOf(source, until)]);
        }
      }),
    );
  });

  it('contains the whole hours for which pending counts must be added', () => {
    fc.assert(
      fc.property(anInterval, fc.array(aMoment, { maxLength: 50 }), (interval, times) => {
        const { pieces, hours } = cover(interval);
        const inTotals = pieces.filter(({ source }) => source !== 'events');
        for (const time of [...times, interval.from, interval.until]) {
          const isWithin = hours !== null && hours.from <= time && time < hours.until;
          expect(timesCounted(inTotals, time)).toBe(isWithin ? 1 : 0);
        }
      }),
    );
  });

  it('reads at most half of a period at either end', () => {
    fc.assert(
      fc.property(anInterval, (interval) => {
        const { pieces } = cover(interval);
        // An interval around the middle of a longer period is read directly, so one piece covers both ends.
        for (const { source } of pieces) {
          const read = pieces
            .filter((piece) => piece.source === source)
            .reduce((sum, piece) => sum + lengthOf(piece), 0);
          expect(read).toBeLessThanOrEqual(2 * MAX_PIECES[source]);
        }
      }),
    );
  });

  it('without ends consists only of years', () => {
    const [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    expect(cover({ from, until })).toEqual({
      pieces: [{ source: 'year', from, until, sign: 1 }],
      hours: { from, until },
    });
    expect(cover({ from: START + 1, until }).pieces.at(-1)).toEqual({
      source: 'year',
      from: START,
      until,
      sign: 1,
    });
  });

  it.each([
    [START, START],
    [END, START],
  ])('from %d until %d is empty', (from, until) => {
    expect(cover({ from, until })).toEqual({ pieces: [], hours: null });
  });
});
