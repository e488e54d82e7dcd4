import { randomUUID } from 'node:crypto';
import { incidentStates } from '@gantry/contract/incident-states';
import {
  type IncidentAction,
  type IncidentStatus,
  incidentAction,
  incidentStatus,
} from '@gantry/contract/incidents';
import type { Role } from '@gantry/contract/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, sharedGantry } from './harness.ts';
import { isLong } from './test-length.ts';

const next: Record<IncidentAction, Partial<Record<IncidentStatus, IncidentStatus>>> = incidentStates;

interface Person {
  readonly id: string;
  readonly name: string;
  readonly token: string;
}

let eventId: string;
let agencyId: string;
/** A plan that no incident gets by itself. */
let planId: string;
/** An incident into which others are merged. */
let otherId: string;
/** A unit at the incident that was opened last. */
let entryId: string;
/** Another user to whom the incident is assigned. */
let owner: Person;
const gantry = await sharedGantry();
beforeAll(async () => {
  const event = { apiKey: await gantry.registerSensor(), eventType: 'VEHICLE_DETECTION' };
  eventId = (await gantry.ok('events.ingest', event)).eventId;
  owner = await addPerson('Anna', 'Kern', 'FIELD');
  const step = (key: string) => ({ key, text: `Do ${key}`, kind: 'DO' });
  const plan = { name: 'Plan', steps: [step('a'), step('b')] };
  const admin = { token: await gantry.tokenFor('ADMIN') };
  await gantry.ok('plans.create', plan, admin);
  planId = (await gantry.ok('plans.create', { ...plan, isEnabled: false }, admin)).id;
  otherId = await open();
  const agency = { name: 'Police', kind: 'POLICE' };
  agencyId = (await gantry.ok('agencies.create', agency, { token: await gantry.tokenFor('ADMIN') })).id;
});

const addPerson = async (firstName: string, lastName: string, role: Role): Promise<Person> => {
  const email = `${randomUUID()}@gantry.local`;
  const user = { email, password: ADMIN.password, firstName, lastName, role };
  const { id } = await gantry.ok('users.create', user, { token: await gantry.tokenFor('ADMIN') });
  return { id, name: `${firstName} ${lastName}`, token: await gantry.login(email, ADMIN.password) };
};

const open = async (): Promise<string> => {
  const token = await gantry.tokenFor('OPERATOR');
  const { id } = await gantry.ok(
    'incidents.create',
    { title: 'Tyre on the road', type: 'OBSTRUCTION' },
    { token },
  );
  const { rows } = await gantry.pool.query(
    `INSERT INTO incident_agencies (incident_id, name, kind, added_by) VALUES ($1, 'Tow', 'TOW', $1) RETURNING id`,
    [id],
  );
  entryId = rows[0].id;
  return id;
};
const place = (id: string, status: IncidentStatus, assignedTo: string | null) =>
  gantry.pool.query('UPDATE incidents SET status = $2, assigned_to = $3 WHERE id = $1', [
    id,
    status,
    assignedTo,
  ]);
/** The status of an incident, and the number of entries in its timeline. */
const stateOf = async (id: string): Promise<{ status: IncidentStatus; steps: number }> => {
  const { rows } = await gantry.pool.query(
    'SELECT status, (SELECT count(*) FROM incident_timeline WHERE incident_id = incidents.id) AS steps FROM incidents WHERE id = $1',
    [id],
  );
  return rows[0];
};
const timelineOf = async (id: string) => {
  const token = await gantry.tokenFor('OPERATOR');
  return (await gantry.ok('incidents.getById', { id }, { token })).timeline;
};
const call = async (person: { token: string }, verb: string, input: object) => {
  const { status, body } = await gantry.call(`incidents.${verb}`, input, { token: person.token });
  return { status, incident: body.result?.data.json, message: body.error?.json.message };
};

