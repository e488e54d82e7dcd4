import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { renewPlateKeys } from '../src/events/plate-keys-store.ts';
import { createDatabase } from '../src/platform/database/pool.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';

// Events that were stored under the former rules for comparing plates.
const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
beforeAll(async () => {
  // Creates the partitions of the months.
  const apiKey = await gantry.registerSensor();
  for (const days of [0, 30, 60, 89])
    await gantry.ingest(apiKey, { timestamp: new Date(Date.now() - days * 86_400_000).toISOString() });
});

/** Stores events with the key that an earlier version stored, in several months. */
const store = async (
  plates: readonly (readonly [plate: string, key: string])[],
  copies = 1,
  on = gantry,
): Promise<void> => {
  await on.pool.query(
    `INSERT INTO events (id, event_type, plate, plate_key)
     SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid,
       'PLATE_RECOGNITION', plate, key
     FROM unnest($1::text[], $2::text[]) AS stored (plate, key), generate_series(1, $3) AS copy,
       LATERAL (SELECT now() - make_interval(days => copy % 90) AS at) AS time`,
    [plates.map(([plate]) => plate), plates.map(([, key]) => key), copies],
  );
};

const setState = async (version: number, since: string, on = gantry): Promise<void> => {
  await on.pool.query(`UPDATE plate_keys SET version = $1, position = '', changed = 0, since = ${since}`, [
    version,
  ]);
};

const found = async (licensePlateNumber: string): Promise<string[]> => {
  const { events } = await gantry.ok('events.getAll', { licensePlateNumber, take: 100 }, { token });
  return events.map((event: { licensePlateNumber: string }) => event.licensePlateNumber).sort();
};

const keys = async (): Promise<Record<string, number>> => {
  const { rows } = await gantry.pool.query(
    `SELECT plate_key, count(*) AS n FROM events GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ plate_key, n }) => [plate_key, n]));
};

const step = () => renewPlateKeys(createDatabase(gantry.pool));
const pass = async (): Promise<string> => {
  for (;;) {
    const result = await step();
    if (result !== 'ahead') return result;
  }
};

beforeEach(async () => {
  await gantry.pool.query('TRUNCATE events');
  await setState(1, `now() - interval '2 days'`);
});

const STORED = [
  ['34·ABC·123', '34·ABC·123'],
  ['34 ABC 123', '34ABC123'],
  ['٣٤ ABC ١٢٣', '٣٤ABC١٢٣'],
  ['34 İC 5', '34İC5'],
  ['мо 77', 'МО77'],
] as const;

describe('stored keys of the former rules', () => {
  it('become those of the present ones, in every month, and plates stay as they were sent', async () => {
    await store(STORED, 100);
    expect(await pass()).toBe('passed');
    expect(await keys()).toEqual({ '34ABC123': 300, '34IC5': 100, МО77: 100 });
    expect(await pass()).toBe('done');
    const { rows } = await gantry.pool.query('SELECT DISTINCT plate FROM events');
    expect(rows.map(({ plate }) => plate).sort()).toEqual(STORED.map(([plate]) => plate).sort());
  });

  it('are found meanwhile in the form in which they are stored, and afterwards in every form', async () => {
    await store(STORED);
    expect(await found('34.abc.123')).toEqual(['34 ABC 123']);
    expect(await found('34·abc·123')).toEqual(['34 ABC 123', '34·ABC·123']);
    expect(await found('٣٤ ABC*')).toEqual(['34 ABC 123', '٣٤ ABC ١٢٣']);
    expect(await found('*·123')).toEqual(['34 ABC 123', '34·ABC·123']);
    await pass();
    for (const form of ['34.abc.123', '34·abc·123', '３４ABC१२३', '*·abc_1*', '34*', '*۱۲۳'])
      expect(
        (await found(form)).filter((plate) => plate.includes('ABC')),
        form,
      ).toEqual(['34 ABC 123', '34·ABC·123', '٣٤ ABC ١٢٣'].sort());
  });

  it('are changed at most a thousand at a time, also if all events have the same one', async () => {
    await store([['12·34', '12·34']], 2_500);
    const left: number[] = [];
    while ((await step()) === 'ahead') left.push((await keys())['12·34'] ?? 0);
    expect(left.slice(0, 3)).toEqual([1_500, 500, 0]);
    expect(await keys()).toEqual({ '1234': 2_500 });
  });

  it('are passed again until a day after the upgrade, because an earlier version may still run', async () => {
    await setState(1, 'now()');
    await store(STORED);
    expect([await pass(), await pass()]).toEqual(['passed', 'passed']);
    await store([['9·9', '9·9']]);
    await setState(1, `now() - interval '25 hours'`);
    expect([await pass(), await pass()]).toEqual(['passed', 'done']);
    expect((await keys())['99']).toBe(1);
  });

  it('are renewed by one process at a time, and go on where an interrupted step left them', async () => {
    await store(Array.from({ length: 1_500 }, (_, n) => [`A·${n}`, `A·${n}`] as const));
    const client = await gantry.pool.connect();
    try {
      await client.query('BEGIN; SELECT pg_advisory_xact_lock(4202633)');
      expect(await step()).toBe('elsewhere');
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
    expect(await step()).toBe('ahead');
    const halfway = await gantry.pool.query('SELECT position, changed FROM plate_keys');
    expect(halfway.rows[0].changed).toBe(1_000);
    expect(await pass()).toBe('passed');
    expect(await gantry.count(`events WHERE plate_key LIKE '%·%'`)).toBe(0);
  });

  it('are renewed by the service after its start', async () => {
    await using other = await startGantry({ overrides: { timings: { renewPlateKeysMs: 100 } } });
    await store(STORED, 1, other);
    await setState(1, `now() - interval '2 days'`, other);
    await eventually(
      () => other.count('plate_keys WHERE version = 2'),
      (n) => n === 1,
    );
    expect(await other.count(`events WHERE plate_key = '34ABC123'`)).toBe(3);
  });
});

describe('equal plates', () => {
  it('are one plate in the figures, in the watchlist and its search, and in filters of streams', async () => {
    const admin = await gantry.tokenFor('ADMIN');
    const apiKey = await gantry.registerSensor();
    const { id } = await gantry.ok(
      'watchlist.create',
      { pattern: '06·XYZ•99', reason: 'Stolen', priority: 'HIGH' },
      { token: admin },
    );
    const forms = ['06 XYZ 99', '06.xyz.99', '۰۶ XYZ ٩٩', '０６／ＸＹＺ－９９', '06_XYZ−99'];
    for (const licensePlateNumber of forms)
      await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber });
    // One vehicle at one sensor, so one alert, which counts the reads.
    await eventually(
      () => gantry.ok('watchlist.getAlerts', { entryId: id }, { token: admin }),
      ({ total, alerts }) => total === 1 && alerts[0].sightings === forms.length,
    );
    const { repeatPlates } = await gantry.ok(
      'reports.getAnalytics',
      { repeatPlatesFrom: 2 },
      { token: admin },
    );
    expect(repeatPlates.plates.map(({ count }: { count: number }) => count)).toEqual([forms.length]);
    const listed = await gantry.ok('watchlist.getAll', { search: 'xyz 9' }, { token: admin });
    expect(listed.entries.map((entry: { pattern: string }) => entry.pattern)).toEqual(['06·XYZ•99']);
  });
});
