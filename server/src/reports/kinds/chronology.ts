import {
  agencyTimes,
  codeOfTime,
  incidentTimes,
  noteAudiences,
  settableTimes,
} from '@gantry/contract/incident-states';
import type { NoteAudience } from '@gantry/contract/incident-work';
import type { IncidentTimelineEntry } from '@gantry/contract/incidents';
import { findNames, type NameOf } from '../../accounts/names-store.ts';
import { severityOfRank } from '../../events/severity.ts';
import { findIncidentRow, type IncidentRow } from '../../incidents/store.ts';
import { listTimeline } from '../../incidents/timeline-store.ts';
import { secondsSinceOpening } from '../../incidents/times.ts';
import { readWork } from '../../incidents/work-store.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { createLocalTime, formatDuration, type LocalTime } from '../../platform/local-time.ts';
import type { Batch, Column, KindOfReport, ReportScope, Row, Summary } from '../document.ts';
import { findSituationReport } from '../situation-store.ts';

// One incident as a chronology: the situation report.

const columns: readonly Column[] = [
  { name: 'Time', type: 'time', width: 14 },
  { name: 'Action', type: 'text', width: 16 },
  { name: 'By', type: 'text', width: 14 },
  { name: 'What', type: 'text', width: 40 },
];

type Action = IncidentTimelineEntry['action'];
const actions: Readonly<Record<Action, string>> = {
  create: 'Opened',
  acknowledge: 'Acknowledged',
  start: 'Work started',
  resolve: 'Resolved',
  close: 'Closed',
  reopen: 'Reopened',
  assign: 'Assigned',
  update: 'Changed',
  attachEvent: 'Event attached',
  addNote: 'Note',
  verify: 'Verified',
  rejectFalse: 'Rejected as a false alarm',
  setTimes: 'Times',
  setLanes: 'Lanes',
  setFacts: 'Facts',
  addAgency: 'Unit called',
  updateAgency: 'Unit',
  removeAgency: 'Unit removed',
  setPlan: 'Response plan',
  completeStep: 'Step done',
  skipStep: 'Step skipped',
  reopenStep: 'Step opened again',
  makeReport: 'Situation report',
  takeOver: 'Another incident was merged into it',
  merge: 'Merged into another incident',
};

type Details = Readonly<Record<string, unknown>>;
const isDetails = (value: unknown): value is Details => typeof value === 'object' && value !== null;

/** What an entry says, in words. Descriptions are left out, because those of devices may name a plate. */
export function wordsOf(details: Details | null, note: string | null, local: LocalTime): string {
  const shown = (value: unknown): string => {
    if (value === null || value === undefined) return 'none';
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(value))
      return local.show(Date.parse(value));
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  const change = (name: string, value: unknown): string[] =>
    isDetails(value) && 'to' in value ? [`${name}: ${shown(value.from)} → ${shown(value.to)}`] : [];
  const { agency, lanes, step, merged, mergedInto, notice, report, writtenAt, ...rest } = details ?? {};
  const parts: string[] = note === null ? [] : [note];
  if (writtenAt !== undefined) parts.push(`written ${shown(writtenAt)}`);
  if (isDetails(step)) parts.push(shown(step.text));
  if (isDetails(report)) parts.push(`${shown(report.number)} (${shown(report.kind)})`);
  if (isDetails(notice)) parts.push(`Notice to ${shown(notice.to)}: ${shown(notice.subject)}`);
  if (isDetails(agency)) {
    parts.push([agency.name, agency.unit].filter((each) => typeof each === 'string').join(' · '));
    parts.push(...agencyTimes.flatMap((name) => change(name.replace(/At$/, ''), agency[name])));
  }
  if (isDetails(lanes) && isDetails(lanes.to) && Array.isArray(lanes.to.lanes)) {
    const states = lanes.to.lanes.map((state, at) => `${at + 1} ${state}`);
    if (lanes.to.shoulder) states.push(`shoulder ${shown(lanes.to.shoulder)}`);
    parts.push(`${shown(lanes.direction)}: ${states.join(', ')}`);
  }
  for (const other of [merged, mergedInto]) if (isDetails(other)) parts.push(shown(other.title));
  for (const [name, value] of Object.entries(rest)) {
    const time = incidentTimes.find((each) => each === name);
    if (name !== 'description') parts.push(...change(time ? codeOfTime(time) : name, value));
  }
  return parts.join('; ');
}

