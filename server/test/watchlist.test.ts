import { randomUUID } from 'node:crypto';
import { permissions, role } from '@gantry/contract/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

interface EntryJson {
  id: string;
  pattern: string;
  reason: string;
  priority: string;
  validFrom: string | null;
  validUntil: string | null;
  fuzzy: boolean;
  createdBy: { id: string; name: string };
  createdAt: string;
  updatedAt: string;
}

const KEYS = [
  'createdAt',
  'createdBy',
  'fuzzy',
  'id',
  'pattern',
  'priority',
  'reason',
  'updatedAt',
  'validFrom',
  'validUntil',
];
const STRANGE_IDS = ['x', 'constructor', "'; DROP TABLE users; --", '\u0000', '\ud800', randomUUID()];

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');

const ok = <Output = EntryJson>(procedure: string, input?: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token });
const refusal = (procedure: string, input?: unknown, by = token) =>
  gantry.refusal(procedure, input, { token: by });
const totalEntries = async () => (await ok<{ total: number }>('watchlist.getAll')).total;

describe('watchlist.create', () => {
  it('returns the entry with exactly the documented keys', async () => {
    const me = await ok<{ id: string; firstName: string; lastName: string }>('auth.me');
    const input = {
      pattern: ' B-GX *12 ',
      reason: ' Stolen, see case 7 ',
      priority: 'CRITICAL',
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2026-12-31T23:00:00.000Z',
      fuzzy: true,
    };
    const entry = await ok('watchlist.create', input);
    expect(Object.keys(entry).sort()).toEqual(KEYS);
    expect(entry).toMatchObject({
      ...input,
      pattern: 'B-GX *12',
      reason: 'Stolen, see case 7',
      createdBy: { id: me.id, name: `${me.firstName} ${me.lastName}` },
    });
    const { entries } = await ok<{ entries: EntryJson[] }>('watchlist.getAll', { search: 'case 7' });
    expect(entries).toEqual([entry]);
  });

  it('requires only a pattern and a reason', async () => {
    for (const unset of [{}, { validFrom: null, validUntil: null }]) {
      expect(await ok('watchlist.create', { pattern: 'AB', reason: 'x', ...unset })).toMatchObject({
        priority: 'MEDIUM',
        validFrom: null,
        validUntil: null,
        fuzzy: false,
      });
    }
  });

  it('accepts values at their limits', async () => {
    for (const fields of [
      { pattern: 'p'.repeat(50) },
      { pattern: '𐐀'.repeat(50) },
      { pattern: '品*川' },
      { pattern: 'A-*-1' },
      { reason: 'r'.repeat(500) },
      { validFrom: '2026-03-01T12:00:00.000Z', validUntil: '2026-03-01T12:00:00.000Z' },
      { validUntil: '9999-12-31T23:59:59.999Z' },
    ]) {
      expect(await ok('watchlist.create', { pattern: 'AB 1', reason: 'x', ...fields })).toMatchObject(fields);
    }
  });

  it("treats dates as whole days in the service's time zone", async () => {
    const admin = await gantry.tokenFor('ADMIN');
    const inZone = async (timezone: string) => {
      await gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, { token: admin });
      const days = { validFrom: '2026-03-29', validUntil: '2026-03-29' };
      return ok('watchlist.create', { pattern: 'AB 1', reason: 'x', ...days });
    };
    // The day on which clocks go forward there has 23 hours.
    expect(await inZone('Europe/Berlin')).toMatchObject({
      validFrom: '2026-03-28T23:00:00.000Z',
      validUntil: '2026-03-29T21:59:59.999Z',
    });
    expect(await inZone('UTC')).toMatchObject({
      validFrom: '2026-03-29T00:00:00.000Z',
      validUntil: '2026-03-29T23:59:59.999Z',
    });
  });

  it('accepts bounds beyond the times of all events', async () => {
    const entry = await ok('watchlist.create', {
      pattern: 'AB 1',
      reason: 'x',
      validFrom: '0000-01-01',
      validUntil: '9999-12-31T23:59:59-14:00',
    });
    expect(entry).toMatchObject({
      validFrom: '2000-01-01T00:00:00.000Z',
      validUntil: '9999-12-31T23:59:59.999Z',
    });
    await ok('watchlist.delete', { id: entry.id });
  });

  it.each([
    { pattern: undefined },
    { pattern: '' },
    { pattern: '  ' },
    { pattern: '*' },
    { pattern: '**' },
    { pattern: 'A' },
    { pattern: '*A*' },
    { pattern: '- A – *' },
    { pattern: '*😀*' },
    { pattern: '*A\u0308*' },
    { pattern: 'p'.repeat(51) },
    { pattern: 'A\u0000B' },
    { pattern: '\ud800A' },
    { pattern: 7 },
    { pattern: ['AB'] },
    { reason: undefined },
    { reason: '' },
    { reason: ' ' },
    { reason: 'r'.repeat(501) },
    { reason: 'a\u0000' },
    { priority: 'URGENT' },
    { priority: null },
    { fuzzy: 'yes' },
    { validFrom: 'tomorrow' },
    { validFrom: 20260101 },
    { validUntil: '2026-02-30' },
    { validUntil: '' },
    { validUntil: '2025-12-31', validFrom: '2026-01-01' },
    { validUntil: '2026-01-01T11:59:59.999Z', validFrom: '2026-01-01T12:00:00Z' },
  ])('refuses %j and stores nothing', async (fields) => {
    const before = await totalEntries();
    const input = { pattern: 'AB 1', reason: 'x', ...fields };
    const { status, data } = await refusal('watchlist.create', input);
    expect(status).toBe(400);
    expect(data.issues[0].path).toBe(Object.keys(fields)[0]);
    expect(await totalEntries()).toBe(before);
  });

  it('explains what a pattern requires', async () => {
    const { data } = await refusal('watchlist.create', { pattern: '*A-', reason: 'x' });
    expect(data.issues[0].message).toMatch(/at least two letters or digits/);
  });
});