describe('the table of states', () => {
  // What happens to the incident into which another one is merged, and what has files made (incident-response.test.ts).
  const ELSEWHERE = ['takeOver', 'makeReport'] as const;
  type Tried = Exclude<IncidentAction, (typeof ELSEWHERE)[number]>;
  const actions = incidentAction.options.filter(
    (each): each is Tried => !(ELSEWHERE as readonly string[]).includes(each),
  );
  const inputOf: Record<Tried, (self: Person) => object> = {
    acknowledge: () => ({}),
    start: () => ({}),
    resolve: () => ({}),
    close: () => ({}),
    reopen: () => ({ note: 'Why not' }),
    assign: (self) => ({ userId: self.id }),
    update: () => ({ title: `Changed ${randomUUID()}` }),
    attachEvent: () => ({ eventId }),
    addNote: () => ({ note: 'Seen' }),
    verify: () => ({}),
    rejectFalse: () => ({ reason: 'Nothing there' }),
    setTimes: () => ({ occurredAt: '2026-01-02T03:04:05Z' }),
    setLanes: () => ({ direction: 'NB', lanes: ['CLOSED'] }),
    setFacts: () => ({ injured: 'NONE' }),
    addAgency: () => ({ agencyId, unit: randomUUID() }),
    updateAgency: () => ({ entryId, arrivedAt: 'now' }),
    removeAgency: () => ({ entryId }),
    setPlan: () => ({ planId }),
    completeStep: () => ({ key: 'a' }),
    skipStep: () => ({ key: 'b', reason: 'Not needed' }),
    reopenStep: () => ({ key: 'b', reason: 'It was another car' }),
    merge: () => ({ into: otherId }),
  };
  const roles: readonly Role[] = ['ADMIN', 'OPERATOR', 'FIELD', 'ANALYST', 'VIEWER'];
  const assignments = ['nobody', 'self', 'somebody else'] as const;

  it.each(roles)('decides what %s can do in every state, for any assignee', async (role) => {
    const self = await addPerson('Sam', 'Self', role);
    const assignees = { nobody: null, self: self.id, 'somebody else': owner.id };
    // Who is assigned matters only to FIELD, so that in the gate the others try each state with one assignee, in turn.
    const isEach = isLong || role === 'FIELD';
    for (const [at, status] of incidentStatus.options.entries())
      for (const [turn, assigned] of assignments.entries()) {
        if (!isEach && (at + roles.indexOf(role)) % assignments.length !== turn) continue;
        const id = await open();
        for (const action of actions) {
          const context = `${role} ${action} ${status} of ${assigned}`;
          await place(id, status, assignees[assigned]);
          const { steps: before } = await stateOf(id);
          const answer = await call(self, action, { id, ...inputOf[action](self) });
          const to = next[action][status];
          const isMine = role !== 'FIELD' || assigned !== 'somebody else';
          const expected =
            role === 'ANALYST' || role === 'VIEWER' ? 403 : !isMine ? 403 : to === undefined ? 409 : 200;
          expect(answer.status, context).toBe(expected);
          const now = await stateOf(id);
          expect(now.status, context).toBe(expected === 200 ? to : status);
          const leavesTrace = expected === 200 && !(action === 'assign' && assigned === 'self');
          // A merge takes notes and attached events along.
          const after = action === 'merge' && leavesTrace ? now.steps : before + Number(leavesTrace);
          expect(now.steps, context).toBe(after);
          if (leavesTrace)
            expect((await timelineOf(id)).slice(after - 1), context).toMatchObject([
              { action, from: status, to, by: { id: self.id, name: 'Sam Self' } },
            ]);
        }
      }
  });
});

describe('of several users at once', () => {
  it('one acknowledges, and the others receive the name of that user', async () => {
    const people = await Promise.all(
      Array.from({ length: 12 }, (_, n) => addPerson('Racer', `Number${n}`, 'OPERATOR')),
    );
    for (let round = 0; round < 3; round++) {
      const id = await open();
      const answers = await Promise.all(people.map((person) => call(person, 'acknowledge', { id })));
      const winners = people.filter((_, n) => answers[n]?.status === 200);
      expect(winners).toHaveLength(1);
      const losers = answers.filter(({ status }) => status === 409);
      expect(losers).toHaveLength(11);
      const [{ updatedAt }] = answers.filter(({ status }) => status === 200).map(({ incident }) => incident);
      for (const { message } of losers)
        expect(message).toBe(
          `${winners[0]?.name} acknowledged this incident at ${updatedAt}: it is ACKNOWLEDGED now; ` +
            'it can be started, assigned, updated, given events or given notes',
        );
      expect(await timelineOf(id)).toHaveLength(2);
    }
  });

  it('one reopens or closes what was resolved', async () => {
    const people = [await addPerson('Rita', 'Reopener', 'ADMIN'), await addPerson('Carl', 'Closer', 'ADMIN')];
    for (let round = 0; round < 5; round++) {
      const id = await open();
      await place(id, 'RESOLVED', null);
      const [first, second] = people as [Person, Person];
      const answers = await Promise.all([
        call(first, 'reopen', { id, note: 'Again' }),
        call(second, 'close', { id }),
      ]);
      const statuses = answers.map(({ status }) => status);
      // A closed incident can be reopened, an open one cannot be closed.
      expect([
        [200, 200],
        [200, 409],
      ]).toContainEqual(statuses);
      if (statuses[1] === 409) expect(answers[1]?.message).toContain('Rita Reopener reopened this incident');
    }
  });

  it('one gets an incident that several take from the same assignee', async () => {
    const people = await Promise.all(
      Array.from({ length: 6 }, (_, n) => addPerson('Taker', `Number${n}`, 'FIELD')),
    );
    const id = await open();
    const answers = await Promise.all(
      people.map((person) => call(person, 'assign', { id, userId: person.id, expectedAssignee: null })),
    );
    const winner = people.find((_, n) => answers[n]?.status === 200);
    const losers = answers.filter(({ status }) => status !== 200);
    expect(losers).toHaveLength(5);
    for (const { status, message } of losers) {
      expect(status).toBe(403);
      expect(message).toContain(`assigned to ${winner?.name}`);
    }
  });
});

