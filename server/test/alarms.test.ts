import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Announcement } from '../src/notices/announce.ts';
import { locks } from '../src/platform/database/locks.ts';
import { createApp } from '../src/programs/app.ts';
import { eventually, sharedGantry } from './harness.ts';
import { createShiftedTime } from './shifted-time.ts';
import { openStream } from './sse.ts';

const time = createShiftedTime();
const announced: Announcement[] = [];
let recipients: (announcement: Announcement) => number = () => 1;
const gantry = await sharedGantry({
  overrides: {
    clock: time.sources,
    timings: { evaluateAlarmsMs: 50, sweepSensorsMs: 600_000 },
    announce: async (_, announcement) => {
      announced.push(announcement);
      return { recipients: recipients(announcement) };
    },
  },
});
const admin = await gantry.tokenFor('ADMIN');
const operator = await gantry.tokenFor('OPERATOR');
const me = (await gantry.ok('auth.me', undefined, { token: admin })).id as string;
const ask = (procedure: string, input?: unknown, token = admin) => gantry.ok(procedure, input, { token });
const refuse = (procedure: string, input: unknown, token = admin) =>
  gantry.refusal(procedure, input, { token });

const STATUS = { source: 'SENSOR_STATUS', statuses: ['OFFLINE'] };
const addRule = (fields: object = {}) =>
  ask('alarmRules.create', { name: 'Offline', condition: STATUS, severity: 'HIGH', ...fields });
const addPolicy = (fields: object = {}) =>
  ask('policies.create', {
    name: 'Control room',
    steps: [{ afterMinutes: 0, to: [{ userId: me }] }],
    groupWaitSeconds: 0,
    groupIntervalSeconds: 10,
    ...fields,
  });
let sensors = 0;
const addSensor = async (fields: object = {}) =>
  ask('sensors.create', {
    name: `Radar ${sensors}`,
    deviceId: `radar-${sensors++}`,
    type: 'RADAR',
    ...fields,
  });
const setStatus = (id: string, status: string) =>
  gantry.pool.query('UPDATE sensors SET status = $2 WHERE id = $1', [id, status]);
interface AlarmJson {
  readonly id: string;
  readonly state: string;
  readonly since: string;
  readonly silencedBy: string | null;
  readonly [field: string]: unknown;
}
const alarms = async (input: object = {}): Promise<AlarmJson[]> => (await ask('alarms.getAll', input)).alarms;
const untilAlarms = (satisfies: (alarms: readonly AlarmJson[]) => boolean, input: object = {}) =>
  eventually(() => alarms(input), satisfies);
const evaluated = async () => (await ask('alarms.getStats')).evaluatedAt as string | null;
/** Waits for so many whole rounds. */
const rounds = async (n = 2) => {
  for (let i = 0; i < n; i++) {
    const before = await evaluated();
    await eventually(evaluated, (at) => at !== before);
  }
};

/** Empties the tables between two rounds: one in progress would add alarms of rules that are gone. */
const empty = async () => {
  await gantry.pool.query(`DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(${locks.alarms});
    DELETE FROM alarm_rules;
    DELETE FROM policies;
    DELETE FROM alarms;
    DELETE FROM alarm_groups;
    DELETE FROM silences;
    DELETE FROM watchlist_alerts;
    DELETE FROM incidents;
    DELETE FROM sensors;
  END $$`);
  announced.length = 0;
  recipients = () => 1;
};

it('is a finding of the diagnostics, as long as nobody is told of alarms', async () => {
  const codes = async () =>
    (await ask('system.doctor')).findings.map(({ code }: { code: string }) => code) as string[];
  expect(await codes()).toContain('nobodyTold');
  const policy = await addPolicy();
  const rule = await addRule({ policyId: policy.id });
  expect(await codes()).toContain('alarmsTold');
  await ask('alarmRules.delete', { id: rule.id });
  await ask('policies.delete', { id: policy.id });
  expect(await codes()).toContain('nobodyTold');
});

it('starts with rules that are disabled, and are not added again once they are deleted', async () => {
  const { rules } = await ask('alarmRules.getAll');
  expect(rules.map(({ name, enabled }: { name: string; enabled: boolean }) => [name, enabled])).toEqual([
    ['Backup too old', false],
    ['Critical incident not acknowledged', false],
    ['Disk nearly full', false],
    ['Place without any sensor', false],
    ['Sensor offline', false],
    ['Hotlist stale', false],
    ['Nobody on duty', false],
    ['Hand-over not accepted', false],
  ]);
  for (const rule of rules) {
    expect(rule.createdBy).toBeNull();
    await ask('alarmRules.update', { id: rule.id, severity: rule.severity, condition: rule.condition });
    await ask('alarmRules.delete', { id: rule.id });
  }
  await using _ = await createApp({ ...gantry.app.context.config, PORT: 0 }, gantry.app.context.log);
  expect((await ask('alarmRules.getAll')).total).toBe(0);
});

