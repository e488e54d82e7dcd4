import { randomUUID } from 'node:crypto';
import { incidentTimes, type SettableTime, settableTimes } from '@gantry/contract/incident-states';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findWrongOrder, lanesOpenSince, secondsSinceOpening, settleTimes } from '../src/incidents/times.ts';
import { ADMIN, eventually, expectBetween, sharedGantry } from './harness.ts';
import { readCsv } from './report-reading.ts';

// Times, lanes and facts of incidents, and the figures made of them.

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');

const ok = (procedure: string, input?: object) => gantry.ok(`incidents.${procedure}`, input, { token });
const refusal = (procedure: string, input?: object) =>
  gantry.refusal(`incidents.${procedure}`, input, { token });
const MINUTE = 60_000;

/** Opens an incident that was opened some minutes ago. */
const open = async (minutes = 60, fields: object = {}): Promise<{ id: string; openedAt: number }> => {
  const { id } = await ok('create', { title: `Crash ${randomUUID()}`, type: 'COLLISION', ...fields });
  const { rows } = await gantry.pool.query(
    `UPDATE incidents SET opened_at = now() - $2 * interval '1 minute' WHERE id = $1 RETURNING opened_at`,
    [id, minutes],
  );
  return { id, openedAt: rows[0].opened_at.getTime() };
};
const iso = (at: number): string => new Date(at).toISOString();
const workOf = async (id: string) => (await ok('getById', { id })).work;
const timeOf = async (id: string, name: string) =>
  (await workOf(id)).times.find((time: { name: string }) => time.name === name);

