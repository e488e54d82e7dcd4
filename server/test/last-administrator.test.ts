import { beforeAll, describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

const PASSWORD = 'Correct-Horse-7';
const REFUSAL = 'This is the last active administrator: make another user an administrator first';
const REPETITIONS = 20;

interface Administrator {
  id: string;
  email: string;
  token: string;
}

let ada: Administrator;
let bob: Administrator;
/**
 * The users and their sessions at the beginning, as JSON, from which each round is started again with the same tokens.
 */
let snapshot: { users: string; sessions: string };

const gantry = await sharedGantry();
beforeAll(async () => {
  const first = await gantry.tokenFor('ADMIN');
  const administrator = async (firstName: string): Promise<Administrator> => {
    const email = `${firstName.toLowerCase()}@example.org`;
    const fields = { email, password: PASSWORD, firstName, lastName: 'Admin', role: 'ADMIN' };
    const { id } = await gantry.ok('users.create', fields, { token: first });
    return { id, email, token: await gantry.login(email, PASSWORD) };
  };
  ada = await administrator('Ada');
  bob = await administrator('Bob');
  const { id } = await gantry.ok('auth.me', undefined, { token: first });
  // An inactive administrator exists too, and must not count.
  await gantry.ok('users.update', { id, isActive: false }, { token: ada.token });
  const { rows } = await gantry.pool.query(`SELECT (SELECT json_agg(users)::text FROM users) AS users,
    (SELECT json_agg(sessions)::text FROM sessions) AS sessions`);
  snapshot = rows[0];
});

const beginAgain = async () => {
  await gantry.pool.query(
    `WITH gone AS (DELETE FROM users WHERE NOT id = ANY (SELECT id FROM json_populate_recordset(NULL::users, $1)))
     INSERT INTO users SELECT * FROM json_populate_recordset(NULL::users, $1)
     ON CONFLICT (id) DO UPDATE SET role = excluded.role, is_active = excluded.is_active,
       session_epoch = excluded.session_epoch`,
    [snapshot.users],
  );
  // Deleting a user has also deleted the sessions of that user.
  await gantry.pool.query(
    `INSERT INTO sessions SELECT * FROM json_populate_recordset(NULL::sessions, $1)
     ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, epoch = excluded.epoch`,
    [snapshot.sessions],
  );
};

const activeAdministrators = async (): Promise<number> => {
  const { rows } = await gantry.pool.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM users WHERE role = 'ADMIN' AND is_active",
  );
  return rows[0]?.n ?? 0;
};

/** The ways to remove an administrator. */
const ways = {
  demote: ({ id }: Administrator) => ['users.updateRole', { id, role: 'OPERATOR' }] as const,
  deactivate: ({ id }: Administrator) => ['users.update', { id, isActive: false }] as const,
  delete: ({ id }: Administrator) => ['users.delete', { id }] as const,
};
type Way = keyof typeof ways;
const allWays = Object.keys(ways) as Way[];
const pairs = allWays.flatMap((one) => allWays.map((other) => [one, other] as const));

const take = (way: Way, from: Administrator, by: Administrator) => {
  const [procedure, input] = ways[way](from);
  return gantry.call(procedure, input, { token: by.token });
};

describe('the last active administrator', () => {
  it.each(allWays)('cannot %s themselves; with a second one they can', async (way) => {
    await beginAgain();
    expect((await take(way, bob, ada)).status).toBe(200);
    const { status, body } = await take(way, ada, ada);
    expect(status).toBe(400);
    expect(body.error.json).toEqual({
      message: REFUSAL,
      code: -32600,
      data: { code: 'BAD_REQUEST', httpStatus: 400 },
    });
    expect((await gantry.call('auth.me', undefined, { token: ada.token })).status).toBe(200);
    expect(await activeAdministrators()).toBe(1);

    await beginAgain();
    expect((await take(way, ada, ada)).status).toBe(200);
    expect(await activeAdministrators()).toBe(1);
  });

  it('can still change everything else about themselves', async () => {
    await beginAgain();
    await take('delete', bob, ada);
    const { token, id } = ada;
    await gantry.ok('users.update', { id, firstName: 'Augusta', isActive: true }, { token });
    await gantry.ok('users.updateRole', { id, role: 'ADMIN' }, { token });
    const { activities } = await gantry.ok('users.getActivity', { id, take: 1 }, { token });
    expect(activities[0].details.changes).toEqual({ firstName: { from: 'Ada', to: 'Augusta' } });
  });

  it('is not protected by inactive administrators', async () => {
    await beginAgain();
    await take('deactivate', bob, ada);
    expect((await take('demote', ada, ada)).status).toBe(400);
    expect((await take('demote', bob, ada)).status).toBe(200);
    expect((await take('delete', bob, ada)).status).toBe(200);
    expect(await activeAdministrators()).toBe(1);
  });

  it('may be removed once another user is an administrator', async () => {
    await beginAgain();
    await take('demote', bob, ada);
    expect((await take('delete', ada, ada)).status).toBe(400);
    await gantry.ok('users.updateRole', { id: bob.id, role: 'ADMIN' }, { token: ada.token });
    expect((await take('delete', ada, ada)).status).toBe(200);
    expect(await activeAdministrators()).toBe(1);
  });
});

