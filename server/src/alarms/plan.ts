import type { AlarmTarget, PolicyStep } from '@gantry/contract/alarms';

// Who is to be told what now: a pure function of policies, groups and alarms. Groups, intervals and repetitions are those
// of Prometheus Alertmanager. Times are Unix milliseconds.

/** An alarm that is firing, or whose end is not told yet. */
export interface GroupedAlarm {
  readonly id: string;
  /** The rule and the key: an alarm that fires again is the same to those who were told. */
  readonly identity: string;
  readonly policyId: string | null;
  /** The values of the labels by which the rule groups its alarms. */
  readonly groupKey: string;
  readonly groupId: string | null;
  readonly isFiring: boolean;
  /** From 1 LOW to 4 CRITICAL. */
  readonly severity: number;
  readonly firedAt: number;
  readonly isAcknowledged: boolean;
  /** Whether the end of an alarm was told, or need not be. */
  readonly isSettled: boolean;
  /** Whether it is silenced or inhibited. */
  readonly isSuppressed: boolean;
}

export interface PlannedPolicy {
  readonly id: string;
  readonly steps: readonly PolicyStep[];
  readonly waitMs: number;
  readonly intervalMs: number;
  readonly repeatMs: number;
  readonly notifyClear: boolean;
}

/** An open group. */
export interface Group {
  readonly id: string;
  readonly policyId: string;
  readonly key: string;
  readonly openedAt: number;
  /** When it is looked at next. */
  readonly nextAt: number;
  readonly closedAt: number | null;
  /** Number of steps that were taken. */
  readonly step: number;
  readonly firstToldAt: number | null;
  readonly toldAt: number | null;
  /** The identities in the latest message. */
  readonly toldFiring: readonly string[];
  readonly toldCleared: readonly string[];
}

export type MessageKind = 'FIRST' | 'CHANGED' | 'REPEAT' | 'ESCALATED' | 'CLEARED' | 'SUMMARY';

/** A message to write. */
export interface Message {
  readonly groupId: string;
  readonly policyId: string;
  /** The latest step of the policy that was taken, from 0. */
  readonly step: number;
  readonly kind: MessageKind;
  /** The most urgent first. */
  readonly alarmIds: readonly string[];
  /** Number of alarms that it is about. */
  readonly total: number;
  readonly to: readonly AlarmTarget[];
  /** The later steps, for when nobody can be reached. */
  readonly later: readonly (readonly AlarmTarget[])[];
}

export interface Plan {
  /** New and changed groups. */
  readonly groups: readonly Group[];
  /** The groups that alarms join. */
  readonly joins: readonly { readonly alarmId: string; readonly groupId: string }[];
  /** Ended alarms that need not be told of any more. */
  readonly settled: readonly string[];
  readonly messages: readonly Message[];
}

/** More new alarms of a policy in this time are a storm (ISA 18.2: more than ten in ten minutes are too many for a person). */
export const STORM_MS = 600_000;
const STORM_ALARMS = 10;
/** The interval of summaries during a storm. */
export const SUMMARY_MS = 300_000;
const SUMMARY_ALARMS = 5;
/** Maximum number of alarms in a message. */
const MESSAGE_ALARMS = 20;
/** The key of the group that stands for all of a policy. No other key is without a colon. */
export const STORM_KEY = 'storm';

export interface Situation {
  readonly policies: readonly PlannedPolicy[];
  readonly groups: readonly Group[];
  readonly alarms: readonly GroupedAlarm[];
  readonly newId: () => string;
}

