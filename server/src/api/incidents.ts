import { byId } from '@gantry/contract/id';
import {
  addNoteInput,
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
import { pageCount } from '@gantry/contract/page';
import { followIncidents } from '../incidents/follow.ts';
import { getIncidentStats } from '../incidents/list-store.ts';
import {
  assignIncident,
  attachEvent,
  createIncident,
  takeStep,
  updateIncident,
} from '../incidents/service.ts';
import { viewIncident, viewIncidents } from '../incidents/view.ts';
import { resolveInterval } from '../platform/time.ts';
import { messagesOf } from '../rpc/messages.ts';
import { allowed, router } from './procedures.ts';

const permitted = allowed('manageIncidents');

const WHO =
  'FIELD changes only what is assigned to them or to nobody (FORBIDDEN). Of two people at once one wins, and the other is told who (CONFLICT).';

const UNSEEN =
  'What somebody else did meanwhile is not overwritten: send `expectedUpdatedAt`, or without it whatever overlaps in time is refused (CONFLICT, with their name).';

export const incidentsRouter = router({
  getAll: permitted
    .meta({ question: true, summary: 'Incidents, page by page' })
    .input(listIncidentsInput)
    .output(incidentsPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await viewIncidents(ctx, input);
      return { incidents: items, total, pageCount: pageCount(total, input.take) };
    }),

  getById: permitted
    .meta({ summary: 'One incident with its events and who did what about it' })
    .input(byId)
    .output(incidentDetail)
    .query(({ ctx, input }) => viewIncident(ctx, input.id)),

  getStats: permitted
    .meta({
      question: true,
      summary: 'Count incidents, and how long it takes to act upon them',
      notes: 'The range is that of their opening.',
    })
    .input(incidentStatsInput)
    .output(incidentStats)
    .query(({ ctx: { app }, input }) =>
      getIncidentStats(app.db, resolveInterval(input, app.settings.current().timezone)),
    ),

  onChanged: permitted
    .meta({ summary: 'What is done about incidents, as it is done', message: incidentMessage })
    .input(followIncidentsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('change', followIncidents(ctx, input, signal))),

  create: permitted
    .meta({
      summary: 'Open an incident',
      notes:
        'FIELD assigns it to themselves or to nobody. Events of type INCIDENT open incidents by themselves.',
    })
    .input(createIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => createIncident(ctx, input)),

  update: permitted
    .meta({
      summary: 'Change what is said of an incident',
      notes: `Only the given fields change; \`null\` clears one. Not once it is CLOSED. ${WHO} ${UNSEEN}`,
    })
    .input(updateIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => updateIncident(ctx, input)),

  acknowledge: permitted
    .meta({ summary: 'Say that somebody saw it: OPEN → ACKNOWLEDGED', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => takeStep(ctx, 'acknowledge', input)),

  assign: permitted
    .meta({
      summary: 'Give an incident to somebody, or to nobody',
      notes: `To an active user who may manage incidents; by FIELD to themselves or to nobody. Not once it is resolved. ${WHO} ${UNSEEN}`,
    })
    .input(assignIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => assignIncident(ctx, input)),

  start: permitted
    .meta({ summary: 'Say that work has begun: ACKNOWLEDGED → IN_PROGRESS', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => takeStep(ctx, 'start', input)),

  resolve: permitted
    .meta({ summary: 'Say that the road is clear: IN_PROGRESS → RESOLVED', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => takeStep(ctx, 'resolve', input)),

  close: permitted
    .meta({ summary: 'Put it away: RESOLVED → CLOSED', notes: WHO })
    .input(moveIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => takeStep(ctx, 'close', input)),

  reopen: permitted
    .meta({
      summary: 'Take it up again: RESOLVED or CLOSED → OPEN',
      notes: `The note says why. \`acknowledgedAt\` stays that of the first time. ${WHO}`,
    })
    .input(reopenIncidentInput)
    .output(incident)
    .mutation(({ ctx, input }) => takeStep(ctx, 'reopen', input)),

  addNote: permitted
    .meta({ summary: 'Note something, in whatever state it is', notes: WHO })
    .input(addNoteInput)
    .output(incident)
    .mutation(({ ctx, input }) => takeStep(ctx, 'addNote', input)),

  attachEvent: permitted
    .meta({
      summary: 'Say that an event belongs to an incident',
      notes: `Attaching it again changes nothing and succeeds. Not once it is CLOSED. ${WHO}`,
    })
    .input(attachEventInput)
    .output(incident)
    .mutation(({ ctx, input }) => attachEvent(ctx, input)),
});