describe('of two administrators who act at once', () => {
  /** Locks all users until every request waits for a lock, so that the requests certainly collide. */
  const meet = async (requests: () => Promise<{ status: number }>[]): Promise<number[]> => {
    const holder = await gantry.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM users ORDER BY id FOR UPDATE');
      let answered = 0;
      const answers = requests().map((request) => request.finally(() => answered++));
      await eventually(
        async () => {
          const { rows } = await gantry.pool.query<{ n: number }>(
            "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          );
          return rows[0]?.n ?? 0;
        },
        // A request that has already been answered does not wait.
        (waiting) => waiting === answers.length || answered > 0,
      );
      const early = answered;
      await holder.query('COMMIT');
      const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
      expect(early, `answered before they met: ${statuses}`).toBe(0);
      return statuses;
    } finally {
      // If a step failed, the connection still holds the locks, so it is closed.
      holder.release(true);
    }
  };

  it.each(pairs)('one remains: %s against %s, colliding on the same rows', async (one, other) => {
    await beginAgain();
    const statuses = await meet(() => [take(one, bob, ada), take(other, ada, bob)]);
    expect(statuses).toEqual([200, 400]);
    expect(await activeAdministrators()).toBe(1);
  });

  it.each(pairs)('one remains: each acts on themselves, %s and %s', async (one, other) => {
    await beginAgain();
    const statuses = await meet(() => [take(one, ada, ada), take(other, bob, bob)]);
    expect(statuses).toEqual([200, 400]);
    expect(await activeAdministrators()).toBe(1);
  });

  it.each(pairs)(`one remains: %s against %s, ${REPETITIONS} times uncoordinated`, async (one, other) => {
    for (let round = 0; round < REPETITIONS; round++) {
      await beginAgain();
      const answers = await Promise.all([take(one, bob, ada), take(other, ada, bob)]);
      // The slower one is refused, or is no longer allowed to act.
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses[0]).toBe(200);
      expect([400, 401]).toContain(statuses[1]);
      expect(await activeAdministrators()).toBe(1);
    }
  });
});

it('one remains after all administrators remove one another, without a deadlock', async () => {
  await beginAgain();
  const crowd: Administrator[] = [ada, bob];
  for (let count = 0; count < 6; count++) {
    const email = `crowd-${count}@example.org`;
    const fields = { email, password: PASSWORD, firstName: 'C', lastName: 'Rowd', role: 'ADMIN' };
    const { id } = await gantry.ok('users.create', fields, { token: ada.token });
    crowd.push({ id, email, token: await gantry.login(email, PASSWORD) });
  }
  const answers = await Promise.all(
    crowd.flatMap((by, at) => crowd.map((from, to) => take(allWays[(at + to) % 3] ?? 'demote', from, by))),
  );
  for (const { status } of answers) expect([200, 400, 401, 404]).toContain(status);
  expect(await activeAdministrators()).toBe(1);
});

it('users who gain and lose the role meanwhile cause no deadlock', async () => {
  await beginAgain();
  const people = await Promise.all(
    Array.from({ length: 6 }, async (_, count) => {
      const email = `person-${count}@example.org`;
      const fields = { email, password: PASSWORD, firstName: 'P', lastName: 'Erson' };
      const { id } = await gantry.ok('users.create', fields, { token: ada.token });
      return String(id);
    }),
  );
  const roles = ['ADMIN', 'FIELD', 'ADMIN', 'VIEWER'];
  const changes = people.flatMap((id) => roles.map((role) => ({ id, role })));
  const answers = await Promise.all(
    changes.map((change) => gantry.call('users.updateRole', change, { token: ada.token })),
  );
  expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
});
