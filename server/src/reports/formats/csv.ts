import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { commentLine, markOf, USUAL_CSV } from '@gantry/contract/csv-text';
import { csvLines } from '../../platform/csv.ts';
import { createLocalTime, type LocalTime } from '../../platform/local-time.ts';
import type { Cell, Column, FileFormat, ReportDocument, Row } from '../document.ts';

const unitOf: Partial<Record<Column['type'], string>> = { seconds: ' (s)' };

/**
 * One table: column names in the first line, times in ISO 8601 with offset. Facts about the file follow the table, in
 * lines that begin with `#`. There they do not disturb spreadsheets, the number of rows is known, and a file without
 * them is incomplete.
 */
export const csv: FileFormat = {
  async write(document, to) {
    let written = 0;
    const count = (rows: number): number => {
      written += rows;
      return written;
    };
    // The buffer is measured in bytes: in object mode, up to sixteen parts would be read ahead of the disk.
    await pipeline(Readable.from(chunksOf(document, count), { objectMode: false }), to);
    return written;
  },
};

function cellOf(cell: Cell, { iso }: LocalTime): string | number | null {
  if (cell instanceof Date) return iso(cell.getTime());
  return typeof cell === 'boolean' ? String(cell) : cell;
}

async function* chunksOf(
  { title, facts, columns, rows, settings, csv: choice = USUAL_CSV }: ReportDocument,
  count: (rows: number) => number,
): AsyncGenerator<string> {
  const local = createLocalTime(settings);
  yield markOf(choice) + csvLines([columns.map(({ name, type }) => `${name}${unitOf[type] ?? ''}`)], choice);
  for await (const part of rows) {
    count(part.length);
    if (part.length > 0)
      yield csvLines(
        part.map((row: Row) => row.map((cell) => cellOf(cell, local))),
        choice,
      );
  }
  const total = count(0);
  const said = [
    title,
    ...facts.map(({ name, value }) => `${name}: ${value}`),
    `Rows: ${total}`,
    ...(total === 0 ? ['This range contains no data.'] : []),
  ];
  yield said.map((text) => `${commentLine(text, columns.length, choice)}\r\n`).join('');
}
