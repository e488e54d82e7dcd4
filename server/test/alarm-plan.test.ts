import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Group,
  type GroupedAlarm,
  type Message,
  type PlannedPolicy,
  plan,
  STORM_KEY,
} from '../src/alarms/plan.ts';
import { placeKey, type Suppressible, suppress, WHOLE_RULE } from '../src/alarms/suppress.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const ROUND = 10 * SECOND;

const policy: PlannedPolicy = {
  id: 'p',
  steps: [
    { afterMinutes: 0, to: [{ userId: 'operator' }], whileNot: 'ACKNOWLEDGED' },
    { afterMinutes: 5, to: [{ userId: 'chief' }], whileNot: 'ACKNOWLEDGED' },
    { afterMinutes: 15, to: [{ userId: 'director' }], whileNot: 'CLEARED' },
  ],
  waitMs: 10 * SECOND,
  intervalMs: 5 * MINUTE,
  repeatMs: 240 * MINUTE,
  notifyClear: true,
};

interface Told extends Message {
  readonly at: number;
}

/** Rounds over some alarms, which a test changes between them. */
class Rounds {
  now = 0;
  readonly told: Told[] = [];
  alarms: GroupedAlarm[] = [];
  groups: Group[] = [];
  readonly #policy: PlannedPolicy;
  #next = 0;

  constructor(given: Partial<PlannedPolicy> = {}) {
    this.#policy = { ...policy, ...given };
  }

  fire(key: string, more: Partial<GroupedAlarm> = {}): string {
    const id = `a${this.#next++}`;
    this.alarms.push({
      id,
      identity: `r:${key}`,
      policyId: 'p',
      groupKey: 'RULE:r',
      groupId: null,
      isFiring: true,
      severity: 2,
      firedAt: this.now,
      isAcknowledged: false,
      isSettled: false,
      isSuppressed: false,
      ...more,
    });
    return id;
  }

  set(id: string, more: Partial<GroupedAlarm>): void {
    this.alarms = this.alarms.map((alarm) => (alarm.id === id ? { ...alarm, ...more } : alarm));
  }

  /** Rounds for some minutes, and the messages of these. */
  pass(minutes: number): Told[] {
    const before = this.told.length;
    const end = this.now + minutes * MINUTE;
    while (this.now < end) {
      this.now += ROUND;
      this.#round();
    }
    return this.told.slice(before);
  }

