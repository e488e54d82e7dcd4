import { strToU8, zipSync } from 'fflate';

// Workbooks in SpreadsheetML. Strings are in their cells: a list of shared strings would have to be kept in memory.

/** The media type of a workbook. */
export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Maximum length of the text in a cell, in characters. */
const MAX_TEXT = 32_767;

/** Characters that XML cannot contain but a text from a device may. */
const NO_XML = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A cell of a row that is not one of the table; null for none. */
export interface SheetCell {
  readonly value: string | number | null;
  readonly style?: number;
}

/** A string as XML can hold it, in an attribute or between tags. */
function escapeXml(value: string): string {
  return value.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '');
}

/** A row of cells. @param n the number of the row, from 1 */
export function cellsRow(n: number, cells: readonly SheetCell[]): string {
  return rowOf(
    n,
    cells.map(({ value, style = null }, at) => {
      const address = `${letters(at)}${n}`;
      if (value === null) return '';
      return typeof value === 'number' ? numberCell(address, value, style) : textCell(address, value, style);
    }),
  );
}

export function rowOf(n: number, cells: readonly string[]): string {
  return `<row r="${n}">${cells.join('')}</row>`;
}

export function numberCell(address: string, value: number, style: number | null): string {
  return `<c r="${address}"${styled(style)}><v>${value}</v></c>`;
}

export function textCell(address: string, value: string, style: number | null): string {
  const text = escapeXml(value.replace(NO_XML, '').slice(0, MAX_TEXT).toWellFormed());
  return `<c r="${address}"${styled(style)} t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
}

function styled(style: number | null): string {
  return style === null ? '' : ` s="${style}"`;
}

/** The letters of a column, from 0: A to Z, then AA. */
export function letters(at: number): string {
  return (at >= 26 ? letters(Math.floor(at / 26) - 1) : '') + String.fromCharCode(65 + (at % 26));
}

// The parts of a workbook (ECMA-376, Office Open XML) around the rows of its sheets.

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The name of the file of a sheet. @param n its number, from 0 */
export function sheetFile(n: number): string {
  return `xl/worksheets/sheet${n + 1}.xml`;
}

/** The number of each style that is not only a format of numbers. */
export const styles = { title: 1, bold: 2, head: 3 } as const;
const FIRST_FORMAT = 4;

/** The number of the first format that a workbook defines itself. */
const FIRST_OWN_FORMAT = 164;

function relationships(targets: Readonly<Record<string, string>>): string {
  const each = Object.entries(targets).map(
    ([target, type], n) => `<Relationship Id="rId${n + 1}" Type="${DOCUMENT}/${type}" Target="${target}"/>`,
  );
  return `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${each.join('')}</Relationships>`;
}

/** Some programs recognise a workbook by this file if it is the first. @param sheets the number of sheets */
export function contentTypes(sheets: number): { name: string; xml: string } {
  const types = Object.entries({
    'xl/workbook.xml': 'sheet.main',
    'xl/styles.xml': 'styles',
    ...Object.fromEntries(Array.from({ length: sheets }, (_, n) => [sheetFile(n), 'worksheet'])),
  });
  return {
    name: '[Content_Types].xml',
    xml:
      `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      types
        .map(([name, type]) => `<Override PartName="/${name}" ContentType="${TYPE}.${type}+xml"/>`)
        .join('') +
      '</Types>',
  };
}

