import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { gather, recordActivity } from '../src/activity/store.ts';
import { forwardActivity } from '../src/audit/feed.ts';
import { adoptActivity, hasActivityToForward, lastActivity, readActivity } from '../src/audit/feed-store.ts';
import { type Executor, inTransaction } from '../src/platform/database/transaction.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { notedDatabase, type Statement } from './noted-statements.ts';
import { startReceiver } from './webhook-receiver.ts';

const PLATE = 'XQ 77-PLT';
const gantry = await sharedGantry({
  config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' },
  overrides: { timings: { forwardActivityMs: 50 } },
});
const admin = await gantry.tokenFor('ADMIN');
const operator = await gantry.tokenFor('OPERATOR');
const { db, webhooks } = gantry.app.context;
const idOf = async (token: string): Promise<string> => (await gantry.ok('auth.me', undefined, { token })).id;
const operatorId = await idOf(operator);
const caller = {
  ...{ requestId: '', since: 0, host: null, userAgent: null, authorization: null },
  address: '127.0.0.1',
};
const record = (details: object, userId = operatorId): Promise<void> =>
  recordActivity(db, userId, caller, 'events.lookUpPlate', { ...details });

interface Drawn {
  readonly entryId: string;
  readonly entry: { readonly action: string; readonly details: Record<string, unknown> } | null;
  readonly judgements: readonly { readonly verdict: string; readonly note: string | null }[];
  readonly isOwn: boolean;
}
interface Sample {
  readonly id: string;
  readonly seed: string;
  readonly population: number;
  readonly drawn: number;
  readonly judged: number;
  readonly unjustified: number;
  readonly entries: readonly Drawn[];
}
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const draw = (n: number, seed?: string): Promise<Sample> =>
  gantry.ok(
    'audit.drawSample',
    { from: day(-1), until: day(1), n, ...(seed !== undefined && { seed }) },
    { token: admin },
  );
const idsOf = ({ entries }: Sample): string[] => entries.map(({ entryId }) => entryId);

