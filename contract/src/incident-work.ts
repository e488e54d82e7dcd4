import { z } from 'zod';
import { id } from './id.ts';
import {
  agencyKinds,
  incidentTimes,
  injuries,
  laneStates,
  noteAudiences,
  settableTimes,
} from './incident-states.ts';
import { MAX_LANES } from './movements.ts';
import { person } from './person.ts';
import { planStep } from './plan-steps.ts';
import { showsPlate } from './plate-fields.ts';
import { editableText, optionalText, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { pointDirections, sensorStatuses } from './values.ts';

// What is recorded while an incident is worked on: times, lanes and facts.

const ORDER =
  'T0 to T7 of traffic incident management (FHWA): occurredAt, openedAt, verifiedAt, dispatchedAt, arrivedAt, lanesOpenAt, lastLeftAt, normalAt.';

export const incidentTimeEntry = z.object({
  name: z.enum(incidentTimes).describe(ORDER),
  at: z.date().nullable().describe('null while it is not known.'),
  source: z
    .enum(['SET', 'DERIVED'])
    .nullable()
    .describe('SET: a person said so. DERIVED: from the opening, the states of lanes, or the agencies.'),
  conflict: z
    .object({ at: z.date(), other: z.enum(incidentTimes) })
    .nullable()
    .describe(
      'A time that could be derived but is not taken, because it would not be in order with the other one.',
    ),
});
export type IncidentTimeEntry = z.infer<typeof incidentTimeEntry>;

export const laneState = z
  .enum(laneStates)
  .describe('SHIFTED: vehicles pass, but not on the lane itself. It is not open for the time T5.');
const shoulderState = laneState
  .nullable()
  .describe('null: there is no hard shoulder, or nothing is said of it.');
const carriageway = z.enum(pointDirections, `Use ${pointDirections.join(', ')}`);

const laneEntry = z.object({
  direction: carriageway,
  lanes: z.array(laneState).describe('From the median to the outside.'),
  shoulder: shoulderState,
  at: z.date().describe('Since when.'),
  by: person.nullable(),
});
export type LaneEntry = z.infer<typeof laneEntry>;

export const noteAudience = z
  .enum(noteAudiences)
  .describe('INTERNAL: the control room. PARTNERS: agencies, too. PUBLIC: everybody.');
export type NoteAudience = z.infer<typeof noteAudience>;

/** Another incident, as an incident refers to it. */
export const incidentLink = z.object({ id: z.string(), title: z.string() });

export const incidentFacts = z.object({
  injured: z.enum(injuries).nullable().describe('The worst injury; null while it is not known.'),
  hazardous: z.boolean().nullable().describe('Whether hazardous materials are involved.'),
  heavyVehicle: z.boolean().nullable().describe('Whether a lorry or a bus is involved.'),
  responderStruck: z.boolean().nullable().describe('Whether a responder or their vehicle was struck.'),
});
export type IncidentFacts = z.infer<typeof incidentFacts>;

/** Maximum number of units that are called to one incident. */
export const MAX_CALLED_AGENCIES = 50;

const calledAgency = z.object({
  id: z.string().describe('The id of this entry, as `entryId` of incidents.updateAgency.'),
  agencyId: z.string().nullable().describe('null if the agency was deleted.'),
  name: z.string(),
  kind: z.enum(agencyKinds),
  unit: z.string().nullable(),
  phone: z.string().nullable().describe('That of the agency as it is now.'),
  notifiedAt: z.date().nullable(),
  dispatchedAt: z.date().nullable(),
  arrivedAt: z.date().nullable(),
  leftAt: z.date().nullable(),
});
export type CalledAgency = z.infer<typeof calledAgency>;

/** Maximum number of changes of lanes in one answer. */
export const MAX_LANE_HISTORY = 200;

export const incidentWork = incidentFacts.extend({
  times: z.array(incidentTimeEntry).length(incidentTimes.length).describe(ORDER),
  roadwayClearance: z
    .number()
    .nullable()
    .describe('Seconds from T1 until all lanes were open (T5); null while one of them is not known.'),
  incidentClearance: z
    .number()
    .nullable()
    .describe('Seconds from T1 until the last responder left (T6); null while one of them is not known.'),
  isFalseAlarm: z.boolean().describe('Whether `incidents.rejectFalse` closed it. It is in no figures.'),
  lanes: z.array(laneEntry).describe('How the lanes are, by direction.'),
  laneHistory: z
    .array(laneEntry)
    .describe(`How they were, oldest first: the last ${MAX_LANE_HISTORY} changes.`),
  agencies: z.array(calledAgency).describe('The agencies that were called, in that order.'),
  plan: z
    .object({
      planId: z.string(),
      version: z.number().describe('The version that the incident got; later ones do not change it.'),
      name: z.string(),
      steps: z.array(
        planStep.extend({
          state: z.enum(['OPEN', 'DONE', 'SKIPPED']),
          reason: z.string().nullable().describe('Why it was skipped.'),
          by: person.nullable(),
          at: z.date().nullable(),
          dueAt: z.date().nullable(),
        }),
      ),
    })
    .nullable()
    .describe('The response plan; null if there is none.'),
  mergedInto: incidentLink
    .nullable()
    .describe('The incident into which this one was merged. It has the events, notes, images and agencies.'),
  mergedFrom: z.array(incidentLink).describe('Incidents that were merged into this one, at most 50.'),
  secondaryOf: incidentLink.nullable().describe('The incident of which this one is a consequence.'),
  secondaries: z.array(incidentLink).describe('Incidents that are a consequence of this one, at most 50.'),
});
export type IncidentWork = z.infer<typeof incidentWork>;

const USE_ISO_OR_NOW = 'Use an ISO 8601 date or time, such as 2026-01-31T08:15:00Z, or now';
const SET_TIME =
  'An ISO 8601 time, or `now` for the time of the service. Not after now, and in order: a time that comes before an earlier one is refused. null takes back what was set; then the time is derived again.';
const settable = z
  .union([z.literal('now'), timeInput], USE_ISO_OR_NOW)
  .nullable()
  .optional()
  .describe(SET_TIME);

export const setTimesInput = z
  .object({
    id,
    occurredAt: settable,
    verifiedAt: settable,
    dispatchedAt: settable,
    arrivedAt: settable,
    lanesOpenAt: settable,
    lastLeftAt: settable,
    normalAt: settable,
    note: optionalText(2000).describe('Why, for example when a time is corrected.'),
    ifUnknown: z
      .boolean()
      .default(false)
      .describe(
        'true: sets only those of the given times that are not known yet, and is no error for the others. Then a time that is ahead by less than a minute is now.',
      ),
  })
  .refine((input) => settableTimes.some((time) => input[time] !== undefined), {
    message: `Give at least one of ${settableTimes.join(', ')}`,
    path: ['occurredAt'],
  });
export type SetTimesInput = z.infer<typeof setTimesInput>;

export const verifyIncidentInput = z.object({
  id,
  at: timeInput.optional().describe('When it was verified (T2). By default, now.'),
  note: optionalText(2000),
});
export type VerifyIncidentInput = z.infer<typeof verifyIncidentInput>;

export const rejectFalseInput = z.object({
  id,
  reason: trimmedText(2000, 1).describe('What it was instead, or how it is known that there is nothing.'),
});

const LANES = `Give the state of 1 to ${MAX_LANES} lanes`;
export const setLanesInput = z.object({
  id,
  direction: carriageway.describe('The direction of travel of the carriageway.'),
  lanes: z
    .array(laneState)
    .min(1, LANES)
    .max(MAX_LANES, LANES)
    .describe('The state of every lane, from the median to the outside.'),
  shoulder: shoulderState.optional().transform((value) => value ?? null),
  at: timeInput
    .optional()
    .describe('Since when, not after now and not before the last change. By default, now.'),
  note: optionalText(2000),
});
export type SetLanesInput = z.infer<typeof setLanesInput>;

const cameraNear = z.object({
  sensorId: z.string(),
  name: z.string(),
  status: z.enum(sensorStatuses),
  direction: z.string().nullable(),
  distance: z.number().describe('Metres.'),
  image: showsPlate(
    'empty',
    z
      .object({
        eventId: z.string(),
        address: z.string().describe('As in `images` of events.'),
        at: z.date(),
      })
      .nullable()
      .describe('The newest image of its events, not older than ten minutes; null if there is none.'),
  ),
});
export type CameraNear = z.infer<typeof cameraNear>;
export const camerasNear = z.object({ cameras: z.array(cameraNear) });

export const setPlanInput = z.object({ id, planId: id.nullable().describe('null for none.') });

const stepKey = z.string().min(1).max(40).describe('The key of a step of `work.plan`.');
export const stepInput = z.object({ id, key: stepKey, note: optionalText(2000) });
export type StepInput = z.infer<typeof stepInput>;
export const skipStepInput = z.object({ id, key: stepKey, reason: trimmedText(500, 1) });
export const reopenStepInput = skipStepInput;
export const previewStepNoticeInput = z.object({ id, key: stepKey });

export const stepNotice = z.object({
  agency: z.string(),
  to: z.string().describe('The e-mail address of the agency.'),
  subject: z.string(),
  text: z.string(),
});
export type StepNotice = z.infer<typeof stepNotice>;

export const sendStepNoticeInput = z.object({
  id,
  key: stepKey,
  to: z
    .string()
    .min(1)
    .max(320)
    .describe('The address as it was shown; if it has changed since, nothing is sent (CONFLICT).'),
  subject: trimmedText(200, 1),
  text: trimmedText(5000, 1),
});

export const mergeIncidentsInput = z.object({
  id: id.describe('The incident that is merged into the other one, and closed.'),
  into: id.describe('The incident that stays.'),
});
export type MergeIncidentsInput = z.infer<typeof mergeIncidentsInput>;

export const setFactsInput = z.object({
  id,
  injured: z.enum(injuries).nullable().optional().describe('The worst injury.'),
  hazardous: z.boolean().nullable().optional().describe('Whether hazardous materials are involved.'),
  heavyVehicle: z.boolean().nullable().optional().describe('Whether a lorry or a bus is involved.'),
  responderStruck: z
    .boolean()
    .nullable()
    .optional()
    .describe('Whether a responder or their vehicle was struck.'),
  secondaryOf: id
    .nullable()
    .optional()
    .describe(
      'The incident of which this one is a consequence, such as a crash in the queue; null for none.',
    ),
});
export type SetFactsInput = z.infer<typeof setFactsInput>;

const unit = optionalText(50).describe('The name of the unit, such as its call sign.');
const agencyTime = z
  .union([z.literal('now'), timeInput], USE_ISO_OR_NOW)
  .nullable()
  .optional()
  .describe('An ISO 8601 time not after now, or `now`. The times of a unit must be in order.');
const timesOfAgency = {
  notifiedAt: agencyTime,
  dispatchedAt: agencyTime,
  arrivedAt: agencyTime,
  leftAt: agencyTime,
};

export const addAgencyInput = z.object({ id, agencyId: id, unit, ...timesOfAgency });
export type AddAgencyInput = z.infer<typeof addAgencyInput>;

const entryId = id.describe('The id of the entry in `work.agencies` of incidents.getById.');
export const updateCalledInput = z.object({
  id,
  entryId,
  unit: editableText(50).describe('The name of the unit, such as its call sign.'),
  ...timesOfAgency,
});
export type UpdateCalledInput = z.infer<typeof updateCalledInput>;

export const removeCalledInput = z.object({ id, entryId });

const clearance = z.object({
  count: z.number().describe('Number of incidents of which it is known.'),
  median: z.number().nullable().describe('Seconds; null if it is not known of any.'),
  percentile90: z.number().nullable().describe('Seconds; null if it is not known of any.'),
});

const performanceFigures = z.object({
  incidents: z.number().describe('Number of incidents, without false alarms.'),
  roadwayClearance: clearance.describe(
    'T5 − T1. Percentiles are interpolated linearly, as those of speeds are.',
  ),
  incidentClearance: clearance.describe('T6 − T1.'),
});
export type PerformanceFigures = z.infer<typeof performanceFigures>;

/** Maximum number of roads, and of sensors, in the figures. */
export const MAX_PERFORMANCE_ROWS = 100;

/** What `incidents.getStats` says of performance. @param type, severity the schemas of the contract */
export function incidentPerformance<Type extends z.ZodType, Severity extends z.ZodType>(
  type: Type,
  severity: Severity,
) {
  return z.object({
    overall: performanceFigures,
    byType: z.array(performanceFigures.extend({ type })),
    bySeverity: z.array(performanceFigures.extend({ severity })),
    byRoad: z
      .array(performanceFigures.extend({ road: z.string().nullable().describe('null: no road is known.') }))
      .describe(
        `By the road of the location, those with most incidents first, at most ${MAX_PERFORMANCE_ROWS}.`,
      ),
    falseAlarms: z.object({
      total: z.number().describe('Number of false alarms.'),
      bySensor: z
        .array(
          z.object({
            sensorId: z.string().nullable().describe('null: no sensor reported them.'),
            name: z.string().nullable().describe('null if the sensor was deleted, or there is none.'),
            count: z.number().describe('Number of false alarms.'),
          }),
        )
        .describe(`Those with most false alarms first, at most ${MAX_PERFORMANCE_ROWS}.`),
    }),
    secondaries: z.number().describe('Number of incidents that are a consequence of another one.'),
    respondersStruck: z.number().describe('Number of incidents in which a responder was struck.'),
  });
}