describe('an alarm', () => {
  beforeEach(empty);

  it('is not about minutes of a detector that counts by intervals, of which nothing is known', async () => {
    const [counter, radar] = [await addSensor(), await addSensor()];
    const start = new Date(Math.floor(time.now() / 3_600_000 - 1) * 3_600_000).toISOString();
    await gantry.ok('counts.ingest', {
      apiKey: counter.apiKey,
      periods: [{ start, seconds: 3_600, volume: 400 }],
    });
    for (const { id } of [counter, radar]) await setStatus(id, 'ONLINE');
    const few = { measure: 'volumePerHour', comparison: 'BELOW', threshold: 10, minutes: 5, per: 'SENSOR' };
    const rule = await addRule({ condition: { source: 'TRAFFIC', ...few } });
    expect(rule.warnings[1]).toMatch(/^1 of 2 sensors in the scope send counts/);
    time.advance(60_000);
    const [found] = await untilAlarms(({ length }) => length > 0);
    expect(found).toMatchObject({ sensorId: radar.id });
    await rounds();
    expect(await alarms()).toHaveLength(1);
  });
  afterEach(empty);

  it('fires, is told, acknowledged, and ends', async () => {
    const policy = await addPolicy();
    const rule = await addRule({ policyId: policy.id, runbook: 'Call the technician' });
    const sensor = await addSensor();
    const [alarm] = await untilAlarms(({ length }) => length === 1);
    expect(alarm).toMatchObject({
      state: 'FIRING',
      ruleId: rule.id,
      severity: 'HIGH',
      sensorId: sensor.id,
      place: sensor.name,
    });
    await eventually(
      async () => announced.length,
      (n) => n === 1,
    );
    expect(announced[0]).toMatchObject({
      kind: 'FIRST',
      step: 0,
      severity: 'HIGH',
      total: 1,
      to: [{ userId: me }],
      policyName: 'Control room',
      alarms: [
        {
          ruleName: 'Offline',
          text: 'The sensor is OFFLINE',
          place: sensor.name,
          runbook: 'Call the technician',
        },
      ],
    });
    await ask('alarms.acknowledge', { id: alarm?.id, note: 'Seen' }, operator);
    expect(await refuse('alarms.acknowledge', { id: alarm?.id })).toMatchObject({
      status: 409,
      message: expect.stringContaining('OPERATOR Tester acknowledged this alarm'),
    });
    expect(await ask('alarms.getById', { id: alarm?.id })).toMatchObject({
      note: 'Seen',
      steps: 1,
      policyName: 'Control room',
      runbook: 'Call the technician',
      toldAt: expect.any(String),
    });
    await setStatus(sensor.id, 'ONLINE');
    await untilAlarms(([one]) => one?.state === 'CLEARED');
    time.advance(5_000);
    await rounds();
    time.advance(5_000);
    await eventually(
      async () => announced.map(({ kind }) => kind),
      (kinds) => kinds.includes('CLEARED'),
    );
    expect(announced.map(({ kind }) => kind)).toEqual(['FIRST', 'CLEARED']);
    expect(await ask('alarms.getStats')).toMatchObject({ firing: 0, firedToday: 1 });
    expect(await refuse('alarms.acknowledge', { id: alarm?.id })).toMatchObject({ status: 409 });
  });

  it('waits for as long as its rule says, and is pending meanwhile', async () => {
    await addRule({ forSeconds: 4 });
    await addSensor();
    await untilAlarms(([one]) => one?.state === 'PENDING', { state: 'PENDING' });
    await rounds();
    expect(await alarms()).toEqual([]);
    time.advance(4_000);
    await untilAlarms(([one]) => one?.state === 'FIRING');
  });

  it('begins to wait again after the service was down', async () => {
    await addRule({ forSeconds: 30 });
    await addSensor();
    const [before] = await untilAlarms(({ length }) => length === 1, { state: 'PENDING' });
    time.advance(3_600_000);
    await rounds();
    const [after] = await alarms({ state: 'PENDING' });
    expect(Date.parse(after?.since ?? '')).toBeGreaterThan(Date.parse(before?.since ?? ''));
    expect(await alarms()).toEqual([]);
  });

  it('ends as CHANGED when its rule changes, except for its name', async () => {
    const rule = await addRule();
    await addSensor();
    const [alarm] = await untilAlarms(({ length }) => length === 1);
    await ask('alarmRules.update', { id: rule.id, name: 'Another name', runbook: 'Look at it' });
    expect((await ask('alarms.getById', { id: alarm?.id })).state).toBe('FIRING');
    await ask('alarmRules.update', { id: rule.id, severity: 'LOW' });
    expect(await ask('alarms.getById', { id: alarm?.id })).toMatchObject({
      state: 'CLEARED',
      clearedBecause: 'CHANGED',
    });
    await untilAlarms((found) => found.filter(({ state }) => state === 'FIRING').length === 1);
    await ask('alarmRules.delete', { id: rule.id });
    const all = await alarms();
    expect(all.map(({ clearedBecause }) => clearedBecause).sort()).toEqual(['CHANGED', 'DELETED']);
  });

  it('of a place stands for those of its sensors, which are listed with that cause', async () => {
    const policy = await addPolicy();
    const location = await ask('locations.create', { name: `A9 km ${sensors}` });
    for (let n = 0; n < 3; n++) await addSensor({ locationId: location.id });
    await addRule({ policyId: policy.id });
    await eventually(
      async () => announced.length,
      (n) => n > 0,
    );
    expect(announced[0]).toMatchObject({
      total: 1,
      alarms: [{ place: location.name, text: '3 of 3 sensors do not work, and none does' }],
    });
    const suppressed = await alarms({ suppressed: true });
    const [place] = await alarms({ suppressed: false });
    expect(suppressed).toHaveLength(3);
    for (const each of suppressed) expect(each.inhibitedBy).toEqual({ cause: 'ALARM', alarmId: place?.id });
    expect((await ask('alarms.getById', { id: place?.id })).inhibits).toHaveLength(3);
  });

  it('is told, and shown, where its sensor is once that is moved', async () => {
    const [from, to] = [
      await ask('locations.create', { name: `A9 km ${sensors}` }),
      await ask('locations.create', { name: `A8 km ${sensors}` }),
    ];
    for (let n = 0; n < 2; n++) await addSensor({ locationId: from.id });
    const moved = await addSensor({ locationId: from.id });
    await setStatus((await addSensor({ locationId: to.id })).id, 'ONLINE');
    await addRule();
    const ofMoved = (all: readonly AlarmJson[]) => all.find(({ sensorId }) => sensorId === moved.id);
    await untilAlarms((all) => ofMoved(all)?.inhibitedBy !== null && all.length === 4);
    await ask('sensors.update', { id: moved.id, locationId: to.id });
    await rounds(3);
    expect(ofMoved(await alarms())).toMatchObject({ locationId: to.id, inhibitedBy: null });
    await ask('sensors.update', { id: moved.id, locationId: null });
    await untilAlarms((all) => ofMoved(all)?.locationId === null);
  });

  it('is not told while it is silenced, and is when the silence ends', async () => {
    const policy = await addPolicy();
    const sensor = await addSensor();
    const endsAt = new Date(time.now() + 3_600_000).toISOString();
    const matchers = [{ label: 'SENSOR', values: [sensor.id.toUpperCase()] }];
    const silence = await ask('silences.create', { matchers, endsAt, reason: 'Works' }, operator);
    await addRule({ policyId: policy.id });
    await untilAlarms(([one]) => one?.silencedBy === silence.id);
    await rounds(3);
    expect(announced).toEqual([]);
    expect(await ask('silences.getAll', { active: true })).toMatchObject({
      total: 1,
      silences: [{ alarms: 1, isActive: true }],
    });
    await ask('silences.end', { id: silence.id }, operator);
    time.advance(5_000);
    await rounds();
    time.advance(5_000);
    await eventually(
      async () => announced.map(({ kind }) => kind),
      (kinds) => kinds.length === 1,
    );
    expect(await refuse('silences.end', { id: silence.id })).toMatchObject({ status: 409 });
  });

  it('goes to the later steps at once if nobody can be reached', async () => {
    recipients = ({ step }) => (step === 2 ? 1 : 0);
    const steps = [0, 10, 20].map((afterMinutes) => ({ afterMinutes, to: [{ userId: me }] }));
    const policy = await addPolicy({ steps });
    await addRule({ policyId: policy.id });
    await addSensor();
    await eventually(
      async () => announced.length,
      (n) => n >= 3,
    );
    expect(announced.map(({ step }) => step)).toEqual([0, 1, 2]);
  });

  it('is seen even if telling fails, which is tried again', async () => {
    recipients = () => {
      if (announced.length < 3) throw new Error('The channel is broken');
      return 1;
    };
    const policy = await addPolicy();
    await addRule({ policyId: policy.id });
    await addSensor();
    await untilAlarms(([one]) => one?.state === 'FIRING');
    await eventually(
      async () => announced.length,
      (n) => n >= 3,
    );
    await rounds(3);
    expect(new Set(announced.map(({ groupId, step }) => `${groupId} ${step}`)).size).toBeGreaterThan(0);
    expect(announced).toHaveLength(3);
  });

  it('is streamed to those who may see it', async () => {
    const own = await openStream(gantry.url, 'alarms.onChanged', { token: operator });
    const any = await openStream(gantry.url, 'live.onAny', {
      token: operator,
      input: { topics: ['alarms'] },
    });
    await addRule();
    const sensor = await addSensor();
    const [alarm] = await untilAlarms(({ length }) => length === 1);
    await ask('alarms.acknowledge', { id: alarm?.id }, operator);
    await setStatus(sensor.id, 'ONLINE');
    for (const [stream, type] of [
      [own, 'alarm'],
      [any, 'alarms'],
    ] as const) {
      const found = await eventually(
        async () => stream.messages.filter(({ data }) => data.type === type),
        ({ length }) => length === 3,
      );
      expect(found.map(({ data }) => [data.alarm.state, data.alarm.acknowledgedAt !== null])).toEqual([
        ['FIRING', false],
        ['FIRING', true],
        ['CLEARED', true],
      ]);
      stream.close();
    }
  });
});

