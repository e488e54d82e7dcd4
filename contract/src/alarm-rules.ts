import { z } from 'zod';
import { eventType, severity } from './events.ts';
import { id, storedId } from './id.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { editableText, optionalText, trimmedText } from './text.ts';
import {
  alarmSources,
  hotlistTroubles,
  incidentTypes,
  plausibilityChecks,
  sensorTypes,
  systemParts,
  trafficMeasures,
} from './values.ts';

// The rules of alarms: what each is about, and when it fires.

export const alarmSource = z.enum(alarmSources);
export type AlarmSource = z.infer<typeof alarmSource>;
export type PlausibilityCheck = (typeof plausibilityChecks)[number];
export type TrafficMeasure = (typeof trafficMeasures)[number];
export type HotlistTroubleKind = (typeof hotlistTroubles)[number];
export type SystemPart = (typeof systemParts)[number];

/** Longest window of EVENT_RATE and INTAKE, in minutes: every round reads it. */
export const MAX_RATE_MINUTES = 60;
/** Longest window of TRAFFIC, in minutes: the counts of minutes are kept for fifteen. */
export const MAX_TRAFFIC_MINUTES = 10;

const hotlistId = storedId.nullish().transform((value) => value ?? null);

function oneOrMore<Value extends string>(values: readonly [Value, ...Value[]], what: string) {
  return z
    .array(z.enum(values))
    .min(1, `Name at least one ${what}`)
    .max(values.length)
    .transform((given) => [...new Set(given)]);
}

const rateFilter = z
  .strictObject({
    eventType: eventType.optional(),
    violationType: trimmedText(200, 1).optional().describe('Ignoring case.'),
    sensorId: storedId.optional(),
    minSeverity: severity.optional().describe('This severity or a more urgent one.'),
  })
  .refine((filter) => Object.values(filter).some((each) => each !== undefined), {
    error:
      'Name an eventType, a violationType, a sensorId or a minSeverity: counting all events says nothing',
  });