/** The incident; null if it does not exist, which is refused before such a report is made. */
async function find(db: Executor, { filters }: ReportScope): Promise<IncidentRow | null> {
  return filters.incidentId === undefined ? null : findIncidentRow(db, filters.incidentId);
}

async function* rows(
  db: Executor,
  scope: ReportScope,
  audience: NoteAudience = 'INTERNAL',
): AsyncGenerator<Batch> {
  const incident = await find(db, scope);
  const all = incident ? await listTimeline(db, incident.id) : [];
  const entries = all.filter((entry) => isFor(entry, audience));
  const nameOf: NameOf = await findNames(
    db,
    entries.map(({ userId }) => userId),
  );
  const local = createLocalTime(scope.settings);
  yield {
    rows: entries.map(
      ({ at, action, userId, details, note, ...entry }): Row => [
        at,
        actions[action],
        nameOf(userId)?.name ?? 'Automatically',
        wordsOf(details, showsNote({ ...entry, action }, audience) ? note : null, local),
      ],
    ),
    progress: 1,
  };
}

async function summary(db: Executor, scope: ReportScope): Promise<Summary> {
  const incident = await find(db, scope);
  if (!incident) return { figures: [], charts: [] };
  const { times, isFalseAlarm } = await readWork(db, incident);
  const local = createLocalTime(scope.settings);
  const duration = (seconds: number | null): string => (seconds === null ? '–' : formatDuration(seconds));
  return {
    figures: [
      { name: 'Incident', value: incident.title },
      { name: 'Type', value: incident.type },
      { name: 'Severity', value: severityOfRank(incident.severity) ?? '–' },
      { name: 'Status', value: isFalseAlarm ? `${incident.status} (false alarm)` : incident.status },
      { name: 'Opened (T1)', value: local.show(incident.openedAt.getTime()) },
      ...settableTimes.flatMap((name) => {
        const at = times[name];
        return at === undefined ? [] : [{ name: `${codeOfTime(name)} ${name}`, value: local.show(at) }];
      }),
      { name: 'Roadway clearance (T5 − T1)', value: duration(secondsSinceOpening(times, 'lanesOpenAt')) },
      { name: 'Incident clearance (T6 − T1)', value: duration(secondsSinceOpening(times, 'lastLeftAt')) },
    ],
    charts: [],
  };
}

type Entry = Pick<Awaited<ReturnType<typeof listTimeline>>[number], 'action' | 'audience'>;

/** Whether a report for an audience has the text of an entry: of a note for it, or for a wider circle. */
export function showsNote({ action, audience }: Entry, of: NoteAudience): boolean {
  if (of === 'INTERNAL') return true;
  const isNote = action === 'addNote';
  return isNote && noteAudiences.indexOf(audience ?? 'INTERNAL') >= noteAudiences.indexOf(of);
}

/** Whether a report for an audience has an entry: notes only with their text. */
function isFor(entry: Entry, audience: NoteAudience): boolean {
  return entry.action !== 'addNote' || showsNote(entry, audience);
}

/** One incident as a chronology, whatever the range of the report. */
export const chronology: KindOfReport = { title: 'Chronology of an incident', columns, rows, summary };

/** The report with the id as a situation report; the chronology if it is none. */
export async function chronologyOf(db: Executor, reportId: string): Promise<KindOfReport> {
  const situation = await findSituationReport(db, reportId);
  if (!situation) return chronology;
  const { number, kind, audience, createdBy, createdAt, settings } = situation;
  const nameOf = await findNames(db, [createdBy]);
  return {
    ...chronology,
    title: `Situation report ${number} (${kind})`,
    facts: [
      { name: 'For', value: audience },
      { name: 'Made by', value: nameOf(createdBy)?.name ?? '–' },
      { name: 'At', value: createLocalTime(settings).show(createdAt.getTime()) },
    ],
    rows: (from, scope) => rows(from, scope, audience),
  };
}
