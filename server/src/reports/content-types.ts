import type { ReportFormat } from '@gantry/contract/reports';

/**
 * The media type of each format. Separate from the writers, which take long to load and are needed only in the
 * thread.
 */
export const contentTypes: Readonly<Record<ReportFormat, string>> = {
  CSV: 'text/csv; charset=utf-8',
  XLSX: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  PDF: 'application/pdf',
};