/** What is to be done now. */
export function plan(situation: Situation, now: number): Plan {
  const { groups, joins, members } = join(situation, now);
  const settled: string[] = [];
  const messages: Message[] = [];
  const changed = new Map<string, Group>();
  const known = new Map(situation.groups.map((group) => [group.id, group]));
  for (const group of groups) if (!known.has(group.id)) changed.set(group.id, group);
  for (const policy of situation.policies) {
    const own = groups.filter(({ policyId }) => policyId === policy.id);
    const planned = planPolicy(policy, own, members, situation, now);
    for (const group of planned.groups) if (group !== known.get(group.id)) changed.set(group.id, group);
    settled.push(...planned.settled);
    messages.push(...planned.messages);
  }
  return { groups: [...changed.values()], joins, settled, messages };
}

type Members = ReadonlyMap<string, readonly GroupedAlarm[]>;

/** Puts firing alarms into groups. */
function join({ policies, groups, alarms, newId }: Situation, now: number) {
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const open = new Map(groups.map((group) => [`${group.policyId} ${group.key}`, group]));
  const joins: { alarmId: string; groupId: string }[] = [];
  const members = new Map<string, GroupedAlarm[]>();
  const ids = new Set(groups.map(({ id }) => id));
  for (const alarm of alarms) {
    const policy = alarm.policyId === null ? undefined : byId.get(alarm.policyId);
    let groupId = alarm.groupId !== null && ids.has(alarm.groupId) ? alarm.groupId : null;
    if (groupId === null && alarm.isFiring && policy) {
      const name = `${policy.id} ${alarm.groupKey}`;
      const group = open.get(name) ?? newGroup(newId(), policy, alarm.groupKey, now);
      open.set(name, group);
      groupId = group.id;
      joins.push({ alarmId: alarm.id, groupId });
    }
    if (groupId === null) continue;
    const together = members.get(groupId);
    if (together) together.push(alarm);
    else members.set(groupId, [alarm]);
  }
  return { groups: [...open.values()], joins, members: members as Members };
}

function newGroup(id: string, policy: PlannedPolicy, key: string, now: number): Group {
  const nextAt = key === STORM_KEY ? now : now + policy.waitMs;
  const told = { firstToldAt: null, toldAt: null, toldFiring: [], toldCleared: [] };
  return { id, policyId: policy.id, key, openedAt: now, nextAt, closedAt: null, step: 0, ...told };
}

/** What a group would tell now. */
interface Due {
  readonly group: Group;
  readonly all: readonly GroupedAlarm[];
  readonly firing: readonly GroupedAlarm[];
  readonly cleared: readonly GroupedAlarm[];
  /** Null if there is nothing to tell. */
  readonly kind: Exclude<MessageKind, 'ESCALATED' | 'SUMMARY'> | null;
}

function planPolicy(
  policy: PlannedPolicy,
  own: readonly Group[],
  members: Members,
  situation: Situation,
  now: number,
): Pick<Plan, 'groups' | 'settled' | 'messages'> {
  const ordinary = own.filter(({ key }) => key !== STORM_KEY);
  const due = ordinary
    .filter(({ nextAt }) => nextAt <= now)
    .map((group) => dueOf(policy, group, members.get(group.id) ?? [], now));
  const telling = due.filter(({ kind }) => kind !== null);
  const { alarms } = situation;
  const active = alarms.filter(
    (alarm) => alarm.isFiring && !alarm.isSuppressed && alarm.policyId === policy.id,
  );
  const fresh = alarms.filter(
    ({ policyId, isSuppressed, firedAt }) =>
      policyId === policy.id && !isSuppressed && firedAt > now - STORM_MS,
  ).length;
  const isTooMuch = fresh > STORM_ALARMS || telling.length > STORM_ALARMS;
  const storm = own.find(({ key }) => key === STORM_KEY);
  const isStorm = isTooMuch || (storm !== undefined && now - storm.openedAt < STORM_MS);
  const messages: Message[] = [];
  const groups: Group[] = [];
  if (isStorm) {
    const current = storm ?? newGroup(situation.newId(), policy, STORM_KEY, now);
    const told = summarize(policy, current, telling, active, now);
    messages.push(...told.messages);
    groups.push(told.storm, ...told.groups);
    const waiting = new Set(told.isTold ? [] : telling.map(({ group }) => group.id));
    const rest = due.filter(({ kind }) => kind === null);
    groups.push(...rest.map((each) => flushed(policy, each, now)));
    const settled = due.filter(({ group }) => !waiting.has(group.id)).flatMap(settledBy);
    return { groups, settled, messages };
  }
  if (storm) groups.push({ ...storm, closedAt: now });
  for (const each of due) {
    const told = tell(policy, each, now);
    messages.push(...told.messages);
    groups.push(told.group);
  }
  const looked = new Map(groups.map((group) => [group.id, group]));
  for (const group of ordinary) {
    const latest = looked.get(group.id) ?? group;
    const escalated = escalate(policy, latest, activeIn(members.get(group.id) ?? []), now);
    if (!escalated) continue;
    messages.push(escalated.message);
    looked.set(group.id, escalated.group);
  }
  return { groups: [...looked.values()], settled: due.flatMap(settledBy), messages };
}

