import { z } from 'zod';
import { id } from './id.ts';
import { incidentTimes, injuries, laneStates, settableTimes } from './incident-states.ts';
import { MAX_LANES } from './movements.ts';
import { person } from './person.ts';
import { optionalText, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { pointDirections } from './values.ts';

// What is recorded while an incident is worked on: times, lanes and facts.

const ORDER =
  'T0 to T7 of traffic incident management (FHWA): occurredAt, openedAt, verifiedAt, dispatchedAt, arrivedAt, lanesOpenAt, lastLeftAt, normalAt.';

export const incidentTimeEntry = z.object({
  name: z.enum(incidentTimes).describe(ORDER),
  at: z.date().nullable().describe('null while it is not known.'),
  source: z
    .enum(['SET', 'DERIVED'])
    .nullable()
    .describe('SET: a person said so. DERIVED: from the opening, or the states of lanes.'),
  conflict: z
    .string()
    .nullable()
    .describe('Why a time that could be derived is not taken: it would come before or after another one.'),
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

/** Another incident, as an incident refers to it. */
export const incidentLink = z.object({ id: z.string(), title: z.string() });

export const incidentFacts = z.object({
  injured: z.enum(injuries).nullable().describe('The worst injury; null while it is not known.'),
  hazardous: z.boolean().nullable().describe('Whether hazardous materials are involved.'),
  heavyVehicle: z.boolean().nullable().describe('Whether a lorry or a bus is involved.'),
  responderStruck: z.boolean().nullable().describe('Whether a responder or their vehicle was struck.'),
});
export type IncidentFacts = z.infer<typeof incidentFacts>;

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
