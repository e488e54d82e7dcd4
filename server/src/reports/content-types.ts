import type { ReportFormat } from '@gantry/contract/reports';

/** What each format is called over HTTP. Apart from what writes them, which takes long to load and only the thread needs. */
export const contentTypes: Readonly<Record<ReportFormat, string>> = {
  CSV: 'text/csv; charset=utf-8',
  XLSX: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  PDF: 'application/pdf',
};
