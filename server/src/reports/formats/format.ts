import type { Writable } from 'node:stream';
import type { ReportDocument } from '../document.ts';

/** Converts a document to a file. */
export interface FileFormat {
  /**
   * Writes the document and ends the stream.
   * @returns the number of rows of the table in the file
   * @throws AppError `badRequest` when the format cannot hold the document
   */
  readonly write: (document: ReportDocument, to: Writable) => Promise<number>;
}
