import { createHash, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '@gantry/contract/durations';
import { eventType } from '@gantry/contract/events';
import pg from 'pg';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { removeEvents } from '../src/events/remove-store.ts';
import { cutoffsOf } from '../src/operations/retention/cutoffs.ts';
import { removeDueImages } from '../src/operations/retention/remove-images.ts';
import { executeRun } from '../src/operations/retention/schedule.ts';
import { beginRun } from '../src/operations/retention/store.ts';
import { locks } from '../src/platform/database/locks.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { ReportFiles } from '../src/reports/files.ts';
import { removeOrphanFiles } from '../src/reports/start.ts';
import { eventually, sharedGantry, WAITING_LOCKS } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { dataUrl, png } from './sample-images.ts';
import { createShiftedTime } from './shifted-time.ts';
import { lengthOf } from './test-length.ts';

const NOTHING_LIMITED = {
  events: { default: null, byType: {} },
  images: null,
  reports: null,
  activity: null,
  traffic: null,
  log: null,
  cases: null,
};

const time = createShiftedTime();
const gantry = await sharedGantry({ overrides: { clock: time.sources } });
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();
beforeEach(() => gantry.ok('storage.setRetention', NOTHING_LIMITED, { token }));

const rowsOf = async (statement: string, values: unknown[] = []) =>
  (await gantry.pool.query(statement, values)).rows;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
/** Noon (UTC) of a day in the month that is the given number of months before the current one. */
const inMonth = (monthsAgo: number, day = 10): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, day, 12)).toISOString();
};
const tableOf = (monthsAgo: number): string => `events_${inMonth(monthsAgo).slice(0, 7).replace('-', '_')}`;
const isThere = async (table: string): Promise<boolean> =>
  (await rowsOf('SELECT to_regclass($1) IS NOT NULL AS there', [table]))[0].there;

const report = async (timestamp: string, more = {}): Promise<string> =>
  (
    await gantry.ok('events.ingest', {
      apiKey,
      eventType: 'VEHICLE_DETECTION',
      vehicleSpeed: 50,
      timestamp,
      ...more,
    })
  ).eventId;
const exists = async (id: string): Promise<boolean> =>
  (await rowsOf('SELECT FROM events WHERE id = $1', [id])).length > 0;
const ask = (procedure: string, input?: unknown) => gantry.ok(`storage.${procedure}`, input, { token });

/** Time limit for a run, in milliseconds. A run yields to other writers, of which a busy machine has many. */
const RUN_MS = 60_000;
/** More than this number of events are stored during the runs. */
const ENOUGH = 200;
const RUNS_UNDER_LOAD = lengthOf({ gate: 1, full: 4 });

/** Runs retention by hand and waits for its end. */
const carryOut = async () => {
  const { id } = await ask('runRetention');
  return eventually(
    async () => (await ask('getRetentionRuns')).runs.find((run: { id: string }) => run.id === id),
    (run) => run.status !== 'RUNNING',
    RUN_MS,
  );
};

/** Makes everything about images 70 minutes older, because recent images are kept. */
const letImagesAge = async (): Promise<void> => {
  await gantry.pool.query(`UPDATE event_images SET at = at - interval '70 minutes'`);
  await gantry.pool.query(`UPDATE images SET touched_at = touched_at - interval '70 minutes'`);
};

const expectCountsToBeRight = async (): Promise<void> => {
  const keys = 'event_type, violation_type, vehicle_type, severity, processed, archived';
  const counted = `SELECT event_hour(id) AS hour, event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''),
    coalesce(severity, 0)::smallint, processed, archived, count(*) AS n FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7`;
  const hours = `SELECT hour, ${keys}, sum(n)::bigint AS n FROM event_totals GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0`;
  expect(await rowsOf(`((${hours}) EXCEPT (${counted})) UNION ALL ((${counted}) EXCEPT (${hours}))`)).toEqual(
    [],
  );
  const arrived = `SELECT date_trunc('hour', created_at, 'UTC') AS hour, count(*) AS n FROM events GROUP BY 1`;
  const arrivals = 'SELECT hour, sum(n)::bigint AS n FROM event_arrivals GROUP BY 1 HAVING sum(n) <> 0';
  expect(
    await rowsOf(`((${arrived}) EXCEPT (${arrivals})) UNION ALL ((${arrivals}) EXCEPT (${arrived}))`),
  ).toEqual([]);
  await rollUpAllTraffic(gantry, 200);
  // Traffic counts are kept: only where retention removed events are there more counts than events.
  const differences = `
    WITH passed AS (
      SELECT sensor_id AS place_id, date_trunc('day', event_time(id), 'UTC') AS slot, count(*) AS n FROM events
      WHERE event_type <> 'INCIDENT' GROUP BY 1, 2
    ), rolled AS (
      SELECT sensor_id AS place_id, slot, sum(value) AS n
      FROM traffic_bins, unnest(measures, sums) AS one (measure, value)
      WHERE minutes = 1440 AND measure >= -1 GROUP BY 1, 2
    ), removed AS (
      SELECT month::timestamp AT TIME ZONE 'UTC' AS since, max(until) AS until FROM retention_removals
      WHERE class = 'events' GROUP BY 1
    )
    SELECT slot, passed.n AS stored, rolled.n AS counted FROM passed FULL JOIN rolled USING (place_id, slot)
    WHERE coalesce(passed.n, 0) <> coalesce(rolled.n, 0) AND NOT (coalesce(rolled.n, 0) > coalesce(passed.n, 0)
      AND EXISTS (SELECT FROM removed WHERE slot >= since AND slot < until))`;
  await eventually(
    () => rowsOf(differences),
    (rows) => rows.length === 0,
  );
};

