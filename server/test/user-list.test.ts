import { beforeAll, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

interface Listed {
  id: string;
  email: string;
  lastLogin?: string;
  avatar?: string;
}
interface Listing {
  users: Listed[];
  total: number;
  pageCount: number;
}

// [e-mail, first name, last name, role, department, active, created, last login]; all addresses end with @list.test.
type Row = readonly [string, string, string, string, string | null, boolean, string, string | null];
const rows: Row[] = [
  ['ada@list.test', 'Ada', 'Lovelace', 'ADMIN', 'North', true, '2026-01-01', '2026-03-01'],
  ['bea@list.test', 'bea', 'von Berg', 'OPERATOR', 'north', true, '2026-01-02', null],
  ['cem@list.test', 'Cem', '100% Sure', 'ANALYST', 'South', true, '2026-01-03', '2026-03-03'],
  ['dan@list.test', 'Dan', 'Under_Score', 'FIELD', null, false, '2026-01-04', null],
  ['eve@list.test', 'Ève', 'Back\\Slash', 'VIEWER', 'South East', true, '2026-01-05', '2026-03-02'],
  ['fay+tag@list.test', 'Ada', 'Fay', 'VIEWER', null, false, '2026-01-05', '2026-03-03'],
];

const ids = new Map<string, string>();

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  for (const row of rows) {
    const { rows: inserted } = await gantry.pool.query<{ id: string }>(
      `INSERT INTO users (email, first_name, last_name, role, department, is_active, created_at, last_login, password_hash)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'none') RETURNING id`,
      [...row],
    );
    ids.set(row[0], inserted[0]?.id ?? '');
  }
});

const list = (input?: Record<string, unknown>): Promise<Listing> =>
  gantry.ok('users.getAll', input, { token: admin });
/** The users of this test in the result, by the first three letters of their e-mail addresses. */
const names = async (input: Record<string, unknown> = {}) =>
  (await list({ take: 100, ...input })).users
    .map(({ email }) => email)
    .filter((email) => email.endsWith('@list.test'))
    .map((email) => email.slice(0, 3));
const found = async (search: string) => (await names({ search })).sort();

