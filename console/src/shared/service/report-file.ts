import type { Report } from '@gantry/contract/reports';
import { downloadFile } from './files.ts';
import { api } from './service.ts';

/** How often it is asked whether a report is made, in milliseconds. */
const POLL_MS = 700;

/**
 * Waits until a report is made, and downloads its file.
 * @param name of a file whose report has none
 * @param failed what is said of a report that has no file and no error; by default, its status
 * @throws Error with the reason if there will be no file; GantryError as API requests do
 */
export async function downloadReport(requested: Report, name: string, failed?: string): Promise<void> {
  let report = requested;
  while (report.status === 'QUEUED' || report.status === 'RUNNING') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    report = await api.reports.getById.query({ id: report.id });
  }
  if (report.url === null) throw new Error(report.error ?? failed ?? report.status);
  await downloadFile(report.url, report.fileName ?? name);
}