function activeIn(alarms: readonly GroupedAlarm[]): GroupedAlarm[] {
  return alarms.filter(({ isFiring, isSuppressed }) => isFiring && !isSuppressed);
}

function settledBy({ all }: Due): string[] {
  return all.filter(({ isFiring, isSettled }) => !isFiring && !isSettled).map(({ id }) => id);
}

function dueOf(policy: PlannedPolicy, group: Group, all: readonly GroupedAlarm[], now: number): Due {
  const firing = activeIn(all);
  const isOn = new Set(all.filter((alarm) => alarm.isFiring).map(({ identity }) => identity));
  const cleared = all.filter(
    ({ isFiring, isSuppressed, isSettled, identity }) =>
      !isFiring && !isSuppressed && !isSettled && !isOn.has(identity),
  );
  return { group, all, firing, cleared, kind: kindOf(policy, group, firing, cleared, now) };
}

/** Alertmanager's `DedupStage.needsUpdate`. */
function kindOf(
  policy: PlannedPolicy,
  { toldAt, toldFiring, toldCleared }: Group,
  firing: readonly GroupedAlarm[],
  cleared: readonly GroupedAlarm[],
  now: number,
): Due['kind'] {
  if (firing.length + cleared.length === 0) return null;
  if (toldAt === null) return firing.length > 0 ? 'FIRST' : null;
  if (!isWithin(firing, toldFiring)) return 'CHANGED';
  if (firing.length === 0) return toldFiring.length > 0 ? 'CLEARED' : null;
  if (policy.notifyClear && !isWithin(cleared, toldCleared)) return 'CHANGED';
  return toldAt < now - policy.repeatMs ? 'REPEAT' : null;
}

function isWithin(alarms: readonly GroupedAlarm[], told: readonly string[]): boolean {
  const known = new Set(told);
  return alarms.every(({ identity }) => known.has(identity));
}

/** The group after it was looked at. It closes once none of its alarms is firing. */
function flushed(policy: PlannedPolicy, { group, all }: Due, now: number): Group {
  const isOver = !all.some(({ isFiring }) => isFiring);
  return { ...group, nextAt: now + policy.intervalMs, closedAt: isOver ? now : null };
}

function tell(policy: PlannedPolicy, due: Due, now: number): { group: Group; messages: Message[] } {
  const { kind, firing, cleared } = due;
  const group = flushed(policy, due, now);
  if (kind === null) return { group, messages: [] };
  const told = noteTold(group, due, Math.max(group.step, 1), now);
  const about = kind === 'CLEARED' ? cleared : [...firing, ...(policy.notifyClear ? cleared : [])];
  const steps = policy.steps
    .slice(0, told.step)
    .filter((each) => kind === 'CLEARED' || kind === 'CHANGED' || isPending(each, firing));
  const isQuiet = (kind === 'CLEARED' && !policy.notifyClear) || about.length === 0;
  if (isQuiet || steps.length === 0) return { group: told, messages: [] };
  return { group: told, messages: [messageOf(policy, told, kind, about, steps)] };
}

