import type { Writable } from 'node:stream';
import type { ReportDocument } from '../document.ts';

/** How a document becomes a file. */
export interface FileFormat {
  /**
   * Writes the document, and ends what it writes to.
   * @returns how many rows it has of the table
   * @throws AppError `badRequest` when the format cannot hold it
   */
  readonly write: (document: ReportDocument, to: Writable) => Promise<number>;
}
