import type { ReportFormat } from '@gantry/contract/reports';
import { csv } from './formats/csv.ts';
import type { FileFormat } from './formats/format.ts';
import { pdf } from './formats/pdf.ts';
import { xlsx } from './formats/xlsx.ts';

/** Every kind of report can be written in each format. */
export const formats: Readonly<Record<ReportFormat, FileFormat>> = { CSV: csv, XLSX: xlsx, PDF: pdf };
