import type { ReportFormat, ReportKind } from '@gantry/contract/reports';
import { DateTime } from 'luxon';

interface Named {
  readonly kind: ReportKind;
  readonly format: ReportFormat;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly settings: { readonly timezone: string };
}

/** The file name of a report, with its kind and its days. */
export function fileNameOf({ kind, format, startsAt, endsAt, settings }: Named): string {
  const day = (moment: number): string => {
    const local = DateTime.fromMillis(moment, { zone: settings.timezone });
    return local.toFormat('yyyy-MM-dd');
  };
  const [first, last] = [day(startsAt.getTime()), day(endsAt.getTime() - 1)];
  const days = first === last ? first : `${first}_${last}`;
  return `${kind.toLowerCase().replaceAll('_', '-')}_${days}.${format.toLowerCase()}`;
}

/**
 * The media type of each format. Separate from the writers, which take long to load and are needed only in the
 * thread.
 */
export const contentTypes: Readonly<Record<ReportFormat, string>> = {
  CSV: 'text/csv; charset=utf-8',
  XLSX: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  PDF: 'application/pdf',
};
