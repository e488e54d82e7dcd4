import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, eventually, sharedGantry } from './harness.ts';

// Several users who assign or update one incident: a user who has not seen another's change receives a conflict.

interface Person {
  readonly id: string;
  readonly name: string;
  readonly token: string;
}

let people: Person[];
let anna: Person;
let ben: Person;

const gantry = await sharedGantry();
beforeAll(async () => {
  people = await Promise.all(
    Array.from({ length: 12 }, (_, n) => addPerson(n === 0 ? 'Anna' : n === 1 ? 'Ben' : `Nr${n}`, 'Kern')),
  );
  [anna, ben] = people as [Person, Person];
});

const addPerson = async (firstName: string, lastName: string): Promise<Person> => {
  const email = `${randomUUID()}@gantry.local`;
  const user = { email, password: ADMIN.password, firstName, lastName, role: 'OPERATOR' };
  const { id } = await gantry.ok('users.create', user, { token: await gantry.tokenFor('ADMIN') });
  return { id, name: `${firstName} ${lastName}`, token: await gantry.login(email, ADMIN.password) };
};
const open = async (): Promise<{ id: string; updatedAt: string }> =>
  gantry.ok('incidents.create', { title: 'Tyre on the road', type: 'OBSTRUCTION' }, { token: anna.token });
const call = async ({ token }: Person, verb: string, input: object) => {
  const { status, body } = await gantry.call(`incidents.${verb}`, input, { token });
  return { status, incident: body.result?.data.json, message: body.error?.json.message };
};

/** Keeps the incident locked until several changes wait for it, so that all of them are in progress at once. */
const atOnce = async <Answer>(
  id: string,
  calls: (() => Promise<Answer>)[],
  waiting = calls.length,
): Promise<Answer[]> => {
  const holder = await gantry.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM incidents WHERE id = $1 FOR UPDATE', [id]);
    const answers = Promise.all(calls.map((start) => start()));
    await eventually(
      async () =>
        (
          await holder.query(
            `SELECT count(*)::int AS n FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
        ).rows[0].n,
      (n) => n >= waiting,
    );
    await holder.query('COMMIT');
    return await answers;
  } finally {
    holder.release();
  }
};

describe('users who assign one incident at once', () => {
  it('without an expected state: one of two succeeds, and the other receives the change', async () => {
    const { id } = await open();
    const [first, second] = await atOnce(id, [
      () => call(anna, 'assign', { id, userId: anna.id }),
      () => call(ben, 'assign', { id, userId: ben.id }),
    ]);
    const [won, lost] = first?.status === 200 ? [anna, second] : [ben, first];
    expect([first?.status, second?.status].sort()).toEqual([200, 409]);
    expect(lost?.message).toBe(
      `${won.name} assigned this incident to ${won.name} in the meantime: reload it before you assign it`,
    );
    // A request that begins later could have seen the change, so it is not refused.
    expect((await call(ben, 'assign', { id, userId: ben.id })).status).toBe(200);
    expect((await call(anna, 'assign', { id, userId: anna.id })).status).toBe(200);
  });

  it('with an expected state: one of twelve succeeds', async () => {
    const { id, updatedAt: expectedUpdatedAt } = await open();
    const answers = await Promise.all(
      people.map((person) => call(person, 'assign', { id, userId: person.id, expectedUpdatedAt })),
    );
    const winners = people.filter((_, n) => answers[n]?.status === 200);
    expect(winners).toHaveLength(1);
    const losers = answers.filter(({ status }) => status === 409);
    expect(losers).toHaveLength(11);
    for (const { message } of losers) expect(message).toContain(`${winners[0]?.name} assigned this incident`);
  });

  it('to the same assignee: none is refused', async () => {
    const { id } = await open();
    const answers = await atOnce(
      id,
      people.slice(0, 4).map((person) => () => call(person, 'assign', { id, userId: anna.id })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('users who update one incident', () => {
  it('at once, without an expected state: one succeeds, and the others receive the change', async () => {
    const { id } = await open();
    const some = people.slice(0, 5);
    const answers = await atOnce(
      id,
      some.map((person, n) => () => call(person, 'update', { id, lanesBlocked: n + 1 })),
    );
    const winner = answers.findIndex(({ status }) => status === 200);
    const losers = answers.filter(({ status }) => status === 409);
    expect(losers).toHaveLength(4);
    const { updatedAt } = answers[winner]?.incident ?? {};
    for (const { message } of losers) {
      expect(message).toBe(
        `${some[winner]?.name} updated this incident at ${updatedAt}: reload it before you change it`,
      );
    }
  });

  it('one after another, and the second expects the previous state: it receives the change of the first', async () => {
    const { id, updatedAt: expectedUpdatedAt } = await open();
    expect((await call(anna, 'update', { id, title: 'By Anna', expectedUpdatedAt })).status).toBe(200);
    const stale = await call(ben, 'update', { id, title: 'By Ben', expectedUpdatedAt });
    expect(stale.status).toBe(409);
    expect(stale.message).toContain('Anna Kern updated this incident at');
    const { title, updatedAt } = await gantry.ok('incidents.getById', { id }, { token: ben.token });
    expect(title).toBe('By Anna');
    const renewed = { id, title: 'By Ben', expectedUpdatedAt: updatedAt };
    expect((await call(ben, 'update', renewed)).status).toBe(200);
    // As if the answer had been lost: the repeated call finds its result already in place.
    expect((await call(ben, 'update', renewed)).status).toBe(200);
    const byState = await call(anna, 'assign', { id, userId: anna.id, expectedUpdatedAt });
    expect(byState.message).toContain('Ben Kern updated this incident at');
  });

  it('are not affected by notes and by events that are attached meanwhile', async () => {
    const { id, updatedAt: expectedUpdatedAt } = await open();
    await call(anna, 'addNote', { id, note: 'Seen' });
    await gantry.pool.query(
      `INSERT INTO incident_timeline (incident_id, at, action, from_status, to_status)
       VALUES ($1, now(), 'attachEvent', 'OPEN', 'OPEN')`,
      [id],
    );
    expect((await call(ben, 'update', { id, title: 'By Ben', expectedUpdatedAt })).status).toBe(200);
  });

  it('are refused with an invalid expected time, and nothing changes', async () => {
    const { id, updatedAt } = await open();
    for (const expectedUpdatedAt of ['yesterday', 7, null]) {
      const answer = await call(ben, 'update', { id, title: 'By Ben', expectedUpdatedAt });
      expect(answer.status).toBe(400);
    }
    expect(await gantry.ok('incidents.getById', { id }, { token: ben.token })).toMatchObject({ updatedAt });
  });
});
