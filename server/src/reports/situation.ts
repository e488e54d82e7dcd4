import { mayDo, permissionNames } from '@gantry/contract/permissions';
import {
  MAX_SITUATION_REPORTS,
  type MakeReportInput,
  type PreviewReportInput,
  type ReportPreview,
  type SituationReport,
} from '@gantry/contract/situation-reports';
import { changeIncident, type IncidentContext } from '../incidents/change.ts';
import { factsForAgencies } from '../incidents/steps.ts';
import { getIncidentRow, type IncidentRow, lockIncident } from '../incidents/store.ts';
import { listTimeline } from '../incidents/timeline-store.ts';
import type { Actor } from '../platform/context.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { createLocalTime } from '../platform/local-time.ts';
import { requireFeature, requireReportKind } from '../system/features.ts';
import { showsNote } from './kinds/chronology.ts';
import {
  findLastNumber,
  insertSituationReport,
  listAddresses,
  listSituationReports,
} from './situation-store.ts';
import { insertReport, requireQueueSpace } from './store.ts';

// Situation reports. Nothing is sent before a person has seen the message.

/** The reports of an incident, newest first. @throws AppError `notFound` */
export async function viewSituationReports(
  { app: { db } }: IncidentContext,
  id: string,
): Promise<SituationReport[]> {
  const { id: incidentId } = await getIncidentRow(db, id);
  return listSituationReports(db, incidentId);
}

/** What a report would be, and to whom it could be sent. @throws AppError `notFound` */
export async function previewSituationReport(
  ctx: IncidentContext,
  { id, kind, audience }: PreviewReportInput,
): Promise<ReportPreview> {
  const { app } = ctx;
  const incident = await getIncidentRow(app.db, id);
  const number = (await findLastNumber(app.db, incident.id)) + 1;
  const timeline = await listTimeline(app.db, incident.id);
  const notes = timeline.filter(({ action }) => action === 'addNote');
  const shown = notes.filter((entry) => showsNote(entry, audience)).length;
  const wanted = kind ?? likelyKind(incident, number);
  return {
    ...{ number, kind: wanted, audience, ...(await letterOf(ctx, app.db, incident, number, wanted)) },
    ...{ shownNotes: shown, hiddenNotes: notes.length - shown },
    recipients: await listAddresses(app.db, incident.id),
    canSend: app.mailer.isConfigured,
  };
}

function likelyKind({ status }: IncidentRow, number: number): MakeReportInput['kind'] {
  if (status === 'RESOLVED' || status === 'CLOSED') return 'FINAL';
  return number === 1 ? 'INITIAL' : 'INTERMEDIATE';
}

const KIND_NAMES: Readonly<Record<MakeReportInput['kind'], string>> = {
  INITIAL: 'initial',
  INTERMEDIATE: 'intermediate',
  FINAL: 'final',
};

async function letterOf(
  { app }: IncidentContext,
  db: Executor,
  incident: IncidentRow,
  number: number,
  kind: MakeReportInput['kind'],
): Promise<{ subject: string; text: string }> {
  const local = createLocalTime(app.settings.current());
  const { title, status, openedAt } = incident;
  const facts = await factsForAgencies(db, incident);
  const lines = [
    `Situation report ${number} (${KIND_NAMES[kind]})`,
    '',
    title,
    `${facts.kind}, ${status.toLowerCase().replace('_', ' ')}`,
    `Since ${local.show(openedAt.getTime())}`,
    ...facts.place,
    '',
    'The report is attached.',
  ];
  return {
    subject: `Situation report ${number} (${KIND_NAMES[kind]}): ${title}`.slice(0, 200),
    text: lines.join('\n'),
  };
}

/** @throws AppError `forbidden` */
function requireMayMake({ app: { config } }: IncidentContext, actor: Actor): void {
  if (!mayDo(actor.role, 'generateReports'))
    throw new AppError(
      'forbidden',
      `A situation report requires the permission ${permissionNames.generateReports}`,
    );
  requireFeature(config, 'reports.generate', 'mutation');
  requireReportKind(config, 'INCIDENT_CHRONOLOGY');
}

/**
 * Has a situation report made and, if it has recipients, sent once it is made. Of two who make one at once with the same expected
 * number, one does.
 * @throws AppError `notFound`; `forbidden`; `conflict` when there is another report since; `badRequest` without a mail server;
 * `tooManyRequests` when too many reports are waiting
 */
export async function makeSituationReport(
  ctx: IncidentContext,
  { id, kind, audience: given, to, subject, text, expectedNumber }: MakeReportInput,
): Promise<SituationReport> {
  const { app, actor } = ctx;
  requireMayMake(ctx, actor);
  const recipients = [...new Set(to)];
  if (recipients.length > 0 && !app.mailer.isConfigured)
    throw invalidInput(
      'to',
      'No mail server is configured (SMTP_URL), so nothing can be sent: make it without recipients',
    );
  const audience = given ?? (recipients.length > 0 ? 'PARTNERS' : 'INTERNAL');
  return inTransaction(app.db, async (tx) => {
    const incident = await lockIncident(tx, id);
    const number = (await findLastNumber(tx, incident.id)) + 1;
    if (expectedNumber !== undefined && expectedNumber !== number)
      throw new AppError(
        'conflict',
        `Somebody made report ${number - 1} in the meantime: look at it before you make another one`,
      );
    if (number > MAX_SITUATION_REPORTS)
      throw new AppError('badRequest', `An incident has at most ${MAX_SITUATION_REPORTS} situation reports`);
    await requireQueueSpace(tx);
    const now = app.clock.now();
    const report = await insertReport(tx, {
      ...{ kind: 'INCIDENT_CHRONOLOGY', format: 'PDF', filters: { incidentId: incident.id } },
      ...{ settings: app.settings.current(), createdBy: actor.id, hidesPlates: !actor.seesPlates },
      startsAt: incident.openedAt,
      endsAt: new Date(Math.max(now, incident.openedAt.getTime() + 1)),
    });
    const letter = await letterOf(ctx, tx, incident, number, kind);
    await insertSituationReport(tx, {
      ...{
        incidentId: incident.id,
        number,
        kind,
        audience,
        recipients,
        reportId: report.id,
        createdBy: actor.id,
      },
      ...(recipients.length > 0 && { subject: subject ?? letter.subject, message: text ?? letter.text }),
    });
    const details = { report: { number, kind, audience, recipients } };
    await changeIncident(ctx, tx, incident.id, { action: 'makeReport' }, { describe: () => details });
    return onlyOne(tx, incident.id, number);
  });
}

async function onlyOne(db: Executor, incidentId: string, number: number): Promise<SituationReport> {
  const [report] = await listSituationReports(db, incidentId, number);
  if (!report) throw new Error('A situation report has disappeared');
  return report;
}