/** The condition of a rule; `source` says which form it has. */
export const alarmCondition = z.discriminatedUnion('source', [
  z.strictObject({
    source: z.literal('SENSOR_STATUS'),
    statuses: oneOrMore(['OFFLINE', 'ERROR'], 'status'),
    of: z
      .enum(['SENSOR', 'PLACE'])
      .default('SENSOR')
      .describe(
        'SENSOR: each sensor. PLACE: each location none of whose sensors works. With SENSOR, an alarm for a location with several sensors stands for those of its sensors, if none of them works.',
      ),
  }),
  z.strictObject({
    source: z.literal('SENSOR_ISSUE'),
    code: optionalText(100).describe(
      'Part of what a sensor in ERROR reported, ignoring case; null: anything.',
    ),
  }),
  z.strictObject({
    source: z.literal('SENSOR_PLAUSIBILITY'),
    checks: oneOrMore([...plausibilityChecks], 'check').describe(
      'SILENT: ONLINE, and no vehicle for longer than usual at this hour of the week (99th percentile of four weeks), at least 4 h. STUCK: the last 30 speeds are equal, or the same plate 20 times in 10 min. CHATTER: 38 vehicles or more in 30 s on a lane. SPIKE: more than 5 times the greatest volume of the same hour of the week in four weeks. CLOCK: 30 s off or more. READ_RATE: the share of events with a plate is below half of the usual one. Traffic is counted at locations, so of a sensor without one only STUCK and CLOCK are known.',
    ),
  }),
  z.strictObject({
    source: z.literal('TRAFFIC'),
    measure: z
      .enum(trafficMeasures)
      .describe('meanSpeed and v85 in km/h; volumePerHour in motor vehicles; shareOverLimit from 0 to 1.'),
    comparison: z.enum(['BELOW', 'ABOVE']),
    threshold: z.number().min(0).max(1_000_000).describe('In the unit of the measure, or a share: see `of`.'),
    of: z
      .enum(['NUMBER', 'LIMIT', 'USUAL'])
      .default('NUMBER')
      .describe(
        'What the threshold is: a number in the unit of the measure, or a share of the speed limit or of the usual value at this hour of the week (mean of four weeks).',
      ),
    minutes: z
      .int()
      .min(1)
      .max(MAX_TRAFFIC_MINUTES)
      .default(5)
      .describe('The figures of so many minutes. Sensors that send counts of intervals have none.'),
    per: z.enum(['LOCATION', 'SENSOR']).default('LOCATION'),
  }),
  z.strictObject({
    source: z.literal('EVENT_RATE'),
    filter: rateFilter,
    comparison: z.enum(['AT_LEAST', 'FEWER_THAN']),
    count: z.int().min(1).max(10_000).describe('Number of events.'),
    minutes: z.int().min(1).max(MAX_RATE_MINUTES).describe('The window, in minutes.'),
  }),
  z.strictObject({
    source: z.literal('INCIDENT_UNATTENDED'),
    minSeverity: severity.default('LOW'),
    types: z.array(z.enum(incidentTypes)).max(incidentTypes.length).default([]).describe('[]: all.'),
    lacking: z
      .enum(['ACKNOWLEDGEMENT', 'OWNER'])
      .describe(
        'ACKNOWLEDGEMENT: it is OPEN. OWNER: no active user with the permission Manage Incidents is assigned, and it is neither resolved nor that of planned works in force, into which none was merged.',
      ),
  }),
  z.strictObject({
    source: z.literal('HIT'),
    minPriority: severity.default('LOW'),
    listId: hotlistId.describe('null: the watchlist and all hotlists that are not covert.'),
  }),
  z.strictObject({
    source: z.literal('HOTLIST'),
    states: oneOrMore([...hotlistTroubles], 'state').describe(
      'STALE: nothing has renewed or confirmed the list for its `staleAfterHours`. REFUSED: its last file was refused. SOURCE: its source cannot be read.',
    ),
    listId: hotlistId.describe('null: all hotlists.'),
  }),
  z.strictObject({
    source: z.literal('CERTIFICATE'),
    days: z
      .int()
      .min(1)
      .max(365)
      .default(30)
      .describe(
        'The last certificate of a kind of a sensor ends within so many days, or has ended. The alarm ends when another one covers the time.',
      ),
  }),
  z.strictObject({
    source: z.literal('INTAKE'),
    what: z
      .enum(['REFUSED', 'MISSED', 'FOLLOW_UPS'])
      .describe(
        'Of each connection: messages that were REFUSED, because they could not be read, or MISSED, because they were too many or could not be stored. FOLLOW_UPS: events whose follow-up is late.',
      ),
    count: z.int().min(1).max(10_000).default(1).describe('Number of messages or events.'),
    minutes: z.int().min(1).max(MAX_RATE_MINUTES).default(10).describe('The window, in minutes.'),
  }),
  z.strictObject({
    source: z.literal('SYSTEM'),
    part: z
      .enum(systemParts)
      .describe(
        'DISK: free space of the data folder, in %. BACKUP: age of the last complete one, in hours. CLOCK: how far the clock of the service is from that of the database, in seconds. WEBHOOKS: number of deliveries that were given up. CHANNEL: number of channels that fail. DUTY: number of rotas on which nobody is on duty who should be told of an alarm that nobody acknowledged. HANDOVER: for how long a hand-over has not been accepted, in minutes. SEAL: number of differences that the last check of seals found.',
      ),
    threshold: z
      .number()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('By default 10 %, 36 h, 5 s, 30 min and 1.'),
  }),
]);
export type AlarmCondition = z.infer<typeof alarmCondition>;
export type ConditionOf<Source extends AlarmSource> = Extract<AlarmCondition, { source: Source }>;

/** Which sensors and places a rule is about; [] for all. Sources without sensors have no scope. */
export const alarmScope = z.strictObject({
  locationIds: z.array(storedId).max(500, 'Name at most 500 locations').default([]),
  sensorIds: z.array(storedId).max(500, 'Name at most 500 sensors').default([]),
  sensorTypes: z.array(z.enum(sensorTypes)).max(sensorTypes.length).default([]),
});
export type AlarmScope = z.infer<typeof alarmScope>;

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const timeOfDay = z.string().regex(TIME, 'Use a time of day such as 07:30');

/** When a rule is watched, in local time. */
export const alarmHours = z.strictObject({
  days: z
    .array(z.int().min(1).max(7))
    .min(1, 'Name at least one day')
    .max(7)
    .transform((given) => [...new Set(given)].sort())
    .describe('1: Monday to 7: Sunday. A time past midnight belongs to the day on which it began.'),
  from: timeOfDay,
  until: timeOfDay.describe('Excluded. The same as `from`: the whole day. Before it: until the next day.'),
});
export type AlarmHours = z.infer<typeof alarmHours>;

export const alarmLabels = ['RULE', 'SOURCE', 'SEVERITY', 'LOCATION', 'SENSOR'] as const;
export const alarmLabel = z.enum(alarmLabels);
export type AlarmLabel = z.infer<typeof alarmLabel>;

/** Maximum number of rules. */
export const MAX_ALARM_RULES = 200;
/** Longest time for which a condition must hold, in seconds: one day. */
export const MAX_FOR_SECONDS = 86_400;