  #round(): void {
    const open = this.groups.filter(({ closedAt }) => closedAt === null);
    const loaded = this.alarms.filter(
      ({ isFiring, isSettled, groupId, firedAt }) =>
        isFiring || (!isSettled && groupId !== null) || firedAt > this.now - 10 * MINUTE,
    );
    const planned = plan(
      { policies: [this.#policy], groups: open, alarms: loaded, newId: () => `g${this.#next++}` },
      this.now,
    );
    const changed = new Map(planned.groups.map((group) => [group.id, group]));
    this.groups = this.groups.map((group) => changed.get(group.id) ?? group);
    const known = new Set(this.groups.map(({ id }) => id));
    this.groups.push(...planned.groups.filter(({ id }) => !known.has(id)));
    for (const { alarmId, groupId } of planned.joins) this.set(alarmId, { groupId });
    for (const id of planned.settled) this.set(id, { isSettled: true });
    this.told.push(...planned.messages.map((message) => ({ ...message, at: this.now })));
  }
}

const kinds = (told: readonly Told[]) => told.map(({ kind }) => kind);

describe('messages about a group of alarms', () => {
  it('wait for further alarms, and tell changes after the interval', () => {
    const rounds = new Rounds();
    rounds.fire('a');
    rounds.pass(1 / 6);
    rounds.fire('b');
    const first = rounds.pass(1);
    expect(first).toMatchObject([{ kind: 'FIRST', total: 2, to: [{ userId: 'operator' }], step: 0 }]);
    rounds.fire('c', { isAcknowledged: true });
    for (const { id } of rounds.alarms) rounds.set(id, { isAcknowledged: true });
    expect(rounds.pass(3)).toEqual([]);
    expect(rounds.pass(3)).toMatchObject([{ kind: 'CHANGED', total: 3 }]);
  });

  it('escalate while nobody acknowledges, each step once', () => {
    const rounds = new Rounds();
    rounds.fire('a');
    const told = rounds.pass(60);
    expect(told.map(({ kind, to, step }) => [kind, to, step])).toEqual([
      ['FIRST', [{ userId: 'operator' }], 0],
      ['ESCALATED', [{ userId: 'chief' }], 1],
      ['ESCALATED', [{ userId: 'director' }], 2],
    ]);
    expect(told.map(({ at }) => Math.floor((at - (told[0]?.at ?? 0)) / MINUTE))).toEqual([0, 5, 15]);
  });

  it('stop at an acknowledgement, except for steps until the end, and begin again for another alarm', () => {
    const rounds = new Rounds();
    const first = rounds.fire('a');
    rounds.pass(1);
    rounds.set(first, { isAcknowledged: true });
    expect(kinds(rounds.pass(60))).toEqual([]);
    rounds.fire('b');
    expect(rounds.pass(30).map(({ kind, step }) => [kind, step])).toEqual([
      ['CHANGED', 0],
      ['ESCALATED', 1],
      ['ESCALATED', 2],
    ]);
  });

  it('are repeated while nothing changes, and tell the end to all who were told', () => {
    const rounds = new Rounds({ repeatMs: 30 * MINUTE });
    const id = rounds.fire('a');
    expect(kinds(rounds.pass(80))).toEqual(['FIRST', 'ESCALATED', 'ESCALATED', 'REPEAT', 'REPEAT']);
    rounds.set(id, { isFiring: false });
    expect(rounds.pass(10)).toMatchObject([
      { kind: 'CLEARED', to: [{ userId: 'operator' }, { userId: 'chief' }, { userId: 'director' }] },
    ]);
    expect(rounds.groups.every(({ closedAt }) => closedAt !== null)).toBe(true);
    expect(rounds.pass(60)).toEqual([]);
  });

  it('say nothing of an end if the policy says so, nor of alarms that ended before anybody was told', () => {
    const quiet = new Rounds({ notifyClear: false });
    const id = quiet.fire('a');
    quiet.pass(1);
    quiet.set(id, { isFiring: false });
    expect(quiet.pass(20)).toEqual([]);
    const short = new Rounds();
    short.set(short.fire('a'), { isFiring: false });
    expect(short.pass(20)).toEqual([]);
  });

  it('do not tell an alarm again that ended and fires again within the interval', () => {
    const rounds = new Rounds();
    const id = rounds.fire('a');
    rounds.pass(1);
    rounds.set(id, { isFiring: false });
    rounds.fire('a');
    expect(kinds(rounds.pass(4.5))).toEqual([]);
    expect(kinds(rounds.pass(2))).toEqual(['ESCALATED']);
  });
});

describe('a storm', () => {
  it.each([1, 2_000])('of 2,000 alarms in groups of %i is three messages for each recipient', (size) => {
    const rounds = new Rounds();
    const ids = Array.from({ length: 2_000 }, (_, n) =>
      rounds.fire(`k${n}`, { groupKey: `LOCATION:${Math.floor(n / size)}`, severity: 1 + (n % 4) }),
    );
    const told = rounds.pass(3);
    expect(told).toMatchObject([{ kind: 'SUMMARY', total: 2_000 }]);
    expect(told[0]?.alarmIds).toHaveLength(5);
    for (const id of ids) rounds.set(id, { isAcknowledged: true });
    expect(rounds.pass(30)).toEqual([]);
    for (const id of ids) rounds.set(id, { isFiring: false });
    const ended = rounds.pass(30);
    expect(ended).toHaveLength(1);
    expect(rounds.told.length).toBeLessThan(4);
    expect(rounds.groups.every(({ closedAt }) => closedAt !== null)).toBe(true);
  });

  it('is summed up every five minutes, names the most urgent, and escalates as one', () => {
    const rounds = new Rounds();
    for (let minute = 0; minute < 20; minute++) {
      for (let n = 0; n < 3; n++)
        rounds.fire(`${minute} ${n}`, { severity: n === 1 ? 4 : 1, groupKey: `X:${minute}` });
      rounds.pass(1);
    }
    const summaries = rounds.told.filter(({ kind }) => kind === 'SUMMARY');
    const gaps = summaries.slice(1).map(({ at }, n) => at - (summaries[n]?.at ?? 0));
    expect(summaries.length).toBeGreaterThan(2);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5 * MINUTE);
    const urgent = new Set(rounds.alarms.filter(({ severity }) => severity === 4).map(({ id }) => id));
    const last = summaries.at(-1)?.alarmIds ?? [];
    expect(last.every((id) => urgent.has(id))).toBe(true);
    const afterFirst = rounds.told.slice(rounds.told.findIndex(({ kind }) => kind === 'SUMMARY'));
    expect(kinds(afterFirst).filter((kind) => kind === 'FIRST')).toEqual([]);
    expect(kinds(afterFirst).filter((kind) => kind === 'ESCALATED')).toHaveLength(2);
  });
});

