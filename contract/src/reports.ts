import { z } from 'zod';
import { checkEventFilters, eventFilters, passageFilters, placeFilters } from './event-filters.ts';
import { eventType, lookUpReason, severity, storedDirection, storedLane } from './events.ts';
import { id, storedId } from './id.ts';
import { incidentStatus, incidentType } from './incidents.ts';
import { noticeLanguage } from './notices.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { PLATE_RULES } from './plate.ts';
import { showsPlate } from './plate-fields.ts';
import { sensorType } from './sensors.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { email } from './users.ts';
import {
  dayFieldOf,
  filtersOfKind,
  reportFileKinds,
  reportFormats,
  reportKinds,
  reportPeriods,
  reportStatuses,
} from './values.ts';

// ── Reports ─────────────────────────────────────────────────────────────────────────────────────────

export const reportKind = z.enum(reportKinds);
export type ReportKind = z.infer<typeof reportKind>;

/** The kind of a file: of a report, or a study (`studies.export`). */
export const reportFileKind = z.enum(reportFileKinds);
export type ReportFileKind = z.infer<typeof reportFileKind>;

export const reportFormat = z.enum(reportFormats);
export type ReportFormat = z.infer<typeof reportFormat>;

/** QUEUED and RUNNING may change to any of the others, which are final. */
export const reportStatus = z.enum(reportStatuses);
export type ReportStatus = z.infer<typeof reportStatus>;

/** Maximum number of reports that are waiting or in progress, and of schedules. */
export const MAX_UNFINISHED_REPORTS = 100;
export const MAX_REPORT_SCHEDULES = 200;

const reportFilterFields = z.object({
  eventType: eventType.optional(),
  violationType: wanted(200).describe('Ignoring case.'),
  vehicleType: wanted(200).describe('Ignoring case.'),
  licensePlateNumber: showsPlate('plate', wanted(200).describe(PLATE_RULES)),
  processed: z.boolean().optional(),
  archived: z.boolean().optional(),
  locationName: wanted(300).describe('Ignoring case.'),
  severities: eventFilters.severities,
  ...passageFilters,
  ...placeFilters,
  severity: severity.optional(),
  sensorId: storedId.optional(),
  locationId: storedId.optional(),
  sensorType: sensorType.optional(),
  incidentType: incidentType.optional(),
  incidentStatus: incidentStatus.optional(),
  incidentId: storedId.optional(),
});
const storedFilters = reportFilterFields.extend({ lane: storedLane, direction: storedDirection });
export type ReportFilters = z.infer<typeof reportFilterFields>;
export type ReportFilter = keyof ReportFilters;

const filtersNote = Object.entries(filtersOfKind)
  .map(([kind, names]) => `${kind}: ${names.length > 0 ? names.join(', ') : 'none'}`)
  .join('; ');

/** The names of the given filters that do not apply to the kind of report. */
export function filtersOutOfPlace(kind: ReportKind, filters: ReportFilters): ReportFilter[] {
  return (Object.keys(filters) as ReportFilter[]).filter(
    (name) => filters[name] !== undefined && !(filtersOfKind[kind] as readonly ReportFilter[]).includes(name),
  );
}

interface Filtered {
  kind: ReportKind;
  filters: ReportFilters;
}

const reportFilters = reportFilterFields
  .superRefine(checkEventFilters)
  .describe(`Filters accepted by each kind. ${filtersNote}.`);

const csv = z
  .object({
    separator: z
      .enum([',', ';', '\t'])
      .describe('Excel in countries with a decimal comma, such as Turkey and Germany, expects a semicolon.'),
    hasMark: z
      .boolean()
      .describe('Whether the file begins with a byte order mark, without which Excel reads an old encoding.'),
    keepsTexts: z
      .boolean()
      .describe(
        'Whether texts that look like numbers, such as the plate 12E34 and the identifier 007, are written as `="007"`, which Excel shows as they are.',
      ),
  })
  .nullable()
  .describe(
    'How a CSV file is written; null: separated by commas, with a byte order mark, texts as they are. Other formats ignore it.',
  );

/** How a CSV file is written. */
export type CsvChoice = NonNullable<z.infer<typeof csv>>;

export const generateReportInput = z
  .object({
    kind: reportKind,
    format: reportFormat,
    startDate: timeInput.describe(
      "Start, inclusive. A plain date is the start of that day in the service's time zone.",
    ),
    endDate: timeInput.describe(
      "End, inclusive. A plain date is the end of that day in the service's time zone. At most five years after the start.",
    ),
    filters: reportFilters.prefault({}),
    csv: csv.default(null),
    ...lookUpReason,
  })
  .superRefine(refuseFiltersOutOfPlace);
export type GenerateReportInput = z.infer<typeof generateReportInput>;

