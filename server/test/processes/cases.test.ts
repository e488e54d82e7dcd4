import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CaseDetail } from '@gantry/contract/cases';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { png } from '../sample-images.ts';
import { isLong } from '../test-length.ts';
import { type ServiceProcess, spawnWithTimings, untilItServes } from './service-process.ts';

const DAY = 86_400_000;
const away = (ms: number): string => new Date(Date.now() + ms).toISOString();

const PASSWORD = 'Correct-horse-1';
const operator = { email: 'operator@gantry.local', firstName: 'First', role: 'OPERATOR' };
const third = { email: 'third@gantry.local', firstName: 'Third', role: 'ADMIN' };
const users = { operator, third };
type Who = 'admin' | keyof typeof users;

/** Each test starts several services, for each of which a busy machine takes half a minute. */
const TIMEOUT_MS = 600_000;

/** The moves that are killed in any case; all are with `npm run test:long`. */
const KILLED: ReadonlySet<string> = new Set(['cases.open', 'cases.measure', 'cases.verify', 'cases.decide']);

describe('a case', { timeout: TIMEOUT_MS }, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-cases-'));
  const running = new Set<ServiceProcess>();
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let pool: ReturnType<typeof createPool>;
  let apiKey = '';
  let shade = 0;

  const start = async (): Promise<ServiceProcess> => {
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(scratch, 'data') };
    const service = await untilItServes(spawnWithTimings(scratch, settings, { openCasesMs: 100 }));
    running.add(service);
    return service;
  };
  const tokenOf = (service: ServiceProcess, who: Who) =>
    who === 'admin' ? service.tokenFor('ADMIN') : service.login(users[who].email, PASSWORD);
  const ask = async <Answer>(
    service: ServiceProcess,
    who: Who,
    procedure: string,
    input: object = {},
  ): Promise<Answer> => service.ok<Answer>(procedure, input, { token: await tokenOf(service, who) });
  const report = (service: ServiceProcess, violationType = 'SPEEDING'): Promise<string> =>
    service.ingest(apiKey, {
      ...{ eventType: 'TRAFFIC_VIOLATION', violationType, vehicleSpeed: 90 },
      ...{ licensePlateNumber: 'B AB 1', plateConfidence: 99 },
      images: [png({ shade: ++shade }), png({ shade: ++shade })].map((image) => image.toString('base64')),
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool(database.url, 2, () => undefined);
    const service = await start();
    for (const user of [operator, third])
      await ask(service, 'admin', 'users.create', { ...user, password: PASSWORD, lastName: 'Tester' });
    const place = { name: 'Bridge', address: 'Bridge Road 1', kind: 'SEGMENT', speedLimit: 50 };
    const { id: locationId } = await ask<{ id: string }>(service, 'admin', 'locations.create', place);
    const fields = { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', locationId };
    const sensor = await ask<{ id: string; apiKey: string }>(service, 'admin', 'sensors.create', fields);
    apiKey = sensor.apiKey;
    for (const kind of ['TYPE_APPROVAL', 'CALIBRATION']) {
      const tolerance = kind === 'CALIBRATION' ? { fixedKmh: 3, percent: 3 } : null;
      const times = { validFrom: away(-DAY), validUntil: away(DAY) };
      const certificate = { sensorId: sensor.id, kind, number: '1', tolerance, ...times };
      await ask(service, 'admin', 'certificates.add', certificate);
    }
    await service.stop();
  });
  afterEach(async () => {
    for (const { process } of running) process.kill('SIGKILL');
    await Promise.all([...running].map(({ ended }) => ended));
    running.clear();
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
    await rm(scratch, { recursive: true, force: true });
  });

  /** Everything that belongs to cases. */
  const everything = async () =>
    (
      await pool.query(
        `SELECT (SELECT jsonb_agg(to_jsonb(c) ORDER BY number) FROM cases AS c) AS cases,
           (SELECT jsonb_agg(to_jsonb(i) ORDER BY seq) FROM case_items AS i) AS items,
           (SELECT jsonb_agg(to_jsonb(l) ORDER BY id) FROM case_log AS l) AS log,
           (SELECT jsonb_agg(id ORDER BY id) FROM removed_case_log) AS removed,
           (SELECT jsonb_agg(to_jsonb(n)) FROM case_numbers AS n) AS numbers,
           (SELECT jsonb_agg(to_jsonb(h) ORDER BY id) FROM legal_holds AS h) AS holds,
           (SELECT count(*)::int FROM held_events) AS held,
           (SELECT count(*)::int FROM changes WHERE topic = 'cases') AS messages,
           (SELECT count(*)::int FROM activity WHERE action LIKE 'cases.%') AS activities`,
      )
    ).rows[0];

  const countRows = async (statement: string, values: unknown[] = []): Promise<number> =>
    (await pool.query(statement, values)).rowCount ?? 0;

  /**
   * Kills a service in the middle of a transaction, which waits to insert into a table.
   * @param act begins the transaction
   * @param then what to do before it may go on, if anybody were left to commit it
   */
  const killInserting = async (
    service: ServiceProcess,
    table: string,
    act: () => Promise<unknown>,
    then: () => void = () => undefined,
  ): Promise<void> => {
    // Others insert into these tables, too.
    const inserting = `FROM pg_stat_activity AS own WHERE query ~* ('INSERT INTO ' || $1 || ' ')
      AND datname = current_database() AND EXISTS (
        SELECT FROM pg_locks WHERE pg_locks.pid = own.pid AND relation = 'cases'::regclass AND mode = 'RowExclusiveLock'
      )`;
    const blocker = await pool.connect();
    await blocker.query('BEGIN');
    await blocker.query(`LOCK ${table} IN SHARE MODE`);
    const call = act().catch(() => null);
    await eventually(
      () => countRows(`SELECT ${inserting} AND wait_event_type = 'Lock'`, [table]),
      (rows) => rows >= 1,
    );
    service.process.kill('SIGKILL');
    await Promise.all([service.ended, call]);
    running.delete(service);
    then();
    await blocker.query('ROLLBACK');
    blocker.release();
    // The statement may have ended when the lock was released, but nobody committed it.
    await eventually(
      () => countRows(`SELECT ${inserting}`, [table]),
      (rows) => rows === 0,
    );
  };

  /** The numbers of cases that were removed. */
  const removed: string[] = [];
  /** Expects whole logs, numbers without a gap, and holds of exactly the events of cases that are not closed. */
  const expectWhole = async (service: ServiceProcess): Promise<void> => {
    // In one snapshot, because a case may be opened meanwhile: of an event whose answer was lost with its process.
    const { rows: known } = await pool.query<{ id: string; number: string; last: number }>(
      'SELECT id, number, (SELECT sum(last)::int FROM case_numbers) AS last FROM cases',
    );
    for (const { id } of known) {
      const { logBrokenAt, log } = await ask<CaseDetail>(service, 'admin', 'cases.getById', { id });
      expect(logBrokenAt).toBeNull();
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1));
    }
    const serials = [...removed, ...known.map(({ number }) => number)].map((number) =>
      Number(number.slice(5)),
    );
    expect(serials.sort((a, b) => a - b)).toEqual(serials.map((_, n) => n + 1));
    expect(known[0]?.last).toBe(serials.length);
    const wrong = await countRows(
      `SELECT FROM cases LEFT JOIN legal_holds AS hold ON hold.id = hold_id
       WHERE hold.id IS NULL OR (released_at IS NULL) <> (closed_at IS NULL)
         OR ARRAY(SELECT DISTINCT event_id FROM case_items WHERE case_id = cases.id AND event_id IS NOT NULL ORDER BY 1)
           <> ARRAY(SELECT event_id FROM held_events WHERE held_events.hold_id = hold.id ORDER BY 1)`,
    );
    expect(wrong).toBe(0);
  };

  const openNew = async (service: ServiceProcess): Promise<CaseDetail> =>
    ask(service, 'operator', 'cases.open', { eventId: await report(service) });
  const openChecked = async (service: ServiceProcess): Promise<CaseDetail> => {
    const { id } = await openNew(service);
    return ask(service, 'operator', 'cases.check', { id, reason: 'Seen' });
  };

  it('is as before or as after a move if the process is killed in the middle of it', async () => {
    let service = await start();
    let of = { id: '', items: [] as CaseDetail['items'] };
    const eventId = await report(service);
    const steps: readonly {
      readonly procedure: string;
      readonly who: Who;
      readonly input: () => object;
      /** Opens another case for this step. */
      readonly open?: () => Promise<CaseDetail>;
    }[] = [
      { procedure: 'cases.open', who: 'operator', input: () => ({ eventId }) },
      { procedure: 'cases.addItem', who: 'operator', input: () => ({ role: 'NOTE', text: 'Wet' }) },
      {
        procedure: 'cases.measure',
        who: 'operator',
        input: () => ({ first: of.items[0]?.id, second: of.items[1]?.id, metres: 10, intervalMs: 400 }),
      },
      { procedure: 'cases.check', who: 'operator', input: () => ({ reason: 'Seen' }) },
      { procedure: 'cases.verify', who: 'admin', input: () => ({ reason: 'Seen' }) },
      { procedure: 'cases.unlock', who: 'admin', input: () => ({ reason: 'Again' }) },
      { procedure: 'cases.reject', who: 'operator', input: () => ({ code: 'UNREADABLE' }) },
      { procedure: 'cases.close', who: 'operator', input: () => ({}) },
      {
        procedure: 'cases.dispute',
        who: 'admin',
        input: () => ({ reason: 'Another plate' }),
        open: () => openChecked(service),
      },
      {
        procedure: 'cases.decide',
        who: 'third',
        input: () => ({ decision: 'VERIFIED', reason: 'Clear' }),
      },
      {
        procedure: 'cases.decide',
        who: 'third',
        input: () => ({ decision: 'REJECTED', code: 'TWO_VEHICLES', reason: 'Two' }),
        open: async () => {
          const { id } = await openChecked(service);
          return ask(service, 'admin', 'cases.dispute', { id, reason: 'Two vehicles' });
        },
      },
    ];
    for (const { procedure, who, input, open } of steps) {
      if (open) of = await open();
      const given = { ...(of.id !== '' && { id: of.id }), ...input() };
      const token = await tokenOf(service, who);
      const before = await everything();
      if (isLong || KILLED.has(procedure)) {
        // The message to subscribers is the last that a move writes.
        await killInserting(service, 'changes', () => service.call(procedure, given, { token }));
        expect(await everything()).toEqual(before);
        service = await start();
      }
      of = await ask(service, who, procedure, given);
      of = await ask<CaseDetail>(service, 'admin', 'cases.getById', { id: of.id });
    }
    await expectWhole(service);
  });

  const casesOf = (eventIds: readonly string[]): Promise<number> =>
    countRows('SELECT FROM cases WHERE event_id = ANY ($1::uuid[])', [eventIds]);
  /** Waits until each of the events has a case, and until nothing else is to be opened. */
  const untilOpened = async (eventIds: readonly string[]): Promise<void> => {
    await eventually(
      () => casesOf(eventIds),
      (n) => n === eventIds.length,
    );
    await eventually(
      () => countRows('SELECT FROM case_requests'),
      (n) => n === 0,
    );
    expect(await casesOf(eventIds)).toBe(eventIds.length);
  };
  /** Waits until nothing is left of events that would open a case. */
  const untilQuiet = () =>
    eventually(
      () => countRows('SELECT FROM case_requests UNION ALL SELECT FROM events_to_follow_up'),
      (n) => n === 0,
    );
  /** Makes a rule about events that arrive, and waits until processes know it. */
  const openOnArrival = async (violationType: string, ...services: ServiceProcess[]): Promise<void> => {
    const [service] = services;
    if (!service) throw new Error('No service');
    await ask(service, 'admin', 'cases.updateRules', { openFor: [violationType], openOn: 'ARRIVAL' });
    for (const each of services) {
      const sent: string[] = [];
      await eventually(
        async () => {
          sent.push(await report(each, violationType));
          return casesOf(sent);
        },
        (opened) => opened > 0,
      );
    }
    await untilQuiet();
  };

  it.each(isLong ? (['CONFIRMED', 'ARRIVAL'] as const) : (['CONFIRMED'] as const))(
    'is opened for each of the %s events that a rule names, if the process that opens it is killed',
    async (openOn) => {
      const service = await start();
      const violationType = `LANE_${openOn}`;
      if (openOn === 'ARRIVAL') await openOnArrival(violationType, service);
      else await ask(service, 'admin', 'cases.updateRules', { openFor: [violationType], openOn });
      const before = await everything();
      const eventIds: string[] = [];
      await killInserting(service, 'case_log', async () => {
        for (let n = 0; n < 3; n++) {
          const id = await report(service, violationType);
          if (openOn === 'CONFIRMED')
            await ask(service, 'operator', 'events.review', { id, decision: 'CONFIRMED' });
          eventIds.push(id);
        }
      });
      expect(eventIds).not.toHaveLength(0);
      expect(await everything()).toEqual(before);
      expect(await countRows('SELECT FROM case_requests')).toBeGreaterThan(0);
      const next = await start();
      await untilOpened(eventIds);
      await expectWhole(next);
    },
  );

  it('is the only one of its event if two processes open cases by a rule and by hand', async () => {
    const services = [await start(), await start()] as const;
    await openOnArrival('LANE_RACE', ...services);
    const eventIds = (
      await Promise.all(
        Array.from({ length: 30 }, async (_, n) => {
          const eventId = await report(services[n % 2] as ServiceProcess, 'LANE_RACE');
          if (n % 3 === 0) {
            const answers = await Promise.all(
              services.map(async (each) =>
                each.call('cases.open', { eventId }, { token: await tokenOf(each, 'admin') }),
              ),
            );
            // Users do not wait long for others who set holds.
            expect([200, 503]).toEqual(expect.arrayContaining(answers.map(({ status }) => status)));
          }
          return eventId;
        }),
      )
    ).flat();
    await untilOpened(eventIds);
    await expectWhole(services[0]);
  });

  it('is opened by another process if the one that opens it is killed', async () => {
    const [other, doomed] = [await start(), await start()];
    await openOnArrival('LANE_TWO', other, doomed);
    const eventIds: string[] = [];
    const send = async (service: ServiceProcess): Promise<void> => {
      for (let n = 0; n < 5; n++) eventIds.push(await report(service, 'LANE_TWO'));
    };
    await send(other);
    await untilOpened(eventIds);
    const before = await everything();
    // So that it is the other one that opens cases.
    other.process.kill('SIGSTOP');
    await killInserting(
      doomed,
      'case_log',
      () => send(doomed),
      () => other.process.kill('SIGCONT'),
    );
    expect(eventIds.length).toBeGreaterThan(5);
    expect((await everything()).log.slice(0, before.log.length)).toEqual(before.log);
    await send(other);
    await untilOpened(eventIds);
    await expectWhole(other);
  });

  it('is removed by retention as a whole, or not at all if the process is killed meanwhile', async () => {
    const service = await start();
    await ask(service, 'admin', 'cases.updateRules', { openFor: [] });
    await untilQuiet();
    const { id, number } = await openNew(service);
    await ask(service, 'operator', 'cases.reject', { id, code: 'UNREADABLE' });
    await ask(service, 'operator', 'cases.close', { id });
    await pool.query(`UPDATE cases SET closed_at = now() - interval '40 days' WHERE id = $1`, [id]);
    await ask(service, 'admin', 'storage.setRetention', { cases: 30 });
    const token = await tokenOf(service, 'admin');
    const before = await everything();
    // What a run removed is the last that it writes.
    await killInserting(service, 'retention_removals', () =>
      service.call('storage.runRetention', {}, { token }),
    );
    expect(await everything()).toEqual(before);
    const next = await start();
    expect(await ask(next, 'admin', 'cases.getById', { id })).toMatchObject({ number, logBrokenAt: null });
    // Nobody waits for a run that has been silent for so long.
    await pool.query(`UPDATE retention_runs SET beat_at = beat_at - interval '6 minutes'`);
    const { id: runId } = await ask<{ id: string }>(next, 'admin', 'storage.runRetention');
    type Runs = { runs: { id: string; status: string; removals: object[] }[] };
    const run = await eventually(
      async () =>
        (await ask<Runs>(next, 'admin', 'storage.getRetentionRuns')).runs.find((each) => each.id === runId),
      (found) => found?.status !== 'RUNNING',
    );
    expect(run).toMatchObject({ status: 'COMPLETED', removals: [{ class: 'cases', rows: 1 }] });
    removed.push(number);
    const after = await everything();
    expect(after.cases).toEqual(before.cases.filter((each: { id: string }) => each.id !== id));
    for (const what of ['items', 'log'] as const)
      expect(after[what]).toEqual(before[what].filter((each: { case_id: string }) => each.case_id !== id));
    const gone = before.log.filter((each: { case_id: string }) => each.case_id === id);
    expect(after.removed).toEqual(gone.map((each: { id: number }) => each.id));
    await expectWhole(next);
  });
});
