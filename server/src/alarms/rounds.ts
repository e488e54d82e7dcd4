import { randomUUID } from 'node:crypto';
import { severityOfRank } from '../events/severity.ts';
import type { Announced, Announcement } from '../notices/announce.ts';
import type { Core } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import { changesOf, isInForce } from './evaluate.ts';
import { BY_MINUTE, gather, lastMinute, type UsualHours } from './gather.ts';
import { type Facts, isLowWorse, observe } from './observe.ts';
import { type GroupedAlarm, type Message, plan } from './plan.ts';
import {
  type ActiveRule,
  type NamedPolicy,
  type PlannedAlarm,
  readActiveRules,
  readActiveSilences,
  readMaintained,
  readOpenGroups,
  readPoliciesToPlan,
  readStored,
  readToPlan,
  recordRound,
  takeTurn,
  writeChanges,
  writePlan,
  writeSuppressions,
} from './rounds-store.ts';
import { readSensorFacts } from './sources-store.ts';
import { findAlarms, findAnnounced } from './store.ts';
import { labelOf, type NotWorking, type Suppression, suppress } from './suppress.ts';

// A round: rules are evaluated, and who is to be told is planned.

/** Writes the messages of one step, in the transaction. */
export type Announce = (
  tx: Transaction,
  announcement: Announcement,
) => Promise<Pick<Announced, 'recipients'>>;

export interface RoundParts extends Pick<Core, 'db' | 'questions' | 'config' | 'clock' | 'settings' | 'log'> {
  readonly announce: Announce;
  readonly usual: UsualHours;
  /** The interval of rounds, in milliseconds. */
  readonly everyMs: number;
}

/** After so many intervals without a round, what must last begins again. */
const RESUMED_AFTER = 6;

/** Evaluates rules and plans messages, unless another process does so. */
export async function doRound(parts: RoundParts): Promise<void> {
  const facts = await inTransaction(parts.db, (tx) => evaluate(parts, tx));
  // By itself, so that alarms are seen even if nobody can be told.
  if (facts) await inTransaction(parts.db, (tx) => planMessages(parts, tx, facts));
}

/** @returns what was known; null if it is another process's turn, or too early */
async function evaluate(parts: RoundParts, tx: Transaction): Promise<Facts | null> {
  const last = await takeTurn(tx);
  const now = parts.clock.now();
  if (!last) return null;
  const since = last.evaluatedAt === null ? Number.POSITIVE_INFINITY : now - last.evaluatedAt;
  if (since >= 0 && since < 0.8 * parts.everyMs) return null;
  const minute = lastMinute(now);
  const isNewMinute = last.minuteAt === null || minute !== last.minuteAt;
  const rules = (await readActiveRules(tx)).filter(({ source }) => isNewMinute || !BY_MINUTE.has(source));
  const facts = await gather(parts, rules, parts.usual, now);
  const stored = await readStored(tx, now);
  const isResumed = since < 0 || since > RESUMED_AFTER * Math.max(parts.everyMs, 1_000);
  const changed: string[] = [];
  const { timezone } = parts.settings.current();
  for (const rule of rules) {
    const observed = isInForce(rule.hours, now, timezone) ? observe(rule, facts, now) : [];
    if (!observed) continue;
    const changes = changesOf(observed, stored.get(rule.id) ?? [], timingOf(rule), now, isResumed);
    changed.push(...(await writeChanges(tx, rule, changes, now)));
  }
  await publishAlarms(tx, changed);
  await recordRound(tx, now, minute);
  return facts;
}

/** How the machines of a rule go. */
export function timingOf({
  forSeconds,
  noData,
  condition,
}: Pick<ActiveRule, 'forSeconds' | 'noData' | 'condition'>) {
  return { forMs: forSeconds * 1_000, noData, isLowWorse: isLowWorse(condition) };
}

/** Tells subscribers how alarms are now. */
export async function publishAlarms(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const alarms = await findAlarms(tx, ids);
  await recordChanges(
    tx,
    alarms.map((body) => ({ topic: 'alarms', body })),
  );
}

