import type { Row as ExcelRow } from 'write-excel-file/node';
import { AppError } from '../../platform/error.ts';
import type { ReportDocument } from '../document.ts';
import { createLocalTime } from '../local-time.ts';
import type { FileFormat } from './format.ts';
import { createRowWriter, textRow } from './xlsx-rows.ts';
import { factRow, makeWorkbook, timeFormats } from './xlsx-workbook.ts';
import { createZipStream } from './zip-stream.ts';

/** Maximum number of rows: a program for spreadsheets opens this many in a reasonable time. */
const MOST_ROWS = 100_000;

const CONTENT_TYPES = '[Content_Types].xml';

/** Numbers the formats of the table in the order of their first use. */
function createFormats(firstStyle: number) {
  const known = new Map<string, number>();
  return {
    styleOf(format: string): number {
      let style = known.get(format);
      if (style === undefined) {
        style = firstStyle + known.size;
        known.set(format, style);
      }
      return style;
    },
    list: (): string[] => [...known.keys()],
  };
}

function aboutRows({ title, facts }: ReportDocument, rowCount: number, figures: readonly ExcelRow[]) {
  const heading = (value: string) => ({ type: String, value, fontWeight: 'bold', fontSize: 14 }) as const;
  return [
    [heading('Report'), heading(title)],
    ...facts.map(factRow),
    factRow({ name: 'Rows', value: rowCount }),
    ...(rowCount === 0 ? [[null, { type: String, value: 'This range contains no data.' }]] : []),
    [],
    ...figures,
  ];
}

const write: FileFormat['write'] = async (document: ReportDocument, to) => {
  const { columns, settings } = document;
  refuseIfTooMany((await document.count?.()) ?? 0);
  const { headStyle, files, sheet } = await makeWorkbook(aboutRows(document, 0, []), columns, []);
  const formats = createFormats(headStyle + 1);
  const writeRow = createRowWriter(columns, createLocalTime(settings), {
    styleOf: formats.styleOf,
    ...timeFormats(settings),
  });
  const names = columns.map(({ name, type }) => (type === 'seconds' ? `${name} (s)` : name));
  let rowCount = 0;
  async function* parts(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield sheet.before;
    yield encoder.encode(textRow(1, names, headStyle));
    for await (const rows of document.rows) {
      refuseIfTooMany(rowCount + rows.length);
      const first = rowCount + 2;
      rowCount += rows.length;
      if (rows.length > 0) yield encoder.encode(rows.map((row, at) => writeRow(row, first + at)).join(''));
    }
    yield sheet.after;
  }

  const zip = createZipStream(to);
  // Some programs recognise a workbook by its first file.
  await zip.add(CONTENT_TYPES, [files[CONTENT_TYPES] ?? new Uint8Array()]);
  await zip.add(sheet.name, parts());
  const { figures } = await document.summary();
  const about = aboutRows(document, rowCount, figures.map(factRow));
  const workbook = await makeWorkbook(about, columns, formats.list());
  const isAsUsed = workbook.formatStyles.every((style, at) => style === headStyle + 1 + at);
  if (workbook.headStyle !== headStyle || !isAsUsed)
    throw new Error('The library for workbooks numbered its styles in an unknown order');
  for (const [name, content] of Object.entries(workbook.files))
    if (name !== CONTENT_TYPES) await zip.add(name, [content]);
  await zip.end();
  return rowCount;
};

/** @throws AppError `badRequest` */
function refuseIfTooMany(rowCount: number): void {
  if (rowCount <= MOST_ROWS) return;
  throw new AppError(
    'badRequest',
    `There are more than ${MOST_ROWS} rows, too many for XLSX: choose CSV, or a shorter range`,
  );
}

async function writeOrDestroy(...[document, to]: Parameters<FileFormat['write']>): Promise<number> {
  try {
    return await write(document, to);
  } catch (error) {
    to.destroy();
    throw error;
  }
}

/** Two sheets: the facts about the report, and its table, in which numbers are numbers and times are times. */
export const xlsx: FileFormat = {
  write: writeOrDestroy,
};