describe('the sources of alarms', () => {
  beforeEach(empty);
  afterEach(empty);
  const firing = async (condition: object, more: object = {}) => {
    const rule = await addRule({ condition, ...more });
    const found = await untilAlarms(({ length }) => length > 0, { ruleId: rule.id });
    return found;
  };

  it('tell a critical issue by its code', async () => {
    const { id, apiKey } = await addSensor();
    await setStatus(id, 'ONLINE');
    const issues = [{ code: 'FAN_STOPPED', message: 'Too hot', severity: 'critical' }];
    await gantry.ok('sensors.heartbeat', { apiKey, issues });
    await addRule({ condition: { source: 'SENSOR_ISSUE', code: 'lens' } });
    const [alarm] = await firing({ source: 'SENSOR_ISSUE', code: 'fan_' });
    expect(alarm).toMatchObject({ sensorId: id, text: 'The sensor reports a critical issue' });
    expect(await alarms()).toHaveLength(1);
  });

  it('tell an incident that nobody acknowledged, until somebody does', async () => {
    const incident = await ask('incidents.create', {
      title: 'Crash',
      type: 'COLLISION',
      severity: 'CRITICAL',
    });
    await ask('incidents.create', { title: 'Small', type: 'OTHER', severity: 'LOW' });
    const condition = { source: 'INCIDENT_UNATTENDED', minSeverity: 'HIGH', lacking: 'ACKNOWLEDGEMENT' };
    const [alarm] = await firing(condition);
    expect(alarm).toMatchObject({ incidentId: incident.id, place: 'Crash' });
    expect(await alarms()).toHaveLength(1);
    await ask('incidents.acknowledge', { id: incident.id }, operator);
    await untilAlarms(([one]) => one?.state === 'CLEARED');
  });

  it.each([
    ['was deactivated', 'users.update', { isActive: false }],
    ['may not manage incidents any more', 'users.updateRole', { role: 'ANALYST' }],
  ])('tell an incident that is assigned to somebody who %s', async (_, procedure, change) => {
    const user = { firstName: 'Kim', lastName: 'Left', role: 'OPERATOR', password: 'Correct-horse-2' };
    const { id: userId } = await ask('users.create', { ...user, email: 'kim@example.org' });
    const fields = { title: 'Crash', type: 'COLLISION', severity: 'HIGH' };
    const { id } = await ask('incidents.create', { ...fields, assignedTo: userId });
    await addRule({ condition: { source: 'INCIDENT_UNATTENDED', lacking: 'OWNER' } });
    await rounds();
    expect(await alarms()).toEqual([]);
    await ask(procedure, { id: userId, ...change });
    expect(await untilAlarms(({ length }) => length > 0)).toMatchObject([{ incidentId: id }]);
    await ask('incidents.assign', { id, userId: me });
    await untilAlarms(([one]) => one?.state === 'CLEARED');
    await ask('users.delete', { id: userId });
  });

  it('tell each hit once, however often the vehicle is read again, and hide its plate', async () => {
    await ask('watchlist.create', { pattern: 'HH XY 1', reason: 'Stolen', priority: 'HIGH' });
    const { apiKey } = await addSensor();
    for (let n = 0; n < 5; n++)
      await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'HH XY 1' });
    await eventually(
      () => gantry.count('watchlist_alerts WHERE sightings = 5'),
      (n) => Number(n) === 1,
    );
    const [alarm] = await firing({ source: 'HIT', minPriority: 'HIGH' });
    expect(alarm).toMatchObject({ licensePlateNumber: 'HH XY 1', alertId: expect.any(String) });
    await rounds();
    expect(await alarms()).toHaveLength(1);
    await ask('watchlist.acknowledgeAlert', { id: alarm?.alertId }, operator);
    await untilAlarms(([one]) => one?.state === 'CLEARED');
  });

  it('tell a hit of one hotlist from its release on, however late that is, and never one of a look-back', async () => {
    const list = (name: string, more: object = {}) =>
      ask('hotlists.create', { name: `${name} ${sensors}`, verification: 'ALWAYS', ...more });
    const [wanted, other] = [await list('Wanted'), await list('Other')];
    const { id: sensorId } = await addSensor();
    const addHit = async (listId: string, plate: string, kind = 'LIVE') => {
      const { rows } = await gantry.pool.query(
        `INSERT INTO watchlist_alerts (id, entry_id, event_id, plate, pattern, reason, priority, sensor_id, sensor_name, read_at,
           created_at, hotlist_id, kind, state)
         VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $1, $1, 'Stolen', 3, $2, 'x', $3, $3, $4, $5, 'NEW') RETURNING id`,
        [plate, sensorId, new Date(time.now() - 20 * 60_000), listId, kind],
      );
      return rows[0].id as string;
    };
    const late = await addHit(wanted.id, 'B LATE 1');
    const ids = [late, await addHit(other.id, 'B OTHER 1'), await addHit(wanted.id, 'B OLD 1', 'LOOK_BACK')];
    await addRule({ condition: { source: 'HIT', listId: wanted.id.toUpperCase() } });
    await rounds();
    expect(await alarms()).toEqual([]);
    await gantry.pool.query(
      `UPDATE watchlist_alerts SET state = 'CONFIRMED', released_at = $1 WHERE id = ANY ($2)`,
      [new Date(time.now()), ids],
    );
    expect(await untilAlarms(({ length }) => length > 0)).toMatchObject([{ alertId: late }]);
    await rounds();
    expect(await alarms()).toHaveLength(1);
    // The past is known up to the last whole minute.
    time.advance(60_000);
    const rule = { name: 'Hits', severity: 'HIGH', condition: { source: 'HIT', listId: wanted.id } };
    expect(await ask('alarmRules.tryRule', { rule, hours: 1 })).toMatchObject({ total: 1 });
  });

  it('say nothing of a hit any more once its list is covert', async () => {
    const policy = await addPolicy({ groupWaitSeconds: 0 });
    const list = await ask('hotlists.create', { name: `Open ${sensors}`, verification: 'ALWAYS' });
    await ask('hotlists.addEntry', { hotlistId: list.id, plate: 'B CV 77', reason: 'Stolen' });
    const { apiKey } = await addSensor();
    await addRule({ condition: { source: 'HIT' }, policyId: policy.id });
    await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'B CV 77' });
    await eventually(
      () => gantry.count('watchlist_alerts'),
      (n) => Number(n) === 1,
    );
    await gantry.pool.query(`UPDATE watchlist_alerts SET state = 'CONFIRMED', released_at = $1`, [
      new Date(time.now()),
    ]);
    await eventually(
      async () => announced.length,
      (n) => n > 0,
    );
    expect(announced[0]?.alarms).toMatchObject([{ plate: 'B CV 77', isReleased: true }]);
    await ask('hotlists.update', { id: list.id, covert: true });
    const [alarm] = await untilAlarms(([one]) => one?.state === 'CLEARED');
    expect(alarm).toMatchObject({ licensePlateNumber: null, alertId: null, sensorId: null });
    time.advance(15_000);
    await eventually(
      async () => announced.filter(({ kind }) => kind === 'CLEARED'),
      (found) => found.length > 0,
    );
    for (const each of announced.slice(1)) expect(each.alarms).toMatchObject([{ isReleased: false }]);
  });

  it('tell hotlists that need care, and do not name covert ones', async () => {
    const names = ['Stale', 'Secret', 'Fresh'].map((name) => `${name} ${sensors}`);
    for (const [n, name] of names.entries()) {
      const { id } = await ask('hotlists.create', {
        name,
        staleAfterHours: n === 2 ? 500 : 1,
        covert: n === 1,
      });
      await gantry.pool.query('UPDATE hotlists SET refreshed_at = $2 WHERE id = $1', [
        id,
        new Date(time.now() - 7_200_000),
      ]);
    }
    await addRule({ condition: { source: 'HOTLIST', states: ['STALE'] } });
    const found = await untilAlarms(({ length }) => length === 2);
    expect(found.map(({ place, text }) => [place, text]).sort()).toEqual(
      [
        [null, 'A covert hotlist was not renewed in time'],
        [names[0], 'The hotlist was not renewed in time'],
      ].sort(),
    );
    expect(JSON.stringify(found)).not.toContain('Secret');
    await gantry.pool.query('UPDATE hotlists SET refreshed_at = $1', [new Date(time.now())]);
    await untilAlarms((all) => all.every(({ state }) => state === 'CLEARED'));
  });

  it('tell that nobody is on duty who should be told, besides the later steps, until somebody is', async () => {
    recipients = ({ to }) => (to.some((target) => 'rotaId' in target) ? 0 : 1);
    const today = new Date(time.now() - 86_400_000).toISOString().slice(0, 10);
    const layer = { start: today, handover: '08:00', days: 7, members: [me] };
    const away = [
      { from: new Date(time.now() - 3_600_000), until: new Date(time.now() + 36_000_000), userId: null },
    ];
    const rota = await ask('rotas.create', { name: `Night ${sensors}`, layers: [layer] });
    await ask('rotas.update', { id: rota.id, overrides: away });
    const steps = [
      { afterMinutes: 0, to: [{ rotaId: rota.id }] },
      { afterMinutes: 10, to: [{ userId: me }] },
    ];
    const policy = await addPolicy({ steps });
    const duty = await addRule({ condition: { source: 'SYSTEM', part: 'DUTY' } });
    await rounds();
    expect(await alarms()).toEqual([]);
    await addRule({ policyId: policy.id });
    await addSensor();
    const [alarm] = await untilAlarms(({ length }) => length === 1, { ruleId: duty.id });
    expect(alarm).toMatchObject({ text: 'Nobody is on duty who should be told of an alarm', value: 1 });
    expect(announced.map(({ step }) => step)).toEqual([0, 1]);
    await ask('rotas.update', { id: rota.id, overrides: [] });
    await untilAlarms(([one]) => one?.state === 'CLEARED', { ruleId: duty.id });
    await empty();
    await ask('rotas.delete', { id: rota.id });
  });

  it('tell how many events there are in some minutes, and that there are too few', async () => {
    const { id, apiKey } = await addSensor();
    for (let n = 0; n < 3; n++) await gantry.ingest(apiKey, { eventType: 'VEHICLE_DETECTION' });
    const rate = { source: 'EVENT_RATE', filter: { sensorId: id }, minutes: 10 };
    time.advance(60_000);
    const [many] = await firing({ ...rate, comparison: 'AT_LEAST', count: 3 });
    expect(many).toMatchObject({ value: 3 });
    time.advance(60_000);
    const [few] = await firing({ ...rate, comparison: 'FEWER_THAN', count: 4 });
    expect(few).toMatchObject({ value: 3, text: 'Fewer than 4 events in 10 min' });
  });

  it('tell what is wrong with the installation', async () => {
    const backup = await firing({ source: 'SYSTEM', part: 'BACKUP', threshold: 0.000001 });
    expect(backup).toMatchObject([{ text: 'The last backup is too old' }]);
    const disk = await firing({ source: 'SYSTEM', part: 'DISK', threshold: 99.99 });
    expect(disk[0]?.value).toBeLessThan(99.99);
  });

  it('tell messages of devices that were missed', async () => {
    const sensor = await addSensor();
    await ask('connections.create', { sensorId: sensor.id, format: 'gantry' });
    await gantry.pool.query('UPDATE connections SET lost_at = $1, lost_messages = 1', [new Date(time.now())]);
    const [alarm] = await firing({ source: 'INTAKE', what: 'MISSED', minutes: 60 });
    expect(alarm).toMatchObject({ sensorId: sensor.id, place: sensor.name });
  });

  it('tell slow traffic at a place, and none where the sensor does not work', async () => {
    const slow = await ask('locations.create', { name: `Slow ${sensors}`, speedLimit: 100 });
    const quick = await ask('locations.create', { name: `Quick ${sensors}`, speedLimit: 100 });
    const silent = await ask('locations.create', { name: `Silent ${sensors}`, speedLimit: 100 });
    for (const [location, vehicleSpeed] of [
      [slow, 30],
      [quick, 90],
      [silent, null],
    ] as const) {
      const { id, apiKey } = await addSensor({ locationId: location.id });
      if (vehicleSpeed === null) continue;
      const timestamp = new Date(time.now()).toISOString();
      for (let n = 0; n < 3; n++)
        await gantry.ingest(apiKey, { eventType: 'SPEED_DETECTION', vehicleSpeed, timestamp });
      await setStatus(id, 'ONLINE');
    }
    await eventually(
      () => gantry.count('traffic_bins WHERE minutes = 1 AND measured > 0'),
      (n) => Number(n) >= 2,
    );
    const traffic = { source: 'TRAFFIC', measure: 'meanSpeed', comparison: 'BELOW', minutes: 10 };
    time.advance(80_000);
    const found = await firing({ ...traffic, threshold: 0.5, of: 'LIMIT' });
    expect(found).toMatchObject([
      { place: slow.name, value: 30, text: 'The mean speed is below 50 % of the limit' },
    ]);
    const rule = { name: 'Slow', severity: 'LOW', condition: { ...traffic, threshold: 40 } };
    const tried = await ask('alarmRules.tryRule', { rule, hours: 1 });
    expect(tried).toMatchObject({ stepSeconds: 300, sentence: expect.stringContaining('below 40 km/h') });
  });
});

