import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN, sharedGantry } from './harness.ts';

let dana: string;

// A user changes what another user has changed since they saw it: nothing is overwritten, and the other user is named.
const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const email = `${randomUUID()}@gantry.local`;
  const user = { email, password: ADMIN.password, firstName: 'Dana', lastName: 'Weber', role: 'ADMIN' };
  await gantry.ok('users.create', user, { token });
  dana = await gantry.login(email, ADMIN.password);
});

describe('an entry of the watchlist', () => {
  const create = () => gantry.ok('watchlist.create', { pattern: 'B-GX 12', reason: 'Stolen' }, { token });
  const update = (input: object, as = token) => gantry.ok('watchlist.update', input, { token: as });
  const refused = (input: object) => gantry.refusal('watchlist.update', input, { token });
  const get = (id: string) => gantry.ok('watchlist.getById', { id }, { token });

  it('is not overwritten by a caller who has not seen the last change', async () => {
    const { id, updatedAt, ...created } = await create();
    const theirs = await update({ id, reason: 'Found', expectedUpdatedAt: updatedAt }, dana);
    expect(Date.parse(theirs.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
    const { status, message, data } = await refused({
      id,
      reason: 'Still stolen',
      expectedUpdatedAt: updatedAt,
    });
    expect([status, data.code]).toEqual([409, 'CONFLICT']);
    expect(message).toBe(
      `Dana Weber changed this entry at ${theirs.updatedAt}: reload it before you change it`,
    );
    expect(await get(id)).toEqual({
      ...created,
      id,
      reason: 'Found',
      updatedAt: theirs.updatedAt,
      updatedBy: { id: expect.any(String), name: 'Dana Weber' },
    });
    await update({ id, reason: 'Still stolen', expectedUpdatedAt: theirs.updatedAt });
    await update({ id, reason: 'Without a look' }, dana);
    expect((await get(id)).reason).toBe('Without a look');
  });

  it('is changed by one of twelve concurrent calls with the same expected state', async () => {
    const { id, updatedAt } = await create();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        gantry.call(
          'watchlist.update',
          { id, reason: `Reason ${n}`, expectedUpdatedAt: updatedAt },
          { token: n % 2 ? token : dana },
        ),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)]);
  });

  it('that was never changed has no last author, and an invalid time or id is refused', async () => {
    const { id } = await create();
    expect((await get(id)).updatedBy).toBeNull();
    expect((await refused({ id, reason: 'x', expectedUpdatedAt: 'yesterday' })).status).toBe(400);
    const gone = { id: randomUUID(), reason: 'x', expectedUpdatedAt: new Date().toISOString() };
    expect((await refused(gone)).status).toBe(404);
  });
});

describe('the retention rules', () => {
  const call = (input: object, as = token) => gantry.ok('storage.setRetention', input, { token: as });
  const refused = (input: object) => gantry.refusal('storage.setRetention', input, { token });
  beforeEach(() => call({ images: null, reports: null }));

  it('are not overwritten by a caller who has not seen the last change', async () => {
    const { updatedAt } = await gantry.ok('storage.getRetention', undefined, { token });
    const theirs = await call({ images: 30, expectedUpdatedAt: updatedAt }, dana);
    const { status, message } = await refused({ reports: 10, expectedUpdatedAt: updatedAt });
    expect(status).toBe(409);
    expect(message).toBe(
      `Dana Weber changed the retention rules at ${theirs.updatedAt}: reload them before you change them`,
    );
    expect((await refused({ reports: 10, expectedUpdatedAt: null })).status).toBe(409);
    expect(await gantry.ok('storage.getRetention', undefined, { token })).toEqual(theirs);
    // A call whose values are already in place changes nothing and is not refused.
    expect(await call({ images: 30, expectedUpdatedAt: updatedAt })).toEqual(theirs);
    expect(await call({ reports: 10, expectedUpdatedAt: theirs.updatedAt })).toMatchObject({ reports: 10 });
  });
});
