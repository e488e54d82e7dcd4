import { textCell, USUAL_CSV } from '@gantry/contract/csv-text';
import type { CsvChoice } from '@gantry/contract/reports';
import { stringify } from 'csv-stringify/sync';

/** Beyond RFC 4180: separators of other readers, and what some readers trim or treat as a comment. */
const QUOTED = /[\r\n,;\t]|^[\s#]|\s$/;

/** Lines of CSV that every reader splits into the same cells. Texts are guarded against formulas, numbers are not. */
export function csvLines(
  rows: readonly (readonly (string | number | null)[])[],
  choice: CsvChoice = USUAL_CSV,
): string {
  return stringify(
    rows.map((row) => row.map((cell) => (typeof cell === 'string' ? textCell(cell, choice) : cell))),
    { delimiter: choice.separator, record_delimiter: '\r\n', quoted_match: QUOTED },
  );
}
