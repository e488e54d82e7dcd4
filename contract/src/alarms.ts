import { z } from 'zod';
import { alarmLabel, alarmSource } from './alarm-rules.ts';
import { batchOf, batchResults } from './batch.ts';
import { severity } from './events.ts';
import { id, storedId } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { showsPlate } from './plate-fields.ts';
import { messagesOf, resumable } from './realtime.ts';
import { optionalText, trimmedText } from './text.ts';
import { timeInput, timeRange } from './time.ts';
import { MAX_SILENCE_HOURS } from './values.ts';

// Alarms, the policies by which people are told of them, and silences.

export const alarmStates = ['PENDING', 'FIRING', 'CLEARED'] as const;
export const alarmState = z.enum(alarmStates);
export type AlarmState = z.infer<typeof alarmState>;

export const alarm = z.object({
  id: z.string(),
  ruleId: z.string(),
  ruleName: z.string(),
  source: alarmSource,
  severity,
  state: alarmState.describe('PENDING: the condition holds, but not for long enough yet.'),
  text: z.string().describe('What is wrong, in English.'),
  place: z.string().nullable().describe('The name of the sensor or the location.'),
  sensorId: z.string().nullable(),
  locationId: z.string().nullable(),
  incidentId: z.string().nullable(),
  alertId: z.string().nullable().describe('Of a hit: the alert of the watchlist.'),
  licensePlateNumber: showsPlate('plate', z.string().nullable().describe('Of a hit.')),
  value: z.number().nullable().describe('The latest value that was stored.'),
  worst: z.number().nullable().describe('The value that was furthest beyond the threshold.'),
  since: z.date().describe('Since when the condition holds.'),
  firedAt: z.date().nullable(),
  clearedAt: z.date().nullable(),
  clearedBecause: z
    .enum(['ENDED', 'CHANGED', 'DELETED'])
    .nullable()
    .describe('ENDED: the condition no longer holds. CHANGED, DELETED: its rule was.'),
  flaps: z.number().describe('How often it fired or ended within the last 15 min.'),
  isFlapping: z
    .boolean()
    .describe('It changed four times in 15 min, and stays FIRING until it has not changed for 15 min.'),
  acknowledgedAt: z.date().nullable(),
  acknowledgedBy: person.nullable(),
  note: z.string().nullable(),
  silencedBy: z.string().nullable().describe('The id of the silence because of which nobody is told.'),
  inhibitedBy: z
    .object({
      cause: z
        .enum(['ALARM', 'MAINTENANCE', 'SENSOR_NOT_WORKING', 'PLACE_NOT_WORKING'])
        .describe('MAINTENANCE: planned works with the sensor are in force.'),
      alarmId: z.string().nullable(),
      worksId: z.string().nullable().optional().describe('Of MAINTENANCE: the works.'),
    })
    .nullable()
    .describe('The cause because of which nobody is told of this alarm.'),
});
export type Alarm = z.infer<typeof alarm>;

export const alarmDetail = alarm.extend({
  runbook: z.string().nullable(),
  policyName: z.string().nullable(),
  steps: z.number().describe('Number of steps of its policy that were taken.'),
  toldAt: z.date().nullable().describe('When people were last told of its group.'),
  inhibits: z.array(z.string()).describe('The ids of alarms that it stands for, at most 200.'),
});
export type AlarmDetail = z.infer<typeof alarmDetail>;

