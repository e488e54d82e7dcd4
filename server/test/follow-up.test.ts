import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredRow } from '../src/events/event-row.ts';
import { findStoredRows } from '../src/events/store.ts';
import { incidentTypeOf, sourceOf } from '../src/incidents/from-event.ts';
import { FollowUp, type FollowUpParts } from '../src/ingest/follow-up.ts';
import { postponeFollowUp } from '../src/ingest/follow-up-store.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';

const report = { eventType: 'INCIDENT', description: 'Stopped vehicle' };

/** Starts a follow-up beside that of the service, with these parts instead of the service's. */
const followUpOf = (
  { app }: Gantry,
  parts: Partial<FollowUpParts> & Pick<FollowUpParts, 'applyEffects'>,
): FollowUp =>
  new FollowUp({ db: app.context.db, nodes: app.context.nodes, log: pino({ level: 'silent' }), ...parts });

/** A promise that resolves when it is told to. */
const barrier = (): { readonly isOpen: Promise<void>; open(): void } => {
  let open = (): void => undefined;
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { isOpen, open: () => open() };
};

describe('the effects of an event', () => {
  let gantry: Gantry;
  let apiKey: string;
  beforeAll(async () => {
    gantry = await startGantry();
    apiKey = await gantry.registerSensor();
  });
  afterAll(() => gantry.stop());

  const count = (what: string): Promise<number> => gantry.count(what);

  it('exist once the device is answered, and nothing is left to do', async () => {
    await gantry.ok('events.ingest', { apiKey, ...report });
    expect(await count('incidents')).toBe(1);
    expect(await count('events_to_follow_up')).toBe(0);
  });

  it('delay neither other events of the group, nor the device for long, when they have to wait', async () => {
    const blocker = await gantry.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK incidents IN ACCESS EXCLUSIVE MODE');
    const answered: string[] = [];
    const incident = gantry.ok('events.ingest', { apiKey, ...report }).then(() => answered.push('incident'));
    await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    answered.push('vehicle');
    await incident;
    expect(answered).toEqual(['vehicle', 'incident']);
    // Both were answered while the follow-up was still blocked.
    await blocker.query('COMMIT');
    blocker.release();
    await eventually(
      () => count('events_to_follow_up'),
      (left) => left === 0,
    );
    expect(await count('incident_events')).toBe(2);
  });

  it('occur once, though the event is sent again and again', async () => {
    const before = await count('incident_events');
    const retried = { ...report, idempotencyKey: randomUUID(), timestamp: new Date().toISOString() };
    await Promise.all(Array.from({ length: 8 }, () => gantry.ok('events.ingest', { apiKey, ...retried })));
    expect(await count('incident_events')).toBe(before + 1);
  });

  it('wait in memory up to a limit only, and in the database beyond it', async () => {
    const effects = barrier();
    const followUp = followUpOf(gantry, {
      applyEffects: () => effects.isOpen,
    });
    const metadataJson = JSON.stringify({ text: 'x'.repeat(1_000_000) });
    const rows = Array.from({ length: 8 }, () => ({ id: randomUUID(), metadataJson }) as StoredRow);
    let resolved = 0;
    const added = Array.from({ length: 20 }, () =>
      followUp.add(rows).then(() => {
        resolved++;
      }),
    );
    // No timer can fire between microtasks.
    for (let turn = 0; turn < 20; turn++) await null;
    const atOnce = resolved;
    await Promise.all(added);
    effects.open();
    await followUp[Symbol.asyncDispose]();
    // Each group has 8 MB of metadata, and 64 MB of them may wait in memory.
    expect(atOnce).toBeGreaterThan(10);
    expect(atOnce).toBeLessThan(14);
  });

  it('are found again from the database without the megabytes of metadata that they do not depend on', async () => {
    const text = 'x'.repeat(100_000);
    const ids = await Promise.all(
      [{ incidentType: 'breakdown', text }, { incidentType: text }, { text }, null].map((metadata) =>
        gantry.ingest(apiKey, { ...report, metadata: metadata ?? undefined }),
      ),
    );
    const rows = new Map((await findStoredRows(gantry.app.context.db, ids)).map((row) => [row.id, row]));
    const found = ids.map((id) => rows.get(id) as StoredRow);
    expect(found.map(incidentTypeOf)).toEqual(['BREAKDOWN', 'OTHER', 'OTHER', 'OTHER']);
    expect(JSON.stringify(found).length).toBeLessThan(10_000);
  });

  it('are found again from the database with all that their source says of the incident', async () => {
    const key = 'k'.repeat(300);
    const said = [
      { incidentKey: 'A', record: 'A', incidentEnd: 'ended' },
      { incidentKey: 'A', record: 'B', incidentEnd: 'soon' },
      { incidentKey: key, record: key },
      { incidentKey: key.slice(0, 200), record: key.slice(0, 200) },
      { incidentKey: 7, record: ['A'], incidentEnd: { is: 'ended' } },
      { incidentKey: 'A' },
    ].map((metadata) => ({ violationType: null, metadataJson: JSON.stringify(metadata) }));
    const ids = await Promise.all(
      said.map(({ metadataJson }) =>
        gantry.ingest(apiKey, { ...report, metadata: JSON.parse(metadataJson) }),
      ),
    );
    const rows = new Map((await findStoredRows(gantry.app.context.db, ids)).map((row) => [row.id, row]));
    expect(ids.map((id) => sourceOf(rows.get(id) as StoredRow))).toEqual(said.map(sourceOf));
  });

  it('that the database refuses do not affect others', async () => {
    const done: string[] = [];
    const ids = Array.from({ length: 10 }, () => randomUUID());
    await gantry.pool.query('INSERT INTO events_to_follow_up (event_id) SELECT unnest($1::uuid[])', [ids]);
    const followUp = followUpOf(gantry, {
      applyEffects: async (tx, rows) => {
        if (rows.some(({ id }) => id === ids[6])) await tx.execute(`SELECT 'none'::uuid`);
        done.push(...rows.map(({ id }) => id));
      },
    });
    await followUp.add(ids.map((id) => ({ id }) as StoredRow));
    await followUp[Symbol.asyncDispose]();
    expect(done.sort()).toEqual(ids.filter((_, n) => n !== 6).sort());
    expect(await count('events_to_follow_up')).toBe(0);
  });
});