describe('a sample', () => {
  beforeAll(async () => {
    for (let n = 0; n < 40; n++) await record({ plate: `${PLATE} ${n}` });
  });

  it('is drawn at random from searches and looks, and the same seed draws the same entries', async () => {
    const sample = await draw(10, 'spring');
    expect(sample).toMatchObject({ seed: 'spring', population: 40, drawn: 10, judged: 0, unjustified: 0 });
    expect(new Set(idsOf(sample)).size).toBe(10);
    expect(idsOf(await draw(10, 'spring'))).toEqual(idsOf(sample));
    expect(idsOf(await draw(5, 'spring'))).toEqual(idsOf(sample).slice(0, 5));
    expect(idsOf(await draw(10, 'summer'))).not.toEqual(idsOf(sample));
    const [one, other] = [await draw(10), await draw(10)];
    expect(one.seed).not.toBe(other.seed);
    expect(await draw(500)).toMatchObject({ population: 40, drawn: 40 });
    for (const { entry } of sample.entries)
      expect(entry).toMatchObject({ action: 'events.lookUpPlate', details: { plate: expect.anything() } });
    expect(await gantry.ok('audit.getSample', { id: sample.id }, { token: admin })).toEqual(sample);
    const { samples } = await gantry.ok('audit.getSamples', {}, { token: admin });
    expect(samples.map(({ id }: Sample) => id)).toContain(sample.id);
  });

  it('is drawn fairly: each entry about as often', async () => {
    const counts = new Map<string, number>();
    for (let n = 0; n < 60; n++)
      for (const id of idsOf(await draw(10, `fair ${n}`))) counts.set(id, (counts.get(id) ?? 0) + 1);
    // 60 draws of 10 from 40: 15 times each, with a standard deviation of 3.4.
    // What the tests looked at themselves is drawn, too.
    expect(counts.size).toBeGreaterThanOrEqual(40);
    for (const count of counts.values()) expect(Math.abs(count - 15)).toBeLessThan(15);
  });

  it('is refused for times without looks, too many entries, or by others than administrators', async () => {
    const until = '2020-01-02';
    const refused = [
      [{ from: '2020-01-01', until, n: 5 }, 'until'],
      [{ from: until, until: '2020-01-01', n: 5 }, 'until'],
      [{ from: day(0), until: day(0), n: 0 }, 'n'],
      [{ from: day(0), until: day(0), n: 501 }, 'n'],
      [{ from: day(0), until: day(0), n: 1, seed: '' }, 'seed'],
    ] as const;
    for (const [input, path] of refused) {
      const { status, data } = await gantry.refusal('audit.drawSample', input, { token: admin });
      expect([status, data.issues[0].path]).toEqual([400, path]);
    }
    const input = { from: day(0), until: day(0), n: 1 };
    expect((await gantry.refusal('audit.drawSample', input, { token: operator })).status).toBe(403);
    for (const id of [randomUUID(), 'x'])
      expect((await gantry.refusal('audit.getSample', { id }, { token: admin })).status).toBe(404);
  });

  it('is judged entry by entry, and a further judgement is added', async () => {
    const sample = await draw(3, 'judged');
    const [entryId = '', otherId = ''] = idsOf(sample);
    await gantry.ok('audit.judge', { entryId, verdict: 'UNJUSTIFIED', note: ' Why? ' }, { token: admin });
    expect(await gantry.ok('audit.getSample', { id: sample.id }, { token: admin })).toMatchObject({
      judged: 1,
      unjustified: 1,
    });
    const judged = await gantry.ok('audit.judge', { entryId, verdict: 'JUSTIFIED' }, { token: admin });
    expect(judged).toMatchObject({
      judgements: [
        { verdict: 'UNJUSTIFIED', note: 'Why?' },
        { verdict: 'JUSTIFIED', note: null },
      ],
    });
    await gantry.ok('audit.judge', { entryId: otherId, verdict: 'UNCLEAR' }, { token: admin });
    expect(await gantry.ok('audit.getSample', { id: sample.id }, { token: admin })).toMatchObject({
      judged: 2,
      unjustified: 0,
    });
    for (const change of ['UPDATE audit_judgements SET note = null', 'DELETE FROM audit_entries'])
      await expect(gantry.pool.query(change)).rejects.toThrow('never changed');
    const { activities } = await gantry.ok(
      'users.getActivityLog',
      { about: entryId, action: 'audit.' },
      { token: admin },
    );
    expect(activities).toHaveLength(2);
  });

  it('has own entries of the auditor, which somebody else must judge', async () => {
    const adminId = await idOf(admin);
    await record({ plate: 'OWN 1' }, adminId);
    const { entries } = await draw(500, 'own');
    const own = entries.find(({ isOwn }) => isOwn);
    expect(own?.entry?.details.plate).toBe('OWN 1');
    const input = { entryId: own?.entryId, verdict: 'JUSTIFIED' };
    expect((await gantry.refusal('audit.judge', input, { token: admin })).status).toBe(403);
    await record({ plate: 'NOT DRAWN' });
    const { rows } = await gantry.pool.query(
      `SELECT id::text FROM activity WHERE details ->> 'plate' = 'NOT DRAWN'`,
    );
    const undrawn = { entryId: rows[0].id, verdict: 'JUSTIFIED' };
    expect((await gantry.refusal('audit.judge', undrawn, { token: admin })).status).toBe(400);
    for (const entryId of ['0', 'x', '999999999', '9'.repeat(30)])
      expect(
        (await gantry.refusal('audit.judge', { entryId, verdict: 'UNCLEAR' }, { token: admin })).status,
      ).toBe(404);
  });

  it('keeps its entries from retention until all are judged', async () => {
    const kept = idsOf(await draw(2, 'kept'));
    await record({ plate: 'OLD 1' });
    await gantry.pool.query(
      `UPDATE activity SET at = now() - interval '400 days' WHERE id = ANY ($1) OR details ->> 'plate' = 'OLD 1'`,
      [kept],
    );
    await gantry.ok('storage.setRetention', { activity: 365 }, { token: admin });
    const remaining = async (): Promise<string[]> => {
      const { id } = await gantry.ok('storage.runRetention', undefined, { token: admin });
      await eventually(
        async () =>
          (await gantry.ok('storage.getRetentionRuns', {}, { token: admin })).runs.find(
            (run: { id: string }) => run.id === id,
          ),
        (run) => run.status === 'COMPLETED',
      );
      const { rows } = await gantry.pool.query(
        `SELECT id::text FROM activity WHERE at < now() - interval '365 days'`,
      );
      return rows.map(({ id: entryId }) => entryId).sort();
    };
    expect(await remaining()).toEqual(kept.toSorted());
    for (const entryId of kept)
      await gantry.ok('audit.judge', { entryId, verdict: 'JUSTIFIED' }, { token: admin });
    // They may be in samples of other tests.
    await gantry.pool.query(`
      INSERT INTO audit_judgements (entry_id, verdict, judged_by)
      SELECT DISTINCT entry_id, 'UNCLEAR', gen_random_uuid() FROM audit_entries`);
    expect(await remaining()).toEqual([]);
    const { samples } = await gantry.ok('audit.getSamples', { take: 100 }, { token: admin });
    const sample = samples.find(({ seed }: Sample) => seed === 'kept');
    const { entries } = await gantry.ok('audit.getSample', { id: sample.id }, { token: admin });
    expect(entries).toMatchObject(kept.map((entryId) => ({ entryId, entry: null })));
  });
});

