import { isDeepStrictEqual } from 'node:util';
import type {
  AlarmLabel,
  AlarmRule,
  AlarmRuleInput,
  UpdateAlarmRuleInput,
} from '@gantry/contract/alarm-rules';
import { describeRule } from '@gantry/contract/alarm-sentences';
import {
  type AcknowledgeAlarmInput,
  type Alarm,
  type AlarmTarget,
  type CreatePolicyInput,
  type CreateSilenceInput,
  type FollowAlarmsInput,
  MAX_SILENCE_DAYS,
  type Policy,
  type Silence,
  type SilenceMatcher,
  type UpdatePolicyInput,
} from '@gantry/contract/alarms';
import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { alarmSources, MAX_SILENCE_HOURS, severities } from '@gantry/contract/values';
import { recordActivity } from '../activity/store.ts';
import { findList } from '../hotlists/store.ts';
import type { AcknowledgeGroup } from '../notices/acknowledge.ts';
import { listChannelRows } from '../notices/channels-store.ts';
import { listRotaRows } from '../notices/rotas-store.ts';
import type { ActorContext } from '../platform/context.ts';
import { withShortWaits } from '../platform/database/locks.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given, givenFields } from '../platform/given.ts';
import { resolveTime } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { requireSensible } from './check-rule.ts';
import {
  deletePolicyRow,
  endSilenceRow,
  getPolicy,
  getSilence,
  insertPolicy,
  insertSilence,
  replacePolicy,
} from './policies-store.ts';
import { publishAlarms } from './rounds.ts';
import { excludeRounds } from './rounds-store.ts';
import {
  deleteRuleRow,
  findUnknownInScope,
  findUnknownRules,
  getRule,
  insertRule,
  readScopeState,
  replaceRule,
  type StoredRule,
} from './rules-store.ts';
import { acknowledgeInGroup, endAlarmsOf, findUnknownUsers, getAlarm, setAcknowledged } from './store.ts';

/** Changes rules, policies or silences, and wakes the process that evaluates. */
function changeEvaluated<Result>(
  { app }: ActorContext,
  change: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(app.db, async (tx) => {
    await withShortWaits(tx, 'Alarm rules are being evaluated: try again', () => excludeRounds(tx));
    const result = await change(tx);
    await notify(tx, channels.alarms, '');
    return result;
  });
}

/** A rule with its sentence and what its author may have overlooked. */
export function viewRule(rule: StoredRule, more: readonly string[] = []): AlarmRule {
  const warnings = rule.policyId === null ? ['Nobody is told of its alarms: choose a policy'] : [];
  return { ...rule, sentence: describeRule(rule), warnings: [...warnings, ...more] };
}

/** What about the sensors and places of a rule keeps it from firing, as sentences. */
export async function scopeWarnings(
  tx: Transaction | ActorContext['app']['db'],
  rule: AlarmRuleInput,
): Promise<string[]> {
  if ('listId' in rule.condition && rule.condition.listId !== null) {
    const list = await findList(tx, null, rule.condition.listId).catch(() => null);
    if (!list?.isActive) return ['The hotlist is deleted or not in use, so the rule cannot fire'];
  }
  const { source } = rule.condition;
  const isOfSensors = source.startsWith('SENSOR_') || source === 'TRAFFIC' || source === 'CERTIFICATE';
  if (!isOfSensors) return [];
  const { sensors, periodic, locations, withoutLimit } = await readScopeState(tx, rule.scope);
  const found: string[] = [];
  if (sensors === 0) found.push('There is no sensor in the scope now, so the rule cannot fire');
  const { condition } = rule;
  if (source === 'TRAFFIC' && periodic > 0)
    found.push(
      `${periodic} of ${sensors} sensors in the scope send counts of intervals, of which no minutes are known, so the rule is not about them`,
    );
  const needsLimit =
    condition.source === 'TRAFFIC' && (condition.of === 'LIMIT' || condition.measure === 'shareOverLimit');
  if (needsLimit && withoutLimit > 0)
    found.push(
      `${withoutLimit} of ${locations} locations in the scope have no speed limit, so nothing is known of them`,
    );
  return found;
}

/** Refuses a list that does not exist, and hits of a covert one, which nobody is told. */
async function requireList(tx: Transaction, condition: AlarmRuleInput['condition']): Promise<void> {
  if ((condition.source !== 'HIT' && condition.source !== 'HOTLIST') || condition.listId === null) return;
  const field = 'condition.listId';
  const list = await findList(tx, null, condition.listId).catch(() => {
    throw invalidInput(field, `There is no hotlist with the id ${condition.listId}`);
  });
  if (condition.source === 'HIT' && list.covert)
    throw invalidInput(field, 'Hits of a covert hotlist are never told: name another list');
}