/** What happens in a round: an alarm fires, ends, is acknowledged, or is suppressed or no longer. */
const happening = fc.record({
  what: fc.constantFrom('fire', 'end', 'acknowledge', 'suppress', 'release', 'nothing', 'nothing'),
  key: fc.integer({ min: 0, max: 14 }),
  group: fc.integer({ min: 0, max: 2 }),
  minutes: fc.integer({ min: 0, max: 8 }),
});

describe('whatever happens', () => {
  it('holds that steps are taken once, nothing suppressed is told, and everything else is (N2 to N4)', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 40 }), (happenings) => {
        const rounds = new Rounds();
        for (const { what, key, group, minutes } of happenings) {
          const current = rounds.alarms.find(({ identity, isFiring }) => isFiring && identity === `r:${key}`);
          if (what === 'fire' && !current)
            rounds.fire(`${key}`, { groupKey: `X:${group}`, severity: 1 + (key % 4) });
          if (what === 'end' && current) rounds.set(current.id, { isFiring: false });
          if (what === 'acknowledge' && current) rounds.set(current.id, { isAcknowledged: true });
          if (what === 'suppress' && current) rounds.set(current.id, { isSuppressed: true });
          if (what === 'release' && current) rounds.set(current.id, { isSuppressed: false });
          const byId = new Map(rounds.alarms.map((alarm) => [alarm.id, alarm]));
          for (const { alarmIds, kind } of rounds.pass(minutes)) {
            const about = alarmIds.map((id) => byId.get(id));
            expect(about.every((alarm) => alarm && !alarm.isSuppressed)).toBe(true);
            const isAllSeen = about.every((alarm) => alarm?.isAcknowledged);
            if (kind === 'FIRST') expect(isAllSeen).toBe(false);
            expect(about.length).toBeGreaterThan(0);
          }
        }
        const steps = rounds.told
          .filter(({ kind }) => kind === 'FIRST' || kind === 'ESCALATED')
          .map(({ groupId, step }) => `${groupId} ${step}`);
        expect(new Set(steps).size).toBe(steps.length);
        // By the longest wait, everybody was told of what still fires.
        rounds.pass(12);
        const told = new Set(rounds.told.flatMap(({ groupId }) => groupId));
        const storms = rounds.groups.filter(({ key }) => key === STORM_KEY).map(({ id }) => id);
        for (const alarm of rounds.alarms.filter((each) => each.isFiring && !each.isSuppressed)) {
          const group = rounds.groups.find(({ id }) => id === alarm.groupId);
          expect(group?.toldFiring).toContain(alarm.identity);
          const isTold =
            told.has(`${group?.id}`) || storms.some((id) => told.has(id)) || alarm.isAcknowledged;
          expect(isTold).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('alarms that nobody is told of', () => {
  const alarm = (id: string, more: Partial<Suppressible> = {}): Suppressible => ({
    id,
    ruleId: 'rule',
    key: id,
    source: 'SENSOR_STATUS',
    severity: 'MEDIUM',
    sensorId: `sensor ${id}`,
    locationId: 'km 12',
    ...more,
  });
  const nothing = { sensorIds: new Set<string>(), locationIds: new Set<string>() };
  const place = alarm('place', { key: placeKey('km 12'), sensorId: null });

  it('are those of sensors at a place that does not work, with that as the cause', () => {
    const elsewhere = alarm('c', { locationId: 'km 13' });
    const found = suppress(
      [alarm('a'), alarm('b', { source: 'SENSOR_ISSUE' }), place, elsewhere],
      [],
      nothing,
    );
    expect([...found]).toEqual([
      ['a', { silencedBy: null, cause: 'ALARM', causeId: 'place' }],
      ['b', { silencedBy: null, cause: 'ALARM', causeId: 'place' }],
    ]);
  });

  it('are all but one of several alarms about the same place', () => {
    const urgent = { ...place, id: 'urgent', ruleId: 'other', severity: 'CRITICAL' as const };
    expect([...suppress([place, urgent], [], nothing).keys()]).toEqual(['place']);
    expect([...suppress([urgent, place], [], nothing).keys()]).toEqual(['place']);
  });

  it('are those of a rule that fires as a whole', () => {
    const whole = alarm('whole', { key: WHOLE_RULE, sensorId: null, locationId: null });
    expect([...suppress([alarm('a'), whole, alarm('b', { ruleId: 'other' })], [], nothing).keys()]).toEqual([
      'a',
    ]);
  });

  it('are those of a sensor in maintenance, but not what happens on the road', () => {
    const maintained = new Map([['sensor a', 'works']]);
    const all = (['SENSOR_STATUS', 'CERTIFICATE', 'HIT', 'INCIDENT_UNATTENDED'] as const).map((source) =>
      alarm(source, { source, sensorId: 'sensor a' }),
    );
    expect([...suppress(all, [], nothing, maintained).keys()]).toEqual(['SENSOR_STATUS', 'CERTIFICATE']);
  });

  it('are those about data of what does not work', () => {
    const known = { sensorIds: new Set(['sensor a']), locationIds: new Set(['km 12']) };
    const data = [
      alarm('a', { source: 'SENSOR_PLAUSIBILITY' }),
      alarm('b', { source: 'TRAFFIC', sensorId: null }),
      alarm('c', { source: 'SENSOR_PLAUSIBILITY' }),
      alarm('d', { source: 'INCIDENT_UNATTENDED', sensorId: 'sensor a' }),
    ];
    const causes = [...suppress(data, [], known)].map(([id, { cause }]) => [id, cause]);
    expect(causes).toEqual([
      ['a', 'SENSOR_NOT_WORKING'],
      ['b', 'PLACE_NOT_WORKING'],
    ]);
  });

  it('are those that match every matcher of a silence, whatever the case of ids', () => {
    const silence = {
      id: 's',
      matchers: [
        { label: 'LOCATION' as const, values: ['KM 12', 'km 14'] },
        { label: 'SEVERITY' as const, values: ['MEDIUM'] },
      ],
    };
    const given = [alarm('a'), alarm('b', { severity: 'HIGH' }), alarm('c', { locationId: null })];
    expect([...suppress(given, [silence], nothing)]).toEqual([
      ['a', { silencedBy: 's', cause: null, causeId: null }],
    ]);
  });
});