describe('a rule', () => {
  beforeEach(empty);
  const TRAFFIC = { source: 'TRAFFIC', measure: 'meanSpeed', comparison: 'BELOW', threshold: 40 };
  it.each([
    [
      'an unknown hotlist',
      { condition: { source: 'HOTLIST', states: ['STALE'], listId: 'nowhere' } },
      'no hotlist with the id nowhere',
    ],
    [
      'hits of an unknown hotlist',
      { condition: { source: 'HIT', listId: '00000000-0000-4000-8000-000000000000' } },
      'no hotlist with the id',
    ],
    ['no trouble of hotlists', { condition: { source: 'HOTLIST', states: [] } }, 'Name at least one state'],
    ['a certificate of no days', { condition: { source: 'CERTIFICATE', days: 0 } }, 'condition.days'],
    [
      'an end of an alarm about certificates',
      { condition: { source: 'CERTIFICATE' }, clear: { threshold: 1 } },
      'has no threshold',
    ],
    ['a threshold of nothing', { condition: { ...TRAFFIC, threshold: 0 } }, 'would never fire'],
    ['per cent as a share', { condition: { ...TRAFFIC, threshold: 50, of: 'LIMIT' } }, 'use 0.5'],
    ['an end before its beginning', { condition: TRAFFIC, clear: { threshold: 30 } }, 'begins at 40'],
    [
      'events that never become fewer than none',
      {
        condition: {
          ...{ source: 'EVENT_RATE', comparison: 'AT_LEAST', count: 9, minutes: 5 },
          filter: { minSeverity: 'HIGH' },
        },
        clear: { threshold: 0 },
      },
      'never end at 0',
    ],
    [
      'a disk that never is that empty',
      { condition: { source: 'SYSTEM', part: 'DISK', threshold: 10 }, clear: { threshold: 100 } },
      'never end at 100',
    ],
    [
      'failing channels of which never are less than none',
      { condition: { source: 'SYSTEM', part: 'CHANNEL', threshold: 2 }, clear: { threshold: 0 } },
      'never end at 0',
    ],
    ['a speed that is never reached', { condition: TRAFFIC, clear: { threshold: 300 } }, 'never end at 300'],
    [
      'a standstill that is no speed',
      { condition: { ...TRAFFIC, comparison: 'ABOVE', threshold: 90 }, clear: { threshold: 0 } },
      'never end at 0',
    ],
    ['an end without a threshold', { clear: { threshold: 1 } }, 'has no threshold'],
    ['a hit that lasts', { condition: { source: 'HIT' }, forSeconds: 5 }, 'cannot last'],
    [
      'hours that are too short',
      { forSeconds: 7_200, hours: { days: [1], from: '06:00', until: '07:00' } },
      'never fire',
    ],
    ['an unknown place', { scope: { locationIds: ['nowhere'] } }, 'no location with the id nowhere'],
    [
      'events of an unknown sensor',
      {
        condition: {
          ...{ source: 'EVENT_RATE', comparison: 'AT_LEAST', count: 1, minutes: 5 },
          filter: { sensorId: 'nowhere' },
        },
      },
      'no sensor with the id nowhere',
    ],
    [
      'a speed that no event has',
      { condition: { ...TRAFFIC, comparison: 'ABOVE', threshold: 250 } },
      'above 250 km/h are not measured, so the rule would never fire',
    ],
    [
      'more channels than there can be',
      { condition: { source: 'SYSTEM', part: 'CHANNEL', threshold: 21 } },
      'at most 20, so the rule would never fire',
    ],
    ['an unknown policy', { policyId: '00000000-0000-4000-8000-000000000000' }, 'no such policy'],
    [
      'a scope for the system',
      { condition: { source: 'SYSTEM', part: 'DISK' }, scope: { sensorTypes: ['RADAR'] } },
      'leave the scope empty',
    ],
    ['no data where there is always some', { noData: 'ALARM' }, 'always known'],
    [
      'all events',
      { condition: { source: 'EVENT_RATE', filter: {}, comparison: 'AT_LEAST', count: 1, minutes: 5 } },
      'says nothing',
    ],
    ['unknown words', { condition: { ...STATUS, tags: ['x'] } }, 'tags'],
  ])('with %s is refused with what would be right', async (_, fields, message) => {
    const refusal = await refuse('alarmRules.create', {
      name: 'Wrong',
      condition: STATUS,
      severity: 'LOW',
      ...fields,
    });
    expect(refusal.status).toBe(400);
    expect(JSON.stringify(refusal)).toContain(message);
  });

  it('says what its author may have overlooked', async () => {
    const rule = await addRule({ condition: { ...TRAFFIC, of: 'LIMIT', threshold: 0.5 } });
    expect(rule.warnings).toEqual([
      'Nobody is told of its alarms: choose a policy',
      'There is no sensor in the scope now, so the rule cannot fire',
    ]);
    expect(rule.sentence).toBe(
      'When the mean speed of 5 min at a location is below 50 % of the speed limit, an alarm of severity HIGH fires.',
    );
  });

  it('can be tried with the past, without a trace', async () => {
    const sensor = await addSensor();
    const hour = 3_600_000;
    const past = (hours: number) => new Date(time.now() - hours * hour);
    const note = (to: string, hours: number) =>
      gantry.pool.query(
        `INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason) VALUES ($1, 'ONLINE', $2, $3, 'test')`,
        [sensor.id, to, past(hours)],
      );
    await gantry.pool.query('DELETE FROM sensor_status_history');
    for (const [to, hours] of [
      ['ONLINE', 30],
      ['OFFLINE', 20],
      ['ONLINE', 19],
      ['OFFLINE', 10],
      ['ONLINE', 9.9],
      ['OFFLINE', 2],
    ] as const)
      await note(to, hours);
    const rule = { name: 'Offline', condition: STATUS, severity: 'HIGH', forSeconds: 1_800 };
    const tried = await ask('alarmRules.tryRule', { rule, hours: 24 });
    expect(tried.total).toBe(2);
    const hoursOf = (text: string) => Math.round((time.now() - Date.parse(text)) / 360_000) / 10;
    expect(
      tried.alarms.map(({ firedAt, clearedAt }: { firedAt: string; clearedAt: string | null }) => [
        hoursOf(firedAt),
        clearedAt && hoursOf(clearedAt),
      ]),
    ).toEqual([
      [19.5, 18.5],
      [1.5, null],
    ]);
    expect(await ask('alarmRules.getAll')).toMatchObject({ total: 0 });
    expect(
      await refuse('alarmRules.tryRule', {
        rule: { ...rule, condition: { source: 'INTAKE', what: 'REFUSED' } },
      }),
    ).toMatchObject({ status: 400 });
  });

  it('is tried within its scope, like those that are in force', async () => {
    const { id: locationId } = await ask('locations.create', { name: 'Bridge', address: 'Bridge 1' });
    const [here, elsewhere] = [await addSensor({ locationId }), await addSensor()];
    const incident = { title: 'Crash', type: 'COLLISION', severity: 'HIGH' };
    await ask('incidents.create', { ...incident, locationId, sensorId: here.id });
    await ask('incidents.create', { ...incident, sensorId: elsewhere.id });
    await ask('watchlist.create', { pattern: 'HH SC 1', reason: 'Stolen', priority: 'HIGH' });
    for (const { apiKey } of [here, elsewhere])
      await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'HH SC 1' });
    await eventually(
      () => gantry.count('watchlist_alerts'),
      (n) => Number(n) === 2,
    );
    time.advance(60_000);
    const conditions = [{ source: 'INCIDENT_UNATTENDED', lacking: 'ACKNOWLEDGEMENT' }, { source: 'HIT' }];
    const scopes = [{}, { locationIds: [locationId.toUpperCase()] }, { sensorIds: [elsewhere.id] }];
    const totals = [];
    for (const condition of conditions)
      for (const scope of scopes) {
        const rule = { name: 'Here', severity: 'HIGH', condition, scope };
        totals.push((await ask('alarmRules.tryRule', { rule, hours: 24 })).total);
      }
    expect(totals).toEqual([2, 1, 1, 2, 1, 1]);
  });

  it('and its policy can be changed after what they name was deleted, but not name it anew', async () => {
    const { id: locationId } = await ask('locations.create', { name: 'Gone', address: 'Bridge 1' });
    const sensor = await addSensor();
    const list = await ask('hotlists.create', { name: `Gone ${sensors}` });
    const user = { firstName: 'Kim', lastName: 'Gone', role: 'OPERATOR', password: 'Correct-horse-2' };
    const { id: userId } = await ask('users.create', { ...user, email: 'gone@example.org' });
    const steps = [{ afterMinutes: 0, to: [{ userId: me }, { userId }] }];
    const policy = await addPolicy({ steps });
    const rate = { source: 'EVENT_RATE', comparison: 'AT_LEAST', count: 1, minutes: 1 };
    const named = [
      { scope: { locationIds: [locationId], sensorIds: [sensor.id] } },
      { condition: { ...rate, filter: { sensorId: sensor.id } } },
      { condition: { source: 'HIT', listId: list.id } },
    ];
    const rules = [];
    for (const fields of named) rules.push(await addRule({ ...fields, policyId: policy.id }));
    await ask('sensors.delete', { id: sensor.id });
    await ask('locations.delete', { id: locationId });
    await ask('hotlists.delete', { id: list.id });
    await ask('users.delete', { id: userId });
    for (const [n, { id, name, severity, condition, scope }] of rules.entries()) {
      expect(await ask('alarmRules.update', { id, enabled: false })).toMatchObject({ enabled: false });
      await ask('alarmRules.update', { id, name: 'Renamed', condition, scope, enabled: true });
      expect(await refuse('alarmRules.create', { name, severity, condition, scope })).toMatchObject({
        status: 400,
      });
      const other = rules.at(n - 1);
      expect(
        await refuse('alarmRules.update', { id, condition: other.condition, scope: other.scope }),
      ).toMatchObject({ status: 400 });
    }
    await ask('policies.update', { id: policy.id, name: 'Renamed' });
    const late = { afterMinutes: 5, to: [{ userId: me }] };
    await ask('policies.update', { id: policy.id, steps: [...steps, late] });
    expect(await refuse('policies.create', { name: 'New', steps })).toMatchObject({ status: 400 });
  });

  it('keeps its policy from deletion, and names its users', async () => {
    const policy = await addPolicy();
    await addRule({ policyId: policy.id });
    expect(await refuse('policies.delete', { id: policy.id })).toMatchObject({ status: 409 });
    const to = [{ userId: '00000000-0000-4000-8000-000000000000' }];
    expect(
      await refuse('policies.update', { id: policy.id, steps: [{ afterMinutes: 0, to }] }),
    ).toMatchObject({ status: 400 });
    const late = [{ afterMinutes: 5, to: [{ userId: me }] }];
    expect(await refuse('policies.update', { id: policy.id, steps: late })).toMatchObject({ status: 400 });
    expect(await ask('policies.update', { id: policy.id, repeatMinutes: 60 })).toMatchObject({
      repeatMinutes: 60,
      rules: 1,
      groupWaitSeconds: 0,
    });
  });
});