describe('events that wait in memory', () => {
  it('are not looked for in the database, where other overdue events are found meanwhile', async () => {
    await using gantry = await startGantry({ overrides: { timings: { sweepFollowUpsMs: 3_600_000 } } });
    const overdue = async (): Promise<string> => {
      const id = randomUUID();
      await gantry.pool.query('INSERT INTO events_to_follow_up (event_id, retry_at) VALUES ($1, now())', [
        id,
      ]);
      return id;
    };
    const isListed = async (id: string) =>
      (await gantry.count(`events_to_follow_up WHERE event_id = '${id}'`)) === 1;
    const [first, second] = [await overdue(), await overdue()];
    const done: string[] = [];
    const effects = barrier();
    const followUp = followUpOf(gantry, {
      timings: { sweepFollowUpsMs: 20, countLateMs: 3_600_000 },
      applyEffects: async (_tx, rows) => {
        if (rows.length > 0) await effects.isOpen;
        done.push(...rows.map(({ id }) => id));
      },
    });
    const added = [first, second].map((id) => followUp.add([{ id } as StoredRow]));
    const other = await overdue();
    // None of these events is stored, so one that is found in the database is removed from the list.
    await eventually(
      () => isListed(other),
      (is) => !is,
    );
    const isLeft = await isListed(second);
    effects.open();
    await Promise.all(added);
    await followUp[Symbol.asyncDispose]();
    expect(isLeft).toBe(true);
    expect(done).toEqual([first, second]);
  });
});