export const listAlarmsInput = z
  .object({
    ...timeRange,
    ...paging(50),
    state: alarmState.optional().describe('By default FIRING and CLEARED.'),
    acknowledged: z.boolean().optional(),
    suppressed: z.boolean().optional().describe('Whether it is silenced or inhibited.'),
    severity: severity.optional(),
    source: alarmSource.optional(),
    ruleId: id.optional(),
    sensorId: id.optional(),
    locationId: id.optional(),
    sortBy: z
      .enum(['firedAt', 'severity'])
      .default('severity')
      .describe(
        '`severity` descending: firing alarms first, the most urgent first, among those the unacknowledged ones, then the oldest.',
      ),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListAlarmsInput = z.infer<typeof listAlarmsInput>;
export const alarmsPage = z.object({ alarms: z.array(alarm), ...pageTotals });

export const acknowledgeAlarmInput = z.object({ id, note: optionalText(1_000) });
export type AcknowledgeAlarmInput = z.infer<typeof acknowledgeAlarmInput>;
export const acknowledgeAlarmBatchInput = z.object({
  ids: batchOf(id, 'alarm').describe('The ids of alarms.'),
  note: optionalText(1_000),
});
export const acknowledgeAlarmBatchOutput = batchResults(z.object({ id: z.string(), alarm }));

export const followAlarmsInput = z
  .object({
    severity: severity.optional().describe('Only alarms of this severity.'),
    ruleId: id.optional(),
    ...resumable,
  })
  .prefault({});
export type FollowAlarmsInput = z.infer<typeof followAlarmsInput>;
export const alarmMessage = messagesOf('alarm', alarm);

export const alarmStats = z.object({
  firing: z.number().describe('Number of alarms that are firing.'),
  unacknowledged: z.number().describe('Firing, not acknowledged, and neither silenced nor inhibited.'),
  suppressed: z.number().describe('Firing, and silenced or inhibited.'),
  pending: z.number().describe('Number of alarms whose condition does not hold for long enough yet.'),
  bySeverity: z
    .array(z.object({ severity, count: z.number().describe('Number of alarms.') }))
    .describe('Those that are firing and not suppressed, the most urgent first.'),
  firedToday: z.number().describe('Since midnight in the time zone of the service.'),
  rules: z.number().describe('Number of rules that are enabled.'),
  evaluatedAt: z.date().nullable().describe('When rules were last evaluated; null: never.'),
});
export type AlarmStats = z.infer<typeof alarmStats>;

/** Who is told: one user, whoever is on duty, or whoever reads a channel. */
export const alarmTarget = z.union(
  [
    z.strictObject({ userId: storedId }),
    z.strictObject({ rotaId: storedId }),
    z.strictObject({ channelId: storedId }),
  ],
  'Name one userId, rotaId or channelId',
);
export type AlarmTarget = z.infer<typeof alarmTarget>;

const policyStep = z.strictObject({
  afterMinutes: z.int().min(0).max(1_440).describe('After the first message; 0 in the first step.'),
  to: z.array(alarmTarget).min(1, 'Name at least one recipient').max(20, 'Name at most 20 recipients'),
  whileNot: z
    .enum(['ACKNOWLEDGED', 'CLEARED'])
    .default('ACKNOWLEDGED')
    .describe('The step is taken only while an alarm of the group is not acknowledged, or has not ended.'),
});
export type PolicyStep = z.infer<typeof policyStep>;

/** Maximum number of policies, and of steps of one. */
export const MAX_POLICIES = 50;
export const MAX_POLICY_STEPS = 10;

const steps = z
  .array(policyStep)
  .min(1, 'Give at least one step')
  .max(MAX_POLICY_STEPS, `Give at most ${MAX_POLICY_STEPS} steps`)
  .refine(([first]) => (first?.afterMinutes ?? 0) === 0, 'The first step has afterMinutes 0')
  .refine(
    (given) => given.every((step, n) => n === 0 || step.afterMinutes > (given[n - 1]?.afterMinutes ?? 0)),
    'Each step comes later than the one before it',
  );

const policyFields = {
  name: trimmedText(100, 1),
  steps,
  groupWaitSeconds: z.int().min(0).max(600).describe('How long the first message waits for further alarms.'),
  groupIntervalSeconds: z
    .int()
    .min(10)
    .max(86_400)
    .describe('How long after a message the next one about changes of the group waits.'),
  repeatMinutes: z
    .int()
    .min(5)
    .max(10_080)
    .describe('After how long the message is repeated if nothing changed.'),
  notifyClear: z.boolean().describe('Whether recipients are told that alarms ended.'),
};

export const createPolicyInput = z.object({
  ...policyFields,
  groupWaitSeconds: policyFields.groupWaitSeconds.default(10),
  groupIntervalSeconds: policyFields.groupIntervalSeconds.default(300),
  repeatMinutes: policyFields.repeatMinutes.default(240),
  notifyClear: policyFields.notifyClear.default(true),
});
export type CreatePolicyInput = z.infer<typeof createPolicyInput>;
export const updatePolicyInput = z.object({ id, ...z.object(policyFields).partial().shape });
export type UpdatePolicyInput = z.infer<typeof updatePolicyInput>;

export const policy = z.object({
  id: z.string(),
  ...policyFields,
  rules: z.number().describe('Number of rules that use it.'),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Policy = z.infer<typeof policy>;
export const listPoliciesInput = z.object({ ...paging(50) }).prefault({});
export type ListPoliciesInput = z.infer<typeof listPoliciesInput>;
export const policiesPage = z.object({ policies: z.array(policy), ...pageTotals });
export const deletedPolicy = z.object({ success: z.literal(true), id: z.string() });

/** Longest silence, in days. */
export const MAX_SILENCE_DAYS = 30;

const matcher = z.strictObject({
  label: alarmLabel,
  values: z
    .array(storedId)
    .min(1, 'Name at least one value')
    .max(100, 'Name at most 100 values')
    .describe('Ids of rules, locations or sensors; names of sources or severities.'),
});
export type SilenceMatcher = z.infer<typeof matcher>;

export const createSilenceInput = z.object({
  matchers: z
    .array(matcher)
    .min(1, 'Say what is silenced: a silence without a matcher would hide every alarm')
    .max(5, 'Use at most 5 matchers')
    .describe('An alarm is silenced if it matches all of them, each with one of its values.'),
  startsAt: timeInput.optional().describe('By default now.'),
  endsAt: timeInput.describe(
    `At most ${MAX_SILENCE_HOURS} hours later, of administrators at most ${MAX_SILENCE_DAYS} days.`,
  ),
  reason: trimmedText(500, 1),
});
export type CreateSilenceInput = z.infer<typeof createSilenceInput>;

export const silence = z.object({
  id: z.string(),
  matchers: z.array(matcher),
  startsAt: z.date(),
  endsAt: z.date().describe('Excluded.'),
  reason: z.string(),
  by: person,
  createdAt: z.date(),
  isActive: z.boolean(),
  alarms: z.number().describe('Number of firing alarms that it silences.'),
});
export type Silence = z.infer<typeof silence>;
export const listSilencesInput = z
  .object({ ...paging(50), active: z.boolean().optional().describe('Whether it holds now.') })
  .prefault({});
export type ListSilencesInput = z.infer<typeof listSilencesInput>;
export const silencesPage = z.object({ silences: z.array(silence), ...pageTotals });
export const endedSilence = z.object({ success: z.literal(true), id: z.string() });