describe('a silence', () => {
  const matchers = [{ label: 'SEVERITY', values: ['LOW'] }];
  const hours = (n: number) => new Date(time.now() + n * 3_600_000).toISOString();
  it.each([
    [8, operator, 200],
    [9, operator, 403],
    [9, admin, 200],
    [30 * 24 + 1, admin, 400],
    [-1, admin, 400],
  ])('of %i hours is a matter of the role', async (length, token, status) => {
    const input = { matchers, endsAt: hours(length), reason: 'Works' };
    expect((await gantry.call('silences.create', input, { token })).status).toBe(status);
  });

  it.each([
    [
      [{ label: 'SEVERITY', values: ['LOW', 'URGENT'] }],
      'matchers.0.values.1',
      'use LOW, MEDIUM, HIGH, CRITICAL',
    ],
    [
      [{ label: 'SOURCE', values: ['SENSOR'] }],
      'matchers.0.values.0',
      'There is no SOURCE SENSOR: use SENSOR_STATUS',
    ],
    [[{ label: 'RULE', values: [me] }], 'matchers.0.values.0', 'no alarm rule with the id'],
    [[...matchers, { label: 'LOCATION', values: [me] }], 'matchers.1.values.0', 'no location with the id'],
    [[{ label: 'SENSOR', values: ['Radar 1'] }], 'matchers.0.values.0', 'no sensor with the id Radar 1'],
    [[...matchers, { label: 'SEVERITY', values: ['HIGH'] }], 'matchers.1.label', 'only one SEVERITY'],
  ])('of what no alarm can be is refused: %j', async (given, path, message) => {
    const input = { matchers: given, endsAt: hours(1), reason: 'Works' };
    expect(await refuse('silences.create', input)).toMatchObject({
      status: 400,
      data: { issues: [{ path, message: expect.stringContaining(message) }] },
    });
  });

  it('names values in any case', async () => {
    const sensor = await addSensor();
    const given = [
      { label: 'SENSOR', values: [sensor.id.toUpperCase()] },
      { label: 'SEVERITY', values: ['low'] },
    ];
    await ask('silences.create', { matchers: given, endsAt: hours(1), reason: 'Works' });
  });

  it('far ahead, or of everything, is refused', async () => {
    const ahead = { matchers, startsAt: hours(100), endsAt: hours(101), reason: 'Works' };
    expect(await refuse('silences.create', ahead, operator)).toMatchObject({ status: 403 });
    expect(await refuse('silences.create', { matchers: [], endsAt: hours(1), reason: 'x' })).toMatchObject({
      status: 400,
    });
    expect(
      await refuse('silences.create', { matchers, startsAt: hours(-5), endsAt: hours(1), reason: 'x' }),
    ).toMatchObject({ status: 400 });
  });
});