describe('a failed attempt', () => {
  let gantry: Gantry;
  beforeAll(async () => {
    gantry = await startGantry({ overrides: { timings: { sweepFollowUpsMs: 200, countLateMs: 200 } } });
  });
  afterAll(() => gantry.stop());

  const noted = async (count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => randomUUID());
    await gantry.pool.query(
      `INSERT INTO events_to_follow_up (event_id, retry_at) SELECT unnest($1::uuid[]), now() + interval '1 hour'`,
      [ids],
    );
    return ids;
  };
  const left = async (ids: readonly string[]) =>
    (
      await gantry.pool.query<{ event_id: string; attempts: number; pause: number }>(
        `SELECT event_id, attempts, extract(epoch FROM retry_at - now())::float8 AS pause
         FROM events_to_follow_up WHERE event_id = ANY ($1)`,
        [ids],
      )
    ).rows;
  const rowsOf = (ids: readonly string[]) => ids.map((id) => ({ id }) as StoredRow);
  const timedOut = () => new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error');

  it.each([
    ['a defect in code', () => new TypeError('Cannot read properties of undefined')],
    ['a statement that takes too long', () => Object.assign(timedOut(), { code: '57014' })],
    ['an answer that takes too long', () => new Error('Query read timeout')],
  ])('does not affect other events, and is counted: %s', async (_what, makeError) => {
    const ids = await noted(10);
    const done: string[] = [];
    const followUp = followUpOf(gantry, {
      applyEffects: async (_tx, rows) => {
        if (rows.some(({ id }) => id === ids[6])) throw makeError();
        done.push(...rows.map(({ id }) => id));
      },
    });
    await followUp.add(rowsOf(ids));
    await followUp[Symbol.asyncDispose]();
    expect(done.sort()).toEqual(ids.filter((_, n) => n !== 6).sort());
    const [poisoned, ...others] = await left(ids);
    expect(others).toEqual([]);
    expect(poisoned).toMatchObject({ event_id: ids[6], attempts: 1 });
    expect(poisoned?.pause).toBeLessThanOrEqual(3);
  });

  it('is postponed for longer and longer, up to an hour', async () => {
    const [id] = (await noted(1)) as [string];
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 14; attempt++) {
      await postponeFollowUp(gantry.app.context.db, [id]);
      pauses.push((await left([id]))[0]?.pause ?? 0);
    }
    expect(pauses[0]).toBeGreaterThan(1);
    expect(pauses[3]).toBeGreaterThan(14);
    expect(pauses[13]).toBeGreaterThan(3_500);
    // A second more: the server's clock may be set back a little between the two statements.
    expect(pauses[13]).toBeLessThanOrEqual(3_601);
    await gantry.pool.query('DELETE FROM events_to_follow_up');
  });

  it('does not end the process or later follow-ups, even when it cannot be recorded', async () => {
    const ids = await noted(2);
    const done: string[] = [];
    let isBroken = true;
    const { db } = gantry.app.context;
    const brokenDb = new Proxy(db, {
      get(target, key) {
        if (isBroken && (key === '_' || key === 'execute')) throw new TypeError('a defect outside');
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const followUp = followUpOf(gantry, {
      db: brokenDb,
      applyEffects: async (tx, rows) => {
        if (isBroken) await tx.execute(`SELECT 'none'::uuid`);
        done.push(...rows.map(({ id }) => id));
      },
    });
    await followUp.add(rowsOf(ids.slice(0, 1)));
    isBroken = false;
    await followUp.add(rowsOf(ids.slice(1)));
    await followUp[Symbol.asyncDispose]();
    expect(done).toEqual(ids.slice(1));
    await gantry.pool.query('DELETE FROM events_to_follow_up');
  });

  it('is reported in the metrics when it has waited too long', async () => {
    await gantry.pool.query(
      `INSERT INTO events_to_follow_up (event_id, at, attempts, retry_at)
       VALUES ($1, now() - interval '2 hours', 9, now() + interval '1 hour')`,
      [randomUUID()],
    );
    await eventually(
      async () => {
        const text: string = (await gantry.fetch('/metrics')).body;
        return (
          /^gantry_late_follow_ups 1$/m.test(text) && /^gantry_oldest_follow_up_seconds 7\d\d\d/m.test(text)
        );
      },
      (isShown) => isShown,
      40_000,
    );
  }, 60_000);
});