async function requireSensor(tx: Transaction, sensorId: string | undefined): Promise<void> {
  if (sensorId === undefined) return;
  const unknown = await findUnknownInScope(tx, { locationIds: [], sensorIds: [sensorId] });
  if (unknown.length > 0)
    throw invalidInput('condition.filter.sensorId', `There is no sensor with the id ${sensorId}`);
}

/** @param former the rule before a change; what it names may have been deleted since */
async function requireKnown(
  tx: Transaction,
  { scope, policyId, condition }: AlarmRuleInput,
  former?: Pick<AlarmRuleInput, 'scope' | 'condition'>,
): Promise<void> {
  const unknown = await findUnknownInScope(tx, scope);
  const first = unknown.find(({ field, id }) => !former?.scope[field].includes(id));
  if (first) throw invalidInput(`scope.${first.field}`, `There is no ${first.noun} with the id ${first.id}`);
  if (!isDeepStrictEqual(condition, former?.condition)) {
    await requireList(tx, condition);
    if (condition.source === 'EVENT_RATE') await requireSensor(tx, condition.filter.sensorId);
  }
  if (policyId !== null)
    await getPolicy(tx, policyId).catch(() => {
      throw invalidInput('policyId', 'There is no such policy: give the id of one, or null to tell nobody');
    });
}

/** Adds a rule. @throws AppError `badRequest` for one that can never fire, or names what does not exist */
export function createRule(ctx: ActorContext, input: AlarmRuleInput): Promise<AlarmRule> {
  requireSensible(input);
  return changeEvaluated(ctx, async (tx) => {
    await requireKnown(tx, input);
    const id = await insertRule(tx, input, ctx.actor.id);
    const details = { ruleId: id, name: input.name, source: input.condition.source };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'alarmRules.create', details);
    return viewRule(await getRule(tx, id), await scopeWarnings(tx, input));
  });
}

/** The fields that say nothing about when a rule fires. */
const ONLY_WORDS: ReadonlySet<string> = new Set(['id', 'name', 'runbook']);

/**
 * Changes a rule. Unless only its name or runbook changes, its alarms end, because they were those of another rule.
 * @throws AppError `notFound`; `badRequest` as `createRule`
 */
export function updateRule(ctx: ActorContext, { id, ...changes }: UpdateAlarmRuleInput): Promise<AlarmRule> {
  return changeEvaluated(ctx, async (tx) => {
    const stored = await getRule(tx, id);
    const rule: AlarmRuleInput = { ...stored, ...given(changes) };
    requireSensible(rule);
    await requireKnown(tx, rule, stored);
    await replaceRule(tx, stored.id, rule);
    const fields = givenFields(changes);
    if (fields.some((field) => !ONLY_WORDS.has(field))) await endAlarms(ctx, tx, stored.id, 'CHANGED');
    const details = { ruleId: stored.id, name: rule.name, fields };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'alarmRules.update', details);
    return viewRule(await getRule(tx, stored.id), await scopeWarnings(tx, rule));
  });
}

async function endAlarms(
  { app }: ActorContext,
  tx: Transaction,
  ruleId: string,
  because: 'CHANGED' | 'DELETED',
): Promise<void> {
  await publishAlarms(tx, await endAlarmsOf(tx, ruleId, because, app.clock.now()));
}

/** Deletes a rule. Its alarms end, and stay in the list. @throws AppError `notFound` */
export function deleteRule(ctx: ActorContext, id: string): Promise<{ success: true; id: string }> {
  return changeEvaluated(ctx, async (tx) => {
    const rule = await getRule(tx, id);
    await endAlarms(ctx, tx, rule.id, 'DELETED');
    await deleteRuleRow(tx, rule.id);
    const details = { ruleId: rule.id, name: rule.name };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'alarmRules.delete', details);
    return { success: true, id: rule.id };
  });
}

/**
 * Acknowledges an alarm that is firing, which stops further steps of its policy, but not the alarm. If several users do so
 * at the same time, one succeeds, and the others receive an error with that user's name.
 * @throws AppError `notFound`; `conflict` when it was acknowledged before, or is over
 */
export function acknowledgeAlarm(
  { app, actor, caller }: ActorContext,
  { id, note }: AcknowledgeAlarmInput,
): Promise<Alarm> {
  return inTransaction(app.db, async (tx) => {
    const isDone = await setAcknowledged(tx, id, actor.id, note);
    const alarm = await getAlarm(tx, id);
    if (!isDone) throw refusalOf(alarm);
    const details = {
      alarmId: alarm.id,
      ruleId: alarm.ruleId,
      name: alarm.ruleName,
      ...(note !== null && { note }),
    };
    await recordActivity(tx, actor.id, caller, 'alarms.acknowledge', details);
    await publishAlarms(tx, [alarm.id]);
    return alarm;
  });
}

