import { MAX_SITUATION_REPORTS, type SituationReport } from '@gantry/contract/situation-reports';
import { and, desc, eq, inArray, max } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import {
  agencies,
  incidentAgencies,
  reportDispatches,
  reports,
  situationReportRows,
} from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';

// Situation reports: each is a row beside that of the report with its file.

export type SituationRow = typeof situationReportRows.$inferSelect;

/** The situation report whose file is that of a report, with the settings of that; null if it is none. */
export async function findSituationReport(db: Executor, reportId: string) {
  const [row] = await db
    .select({ situation: situationReportRows, settings: reports.settings })
    .from(situationReportRows)
    .innerJoin(reports, eq(reports.id, situationReportRows.reportId))
    .where(eq(situationReportRows.reportId, reportId));
  return row ? { ...row.situation, settings: row.settings } : null;
}

/** The number of the last report of an incident; 0 before the first. */
export async function findLastNumber(db: Executor, incidentId: string): Promise<number> {
  const [row] = await db
    .select({ last: max(situationReportRows.number) })
    .from(situationReportRows)
    .where(eq(situationReportRows.incidentId, incidentId));
  return row?.last ?? 0;
}

export async function insertSituationReport(
  tx: Transaction,
  fields: typeof situationReportRows.$inferInsert,
): Promise<void> {
  await tx.insert(situationReportRows).values(fields);
}

/** The e-mail addresses of the agencies that were called to an incident, each once. */
export async function listAddresses(
  db: Executor,
  incidentId: string,
): Promise<{ agency: string; email: string }[]> {
  const rows = await db
    .selectDistinctOn([agencies.email], { agency: agencies.name, email: agencies.email })
    .from(incidentAgencies)
    .innerJoin(agencies, eq(agencies.id, incidentAgencies.agencyId))
    .where(eq(incidentAgencies.incidentId, incidentId))
    .orderBy(agencies.email, agencies.name);
  return rows.flatMap(({ agency, email }) => (email === null ? [] : [{ agency, email }]));
}

/** The reports of an incident, newest first, with what became of sending them. @param only the number of one of them */
export async function listSituationReports(
  db: Executor,
  incidentId: string,
  only?: number,
): Promise<SituationReport[]> {
  const rows = await db
    .select({ situation: situationReportRows, report: reports })
    .from(situationReportRows)
    .leftJoin(reports, eq(reports.id, situationReportRows.reportId))
    .where(
      and(
        eq(situationReportRows.incidentId, incidentId),
        only === undefined ? undefined : eq(situationReportRows.number, only),
      ),
    )
    .orderBy(desc(situationReportRows.number))
    .limit(MAX_SITUATION_REPORTS);
  const ids = rows.map(({ situation }) => situation.reportId);
  const sent =
    ids.length === 0
      ? []
      : await db.select().from(reportDispatches).where(inArray(reportDispatches.reportId, ids));
  const nameOf = await findNames(
    db,
    rows.map(({ situation }) => situation.createdBy),
  );
  return rows.map(({ situation: { message, createdBy, recipients, ...row }, report }) => ({
    ...row,
    text: message,
    createdBy: nameOf(createdBy),
    status: report?.status ?? 'FAILED',
    error: report ? report.error : 'The file was deleted',
    url: report?.fileKey == null ? null : `/reports/${row.reportId}/file`,
    recipients: recipients.map((email) => {
      const dispatch = sent.find((each) => each.reportId === row.reportId && each.recipient === email);
      return {
        email,
        status: dispatch?.status ?? 'PENDING',
        sentAt: dispatch?.sentAt ?? null,
        error: dispatch?.lastError ?? null,
      };
    }),
  }));
}