export const report = z.object({
  id: z.string(),
  kind: reportFileKind,
  format: reportFormat,
  status: reportStatus,
  progress: z.number().describe('From 0 to 1.'),
  rowCount: z.number().describe('Number of data rows so far; for a DONE report, the rows in its file.'),
  range: z.object({ startDate: z.date(), endDate: z.date() }).describe('Both inclusive.'),
  filters: storedFilters,
  timezone: z.string().describe('The IANA time zone of the times in the report.'),
  createdBy: person.nullable(),
  scheduleId: z.string().nullable().describe('The schedule that requested the report, if any.'),
  studyId: z.string().nullable().describe('The study, if it is the file of one.'),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  fileName: z.string().nullable().describe('null until the report is DONE, as are `size` and `url`.'),
  size: z.number().nullable().describe('Size of the file in bytes.'),
  error: z.string().nullable().describe('Why the report FAILED.'),
  waitingFor: z
    .object({ reason: z.enum(['COUNTS_OF_TRAFFIC']), events: z.number().describe('Number of events.') })
    .nullable()
    .describe(
      'Why a QUEUED report waits beyond its turn: the counts of traffic are behind by this number of events. It is generated once they have caught up, and after ten minutes in any case. null for every other report.',
    ),
  url: z.string().nullable().describe('Where to download the file, with GET and the token.'),
});
export type Report = z.infer<typeof report>;

export const listReportsInput = z
  .object({ kind: reportFileKind.optional(), status: reportStatus.optional(), ...paging(50) })
  .prefault({});
export type ListReportsInput = z.infer<typeof listReportsInput>;

/** A page of generated reports. */
export const reportsPage = z.object({ reports: z.array(report), ...pageTotals });
export const removedReport = z.object({ success: z.literal(true), id: z.string() });

// ── Schedules ───────────────────────────────────────────────────────────────────────────────────────

/** The frequency. The range of each report is the previous day, week or month. */
export const reportPeriod = z.enum(reportPeriods);
export type ReportPeriod = z.infer<typeof reportPeriod>;

const when = {
  every: reportPeriod.describe('Each report covers the whole previous day, week or month.'),
  hour: z
    .int()
    .min(0)
    .max(23)
    .describe(
      "In the service's time zone. If daylight saving time skips the hour, the report runs in the next one; if the hour occurs twice, it runs once.",
    ),
  weekday: z.int().min(0).max(6).nullable().describe('0 = Sunday … 6 = Saturday. Required for WEEKLY.'),
  dayOfMonth: z
    .int()
    .min(1)
    .max(31)
    .nullable()
    .describe('Required for MONTHLY. In a shorter month, the report runs on the last day.'),
};

interface When {
  every: ReportPeriod;
  weekday: number | null;
  dayOfMonth: number | null;
}

/** The name of the field that a schedule lacks; null if it is complete. */
export function missingDay(schedule: When): 'weekday' | 'dayOfMonth' | null {
  const field = dayFieldOf[schedule.every];
  return field !== null && schedule[field] === null ? field : null;
}

/** Maximum number of recipients of the reports of one schedule. */
export const MAX_REPORT_RECIPIENTS = 20;

/** Maximum size of a file that is attached to an e-mail, in bytes. */
export const MAX_ATTACHMENT_BYTES = 10_000_000;

const FOLDER_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} _.-]{0,58}[\p{L}\p{M}\p{N}_-])?$/u;

const sendToFields = z.object({
  emails: z
    .array(email)
    .max(MAX_REPORT_RECIPIENTS)
    .describe(`Addresses; with \`userIds\`, at most ${MAX_REPORT_RECIPIENTS}.`),
  userIds: z.array(storedId).max(MAX_REPORT_RECIPIENTS).describe('Users, at the address of their account.'),
  folder: trimmedText(60)
    .refine(
      (name) => FOLDER_NAME.test(name),
      'Name a folder with letters, digits, blanks, dots, hyphens and underscores; the first must be a letter or a digit, the last no dot',
    )
    .nullable()
    .describe(
      'A folder in `DATA_DIR/reports-out` of the machine that makes the report. Each file has the id of its report in its name.',
    ),
  withPlates: z
    .boolean()
    .describe(
      'Whether the files may show number plates. Otherwise they are made as for a role in `HIDE_PLATES_FROM`. Users of such a role are sent no file with plates in any case.',
    ),
  language: noticeLanguage.describe('Of the e-mail.'),
});

const sendToInput = sendToFields
  .extend({
    emails: sendToFields.shape.emails.default([]),
    userIds: sendToFields.shape.userIds.default([]),
    folder: sendToFields.shape.folder.default(null),
    withPlates: sendToFields.shape.withPlates.default(false),
    language: sendToFields.shape.language.default('en'),
  })
  .superRefine(({ emails, userIds, folder }, ctx) => {
    const refuse = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message });
    if (emails.length + userIds.length > MAX_REPORT_RECIPIENTS)
      refuse('emails', `Name at most ${MAX_REPORT_RECIPIENTS} recipients`);
    if (new Set(emails).size < emails.length) refuse('emails', 'Name each address once');
    if (new Set(userIds).size < userIds.length) refuse('userIds', 'Name each user once');
    if (emails.length + userIds.length === 0 && folder === null)
      refuse('emails', 'Name a recipient or a folder, or set `sendTo` to null');
  })
  .nullable();

