import type { ReportFormat } from '@gantry/contract/reports';
import type { FileFormat } from './formats/format.ts';

/**
 * Every kind of report can be written in each format. A thread writes one file and loads only what that takes: the parts
 * for PDF cost 0.2 s of processor time, more than all others together.
 */
export const formats: Readonly<Record<ReportFormat, () => Promise<FileFormat>>> = {
  CSV: async () => (await import('./formats/csv.ts')).csv,
  XLSX: async () => (await import('./formats/xlsx.ts')).xlsx,
  PDF: async () => (await import('./formats/pdf.ts')).pdf,
};