const ruleFields = {
  name: trimmedText(100, 1),
  condition: alarmCondition,
  scope: alarmScope,
  severity,
  forSeconds: z
    .int()
    .min(0)
    .max(MAX_FOR_SECONDS)
    .describe('How long the condition must hold before the rule fires.'),
  clear: z
    .strictObject({ threshold: z.number().min(0).max(1_000_000).describe('In the unit of the condition.') })
    .nullable()
    .describe(
      'The threshold at which the alarm ends, if another one than that at which it begins; of TRAFFIC, EVENT_RATE and SYSTEM.',
    ),
  noData: z
    .enum(['KEEP', 'CLEAR', 'ALARM'])
    .describe('What it means if nothing is known: the alarm stays as it is, ends, or begins.'),
  hours: alarmHours.nullable().describe('null: always.'),
  groupBy: z
    .array(alarmLabel)
    .max(alarmLabels.length)
    .transform((given) => alarmLabels.filter((label) => given.includes(label)))
    .describe('Alarms with the same values of these are told together.'),
  policyId: storedId.nullable().describe('Who is told; null: nobody, the alarms are only listed.'),
};

export const alarmRuleInput = z.object({
  ...ruleFields,
  scope: alarmScope.prefault({}),
  enabled: z.boolean().default(true),
  forSeconds: ruleFields.forSeconds.default(0),
  clear: ruleFields.clear.default(null),
  noData: ruleFields.noData.default('KEEP'),
  hours: ruleFields.hours.default(null),
  groupBy: ruleFields.groupBy.default(['RULE']),
  policyId: ruleFields.policyId.default(null),
  runbook: optionalText(2_000),
});
export type AlarmRuleInput = z.infer<typeof alarmRuleInput>;

export const updateAlarmRuleInput = z.object({
  id,
  name: ruleFields.name.optional(),
  enabled: z.boolean().optional(),
  condition: alarmCondition.optional().describe('Replaces the condition as a whole.'),
  scope: alarmScope.optional().describe('Replaces the scope as a whole.'),
  severity: severity.optional(),
  forSeconds: ruleFields.forSeconds.optional(),
  clear: ruleFields.clear.optional(),
  noData: ruleFields.noData.optional(),
  hours: ruleFields.hours.optional(),
  groupBy: ruleFields.groupBy.optional(),
  policyId: ruleFields.policyId.optional(),
  runbook: editableText(2_000),
});
export type UpdateAlarmRuleInput = z.infer<typeof updateAlarmRuleInput>;

export const alarmRule = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  condition: alarmCondition,
  scope: alarmScope,
  severity,
  forSeconds: ruleFields.forSeconds,
  clear: ruleFields.clear,
  noData: ruleFields.noData,
  hours: alarmHours.nullable(),
  groupBy: z.array(alarmLabel),
  policyId: z.string().nullable(),
  policyName: z.string().nullable(),
  runbook: z.string().nullable(),
  createdBy: person.nullable().describe('null: it came with Gantry.'),
  createdAt: z.date(),
  updatedAt: z.date(),
  sentence: z.string().describe('The rule as an English sentence.'),
  warnings: z.array(z.string()).describe('What an operator may have overlooked, as sentences.'),
  firing: z.number().describe('Number of its alarms that are firing.'),
});
export type AlarmRule = z.infer<typeof alarmRule>;

export const listAlarmRulesInput = z
  .object({ ...paging(50), source: alarmSource.optional(), enabled: z.boolean().optional() })
  .prefault({});
export type ListAlarmRulesInput = z.infer<typeof listAlarmRulesInput>;
export const alarmRulesPage = z.object({ rules: z.array(alarmRule), ...pageTotals });
export const deletedAlarmRule = z.object({ success: z.literal(true), id: z.string() });

/** How far back a rule can be tried, in hours. */
export const MAX_TRY_HOURS = 168;

export const tryRuleInput = z.object({
  rule: alarmRuleInput,
  hours: z.int().min(1).max(MAX_TRY_HOURS).default(24).describe('How far back, in hours.'),
});
export type TryRuleInput = z.infer<typeof tryRuleInput>;

/** Maximum number of alarms in the answer to a trial. */
export const MAX_TRIED = 500;
export const triedRule = z.object({
  from: z.date(),
  until: z.date(),
  sentence: z.string(),
  warnings: z.array(z.string()),
  stepSeconds: z.number().describe('The resolution with which the past is known.'),
  total: z.number().describe('How often the rule would have fired.'),
  alarms: z
    .array(
      z.object({
        place: z.string().nullable(),
        firedAt: z.date(),
        clearedAt: z.date().nullable().describe('null: it would still be firing.'),
        value: z.number().nullable().describe('In the unit of the condition.'),
      }),
    )
    .describe(`In the order in which they would have fired, at most ${MAX_TRIED}.`),
});
export type TriedRule = z.infer<typeof triedRule>;