function refusalOf({ state, acknowledgedBy, acknowledgedAt, clearedAt }: Alarm): AppError {
  return new AppError(
    'conflict',
    acknowledgedAt
      ? `${acknowledgedBy?.name} acknowledged this alarm at ${acknowledgedAt.toISOString()}`
      : state === 'CLEARED'
        ? `This alarm ended at ${clearedAt?.toISOString()}, so there is nothing to acknowledge`
        : 'This alarm is not firing yet, so there is nothing to acknowledge',
  );
}

/** Acknowledges the alarms of a group as the recipient of a message about it. @returns false if the group is closed */
export const acknowledgeGroup: AcknowledgeGroup = async (tx, { groupId, noticeId, recipient, address }) => {
  const ids = await acknowledgeInGroup(tx, groupId, recipient.userId);
  if (!ids) return false;
  const caller = {
    ...{ requestId: noticeId, since: 0, host: null, userAgent: null, authorization: null },
    address,
  };
  await recordActivity(tx, recipient.userId, caller, 'alarms.acknowledge', { noticeId, alarms: ids.length });
  await publishAlarms(tx, ids);
  return true;
};

/** Streams alarms when they fire, end, or are acknowledged. @throws AppError as `follow` does */
export function followAlarms(
  ctx: FollowContext,
  { severity, ruleId, lastEventId }: FollowAlarmsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'alarms'>> {
  const rule = ruleId?.toLowerCase();
  const matches = (alarm: Alarm): boolean =>
    (severity === undefined || alarm.severity === severity) && (rule === undefined || alarm.ruleId === rule);
  return follow(ctx, { topics: ['alarms'], matches, lastEventId }, signal);
}

type Steps = CreatePolicyInput['steps'];

/** @param former the steps before a change; users whom they name may have been deleted since */
async function requireTargets(tx: Transaction, steps: Steps, former: Steps = []): Promise<void> {
  const targets: AlarmTarget[] = steps.flatMap(({ to }) => to);
  const named = new Set(
    former.flatMap(({ to }) => to.flatMap((each) => ('userId' in each ? each.userId : []))),
  );
  const unknown = (await findUnknownUsers(tx, targets)).find((id) => !named.has(id));
  if (unknown !== undefined) throw invalidInput('steps', `There is no user with the id ${unknown}`);
  const [channels, rotas] = [await listChannelRows(tx), await listRotaRows(tx)];
  const isOneOf = (rows: readonly { readonly id: string }[], id: string): boolean =>
    rows.some((row) => row.id === id.toLowerCase());
  for (const target of targets) {
    if ('channelId' in target && !isOneOf(channels, target.channelId))
      throw invalidInput('steps', `There is no channel with the id ${target.channelId}`);
    if ('rotaId' in target && !isOneOf(rotas, target.rotaId))
      throw invalidInput('steps', `There is no rota with the id ${target.rotaId}`);
  }
}

/** Adds a policy. @throws AppError `badRequest` for an unknown recipient */
export function createPolicy(ctx: ActorContext, input: CreatePolicyInput): Promise<Policy> {
  return changeEvaluated(ctx, async (tx) => {
    await requireTargets(tx, input.steps);
    const id = await insertPolicy(tx, input);
    const details = { policyId: id, name: input.name };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'policies.create', details);
    return getPolicy(tx, id);
  });
}

/** Changes a policy, from the next message on. @throws AppError `notFound`; `badRequest` as `createPolicy` */
export function updatePolicy(ctx: ActorContext, { id, ...changes }: UpdatePolicyInput): Promise<Policy> {
  return changeEvaluated(ctx, async (tx) => {
    const stored = await getPolicy(tx, id);
    const policy: CreatePolicyInput = { ...stored, ...given(changes) };
    await requireTargets(tx, policy.steps, stored.steps);
    await replacePolicy(tx, stored.id, policy);
    const details = { policyId: stored.id, name: policy.name, fields: givenFields(changes) };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'policies.update', details);
    return getPolicy(tx, stored.id);
  });
}