async function planMessages(parts: RoundParts, tx: Transaction, facts: Facts): Promise<void> {
  if (!(await takeTurn(tx))) return;
  const now = parts.clock.now();
  const alarms = await readToPlan(tx, now);
  const groups = await readOpenGroups(tx);
  if (alarms.length + groups.length === 0) return;
  const suppressed = await suppressNow(parts, tx, alarms, facts, now);
  const policies = await readPoliciesToPlan(tx);
  const planned = plan(
    {
      policies,
      groups,
      alarms: alarms.map((alarm) => groupedOf(alarm, suppressed)),
      newId: randomUUID,
    },
    now,
  );
  await writePlan(tx, planned);
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  for (const message of planned.messages) {
    const policy = byId.get(message.policyId);
    if (policy) await tell(parts, tx, message, policy, now);
  }
}

/** Finds and records why alarms are not told. */
async function suppressNow(
  { questions, clock: _, ...parts }: RoundParts,
  tx: Transaction,
  alarms: readonly PlannedAlarm[],
  { sensors }: Facts,
  now: number,
): Promise<ReadonlyMap<string, Suppression>> {
  const firing = alarms.filter(({ isFiring }) => isFiring);
  const isAboutData = firing.some(({ source }) => source === 'TRAFFIC' || source === 'SENSOR_PLAUSIBILITY');
  const known = isAboutData ? (sensors ?? (await readSensorFacts(questions))) : [];
  const suppressed = suppress(
    firing,
    await readActiveSilences(tx, now),
    notWorkingOf(known),
    await readMaintained(tx),
  );
  const changed = firing.flatMap((alarm) => {
    const { silencedBy = null, cause = null, causeId = null } = suppressed.get(alarm.id) ?? {};
    const isSame =
      silencedBy === alarm.silencedBy && cause === alarm.inhibitedBy && causeId === alarm.inhibitingId;
    return isSame ? [] : [{ id: alarm.id, silencedBy, cause, causeId }];
  });
  await writeSuppressions(tx, changed);
  if (changed.length > 0)
    parts.log.debug({ alarms: changed.length }, 'alarms are silenced, inhibited or told again');
  return suppressed;
}

function notWorkingOf(sensors: Facts['sensors']): NotWorking {
  const known = sensors ?? [];
  const working = new Set(
    known.flatMap(({ status, locationId }) => (status === 'ONLINE' ? [locationId] : [])),
  );
  return {
    sensorIds: new Set(known.flatMap(({ id, status }) => (status === 'ONLINE' ? [] : [id]))),
    locationIds: new Set(
      known.flatMap(({ locationId }) => (locationId === null || working.has(locationId) ? [] : [locationId])),
    ),
  };
}

function groupedOf(alarm: PlannedAlarm, suppressed: ReadonlyMap<string, Suppression>): GroupedAlarm {
  const { id, ruleId, key, policyId, groupBy, groupId, isFiring, isFlapping, rank, firedAt } = alarm;
  return {
    id,
    // An alarm that begins or ends to flap is news.
    identity: `${ruleId}:${key}${isFlapping ? '~' : ''}`,
    policyId,
    groupKey: groupBy.map((label) => `${label}:${labelOf(alarm, label) ?? ''}`).join(' ') || 'ALL:',
    groupId,
    isFiring,
    severity: rank,
    firedAt,
    isAcknowledged: alarm.isAcknowledged,
    isSettled: alarm.isSettled,
    isSuppressed: isFiring ? suppressed.has(id) : alarm.silencedBy !== null || alarm.inhibitedBy !== null,
  };
}

/** Announces a message; if it reaches nobody, the later steps are taken at once. */
async function tell(
  { announce, log }: RoundParts,
  tx: Transaction,
  message: Message,
  policy: NamedPolicy,
  now: number,
): Promise<void> {
  const alarms = await findAnnounced(tx, message.alarmIds);
  const severity = severityOfRank(Math.max(1, ...alarms.map(({ rank }) => rank))) ?? 'LOW';
  const announcement = {
    groupId: message.groupId,
    kind: message.kind,
    severity,
    alarms: alarms.map(({ rank: _, ...alarm }) => alarm),
    total: message.total,
    policyId: policy.id,
    policyName: policy.name,
    dueAt: new Date(now),
  };
  const isUrgent = message.kind !== 'CLEARED' && message.kind !== 'REPEAT';
  for (const [n, to] of [message.to, ...(isUrgent ? message.later : [])].entries()) {
    const { recipients } = await announce(tx, { ...announcement, step: message.step + n, to });
    if (recipients > 0) return;
  }
  log.warn({ policy: policy.name, alarms: message.total }, 'nobody can be told of alarms');
}
