import {
  alarmRule,
  alarmRuleInput,
  alarmRulesPage,
  deletedAlarmRule,
  listAlarmRulesInput,
  triedRule,
  tryRuleInput,
  updateAlarmRuleInput,
} from '@gantry/contract/alarm-rules';
import {
  acknowledgeAlarmBatchInput,
  acknowledgeAlarmBatchOutput,
  acknowledgeAlarmInput,
  alarm,
  alarmDetail,
  alarmMessage,
  alarmStats,
  alarmsPage,
  createPolicyInput,
  createSilenceInput,
  deletedPolicy,
  endedSilence,
  followAlarmsInput,
  listAlarmsInput,
  listPoliciesInput,
  listSilencesInput,
  policiesPage,
  policy,
  silence,
  silencesPage,
  updatePolicyInput,
} from '@gantry/contract/alarms';
import { byId } from '@gantry/contract/id';
import { getPolicy, getSilence, listPolicies, listSilences } from '../alarms/policies-store.ts';
import { getRule, listRules } from '../alarms/rules-store.ts';
import {
  acknowledgeAlarm,
  createPolicy,
  createRule,
  createSilence,
  deletePolicy,
  deleteRule,
  endSilence,
  followAlarms,
  scopeWarnings,
  updatePolicy,
  updateRule,
  viewRule,
} from '../alarms/service.ts';
import { getAlarmDetail, listAlarms, readAlarmStats } from '../alarms/store.ts';
import { tryRule } from '../alarms/try-rule.ts';
import { dayOf, resolveInterval, resolveTime } from '../platform/time.ts';
import { messagesOf } from '../rpc/messages.ts';
import { EACH_BY_ITSELF, eachOf, itemsOf } from './batch.ts';
import { allowed, pageOf, router } from './procedures.ts';

export const alarmsRouter = router({
  getAll: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'List alarms, the most urgent first by default',
      notes:
        'Without `state`, those that are or were firing. `startDate` and `endDate` apply to the time at which they fired. Alarms of which nobody is told are listed, too, with the silence (`silencedBy`) or the cause (`inhibitedBy`).',
    })
    .input(listAlarmsInput)
    .output(alarmsPage)
    .query(async ({ ctx: { app }, input }) => {
      const interval = resolveInterval(input, app.settings.current().timezone);
      return pageOf('alarms', await listAlarms(app.db, input, interval), input.take);
    }),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one alarm, with its runbook and whom it was told' })
    .input(byId)
    .output(alarmDetail)
    .query(({ ctx, input }) => getAlarmDetail(ctx.app.db, input.id)),

  acknowledge: allowed('manageIncidents')
    .meta({
      summary: 'Acknowledge an alarm',
      notes:
        'That stops further steps of its policy, but not the alarm, which ends when its condition does. If two people acknowledge it at the same time, one succeeds and the other receives CONFLICT with the name of the first and the time.',
    })
    .input(acknowledgeAlarmInput)
    .output(alarm)
    .mutation(({ ctx, input }) => acknowledgeAlarm(ctx, input)),

  acknowledgeBatch: allowed('manageIncidents')
    .meta({
      summary: 'Acknowledge many alarms with one note',
      notes: `As \`acknowledge\`. ${EACH_BY_ITSELF}`,
    })
    .input(acknowledgeAlarmBatchInput)
    .output(acknowledgeAlarmBatchOutput)
    .mutation(async ({ ctx, input: { ids, note } }) => ({
      results: await eachOf(ctx, itemsOf(ids), async ({ id }) => ({
        id,
        alarm: await acknowledgeAlarm(ctx, { id, note }),
      })),
    })),

  onChanged: allowed('manageIncidents')
    .meta({
      summary: 'Stream alarms when they fire, end, flap or are acknowledged',
      message: alarmMessage,
    })
    .input(followAlarmsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('alarm', followAlarms(ctx, input, signal))),

  getStats: allowed('manageIncidents')
    .meta({ summary: 'Count the alarms that are firing' })
    .output(alarmStats)
    .query(({ ctx: { app } }) => {
      const zone = app.settings.current().timezone;
      return readAlarmStats(app.db, resolveTime(dayOf(app.clock.now(), zone), zone));
    }),
});