describe('times that are settled', () => {
  const someTimes = fc.dictionary(fc.constantFrom(...settableTimes), fc.integer({ min: -5, max: 50 }), {
    noNullPrototype: true,
  });

  it('are in order, keep what was set, and take each derived time that fits', () => {
    fc.assert(
      fc.property(someTimes, someTimes, (given, derived) => {
        const set = { ...given, openedAt: 0 };
        fc.pre(findWrongOrder(set) === null);
        const { times, conflicts } = settleTimes(set, derived);
        expect(times).toMatchObject(set);
        const known = incidentTimes.flatMap((name) => times[name] ?? []);
        expect(known).toEqual([...known].sort((a, b) => a - b));
        for (const [name, at] of Object.entries(derived) as [SettableTime, number][]) {
          if (given[name] !== undefined) continue;
          // Either it was taken, or two named times are in the wrong order.
          if (conflicts[name] === undefined) expect(times[name]).toBe(at);
          else {
            const { other } = conflicts[name];
            const order = incidentTimes.indexOf(name) - incidentTimes.indexOf(other);
            expect(Math.sign((conflicts[name].at ?? 0) - (times[other] ?? 0))).toBe(-Math.sign(order));
          }
        }
        const [rct, ict] = [
          secondsSinceOpening(times, 'lanesOpenAt'),
          secondsSinceOpening(times, 'lastLeftAt'),
        ];
        if (rct !== null && ict !== null) expect(rct).toBeLessThanOrEqual(ict);
      }),
      { numRuns: 10_000 },
    );
  });

  it('have all lanes open from the change that opened the last one, by an independent search', () => {
    const change = fc.record({
      direction: fc.constantFrom('NB', 'SB'),
      lanes: fc.array(fc.constantFrom('OPEN', 'CLOSED', 'SHIFTED', 'UNKNOWN'), {
        minLength: 1,
        maxLength: 3,
      }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const history = changes.map((each, at) => ({ ...each, at }));
        const isBlockedAfter = (n: number): boolean =>
          ['NB', 'SB'].some((direction) =>
            history
              .slice(0, n)
              .findLast((each) => each.direction === direction)
              ?.lanes.some((state) => state !== 'OPEN'),
          );
        const openings = history.filter(({ at }) => isBlockedAfter(at) && !isBlockedAfter(at + 1));
        const expected = isBlockedAfter(history.length) ? undefined : openings.at(-1)?.at;
        expect(lanesOpenSince(history)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('incidents.setTimes', () => {
  it('sets times, from which the clearance times follow, and keeps corrections in the timeline', async () => {
    const { id, openedAt } = await open();
    const at = (minutes: number) => iso(openedAt + minutes * MINUTE);
    await ok('setTimes', {
      id,
      occurredAt: at(-4),
      verifiedAt: at(2),
      lanesOpenAt: at(30),
      lastLeftAt: at(41),
    });
    expect(await workOf(id)).toMatchObject({ roadwayClearance: 1_800, incidentClearance: 2_460 });
    await ok('setTimes', { id, lanesOpenAt: at(25), note: 'Misread the log' });
    const { work, timeline } = await ok('getById', { id });
    expect(work.roadwayClearance).toBe(1_500);
    expect(timeline.at(-1)).toMatchObject({
      action: 'setTimes',
      note: 'Misread the log',
      details: { lanesOpenAt: { from: at(30), to: at(25) } },
      by: { name: 'OPERATOR Tester' },
    });
    expect(work.times.map(({ name }: { name: string }) => name)).toEqual(incidentTimes);
  });

  it('refuses times in the wrong order, names both, and changes nothing', async () => {
    const { id, openedAt } = await open();
    const at = (minutes: number) => iso(openedAt + minutes * MINUTE);
    const early = await refusal('setTimes', { id, lanesOpenAt: at(-1) });
    expect(early).toMatchObject({ status: 400, data: { issues: [{ path: 'lanesOpenAt' }] } });
    expect(early.message).toContain(
      `T5 (all lanes open, ${at(-1)}) is before T1 (opened, ${at(0)}): correct T1 or T5`,
    );
    await ok('setTimes', { id, arrivedAt: at(10) });
    const { message } = await refusal('setTimes', { id, verifiedAt: at(5), lanesOpenAt: at(9) });
    expect(message).toContain('T5 (all lanes open');
    expect(message).toContain('T4 (responders arrived');
    expect(await timeOf(id, 'verifiedAt')).toMatchObject({ at: null, source: null });
  });

  it('refuses a time after now, no times at all, and what is no time', async () => {
    const { id } = await open();
    const late = await refusal('setTimes', { id, normalAt: iso(Date.now() + 90_000_000) });
    expect(late.message).toMatch(/T7 .* is after now/);
    expect((await refusal('setTimes', { id })).message).toContain('Give at least one of occurredAt');
    expect((await refusal('setTimes', { id, normalAt: 'soon' })).message).toContain('Use an ISO 8601 date');
    expect((await refusal('setTimes', { id, openedAt: iso(0) })).status).toBe(400);
  });

  it('with `ifUnknown` keeps the times that are known, set or derived, so that a call can be repeated later', async () => {
    const { id, openedAt } = await open();
    const at = (minutes: number) => iso(openedAt + minutes * MINUTE);
    await ok('setTimes', { id, dispatchedAt: at(5) });
    await ok('setTimes', { id, dispatchedAt: at(7), arrivedAt: at(9), ifUnknown: true });
    await ok('setTimes', { id, arrivedAt: at(11), ifUnknown: true });
    await ok('setTimes', { id, arrivedAt: null, ifUnknown: true });
    // A clock that is a little ahead.
    await ok('setTimes', { id, lastLeftAt: iso(Date.now() + 20_000), ifUnknown: true });
    expect(Date.parse((await timeOf(id, 'lastLeftAt')).at)).toBeLessThan(Date.now() + 10_000);
    await ok('setTimes', { id, lastLeftAt: null });
    expect((await timeOf(id, 'dispatchedAt')).at).toBe(at(5));
    expect((await timeOf(id, 'arrivedAt')).at).toBe(at(9));
    const { timeline } = await ok('getById', { id });
    expect(timeline.filter(({ action }: { action: string }) => action === 'setTimes')).toHaveLength(4);
  });

  it('takes `now` from the clock of the service', async () => {
    const { id } = await open();
    const from = Date.now();
    await ok('setTimes', { id, dispatchedAt: 'now' });
    expectBetween((await timeOf(id, 'dispatchedAt')).at, from, Date.now());
  });

  it('works on a closed incident, and repeats without effect', async () => {
    const { id, openedAt } = await open();
    for (const step of ['acknowledge', 'start', 'resolve', 'close']) await ok(step, { id });
    const input = { id, normalAt: iso(openedAt + MINUTE) };
    await ok('setTimes', input);
    const { timeline } = await ok('getById', { id });
    await ok('setTimes', input);
    expect((await ok('getById', { id })).timeline).toEqual(timeline);
  });

  it('lets one of two succeed that contradict each other', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, openedAt } = await open();
      const answers = await Promise.all([
        gantry.call('incidents.setTimes', { id, arrivedAt: iso(openedAt + 20 * MINUTE) }, { token }),
        gantry.call('incidents.setTimes', { id, lanesOpenAt: iso(openedAt + 10 * MINUTE) }, { token }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });
});

describe('incidents.verify', () => {
  it('sets T2 once, in any state before CLOSED, and leaves the state', async () => {
    const { id } = await open();
    const { status } = await ok('verify', { id, note: 'On camera 4' });
    expect(status).toBe('OPEN');
    const first = await timeOf(id, 'verifiedAt');
    await ok('verify', { id });
    expect(await timeOf(id, 'verifiedAt')).toEqual(first);
    const { timeline } = await ok('getById', { id });
    expect(timeline.at(-1)).toMatchObject({ action: 'verify', note: 'On camera 4' });
  });

  it('names the two times if it is after a later one', async () => {
    const { id, openedAt } = await open();
    await ok('setTimes', { id, arrivedAt: iso(openedAt + MINUTE) });
    const { message, data } = await refusal('verify', { id });
    expect(message).toMatch(/T4 .* is before T2 /);
    expect(data.issues).toMatchObject([{ path: 'at' }]);
    await ok('verify', { id, at: iso(openedAt + 30_000) });
  });

  it('takes the time of the opening if that is dated ahead', async () => {
    const { id, openedAt } = await open(-4);
    await ok('verify', { id });
    expect((await timeOf(id, 'verifiedAt')).at).toBe(iso(openedAt));
  });
});

describe('incidents.setLanes', () => {
  it('derives T5 from the last lane, takes it back when one is closed again, and yields to what was set', async () => {
    const { id, openedAt } = await open();
    const at = (minutes: number) => iso(openedAt + minutes * MINUTE);
    const set = (minutes: number, lanes: string[], direction = 'NB') =>
      ok('setLanes', { id, direction, lanes, at: at(minutes) });
    expect((await set(1, ['CLOSED', 'OPEN', 'CLOSED'])).lanesBlocked).toBe(2);
    expect((await set(2, ['CLOSED'], 'SB')).lanesBlocked).toBe(3);
    await set(10, ['OPEN', 'OPEN', 'OPEN']);
    expect(await timeOf(id, 'lanesOpenAt')).toMatchObject({ at: null });
    expect((await set(20, ['OPEN'], 'SB')).lanesBlocked).toBe(0);
    expect(await timeOf(id, 'lanesOpenAt')).toEqual({
      name: 'lanesOpenAt',
      at: at(20),
      source: 'DERIVED',
      conflict: null,
    });
    await set(22, ['SHIFTED', 'OPEN', 'OPEN']);
    expect(await timeOf(id, 'lanesOpenAt')).toMatchObject({ at: null });
    await set(30, ['OPEN', 'OPEN', 'OPEN']);
    expect((await workOf(id)).roadwayClearance).toBe(1_800);
    await ok('setTimes', { id, lanesOpenAt: at(29) });
    expect(await timeOf(id, 'lanesOpenAt')).toMatchObject({ at: at(29), source: 'SET' });
    await ok('setTimes', { id, lanesOpenAt: null });
    expect(await timeOf(id, 'lanesOpenAt')).toMatchObject({ at: at(30), source: 'DERIVED' });
  });

  it('says why a derived time is not taken', async () => {
    const { id, openedAt } = await open();
    await ok('setTimes', { id, arrivedAt: iso(openedAt + 30 * MINUTE) });
    await ok('setLanes', { id, direction: 'NB', lanes: ['CLOSED'], at: iso(openedAt + MINUTE) });
    await ok('setLanes', { id, direction: 'NB', lanes: ['OPEN'], at: iso(openedAt + 5 * MINUTE) });
    const { at, conflict } = await timeOf(id, 'lanesOpenAt');
    expect(at).toBeNull();
    expect(conflict).toEqual({ at: iso(openedAt + 5 * MINUTE), other: 'arrivedAt' });
  });

  it('keeps as many entries as it published changes, and repeats without effect', async () => {
    const { id } = await open();
    const published = () =>
      gantry.count(`changes WHERE topic = 'incidents' AND body -> 'json' ->> 'action' = 'setLanes'
        AND body -> 'json' -> 'incident' ->> 'id' = '${id}'`);
    const states = [['CLOSED'], ['CLOSED'], ['SHIFTED'], ['OPEN'], ['OPEN'], ['CLOSED']];
    for (const lanes of states) await ok('setLanes', { id, direction: 'BOTH', lanes, shoulder: 'OPEN' });
    const { laneHistory, lanes } = await workOf(id);
    expect(laneHistory.map((each: { lanes: string[] }) => each.lanes[0])).toEqual([
      'CLOSED',
      'SHIFTED',
      'OPEN',
      'CLOSED',
    ]);
    expect(await published()).toBe(4);
    expect(lanes).toMatchObject([{ direction: 'BOTH', lanes: ['CLOSED'], shoulder: 'OPEN' }]);
  });

  it('refuses times after now, before the last change, and long before the opening, and wrong lanes', async () => {
    const { id, openedAt } = await open();
    const set = (minutes: number, lanes: unknown[] = ['CLOSED']) =>
      refusal('setLanes', { id, direction: 'NB', lanes, at: iso(openedAt + minutes * MINUTE) });
    expect((await set(200)).message).toContain('is after now');
    expect((await set(-2_000)).message).toContain('more than a day before T1');
    await ok('setLanes', { id, direction: 'SB', lanes: ['CLOSED'], at: iso(openedAt + 10 * MINUTE) });
    expect((await set(9)).message).toContain('is before the last change of lanes');
    expect((await set(11, [])).message).toContain('Give the state of 1 to 12 lanes');
    expect((await set(11, Array(13).fill('OPEN'))).message).toContain('Give the state of 1 to 12 lanes');
    expect((await set(11, ['SHUT'])).status).toBe(400);
    expect((await refusal('setLanes', { id, direction: 'UP', lanes: ['OPEN'] })).message).toContain('Use NB');
  });
});

describe('incidents.rejectFalse', () => {
  it('closes the incident, needs a reason, and is taken back by reopening', async () => {
    const { id } = await open();
    expect((await refusal('rejectFalse', { id, reason: ' ' })).status).toBe(400);
    const closed = await ok('rejectFalse', { id, reason: 'A plastic bag' });
    expect(closed).toMatchObject({ status: 'CLOSED', resolvedAt: null });
    expect(closed.closedAt).not.toBeNull();
    expect((await workOf(id)).isFalseAlarm).toBe(true);
    await ok('reopen', { id, note: 'It moved' });
    expect((await workOf(id)).isFalseAlarm).toBe(false);
  });

  it('is refused once the incident is resolved', async () => {
    const { id } = await open();
    for (const step of ['acknowledge', 'start', 'resolve']) await ok(step, { id });
    expect(await refusal('rejectFalse', { id, reason: 'x' })).toMatchObject({ status: 409 });
  });
});

describe('incidents.setFacts', () => {
  it('sets facts and clears them, each change with both values', async () => {
    const { id } = await open();
    await ok('setFacts', { id, injured: 'SERIOUS', hazardous: false });
    await ok('setFacts', { id, injured: 'FATAL', hazardous: null });
    const { work, timeline } = await ok('getById', { id });
    expect(work).toMatchObject({ injured: 'FATAL', hazardous: null, heavyVehicle: null });
    expect(timeline.at(-1).details).toEqual({
      injured: { from: 'SERIOUS', to: 'FATAL' },
      hazardous: { from: false, to: null },
    });
    await ok('setFacts', { id, injured: 'FATAL' });
    expect((await ok('getById', { id })).timeline).toHaveLength(timeline.length);
  });

  it('links a secondary incident, and refuses circles and what does not exist', async () => {
    const [a, b, c] = await Promise.all([open(), open(), open()]);
    await ok('setFacts', { id: b.id, secondaryOf: a.id.toUpperCase() });
    await ok('setFacts', { id: c.id, secondaryOf: b.id });
    expect((await workOf(a.id)).secondaries).toMatchObject([{ id: b.id }]);
    expect((await workOf(c.id)).secondaryOf).toMatchObject({ id: b.id });
    const circle = await refusal('setFacts', { id: a.id, secondaryOf: c.id });
    expect(circle.message).toContain('is itself a consequence of this incident');
    for (const secondaryOf of [a.id, randomUUID(), 'x', '\u0000'])
      expect((await refusal('setFacts', { id: a.id, secondaryOf })).status).toBe(400);
  });

  it('lets one of two succeed that would make a circle', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = await Promise.all([open(), open()]);
      const link = (id: string, secondaryOf: string) =>
        gantry.call('incidents.setFacts', { id, secondaryOf }, { token });
      const answers = await Promise.all([link(a.id, b.id), link(b.id, a.id)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });
});

describe('the role FIELD', () => {
  it('records only on its own incidents', async () => {
    const field = await gantry.tokenFor('FIELD');
    const { users } = await gantry.ok('users.getAll', {}, { token: await gantry.tokenFor('ADMIN') });
    const admin = users.find(({ email }: { email: string }) => email === ADMIN.email);
    const { id } = await open(60, { assignedTo: admin.id });
    for (const [verb, more] of [
      ['verify', {}],
      ['setTimes', { dispatchedAt: 'now' }],
      ['setLanes', { direction: 'NB', lanes: ['OPEN'] }],
      ['setFacts', { injured: 'NONE' }],
      ['rejectFalse', { reason: 'x' }],
    ] as const)
      expect(await gantry.refusal(`incidents.${verb}`, { id, ...more }, { token: field })).toMatchObject({
        status: 403,
        message: expect.stringContaining('assigned to'),
      });
  });
});

describe('the figures of performance', () => {
  /** Linear interpolation between the closest ranks, computed apart from the service. */
  const percentile = (values: readonly number[], share: number): number | null => {
    const sorted = [...values].sort((a, b) => a - b);
    if (sorted.length === 0) return null;
    const position = share * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(position)] ?? 0, sorted[Math.ceil(position)] ?? 0];
    return Math.round((low + (position - Math.floor(position)) * (high - low)) * 1_000) / 1_000;
  };
  const TYPES = ['COLLISION', 'BREAKDOWN', 'OBSTRUCTION'];
  const ROADS = ['A1', 'A2', null];
  /** The year of the generated incidents; those of other tests are opened now. */
  const YEAR = { startDate: '2024-01-01', endDate: '2024-12-31' };

  interface Generated {
    readonly type: string;
    readonly rank: number;
    readonly road: string | null;
    readonly opened: number;
    readonly rct: number | null;
    readonly ict: number | null;
    readonly isFalse: boolean;
  }

  const generated: Generated[] = Array.from({ length: 10_000 }, (_, n) => {
    // Deterministic, but without a pattern that the figures could share.
    const at = (salt: number): number => ((n * 2_654_435_761 + salt * 40_503) >>> 7) % 100_000;
    const rct = at(1) % 7 === 0 ? null : at(2) % 14_400;
    const ict = at(4) % 5 === 0 ? null : (rct ?? 0) + (at(5) % 7_200);
    return {
      ...{ type: TYPES[at(6) % 3] ?? 'OTHER', rank: 1 + (at(7) % 4), road: ROADS[at(8) % 3] ?? null },
      ...{
        opened: Date.parse('2024-01-01T00:00:00Z') + at(9) * 300_000,
        rct,
        ict,
        isFalse: at(10) % 11 === 0,
      },
    };
  });
  const real = generated.filter(({ isFalse }) => !isFalse);

  const store = async (): Promise<void> => {
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const places: Record<string, string> = {};
    for (const road of ['A1', 'A2'])
      places[road] = (await gantry.ok('locations.create', { name: `On ${road}`, road }, admin)).id;
    const seconds = (from: number, after: number | null) => after && iso(from + after * 1_000);
    const rows = generated.map(({ type, rank, road, opened, rct, ict, isFalse }) => ({
      ...{ id: randomUUID(), type, rank, location: road && places[road], opened: iso(opened), isFalse },
      ...{
        open: rct === 0 ? iso(opened) : seconds(opened, rct),
        left: ict === 0 ? iso(opened) : seconds(opened, ict),
      },
    }));
    await gantry.pool.query(
      `WITH given AS (
         SELECT * FROM jsonb_to_recordset($1::jsonb) AS given (id uuid, type text, rank smallint, location uuid,
           opened timestamptz, open timestamptz, "left" timestamptz, "isFalse" boolean)
       ), stored AS (
         INSERT INTO incidents (id, title, type, severity, location_id, opened_at)
         SELECT id, 'Generated', type, rank, location, opened FROM given
       )
       INSERT INTO incident_work (incident_id, lanes_open_at, last_left_at, is_false_alarm)
       SELECT id, open, "left", "isFalse" FROM given`,
      [JSON.stringify(rows)],
    );
  };
  const figuresOf = (of: readonly Generated[]) => {
    const clearance = (name: 'rct' | 'ict') => {
      const known = of.flatMap((each) => each[name] ?? []);
      const shares = { median: percentile(known, 0.5), percentile90: percentile(known, 0.9) };
      return { count: known.length, ...shares };
    };
    return { incidents: of.length, roadwayClearance: clearance('rct'), incidentClearance: clearance('ict') };
  };

  it('of 10,000 incidents are those of a plain formula, by type, severity and road', async () => {
    await store();
    const { performance } = await ok('getStats', YEAR);
    expect(performance.overall).toEqual(figuresOf(real));
    for (const { type, ...figures } of performance.byType)
      expect({ type, ...figures }).toEqual({ type, ...figuresOf(real.filter((each) => each.type === type)) });
    const severities = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'];
    expect(performance.bySeverity).toEqual(
      severities.map((severity, n) => ({
        severity,
        ...figuresOf(real.filter(({ rank }) => rank === n + 1)),
      })),
    );
    expect(performance.byRoad).toHaveLength(3);
    for (const { road, ...figures } of performance.byRoad)
      expect(figures).toEqual(figuresOf(real.filter((each) => each.road === road)));
    expect(performance.falseAlarms.total).toBe(generated.length - real.length);
  });

  it('are those of the report INCIDENT_PERFORMANCE', async () => {
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const asked = {
      kind: 'INCIDENT_PERFORMANCE',
      format: 'CSV',
      ...YEAR,
      filters: { incidentType: 'BREAKDOWN' },
    };
    const { id } = await gantry.ok('reports.generate', asked, admin);
    const { url } = await eventually(
      () => gantry.ok('reports.getById', { id }, admin),
      ({ status }) => status === 'DONE',
    );
    const answer = await fetch(`${gantry.url}${url}`, {
      headers: { authorization: `Bearer ${admin.token}` },
    });
    const { records } = readCsv(new Uint8Array(await answer.arrayBuffer()));
    const breakdowns = real.filter(({ type }) => type === 'BREAKDOWN');
    const { roadwayClearance, incidentClearance } = figuresOf(breakdowns);
    expect(records.find(({ By }) => By === 'ALL')).toEqual({
      By: 'ALL',
      Value: '',
      Incidents: String(breakdowns.length),
      'RCT known': String(roadwayClearance.count),
      'RCT median (s)': String(roadwayClearance.median),
      'RCT 90th percentile (s)': String(roadwayClearance.percentile90),
      'ICT known': String(incidentClearance.count),
      'ICT median (s)': String(incidentClearance.median),
      'ICT 90th percentile (s)': String(incidentClearance.percentile90),
    });
    expect(records.map(({ By }) => By)).toEqual([
      'ALL',
      'TYPE',
      ...[...new Set(breakdowns.map(({ rank }) => rank))].map(() => 'SEVERITY'),
      'ROAD',
      'ROAD',
      'ROAD',
    ]);
  });

  it('count false alarms by sensor, secondaries and struck responders', async () => {
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const input = { name: 'Radar 9', deviceId: randomUUID(), type: 'RADAR' };
    const { id: sensorId } = await gantry.ok('sensors.create', input, admin);
    const before = (await ok('getStats')).performance;
    const [first, second, third] = [await open(1, { sensorId }), await open(1, { sensorId }), await open(1)];
    await ok('rejectFalse', { id: first.id, reason: 'Rain' });
    await ok('setFacts', { id: second.id, responderStruck: true, secondaryOf: third.id });
    const { performance } = await ok('getStats');
    expect(performance.falseAlarms.bySensor).toContainEqual({ sensorId, name: 'Radar 9', count: 1 });
    expect(performance.secondaries).toBe(before.secondaries + 1);
    expect(performance.respondersStruck).toBe(before.respondersStruck + 1);
    expect(performance.overall.incidents).toBe(before.overall.incidents + 2);
  });
});
