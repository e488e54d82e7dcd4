import { Writable } from 'node:stream';
import { USUAL_CSV } from '@gantry/contract/csv-text';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvLines } from '../src/platform/csv.ts';
import { csv } from '../src/reports/formats/csv.ts';
import { lengthOf } from './test-length.ts';

/**
 * Whether a spreadsheet may evaluate the cell. Quotes and blanks before a formula do not make it harmless. A line break
 * may separate rows even within quotes, if a reader mistakes a closing quote for an opening one.
 */
const beginsLikeFormula = (cell: string): boolean =>
  /^["\s\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r]/u.test(cell.replace(/^\r\n/, ''));

/** Removes the guard by the rule in docs/reference.md. */
const unguarded = (text: string): string =>
  text.replace(/(?<=^|[;\t\r\n])'(?='*["\p{Z}\p{Cf}\v\f\0]*[=+\-@＝＋－＠\t\r])/gu, '');

/**
 * Text with all separators, quotes and beginnings of formulas, and arbitrary letters and control characters between.
 */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ';',
        ',',
        '\t',
        '\r',
        '\n',
        '\r\n',
        '"',
        "'",
        '=',
        '+',
        '-',
        '@',
        ' ',
        '#',
        '＝',
        '=1+1',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const table = fc
  .integer({ min: 2, max: 5 })
  .chain((columns) =>
    fc.array(fc.array(hostile, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 5 }),
  );

const RUNS = { numRuns: lengthOf({ gate: 1_000, full: 3_000 }) };

/** As spreadsheets read: a quote within a cell is an ordinary character, and an unclosed one extends to the end. */
const readLoosely = (text: string, delimiter: string, quote: '"' | false): string[][] => {
  const options = {
    delimiter,
    quote,
    relax_quotes: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\r', '\n'],
  };
  try {
    return parse(text, options);
  } catch {
    return parse(`${text}"`, options);
  }
};

describe('lines of CSV', () => {
  it.each([',', ';', '\t'] as const)(
    'are read as exactly the cells that were written, with %j',
    (separator) => {
      fc.assert(
        fc.property(table, (rows) => {
          const head = rows[0]?.map((_, n) => `Column ${n}`) ?? [];
          const lines = csvLines([head, ...rows], { ...USUAL_CSV, separator });
          const read: string[][] = parse(lines, { delimiter: separator });
          expect(read.slice(1).map((row) => row.map(unguarded))).toEqual(rows);
        }),
        RUNS,
      );
    },
  );

  it.each([',', ';', '\t'])('contain no cell that begins like a formula where %j separates', (delimiter) => {
    fc.assert(
      fc.property(table, (rows) => {
        const text = csvLines(rows);
        for (const quote of ['"', false] as const) {
          const read = readLoosely(text, delimiter, quote);
          // A reader that ignores quotes splits every text at its commas, so only the beginnings of lines are
          // predictable.
          const cells = quote === false && delimiter === ',' ? read.map((row) => row.slice(0, 1)) : read;
          expect(cells.flat().filter(beginsLikeFormula)).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  it.each([
    ['x\n=1+1', '"x\n\'=1+1"'],
    ['x\r=1+1', '"x\r\'=1+1"'],
    ['x;=1+1', '"x;\'=1+1"'],
    ['x;"=1+1', '"x;\'""=1+1"'],
    ['x\t@y', '"x\t\'@y"'],
    ['=1', "'=1"],
    ["'=1", "''=1"],
    ['\u2028=1', "'\u2028=1"],
    ['\u00a0\u2029@y', "'\u00a0\u2029@y"],
    ["rue de l'Est; 5", '"rue de l\'Est; 5"'],
    ['A-1, B', '"A-1, B"'],
  ])('write %j as %j', (cell, written) => {
    expect(csvLines([[cell, 'next']])).toBe(`${written},next\r\n`);
  });

  it('do not change numbers', () => {
    expect(csvLines([['-1.5', -1.5, 0, null]])).toBe("'-1.5,-1.5,0,\r\n");
  });

  it('describe the file without a formula', async () => {
    const parts: Buffer[] = [];
    const to = new Writable({
      write(chunk, _, done) {
        parts.push(chunk);
        done();
      },
    });
    await csv.write(
      {
        title: 'Traffic',
        facts: [{ name: 'Filters', value: 'vehicleType = CAR,=1+1\r\n=2' }],
        columns: [
          { name: 'Place', type: 'text', width: 1 },
          { name: 'Vehicles', type: 'integer', width: 1 },
        ],
        rows: (async function* () {
          yield [['x', 1]];
        })(),
        settings: {
          timezone: 'UTC',
          dateFormat: 'YYYY-MM-DD',
          use24HourFormat: true,
          firstDayOfWeek: 1,
        } as never,
        summary: async () => ({ figures: [], charts: [] }),
      },
      to,
    );
    const read: string[][] = parse(Buffer.concat(parts), {
      delimiter: ';',
      relax_column_count: true,
      bom: true,
    });
    expect(read.flat().filter(beginsLikeFormula)).toEqual([]);
    expect(read.flat().join()).toContain("'=1+1 =2");
  });
});