function noteTold(group: Group, { firing, cleared }: Due, step: number, now: number): Group {
  return {
    ...group,
    step,
    toldAt: now,
    firstToldAt: group.firstToldAt ?? now,
    toldFiring: firing.map(({ identity }) => identity),
    toldCleared: cleared.map(({ identity }) => identity),
  };
}

/** Whether a step is to be taken: something fires, and was not acknowledged if that suffices. */
function isPending({ whileNot }: PolicyStep, firing: readonly GroupedAlarm[]): boolean {
  return firing.some(({ isAcknowledged }) => whileNot === 'CLEARED' || !isAcknowledged);
}

/** The next step of a group that was told, if it is due: each is taken once. */
function escalate(
  policy: PlannedPolicy,
  group: Group,
  firing: readonly GroupedAlarm[],
  now: number,
): { group: Group; message: Message } | null {
  const next = policy.steps[group.step];
  const { firstToldAt } = group;
  if (!next || firstToldAt === null || group.closedAt !== null) return null;
  const isOverdue = firing.some(
    (alarm) =>
      isPending(next, [alarm]) && now - Math.max(alarm.firedAt, firstToldAt) >= next.afterMinutes * 60_000,
  );
  if (!isOverdue) return null;
  const taken = { ...group, step: group.step + 1 };
  return { group: taken, message: messageOf(policy, taken, 'ESCALATED', firing, [next]) };
}

/** Tells everything at once, at most every five minutes, and takes further steps. */
function summarize(
  policy: PlannedPolicy,
  storm: Group,
  telling: readonly Due[],
  active: readonly GroupedAlarm[],
  now: number,
): { storm: Group; groups: Group[]; messages: Message[]; isTold: boolean } {
  const isTold = telling.length > 0 && (storm.toldAt === null || now - storm.toldAt >= SUMMARY_MS);
  if (!isTold) {
    const escalated = escalate(policy, storm, active, now);
    const messages = escalated ? [escalated.message] : [];
    return { storm: escalated?.group ?? storm, groups: [], messages, isTold };
  }
  const step = Math.max(storm.step, 1);
  const steps = policy.steps.slice(0, step);
  const about = active.length > 0 ? active : telling.flatMap(({ cleared }) => cleared);
  const told = { ...storm, step, toldAt: now, firstToldAt: storm.firstToldAt ?? now };
  const groups = telling.map((due) =>
    noteTold(flushed(policy, due, now), due, Math.max(due.group.step, step), now),
  );
  const isQuiet = active.length === 0 && !policy.notifyClear;
  if (isQuiet || about.length === 0) return { storm: told, groups, messages: [], isTold };
  return { storm: told, groups, messages: [messageOf(policy, told, 'SUMMARY', about, steps)], isTold };
}

function messageOf(
  policy: PlannedPolicy,
  group: Group,
  kind: MessageKind,
  about: readonly GroupedAlarm[],
  steps: readonly PolicyStep[],
): Message {
  const urgent = [...about].sort(
    (a, b) => Number(b.isFiring) - Number(a.isFiring) || b.severity - a.severity || a.firedAt - b.firedAt,
  );
  const most = kind === 'SUMMARY' ? SUMMARY_ALARMS : MESSAGE_ALARMS;
  return {
    groupId: group.id,
    policyId: policy.id,
    step: group.step - 1,
    kind,
    alarmIds: urgent.slice(0, most).map(({ id }) => id),
    total: about.length,
    to: distinct(steps.flatMap(({ to }) => to)),
    later: policy.steps.slice(group.step).map(({ to }) => to),
  };
}

function distinct(targets: readonly AlarmTarget[]): AlarmTarget[] {
  return [...new Map(targets.map((target) => [JSON.stringify(target), target])).values()];
}