describe('retention', () => {
  it('removes old months that share a partition as a whole, and reports each', async () => {
    const years = await Promise.all(
      ['2003-02-10', '2003-02-11', '2006-05-10'].map((day) => report(`${day}T12:00:00Z`)),
    );
    const partitions = () => rowsOf(`SELECT FROM pg_inherits WHERE inhparent = 'events'::regclass`);
    const before = await partitions();
    const stats = await ask('getStats');
    expect(stats.months).toContainEqual({ month: '2003-02', events: 2, bytes: expect.any(Number) });
    expect(stats.months).toContainEqual({ month: '2006-05', events: 1, bytes: expect.any(Number) });

    // While one of the events is held, the others are removed one by one.
    const { id: holdId } = await ask('setHold', { eventIds: years[2] ? [years[2]] : [], reason: 'Case 11' });
    await ask('setRetention', { events: { default: 2_500 } });
    const first = await carryOut();
    expect(first.removals).toMatchObject([{ month: '2003-02', rows: 2, wholeMonth: false }]);
    expect(await exists(years[2] ?? '')).toBe(true);
    await ask('releaseHold', { id: holdId });

    await report('2003-03-10T12:00:00Z');
    expect((await ask('previewRetention', {})).removals).toMatchObject([
      { month: '2003-03', rows: 1, wholeMonth: true },
      { month: '2006-05', rows: 1, wholeMonth: true },
    ]);
    const second = await carryOut();
    expect(second.removals).toMatchObject([
      { month: '2003-03', rows: 1, wholeMonth: true },
      { month: '2006-05', rows: 1, wholeMonth: true },
    ]);
    expect(await partitions()).toHaveLength(before.length - 1);
    await expectCountsToBeRight();
  });

  it('removes nothing by default', async () => {
    const old = await report(inMonth(30));
    expect(await ask('getRetention')).toMatchObject(NOTHING_LIMITED);
    expect((await carryOut()).removals).toEqual([]);
    expect(await exists(old)).toBe(true);
  });

  it('removes what is older than its number of days and keeps the rest, type by type', async () => {
    const ids = {
      oldDetection: await report(daysAgo(40)),
      youngDetection: await report(daysAgo(20)),
      oldViolation: await report(daysAgo(40), { eventType: 'TRAFFIC_VIOLATION' }),
      oldIncident: await report(daysAgo(400), { eventType: 'INCIDENT' }),
    };
    const byType = { TRAFFIC_VIOLATION: 365, INCIDENT: null };
    await ask('setRetention', { events: { default: 30, byType } });
    const run = await carryOut();
    expect(run.status).toBe('COMPLETED');
    expect(await exists(ids.oldDetection)).toBe(false);
    expect(await exists(ids.youngDetection)).toBe(true);
    expect(await exists(ids.oldViolation)).toBe(true);
    expect(await exists(ids.oldIncident)).toBe(true);
    await expectCountsToBeRight();
  });

  it('removes events of which nothing came sooner, and keeps those with a hit, a hold, an incident, a case or a review', async () => {
    const read = (licensePlateNumber: string, more = {}) =>
      report(daysAgo(5), { eventType: 'PLATE_RECOGNITION', licensePlateNumber, ...more });
    await gantry.ok(
      'watchlist.create',
      { pattern: 'LISTED1', reason: 'sought', priority: 'HIGH' },
      { token },
    );
    const gone = await read('NOBODY1');
    const young = await report(daysAgo(1), { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'NOBODY2' });
    const otherType = await report(daysAgo(5));
    const kept = {
      listed: await read('LISTED1'),
      again: await read('LISTED1'),
      violation: await read('SPEEDY1', { violationType: 'SPEEDING' }),
      held: await read('HELD1'),
      attached: await read('ATTACHED1'),
      inCase: await read('CLOSED1'),
      reviewed: await read('REVIEWED1'),
      waiting: await read('WAITING1'),
    };
    await eventually(
      () => gantry.count('events_to_follow_up'),
      (n) => n === 0,
    );
    const { id: holdId } = await ask('setHold', { eventIds: [kept.held], reason: 'Case 21' });
    const incident = await gantry.ok(
      'incidents.create',
      { title: 'Crash', type: 'COLLISION', severity: 'HIGH' },
      { token },
    );
    await gantry.ok('incidents.attachEvent', { id: incident.id, eventId: kept.attached }, { token });
    // The hold of a case ends with it, and the case needs its event for another package.
    const { id: caseId } = await gantry.ok('cases.open', { eventId: kept.inCase }, { token });
    await gantry.ok('cases.reject', { id: caseId, code: 'UNREADABLE' }, { token });
    await gantry.ok('cases.close', { id: caseId }, { token });
    await gantry.pool.query(
      `INSERT INTO event_reviews (event_id, decision, user_id, at, before, after)
       VALUES ($1, 'CONFIRMED', gen_random_uuid(), now(), '{}', '{}')`,
      [kept.reviewed],
    );
    await gantry.pool.query(
      `INSERT INTO events_to_follow_up (event_id, retry_at) VALUES ($1, now() + interval '1 day')`,
      [kept.waiting],
    );
    const rules = { events: { default: 365, withoutHit: { PLATE_RECOGNITION: 2 } } };
    const month = daysAgo(5).slice(0, 7);
    const due = (await ask('previewRetention', rules)).removals.filter(
      (each: { eventType: string }) => each.eventType === 'PLATE_RECOGNITION',
    );
    expect(due).toMatchObject([{ class: 'events', month, rows: 1, wholeMonth: false }]);
    await ask('setRetention', rules);
    expect((await ask('getRetention')).events.withoutHit).toEqual({ PLATE_RECOGNITION: 2 });
    const run = await carryOut();
    expect(run.removals).toContainEqual(
      expect.objectContaining({ class: 'events', eventType: 'PLATE_RECOGNITION', month, rows: 1 }),
    );
    expect(await exists(gone)).toBe(false);
    for (const id of [young, otherType, ...Object.values(kept)])
      expect([id, await exists(id)]).toEqual([id, true]);
    await expectCountsToBeRight();

    // What becomes free goes with the next run, but not before a look-back of that time has ended.
    await ask('releaseHold', { id: holdId });
    await gantry.pool.query('DELETE FROM events_to_follow_up');
    await gantry.pool.query(`UPDATE cases SET closed_at = now() - interval '32 days'`);
    await gantry.ok('cases.updateRules', { retentionDays: 30 }, { token });
    const { id: listId } = await gantry.ok('hotlists.create', { name: 'Searched' }, { token });
    await gantry.pool.query(
      `INSERT INTO hotlist_look_backs (hotlist_id, kind, state, starts_at, ends_at, due_at)
       VALUES ($1, 'REQUESTED', 'WAITING', now() - interval '30 days', now(), now() + interval '1 day')`,
      [listId],
    );
    await carryOut();
    expect(await exists(kept.held)).toBe(true);
    await gantry.pool.query('DELETE FROM hotlist_look_backs');
    await carryOut();
    expect(await exists(kept.held)).toBe(false);
    expect(await exists(kept.waiting)).toBe(false);
    expect(await exists(kept.inCase)).toBe(false);
    expect(await exists(kept.listed)).toBe(true);
    await expectCountsToBeRight();
    await gantry.pool.query('DELETE FROM event_reviews');
    await gantry.ok('cases.updateRules', { retentionDays: null }, { token });
  });

  it('refuses a shorter rule for violations and for no time at all', async () => {
    for (const withoutHit of [
      { TRAFFIC_VIOLATION: 3 },
      { PLATE_RECOGNITION: 0 },
      { PLATE_RECOGNITION: null },
    ])
      expect(
        (await gantry.refusal('storage.setRetention', { events: { default: 30, withoutHit } }, { token }))
          .status,
      ).toBe(400);
  });

  it('drops months as a whole if everything in them is due, and they are created again on demand', async () => {
    await Promise.all([3, 4, 5].map((months) => report(inMonth(months))));
    const held = await report(inMonth(4, 11));
    const { id: holdId } = await ask('setHold', { eventIds: [held], reason: 'Case 12' });
    await ask('setRetention', { events: { default: 60 } });
    const run = await carryOut();
    expect(await isThere(tableOf(3))).toBe(false);
    expect(await isThere(tableOf(4))).toBe(true);
    expect(await exists(held)).toBe(true);
    const whole = Object.fromEntries(
      run.removals.map((each: { month: string; wholeMonth: boolean }) => [each.month, each.wholeMonth]),
    );
    expect(whole[inMonth(3).slice(0, 7)]).toBe(true);
    expect(whole[inMonth(4).slice(0, 7)]).toBe(false);
    await expectCountsToBeRight();

    const late = await report(inMonth(3));
    expect(await exists(late)).toBe(true);
    await expectCountsToBeRight();
    await ask('releaseHold', { id: holdId });
    await carryOut();
    expect(await exists(held)).toBe(false);
    expect(await isThere(tableOf(4))).toBe(false);
    await expectCountsToBeRight();
  });

  it('counts the events of a month that it drops before it writes, because streams wait for writers', async () => {
    const month = inMonth(7).slice(0, 7);
    await Promise.all([7, 7].map((months) => report(inMonth(months))));
    const days = Math.floor((Date.now() - Date.parse(`${inMonth(6).slice(0, 7)}-01`)) / DAY_MS);
    await ask('setRetention', { events: { default: days } });
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    const { removals } = await carryOut();
    const statements = asked.mock.calls.map(([query], n) => {
      const text = typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');
      return { text: text.trim(), client: asked.mock.contexts[n] };
    });
    asked.mockRestore();
    expect(removals).toMatchObject([{ month, rows: 2, wholeMonth: true }]);
    const table = tableOf(7);
    const drop = statements.findIndex(({ text }) => text === `DROP TABLE ${table}`);
    const all = statements.slice(0, drop + 1).filter(({ client }) => client === statements[drop]?.client);
    const own = all.slice(all.findLastIndex(({ text }) => text === 'BEGIN'));
    const writes = own.findIndex(({ text }) => /\b(INSERT|UPDATE|DELETE)\b/.test(text));
    const counts = own.findLastIndex(({ text }) => text.includes(`FROM ${table}`));
    expect(counts).toBeGreaterThan(0);
    expect(writes).toBeGreaterThan(counts);
    await expectCountsToBeRight();
  });

  it('counts most events of a month before late ones must wait, and again if one is deleted meanwhile', async () => {
    const ids = await Promise.all([9, 9, 9].map((months) => report(inMonth(months))));
    await gantry.pool.query(
      `WITH aged AS (
         UPDATE events SET created_at = created_at - interval '2 hours' WHERE id = ANY ($1) RETURNING created_at
       )
       INSERT INTO event_arrivals (hour, n)
       SELECT date_trunc('hour', created_at + hours * interval '1 hour', 'UTC'), n
       FROM aged, (VALUES (0, 1), (2, -1)) AS moved (hours, n)`,
      [ids.slice(0, 2)],
    );
    const days = Math.floor((Date.now() - Date.parse(`${inMonth(8).slice(0, 7)}-01`)) / DAY_MS);
    await ask('setRetention', { events: { default: days } });
    const table = tableOf(9);
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    const texts = () =>
      asked.mock.calls.map(([query]) =>
        typeof query === 'string' ? query : ((query as { text?: string }).text ?? ''),
      );
    let run: ReturnType<typeof carryOut> | undefined;
    try {
      await inTransaction(gantry.app.context.db, async (tx) => {
        await removeEvents(tx, [ids[0] ?? ''], false);
        run = carryOut();
        await eventually(
          async () => texts(),
          (statements) => statements.some((text) => text.startsWith(`LOCK TABLE ${table}`)),
        );
      });
      expect((await run)?.removals).toMatchObject([{ rows: 2, wholeMonth: true }]);
      const lock = texts().findIndex((text) => text.startsWith(`LOCK TABLE ${table}`));
      const count = texts().findIndex((text) => text.includes(`FROM ${table} WHERE`));
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThan(lock);
    } finally {
      asked.mockRestore();
    }
    await expectCountsToBeRight();
  });

  it('drops a month without reading its events one by one', async () => {
    await Promise.all([6, 6, 6, 6].map((months) => report(inMonth(months))));
    // Makes reading the times of events as slow as in a month of many million events.
    const [{ definition }] = await rowsOf(
      `SELECT pg_get_functiondef('event_time(uuid)'::regprocedure) AS definition`,
    );
    await gantry.pool.query(`
      CREATE OR REPLACE FUNCTION event_time(id uuid) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
      BEGIN
        PERFORM pg_sleep(5.5);
        RETURN event_hour(id);
      END $$`);
    try {
      // Everything is removed up to the end of that month.
      const days = Math.floor((Date.now() - Date.parse(`${inMonth(5).slice(0, 7)}-01`)) / DAY_MS);
      await ask('setRetention', { events: { default: days } });
      const run = await carryOut();
      expect(run.removals).toMatchObject([{ month: inMonth(6).slice(0, 7), rows: 4, wholeMonth: true }]);
    } finally {
      await gantry.pool.query(definition);
    }
    expect(await isThere(tableOf(6))).toBe(false);
    await expectCountsToBeRight();
  });

  it('does not let a hold, and the deletions behind it, wait for long while it removes events', async () => {
    const id = await report(daysAgo(1));
    const removing = await gantry.pool.connect();
    try {
      await removing.query('BEGIN');
      await removing.query('SELECT pg_advisory_xact_lock_shared($1)', [locks.holds]);
      const hold = gantry.refusal('storage.setHold', { eventIds: [id], reason: 'Case 15' }, { token });
      await eventually(
        () => rowsOf(`${WAITING_LOCKS} AND locktype = 'advisory'`),
        ({ length }) => length === 1,
      );
      // Started at the same moment, the deletion might give up before it notices that the hold has.
      await sleep(500);
      await gantry.ok('events.delete', { id }, { token });
      expect((await hold).status).toBe(503);
    } finally {
      removing.release(true);
    }
  });

  it('is previewed without the number of images when counting them takes too long', async () => {
    await ask('setRetention', { images: 30 });
    const other = await gantry.pool.connect();
    try {
      await other.query('BEGIN; LOCK TABLE event_images');
      const [stats, { totals, removals }] = await Promise.all([ask('getStats'), ask('previewRetention')]);
      expect(stats.images.count).toBeGreaterThanOrEqual(0);
      expect(stats.nextRemoval).toMatchObject({ events: 0, images: null });
      expect(totals.images).toBeNull();
      expect(removals.filter((each: { class: string }) => each.class === 'images')).toEqual([]);
    } finally {
      await other.query('ROLLBACK');
      other.release();
      await ask('setRetention', { images: null });
    }
  });

  it('previews exactly what it then does', async () => {
    await Promise.all([
      ...[2, 3, 3, 7].map((months) => report(inMonth(months))),
      report(inMonth(3), {
        eventType: 'PLATE_RECOGNITION',
        images: [dataUrl(png({ shade: 1 }), 'image/png')],
      }),
      report(inMonth(7), { eventType: 'INCIDENT' }),
    ]);
    const held = await report(inMonth(7, 12));
    const { id: holdId } = await ask('setHold', { eventIds: [held], reason: 'Case 13' });
    await letImagesAge();
    const rules = { events: { default: 45, byType: { INCIDENT: null } }, images: 30 };
    const preview = await ask('previewRetention', rules);
    expect(preview.held).toBe(1);
    expect(preview.totals.events).toBeGreaterThan(4);
    expect(preview.totals.images).toBe(1);
    // The preview changed nothing.
    expect(await ask('getRetention')).toMatchObject(NOTHING_LIMITED);
    await ask('setRetention', rules);
    expect(await ask('previewRetention')).toEqual({ ...preview, rules: expect.anything() });
    const { nextRemoval } = await ask('getStats');
    expect(nextRemoval).toMatchObject({ ...preview.totals, images: 1 });
    const { removals } = await carryOut();
    type Counted = { class: string; eventType: string | null; month: string; rows: number };
    const said = (list: Counted[]) =>
      list.flatMap(({ class: name, eventType: type, month, rows }) =>
        rows > 0 ? [`${name} ${month} ${type} ${rows}`] : [],
      );
    expect(said(removals).sort()).toEqual(said(preview.removals).sort());
    expect(await exists(held)).toBe(true);
    expect((await ask('previewRetention')).totals).toEqual({
      events: 0,
      images: 0,
      reports: 0,
      activity: 0,
      traffic: 0,
      hits: 0,
      log: 0,
      cases: 0,
    });
    await ask('releaseHold', { id: holdId });
  });

  it('keeps counts correct while devices continue to report, even into the removed months', async () => {
    await ask('setRetention', { events: { default: 60, byType: { INCIDENT: 40 } } });
    let busy = true;
    let sent = 0;
    let refused = 0;
    const client = async (seed: number) => {
      for (let n = seed; busy; n++) {
        const events = Array.from({ length: 20 }, (_, at) => ({
          eventType: eventType.options[(n + at) % 6],
          timestamp: (n + at) % 3 === 0 ? daysAgo(1 + (at % 3)) : inMonth(3 + ((n + at) % 4), 1 + (at % 25)),
          vehicleSpeed: at,
        }));
        const { body } = await gantry.call('events.ingestBatch', { apiKey, events });
        const results: object[] = body.result?.data.json.results ?? [];
        sent += results.filter((each) => 'eventId' in each).length;
        refused += results.length === 0 ? 20 : results.filter((each) => 'error' in each).length;
        await sleep(10);
      }
    };
    const clients = [1, 2, 3].map(client);
    const runs: { status: string }[] = [];
    try {
      // A run may end before the first events have been answered.
      while (runs.length < RUNS_UNDER_LOAD || sent <= ENOUGH) runs.push(await carryOut());
    } finally {
      busy = false;
      await Promise.all(clients);
    }
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['COMPLETED']));
    expect(refused).toBeLessThan(sent / 4);
    await expectCountsToBeRight();
    await carryOut();
    const old = await rowsOf(`SELECT FROM events WHERE event_time(id) < now() - interval '62 days'`);
    expect(old).toEqual([]);
    await expectCountsToBeRight();
  }, 240_000);

  it('removes the oldest entries of the activity log, and records that the rules were changed', async () => {
    await gantry.pool.query(
      `INSERT INTO activity (user_id, action, at) OVERRIDING SYSTEM VALUE
       SELECT gen_random_uuid(), 'auth.login', now() - interval '500 days' FROM generate_series(1, 3)`,
    );
    await ask('setRetention', { activity: 365 });
    expect((await ask('previewRetention')).totals.activity).toBe(3);
    const { removals } = await carryOut();
    expect(removals).toEqual([expect.objectContaining({ class: 'activity', rows: 3, bytes: null })]);
    const [{ details }] = await rowsOf(
      `SELECT details FROM activity WHERE action = 'storage.setRetention' ORDER BY id DESC LIMIT 1`,
    );
    expect(details.after.activity).toBe(365);
  });

  it('removes old reports and then their files, and keeps recent ones', async () => {
    const range = { startDate: daysAgo(2), endDate: daysAgo(1) };
    const make = async () => {
      const input = { kind: 'TRAFFIC', format: 'CSV', ...range };
      const { id } = await gantry.ok('reports.generate', input, { token });
      return eventually(
        () => gantry.ok('reports.getById', { id }, { token }),
        ({ status }) => status === 'DONE',
        RUN_MS,
      );
    };
    const [old, young] = [await make(), await make()];
    await gantry.pool.query(`UPDATE reports SET finished_at = now() - interval '31 days' WHERE id = $1`, [
      old.id,
    ]);
    await ask('setRetention', { reports: 30 });
    expect((await ask('previewRetention')).totals.reports).toBe(1);
    const { removals } = await carryOut();
    expect(removals).toEqual([expect.objectContaining({ class: 'reports', rows: 1, bytes: old.size })]);

    const fetchFile = (id: string) =>
      gantry.fetch(`/reports/${id}/file`, { headers: { authorization: `Bearer ${token}` } });
    expect((await fetchFile(old.id)).status).toBe(404);
    expect((await fetchFile(young.id)).status).toBe(200);
    const folder = join(gantry.app.context.config.DATA_DIR, 'reports');
    const hasFile = async (id: string) => (await readdir(folder)).some((name) => name.startsWith(id));
    expect(await hasFile(old.id)).toBe(true);
    await removeOrphanFiles(gantry.app.context.db, new ReportFiles(folder), 0);
    expect([await hasFile(old.id), await hasFile(young.id)]).toEqual([false, true]);
  });

  it('continues after runs that could not do everything, as long as they are not a month apart', async () => {
    const old = await report(daysAgo(40));
    await ask('setRetention', { events: { default: 30 } });
    const { db, log, images } = gantry.app.context;
    const runDaily = async (): Promise<string> => {
      const id = (await beginRun(db, null)) ?? '';
      await executeRun({ db, log, files: images.files, now: Date.now }, { id, startedBy: null }, () => false);
      return (await rowsOf('SELECT status FROM retention_runs WHERE id = $1', [id]))[0].status;
    };
    await gantry.pool.query('DELETE FROM retention_runs');
    // The last complete run was 40 days ago. The run since then failed at its last step.
    await gantry.pool.query(`UPDATE retention_settings SET updated_at = now() - interval '100 days'`);
    await gantry.pool.query(`
      INSERT INTO retention_runs (status, started_at, finished_at)
      VALUES ('COMPLETED', now() - interval '40 days', now()), ('FAILED', now() - interval '1 day', now())`);
    // It failed before it removed anything, which proves nothing about the clock.
    expect(await runDaily()).toBe('FAILED');
    expect(await exists(old)).toBe(true);
    await gantry.pool.query(`
      INSERT INTO retention_removals (run_id, class, event_type, month, rows)
      SELECT id, 'events', 'INCIDENT', '2026-01-01', 1 FROM retention_runs
      WHERE status = 'FAILED' AND NOT step_refused`);
    expect(await runDaily()).toBe('COMPLETED');
    expect(await exists(old)).toBe(false);
  });

  it('runs in one process at a time', async () => {
    await gantry.pool.query('INSERT INTO retention_runs DEFAULT VALUES');
    const { status, body } = await gantry.call('storage.runRetention', undefined, { token });
    expect(status).toBe(409);
    expect(body.error.json.message).toContain('already');
    // As if the process of that run had died: it has shown no liveness signal for ten minutes.
    await gantry.pool.query(`UPDATE retention_runs SET beat_at = now() - interval '10 minutes'`);
    const [dead] = (await ask('getRetentionRuns')).runs;
    expect(dead.status).toBe('STOPPED');
    expect(Date.parse(dead.finishedAt)).toBeLessThan(Date.now() - 5 * 60_000);
    expect((await carryOut()).status).toBe('COMPLETED');
    const statuses = await rowsOf(`SELECT FROM retention_runs WHERE status = 'STOPPED'`);
    expect(statuses).toHaveLength(1);
  });

  it('is not prevented by a process that died while the clock was ahead', async () => {
    await gantry.pool.query(`
      INSERT INTO retention_runs (started_at, beat_at) VALUES (now() + interval '1 day', now() + interval '1 day')`);
    expect((await carryOut()).status).toBe('COMPLETED');
  });
});

