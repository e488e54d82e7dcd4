import { byId } from '@gantry/contract/id';
import { changesOnlyOwnIncidents } from '@gantry/contract/incident-states';
import {
  addAgencyInput,
  camerasNear,
  mergeIncidentsInput,
  previewStepNoticeInput,
  rejectFalseInput,
  removeCalledInput,
  reopenStepInput,
  sendStepNoticeInput,
  setFactsInput,
  setLanesInput,
  setPlanInput,
  setTimesInput,
  skipStepInput,
  stepInput,
  stepNotice,
  updateCalledInput,
  verifyIncidentInput,
} from '@gantry/contract/incident-work';
import {
  addNoteInput,
  assignees,
  assignIncidentInput,
  attachEventInput,
  createIncidentInput,
  followIncidentsInput,
  incident,
  incidentDetail,
  incidentMessage,
  incidentStats,
  incidentStatsInput,
  incidentsPage,
  listIncidentsInput,
  moveIncidentInput,
  reopenIncidentInput,
  updateIncidentInput,
} from '@gantry/contract/incidents';
import { permissions } from '@gantry/contract/permissions';
import {
  makeReportInput,
  previewReportInput,
  reportPreview,
  situationReport,
  situationReports,
} from '@gantry/contract/situation-reports';
import { keepNoteImages } from '../images/images.ts';
import { addAgency, removeCalledAgency, updateCalledAgency } from '../incidents/agencies.ts';
import { findCamerasNear } from '../incidents/cameras-store.ts';
import { getIncidentStats } from '../incidents/list-store.ts';
import { mergeIncidents } from '../incidents/merge.ts';
import { listCandidates } from '../incidents/references-store.ts';
import {
  addNote,
  assignIncident,
  attachEvent,
  createIncident,
  findFormerNote,
  followIncidents,
  moveIncident,
  updateIncident,
  viewIncident,
  viewIncidents,
} from '../incidents/service.ts';
import {
  completeStep,
  previewStepNotice,
  reopenStep,
  sendStepNotice,
  setPlan,
  skipStep,
} from '../incidents/steps.ts';
import { getIncidentRow } from '../incidents/store.ts';
import { rejectFalse, setFacts, setLanes, setTimes, verifyIncident } from '../incidents/work.ts';
import { sendLetter } from '../notices/channels.ts';
import { resolveInterval } from '../platform/time.ts';
import { makeSituationReport, previewSituationReport, viewSituationReports } from '../reports/situation.ts';
import { messagesOf } from '../rpc/messages.ts';
import { allowed, pageOf, router } from './procedures.ts';

const permitted = allowed('manageIncidents');

const WHO =
  'Users with the role FIELD can change only incidents that are assigned to them or to nobody (FORBIDDEN). If two people act at the same time, one succeeds and the other receives CONFLICT with the name of the first.';

const UNSEEN =
  'A concurrent change by somebody else is not overwritten: send `expectedUpdatedAt`. Without it, a change that overlaps in time is refused (CONFLICT, with the name of the other person).';

