import { z } from 'zod';
import { id } from './id.ts';
import { situationReportKinds } from './incident-states.ts';
import { noteAudience } from './incident-work.ts';
import { person } from './person.ts';
import { dispatchStatuses, reportStatus } from './reports.ts';
import { trimmedText } from './text.ts';
import { email } from './users.ts';

// Situation reports: an incident as it was at a time, numbered, for those who have to know.

/** Maximum number of recipients of one report, and of reports of one incident. */
export const MAX_REPORT_RECIPIENTS = 20;
export const MAX_SITUATION_REPORTS = 200;

const kind = z
  .enum(situationReportKinds)
  .describe('INITIAL: what is known at first. INTERMEDIATE: how it goes on. FINAL: what it was.');
export type SituationReportKind = z.infer<typeof kind>;

export const previewReportInput = z.object({
  id,
  kind: kind.optional().describe('By default INITIAL for the first, FINAL once the incident is resolved.'),
  audience: noteAudience.default('PARTNERS'),
});
export type PreviewReportInput = z.infer<typeof previewReportInput>;

export const reportPreview = z.object({
  number: z.number().describe('The number that the report would have.'),
  kind,
  audience: noteAudience,
  subject: z.string(),
  text: z.string().describe('The e-mail. The file is attached to it.'),
  shownNotes: z.number().describe('Number of notes that the file has.'),
  hiddenNotes: z.number().describe('Number of notes for a smaller circle, which it does not have.'),
  recipients: z
    .array(z.object({ agency: z.string(), email: z.string() }))
    .describe('The agencies that were called and have an e-mail address.'),
  canSend: z.boolean().describe('Whether a mail server is configured.'),
});
export type ReportPreview = z.infer<typeof reportPreview>;

export const makeReportInput = z
  .object({
    id,
    kind,
    audience: noteAudience
      .optional()
      .describe('By default PARTNERS if it is sent to somebody, otherwise INTERNAL.'),
    to: z
      .array(email)
      .max(MAX_REPORT_RECIPIENTS, `Name at most ${MAX_REPORT_RECIPIENTS} recipients`)
      .default([])
      .describe('The e-mail addresses to which it is sent once it is made. Empty: it is kept only.'),
    subject: trimmedText(200, 1).optional().describe('As in `incidents.getReportPreview` by default.'),
    text: trimmedText(5_000, 1).optional(),
    expectedNumber: z
      .int()
      .optional()
      .describe('The number that you saw. If somebody made a report since, nothing is made (CONFLICT).'),
  })
  .refine(({ to, audience }) => to.length === 0 || audience !== 'INTERNAL', {
    path: ['audience'],
    message: 'A report with internal notes is not sent: choose PARTNERS or PUBLIC, or no recipients',
  });
export type MakeReportInput = z.infer<typeof makeReportInput>;

export const situationReport = z.object({
  id: z.string(),
  incidentId: z.string(),
  number: z.number().describe('From 1, by incident.'),
  kind,
  audience: noteAudience,
  createdBy: person.nullable(),
  createdAt: z.date(),
  subject: z.string().nullable(),
  text: z.string().nullable(),
  reportId: z.string().describe('Of `reports.getById`.'),
  status: reportStatus,
  error: z.string().nullable(),
  sha256: z.string().nullable().describe('The SHA-256 of the file, hexadecimal; null before it is made.'),
  url: z.string().nullable().describe('The address of the file (PDF), as in `reports.getById`.'),
  recipients: z.array(
    z.object({
      email: z.string(),
      status: z.enum(dispatchStatuses).describe('PENDING: it is sent once the file is made, or again later.'),
      sentAt: z.date().nullable(),
      error: z.string().nullable(),
    }),
  ),
});
export type SituationReport = z.infer<typeof situationReport>;
export const situationReports = z.object({ reports: z.array(situationReport).describe('Newest first.') });
