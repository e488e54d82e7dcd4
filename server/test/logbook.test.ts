import { randomUUID } from 'node:crypto';
import type { LogEntry } from '@gantry/contract/log';
import type { Shift, ShiftDetail } from '@gantry/contract/shifts';
import { describe, expect, it } from 'vitest';
import { listEntries } from '../src/logbook/store.ts';
import { ENDLESS } from '../src/platform/time.ts';
import { eventually, sharedGantry, startGantry, untilBegun } from './harness.ts';
import { notedDatabase, type Statement } from './noted-statements.ts';
import { createShiftedTime } from './shifted-time.ts';
import { openStream } from './sse.ts';
import { lengthOf } from './test-length.ts';

const gantry = await sharedGantry();
const tokens = {
  ADMIN: await gantry.tokenFor('ADMIN'),
  OPERATOR: await gantry.tokenFor('OPERATOR'),
  FIELD: await gantry.tokenFor('FIELD'),
};
type Who = keyof typeof tokens;
const ask = <Answer>(procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.ok<Answer>(procedure, input, { token: tokens[who] });
const refuse = (procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.refusal(procedure, input, { token: tokens[who] });
const add = (input: object, who?: Who) => ask<LogEntry>('log.add', { text: 'Something', ...input }, who);
const list = async (input: object = {}) => (await ask<{ entries: LogEntry[] }>('log.getAll', input)).entries;
const HOUR = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const soon = ago(-HOUR);

describe('the log', () => {
  it('keeps who wrote what, when it happened, from whom it came and what it is about', async () => {
    const { id } = await ask<{ id: string }>('incidents.create', {
      title: 'Tree',
      type: 'OBSTRUCTION',
      severity: 'HIGH',
    });
    const ref = { kind: 'INCIDENT', id };
    const source = { who: 'Patrol 7', phone: '+49 30 1' };
    const entry = await add({
      kind: 'CALL',
      text: ' Tree at km 3 ',
      source,
      refs: [ref, { ...ref, id: id.toUpperCase() }],
    });
    expect(entry).toMatchObject({
      ...{
        kind: 'CALL',
        text: 'Tree at km 3',
        isLate: false,
        corrects: null,
        correctedBy: null,
        validUntil: null,
      },
      ...{ by: { name: 'OPERATOR Tester' }, desk: 'Control room', shiftId: null },
      source: { who: 'Patrol 7', agency: null, phone: '+49 30 1' },
      refs: [{ ...ref, name: 'Tree' }],
    });
    expect(await ask('log.getById', { id: entry.id })).toEqual(entry);
    expect(await list({ refId: id.toUpperCase() })).toEqual([entry]);
    for (const none of ['none', 'a\u0000b', '\ud800']) expect(await list({ refId: none })).toEqual([]);
    expect(await list({ search: 'tree AT' })).toEqual([entry]);
    expect(await list({ search: 'no such words' })).toEqual([]);
    expect((await add({ source: { who: ' ' } })).source).toBeNull();
  });

  it('lists what is about an incident with the one into which it was merged', async () => {
    const crash = { type: 'COLLISION', severity: 'HIGH' };
    const ids: string[] = [];
    for (const title of ['First', 'Second', 'Third'])
      ids.push((await ask<{ id: string }>('incidents.create', { ...crash, title })).id);
    const entries: unknown[] = [];
    for (const id of ids) entries.unshift((await add({ refs: [{ kind: 'INCIDENT', id }] })).id);
    const listed = async (refId?: string) => (await list({ refId })).map(({ id }) => id);
    await ask('incidents.merge', { id: ids[0], into: ids[1] });
    await ask('incidents.merge', { id: ids[1], into: ids[2] });
    expect(await listed(ids[2])).toEqual(entries);
    expect(await listed(ids[0])).toEqual(entries.slice(2));
    expect(await listed('none')).toEqual([]);
  });

  it('marks what was written later than it happened, and lists it where it happened', async () => {
    const before = await add({ text: 'before', at: ago(3 * HOUR) });
    const between = await add({ text: 'between', at: ago(2 * HOUR) });
    expect([before.isLate, between.isLate]).toEqual([true, true]);
    const listed = (await list({ startDate: ago(4 * HOUR), endDate: ago(HOUR) })).map(({ text }) => text);
    expect(listed).toEqual(['between', 'before']);
  });

  it('adds an entry once for a key, however often and by how many it is sent at the same time', async () => {
    const key = randomUUID();
    const sent = await Promise.all(
      Array.from({ length: 8 }, () => add({ text: 'Sent again', idempotencyKey: key })),
    );
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect((await add({ text: 'Sent again', idempotencyKey: key }, 'FIELD')).id).not.toBe(sent[0]?.id);
    const incident = await ask<{ id: string }>('incidents.create', { title: 'Debris', type: 'OTHER' });
    for (const other of [
      { text: 'Another' },
      { kind: 'CALL' },
      { source: { who: 'Patrol 7' } },
      { refs: [{ kind: 'INCIDENT', id: incident.id }] },
    ])
      expect(await refuse('log.add', { text: 'Sent again', idempotencyKey: key, ...other })).toMatchObject({
        status: 409,
      });
  });

  it.each([
    [{ text: ' ' }, 'text', 'Must not be empty'],
    [{ text: 'x'.repeat(4_001) }, 'text', 'at most 4000'],
    [{ text: 'x', kind: 'RUMOUR' }, 'kind', 'NOTE'],
    [{ text: 'x', at: soon }, 'at', 'in the future'],
    [{ text: 'x', at: ago(8 * 24 * HOUR) }, 'at', 'at most 7 days later'],
    [{ text: 'x', validUntil: soon }, 'validUntil', 'Only an INSTRUCTION'],
    [{ text: 'x', kind: 'INSTRUCTION', validUntil: ago(HOUR) }, 'validUntil', 'is over'],
    [{ text: 'x', refs: [{ kind: 'SENSOR', id: randomUUID() }] }, 'refs.0.id', 'no sensor with the id'],
    [{ text: 'x', refs: [{ kind: 'SENSOR', id: 'a' }] }, 'refs.0.id', 'no sensor with the id a'],
    [{ text: 'x', desk: '' }, 'desk', 'Must not be empty'],
  ])('refuses %j with what would be right', async (input, path, message) => {
    const { status, data } = await refuse('log.add', input);
    expect(status).toBe(400);
    expect(data.issues).toContainEqual({ path, message: expect.stringContaining(message) });
  });

  it('is corrected by a new entry, once, and by one of two at the same time', async () => {
    const entry = await add({ kind: 'FAULT', text: 'Lamp 3 is dark', source: { who: 'Patrol' } });
    const both = await Promise.all([
      gantry.call('log.correct', { id: entry.id, text: 'Lamp 4 is dark' }, { token: tokens.OPERATOR }),
      gantry.call('log.correct', { id: entry.id, text: 'Lamp 5 is dark' }, { token: tokens.ADMIN }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = both.find(({ status }) => status === 200)?.body.result.data.json as LogEntry;
    expect(won).toMatchObject({ corrects: entry.id, kind: 'FAULT', source: { who: 'Patrol' } });
    const { message } = both.find(({ status }) => status === 409)?.body.error.json ?? {};
    expect(message).toContain(`${won.by.name} corrected this entry at`);
    expect(await ask('log.getById', { id: entry.id })).toEqual({ ...entry, correctedBy: won.id });
    const current = (await list({ kind: 'FAULT', current: true })).map(({ id }) => id);
    expect(current).toContain(won.id);
    expect(current).not.toContain(entry.id);
    expect(await refuse('log.correct', { id: '999999999', text: 'x' })).toMatchObject({ status: 404 });
    expect(await refuse('log.correct', { id: 'x', text: 'x' })).toMatchObject({ status: 404 });
  });

  it('lists the instructions that are valid: until their time, or until a correction ends them', async () => {
    const valid = async () => (await list({ valid: true })).map(({ text }) => text);
    const limited = await add({ kind: 'INSTRUCTION', text: 'Speed limit 80', validUntil: soon });
    await add({ kind: 'INSTRUCTION', text: 'Close lane 2' });
    expect(await valid()).toEqual(['Close lane 2', 'Speed limit 80']);
    const ended = await ask<LogEntry>('log.correct', {
      id: limited.id,
      text: 'Speed limit 80: over',
      validUntil: ago(0),
    });
    expect(ended.validUntil).not.toBeNull();
    expect(await valid()).toEqual(['Close lane 2']);
    const as = { kind: 'NOTE', text: 'Lane 2 was closed' };
    const [open] = await list({ valid: true });
    expect((await ask<LogEntry>('log.correct', { id: open?.id, ...as })).kind).toBe('NOTE');
    expect(await valid()).toEqual([]);
  });

  it('is streamed to those who may read it, alone and with everything else', async () => {
    const own = await openStream(gantry.url, 'log.onAdded', { token: tokens.FIELD });
    const ofDesk = await openStream(gantry.url, 'log.onAdded', {
      token: tokens.FIELD,
      input: { desk: 'izmir' },
    });
    const any = await openStream(gantry.url, 'live.onAny', {
      token: tokens.FIELD,
      input: { topics: ['log'] },
    });
    await Promise.all([untilBegun(own), untilBegun(ofDesk), untilBegun(any)]);
    const { id } = await add({ text: 'Streamed' });
    // Desks are compared as in the list, where all forms of i are one letter.
    const { id: there } = await add({ text: 'There', desk: 'İZMİR' });
    await eventually(
      async () => ofDesk.messages.flatMap(({ data }) => (data.type === 'entry' ? [data.entry.id] : [])),
      (ids) => ids.includes(there) && !ids.includes(id),
    );
    ofDesk.close();
    await eventually(
      async () => own.messages,
      (messages) => messages.some(({ data }) => data.type === 'entry' && data.entry.id === id),
    );
    await eventually(
      async () => any.messages,
      (messages) => messages.some(({ data }) => data.type === 'log' && data.entry.id === id),
    );
    own.close();
    any.close();
  });

  it('is immutable: the role of the service itself can neither change nor delete an entry', async () => {
    const { id } = await add({ text: 'For ever' });
    for (const statement of [
      `UPDATE log_entries SET text = 'Never' WHERE id = ${id}`,
      `UPDATE log_entries SET valid_until = now() WHERE id = ${id}`,
      `DELETE FROM log_entries WHERE id = ${id}`,
    ])
      await expect(gantry.pool.query(statement)).rejects.toMatchObject({ code: '23001' });
    expect((await ask<LogEntry>('log.getById', { id })).text).toBe('For ever');
  });
});

const start = (desk: string, who: Who = 'OPERATOR', memberIds: string[] = []) =>
  ask<ShiftDetail>('shifts.start', { desk, memberIds }, who);
const handOver = (id: string, who: Who = 'OPERATOR', remarks?: string) =>
  ask<ShiftDetail>('shifts.handOver', { id, remarks }, who);

describe('a shift', () => {
  it('is one for each desk, whatever the case of its name, and its entries are those of the desk', async () => {
    const both = await Promise.all([
      gantry.call('shifts.start', { desk: 'Tunnel' }, { token: tokens.OPERATOR }),
      gantry.call('shifts.start', { desk: 'TUNNEL' }, { token: tokens.FIELD }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const shift = both.find(({ status }) => status === 200)?.body.result.data.json as Shift;
    const { message } = both.find(({ status }) => status === 409)?.body.error.json ?? {};
    expect(message).toContain(`${shift.lead.name} has led the shift of ${shift.desk} since`);
    expect(shift).toMatchObject({ state: 'OPEN', members: [], handedOverAt: null });
    expect(await add({ desk: 'tunnel' })).toMatchObject({ desk: shift.desk, shiftId: shift.id });
    expect((await ask<ShiftDetail>('shifts.getById', { id: shift.id })).entries).toBe(1);
    expect(await list({ shiftId: shift.id })).toHaveLength(1);
    await ask('shifts.close', { id: shift.id, reason: 'Test' }, 'ADMIN');
    expect(await refuse('shifts.close', { id: shift.id, reason: 'Test' })).toMatchObject({ status: 403 });
    expect((await refuse('shifts.close', { id: shift.id, reason: 'Test' }, 'ADMIN')).message).toMatch(
      / closed this shift at /,
    );
    expect((await add({ desk: 'tunnel' })).shiftId).toBeNull();
  });

  it('hands over what is open, which another person accepts; of two at the same time, one does', async () => {
    const { id: incidentId } = await ask<{ id: string }>('incidents.create', {
      ...{ title: 'Oil on the road', type: 'OBSTRUCTION', severity: 'CRITICAL' },
    });
    await ask('incidents.addNote', { id: incidentId, note: 'Sand is on its way' });
    await gantry.registerSensor();
    await add({ kind: 'INSTRUCTION', text: 'Keep lane 1 closed' });
    const shift = await start('North', 'OPERATOR', []);
    expect(await refuse('shifts.accept', { id: shift.id }, 'FIELD')).toMatchObject({
      status: 409,
      message: expect.stringContaining('has not been handed over yet'),
    });
    const { summary: prepared } = await ask<{ summary: object }>('shifts.prepare', { id: shift.id });
    const handedOver = await handOver(shift.id, 'OPERATOR', 'Sand from depot 3');
    expect(handedOver.summary).toEqual({ ...prepared, at: expect.any(String) });
    expect(handedOver).toMatchObject({
      ...{ state: 'HANDED_OVER', remarks: 'Sand from depot 3', endedAt: null },
      summary: {
        incidents: {
          items: expect.arrayContaining([
            expect.objectContaining({
              id: incidentId,
              note: expect.objectContaining({ text: 'Sand is on its way' }),
            }),
          ]),
        },
        sensors: {
          items: expect.arrayContaining([expect.objectContaining({ name: 'Mast 7', status: 'OFFLINE' })]),
        },
        instructions: { total: 1, items: [{ text: 'Keep lane 1 closed' }] },
      },
    });
    expect((await refuse('shifts.handOver', { id: shift.id }, 'FIELD')).message).toMatch(
      /handed this shift over at/,
    );
    expect((await refuse('shifts.prepare', { id: shift.id })).status).toBe(409);
    expect(await refuse('shifts.accept', { id: shift.id })).toMatchObject({ status: 403 });
    // What happens afterwards is not in it.
    await ask('incidents.acknowledge', { id: incidentId });
    const both = await Promise.all(
      (['FIELD', 'ADMIN'] as const).map((who) =>
        gantry.call('shifts.accept', { id: shift.id }, { token: tokens[who] }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const next = both.find(({ status }) => status === 200)?.body.result.data.json as ShiftDetail;
    expect(next).toMatchObject({ desk: 'North', state: 'OPEN', previousId: shift.id, summary: null });
    const { message } = both.find(({ status }) => status === 409)?.body.error.json ?? {};
    expect(message).toContain(`${next.lead.name} accepted this shift at`);
    const ended = await ask<ShiftDetail>('shifts.getById', { id: shift.id });
    expect(ended).toMatchObject({ state: 'ENDED', acceptedBy: next.lead, summary: handedOver.summary });
    expect(
      (await ask<{ shifts: Shift[] }>('shifts.getAll', { desk: 'north' })).shifts.map(({ id }) => id),
    ).toEqual([next.id, shift.id]);
    await ask('shifts.close', { id: next.id, reason: 'Test' }, 'ADMIN');
  });

  it('names active users only, each once and not the lead again', async () => {
    const { id: field } = await ask<{ id: string }>('auth.me', {}, 'FIELD');
    const { id: own } = await ask<{ id: string }>('auth.me');
    const shift = await start('East', 'OPERATOR', [field, own, field.toUpperCase()]);
    expect(shift.members.map(({ id }) => id)).toEqual([field]);
    // The shift of those who are on duty is theirs, also while there are several.
    const other = await start('West', 'ADMIN');
    expect((await add({}, 'FIELD')).desk).toBe('East');
    for (const { id } of [shift, other]) await ask('shifts.close', { id, reason: 'Test' }, 'ADMIN');
    const unknown = await refuse('shifts.start', { desk: 'South', memberIds: [randomUUID()] });
    expect(unknown).toMatchObject({ status: 400, data: { issues: [{ path: 'memberIds' }] } });
    expect(await refuse('shifts.getById', { id: 'x' })).toMatchObject({ status: 404 });
  });

  it('hands over no plates, and no hits of covert lists', async () => {
    const names = ['Stolen', 'Secret'];
    for (const name of names) {
      const covert = name === 'Secret';
      const { id } = await ask<{ id: string }>('hotlists.create', { name, covert }, 'ADMIN');
      await ask('hotlists.addEntry', { hotlistId: id, plate: 'B XY 123', reason: name }, 'ADMIN');
    }
    await gantry.ingest(await gantry.registerSensor(), {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'B XY 123',
    });
    await eventually(
      () => ask<{ total: number }>('hits.getAll', {}, 'ADMIN'),
      ({ total }) => total === 2,
    );
    const shift = await start('Hits');
    const { summary } = await handOver(shift.id);
    expect(summary?.hits).toMatchObject({ total: 1, items: [{ name: 'Stolen', count: 1 }] });
    expect(JSON.stringify(summary)).not.toMatch(/XY|Secret/);
    await ask('shifts.close', { id: shift.id, reason: 'Test' }, 'ADMIN');
  });

  it('stays as it was handed over, and as it ended, for the role of the service itself', async () => {
    const shift = await start('Kept');
    await handOver(shift.id);
    const change = (set: string) => gantry.pool.query(`UPDATE shifts SET ${set} WHERE id = '${shift.id}'`);
    const drop = () => gantry.pool.query(`DELETE FROM shifts WHERE id = '${shift.id}'`);
    const kept = { code: '23001' };
    for (const set of [
      `summary = '{}'`,
      `remarks = 'x'`,
      'handed_over_at = now()',
      `desk = 'x'`,
      'started_at = now()',
    ])
      await expect(change(set)).rejects.toMatchObject(kept);
    await expect(drop()).rejects.toMatchObject(kept);
    await ask('shifts.close', { id: shift.id, reason: 'Test' }, 'ADMIN');
    await expect(change(`close_reason = 'x'`)).rejects.toMatchObject(kept);
    await expect(drop()).rejects.toMatchObject(kept);
  });
});

describe('the retention of the log', () => {
  it('is at least a year, and then removes old entries and the shifts that ended before', async () => {
    await using service = await startGantry();
    const token = await service.tokenFor('ADMIN');
    const ok = (procedure: string, input?: object) => service.ok(procedure, input, { token });
    expect((await ok('storage.getRetention')).log).toBeNull();
    const short = await service.refusal('storage.setRetention', { log: 364 }, { token });
    expect(short).toMatchObject({ status: 400, message: expect.stringContaining('at least 365 days') });
    const old = `now() - interval '500 days'`;
    await service.pool.query(`
      INSERT INTO log_entries (at, created_at, user_id, desk, kind, text)
      SELECT ${old}, ${old}, gen_random_uuid(), 'x', 'NOTE', 'Old ' || n FROM generate_series(1, 7) AS n;
      INSERT INTO shifts (desk, lead_id, started_at, ended_at, closed_by, close_reason)
      VALUES ('x', gen_random_uuid(), ${old}, ${old}, gen_random_uuid(), 'x')`);
    await ok('log.add', { text: 'New' });
    const { updatedAt } = await ok('storage.setRetention', { log: 400 });
    const preview = await ok('storage.previewRetention');
    expect(preview.totals.log).toBe(8);
    await ok('storage.runRetention', { expectedUpdatedAt: updatedAt, expectedTotals: preview.totals });
    const left = await eventually(
      () => ok('log.getAll'),
      ({ entries }) => entries.length === 1,
    );
    expect(left.entries).toMatchObject([{ text: 'New' }]);
    expect((await ok('shifts.getAll')).total).toBe(0);
  });
});

describe('the local times of entries', () => {
  it('are those of the service, also where clocks change', async () => {
    await using service = await startGantry();
    const token = await service.tokenFor('ADMIN');
    await service.ok('system.timezone.updateTimezoneSettings', { timezone: 'Europe/Berlin' }, { token });
    const until = async (validUntil: string) =>
      (await service.ok('log.add', { kind: 'INSTRUCTION', text: 'x', validUntil }, { token })).validUntil;
    expect(await until('2036-10-25T23:30')).toBe('2036-10-25T21:30:00.000Z');
    // Shown twice: the first time. Not shown: the clocks are put forward by an hour.
    expect(await until('2036-10-26T02:30')).toBe('2036-10-26T00:30:00.000Z');
    expect(await until('2036-10-26T03:30')).toBe('2036-10-26T02:30:00.000Z');
    expect(await until('2036-03-30T02:30')).toBe('2036-03-30T01:30:00.000Z');
    const refused = await service.refusal('log.add', { text: 'x', at: '2036-03-30T02:30' }, { token });
    expect(refused).toMatchObject({ status: 400, message: expect.stringContaining('in the future') });
  });
});

describe('a hand-over that nobody accepts', () => {
  it('is an alarm after half an hour, until somebody does', async () => {
    const time = createShiftedTime();
    await using service = await startGantry({
      overrides: { clock: time.sources, timings: { evaluateAlarmsMs: 50 } },
    });
    const [admin, operator] = [await service.tokenFor('ADMIN'), await service.tokenFor('OPERATOR')];
    const { rules } = await service.ok('alarmRules.getAll', { source: 'SYSTEM' }, { token: admin });
    const rule = rules.find(
      ({ condition }: { condition: { part: string } }) => condition.part === 'HANDOVER',
    );
    expect(rule).toMatchObject({
      name: 'Hand-over not accepted',
      enabled: false,
      condition: { threshold: 30 },
    });
    await service.ok('alarmRules.update', { id: rule.id, enabled: true }, { token: admin });
    const { id } = await service.ok('shifts.start', {}, { token: operator });
    await service.ok('shifts.handOver', { id }, { token: operator });
    const firing = async () =>
      (await service.ok('alarms.getAll', { state: 'FIRING' }, { token: admin })).total;
    const evaluatedAfter = async (now: number) =>
      eventually(
        () => service.ok('alarms.getStats', undefined, { token: admin }),
        ({ evaluatedAt }) => Date.parse(evaluatedAt) > now,
      );
    time.advance(29 * 60_000);
    await evaluatedAfter(time.now());
    expect(await firing()).toBe(0);
    time.advance(2 * 60_000);
    await eventually(firing, (count) => count === 1);
    await service.ok('shifts.accept', { id }, { token: admin });
    await eventually(firing, (count) => count === 0);
  });
});

describe('a long log', () => {
  it('is read from any entry on by its index, whatever its length', async () => {
    await using service = await startGantry();
    const count = lengthOf({ gate: 20_000, full: 1_000_000 });
    await service.pool.query(`
      INSERT INTO log_entries (at, created_at, user_id, desk, kind, text)
      SELECT timestamptz '2026-01-01' + n * interval '17 s', timestamptz '2026-01-01' + n * interval '17 s',
        gen_random_uuid(), 'x', 'NOTE', 'Entry ' || n FROM generate_series(1, ${count}) AS n;
      ANALYZE log_entries`);
    const sent: Statement[] = [];
    const db = notedDatabase(service.pool, (statement) => sent.push(statement));
    const input = { take: 50, before: String(count - 100) };
    const entries = await listEntries(db, input, ENDLESS, Date.now());
    expect(entries.map(({ text }) => text)[0]).toBe(`Entry ${count - 101}`);
    const page = sent.find(({ text }) => text.includes('LIMIT'));
    const { rows } = await service.pool.query(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${page?.text}`,
      page?.values,
    );
    const plan = JSON.stringify(rows);
    expect(plan).toContain('log_entries_by_time');
    expect(plan).not.toContain('"Sort"');
    const [{ Plan: root }] = rows[0]['QUERY PLAN'];
    // 51 entries, each with a look for its correction.
    expect(root['Shared Hit Blocks'] + root['Shared Read Blocks']).toBeLessThan(400);
  });
});
