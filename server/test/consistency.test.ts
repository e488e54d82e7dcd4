import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Hit } from '@gantry/contract/hits';
import { switchableFeatures } from '@gantry/contract/system';
import { beforeAll, describe, expect, it } from 'vitest';
import { removeEvents } from '../src/events/remove-store.ts';
import { type CheckResult, rebuildDerived, runChecks } from '../src/operations/consistency/checks.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { removeHitsDue } from '../src/watchlist/hits-store.ts';
import { GANTRY } from './build-programs.ts';
import { eventually, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const gantry = await sharedGantry({ config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1:9' } });
const url = gantry.app.context.config.DATABASE_URL ?? '';
beforeAll(async () => {
  const token = await gantry.tokenFor('ADMIN');
  const { id: locationId } = await gantry.ok('locations.create', { name: 'East' }, { token });
  const { apiKey } = await gantry.ok(
    'sensors.create',
    { name: 'Mast', deviceId: randomUUID(), type: 'RADAR', locationId },
    { token },
  );
  await gantry.ok('watchlist.create', { pattern: 'SEEN*', reason: 'Stolen', priority: 'HIGH' }, { token });
  await gantry.ok(
    'webhooks.create',
    { url: 'http://127.0.0.1:9/hook', kinds: ['event.violation', 'watchlist.alert', 'incident.changed'] },
    { token },
  );
  // Only changes older than two seconds are known to every process.
  for (const table of ['watchlist_entries', 'webhooks'])
    await gantry.pool.query(`UPDATE ${table} SET updated_at = updated_at - interval '1 minute'`);
  const { id: hotlistId } = await gantry.ok(
    'hotlists.create',
    { name: 'Wanted', repeatMinutes: 1_440 },
    { token },
  );
  await gantry.ok('hotlists.addEntry', { hotlistId, plate: 'SEEN 7', reason: 'Stolen' }, { token });
  await gantry.ok('hotlists.addEntry', { hotlistId, plate: 'SEEN 4*', reason: 'Stolen' }, { token });
  await gantry.pool.query(`UPDATE hotlists SET updated_at = updated_at - interval '1 minute',
    refreshed_at = refreshed_at - interval '1 minute'`);
  await gantry.pool.query(`UPDATE hotlist_look_backs SET due_at = NULL, state = 'DONE'`);
  const events = Array.from({ length: 60 }, (_, n) => ({
    eventType: n % 10 === 0 ? 'INCIDENT' : 'SPEED_DETECTION',
    violationType: n % 3 === 0 ? 'SPEEDING' : null,
    vehicleType: n % 2 === 0 ? 'CAR' : 'TRUCK',
    vehicleSpeed: 30 + n,
    licensePlateNumber: `${n % 7 === 0 ? 'SEEN' : 'OTHER'} ${n}`,
    timestamp: new Date(Date.now() - n * 3_600_000).toISOString(),
    // An end of something unknown opens no incident.
    metadata: n === 50 ? { incidentKey: 'Roadworks', incidentEnd: 'ended' } : null,
  }));
  const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
  await gantry.ok('events.markAsProcessed', { id: results[3].eventId }, { token });
  await gantry.ok('events.delete', { id: results[4].eventId }, { token });
  const loop = { name: 'Loop', deviceId: randomUUID(), type: 'RADAR' };
  const counter = await gantry.ok('sensors.create', loop, { token });
  const counted = [
    { volume: 5 },
    { byClass: { scheme: 'BASIC', counts: { CAR: 7, BICYCLE: 2 } }, direction: 'NB' },
    { volume: null },
    { volume: 3, status: 'FAULT' },
    { volume: 4, samples: 1, expectedSamples: 2 },
  ];
  const stored = await gantry.ok('counts.ingest', {
    apiKey: counter.apiKey,
    periods: [
      ...[60, 300, 900, 3_600].flatMap((seconds, hour) =>
        counted.map((content, n) => ({
          ...{ start: `2026-03-0${n + 1}T0${hour}:00:00Z`, seconds },
          ...content,
        })),
      ),
      { start: '2026-03-06T23:30:00Z', seconds: 3_600, volume: 1 },
      { start: '2026-03-08T00:00:00Z', seconds: 86_400, volume: 1 },
    ],
  });
  expect(stored.success ? null : stored.results).toBeNull();
  await eventually(
    async () => (await gantry.pool.query('SELECT FROM events_to_follow_up')).rowCount,
    (waiting) => waiting === 0,
  );
  await rollUpAllTraffic(gantry, 200);
});

const check = (): Promise<CheckResult[]> =>
  runChecks({ connectionString: url, features: switchableFeatures, limit: 100, onResult: () => undefined });

/** Recomputes what the check says. @returns the number of rows by the kind of data */
const rebuildWrong = async (): Promise<Record<string, number>> => {
  const wrong = (await check()).filter(({ differences }) => differences.length > 0);
  const rows: Record<string, number> = {};
  for (const kind of new Set(wrong.map(({ rebuild }) => rebuild)))
    rows[kind] = await rebuildDerived(kind, { connectionString: url, features: switchableFeatures });
  return rows;
};
const namesOfWrong = (results: readonly CheckResult[]): string[] =>
  results.filter(({ differences }) => differences.length > 0).map(({ name }) => name);

/** Each damages one kind of derived data. */
const damages: readonly { readonly name: string; readonly how: string; readonly statement: string }[] = [
  {
    name: 'totals by hour',
    how: 'two too many',
    statement: `INSERT INTO event_totals (hour, event_type, violation_type, vehicle_type, severity, n)
      VALUES (date_trunc('hour', now()), 'INCIDENT', '', '', 0, 2)`,
  },
  {
    name: 'totals by day, month and year',
    how: 'a day too many',
    statement: `INSERT INTO event_period_totals (period, start, event_type, violation_type, vehicle_type, severity, processed, archived, n)
      VALUES ('day', '2001-01-01', 'INCIDENT', '', '', 0, false, false, 5)
      ON CONFLICT (period, start, event_type, violation_type, vehicle_type, severity, processed, archived) DO UPDATE SET n = 5`,
  },
  {
    name: 'totals of all events by hour',
    how: 'violations changed',
    statement: 'UPDATE event_hour_totals SET violations = violations + 1',
  },
  {
    name: 'arrivals',
    how: 'one too few',
    statement: `INSERT INTO event_arrivals (hour, n) VALUES (date_trunc('hour', now()), -1)`,
  },
  {
    name: 'events without their incident',
    how: 'an attachment gone',
    statement:
      'DELETE FROM incident_events WHERE event_id = (SELECT min(event_id::text)::uuid FROM incident_events)',
  },
  {
    name: 'traffic of intervals',
    how: 'a vehicle too many',
    statement: 'UPDATE traffic_bins SET vehicles = vehicles + 1 WHERE source = 4 AND minutes = 1440',
  },
  {
    name: 'traffic of intervals',
    how: 'an hour gone',
    statement: 'DELETE FROM traffic_bins WHERE source = 4 AND minutes = 60',
  },
  {
    name: 'traffic by 5 minutes',
    how: 'counts changed',
    statement: `UPDATE traffic_bins SET events = events + 3 WHERE minutes = 5`,
  },
  {
    name: 'traffic by 5 minutes',
    how: 'rows gone',
    statement: `DELETE FROM traffic_bins WHERE minutes = 5 AND cells[1] IN (SELECT id FROM traffic_cells WHERE vehicle_type = 'CAR')`,
  },
  {
    name: 'traffic by 5 minutes',
    how: 'speeds changed',
    statement: `UPDATE traffic_bins SET measures = '{-3,-2,7}' WHERE minutes = 5 AND measures[3] > 7`,
  },
  {
    name: 'traffic by longer slots',
    how: 'sums without speeds changed',
    statement: `UPDATE traffic_bins SET brief_sums[1] = brief_sums[1] + 1 WHERE minutes = 15`,
  },
  {
    name: 'traffic by longer slots',
    how: 'a share that no interval covers',
    statement: `UPDATE traffic_bins SET counted_share = 0.5 WHERE minutes = 60`,
  },
  {
    name: 'traffic by longer slots',
    how: 'sums changed',
    statement: `UPDATE traffic_bins SET sums[2] = sums[2] + 1 WHERE minutes = 1440 AND measures[2] = -2`,
  },
  {
    name: 'traffic by longer slots',
    how: 'rows too many',
    statement: `INSERT INTO traffic_bins (minutes, sensor_id, source, slot, events)
      SELECT DISTINCT 60, sensor_id, 1, timestamptz '2026-01-05 00:00Z', 4 FROM traffic_bins`,
  },
  {
    name: 'traffic by year',
    how: 'a year without counts has some',
    // What earlier damages changed would remove the row again.
    statement: `WITH earlier AS (DELETE FROM traffic_year_changes)
      INSERT INTO traffic_years (place_id, year, place_kind, timezone, rules, since, until, concerns, means, day_sums,
        days, hour_sums, hours, top_starts, top_volumes, valid_ms)
      SELECT id, 2001, 'location', 'UTC', 1, '2001-01-01Z', '2002-01-01Z', ARRAY[id], '{}', array_fill(1, ARRAY[84]),
        array_fill(1, ARRAY[84]), array_fill(1, ARRAY[2016]), array_fill(1, ARRAY[2016]), '{}', '{}', 0
      FROM locations LIMIT 1`,
  },
  { name: 'status of incidents', how: 'all closed', statement: `UPDATE incidents SET status = 'CLOSED'` },
  {
    name: 'status of sensors',
    how: 'all in maintenance',
    statement: `UPDATE sensors SET status = 'MAINTENANCE'`,
  },
  {
    name: 'alerts of the watchlist',
    how: 'alerts gone',
    statement: 'DELETE FROM watchlist_alerts WHERE hotlist_id IS NULL',
  },
  {
    name: 'hits of hotlists',
    how: 'hits gone',
    statement: 'DELETE FROM watchlist_alerts WHERE hotlist_id IS NOT NULL',
  },
  {
    name: 'sightings of hits',
    how: 'one too many',
    statement: 'UPDATE watchlist_alerts SET sightings = sightings + 1 WHERE hotlist_id IS NOT NULL',
  },
  {
    name: 'sightings of hits',
    how: 'a read that counts twice',
    statement: `INSERT INTO watchlist_sightings (entry_id, event_id, alert_id)
      SELECT entry_id, event_id, id FROM watchlist_alerts WHERE hotlist_id IS NOT NULL LIMIT 1`,
  },
  {
    name: 'entries of hotlists',
    how: 'one too few',
    statement: 'UPDATE hotlists SET entry_count = entry_count - 1',
  },
  {
    name: 'versions of hotlists',
    how: 'a version that nobody prepares',
    statement: `INSERT INTO hotlist_entries SELECT (jsonb_populate_record(entries, '{"from_version": 3}')).*
      FROM hotlist_entries AS entries WHERE plate = 'SEEN 7'`,
  },
  {
    name: 'versions of hotlists',
    how: 'an end that nobody prepares',
    statement: 'UPDATE hotlist_entries SET to_version = 9',
  },
  {
    name: 'versions of hotlists',
    how: 'two rows of an entry in force',
    statement: `INSERT INTO hotlist_entries SELECT (jsonb_populate_record(entries, '{"from_version": 2}')).*
      FROM hotlist_entries AS entries WHERE plate = 'SEEN 7'`,
  },
  {
    name: 'deliveries of webhooks',
    how: 'deliveries gone',
    statement: `DELETE FROM webhook_deliveries WHERE kind = 'event.violation'`,
  },
];

describe('the check of derived data', () => {
  it('finds nothing in a database that only the service has written', async () => {
    const results = await check();
    expect(results.map(({ name }) => name).sort()).toEqual(
      [...new Set(damages.map(({ name }) => name))].sort(),
    );
    expect(namesOfWrong(results)).toEqual([]);
  });

  it.each(damages)(
    'finds damage to $name ($how), changes nothing, and names what rebuilds it',
    async ({ name, statement }) => {
      expect((await gantry.pool.query(statement)).rowCount).toBeGreaterThan(0);
      expect(namesOfWrong(await check())).toContain(name);
      expect(namesOfWrong(await check())).toContain(name);
      const written = Object.values(await rebuildWrong());
      expect(written.length).toBeGreaterThan(0);
      for (const rows of written) expect(rows).toBeGreaterThan(0);
      await eventually(
        async () => namesOfWrong(await check()),
        (wrong) => wrong.length === 0,
      );
    },
  );

  const countDeliveries = async (): Promise<Record<string, number>> => {
    const { rows } = await gantry.pool.query(
      'SELECT kind, count(*)::int AS n FROM webhook_deliveries GROUP BY 1',
    );
    return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]));
  };

  it('attaches events to their incidents again, whatever their status, and tells webhooks of none a second time', async () => {
    const readAttached = async () =>
      (await gantry.pool.query('SELECT incident_id, event_id FROM incident_events ORDER BY 1, 2')).rows;
    const incidents = await gantry.count('incidents');
    const attached = await readAttached();
    const deliveries = await countDeliveries();
    await gantry.pool.query(
      `UPDATE incidents SET status = 'CLOSED'; UPDATE incident_timeline SET to_status = 'CLOSED'`,
    );
    await gantry.pool.query('DELETE FROM incident_events');
    await rebuildWrong();
    expect(await readAttached()).toEqual(attached);
    expect(await gantry.count('incidents')).toBe(incidents);
    expect(await countDeliveries()).toEqual(deliveries);
  });

  it('tells webhooks of the incidents and alerts that it makes, and of no event a second time', async () => {
    const before = await countDeliveries();
    await gantry.pool.query(`DELETE FROM incidents; DELETE FROM watchlist_alerts WHERE hotlist_id IS NULL`);
    expect(namesOfWrong(await check())).toEqual(['events without their incident', 'alerts of the watchlist']);
    expect(await rebuildWrong()).toEqual({ incidents: 5, alerts: 9 });
    expect(namesOfWrong(await check())).toEqual([]);
    expect(await countDeliveries()).toEqual({
      ...before,
      'incident.changed': (before['incident.changed'] ?? 0) + 5,
      'watchlist.alert': (before['watchlist.alert'] ?? 0) + 9,
    });
  });

  it('misses no hit that was removed after the days of its list, which are those since the last read', async () => {
    const token = await gantry.tokenFor('ADMIN');
    await gantry.pool.query(`UPDATE hotlists SET hit_days = 1`);
    // The hits of reads of 7, and of 42 and 49 hours ago, which came late.
    await gantry.pool.query(
      `UPDATE watchlist_alerts SET created_at = created_at - interval '3 days', state = 'CONFIRMED'
       WHERE hotlist_id IS NOT NULL`,
    );
    const { db } = gantry.app.context;
    const removed = await inTransaction(db, (tx) => removeHitsDue(tx, Date.now(), 10));
    expect(removed).toMatchObject([{ rows: 1 }]);
    const { hits } = await gantry.ok('hits.getAll', {}, { token });
    expect(hits.map((hit: Hit) => hit.licensePlateNumber)).toEqual(['SEEN 7']);
    expect(namesOfWrong(await check())).toEqual([]);
    await gantry.pool.query('UPDATE hotlists SET hit_days = NULL');
    expect(await rebuildWrong()).toEqual({ hits: 2 });
  });

  it('is rebuilt while events arrive', async () => {
    const apiKey = await gantry.registerSensor();
    let isBusy = true;
    const sending = (async () => {
      while (isBusy) await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    })();
    try {
      for (const { statement } of damages.slice(0, 3)) await gantry.pool.query(statement);
      const traffic = damages.find(({ name }) => name === 'traffic by 5 minutes');
      await gantry.pool.query(traffic?.statement ?? '');
      await rebuildWrong();
    } finally {
      isBusy = false;
      await sending;
    }
    expect(namesOfWrong(await check())).toEqual([]);
  });

  it('misses an end of something unknown in no incident, but one that a timeline names, and other values of the field', async () => {
    const apiKey = await gantry.registerSensor();
    const keyed = (incidentKey: string, incidentEnd?: string) => ({
      eventType: 'INCIDENT',
      metadata: { incidentKey, ...(incidentEnd !== undefined && { incidentEnd }) },
    });
    const stored: string[] = [];
    for (const event of [
      keyed('Fire'),
      keyed('Fire', 'ended'),
      keyed('Flood', 'soon'),
      { eventType: 'INCIDENT', metadata: { incidentEnd: 'ended' } },
      keyed('Unknown', 'ended'),
    ])
      stored.push((await gantry.ok('events.ingest', { apiKey, ...event })).eventId);
    await eventually(
      async () => (await gantry.pool.query('SELECT FROM events_to_follow_up')).rowCount,
      (waiting) => waiting === 0,
    );
    expect(namesOfWrong(await check())).toEqual([]);
    await gantry.pool.query('DELETE FROM incident_events WHERE event_id = ANY ($1)', [stored]);
    const missed = (await check()).find(({ name }) => name === 'events without their incident');
    expect(new Set(missed?.differences.map(({ eventId }) => eventId))).toEqual(new Set(stored.slice(0, 4)));
    await rebuildWrong();
    expect(namesOfWrong(await check())).toEqual([]);
  });

  it('keeps the counts of a day from which retention removed events, and derives the longer ones from them', async () => {
    const apiKey = await gantry.registerSensor();
    const events = [0, 1, 2].map((n) => ({
      eventType: 'VEHICLE_DETECTION',
      vehicleSpeed: 50 + n,
      timestamp: `2026-05-20T10:0${n}:00Z`,
    }));
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
    await rollUpAllTraffic(gantry, 50);
    const ids = results.map(({ eventId }: { eventId: string }) => eventId);
    await removeEvents(gantry.app.context.db, ids, false);
    await gantry.pool.query(`WITH run AS (
        INSERT INTO retention_runs (status) VALUES ('COMPLETED') RETURNING id
      ) INSERT INTO retention_removals (run_id, class, event_type, month, rows, until)
      SELECT id, 'events', 'VEHICLE_DETECTION', '2026-05-01', 3, '2026-06-01' FROM run`);
    const ofThatDay = `slot >= '2026-05-20T00:00:00Z' AND slot < '2026-05-21T00:00:00Z'`;
    const read = async () => {
      const { rows } = await gantry.pool.query(
        `SELECT minutes, source, slot, events, cells, measures, sums FROM traffic_bins
         WHERE minutes > 1 AND ${ofThatDay} ORDER BY minutes, slot`,
      );
      return rows;
    };
    const before = await read();
    expect(before).toHaveLength(4);
    expect(namesOfWrong(await check())).toEqual([]);
    await gantry.pool.query(
      `UPDATE traffic_bins SET sums[1] = sums[1] + 1 WHERE minutes = 60 AND ${ofThatDay}`,
    );
    expect(namesOfWrong(await check())).toEqual(['traffic by longer slots']);
    await rebuildWrong();
    expect(namesOfWrong(await check())).toEqual([]);
    expect(await read()).toEqual(before);
  });

  it('is a command that exits with 1 and names the rows that differ', async () => {
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [GANTRY, 'db', ...args], {
        cwd: ROOT,
        env: { PATH: process.env.PATH, DATABASE_URL: url },
      });
    expect((await run('check')).stdout).toMatch(/^equal {6}totals by hour/);
    await gantry.pool.query(damages.find(({ name }) => name === 'arrivals')?.statement ?? '');
    const failed = await run('check').catch((error: { code: number; stdout: string }) => error);
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.stdout).toMatch(
      /DIFFERENT {2}arrivals.*\n.*"counted":\d+,"kept":\d+.*\n.*gantry db rebuild arrivals\n/,
    );
    expect((await run('rebuild', 'arrivals')).stdout).toBe('rebuilt arrivals: 1 rows\n');
    expect(namesOfWrong(await check())).toEqual([]);
  });
});
