import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { timesOfUnits } from '../src/incidents/times.ts';
import { ADMIN, eventually, sharedGantry, startGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { readCsv, readPdf } from './report-reading.ts';
import { png } from './sample-images.ts';

// Agencies at incidents, merged incidents, and response plans.

const mail = await startMailServer();
const gantry = await sharedGantry({
  config: {
    SMTP_URL: mail.url,
    SMTP_FROM: 'Gantry <gantry@city.example>',
    PUBLIC_URL: 'https://gantry.city.example',
  },
});
const token = await gantry.tokenFor('OPERATOR');
const admin = { token: await gantry.tokenFor('ADMIN') };

const ok = (procedure: string, input?: object) => gantry.ok(`incidents.${procedure}`, input, { token });
const refusal = (procedure: string, input?: object) =>
  gantry.refusal(`incidents.${procedure}`, input, { token });
const manage = (procedure: string, input?: object) => gantry.ok(procedure, input, admin);
const refused = (procedure: string, input?: object) => gantry.refusal(procedure, input, admin);

const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString();
const open = async (fields: object = {}): Promise<{ id: string; openedAt: number }> => {
  const { id } = await ok('create', { title: `Crash ${randomUUID()}`, type: 'COLLISION', ...fields });
  const { rows } = await gantry.pool.query(
    `UPDATE incidents SET opened_at = now() - interval '1 hour' WHERE id = $1 RETURNING opened_at`,
    [id],
  );
  return { id, openedAt: rows[0].opened_at.getTime() };
};
const workOf = async (id: string) => (await ok('getById', { id })).work;
const timesOf = async (id: string) =>
  Object.fromEntries(
    (await workOf(id)).times.map(({ name, at }: { name: string; at: string | null }) => [name, at]),
  );

let police: string;
let tow: string;
beforeAll(async () => {
  police = (await manage('agencies.create', { name: 'Police', kind: 'POLICE', email: 'desk@police.example' }))
    .id;
  tow = (await manage('agencies.create', { name: 'Tow & Co', kind: 'TOW', phone: '+43 1 23' })).id;
});

describe('agencies', () => {
  it('are listed by name, found by area, changed and deleted', async () => {
    const { id } = await manage('agencies.create', { name: 'Zebra rescue', kind: 'MEDICAL', areas: ['A21'] });
    expect((await manage('agencies.getAll', { search: 'a21' })).agencies).toMatchObject([{ id }]);
    expect(await manage('agencies.update', { id, phone: '144' })).toMatchObject({
      phone: '144',
      areas: ['A21'],
    });
    const names = (await gantry.ok('agencies.getAll', {}, { token })).agencies.map(
      ({ name }: { name: string }) => name,
    );
    expect(names).toEqual(['Police', 'Tow & Co', 'Zebra rescue']);
    await manage('agencies.delete', { id });
    expect(await refused('agencies.getById', { id })).toMatchObject({ status: 404 });
  });

  it('have names of their own, whatever the case, also if two are added at once', async () => {
    expect((await refused('agencies.create', { name: 'POLICE', kind: 'OTHER' })).message).toContain(
      'use another one',
    );
    const answers = await Promise.all(
      ['Twice', 'twice'].map((name) => gantry.call('agencies.create', { name, kind: 'OTHER' }, admin)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});

describe('the times of units', () => {
  const time = fc.option(fc.integer({ min: 0, max: 100 }), { nil: null });
  it('give those of the incident, by an independent search', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ dispatchedAt: time, arrivedAt: time, leftAt: time }), { maxLength: 6 }),
        (units) => {
          const sorted = (name: 'dispatchedAt' | 'arrivedAt' | 'leftAt') =>
            units.flatMap((unit) => unit[name] ?? []).sort((a, b) => a - b);
          const isOver = units.every(({ arrivedAt, leftAt }) => arrivedAt === null || leftAt !== null);
          expect(timesOfUnits(units)).toEqual(
            JSON.parse(
              JSON.stringify({
                dispatchedAt: sorted('dispatchedAt')[0],
                arrivedAt: sorted('arrivedAt')[0],
                lastLeftAt: isOver ? sorted('leftAt').at(-1) : undefined,
              }),
            ),
          );
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('are recorded, and T3, T4 and T6 follow', async () => {
    const { id, openedAt } = await open();
    const at = (minutes: number) => iso(openedAt + minutes * MINUTE);
    await ok('addAgency', { id, agencyId: police, unit: 'P 12', dispatchedAt: at(5) });
    await ok('addAgency', { id, agencyId: tow.toUpperCase(), dispatchedAt: at(3), arrivedAt: at(20) });
    const [first, second] = (await workOf(id)).agencies;
    expect(second).toMatchObject({ name: 'Tow & Co', kind: 'TOW', unit: null, phone: '+43 1 23' });
    await ok('updateAgency', { id, entryId: first.id, arrivedAt: at(12), leftAt: at(40) });
    expect(await timesOf(id)).toMatchObject({ dispatchedAt: at(3), arrivedAt: at(12), lastLeftAt: null });
    await ok('updateAgency', { id, entryId: second.id, leftAt: at(35) });
    expect(await workOf(id)).toMatchObject({ incidentClearance: 2_400 });
    const { timeline } = await ok('getById', { id });
    expect(timeline.at(-1).details).toEqual({
      agency: { name: 'Tow & Co', unit: null, leftAt: { from: null, to: at(35) } },
      lastLeftAt: { from: null, to: at(40) },
    });
  });

  it('are refused in the wrong order, after now, for a unit that is there already or an unknown agency', async () => {
    const { id, openedAt } = await open();
    const at = (minutes: number) => iso(openedAt + minutes * MINUTE);
    const wrong = await refusal('addAgency', { id, agencyId: tow, dispatchedAt: at(10), arrivedAt: at(9) });
    expect(wrong.message).toContain(`arrived at ${at(9)}, before it was dispatched at ${at(10)}`);
    expect((await refusal('addAgency', { id, agencyId: tow, arrivedAt: at(999) })).message).toContain(
      'is after now',
    );
    await ok('addAgency', { id, agencyId: tow, unit: 'T 1' });
    expect((await refusal('addAgency', { id, agencyId: tow, unit: 'T 1' })).message).toContain(
      'was called to this incident already',
    );
    expect((await refusal('addAgency', { id, agencyId: randomUUID() })).message).toContain(
      'No agency has this id',
    );
    expect((await refusal('updateAgency', { id, entryId: randomUUID(), leftAt: 'now' })).status).toBe(400);
    expect((await workOf(id)).agencies).toHaveLength(1);
  });

  it('keep the name of an agency that is deleted, and go when the unit is removed', async () => {
    const { id } = await open();
    const short = await manage('agencies.create', { name: `Short ${randomUUID()}`, kind: 'ROAD' });
    await ok('addAgency', { id, agencyId: short.id, dispatchedAt: 'now' });
    await manage('agencies.delete', { id: short.id });
    const [{ id: entryId, ...entry }] = (await workOf(id)).agencies;
    expect(entry).toMatchObject({ agencyId: null, name: short.name });
    await ok('removeAgency', { id, entryId });
    expect(await workOf(id)).toMatchObject({ agencies: [] });
    expect((await timesOf(id)).dispatchedAt).toBeNull();
  });
});

describe('incidents.merge', () => {
  const apiKeyOf = () => gantry.registerSensor();
  const countsOf = async (ids: readonly string[]) => {
    const count = (table: string, more = '') =>
      gantry.count(`${table} WHERE incident_id IN (${ids.map((id) => `'${id}'`).join()}) ${more}`);
    return {
      events: await count('incident_events'),
      notes: await count('incident_timeline', `AND action = 'addNote'`),
      images: await count('incident_images'),
      agencies: await count('incident_agencies'),
    };
  };

  it('moves events, notes, images and agencies, loses none, and leaves the other readable', async () => {
    const apiKey = await apiKeyOf();
    const [a, b] = [await open({ title: 'Reported twice' }), await open({ title: 'The one that stays' })];
    for (const { id } of [a, b])
      for (let n = 0; n < 3; n++) await ok('attachEvent', { id, eventId: await gantry.ingest(apiKey) });
    const image = (shade: number) => png({ shade }).toString('base64');
    await ok('addNote', { id: a.id, note: 'First', images: [image(1)] });
    await ok('addNote', { id: a.id, note: 'Second', images: [image(2)] });
    await ok('addNote', { id: b.id, note: 'Third' });
    await ok('addAgency', { id: a.id, agencyId: police, dispatchedAt: iso(a.openedAt + MINUTE) });
    const before = await countsOf([a.id, b.id]);
    expect(before).toEqual({ events: 6, notes: 3, images: 2, agencies: 1 });

    const kept = await ok('merge', { id: a.id, into: b.id });
    expect(kept).toMatchObject({ id: b.id, status: 'OPEN' });
    expect(await countsOf([b.id])).toEqual(before);
    const into = await ok('getById', { id: b.id });
    expect(into.work.mergedFrom).toEqual([{ id: a.id, title: 'Reported twice' }]);
    expect(into.timeline.filter(({ note }: { note: string }) => note !== null)).toHaveLength(3);
    expect(into.timeline.at(-1)).toMatchObject({
      action: 'takeOver',
      details: { merged: { id: a.id, events: 3, notes: 2, images: 2, agencies: 1 } },
    });
    const merged = await ok('getById', { id: a.id });
    expect(merged).toMatchObject({ status: 'CLOSED', eventCount: 0 });
    expect(merged.work.mergedInto).toEqual({ id: b.id, title: 'The one that stays' });
    expect(merged.timeline.at(-1)).toMatchObject({ action: 'merge', from: 'OPEN', to: 'CLOSED' });
  });

  it('keeps an event once that both have', async () => {
    const eventId = await gantry.ingest(await apiKeyOf());
    const [a, b] = [await open(), await open()];
    for (const { id } of [a, b]) await ok('attachEvent', { id, eventId });
    await ok('merge', { id: a.id, into: b.id });
    expect((await ok('getById', { id: b.id })).eventCount).toBe(1);
  });

  it('is refused into itself, into nothing, into a closed one and of a closed one, and changes nothing', async () => {
    const [a, b] = [await open(), await open()];
    for (const step of ['acknowledge', 'start', 'resolve', 'close']) await ok(step, { id: b.id });
    expect((await refusal('merge', { id: a.id, into: a.id.toUpperCase() })).message).toContain('into itself');
    for (const into of [randomUUID(), 'x', '\u0000'])
      expect((await refusal('merge', { id: a.id, into })).message).toContain('No incident has this id');
    expect(await refusal('merge', { id: a.id, into: b.id })).toMatchObject({ status: 409 });
    expect(await refusal('merge', { id: b.id, into: a.id })).toMatchObject({ status: 409 });
    expect(await workOf(a.id)).toMatchObject({ mergedInto: null, mergedFrom: [] });
  });

  it('refuses every change of the merged one, and names the other', async () => {
    const [a, b] = [await open(), await open({ title: 'Go here' })];
    await ok('merge', { id: a.id, into: b.id });
    for (const [verb, more] of [
      ['addNote', { note: 'x' }],
      ['reopen', { note: 'x' }],
      ['setTimes', { normalAt: 'now' }],
      ['merge', { into: b.id }],
    ] as const) {
      const { status, message } = await refusal(verb, { id: a.id, ...more });
      expect(status, verb).toBe(409);
      expect(message, verb).toContain(`merged into “Go here” (${b.id})`);
    }
    expect((await refusal('merge', { id: b.id, into: a.id })).message).toContain('Go here');
  });

  it('lets one of two succeed that merge the same incident, or each other', async () => {
    for (let round = 0; round < 4; round++) {
      const [a, b, c] = [await open(), await open(), await open()];
      const merge = (from: { id: string }, to: { id: string }) =>
        gantry.call('incidents.merge', { id: from.id, into: to.id }, { token });
      const same = await Promise.all([merge(a, b), merge(a, c)]);
      expect(same.map(({ status }) => status).sort()).toEqual([200, 409]);
      const crossed = await Promise.all([merge(b, c), merge(c, b)]);
      expect(crossed.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  it('has pointers lead to the last one, and no incident become a consequence of itself', async () => {
    const [a, b, c, d] = [await open(), await open(), await open(), await open()];
    await ok('setFacts', { id: c.id, secondaryOf: d.id });
    await ok('setFacts', { id: d.id, secondaryOf: a.id });
    await ok('merge', { id: a.id, into: b.id });
    expect((await workOf(d.id)).secondaryOf).toMatchObject({ id: b.id });
    // c is a consequence of d, which is one of b: merging b into c would make a circle.
    await ok('merge', { id: b.id, into: c.id });
    expect((await workOf(a.id)).mergedInto).toMatchObject({ id: c.id });
    expect(await workOf(c.id)).toMatchObject({ secondaryOf: null, secondaries: [{ id: d.id }] });
    expect((await refusal('setFacts', { id: d.id, secondaryOf: a.id })).message).toContain('was merged into');
  });

  it('counts merged incidents in no figures', async () => {
    const before = (await ok('getStats')).performance.overall.incidents;
    const [a, b] = [await open(), await open()];
    await ok('merge', { id: a.id, into: b.id });
    expect((await ok('getStats')).performance.overall.incidents).toBe(before + 1);
  });
});

describe('response plans', () => {
  const step = (key: string, more: object = {}) => ({ key, text: `Do ${key}`, kind: 'DO', ...more });
  const planOf = async (id: string) => (await workOf(id)).plan;
  const create = (fields: object) =>
    manage('plans.create', { name: `Plan ${randomUUID()}`, steps: [step('a')], ...fields });
  /** Opens an incident at a new location. */
  const at = async (road: string | null, fields: object = {}) => {
    const { id: locationId } = await manage('locations.create', { name: `Place ${randomUUID()}`, road });
    return { locationId, open: () => open({ type: 'WEATHER', locationId, severity: 'HIGH', ...fields }) };
  };
  const remove = async (...plans: { id: string }[]) => {
    for (const { id } of plans) await manage('plans.delete', { id });
  };

  it('are chosen when an incident is opened, the most specific first', async () => {
    const place = await at('A99');
    const rival = { incidentTypes: ['WEATHER'] };
    const plans: { id: string }[] = [];
    const expectPlan = async (fields: object) => {
      plans.push(await create(fields));
      expect((await planOf((await place.open()).id)).planId).toBe(plans.at(-1)?.id);
    };
    await expectPlan({});
    await expectPlan({ minSeverity: 'HIGH' });
    await expectPlan(rival);
    await expectPlan({ ...rival, minSeverity: 'HIGH' });
    await expectPlan({ roads: ['a99'] });
    await expectPlan({ roads: ['A99'], incidentTypes: ['WEATHER'] });
    await expectPlan({ locationIds: [place.locationId.toUpperCase()] });
    const best = plans.at(-1);
    for (const others of [
      { locationIds: [place.locationId], minSeverity: 'CRITICAL' },
      { locationIds: [place.locationId], incidentTypes: ['COLLISION'] },
      { locationIds: [place.locationId], roads: ['A98'] },
      { locationIds: [place.locationId], incidentTypes: ['WEATHER'], isEnabled: false },
    ])
      plans.push(await create(others));
    expect((await planOf((await place.open()).id)).planId).toBe(best?.id);
    await remove(...plans);
    expect(await planOf((await place.open()).id)).toBeNull();
  });

  it('are chosen for incidents that events open, too', async () => {
    const plan = await create({ incidentTypes: ['WRONG_WAY_DRIVER'] });
    const sensor = await manage('sensors.create', { name: 'Radar', deviceId: randomUUID(), type: 'RADAR' });
    await gantry.ingest(sensor.apiKey, {
      eventType: 'INCIDENT',
      metadata: { incidentType: 'WRONG_WAY_DRIVER' },
    });
    const { incidents } = await eventually(
      () => ok('getAll', { sensorId: sensor.id }),
      ({ total }) => total === 1,
    );
    expect(await planOf(incidents[0].id)).toMatchObject({ planId: plan.id, version: 1 });
    await remove(plan);
  });

  it('keep running incidents on their version when they are changed or deleted', async () => {
    const place = await at(null);
    const plan = await create({ locationIds: [place.locationId], steps: [step('a'), step('b')] });
    const first = await place.open();
    await ok('completeStep', { id: first.id, key: 'b' });
    const changed = await manage('plans.update', { id: plan.id, expectedVersion: 1, steps: [step('c')] });
    expect(changed.version).toBe(2);
    expect(await refused('plans.update', { id: plan.id, expectedVersion: 1, name: 'x' })).toMatchObject({
      status: 409,
    });
    const steps = async (id: string) =>
      (await planOf(id)).steps.map(({ key, state }: { key: string; state: string }) => `${key} ${state}`);
    expect(await steps(first.id)).toEqual(['a OPEN', 'b DONE']);
    const second = await place.open();
    expect(await steps(second.id)).toEqual(['c OPEN']);
    expect((await refusal('completeStep', { id: first.id, key: 'c' })).message).toContain(
      'has no step "c" in its version 1',
    );
    await ok('setPlan', { id: first.id, planId: plan.id });
    expect(await steps(first.id)).toEqual(['c OPEN']);
    await remove(plan);
    expect(await steps(first.id)).toEqual(['c OPEN']);
    await ok('setPlan', { id: first.id, planId: null });
    expect((await refusal('completeStep', { id: first.id, key: 'c' })).message).toContain('has no plan');
  });

  it('can be changed after a location and an agency that they name were deleted', async () => {
    const { locationId } = await at(null);
    const { id: agencyId } = await manage('agencies.create', { name: `Desk ${randomUUID()}`, kind: 'OTHER' });
    const fields = {
      locationIds: [locationId],
      steps: [step('a', { kind: 'CALL', agencyId })],
    };
    const plan = await create(fields);
    await manage('locations.delete', { id: locationId });
    await manage('agencies.delete', { id: agencyId });
    const changed = await manage('plans.update', { id: plan.id, ...fields, isEnabled: false });
    expect(changed).toMatchObject({ locationIds: [locationId], isEnabled: false });
    for (const each of [{ locationIds: [locationId] }, { steps: fields.steps }]) {
      await manage('plans.update', { id: plan.id, locationIds: [], steps: [step('b')] });
      expect(await refused('plans.update', { id: plan.id, ...each })).toMatchObject({ status: 400 });
    }
    await remove(plan);
  });

  it('ask for a reason before an incident is resolved with required steps open', async () => {
    const place = await at(null);
    const steps = [step('must', { required: true }), step('may')];
    const plan = await create({ locationIds: [place.locationId], steps });
    const start = async () => {
      const { id } = await place.open();
      for (const verb of ['acknowledge', 'start']) await ok(verb, { id });
      return id;
    };
    const id = await start();
    const answer = await refusal('resolve', { id });
    expect(answer).toMatchObject({ status: 400, data: { issues: [{ path: 'note' }] } });
    expect(answer.message).toContain('“Do must”');
    expect(answer.message).not.toContain('Do may');
    expect((await ok('getById', { id })).status).toBe('IN_PROGRESS');
    await ok('resolve', { id, note: 'The car has left' });
    const other = await start();
    await ok('skipStep', { id: other, key: 'must', reason: 'Not needed' });
    await ok('resolve', { id: other });
    await remove(plan);
  });

  it('record a time by a step, each step once, and by one of two', async () => {
    const place = await at(null);
    const steps = [step('arrive', { kind: 'RECORD_TIME', sets: 'arrivedAt', dueMinutes: 30 }), step('skip')];
    const plan = await create({ locationIds: [place.locationId], steps });
    const { id, openedAt } = await place.open();
    await ok('completeStep', { id, key: 'arrive', note: 'Two men' });
    expect((await timesOf(id)).arrivedAt).not.toBeNull();
    const { timeline, work } = await ok('getById', { id });
    expect(timeline.at(-1)).toMatchObject({
      action: 'completeStep',
      note: 'Two men',
      details: { step: { key: 'arrive' } },
    });
    expect(work.plan.steps[0]).toMatchObject({
      state: 'DONE',
      by: { name: 'OPERATOR Tester' },
      dueAt: iso(openedAt + 30 * MINUTE),
    });
    await ok('completeStep', { id, key: 'arrive' });
    expect((await ok('getById', { id })).timeline).toHaveLength(timeline.length);
    const both = await Promise.all([
      gantry.call('incidents.completeStep', { id, key: 'skip' }, { token }),
      gantry.call('incidents.skipStep', { id, key: 'skip', reason: 'No' }, { token }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await remove(plan);
  });

  it('open a step again with a reason, and take back the time that it set unless somebody set another', async () => {
    const place = await at(null);
    const steps = [step('arrive', { kind: 'RECORD_TIME', sets: 'arrivedAt' }), step('do')];
    const plan = await create({ locationIds: [place.locationId], steps });
    const { id, openedAt } = await place.open();
    const states = async () =>
      (await ok('getById', { id })).work.plan.steps.map(({ state }: { state: string }) => state);
    const reopen = (key: string) => ok('reopenStep', { id, key, reason: 'It was another car' });
    await ok('completeStep', { id, key: 'arrive' });
    await ok('skipStep', { id, key: 'do', reason: 'Not needed' });
    await reopen('arrive');
    await reopen('do');
    expect(await states()).toEqual(['OPEN', 'OPEN']);
    expect((await timesOf(id)).arrivedAt).toBeNull();
    const { timeline } = await ok('getById', { id });
    expect(timeline.slice(-2)).toMatchObject([
      {
        action: 'reopenStep',
        note: 'It was another car',
        details: { step: { key: 'arrive', was: 'DONE' }, arrivedAt: { to: null } },
      },
      { action: 'reopenStep', details: { step: { key: 'do', was: 'SKIPPED' } } },
    ]);
    await reopen('do');
    expect((await ok('getById', { id })).timeline).toHaveLength(timeline.length);
    await ok('completeStep', { id, key: 'arrive' });
    await ok('setTimes', { id, arrivedAt: iso(openedAt) });
    await reopen('arrive');
    expect((await timesOf(id)).arrivedAt).toBe(iso(openedAt));
    await ok('completeStep', { id, key: 'arrive' });
    expect(await states()).toEqual(['DONE', 'OPEN']);
    expect((await refusal('reopenStep', { id, key: 'none', reason: 'x' })).message).toContain('has no step');
    await remove(plan);
  });

  it.each([
    [[], 'Give at least one step'],
    [[step('a'), step('a')], 'Two steps have the key a'],
    [[step('a b')], 'Use 1 to 40 letters'],
    [[step('a', { kind: 'NOTIFY' })], 'Name the agency'],
    [[step('a', { kind: 'RECORD_TIME' })], 'Name the time'],
    [[step('a', { sets: 'arrivedAt' })], 'Only steps of the kind RECORD_TIME'],
    [[step('a', { agencyId: randomUUID() })], 'No agency has this id'],
    [Array.from({ length: 41 }, (_, n) => step(`s${n}`)), 'Give at most 40 steps'],
  ])('with wrong steps are refused: %#', async (steps, message) => {
    const answer = await refused('plans.create', { name: 'Wrong', steps });
    expect(answer.status).toBe(400);
    expect(answer.message).toContain(message);
  });

  describe('with a step that notifies an agency', () => {
    const seen = { subject: 'Crash on A2', text: 'Two cars, km 12' };
    const prepare = async () => {
      const place = await at(null);
      const steps = [step('call', { kind: 'NOTIFY', agencyId: police }), step('do')];
      const plan = await create({ locationIds: [place.locationId], steps });
      return { plan, ...(await place.open()) };
    };

    it('show what would be sent, and send nothing before a person does', async () => {
      const { id, plan } = await prepare();
      const before = mail.messages.length;
      const notice = await ok('getStepNotice', { id, key: 'call' });
      expect(notice).toMatchObject({ agency: 'Police', to: 'desk@police.example' });
      expect(notice.text).toContain('\nWeather, severity high, ');
      expect(notice.text).toMatch(/\nPlace [0-9a-f-]{36}\n/);
      expect(notice.text).toContain(`https://gantry.city.example/incidents/${id}`);
      expect((await refusal('getStepNotice', { id, key: 'do' })).message).toContain('notifies nobody');
      const send = { id, key: 'call', to: notice.to, ...seen };
      expect((await refusal('sendStepNotice', send)).message).toContain('No channel for e-mail is enabled');
      expect((await planOf(id)).steps[0].state).toBe('OPEN');
      await manage('channels.create', { name: 'Mail', kind: 'SMTP' });
      expect((await refusal('sendStepNotice', { ...send, to: 'other@police.example' })).status).toBe(409);
      const both = await Promise.all(
        [1, 2].map(() => gantry.call('incidents.sendStepNotice', send, { token })),
      );
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
      const arrived = await eventually(
        async () => mail.messages.filter(({ to }) => to.includes('desk@police.example')),
        ({ length }) => length > 0,
      );
      expect(arrived).toHaveLength(1);
      expect(mail.messages.length).toBe(before + 1);
      expect(arrived[0]?.headers.get('subject')).toBe(seen.subject);
      expect(String(arrived[0]?.part('text/plain'))).toContain(seen.text);
      const { notices } = await manage('notices.getAll', { kind: 'PLAN' });
      expect(notices).toMatchObject([{ recipient: 'desk@police.example', subject: seen.subject }]);
      const { timeline } = await ok('getById', { id });
      expect(timeline.at(-1).details).toMatchObject({ notice: { to: 'Police', subject: seen.subject } });
      await remove(plan);
    });
  });
});

describe('the cameras near an incident', () => {
  /** A point north of a place, at a distance in metres. */
  const north = (metres: number) => ({ latitude: 47 + metres / 111_195, longitude: 12 });
  const camera = (name: string, metres: number, fields: object = {}) =>
    manage('sensors.create', {
      ...{
        name,
        deviceId: randomUUID(),
        type: 'CAMERA',
        coordinates: north(metres),
        direction: 'SB',
        ...fields,
      },
    });

  it('are those of its direction, then the nearest, with images of the last ten minutes', async () => {
    const place = { name: 'Km 12', coordinates: north(0), direction: 'NB' };
    const { id: locationId } = await manage('locations.create', place);
    await camera('Far', 1_010);
    await camera('No camera', 1, { type: 'RADAR' });
    await camera('Third', 300);
    const first = await camera('First', 990, { direction: 'NB' });
    const second = await camera('Second', 100);
    await camera('Fifth', 500);
    await manage('sensors.create', {
      name: 'Fourth',
      deviceId: randomUUID(),
      type: 'CAMERA',
      locationId: (await manage('locations.create', { name: 'Pole', coordinates: north(-400) })).id,
    });
    const image = png({ shade: 77 }).toString('base64');
    await gantry.ingest(first.apiKey, { images: [image] });
    await gantry.ingest(first.apiKey);
    await gantry.ingest(second.apiKey, { images: [image], timestamp: iso(Date.now() - 11 * MINUTE) });
    const { id } = await open({ locationId });
    const { cameras } = await ok('getCameras', { id });
    expect(cameras.map(({ name }: { name: string }) => name)).toEqual(['First', 'Second', 'Third', 'Fourth']);
    expect(cameras[0]).toMatchObject({
      distance: 990,
      direction: 'NB',
      image: { address: expect.stringMatching(/^\/images\//) },
    });
    expect(cameras[1]).toMatchObject({ distance: 100, image: null });
    expect((await ok('getCameras', { id: (await open()).id })).cameras).toEqual([]);
  });
});

describe('the report INCIDENT_CHRONOLOGY', () => {
  it('says in order who did what when, for those who manage incidents', async () => {
    const { id } = await open({ title: 'On the record' });
    await ok('verify', { id, note: 'Seen on camera' });
    await ok('setLanes', { id, direction: 'NB', lanes: ['CLOSED', 'OPEN'], shoulder: 'CLOSED' });
    await ok('addAgency', { id, agencyId: police, unit: 'P 7', dispatchedAt: 'now' });
    await ok('rejectFalse', { id, reason: 'A drill' });
    const asked = {
      kind: 'INCIDENT_CHRONOLOGY',
      format: 'CSV',
      startDate: '2026-01-01',
      endDate: '2026-01-02',
    };
    expect((await refused('reports.generate', asked)).message).toContain('Name the incident');
    for (const incidentId of [randomUUID(), 'x'])
      expect((await refused('reports.generate', { ...asked, filters: { incidentId } })).message).toContain(
        'No incident has this id',
      );
    const filters = { incidentId: id };
    const analyst = { token: await gantry.tokenFor('ANALYST') };
    expect(await gantry.refusal('reports.generate', { ...asked, filters }, analyst)).toMatchObject({
      status: 403,
    });
    const schedule = { kind: asked.kind, format: 'CSV', every: 'DAILY', hour: 6, filters };
    expect((await refused('reports.createSchedule', schedule)).message).toContain('is made once');
    const report = await manage('reports.generate', { ...asked, filters });
    const { url } = await eventually(
      () => manage('reports.getById', { id: report.id }),
      ({ status }) => status === 'DONE',
    );
    const get = (who: { token: string }) =>
      fetch(`${gantry.url}${url}`, { headers: { authorization: `Bearer ${who.token}` } });
    expect((await get(analyst)).status).toBe(403);
    const { records } = readCsv(new Uint8Array(await (await get(admin)).arrayBuffer()));
    expect(records.map(({ Action, By }) => [Action, By])).toEqual([
      ['Opened', 'OPERATOR Tester'],
      ['Verified', 'OPERATOR Tester'],
      ['Lanes', 'OPERATOR Tester'],
      ['Unit called', 'OPERATOR Tester'],
      ['Rejected as a false alarm', 'OPERATOR Tester'],
    ]);
    const words = records.map(({ What }) => What);
    expect(words[1]).toMatch(/^Seen on camera; T2: none → /);
    expect(words[2]).toBe('NB: 1 CLOSED, 2 OPEN, shoulder CLOSED');
    expect(words[3]).toMatch(/^Police · P 7; dispatched: none → .*; T3: none → /);
    expect(words[4]).toBe('A drill');
  });
});

describe('a situation report', () => {
  type Made = { number: number; reportId: string; sha256: string | null; url: string; recipients: object[] };
  const done = (id: string, number: number) =>
    eventually(
      async () => (await ok('getReports', { id })).reports.find((each: Made) => each.number === number),
      ({ sha256 }) => sha256 !== null,
    );
  const textOf = async (bytes: Uint8Array) => (await readPdf(bytes)).join('\n');
  const fetchFile = async (url: string) =>
    new Uint8Array(
      await (
        await fetch(`${gantry.url}${url}`, { headers: { authorization: `Bearer ${token}` } })
      ).arrayBuffer(),
    );

  it('is previewed, numbered, kept with its hash, and sent to partners without internal notes', async () => {
    const { id } = await open({ title: 'Tanker on its side' });
    await ok('addAgency', { id, agencyId: police });
    await ok('addNote', { id, note: 'The driver is drunk' });
    await ok('addNote', { id, note: 'Ramp closed', audience: 'PARTNERS' });
    await ok('addNote', { id, note: 'Use the B1', audience: 'PUBLIC' });
    const preview = await ok('getReportPreview', { id });
    expect(preview).toMatchObject({
      ...{ number: 1, kind: 'INITIAL', audience: 'PARTNERS', shownNotes: 2, hiddenNotes: 1, canSend: true },
      subject: 'Situation report 1 (initial): Tanker on its side',
      recipients: [{ agency: 'Police', email: 'desk@police.example' }],
    });
    expect(await ok('getReportPreview', { id, audience: 'PUBLIC' })).toMatchObject({
      shownNotes: 1,
      hiddenNotes: 2,
    });
    expect((await ok('getReports', { id })).reports).toEqual([]);
    const asked = {
      id,
      kind: 'INITIAL',
      to: ['Desk@police.example', 'desk@police.example'],
      expectedNumber: 1,
    };
    const subject = `Tanker ${randomUUID()}`;
    const both = await Promise.all(
      [1, 2].map(() => gantry.call('incidents.makeReport', { ...asked, subject }, { token })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const made = await done(id, 1);
    expect(made).toMatchObject({
      ...{ number: 1, kind: 'INITIAL', audience: 'PARTNERS', subject },
      createdBy: { name: 'OPERATOR Tester' },
      recipients: [{ email: 'desk@police.example' }],
    });
    const [letter] = await eventually(
      async () => mail.messages.filter(({ headers }) => headers.get('subject') === subject),
      ({ length }) => length > 0,
    );
    const bytes = await fetchFile(made.url);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(made.sha256);
    const text = await textOf(bytes);
    expect(text).toContain('Situation report 1 (INITIAL)');
    expect(text).toContain('Ramp closed');
    expect(text).toContain('Use the B1');
    expect(text).not.toContain('drunk');
    expect(letter?.to).toEqual(['desk@police.example']);
    expect(Buffer.from(letter?.part('application/pdf') ?? '').equals(Buffer.from(bytes))).toBe(true);
    await eventually(
      async () => (await ok('getReports', { id })).reports[0].recipients,
      (recipients) => recipients[0].status === 'SENT',
    );
    const { timeline } = await ok('getById', { id });
    expect(timeline.at(-1)).toMatchObject({
      action: 'makeReport',
      details: { report: { number: 1, kind: 'INITIAL', recipients: ['desk@police.example'] } },
    });
    expect((await refused('reports.delete', { id: made.reportId })).message).toContain('situation report 1');
  });

  it('for the control room has all notes, and is not sent', async () => {
    const { id } = await open();
    await ok('addNote', { id, note: 'The driver is drunk' });
    await ok('acknowledge', { id, note: 'As said' });
    const first = await ok('makeReport', { id, kind: 'INTERMEDIATE' });
    expect(first).toMatchObject({ number: 1, audience: 'INTERNAL', recipients: [], subject: null });
    const text = await textOf(await fetchFile((await done(id, 1)).url));
    expect(text).toContain('The driver is drunk');
    expect(text).toContain('As said');
    await ok('start', { id });
    await ok('resolve', { id });
    expect(await ok('getReportPreview', { id })).toMatchObject({ number: 2, kind: 'FINAL' });
    const second = await ok('makeReport', { id, kind: 'FINAL', audience: 'PUBLIC' });
    expect(second).toMatchObject({ number: 2, audience: 'PUBLIC' });
    const open2 = await textOf(await fetchFile((await done(id, 2)).url));
    expect(open2).not.toContain('drunk');
    expect(open2).not.toContain('As said');
  });

  it.each([
    [{ to: ['no address'] }, 'to.0', 'valid e-mail'],
    [{ to: ['a@b.example'], audience: 'INTERNAL' }, 'audience', 'is not sent'],
    [{ kind: 'LAST' }, 'kind', ''],
    [{ to: Array.from({ length: 21 }, (_, n) => `a${n}@b.example`) }, 'to', 'at most 20'],
  ])('is refused with what would be right: %#', async (fields, path, message) => {
    const { id } = await open();
    const answer = await refusal('makeReport', { id, kind: 'INITIAL', ...fields });
    expect(answer.status).toBe(400);
    expect(answer.data.issues?.map((issue: { path: string }) => issue.path)).toContain(path);
    expect(answer.message).toContain(message);
    expect((await ok('getReports', { id })).reports).toEqual([]);
  });

  it('is made by those who generate reports, and without a mail server only for oneself', async () => {
    const { id } = await open();
    const field = { token: await gantry.tokenFor('FIELD') };
    const answer = await gantry.refusal('incidents.makeReport', { id, kind: 'INITIAL' }, field);
    expect(answer).toMatchObject({ status: 403 });
    const config = { DATABASE_URL: `${gantry.app.context.config.DATABASE_URL}` };
    await using other = await startGantry({ config });
    const sent = { id, kind: 'INITIAL', to: ['a@b.example'] };
    const own = { token: await other.login('operator@gantry.local', ADMIN.password) };
    expect((await other.refusal('incidents.makeReport', sent, own)).message).toContain('SMTP_URL');
    expect((await ok('getReports', { id })).reports).toEqual([]);
  });
});
