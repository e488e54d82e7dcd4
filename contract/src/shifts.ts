import { z } from 'zod';
import { alarmSource } from './alarm-rules.ts';
import { severity } from './events.ts';
import { faultState } from './faults.ts';
import { id, storedId } from './id.ts';
import { incidentStatus, incidentType } from './incidents.ts';
import { DEFAULT_DESK, desk, logEntry } from './log.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { optionalText, trimmedText } from './text.ts';
import { sensorStatuses, shiftStates } from './values.ts';
import { worksWindow } from './works.ts';

// The shifts of the control room, and what one hands over to the next.

export const shiftState = z
  .enum(shiftStates)
  .describe('HANDED_OVER: it waits for another person who accepts it.');
export type ShiftState = z.infer<typeof shiftState>;

/** Maximum number of people of a shift besides its lead. */
export const MAX_SHIFT_MEMBERS = 20;
/** How far ahead a hand-over looks for planned works, in hours. */
export const WORKS_AHEAD_HOURS = 12;
/** Maximum number of items of each kind that a hand-over lists. */
export const MAX_HANDED_OVER = 100;

const members = z
  .array(storedId)
  .max(MAX_SHIFT_MEMBERS, `Name at most ${MAX_SHIFT_MEMBERS} users`)
  .default([])
  .describe('The ids of those who are on duty with you.');

export const startShiftInput = z
  .object({ desk: desk.default(DEFAULT_DESK), memberIds: members })
  .prefault({});
export type StartShiftInput = z.infer<typeof startShiftInput>;
export const handOverShiftInput = z.object({
  id,
  remarks: optionalText(4_000).describe('What the next shift should know besides.'),
});
export type HandOverShiftInput = z.infer<typeof handOverShiftInput>;
export const acceptShiftInput = z.object({ id, memberIds: members });
export type AcceptShiftInput = z.infer<typeof acceptShiftInput>;
export const closeShiftInput = z.object({ id, reason: trimmedText(500, 1) });
export type CloseShiftInput = z.infer<typeof closeShiftInput>;

const total = z.number().describe('Number of all, of which some may not be listed.');
const listed = <Item extends z.ZodType>(item: Item) =>
  z.object({ total, items: z.array(item).describe(`At most ${MAX_HANDED_OVER}.`) });

/** What a shift hands over. It has no plates. */
export const shiftSummary = z.object({
  at: z.date(),
  incidents: listed(
    z.object({
      id: z.string(),
      title: z.string(),
      type: incidentType,
      severity,
      status: incidentStatus,
      openedAt: z.date(),
      place: z.string().nullable(),
      assignedTo: person.nullable(),
      note: z
        .object({ text: z.string(), by: person.nullable(), at: z.date() })
        .nullable()
        .describe('The last note.'),
    }),
  ).describe('Incidents that are neither resolved nor closed, the most urgent first.'),
  hits: listed(
    z.object({
      hotlistId: z.string(),
      name: z.string(),
      count: z.number().describe('Number of hits.'),
      oldestAt: z.date(),
    }),
  ).describe('Hits that wait for a decision, by hotlist, without those of covert lists.'),
  alarms: listed(
    z.object({
      id: z.string(),
      ruleName: z.string(),
      source: alarmSource,
      severity,
      text: z.string(),
      place: z.string().nullable(),
      firedAt: z.date(),
      acknowledgedBy: person.nullable(),
      isSilenced: z.boolean(),
    }),
  ).describe('Alarms that are firing, the most urgent first, also those that are silenced.'),
  sensors: listed(
    z.object({
      id: z.string(),
      name: z.string(),
      status: z.enum(sensorStatuses),
      since: z.date(),
      place: z.string().nullable(),
      fault: z
        .object({
          state: faultState,
          since: z.date(),
          text: z.string(),
          code: z.string().nullable(),
          ticket: z.string().nullable(),
        })
        .nullish()
        .describe('Of its faults that are not repaired, the one that was found first.'),
    }),
  ).describe(
    'Sensors that do not work, are in maintenance or have a fault that is not repaired, the worst first, as in `sensors.getFleet`.',
  ),
  works: listed(worksWindow)
    .optional()
    .describe(
      `Planned works that are in force or begin within ${WORKS_AHEAD_HOURS} h. Not in what was handed over before there were any.`,
    ),
  instructions: listed(logEntry).describe('Instructions that are valid, the newest first.'),
});
export type ShiftSummary = z.infer<typeof shiftSummary>;

export const shift = z.object({
  id: z.string(),
  desk: z.string(),
  state: shiftState,
  lead: person,
  members: z.array(person),
  startedAt: z.date(),
  handedOverAt: z.date().nullable(),
  handedOverBy: person.nullable(),
  remarks: z.string().nullable(),
  endedAt: z.date().nullable(),
  acceptedBy: person.nullable().describe('Who took over.'),
  closedBy: person.nullable().describe('The administrator who closed it although nobody took over.'),
  closeReason: z.string().nullable(),
  previousId: z.string().nullable().describe('The shift from which it took over.'),
});
export type Shift = z.infer<typeof shift>;

export const shiftDetail = shift.extend({
  summary: shiftSummary.nullable().describe('What was handed over. It never changes.'),
  entries: z.number().describe('Number of entries in the log.'),
});
export type ShiftDetail = z.infer<typeof shiftDetail>;

export const preparedShift = z.object({ shift, summary: shiftSummary });

export const listShiftsInput = z
  .object({ ...paging(50), desk: desk.optional(), state: shiftState.optional() })
  .prefault({});
export type ListShiftsInput = z.infer<typeof listShiftsInput>;
export const shiftsPage = z.object({ shifts: z.array(shift), ...pageTotals });