describe('the days of retention', () => {
  it.each([
    // Clocks in Europe are set forward on 29 March at 01:00 UTC, and back on 25 October.
    ['2026-03-29T00:30Z', 1, '2026-03-28T00:00Z'],
    ['2026-03-29T23:30Z', 1, '2026-03-28T00:00Z'],
    ['2026-03-30T00:30Z', 2, '2026-03-28T00:00Z'],
    ['2026-10-25T00:30Z', 1, '2026-10-24T00:00Z'],
    ['2026-10-26T00:30Z', 2, '2026-10-24T00:00Z'],
    ['2027-01-01T00:00Z', 365, '2026-01-01T00:00Z'],
  ])('at %s, the last %i begin at %s', (now, days, from) => {
    const rules = { ...NOTHING_LIMITED, events: { ...NOTHING_LIMITED.events, withoutHit: {} }, cases: days };
    expect(cutoffsOf(rules, Date.parse(now), false).cases).toBe(Date.parse(from));
  });

  it.each(['UTC', 'Europe/Berlin', 'Pacific/Chatham'])(
    'have 24 hours for what protects cases and the log, if the time zone of the session is %s',
    async (zone) => {
      const [caseId, someone] = [randomUUID(), randomUUID()];
      /** What can be deleted in a transaction that finds everything this much older than the rules say. */
      const deletedAt = async (client: pg.PoolClient, days: number, older: string): Promise<string[]> => {
        await client.query('BEGIN');
        await client.query(`SET LOCAL timezone = '${zone}'`);
        await client.query('UPDATE retention_settings SET cases_days = $1, log_days = $1', [days]);
        const { rows } = await client.query(
          `SELECT now() - $1::int * interval '24 hours' - $2::interval AS at`,
          [days, older],
        );
        const at = rows[0].at;
        await client.query(
          `INSERT INTO cases (id, number, kind, state, title, happened_at, needs_second, first_by, first_at, locked_at, closed_at, closed_by)
           VALUES ($1, '1999-000001', 'VIOLATION', 'VERIFIED', 'x', now(), false, $2, now(), now(), $3, $2)`,
          [caseId, someone, at],
        );
        await client.query(
          `INSERT INTO case_log (case_id, seq, at, action, prev, hash) VALUES ($1, 1, now(), 'opened', '', '')`,
          [caseId],
        );
        await client.query(`INSERT INTO case_items (case_id, role, text) VALUES ($1, 'NOTE', 'x')`, [caseId]);
        await client.query(
          `INSERT INTO log_entries (at, created_at, user_id, desk, kind, text) VALUES ($1, $1, $2, 'x', 'NOTE', 'x')`,
          [at, someone],
        );
        await client.query(
          `INSERT INTO shifts (desk, lead_id, started_at, ended_at, closed_by, close_reason) VALUES ('x', $2, $1, $1, $2, 'x')`,
          [at, someone],
        );
        const deleted: string[] = [];
        for (const table of ['case_log', 'case_items', 'cases', 'log_entries', 'shifts']) {
          await client.query('SAVEPOINT before');
          await client.query(`DELETE FROM ${table}`).then(
            () => deleted.push(table),
            () => client.query('ROLLBACK TO before'),
          );
        }
        await client.query('ROLLBACK');
        return deleted;
      };
      const client = await gantry.pool.connect();
      try {
        // Whatever day it is, clocks showed another time on some of these. The log is kept for a year at least.
        for (let days = 390; days <= 720; days += 30) {
          expect([days, await deletedAt(client, days, '1 minute')]).toEqual([
            days,
            ['case_log', 'case_items', 'cases', 'log_entries', 'shifts'],
          ]);
          expect([days, await deletedAt(client, days, '-1 minute')]).toEqual([days, []]);
        }
      } finally {
        client.release();
      }
    },
  );
});