export const alarmRulesRouter = router({
  getAll: allowed('systemSettings')
    .meta({ summary: 'List the rules of alarms' })
    .input(listAlarmRulesInput)
    .output(alarmRulesPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listRules(ctx.app.db, input);
      return pageOf('rules', { items: items.map((rule) => viewRule(rule)), total }, input.take);
    }),

  getById: allowed('systemSettings')
    .meta({ summary: 'Get one rule, with what its author may have overlooked' })
    .input(byId)
    .output(alarmRule)
    .query(async ({ ctx: { app }, input }) => {
      const rule = await getRule(app.db, input.id);
      return viewRule(rule, await scopeWarnings(app.db, rule));
    }),

  create: allowed('systemSettings')
    .meta({
      summary: 'Add a rule',
      notes:
        'A rule that can never fire is refused (BAD_REQUEST) with what would be right; `warnings` says what else may have been overlooked. Rules are evaluated every 10 s, those of TRAFFIC, SENSOR_PLAUSIBILITY and EVENT_RATE every minute. The rule fires for each sensor, place, incident or hit by itself; if the condition holds for more than 200 of them, once for all. What is more than 15 minutes old never fires.',
    })
    .input(alarmRuleInput)
    .output(alarmRule)
    .mutation(({ ctx, input }) => createRule(ctx, input)),

  update: allowed('systemSettings')
    .meta({
      summary: 'Change a rule',
      notes:
        'Only the given fields change; `condition` and `scope` are replaced as a whole. Unless only `name` or `runbook` changes, the alarms of the rule end (`clearedBecause: "CHANGED"`).',
    })
    .input(updateAlarmRuleInput)
    .output(alarmRule)
    .mutation(({ ctx, input }) => updateRule(ctx, input)),

  delete: allowed('systemSettings')
    .meta({ summary: 'Delete a rule', notes: 'Its alarms end, and stay in the list.' })
    .input(byId)
    .output(deletedAlarmRule)
    .mutation(({ ctx, input }) => deleteRule(ctx, input.id)),

  tryRule: allowed('systemSettings')
    .meta({
      question: true,
      summary: 'Say when a rule would have fired',
      notes:
        'From what is recorded of the past: changes of status, incidents, hits, events, backups, and counts in slots of five minutes. Nothing is stored, and nobody is told.',
    })
    .input(tryRuleInput)
    .output(triedRule)
    .query(({ ctx, input }) => tryRule(ctx, input)),
});

export const policiesRouter = router({
  getAll: allowed('systemSettings')
    .meta({ summary: 'List the policies by which people are told of alarms' })
    .input(listPoliciesInput)
    .output(policiesPage)
    .query(async ({ ctx, input }) => pageOf('policies', await listPolicies(ctx.app.db, input), input.take)),

  getById: allowed('systemSettings')
    .meta({ summary: 'Get one policy' })
    .input(byId)
    .output(policy)
    .query(({ ctx, input }) => getPolicy(ctx.app.db, input.id)),

  create: allowed('systemSettings')
    .meta({
      summary: 'Add a policy',
      notes:
        'Alarms of a group are told together: the first time after `groupWaitSeconds`, changes at most every `groupIntervalSeconds`, and the same again after `repeatMinutes`. The first step is taken then, and each later one once, `afterMinutes` after the first message, while an alarm of the group is not acknowledged, or has not ended (`whileNot`). If more than ten alarms of a policy fire within ten minutes, its recipients get one summary every five minutes instead. If a step reaches nobody, the next one is taken at once.',
    })
    .input(createPolicyInput)
    .output(policy)
    .mutation(({ ctx, input }) => createPolicy(ctx, input)),

  update: allowed('systemSettings')
    .meta({ summary: 'Change a policy', notes: 'Only the given fields change, from the next message on.' })
    .input(updatePolicyInput)
    .output(policy)
    .mutation(({ ctx, input }) => updatePolicy(ctx, input)),

  delete: allowed('systemSettings')
    .meta({ summary: 'Delete a policy', notes: 'Refused (CONFLICT) while a rule uses it.' })
    .input(byId)
    .output(deletedPolicy)
    .mutation(({ ctx, input }) => deletePolicy(ctx, input.id)),
});

export const silencesRouter = router({
  getAll: allowed('manageIncidents')
    .meta({ summary: 'List silences, the last to end first' })
    .input(listSilencesInput)
    .output(silencesPage)
    .query(async ({ ctx: { app }, input }) =>
      pageOf('silences', await listSilences(app.db, input, app.clock.now()), input.take),
    ),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one silence' })
    .input(byId)
    .output(silence)
    .query(({ ctx: { app }, input }) => getSilence(app.db, input.id, app.clock.now())),

  create: allowed('manageIncidents')
    .meta({
      summary: 'Silence alarms for some time',
      notes:
        'Nobody is told of alarms that match all `matchers`, each with one of its values; they are listed as before. At most 8 hours ahead, for administrators at most 30 days.',
    })
    .input(createSilenceInput)
    .output(silence)
    .mutation(({ ctx, input }) => createSilence(ctx, input)),

  end: allowed('manageIncidents')
    .meta({ summary: 'End a silence now' })
    .input(byId)
    .output(endedSilence)
    .mutation(({ ctx, input }) => endSilence(ctx, input.id)),
});