describe('users.getAll', () => {
  it('returns at most ten users by default, newest first, with totals', async () => {
    const page = await list();
    expect(Object.keys(page).sort()).toEqual(['pageCount', 'total', 'users']);
    const { rows: counted } = await gantry.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM users');
    expect(page.total).toBe(counted[0]?.n);
    expect(page.users).toHaveLength(Math.min(10, page.total));
    expect(page.pageCount).toBe(Math.ceil(page.total / 10));
  });

  it('returns each user as getById does', async () => {
    for (const user of (await list({ search: '@list.test' })).users) {
      expect(await gantry.ok('users.getById', { id: user.id }, { token: admin })).toEqual(user);
    }
  });

  describe('search', () => {
    it.each([
      ['ADA', ['ada', 'fay']],
      ['ada love', ['ada']],
      ['Ada Lovelace', ['ada']],
      ['Lovelace Ada', []],
      ['VON B', ['bea']],
      ['èVE', ['eve']],
      ['+TAG@', ['fay']],
      ['@list.test', ['ada', 'bea', 'cem', 'dan', 'eve', 'fay']],
      ['nobody at all', []],
    ])('finds %j in e-mail addresses and names: %j', async (search, expected) => {
      expect(await found(search)).toEqual(expected);
    });

    it.each([
      ['100%', ['cem']],
      ['%', ['cem']],
      ['_', ['dan']],
      ['r_S', ['dan']],
      ['\\', ['eve']],
      ['%%', []],
      ['a_a', []],
      ["'", []],
    ])('treats %j literally: %j', async (search, expected) => {
      expect(await found(search)).toEqual(expected);
    });

    it('for nothing finds all users', async () => {
      expect(await names({ search: '' })).toHaveLength(rows.length);
    });
  });

  describe('filters', () => {
    it.each<[Record<string, unknown>, string[]]>([
      [{ role: 'VIEWER' }, ['eve', 'fay']],
      [{ isActive: false }, ['dan', 'fay']],
      [{ isActive: true, role: 'VIEWER' }, ['eve']],
      [{ department: 'NORTH' }, ['ada', 'bea']],
      [{ department: 'south' }, ['cem']],
      [{ department: 'Sou%' }, []],
      [{ department: 'north', search: 'berg' }, ['bea']],
    ])('%j: %j', async (input, expected) => {
      expect((await names(input)).sort()).toEqual(expected);
    });

    it('count only the matches', async () => {
      expect(await list({ search: '@list.test', role: 'VIEWER', take: 1 })).toMatchObject({
        total: 2,
        pageCount: 2,
      });
      expect(await list({ search: 'nobody at all' })).toEqual({ users: [], total: 0, pageCount: 0 });
    });
  });

  describe('sorting', () => {
    /** Two users in the order of their ids, which breaks a tie. */
    const byId = (...tied: string[]) => {
      const idOf = (name: string) => [...ids].find(([email]) => email.startsWith(name))?.[1] ?? '';
      return tied.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    };
    const backwards = (tied: string[]) => tied.toReversed();

    it.each<[string, () => string[], () => string[]]>([
      [
        'firstName',
        () => [...byId('ada', 'fay'), 'bea', 'cem', 'dan', 'eve'],
        () => ['eve', 'dan', 'cem', 'bea', ...backwards(byId('ada', 'fay'))],
      ],
      [
        'email',
        () => ['ada', 'bea', 'cem', 'dan', 'eve', 'fay'],
        () => ['fay', 'eve', 'dan', 'cem', 'bea', 'ada'],
      ],
      [
        'role',
        () => ['ada', 'cem', 'dan', 'bea', ...byId('eve', 'fay')],
        () => [...backwards(byId('eve', 'fay')), 'bea', 'dan', 'cem', 'ada'],
      ],
      [
        'createdAt',
        () => ['ada', 'bea', 'cem', 'dan', ...byId('eve', 'fay')],
        () => [...backwards(byId('eve', 'fay')), 'dan', 'cem', 'bea', 'ada'],
      ],
      [
        'lastLogin',
        () => ['ada', 'eve', ...byId('cem', 'fay'), ...byId('bea', 'dan')],
        () => [...backwards(byId('cem', 'fay')), 'eve', 'ada', ...backwards(byId('bea', 'dan'))],
      ],
    ])('by %s: without case, ties by id, unknown last in both directions', async (sortBy, up, down) => {
      expect(await names({ sortBy, sortOrder: 'asc' })).toEqual(up());
      expect(await names({ sortBy, sortOrder: 'desc' })).toEqual(down());
      expect(await names({ sortBy })).toEqual(down());
    });

    it('is by createdAt, newest first, by default', async () => {
      expect(await names()).toEqual(await names({ sortBy: 'createdAt', sortOrder: 'desc' }));
    });
  });

  it('returns every user once over its pages', async () => {
    const input = { search: '@list.test', sortBy: 'lastLogin', take: 1 };
    const seen: string[] = [];
    for (let skip = 0; skip < rows.length; skip++) seen.push(...(await names({ ...input, skip })));
    expect(seen).toEqual(await names({ ...input, take: 100 }));
    expect(await list({ ...input, skip: rows.length })).toEqual({ users: [], total: 6, pageCount: 6 });
  });

  it.each([
    { take: 0 },
    { take: 101 },
    { take: 1.5 },
    { take: '10' },
    { skip: -1 },
    { skip: 2 ** 31 },
    { role: 'ROOT' },
    { isActive: 'yes' },
    { sortBy: 'password_hash' },
    { sortOrder: 'up' },
    { search: 'x'.repeat(201) },
    { search: '\u0000' },
    { department: '\ud800' },
  ])('refuses %j', async (input) => {
    const { status, body } = await gantry.call('users.getAll', input, { token: admin });
    expect(status).toBe(400);
    expect(body.error.json.data.code).toBe('BAD_REQUEST');
    expect(body.error.json.data.issues[0].path).toBe(Object.keys(input)[0]);
  });

  it.each([{ take: 1 }, { take: 100 }, { skip: 0 }, { skip: 2 ** 31 - 1 }, { search: 'x'.repeat(200) }])(
    'accepts %j',
    async (input) => {
      await list(input);
    },
  );
});