export const incidentsRouter = router({
  getAll: permitted
    .meta({ question: true, summary: 'List incidents' })
    .input(listIncidentsInput)
    .output(incidentsPage)
    .query(async ({ ctx, input }) => pageOf('incidents', await viewIncidents(ctx, input), input.take)),

  getById: permitted
    .meta({ summary: 'Get one incident with its events and timeline' })
    .input(byId)
    .output(incidentDetail)
    .query(({ ctx, input }) => viewIncident(ctx, input.id)),

  getStats: permitted
    .meta({
      question: true,
      summary: 'Count incidents, and measure how long it takes to act on them',
      notes: 'The range applies to the time at which incidents were opened.',
    })
    .input(incidentStatsInput)
    .output(incidentStats)
    .query(({ ctx: { app }, input }) =>
      getIncidentStats(app.db, resolveInterval(input, app.settings.current().timezone), input),
    ),

  getCameras: permitted
    .meta({
      summary: 'List the cameras within 1 km of an incident, with their newest images',
      notes:
        'At most 4: those of the direction of its location first, then the nearest. A camera is a sensor of the type CAMERA that has coordinates, or whose location has.',
    })
    .input(byId)
    .output(camerasNear)
    .query(async ({ ctx: { app }, input }) => ({
      cameras: await findCamerasNear(app.db, await getIncidentRow(app.db, input.id), app.clock.now()),
    })),

  getAssignees: permitted
    .meta({ summary: 'List the users to whom the caller can assign incidents' })
    .output(assignees)
    .query(async ({ ctx: { app, actor } }) => {
      const only = changesOnlyOwnIncidents(actor.role) ? actor.id : null;
      return { assignees: await listCandidates(app.db, permissions.manageIncidents, only) };
    }),

  onChanged: permitted
    .meta({ summary: 'Stream changes of incidents', message: incidentMessage })
    .input(followIncidentsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('change', followIncidents(ctx, input, signal))),

  create: permitted
    .meta({
      summary: 'Open an incident',
      notes:
        'Users with the role FIELD can assign it only to themselves or to nobody. Events of type INCIDENT open incidents automatically.',
    })
    .input(createIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => createIncident(ctx, input)),

  update: permitted
    .meta({
      summary: 'Change the fields of an incident',
      notes: `Only the given fields change; \`null\` clears a field. A CLOSED incident cannot be changed. ${WHO} ${UNSEEN}`,
    })
    .input(updateIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => updateIncident(ctx, input)),

  acknowledge: permitted
    .meta({ summary: 'Acknowledge an incident: OPEN → ACKNOWLEDGED', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => moveIncident(ctx, 'acknowledge', input)),

  assign: permitted
    .meta({
      summary: 'Assign an incident to a user, or to nobody',
      notes: `The user must be active and have the permission Manage Incidents; users with the role FIELD can assign only to themselves or to nobody. A resolved or closed incident cannot be assigned. ${WHO} ${UNSEEN}`,
    })
    .input(assignIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => assignIncident(ctx, input)),

  start: permitted
    .meta({ summary: 'Start work on an incident: ACKNOWLEDGED → IN_PROGRESS', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => moveIncident(ctx, 'start', input)),

  resolve: permitted
    .meta({ summary: 'Resolve an incident, because the road is clear: IN_PROGRESS → RESOLVED', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => moveIncident(ctx, 'resolve', input)),

  close: permitted
    .meta({ summary: 'Close an incident: RESOLVED → CLOSED', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => moveIncident(ctx, 'close', input)),

  reopen: permitted
    .meta({
      summary: 'Reopen an incident: RESOLVED or CLOSED → OPEN',
      notes: `The note gives the reason. \`acknowledgedAt\` remains the time of the first acknowledgement. ${WHO}`,
    })
    .input(reopenIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => moveIncident(ctx, 'reopen', input)),

  addNote: permitted
    .meta({
      summary: 'Add a note, with up to 5 images, to an incident in any state',
      notes: `The images are stored before the answer, and kept as long as the incident. The timeline has their addresses in \`details.images\`; every user can read them there. On SERVICE_UNAVAILABLE (503), wait for \`Retry-After\` and send the note again. With an \`idempotencyKey\`, it is added once even if an answer was lost. ${WHO}`,
    })
    .input(addNoteInput)
    .output(incident)
    .mutation(async ({ ctx, input: { images, ...input } }) => {
      const former = images.length > 0 ? await findFormerNote(ctx, input) : null;
      return former ?? addNote(ctx, { ...input, images: await keepNoteImages(ctx.app.images, images) });
    }),

  attachEvent: permitted
    .meta({
      summary: 'Attach an event to an incident',
      notes: `Attaching an event again succeeds and changes nothing. Events cannot be attached to a CLOSED incident. ${WHO}`,
    })
    .input(attachEventInput)
    .output(incident)
    .mutation(({ ctx, input }) => attachEvent(ctx, input)),

  verify: permitted
    .meta({
      summary: 'Record that an incident was verified (T2)',
      notes: `The state stays. An incident that was verified before stays as it is; \`incidents.setTimes\` corrects the time. ${WHO}`,
    })
    .input(verifyIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => verifyIncident(ctx, input)),

  rejectFalse: permitted
    .meta({
      summary: 'Reject an incident as a false alarm: OPEN, ACKNOWLEDGED or IN_PROGRESS → CLOSED',
      notes: `False alarms are in no figures of performance, and are counted by sensor. \`incidents.reopen\` takes it back. ${WHO}`,
    })
    .input(rejectFalseInput)
    .output(incident)
    .mutation(({ ctx, input }) => rejectFalse(ctx, input)),

  setTimes: permitted
    .meta({
      summary: 'Set or correct the times of an incident',
      notes: `Only the given times change, in any state. What is set precedes what is derived: T1 is the opening; T5 is when the last lane was opened that \`incidents.setLanes\` said was not. Times must be in order, T0 ≤ T1 ≤ … ≤ T7 (BAD_REQUEST, with the names of two that are not). Each correction stays in the timeline. ${WHO}`,
    })
    .input(setTimesInput)
    .output(incident)
    .mutation(({ ctx, input }) => setTimes(ctx, input)),

  setLanes: permitted
    .meta({
      summary: 'Record how the lanes of a carriageway are',
      notes: `Earlier states are kept. \`lanesBlocked\` becomes the number of closed lanes. The same states again change nothing. ${WHO}`,
    })
    .input(setLanesInput)
    .output(incident)
    .mutation(({ ctx, input }) => setLanes(ctx, input)),

  setFacts: permitted
    .meta({
      summary:
        'Record facts of an incident: injuries, hazardous materials, and of which incident it is a consequence',
      notes: `Only the given facts change, in any state; null says that a fact is not known. ${WHO}`,
    })
    .input(setFactsInput)
    .output(incident)
    .mutation(({ ctx, input }) => setFacts(ctx, input)),

  addAgency: permitted
    .meta({
      summary: 'Call an agency, or one of its units, to an incident',
      notes: `T3 and T4 are derived from the first unit that was dispatched and that arrived, T6 from the last that left. This notifies nobody. ${WHO}`,
    })
    .input(addAgencyInput)
    .output(incident)
    .mutation(({ ctx, input }) => addAgency(ctx, input)),

  updateAgency: permitted
    .meta({
      summary: 'Set when a unit was notified, dispatched, arrived and left',
      notes: `Only the given fields change; null clears a time. Times in the wrong order are refused, with both (BAD_REQUEST). ${WHO}`,
    })
    .input(updateCalledInput)
    .output(incident)
    .mutation(({ ctx, input }) => updateCalledAgency(ctx, input)),

  removeAgency: permitted
    .meta({ summary: 'Remove a unit that was called by mistake', notes: WHO })
    .input(removeCalledInput)
    .output(incident)
    .mutation(({ ctx, input }) => removeCalledAgency(ctx, input)),

  merge: permitted
    .meta({
      summary: 'Merge an incident into another one that is about the same',
      notes: `Its events, notes, images and agencies move to the other one, which is returned. It is closed, stays readable, and \`work.mergedInto\` points to the other one. It cannot be taken back. ${WHO}`,
    })
    .input(mergeIncidentsInput)
    .output(incident)
    .mutation(({ ctx, input }) => mergeIncidents(ctx, input)),

  setPlan: permitted
    .meta({
      summary: 'Give an incident another response plan, or none',
      notes: `The incident gets the present version, whose steps are open unless they were done in it. ${WHO}`,
    })
    .input(setPlanInput)
    .output(incident)
    .mutation(({ ctx, input }) => setPlan(ctx, input)),

  completeStep: permitted
    .meta({
      summary: 'Record that a step of the response plan is done',
      notes: `A step of the kind RECORD_TIME sets its time to now, unless somebody has set it. ${WHO}`,
    })
    .input(stepInput)
    .output(incident)
    .mutation(({ ctx, input }) => completeStep(ctx, input)),

  skipStep: permitted
    .meta({ summary: 'Record why a step of the response plan is not done', notes: WHO })
    .input(skipStepInput)
    .output(incident)
    .mutation(({ ctx, input }) => skipStep(ctx, input)),

  reopenStep: permitted
    .meta({
      summary: 'Open a step of the response plan again that was done or skipped by mistake',
      notes: `The reason stays in the timeline. A time that the step set is taken back, unless somebody has set another one since; a notice that was sent stays sent. ${WHO}`,
    })
    .input(reopenStepInput)
    .output(incident)
    .mutation(({ ctx, input }) => reopenStep(ctx, input)),

  getReports: permitted
    .meta({ summary: 'List the situation reports of an incident, newest first' })
    .input(byId)
    .output(situationReports)
    .query(async ({ ctx, input }) => ({ reports: await viewSituationReports(ctx, input.id) })),

  getReportPreview: permitted
    .meta({ summary: 'Get what a situation report would have, and to whom it could be sent' })
    .input(previewReportInput)
    .output(reportPreview)
    .query(({ ctx, input }) => previewSituationReport(ctx, input)),

  makeReport: permitted
    .meta({
      summary: 'Make a situation report of an incident, and send it',
      notes: `The reports of an incident are numbered and kept as long as it, with who made them when and for whom, and the hash of the file (PDF): the chronology of the incident at that time. One for PARTNERS or PUBLIC has only notes for that circle or a wider one, and no reasons. It is sent by e-mail with the given subject and text once it is made; nothing is sent without \`to\`. It requires the permission Generate Reports, too. ${WHO}`,
    })
    .input(makeReportInput)
    .output(situationReport)
    .mutation(({ ctx, input }) => makeSituationReport(ctx, input)),

  getStepNotice: permitted
    .meta({ summary: 'Get what a NOTIFY step would send, and to whom' })
    .input(previewStepNoticeInput)
    .output(stepNotice)
    .query(({ ctx, input }) => previewStepNotice(ctx, input)),

  sendStepNotice: permitted
    .meta({
      summary: 'Send the notice of a NOTIFY step, and complete the step',
      notes: `It is sent by the first enabled channel for e-mail, with the given subject and text, and is in \`notices.getAll\` with the kind PLAN. Of two who send it at once, one does. ${WHO}`,
    })
    .input(sendStepNoticeInput)
    .output(incident)
    .mutation(({ ctx, input }) =>
      sendStepNotice(ctx, input, (tx, letter) => sendLetter(ctx.app, tx, letter)),
    ),
});