/** The other files that do not depend on rows. @param names of the sheets in their order, at most 31 characters each */
export function workbookFiles(names: readonly string[]): Readonly<Record<string, string>> {
  const sheets = names.map(
    (name, n) => `<sheet name="${escapeXml(name)}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`,
  );
  return {
    '_rels/.rels': relationships({ 'xl/workbook.xml': 'officeDocument' }),
    'xl/_rels/workbook.xml.rels': relationships({
      ...Object.fromEntries(names.map((_, n) => [`worksheets/sheet${n + 1}.xml`, 'worksheet'])),
      'styles.xml': 'styles',
    }),
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><sheets>${sheets.join('')}</sheets></workbook>`,
  };
}

/** What comes before the rows of a sheet. @param widths of its columns, in characters */
export function sheetStart(widths: readonly number[], isHeadFrozen: boolean): string {
  const columns = widths.map(
    (width, n) => `<col min="${n + 1}" max="${n + 1}" width="${width}" customWidth="1"/>`,
  );
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const views = `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`;
  return `${HEAD}<worksheet xmlns="${MAIN}">${isHeadFrozen ? views : ''}<cols>${columns.join('')}</cols><sheetData>`;
}

/** What comes after them. */
export const SHEET_END = '</sheetData></worksheet>';

/** The styles of the cells. Formats are numbered when they are first used, so this file comes after the rows. */
export class Styles {
  readonly #formats = new Map<string, number>();

  /** The number of the style with this format of numbers. */
  styleOf(format: string): number {
    const style = this.#formats.get(format) ?? FIRST_FORMAT + this.#formats.size;
    this.#formats.set(format, style);
    return style;
  }

  /** The file `xl/styles.xml`. */
  toXml(): string {
    const formats = [...this.#formats.keys()];
    const list = (tag: string, items: readonly string[]): string =>
      `<${tag} count="${items.length}">${items.join('')}</${tag}>`;
    const font = (size: number, bold = '') => `<font>${bold}<sz val="${size}"/><name val="Calibri"/></font>`;
    const fill = (pattern: string) => `<fill><patternFill patternType="${pattern}</patternFill></fill>`;
    const border = (bottom: string) => `<border><left/><right/><top/><bottom${bottom}/><diagonal/></border>`;
    const cell = (attributes: string) => `<xf xfId="0" ${attributes}/>`;
    const parts = [
      formats.length === 0
        ? ''
        : list(
            'numFmts',
            formats.map(
              (code, n) => `<numFmt numFmtId="${FIRST_OWN_FORMAT + n}" formatCode="${escapeXml(code)}"/>`,
            ),
          ),
      list('fonts', [font(11), font(14, '<b/>'), font(11, '<b/>')]),
      list('fills', [
        fill('none">'),
        fill('gray125">'),
        fill('solid"><fgColor rgb="FFE8EDF2"/><bgColor indexed="64"/>'),
      ]),
      list('borders', [border(''), border(' style="thin"')]),
      list('cellStyleXfs', ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>']),
      list('cellXfs', [
        cell('numFmtId="0" fontId="0" fillId="0" borderId="0"'),
        cell('numFmtId="0" fontId="1" fillId="0" borderId="0" applyFont="1"'),
        cell('numFmtId="0" fontId="2" fillId="0" borderId="0" applyFont="1"'),
        cell('numFmtId="0" fontId="2" fillId="2" borderId="1" applyFont="1" applyFill="1" applyBorder="1"'),
        ...formats.map((_, n) =>
          cell(`numFmtId="${FIRST_OWN_FORMAT + n}" fontId="0" fillId="0" borderId="0" applyNumberFormat="1"`),
        ),
      ]),
    ];
    return `${HEAD}<styleSheet xmlns="${MAIN}">${parts.join('')}</styleSheet>`;
  }
}

/** A workbook with one sheet, whose first row is its header. @param name of the sheet, at most 31 characters */
export function writeWorkbook(name: string, rows: readonly (readonly SheetCell['value'][])[]): Uint8Array {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.min(60, 2 + rows.reduce((most, row) => Math.max(most, String(row[at] ?? '').length), 8)),
  );
  const sheet = rows.map((row, n) =>
    cellsRow(
      n + 1,
      row.map((value) => (n === 0 ? { value, style: styles.head } : { value })),
    ),
  );
  const { name: types, xml } = contentTypes(1);
  const files = {
    [types]: xml,
    [sheetFile(0)]: sheetStart(widths, true) + sheet.join('') + SHEET_END,
    'xl/styles.xml': new Styles().toXml(),
    ...workbookFiles([name]),
  };
  return zipSync(Object.fromEntries(Object.entries(files).map(([file, text]) => [file, strToU8(text)])));
}