/** Deletes a policy that no rule uses. @throws AppError `notFound`; `conflict` while a rule uses it */
export function deletePolicy(ctx: ActorContext, id: string): Promise<{ success: true; id: string }> {
  return changeEvaluated(ctx, async (tx) => {
    const policy = await getPolicy(tx, id);
    if (policy.rules > 0)
      throw new AppError(
        'conflict',
        `${policy.rules} alarm rules use this policy: give them another one first`,
      );
    await deletePolicyRow(tx, policy.id, ctx.app.clock.now());
    const details = { policyId: policy.id, name: policy.name };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'policies.delete', details);
    return { success: true, id: policy.id };
  });
}

/** Clocks differ by less than this, in milliseconds: a silence may begin so long ago. */
const JUST_NOW_MS = 60_000;

/**
 * Silences alarms for some time. Only administrators do so for more than 8 hours, or so far ahead.
 * @throws AppError `badRequest` when it ends before it begins, is over, is too long, or could match no alarm; `forbidden` for more
 * than 8 hours
 */
export function createSilence(ctx: ActorContext, input: CreateSilenceInput): Promise<Silence> {
  const { app, actor, caller } = ctx;
  const { timezone } = app.settings.current();
  const now = app.clock.now();
  const from = input.startsAt === undefined ? now : resolveTime(input.startsAt, timezone);
  const until = resolveTime(input.endsAt, timezone);
  if (until <= Math.max(from, now))
    throw invalidInput('endsAt', 'Give a time that is later than now and than startsAt');
  if (from < now - JUST_NOW_MS)
    throw invalidInput('startsAt', 'Alarms cannot be silenced in the past: leave it out to begin now');
  if (until - from > MAX_SILENCE_DAYS * DAY_MS || from - now > MAX_SILENCE_DAYS * DAY_MS)
    throw invalidInput(
      'endsAt',
      `A silence lasts at most ${MAX_SILENCE_DAYS} days and begins within as many: disable the rule instead`,
    );
  if (actor.role !== 'ADMIN' && until - now > MAX_SILENCE_HOURS * HOUR_MS + JUST_NOW_MS)
    throw new AppError(
      'forbidden',
      `Only administrators silence alarms for more than ${MAX_SILENCE_HOURS} hours`,
    );
  return changeEvaluated(ctx, async (tx) => {
    const { matchers, reason } = input;
    await requireMatching(tx, matchers);
    const id = await insertSilence(tx, { matchers, reason, from, until, userId: actor.id });
    const details = { silenceId: id, reason, until: new Date(until).toISOString() };
    await recordActivity(tx, actor.id, caller, 'silences.create', details);
    return getSilence(tx, id, now);
  });
}

const NOUNS = { RULE: 'alarm rule', LOCATION: 'location', SENSOR: 'sensor' } as const;
const WORDS: Readonly<Partial<Record<AlarmLabel, readonly string[]>>> = {
  SOURCE: alarmSources,
  SEVERITY: severities,
};

/** Refuses matchers that no alarm can match: who silences believes that it worked. */
async function requireMatching(tx: Transaction, matchers: readonly SilenceMatcher[]): Promise<void> {
  const idsOf = (wanted: AlarmLabel): string[] =>
    matchers.flatMap(({ label, values }) => (label === wanted ? values : []));
  const scope = { locationIds: idsOf('LOCATION'), sensorIds: idsOf('SENSOR') };
  const unknown = new Set((await findUnknownInScope(tx, scope)).map(({ id }) => id));
  for (const id of await findUnknownRules(tx, idsOf('RULE'))) unknown.add(id);
  for (const [m, { label, values }] of matchers.entries()) {
    if (matchers.findIndex((other) => other.label === label) < m)
      throw invalidInput(
        `matchers.${m}.label`,
        `An alarm has only one ${label}: put all values into one matcher`,
      );
    const words = WORDS[label];
    for (const [v, value] of values.entries()) {
      const path = `matchers.${m}.values.${v}`;
      if (words !== undefined && !words.includes(value.toUpperCase()))
        throw invalidInput(path, `There is no ${label} ${value}: use ${words.join(', ')}`);
      if (words === undefined && unknown.has(value))
        throw invalidInput(path, `There is no ${NOUNS[label as keyof typeof NOUNS]} with the id ${value}`);
    }
  }
}

/** Ends a silence now. @throws AppError `notFound`; `conflict` if it is over */
export function endSilence(ctx: ActorContext, id: string): Promise<{ success: true; id: string }> {
  return changeEvaluated(ctx, async (tx) => {
    const now = ctx.app.clock.now();
    const silence = await getSilence(tx, id, now);
    if (silence.endsAt.getTime() <= now)
      throw new AppError('conflict', `This silence ended at ${silence.endsAt.toISOString()}`);
    await endSilenceRow(tx, silence.id, now);
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'silences.end', { silenceId: silence.id });
    return { success: true, id: silence.id };
  });
}
