/// <reference path="./saxen.d.ts" />
import { parentPort, workerData } from 'node:worker_threads';
import { unzipSync, zipSync } from 'fflate';
import { readSheet } from 'read-excel-file/node';
import { Parser } from 'saxen';
import { lowerThreadPriority } from './process/own-process.ts';
import type { FromWorkbookThread, TableRow } from './sheet.ts';

// The program of the thread that reads one workbook (XLSX) and ends: server/dist/workbook-thread.js.

/** A workbook may contain this many bytes without its compression, and its table as many characters. */
const MAX_UNPACKED = 20_000_000;

/** A workbook that cannot be read. The message is a sentence for users. */
class Unreadable extends Error {}

/** @throws Unreadable if the workbook is too large, and other errors if it is damaged */
async function rowsOf(bytes: Uint8Array): Promise<TableRow[]> {
  const sheet: readonly (readonly unknown[])[] = await readSheet(Buffer.from(unpacked(bytes)), {
    trim: true,
  });
  const rows: TableRow[] = [];
  let size = 0;
  for (const [at, cells] of sheet.entries()) {
    const texts = cells.map(textOfCell);
    // Many cells may share one text.
    size = texts.reduce((sum, text) => sum + text.length, size);
    if (size > MAX_UNPACKED) throw workbookTooLarge();
    if (texts.some((cell) => cell !== '')) rows.push({ line: at + 1, cells: texts });
  }
  return rows;
}

function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  return cell instanceof Date ? cell.toISOString().slice(0, 10) : String(cell).trim();
}

/**
 * The workbook without compression. What it says of its size is checked before, and is all the memory that it gets, because a
 * small archive may become gigabytes.
 * @throws Unreadable if it is too large
 */
function unpacked(bytes: Uint8Array): Uint8Array {
  let size = 0;
  const files = unzipSync(bytes, {
    filter: ({ originalSize }) => {
      size += originalSize;
      if (size <= MAX_UNPACKED) return true;
      throw workbookTooLarge();
    },
  });
  for (const [name, content] of Object.entries(files)) {
    const xml = new TextDecoder().decode(content);
    if (xml.includes('sheetData')) requireSmallSheet(xml, name);
  }
  return zipSync(files, { level: 0 });
}

function workbookTooLarge(): Unreadable {
  return new Unreadable('The workbook is too large: remove other sheets, or save the table as CSV');
}

/** A sheet from its first to its last row and column may have this many cells, empty ones too. */
const MAX_CELLS = 500_000;

/**
 * Empty cells before the last one are kept in memory, and one cell may be in the last of a million rows. Elements are read as
 * the library of workbooks reads them, and before it does.
 * @throws Unreadable if a cell is too far away, and another error if the address of one is none
 */
function requireSmallSheet(xml: string, name: string): void {
  let [rows, columns] = [0, 1];
  const parser = new Parser();
  parser.on('openTag', (element, attributesOf) => {
    if (!/(?:^|:)(?:c|row)$/.test(element)) return;
    for (const [attribute, value] of Object.entries(attributesOf())) {
      if (!/(?:^|:)r$/.test(attribute) || attribute.startsWith('xmlns')) continue;
      const address = /^([A-Z]{0,3})(\d{1,7})$/.exec(value);
      if (!address) throw new Error(`${name}: ${value.slice(0, 50)} is the address of no cell`);
      const [, column = '', row = ''] = address;
      rows = Math.max(rows, Number(row));
      columns = Math.max(columns, columnOf(column));
      if (rows * columns > MAX_CELLS)
        throw new Unreadable(
          `${name} of the workbook has a cell in row ${row} or column ${column || columns}: clear rows and columns that are not part of the table, or save it as CSV`,
        );
    }
  });
  parser.parse(xml);
}

/** The number of a column, from 1 for A. */
function columnOf(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

lowerThreadPriority();
const read = await rowsOf(workerData as Uint8Array).then(
  (rows): FromWorkbookThread => ({ rows }),
  (error: Error): FromWorkbookThread => ({
    problem:
      error instanceof Unreadable
        ? error.message
        : `The workbook cannot be read (${error.message}): save it again, or as CSV`,
  }),
);
parentPort?.postMessage(read);
