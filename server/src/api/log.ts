import { byId } from '@gantry/contract/id';
import {
  addLogEntryInput,
  correctLogEntryInput,
  followLogInput,
  listLogInput,
  logEntry,
  logMessage,
  logPage,
} from '@gantry/contract/log';
import {
  acceptShiftInput,
  closeShiftInput,
  handOverShiftInput,
  listShiftsInput,
  preparedShift,
  shiftDetail,
  shiftsPage,
  startShiftInput,
} from '@gantry/contract/shifts';
import { addEntry, correctEntry, followLog, readLog } from '../logbook/service.ts';
import {
  acceptShift,
  closeShift,
  getShiftDetail,
  handOverShift,
  prepareShift,
  startShift,
} from '../logbook/shifts.ts';
import { listShifts } from '../logbook/shifts-store.ts';
import { getEntry } from '../logbook/store.ts';
import { messagesOf } from '../rpc/messages.ts';
import { allowed, allowedPerson, pageOf, router } from './procedures.ts';

export const logRouter = router({
  getAll: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'List the entries of the log of the control room, newest first',
      notes:
        'Pages follow each other by `before`, so that the last of a million entries is found as fast as the first. `startDate` and `endDate` apply to `at`.',
    })
    .input(listLogInput)
    .output(logPage)
    .query(({ ctx, input }) => readLog(ctx, input)),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one entry of the log' })
    .input(byId)
    .output(logEntry)
    .query(({ ctx, input }) => getEntry(ctx.app.db, input.id)),

  add: allowed('manageIncidents')
    .meta({
      summary: 'Add an entry to the log',
      notes:
        'It is never changed, and not deleted before the retention of the log: correct it by another one.',
    })
    .input(addLogEntryInput)
    .output(logEntry)
    .mutation(({ ctx, input }) => addEntry(ctx, input)),

  correct: allowed('manageIncidents')
    .meta({
      summary: 'Correct an entry by another one that stands in its place',
      notes:
        'The former entry stays. What is not given is that of the former entry. If two people correct an entry at the same time, one succeeds and the other receives CONFLICT with the name of the first.',
    })
    .input(correctLogEntryInput)
    .output(logEntry)
    .mutation(({ ctx, input }) => correctEntry(ctx, input)),

  onAdded: allowed('manageIncidents')
    .meta({ summary: 'Stream entries of the log as they are added', message: logMessage })
    .input(followLogInput)
    .subscription(({ ctx, input, signal }) => messagesOf('entry', followLog(ctx, input, signal))),
});

export const shiftsRouter = router({
  getAll: allowed('manageIncidents')
    .meta({ question: true, summary: 'List shifts, newest first' })
    .input(listShiftsInput)
    .output(shiftsPage)
    .query(async ({ ctx: { app }, input }) => pageOf('shifts', await listShifts(app.db, input), input.take)),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one shift, with what it handed over' })
    .input(byId)
    .output(shiftDetail)
    .query(({ ctx, input }) => getShiftDetail(ctx.app.db, input.id)),

  start: allowedPerson('manageIncidents')
    .meta({
      summary: 'Start a shift that you lead',
      notes: 'CONFLICT while the shift of the desk has not ended. shifts.accept takes it over.',
    })
    .input(startShiftInput)
    .output(shiftDetail)
    .mutation(({ ctx, input }) => startShift(ctx, input)),

  prepare: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'Get what a shift would hand over now',
      notes: 'CONFLICT if it was handed over already.',
    })
    .input(byId)
    .output(preparedShift)
    .query(({ ctx, input }) => prepareShift(ctx, input.id)),

  handOver: allowedPerson('manageIncidents')
    .meta({
      summary: 'Hand a shift over',
      notes:
        'What is open then is stored with it, and never changes. The shift ends when another person accepts it; until then, an alarm rule about HANDOVER can tell others.',
    })
    .input(handOverShiftInput)
    .output(shiftDetail)
    .mutation(({ ctx, input }) => handOverShift(ctx, input)),

  accept: allowedPerson('manageIncidents')
    .meta({
      summary: 'Accept what a shift handed over',
      notes:
        'It ends, and a shift that you lead begins, which is the answer. FORBIDDEN for who handed it over. If two people accept it at the same time, one succeeds and the other receives CONFLICT with the name of the first.',
    })
    .input(acceptShiftInput)
    .output(shiftDetail)
    .mutation(({ ctx, input }) => acceptShift(ctx, input)),

  close: allowedPerson('systemSettings')
    .meta({ summary: 'End a shift that nobody takes over, for a reason' })
    .input(closeShiftInput)
    .output(shiftDetail)
    .mutation(({ ctx, input }) => closeShift(ctx, input)),
});