const SEND_TO =
  'Where each report is sent once it is DONE; null: nowhere. To others than the user, it requires the permission Manage Reports of Others. A user who is a recipient needs the permission View Reports, also at the time of each report.';

/** Where the reports of a schedule are sent. */
export type SendTo = z.infer<typeof sendToFields>;

/** Whether a report was sent: PENDING may become either of the others, which are final. */
export const dispatchStatuses = ['PENDING', 'SENT', 'FAILED'] as const;
export type DispatchStatus = (typeof dispatchStatuses)[number];
/** EMAIL: an address. USER: a user. FOLDER: a folder. */
export const dispatchKinds = ['EMAIL', 'USER', 'FOLDER'] as const;
export type DispatchKind = (typeof dispatchKinds)[number];

const lastSent = z.object({
  reportId: z.string(),
  status: reportStatus.describe('Of the report. It is sent once it is DONE.'),
  error: z.string().nullable().describe('Why the report FAILED.'),
  dueAt: z.date().describe('When the run was due.'),
  recipients: z.array(
    z.object({
      kind: z.enum(dispatchKinds),
      recipient: z.string().describe('The address, the name of the user, or the folder.'),
      status: z.enum(dispatchStatuses),
      attempts: z.number().describe('Number of attempts so far.'),
      error: z.string().nullable().describe('Why the last attempt failed; null after a success.'),
      dueAt: z.date().nullable().describe('When the next attempt is due; null if there is none.'),
      sentAt: z.date().nullable(),
    }),
  ),
});
export type LastSent = z.infer<typeof lastSent>;

export const createScheduleInput = z
  .object({
    kind: reportKind,
    format: reportFormat,
    filters: reportFilters.prefault({}),
    csv: csv.default(null),
    every: when.every,
    hour: when.hour,
    weekday: when.weekday.default(null),
    dayOfMonth: when.dayOfMonth.default(null),
    enabled: z.boolean().default(true),
    sendTo: sendToInput.default(null).describe(SEND_TO),
    ...lookUpReason,
  })
  .superRefine((schedule, ctx) => {
    refuseFiltersOutOfPlace(schedule, ctx);
    if (schedule.kind === 'INCIDENT_CHRONOLOGY')
      ctx.addIssue({
        code: 'custom',
        path: ['kind'],
        message: 'A chronology is made once: use reports.generate',
      });
    const missing = missingDay(schedule);
    if (missing !== null) {
      ctx.addIssue({ code: 'custom', path: [missing], message: `Set ${missing} for ${schedule.every}` });
    }
  });
export type CreateScheduleInput = z.infer<typeof createScheduleInput>;

export const updateScheduleInput = z.object({
  id,
  format: reportFormat.optional(),
  filters: reportFilters.optional().describe(`Replaces the filters as a whole. ${filtersNote}.`),
  csv: csv.optional(),
  every: when.every.optional(),
  hour: when.hour.optional(),
  weekday: when.weekday.optional(),
  dayOfMonth: when.dayOfMonth.optional(),
  enabled: z.boolean().optional(),
  sendTo: sendToInput.optional().describe(`Replaces it as a whole. ${SEND_TO}`),
  ...lookUpReason,
});
export type UpdateScheduleInput = z.infer<typeof updateScheduleInput>;

export const reportSchedule = z.object({
  id: z.string(),
  kind: reportKind,
  format: reportFormat,
  filters: storedFilters,
  csv,
  ...when,
  enabled: z.boolean(),
  sendTo: sendToFields
    .nullable()
    .describe(
      'Where its reports are sent; null: nowhere, or the user is neither its creator nor may manage the reports of others.',
    ),
  lastSent: lastSent
    .nullable()
    .describe(
      'The last run and what became of sending it; null where `sendTo` is null, and before the first run.',
    ),
  timezone: z.string(),
  nextRunAt: z.date().nullable().describe('null while the schedule is disabled.'),
  lastRunAt: z.date().nullable().describe('When the last run was due.'),
  createdBy: person.nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type ReportSchedule = z.infer<typeof reportSchedule>;

export const listSchedulesInput = z.object(paging(50)).prefault({});
export type ListSchedulesInput = z.infer<typeof listSchedulesInput>;
export const schedulesPage = z.object({ schedules: z.array(reportSchedule), ...pageTotals });

/** A filter text, trimmed. A blank text means no filter. */
function wanted(max: number) {
  return trimmedText(max)
    .transform((value) => value || undefined)
    .optional();
}

function refuseFiltersOutOfPlace({ kind, filters }: Filtered, ctx: z.RefinementCtx): void {
  for (const name of filtersOutOfPlace(kind, filters)) {
    ctx.addIssue({
      code: 'custom',
      path: ['filters', name],
      message: `A report of the kind ${kind} cannot be filtered by ${name}`,
    });
  }
  if (kind === 'INCIDENT_CHRONOLOGY' && filters.incidentId === undefined)
    ctx.addIssue({ code: 'custom', path: ['filters', 'incidentId'], message: 'Name the incident' });
}