interface FeedEntry {
  readonly id: string;
  readonly action: string;
  readonly by: { readonly id: string } | null;
  readonly details: Record<string, unknown> | null;
}
/** All entries from a position on, read page by page. */
const readFeed = async (after?: string, take = 7): Promise<{ entries: FeedEntry[]; next: string }> => {
  const entries: FeedEntry[] = [];
  for (let next = after; ; ) {
    const page = await gantry.ok(
      'audit.getActivity',
      { take, ...(next !== undefined && { after: next }) },
      { token: admin },
    );
    next = page.next;
    if (page.entries.length === 0) return { entries, next: page.next };
    entries.push(...page.entries);
  }
};
const marksIn = (entries: readonly FeedEntry[]): unknown[] =>
  entries.flatMap(({ details }) => details?.mark ?? []);

describe('the activity log as a stream', () => {
  it('has every entry once, in the order of commits, however they were written', async () => {
    const { entries: all, next: start } = await readFeed(undefined, 1_000);
    const { rows } = await gantry.pool.query('SELECT count(*)::int AS n FROM activity');
    expect(all.length).toBeGreaterThanOrEqual(rows[0].n - 5);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);

    // A transaction that has taken its id first commits last.
    let finish = (): void => undefined;
    let wrote = (): void => undefined;
    const hasWritten = new Promise<void>((resolve) => {
      wrote = resolve;
    });
    const slow = inTransaction(db, async (tx) => {
      await recordActivity(tx, operatorId, caller, 'events.review', { mark: 'slow' });
      wrote();
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    await hasWritten;
    for (let n = 0; n < 20; n++) await record({ mark: n });
    const before = await readFeed(start);
    expect(marksIn(before.entries)).toEqual([]);
    finish();
    await slow;
    const after = await eventually(
      () => readFeed(before.next),
      ({ entries }) => marksIn(entries).length === 21,
    );
    expect(marksIn(after.entries)).toEqual(['slow', ...Array.from({ length: 20 }, (_, n) => n)]);
    expect(marksIn((await readFeed(start)).entries)).toEqual(marksIn(after.entries));
  });

  it('is read over /v1/activity/feed with the same keys, and only by administrators', async () => {
    const read = (token: string, query = '') =>
      gantry.fetch(`/v1/activity/feed${query}`, { headers: { authorization: `Bearer ${token}` } });
    const { status, body } = await read(admin, '?take=1');
    expect(status).toBe(200);
    expect(Object.keys(body.entries[0]).sort()).toEqual(
      ['action', 'by', 'details', 'id', 'ipAddress', 'timestamp', 'userAgent'].sort(),
    );
    expect((await read(operator)).status).toBe(403);
    for (const after of ['x', '1', '-1-1', '1-1-1', `${'9'.repeat(21)}-1`])
      expect((await read(admin, `?after=${after}`)).status).toBe(400);
    const other = await read(admin, `?after=${'9'.repeat(18)}-1`);
    expect([other.status, JSON.stringify(other.body)]).toEqual([
      400,
      expect.stringContaining('another database'),
    ]);
  });

  it('shows an entry as it was first written, without the count of its repetitions', async () => {
    const { next: start } = await readFeed(undefined, 1_000);
    const row = { userId: operatorId, caller, action: 'events.view', seconds: 600, period: 9 } as const;
    const gathered = [{ ...row, about: 'feed', details: { eventId: 'feed' } }];
    for (let n = 0; n < 3; n++) await gather(db, gathered);
    const { entries } = await eventually(
      () => readFeed(start),
      (found) => found.entries.some(({ details }) => details?.eventId === 'feed'),
    );
    expect(entries.filter(({ details }) => details?.eventId === 'feed')).toMatchObject([
      { details: { eventId: 'feed' } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('"count"');
  });

  it('has entries that came with a database from elsewhere, before those that are new', async () => {
    for (const mark of ['moved 1', 'moved 2']) await record({ mark });
    const moved = `details ->> 'mark' LIKE 'moved%'`;
    await gantry.pool.query(`UPDATE activity SET xid = '900000000000000000' WHERE ${moved}`);
    await record({ mark: 'new' });
    const isComplete = ({ entries }: { entries: FeedEntry[] }) => marksIn(entries).includes('new');
    const before = await eventually(() => readFeed(undefined, 1_000), isComplete);
    expect(marksIn(before.entries)).not.toContain('moved 1');
    await adoptActivity(db);
    const after = marksIn((await readFeed(undefined, 1_000)).entries);
    expect(after.filter((mark) => /moved|new/.test(String(mark)))).toEqual(['moved 1', 'moved 2', 'new']);
  });

  it('is sent to webhooks of its kind, each entry once and with the same keys', async () => {
    await using receiver = await startReceiver();
    const { id } = await gantry.ok(
      'webhooks.create',
      { url: receiver.url, kinds: ['activity'] },
      { token: admin },
    );
    const { next: start } = await readFeed(undefined, 1_000);
    for (let n = 0; n < 15; n++) await record({ mark: `sent ${n}` });
    const parts = { db, webhooks, now: Date.now, print: null };
    // Several processes forward at the same time.
    await Promise.all(Array.from({ length: 5 }, () => forwardActivity(parts)));
    const bodies = await eventually(
      async () =>
        receiver.received
          .map(({ body }) => JSON.parse(String(body)))
          .filter(({ data }) => String(data.details?.mark).startsWith('sent')),
      ({ length }) => length >= 15,
    );
    expect(bodies).toHaveLength(15);
    expect(new Set(bodies.map(({ kind }) => kind))).toEqual(new Set(['activity']));
    const { entries } = await readFeed(start);
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    for (const { data } of bodies) expect(data).toEqual(byId.get(data.id));
    await gantry.ok('webhooks.delete', { id }, { token: admin });
  });

  it('is printed line by line if the settings say so, but not what was rolled back', async () => {
    const lines: string[] = [];
    const written = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
    await using printing = await startGantry({
      config: { ACTIVITY_LOG: 'stdout' },
      overrides: { timings: { forwardActivityMs: 50 } },
    });
    const token = await printing.tokenFor('ADMIN');
    const inOther = printing.app.context.db;
    const record = (db: Executor, mark: string) =>
      recordActivity(db, operatorId, caller, 'events.review', { mark });
    await inTransaction(inOther, async (tx) => {
      await record(tx, 'undone');
      throw new Error('undone');
    }).catch(() => undefined);
    for (const mark of ['one', 'two']) await record(inOther, mark);
    const read = () => lines.filter((line) => line.startsWith('{"id":')).map((line) => JSON.parse(line));
    await eventually(
      async () => marksIn(read()),
      ({ length }) => length >= 2,
    );
    written.mockRestore();
    expect(lines.every((line) => line.endsWith('\n'))).toBe(true);
    expect(marksIn(read())).toEqual(['one', 'two']);
    const { entries } = await printing.ok('audit.getActivity', { take: 1_000 }, { token });
    expect(read()).toEqual(entries.slice(0, read().length));
  });

  it('is read with its index, however long it is', async () => {
    await gantry.pool.query(`
      INSERT INTO activity (user_id, action) SELECT gen_random_uuid(), 'auth.login' FROM generate_series(1, 20000)`);
    await gantry.pool.query('ANALYZE activity');
    const statements: Statement[] = [];
    const noted = notedDatabase(gantry.pool, (statement) => statements.push(statement));
    const { rows } = await gantry.pool.query(
      'SELECT xid::text, id::text FROM activity ORDER BY id DESC LIMIT 1',
    );
    await hasActivityToForward(noted);
    await readActivity(noted, rows[0], 10);
    await lastActivity(noted, rows[0]);
    const asked = [...statements];
    expect(asked).toHaveLength(3);
    for (const { text, values } of asked) {
      const { rows: plan } = await gantry.pool.query(`EXPLAIN ${text}`, values);
      const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
      expect(lines).toContain('activity_by_commit');
      expect(lines).not.toContain('Seq Scan on activity\n');
    }
  });
});
