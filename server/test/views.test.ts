import { randomUUID } from 'node:crypto';
import { role } from '@gantry/contract/permissions';
import { describe, expect, it } from 'vitest';
import { ADMIN, sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');
const token = await gantry.tokenFor('OPERATOR');
const other = await gantry.tokenFor('ANALYST');
const viewer = await gantry.tokenFor('VIEWER');

const aPage = () => `events ${randomUUID().slice(0, 8)}`;
const save = (fields: object, as = token) =>
  gantry.ok('views.create', { search: '?processed=false', ...fields }, { token: as });
const list = (page: string, as = token) => gantry.ok('views.getAll', { page }, { token: as });
const namesFor = async (page: string, as = token) =>
  (await list(page, as)).views.map(({ name }: { name: string }) => name);
const refused = (verb: string, input: object, as = token) =>
  gantry.refusal(`views.${verb}`, input, { token: as });

describe('a saved view', () => {
  it('is returned as it was saved, to its owner only', async () => {
    const page = aPage();
    const search = '?plate=%20B*&note=<b>"</b>&zone=Europe/Berlin';
    const view = await save({ page: ` ${page} `, name: ' Night shift ', search });
    expect(view).toEqual({
      id: expect.any(String),
      page,
      name: 'Night shift',
      search,
      shared: false,
      createdBy: { id: expect.any(String), name: 'OPERATOR Tester' },
      createdAt: expect.any(String),
      updatedAt: view.createdAt,
    });
    expect(await list(page)).toEqual({ views: [view], defaultId: null });
    for (const as of [other, admin]) {
      expect(await list(page, as)).toEqual({ views: [], defaultId: null });
      for (const [verb, input] of [
        ['update', { id: view.id, name: 'Mine' }],
        ['delete', { id: view.id }],
      ] as const) {
        expect(await refused(verb, input, as)).toMatchObject({ status: 404, message: 'View not found' });
      }
    }
  });

  it('that is shared is visible to all users, and can be changed by its owner only', async () => {
    const page = aPage();
    const view = await save({ page, name: 'Shared', shared: true });
    await save({ page, name: 'Own' }, viewer);
    expect(await namesFor(page, viewer)).toEqual(['Own', 'Shared']);
    expect(await refused('update', { id: view.id, search: '' }, admin)).toMatchObject({
      status: 403,
      message: 'This view was saved by OPERATOR Tester: you can change only your own views',
    });
    expect((await refused('delete', { id: view.id }, other)).status).toBe(403);
    const changed = await gantry.ok('views.update', { id: view.id, search: '' }, { token });
    expect(changed).toEqual({ ...view, search: '', updatedAt: expect.any(String) });
    await gantry.ok('views.update', { id: view.id, shared: false }, { token });
    expect(await namesFor(page, viewer)).toEqual(['Own']);
    expect(await gantry.ok('views.delete', { id: view.id }, { token })).toEqual({
      success: true,
      id: view.id,
    });
    expect(await namesFor(page)).toEqual([]);
  });

  it('that is shared can be deleted by administrators', async () => {
    const page = aPage();
    const { id } = await save({ page, name: 'Shared', shared: true });
    await gantry.ok('views.delete', { id: id.toUpperCase() }, { token: admin });
    expect(await namesFor(page)).toEqual([]);
  });

  it('has a name that is unique for its owner and page', async () => {
    const page = aPage();
    await save({ page, name: 'Night' });
    const { id } = await save({ page, name: 'Day' });
    await save({ page: aPage(), name: 'Night' });
    await save({ page, name: 'Night', shared: true }, other);
    const message = 'choose another name, or update that view';
    for (const answer of [
      await refused('create', { page, name: 'NIGHT', search: '' }),
      await refused('update', { id, name: 'night' }),
    ]) {
      expect(answer).toMatchObject({ status: 409, message: expect.stringContaining(message) });
    }
    await gantry.ok('views.update', { id, name: 'DAY' }, { token });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        gantry.call('views.create', { page, name: 'Once', search: '' }, { token }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  it('that were shared can only be withdrawn by a user who may no longer share', async () => {
    const email = `${randomUUID()}@example.org`;
    const person = { email, password: 'Long-enough-9', firstName: 'De', lastName: 'Moted', role: 'ANALYST' };
    const { id: userId } = await gantry.ok('users.create', person, { token: admin });
    const logIn = async () => (await gantry.ok('auth.login', { email, password: person.password })).token;
    const { id } = await save({ page: aPage(), name: 'Shared', shared: true }, await logIn());
    await gantry.ok('users.updateRole', { id: userId, role: 'VIEWER' }, { token: admin });
    const own = await logIn();
    expect(await refused('update', { id, name: 'Other' }, own)).toMatchObject({ status: 403 });
    const withdrawn = await gantry.ok('views.update', { id, shared: false, name: 'Other' }, { token: own });
    expect(withdrawn).toMatchObject({ shared: false, name: 'Other' });
  });

  it.each(role.options)('can be shared by every role except VIEWER: %s', async (name) => {
    const own = await gantry.tokenFor(name);
    const page = aPage();
    const { id } = await save({ page, name: 'Own' }, own);
    const answers = [
      await gantry.call('views.create', { page, name: 'All', search: '', shared: true }, { token: own }),
      await gantry.call('views.update', { id, shared: true }, { token: own }),
    ];
    const status = name === 'VIEWER' ? 403 : 200;
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
  });

  it.each([
    { name: '' },
    { name: '  ' },
    { name: 'x'.repeat(101) },
    { page: '' },
    { page: 'x'.repeat(51) },
    { search: 'x'.repeat(4001) },
    { search: '\u0000' },
    { search: undefined },
    { shared: 'yes' },
  ])('is refused with %j', async (fields) => {
    const input = { page: 'events', name: 'N', search: '', ...fields };
    expect((await refused('create', input)).status).toBe(400);
  });

  it.each(['x', '\u0000', '00000000-0000-0000-0000-000000000000'])(
    'that does not exist is not found: %j',
    async (id) => {
      expect((await refused('update', { id, name: 'N' })).status).toBe(404);
      expect((await refused('delete', { id })).status).toBe(404);
      expect((await refused('setDefault', { page: 'events', id }, admin)).status).toBe(404);
    },
  );
});

describe('the default of a page', () => {
  it('is a shared view that an administrator chooses for all users', async () => {
    const page = aPage();
    const own = await save({ page, name: 'Own' }, admin);
    const first = await save({ page, name: 'B', shared: true });
    const second = await save({ page, name: 'A', shared: true });
    const choose = (id: string | null) => gantry.ok('views.setDefault', { page, id }, { token: admin });
    expect(await choose(first.id)).toEqual({ defaultId: first.id });
    expect(await choose(second.id)).toEqual({ defaultId: second.id });
    expect(await list(page, viewer)).toEqual({ views: [second, first], defaultId: second.id });
    expect(await choose(first.id)).toEqual({ defaultId: first.id });
    expect(await namesFor(page, viewer)).toEqual(['B', 'A']);
    for (const input of [
      { page, id: own.id },
      { page: 'another', id: first.id },
    ]) {
      expect((await refused('setDefault', input, admin)).status).toBe(400);
    }
    expect((await refused('setDefault', { page, id: first.id })).status).toBe(403);
    for (const answer of [
      await refused('update', { id: first.id, shared: false }),
      await refused('delete', { id: first.id }),
    ]) {
      expect(answer).toMatchObject({
        status: 409,
        message: expect.stringMatching(/ask an administrator to choose another default first$/),
      });
    }
    expect(await choose(null)).toEqual({ defaultId: null });
    expect(await list(page)).toMatchObject({ defaultId: null });
    await choose(first.id);
    await gantry.ok('views.delete', { id: first.id }, { token: admin });
    expect(await list(page)).toEqual({ views: [second], defaultId: null });
  });

  it('is a single view after concurrent choices', async () => {
    const page = aPage();
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => (await save({ page, name: `V${n}`, shared: true })).id),
    );
    const answers = await Promise.all(
      ids.map((id) => gantry.call('views.setDefault', { page, id }, { token: admin })),
    );
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(await gantry.count(`saved_views WHERE page = '${page}' AND is_default`)).toBe(1);
  });
});

describe('the views of a user', () => {
  const createUser = async (lastName: string) => {
    const email = `${randomUUID()}@gantry.local`;
    const user = { email, password: ADMIN.password, firstName: 'Ada', lastName, role: 'FIELD' };
    const { id } = await gantry.ok('users.create', user, { token: admin });
    return { id, token: await gantry.login(email, ADMIN.password) };
  };

  it('are limited to a hundred, even with concurrent calls', async () => {
    const user = await createUser('Many');
    await gantry.pool.query(
      `INSERT INTO saved_views (page, name, search, owner_id, created_by)
       SELECT 'events', n::text, '', $1, $1 FROM generate_series(1, 98) AS n`,
      [user.id],
    );
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        gantry.call('views.create', { page: 'events', name: `More ${n}`, search: '' }, user),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400, 400]);
    const { message } = await refused('create', { page: 'x', name: 'y', search: '' }, user.token);
    expect(message).toBe('You have 100 saved views already: delete one first');
  });

  it('are created while rows that refer to the user are written, such as a view that is no longer shared', async () => {
    const user = await createUser('Busy');
    const writing = await gantry.pool.connect();
    try {
      await writing.query('BEGIN');
      await writing.query('SELECT FROM users WHERE id = $1 FOR KEY SHARE', [user.id]);
      await gantry.ok('views.create', { page: aPage(), name: 'Mine', search: '' }, user);
    } finally {
      writing.release(true);
    }
  });

  it('are removed with the user, except for shared ones', async () => {
    const page = aPage();
    const user = await createUser('Byron');
    await save({ page, name: 'Own' }, user.token);
    const shared = await save({ page, name: 'Shared', shared: true }, user.token);
    await gantry.ok('views.setDefault', { page, id: shared.id }, { token: admin });
    await gantry.ok('users.delete', { id: user.id }, { token: admin });
    expect(await list(page)).toEqual({
      views: [{ ...shared, createdBy: { id: user.id, name: 'Ada Byron' } }],
      defaultId: shared.id,
    });
    expect(await gantry.count(`saved_views WHERE created_by = '${user.id}'`)).toBe(1);
  });

  it('are recorded in the activity log when they change', async () => {
    const user = await createUser('Trace');
    const page = aPage();
    const { id } = await save({ page, name: 'N' }, user.token);
    await gantry.ok('views.update', { id, shared: true }, user);
    await gantry.ok('views.delete', { id }, user);
    const { activities } = await gantry.ok('users.getActivity', { userId: user.id }, { token: admin });
    expect(activities.slice(0, 3)).toMatchObject([
      { action: 'views.delete', details: { viewId: id, page, name: 'N', shared: true } },
      { action: 'views.update', details: { viewId: id, fields: ['shared'] } },
      { action: 'views.create', details: { viewId: id, shared: false } },
    ]);
  });
});