describe('images', () => {
  const stored = async (bytes: Buffer): Promise<boolean> => {
    const { images } = gantry.app.context;
    const image = await images.find(createHash('sha256').update(bytes).digest('hex'));
    return image !== null && (await images.read(image)).equals(bytes);
  };

  it('are removed with the last event that refers to them, and not before', async () => {
    const shared = png({ shade: 31 });
    const alone = png({ shade: 32 });
    const images = [dataUrl(shared, 'image/png')];
    const first = await report(daysAgo(2), { images: [...images, dataUrl(alone, 'image/png')] });
    const second = await report(daysAgo(2), { images });
    await letImagesAge();
    await gantry.ok('events.delete', { id: first }, { token });
    await carryOut();
    expect([await stored(shared), await stored(alone)]).toEqual([true, false]);
    expect((await ask('getStats')).images.count).toBe((await rowsOf('SELECT FROM images')).length);
    await gantry.ok('events.delete', { id: second }, { token });
    await carryOut();
    expect(await stored(shared)).toBe(false);
  });

  it('are removed with a month of events that is dropped as a whole', async () => {
    const image = png({ shade: 33 });
    await report(inMonth(9), { images: [dataUrl(image, 'image/png')] });
    await letImagesAge();
    await ask('setRetention', { events: { default: 100 } });
    await carryOut();
    expect(await isThere(tableOf(9))).toBe(false);
    expect(await stored(image)).toBe(false);
    expect(await rowsOf('SELECT FROM event_images')).toEqual([]);
  });

  it('that an event shows by their address are kept for it', async () => {
    const shared = png({ shade: 36 });
    const first = await report(daysAgo(2), { images: [dataUrl(shared, 'image/png')] });
    const { images } = await gantry.ok('events.getById', { id: first }, { token });
    await letImagesAge();
    const second = await report(daysAgo(2), { images });
    await gantry.ok('events.delete', { id: first }, { token });
    await letImagesAge();
    await carryOut();
    expect((await gantry.fetch(images[0], { headers: { authorization: `Bearer ${token}` } })).status).toBe(
      200,
    );
    const { id: holdId } = await ask('setHold', { eventIds: [second], reason: 'Case 36' });
    await ask('setRetention', { images: 1 });
    await carryOut();
    expect(await stored(shared)).toBe(true);
    await ask('releaseHold', { id: holdId });
    await carryOut();
    expect(await stored(shared)).toBe(false);
  });

  it('named by their address while they are being collected are not referred to, others are kept for an hour', async () => {
    const image = png({ shade: 37 });
    const first = await report(daysAgo(2), { images: [dataUrl(image, 'image/png')] });
    const { images } = await gantry.ok('events.getById', { id: first }, { token });
    await gantry.ok('events.delete', { id: first }, { token });
    await letImagesAge();
    const references = () => rowsOf('SELECT FROM event_images');
    const before = (await references()).length;
    await gantry.pool.query('UPDATE images SET stored_at = NULL WHERE sha256 = $1', [
      createHash('sha256').update(image).digest(),
    ]);
    const second = await report(daysAgo(2), { images });
    expect(await references()).toHaveLength(before);
    await gantry.pool.query('UPDATE images SET stored_at = now() WHERE sha256 = $1', [
      createHash('sha256').update(image).digest(),
    ]);
    const third = await report(daysAgo(2), { images });
    expect(await references()).toHaveLength(before + 1);
    for (const id of [second, third]) await gantry.ok('events.delete', { id }, { token });
    await carryOut();
    expect(await stored(image)).toBe(true);
    await letImagesAge();
    await carryOut();
    expect(await stored(image)).toBe(false);
  });

  it('and reviews are removed with their events, one by one or with a whole month', async () => {
    const review = (id: string) => gantry.ok('events.review', { id, decision: 'CONFIRMED' }, { token });
    const ids = [await report(inMonth(9)), await report(daysAgo(50)), await report(daysAgo(2))];
    for (const id of ids) await review(id);
    await ask('setRetention', { events: { default: 30 } });
    await carryOut();
    expect(await isThere(tableOf(9))).toBe(false);
    expect(await rowsOf('SELECT event_id FROM event_reviews')).toEqual([{ event_id: ids[2] }]);
  });

  it('of events that are kept are removed when they are due themselves, unless the event is held', async () => {
    const [old, young, held] = [41, 42, 43].map((shade) => png({ shade })) as [Buffer, Buffer, Buffer];
    const oldId = await report(daysAgo(50), { images: [dataUrl(old, 'image/png')] });
    await report(daysAgo(10), { images: [dataUrl(young, 'image/png')] });
    const heldId = await report(daysAgo(50), { images: [dataUrl(held, 'image/png')] });
    const { id } = await ask('setHold', { eventIds: [heldId], reason: 'Case 14' });
    await letImagesAge();
    await ask('setRetention', { images: 30 });
    await carryOut();
    expect(await Promise.all([old, young, held].map(stored))).toEqual([false, true, true]);
    expect(await exists(oldId)).toBe(true);
    const address = (await gantry.ok('events.getById', { id: oldId }, { token })).images[0];
    const answer = await gantry.fetch(address, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(404);
    await ask('releaseHold', { id });
  });

  it('of an event that was never stored are collected, but not while it may still arrive', async () => {
    const { images } = gantry.app.context;
    const bytes = png({ shade: 44 });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const image = { sha256, mediaType: 'image/png' as const, width: 1, height: 1, bytes };
    const eventId = '01a00000-0000-7000-8000-000000000001';
    await images.keep({ eventId, eventType: 'INCIDENT', sensorId: eventId, images: [image] });
    await carryOut();
    expect(await stored(bytes)).toBe(true);
    await letImagesAge();
    await carryOut();
    expect(await stored(bytes)).toBe(false);
    expect(await rowsOf('SELECT FROM event_images WHERE event_id = $1', [eventId])).toEqual([]);
  });

  it('are looked for with liveness signals, so that no other run takes over', async () => {
    const { db, log, images } = gantry.app.context;
    await report(daysAgo(2), { images: [dataUrl(png({ shade: 40 }), 'image/png')] });
    await letImagesAge();
    const id = (await beginRun(db, null)) ?? '';
    const run = { db, log, files: images.files, now: Date.now, id, startedBy: null, stopped: () => false };
    const none = {
      events: new Map(),
      withoutHit: new Map(),
      images: null,
      reports: null,
      activity: null,
      traffic: null,
      hits: null,
      log: null,
      cases: null,
    };
    await gantry.pool.query(
      `UPDATE retention_runs SET beat_at = now() - interval '4 minutes' WHERE id = $1`,
      [id],
    );
    await removeDueImages(run, none, null);
    const [{ age }] = await rowsOf(
      'SELECT extract(epoch FROM now() - beat_at)::float8 AS age FROM retention_runs WHERE id = $1',
      [id],
    );
    expect(age).toBeLessThan(60);
    // If another process has taken over all the same, this run ends.
    await gantry.pool.query(`UPDATE retention_runs SET status = 'STOPPED' WHERE id = $1`, [id]);
    await expect(removeDueImages(run, none, null)).rejects.toThrow('taken over');
  });

  it('of a message of a device are neither removed nor announced as due', async () => {
    const bytes = png({ shade: 39 });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const image = { sha256, mediaType: 'image/png' as const, width: 1, height: 1, bytes };
    const messageId = '01a00000-0000-7000-8000-000000000002';
    await gantry.app.context.images.keepForNote([image]);
    await rowsOf(`INSERT INTO device_message_images VALUES ($1, decode($2, 'hex'))`, [messageId, sha256]);
    await letImagesAge();
    await carryOut();
    expect(await stored(bytes)).toBe(true);
    expect((await ask('previewRetention')).totals.images).toBe(0);
    await rowsOf('DELETE FROM device_message_images');
    expect((await ask('previewRetention')).totals.images).toBe(1);
    await carryOut();
    expect(await stored(bytes)).toBe(false);
  });

  it('are stored again when they are sent again after their removal', async () => {
    const bytes = png({ shade: 38 });
    const images = [dataUrl(bytes, 'image/png')];
    const id = await report(daysAgo(1), { images });
    await letImagesAge();
    await gantry.ok('events.delete', { id }, { token });
    await carryOut();
    expect(await stored(bytes)).toBe(false);
    // Nothing removes an image within the hour in which this process needs no statement to keep it.
    time.advance(70 * 60_000);
    await report(daysAgo(1), { images });
    expect(await stored(bytes)).toBe(true);
  });
});