describe('watchlist.update', () => {
  it('changes the given fields, and removes bounds that are null', async () => {
    const made = await ok('watchlist.create', {
      pattern: 'AB 1',
      reason: 'before',
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2026-02-01T00:00:00.000Z',
    });
    await gantry.pool.query(`UPDATE watchlist_entries SET updated_at = '2020-01-01' WHERE id = $1`, [
      made.id,
    ]);
    const { id } = made;
    const changed = await ok('watchlist.update', { id, reason: 'after', priority: 'LOW', fuzzy: true });
    expect(changed).toEqual({
      ...made,
      reason: 'after',
      priority: 'LOW',
      fuzzy: true,
      updatedAt: changed.updatedAt,
    });
    expect(changed.updatedAt >= made.updatedAt).toBe(true);
    expect(await ok('watchlist.update', { id, validFrom: null })).toMatchObject({
      validFrom: null,
      validUntil: made.validUntil,
    });
    expect(await ok('watchlist.update', { id, validUntil: null, pattern: 'CD *' })).toMatchObject({
      pattern: 'CD *',
      validUntil: null,
    });
  });

  it('refuses an end before the beginning, even when only one of them is set', async () => {
    const { id } = await ok('watchlist.create', {
      pattern: 'AB 1',
      reason: 'x',
      validFrom: '2026-01-10T00:00:00Z',
      validUntil: '2026-01-20T00:00:00Z',
    });
    for (const fields of [
      { validUntil: '2026-01-09T23:59:59.999Z' },
      { validFrom: '2026-01-20T00:00:00.001Z' },
      { validFrom: '2026-03-01', validUntil: '2026-02-01' },
    ]) {
      expect(await refusal('watchlist.update', { id, ...fields })).toMatchObject({
        status: 400,
        data: { issues: [{ path: 'validUntil', message: expect.stringContaining('before validFrom') }] },
      });
    }
    expect(await ok('watchlist.update', { id, validUntil: '2026-01-10T00:00:00Z' })).toMatchObject({
      validFrom: '2026-01-10T00:00:00.000Z',
      validUntil: '2026-01-10T00:00:00.000Z',
    });
    expect((await ok('watchlist.update', { id, validFrom: '2026-03-01', validUntil: '2026-03-01' })).id).toBe(
      id,
    );
  });

  it('never leaves an entry that ends before it begins, when both bounds are changed concurrently', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await ok('watchlist.create', {
        pattern: 'AB 1',
        reason: 'contested',
        validFrom: '2026-01-01',
        validUntil: '2026-12-31',
      });
      const answers = await Promise.all([
        gantry.call('watchlist.update', { id, validFrom: '2026-09-01' }, { token }),
        gantry.call('watchlist.update', { id, validUntil: '2026-03-01' }, { token }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });

  it.each([
    { pattern: '*' },
    { pattern: null },
    { reason: '' },
    { reason: null },
    { priority: 'x' },
    { fuzzy: null },
    { validUntil: 'never' },
  ])('refuses %j', async (fields) => {
    const { id } = await ok('watchlist.create', { pattern: 'AB 1', reason: 'x' });
    const { status, data } = await refusal('watchlist.update', { id, ...fields });
    expect(status).toBe(400);
    expect(data.issues[0].path).toBe(Object.keys(fields)[0]);
  });
});

describe('watchlist.getAll', () => {
  const mark = randomUUID();
  const patternsOf = async (input: object) =>
    (await ok<{ entries: EntryJson[] }>('watchlist.getAll', { search: mark, ...input })).entries.map(
      ({ pattern }) => pattern,
    );

  beforeAll(async () => {
    const from = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    for (const [n, entry] of [
      { pattern: 'CC 1', priority: 'LOW', validUntil: from(-1) },
      { pattern: 'aa 2', priority: 'CRITICAL', validFrom: from(-1), validUntil: from(2) },
      { pattern: 'BB 3', priority: 'MEDIUM', validFrom: from(1) },
      { pattern: 'DD 4', priority: 'HIGH', validUntil: from(1) },
    ].entries()) {
      const { id } = await ok('watchlist.create', { ...entry, reason: `100%_\\ ${mark}` });
      const createdAt = `2026-01-0${n + 1}`;
      await gantry.pool.query('UPDATE watchlist_entries SET created_at = $2 WHERE id = $1', [id, createdAt]);
    }
  });

  it('pages, sorts and counts', async () => {
    expect(await patternsOf({})).toEqual(['DD 4', 'BB 3', 'aa 2', 'CC 1']);
    expect(await patternsOf({ sortOrder: 'asc' })).toEqual(['CC 1', 'aa 2', 'BB 3', 'DD 4']);
    expect(await patternsOf({ sortBy: 'pattern', sortOrder: 'asc' })).toEqual([
      'aa 2',
      'BB 3',
      'CC 1',
      'DD 4',
    ]);
    expect(await patternsOf({ sortBy: 'priority' })).toEqual(['aa 2', 'DD 4', 'BB 3', 'CC 1']);
    expect(await patternsOf({ sortBy: 'validUntil', sortOrder: 'asc' })).toEqual([
      'CC 1',
      'DD 4',
      'aa 2',
      'BB 3',
    ]);
    expect(await patternsOf({ sortBy: 'validUntil' })).toEqual(['aa 2', 'DD 4', 'CC 1', 'BB 3']);
    expect(await patternsOf({ skip: 1, take: 2 })).toEqual(['BB 3', 'aa 2']);
    const page = await ok<Record<string, unknown>>('watchlist.getAll', { search: mark, take: 3 });
    expect(Object.keys(page).sort()).toEqual(['entries', 'pageCount', 'total']);
    expect(page).toMatchObject({ total: 4, pageCount: 2 });
  });

  it('filters by priority and by whether an entry is valid now', async () => {
    expect(await patternsOf({ priority: 'HIGH' })).toEqual(['DD 4']);
    expect(await patternsOf({ active: true })).toEqual(['DD 4', 'aa 2']);
    expect(await patternsOf({ active: false })).toEqual(['BB 3', 'CC 1']);
  });

  it('searches in pattern and reason, literally and without regard to case', async () => {
    const total = async (search: string) =>
      (await ok<{ total: number }>('watchlist.getAll', { search })).total;
    expect(await total(mark.toUpperCase())).toBe(4);
    expect(await total(`%_\\ ${mark}`)).toBe(4);
    expect(await total(`_%\\ ${mark}`)).toBe(0);
    expect(await total('dD 4')).toBe(1);
  });

  it('breaks ties by id in the same direction', async () => {
    const reason = randomUUID();
    for (let n = 0; n < 5; n++) await ok('watchlist.create', { pattern: 'TW 1', reason });
    for (const sortBy of ['pattern', 'priority', 'validUntil']) {
      const ids = async (sortOrder: string) =>
        (
          await ok<{ entries: EntryJson[] }>('watchlist.getAll', { search: reason, sortBy, sortOrder })
        ).entries.map(({ id }) => id);
      const ascending = await ids('asc');
      expect(ascending).toEqual([...ascending].sort());
      expect(await ids('desc')).toEqual([...ascending].reverse());
    }
  });

  it.each([
    { take: 0 },
    { take: 101 },
    { skip: -1 },
    { sortBy: 'reason' },
    { sortOrder: 'up' },
    { priority: 'x' },
    { active: 'yes' },
    { search: 's'.repeat(201) },
    { search: '\u0000' },
  ])('refuses %j', async (input) => {
    expect((await refusal('watchlist.getAll', input)).status).toBe(400);
  });
});

describe('every watchlist procedure', () => {
  it('finds nothing by an unusual id, whatever its format', async () => {
    const nouns = {
      update: 'Watchlist entry',
      delete: 'Watchlist entry',
      acknowledgeAlert: 'Watchlist alert',
    };
    for (const id of STRANGE_IDS) {
      for (const [verb, noun] of Object.entries(nouns)) {
        expect(await refusal(`watchlist.${verb}`, { id }), `${verb} ${id}`).toMatchObject({
          status: 404,
          message: `${noun} not found`,
        });
      }
      expect(await ok('watchlist.getAlerts', { entryId: id })).toEqual({
        alerts: [],
        total: 0,
        pageCount: 0,
      });
    }
    expect((await refusal('watchlist.update', { id: '' })).status).toBe(400);
    expect((await refusal('watchlist.getAlerts', { entryId: '' })).status).toBe(400);
  });

  it('requires a login before the input is checked', async () => {
    for (const verb of ['getAll', 'create', 'update', 'delete', 'getAlerts', 'acknowledgeAlert']) {
      const { status, body } = await gantry.call(`watchlist.${verb}`, { take: 'nonsense' });
      expect(status).toBe(401);
      expect(body.error.json.message).toBe('No token provided');
    }
  });

  it.each(role.options)('grants %s what the table of permissions contains', async (name) => {
    const own = await gantry.tokenFor(name);
    const may = (permission: 'manageIncidents' | 'manageWatchlist') =>
      (permissions[permission] as readonly string[]).includes(name);
    for (const verb of ['create', 'update', 'delete']) {
      const { status } = await gantry.call(`watchlist.${verb}`, {}, { token: own });
      expect(status, verb).toBe(may('manageWatchlist') ? 400 : 403);
    }
    for (const verb of ['getAll', 'getAlerts']) {
      const { status } = await gantry.call(`watchlist.${verb}`, undefined, { token: own });
      expect(status, verb).toBe(may('manageIncidents') ? 200 : 403);
    }
    const { status } = await gantry.call('watchlist.acknowledgeAlert', { id: 'x' }, { token: own });
    expect(status).toBe(may('manageIncidents') ? 404 : 403);
  });

  it('records changes in the activity log', async () => {
    const { id } = await ok('watchlist.create', { pattern: 'LG 1', reason: 'logged' });
    await ok('watchlist.update', { id, validUntil: '2030-01-01', fuzzy: true });
    expect(await ok('watchlist.delete', { id })).toEqual({ success: true, id });
    expect((await refusal('watchlist.delete', { id })).status).toBe(404);
    const { rows } = await gantry.pool.query(
      `SELECT action, details FROM activity WHERE details ->> 'entryId' = $1 ORDER BY id`,
      [id],
    );
    const details = { entryId: id, pattern: 'LG 1', reason: 'logged' };
    expect(rows).toEqual([
      { action: 'watchlist.create', details },
      { action: 'watchlist.update', details: { ...details, fields: ['validUntil', 'fuzzy'] } },
      { action: 'watchlist.delete', details },
    ]);
  });

  it('notifies the other processes of a change, and not of a refused one', async () => {
    const heard: string[] = [];
    const listener = await gantry.pool.connect();
    listener.on('notification', ({ channel }) => heard.push(channel));
    await listener.query('LISTEN gantry_watchlist');
    await refusal('watchlist.create', {
      pattern: 'TL 1',
      reason: 'x',
      validFrom: '2026-02-01',
      validUntil: '2026-01-01',
    });
    const { id } = await ok('watchlist.create', { pattern: 'TL 1', reason: 'x' });
    await ok('watchlist.update', { id, reason: 'y' });
    await ok('watchlist.delete', { id });
    await eventually(
      async () => heard.length,
      (length) => length === 3,
    );
    await listener.query('UNLISTEN *');
    listener.release(true);
    expect(heard).toHaveLength(3);
  });
});