describe('the refusal of a change', () => {
  it('states that an event opened the incident', async () => {
    const { rows } = await gantry.pool.query(
      `WITH made AS (
         INSERT INTO incidents (title, type, severity) VALUES ('T', 'OTHER', 2) RETURNING id
       )
       INSERT INTO incident_timeline (incident_id, at, action, to_status)
       SELECT id, '2026-01-02T03:04:05Z', 'create', 'OPEN' FROM made RETURNING incident_id`,
    );
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const { status, message } = await call(admin, 'close', { id: rows[0].incident_id });
    expect(status).toBe(409);
    expect(message).toBe(
      'An event opened this incident at 2026-01-02T03:04:05.000Z: it is OPEN now; ' +
        'it can be acknowledged, assigned, updated, given events or given notes',
    );
  });

  it("names the assignee, when the role may change only one's own incidents", async () => {
    const field = { token: await gantry.tokenFor('FIELD') };
    const id = await open();
    await place(id, 'OPEN', owner.id);
    const { status, message } = await call(field, 'acknowledge', { id });
    expect({ status, message }).toEqual({
      status: 403,
      message:
        'This incident is assigned to Anna Kern: with your role you can change what is assigned to you or to nobody',
    });
  });

  it('names the new assignee after a change of the assignee', async () => {
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const other = await addPerson('Ben', 'Ott', 'FIELD');
    const id = await open();
    await place(id, 'OPEN', owner.id);
    for (const expectedAssignee of [null, other.id, 'x', '\u0000', randomUUID()]) {
      const answer = await call(admin, 'assign', { id, userId: other.id, expectedAssignee });
      expect(answer.status).toBe(409);
      expect(answer.message).toContain('now assigned to Anna Kern');
    }
    await place(id, 'OPEN', null);
    const answer = await call(admin, 'assign', { id, userId: other.id, expectedAssignee: owner.id });
    expect(answer.message).toContain('now assigned to nobody');
    expect((await call(admin, 'assign', { id, userId: other.id, expectedAssignee: null })).status).toBe(200);
    // As if the answer had been lost: the repeated call finds its result already in place.
    expect((await call(admin, 'assign', { id, userId: other.id, expectedAssignee: null })).status).toBe(200);
    const upper = owner.id.toUpperCase();
    expect((await call(admin, 'assign', { id, userId: owner.id, expectedAssignee: other.id })).status).toBe(
      200,
    );
    expect((await call(admin, 'assign', { id, userId: null, expectedAssignee: upper })).status).toBe(200);
  });
});

describe('FIELD', () => {
  it('opens incidents that are assigned to themselves or unassigned', async () => {
    const self = await addPerson('Fred', 'Field', 'FIELD');
    const create = (assignedTo: string | null) =>
      call(self, 'create', { title: 'Pothole', type: 'OTHER', assignedTo });
    expect((await create(self.id)).incident.assignedTo).toEqual({ id: self.id, name: 'Fred Field' });
    expect((await create(null)).status).toBe(200);
    const refused = await create(owner.id);
    expect(refused.status).toBe(403);
    expect(refused.message).toContain('only to yourself or to nobody');
  });

  it('takes an incident and returns it, but cannot assign it to another user', async () => {
    const self = await addPerson('Fred', 'Field', 'FIELD');
    const id = await open();
    const taken = await call(self, 'assign', { id, userId: self.id.toUpperCase() });
    expect(taken.incident.assignedTo.id).toBe(self.id);
    expect((await call(self, 'assign', { id, userId: owner.id })).status).toBe(403);
    expect((await call(owner, 'assign', { id, userId: owner.id })).status).toBe(403);
    expect((await call(self, 'assign', { id, userId: null })).incident.assignedTo).toBeNull();
    expect((await call(owner, 'assign', { id, userId: owner.id })).status).toBe(200);
  });

  it('can read incidents of others', async () => {
    const self = await addPerson('Fred', 'Field', 'FIELD');
    const id = await open();
    await place(id, 'OPEN', owner.id);
    expect((await gantry.call('incidents.getById', { id }, { token: self.token })).status).toBe(200);
  });
});
