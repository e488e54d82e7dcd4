import { createHash, randomUUID } from 'node:crypto';
import { type FaultState, faultStates, mayFollow, needsReason } from '@gantry/contract/fault-states';
import { type Fault, type FaultDetail, MAX_FAULT_IMAGES } from '@gantry/contract/faults';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry, untilBegun } from './harness.ts';
import { readCsv } from './report-reading.ts';
import { dataUrl, png } from './sample-images.ts';
import { openStream } from './sse.ts';

const gantry = await sharedGantry();
const tokens = {
  ADMIN: await gantry.tokenFor('ADMIN'),
  OPERATOR: await gantry.tokenFor('OPERATOR'),
  FIELD: await gantry.tokenFor('FIELD'),
  VIEWER: await gantry.tokenFor('VIEWER'),
};
type Who = keyof typeof tokens;
const ask = <Answer>(procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.ok<Answer>(procedure, input, { token: tokens[who] });
const refuse = (procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.refusal(procedure, input, { token: tokens[who] });
const register = async (fields: object = {}): Promise<{ id: string; apiKey: string }> =>
  ask('sensors.create', { name: 'Mast 7', deviceId: randomUUID(), type: 'CAMERA', ...fields }, 'ADMIN');
const report = (sensorId: string, input: object = {}, who?: Who) =>
  ask<FaultDetail>('faults.report', { sensorId, text: 'The lens is dirty', ...input }, who);
const update = (id: string, input: object, who?: Who) =>
  ask<FaultDetail>('faults.update', { id, ...input }, who);
const list = async (input: object) => (await ask<{ faults: Fault[] }>('faults.getAll', input)).faults;
const DAY = 86_400_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

describe('a fault', () => {
  it('keeps who found what and when, and each state with its reason', async () => {
    const location = await ask<{ id: string }>('locations.create', { name: 'Bridge' }, 'ADMIN');
    const { id: sensorId } = await register({ locationId: location.id });
    const found = await report(sensorId, { code: ' LENS ', ticket: 'T-1', foundAt: ago(2 * DAY) }, 'FIELD');
    expect(found).toMatchObject({
      ...{ sensor: { id: sensorId, name: 'Mast 7' }, place: 'Bridge', state: 'FOUND', reason: null },
      ...{ text: 'The lens is dirty', code: 'LENS', ticket: 'T-1', version: 1 },
      reportedBy: { name: 'FIELD Tester' },
    });
    await update(found.id, { state: 'WAITING', reason: 'For the lift', ticket: 'T-2' });
    await update(found.id, { state: 'IN_REPAIR' }, 'FIELD');
    const repaired = await update(found.id, { state: 'REPAIRED', reason: 'Cleaned', version: 3 });
    expect(repaired).toMatchObject({ state: 'REPAIRED', reason: 'Cleaned', ticket: 'T-2', version: 4 });
    expect(repaired.history.map(({ state, by, reason }) => [state, by.name, reason])).toEqual([
      ['FOUND', 'FIELD Tester', null],
      ['WAITING', 'OPERATOR Tester', 'For the lift'],
      ['IN_REPAIR', 'FIELD Tester', null],
      ['REPAIRED', 'OPERATOR Tester', 'Cleaned'],
    ]);
    expect(await ask('faults.getById', { id: found.id }, 'VIEWER')).toEqual(repaired);
    const times = repaired.history.map(({ at }) => new Date(at).getTime());
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
    // The status of the sensor is another matter.
    expect(await ask('sensors.getById', { id: sensorId })).toMatchObject({ status: 'OFFLINE' });
    const { rows } = await gantry.pool.query(
      `SELECT action, details FROM activity WHERE details ->> 'faultId' = $1 ORDER BY id`,
      [found.id],
    );
    expect(rows.map(({ action }) => action)).toEqual(['faults.report', ...Array(3).fill('faults.update')]);
    expect(rows[1]?.details).toMatchObject({ from: 'FOUND', to: 'WAITING', reason: 'For the lift' });
  });

  it('goes through the states of the table, and no others, in any order', async () => {
    const { id: sensorId } = await register();
    const turn = fc.record({
      state: fc.constantFrom(...faultStates),
      reason: fc.constantFrom(null, 'Because'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), async (turns) => {
        const { id } = await report(sensorId);
        const states: FaultState[] = ['FOUND'];
        for (const { state, reason } of turns) {
          const now = states.at(-1) ?? 'FOUND';
          const { status, body } = await gantry.call(
            'faults.update',
            { id, state, reason },
            { token: tokens.OPERATOR },
          );
          const expected = mayFollow(now, state) ? (needsReason(now, state) && !reason ? 400 : 200) : 409;
          expect([now, state, status]).toEqual([now, state, expected]);
          if (status === 409) expect(body.error.json.message).toContain('OPERATOR Tester set this fault to');
          if (status === 200) states.push(state);
        }
        const { history, state, version } = await ask<FaultDetail>('faults.getById', { id });
        expect(history.map((each) => each.state)).toEqual(states);
        expect([state, version]).toEqual([states.at(-1), states.length]);
        // So that the sensor never has too many open ones.
        await gantry.pool.query(`UPDATE faults SET state = 'REPAIRED' WHERE id = $1`, [id]);
      }),
      { numRuns: 25 },
    );
  });

  it('with a code is one of its sensor, until it is repaired; others may be open beside it', async () => {
    const { id: sensorId } = await register();
    const [first] = await Promise.all([
      report(sensorId, { code: 'Modem' }),
      report(sensorId),
      report(sensorId),
    ]);
    const twice = await refuse('faults.report', { sensorId, text: 'Again', code: 'MODEM' }, 'FIELD');
    expect(twice).toMatchObject({ status: 409 });
    expect(twice.message).toContain('"MODEM"');
    expect(twice.message).toContain('OPERATOR Tester reported it');
    const other = await report(sensorId, { code: 'Mast' });
    expect(await refuse('faults.update', { id: other.id, code: 'modem' })).toMatchObject({ status: 409 });
    await update(first.id, { state: 'REPAIRED' });
    const second = await report(sensorId, { code: 'modem' });
    const again = { id: first.id, state: 'FOUND', reason: 'It is off again' };
    expect(await refuse('faults.update', again)).toMatchObject({ status: 409 });
    await update(second.id, { state: 'REPAIRED' });
    expect(await update(first.id, again)).toMatchObject({ state: 'FOUND', reason: 'It is off again' });
    expect(await list({ sensorId, open: true })).toHaveLength(4);
  });

  it('is reported by one of ten people who find it at the same time', async () => {
    const { id: sensorId } = await register();
    const calls = await Promise.all(
      Array.from({ length: 10 }, () =>
        gantry.call('faults.report', { sensorId, text: 'Dark', code: 'POWER' }, { token: tokens.FIELD }),
      ),
    );
    expect(calls.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    const { id } = (await list({ sensorId }))[0] as Fault;
    const turns = await Promise.all(
      Array.from({ length: 10 }, () =>
        gantry.call('faults.update', { id, state: 'IN_REPAIR' }, { token: tokens.FIELD }),
      ),
    );
    expect(turns.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
  });

  it('is not changed by somebody who saw another version of it', async () => {
    const { id } = await report((await register()).id);
    await update(id, { ticket: 'T-9', version: 1 }, 'FIELD');
    const late = await refuse('faults.update', { id, ticket: 'T-8', version: 1 });
    expect(late).toMatchObject({ status: 409 });
    expect(late.message).toContain('FIELD Tester changed this fault at');
    expect(await ask('faults.getById', { id })).toMatchObject({ ticket: 'T-9', version: 2 });
  });

  it('that is sent twice with one key is one fault', async () => {
    const { id: sensorId } = await register();
    const key = { idempotencyKey: randomUUID() };
    const [one, two] = [await report(sensorId, key), await report(sensorId, key)];
    expect(two.id).toBe(one.id);
    const other = await refuse('faults.report', { sensorId, text: 'Another', ...key });
    expect(other).toMatchObject({ status: 409 });
    for (const more of [{ code: 'LENS' }, { ticket: 'T-77' }])
      expect(await refuse('faults.report', { sensorId, text: one.text, ...more, ...key })).toMatchObject({
        status: 409,
      });
    const elsewhere = { sensorId: (await register()).id, text: one.text, ...key };
    expect(await refuse('faults.report', elsewhere)).toMatchObject({ status: 409 });
    expect(await list({ sensorId })).toHaveLength(1);
  });

  it.each([
    ['no sensor', { sensorId: randomUUID() }, 'sensorId'],
    ['a text that is no id', { sensorId: 'x' }, 'sensorId'],
    ['nothing wrong', { text: ' ' }, 'text'],
    ['a time to come', { foundAt: ago(-DAY) }, 'foundAt'],
    ['a time of years ago', { foundAt: '2006-01-31' }, 'foundAt'],
    ['a long code', { code: 'x'.repeat(51) }, 'code'],
  ])('of %s is refused with what would be right', async (_, input, path) => {
    const { id: sensorId } = await register();
    const refusal = await refuse('faults.report', { sensorId, text: 'Dark', ...input });
    expect(refusal).toMatchObject({ status: 400, data: { issues: [{ path }] } });
  });

  it.each([
    ['nothing', {}],
    ['a reason alone', { reason: 'Why not' }],
    ['a reason without a state', { reason: 'Why not', ticket: 'T' }],
    ['a state that is none', { state: 'BROKEN' }],
    ['an empty text', { text: '' }],
  ])('is not changed by %s', async (_, input) => {
    const { id } = await report((await register()).id);
    expect(await refuse('faults.update', { id, ...input })).toMatchObject({ status: 400 });
  });

  it('of a sensor that has too many already is refused', async () => {
    const { id: sensorId } = await register();
    for (let n = 0; n < 20; n++) await report(sensorId);
    expect(await refuse('faults.report', { sensorId, text: 'One more' })).toMatchObject({ status: 409 });
  });

  it('ends with its sensor, and is forgotten with its history', async () => {
    const { id: sensorId } = await register();
    const { id } = await report(sensorId);
    await ask('sensors.delete', { id: sensorId }, 'ADMIN');
    expect(await ask('faults.getById', { id })).toMatchObject({
      ...{ state: 'REPAIRED', reason: 'The sensor was deleted' },
      sensor: { id: sensorId, name: 'Mast 7' },
      place: null,
    });
    expect(await list({ sensorId, open: true })).toEqual([]);
  });

  it('is streamed to everybody, alone and with everything else', async () => {
    const { id: sensorId } = await register();
    const { id: another } = await register();
    const own = await openStream(gantry.url, 'faults.onChanged', {
      token: tokens.VIEWER,
      input: { sensorId: sensorId.toUpperCase() },
    });
    const any = await openStream(gantry.url, 'live.onAny', {
      token: tokens.VIEWER,
      input: { topics: ['faults'] },
    });
    await Promise.all([untilBegun(own), untilBegun(any)]);
    await report(another);
    const { id } = await report(sensorId);
    await update(id, { state: 'IN_REPAIR' });
    const turned = (data: { type: string; fault?: Fault }, type: string) =>
      data.type === type && data.fault?.id === id && data.fault.state === 'IN_REPAIR';
    await eventually(
      async () => own.messages,
      (messages) => messages.some(({ data }) => turned(data, 'fault')),
    );
    await eventually(
      async () => any.messages,
      (messages) => messages.some(({ data }) => turned(data, 'faults')),
    );
    const sensors = own.messages.flatMap(({ data }) => (data.type === 'fault' ? [data.fault.sensor.id] : []));
    expect(new Set(sensors)).toEqual(new Set([sensorId]));
    own.close();
    any.close();
  });
});

describe('the list of faults', () => {
  it('is found by sensor, place, tag, state and words, and sorted by time', async () => {
    const { id: locationId } = await ask<{ id: string }>('locations.create', { name: 'Weir' }, 'ADMIN');
    const { id: one } = await register({ name: 'Needle 1', locationId, tags: ['Weir'] });
    const { id: two } = await register({ name: 'Needle 2' });
    const [old, young] = [
      await report(one, { foundAt: ago(3 * DAY), text: 'A 100% crack_' }),
      await report(two, { foundAt: ago(DAY), ticket: 'N-77' }),
    ];
    await update(young.id, { state: 'IN_REPAIR' });
    const ids = async (input: object) => (await list({ search: 'needle', ...input })).map(({ id }) => id);
    expect(await ids({})).toEqual([young.id, old.id]);
    expect(await ids({ sortBy: 'foundAt', sortOrder: 'asc' })).toEqual([old.id, young.id]);
    expect(await ids({ sortBy: 'since' })).toEqual([young.id, old.id]);
    expect(await ids({ locationId })).toEqual([old.id]);
    expect(await ids({ locationId: 'x' })).toEqual([]);
    expect(await ids({ tag: 'WEIR' })).toEqual([old.id]);
    expect(await ids({ state: 'IN_REPAIR' })).toEqual([young.id]);
    expect(await ids({ open: false })).toEqual([]);
    expect((await list({ search: 'n-77' })).map(({ id }) => id)).toEqual([young.id]);
    expect((await list({ search: '100% CRACK_' })).map(({ id }) => id)).toEqual([old.id]);
    expect(await list({ search: '100% crackx' })).toEqual([]);
    expect(await ask('faults.getAll', { search: 'needle', take: 1, skip: 1 })).toMatchObject({
      faults: [{ id: old.id }],
      total: 2,
      pageCount: 2,
    });
  });
});

describe('a report of the health of sensors', () => {
  it('has its faults, with the days on the list, and counts them by state', async () => {
    const { id: sensorId, apiKey } = await register({ name: 'Reported' });
    await ask('sensors.heartbeat', { apiKey });
    const waiting = await report(sensorId, { foundAt: ago(9.5 * DAY), ticket: 'T-5', code: 'C-5' });
    await update(waiting.id, { state: 'WAITING', reason: 'For a part' });
    const repaired = await report(sensorId, { foundAt: ago(2.5 * DAY), text: 'Loose' });
    await update(repaired.id, { state: 'REPAIRED' });
    const asked = {
      kind: 'SENSOR_HEALTH',
      format: 'CSV',
      startDate: ago(DAY),
      endDate: new Date().toISOString(),
      filters: { sensorId },
    };
    const { id } = await ask<{ id: string }>('reports.generate', asked, 'ADMIN');
    await eventually(
      () => ask<{ status: string }>('reports.getById', { id }, 'ADMIN'),
      ({ status }) => status === 'DONE',
    );
    const answer = await fetch(`${gantry.url}/reports/${id}/file`, {
      headers: { authorization: `Bearer ${tokens.ADMIN}` },
    });
    const { records } = readCsv(new Uint8Array(await answer.arrayBuffer()));
    expect(records.filter(({ Entry }) => Entry === 'FAULT')).toMatchObject([
      {
        ...{ Sensor: 'Reported', Reason: 'The lens is dirty', Fault: 'WAITING', Code: 'C-5', Ticket: 'T-5' },
        ...{ Until: '', 'Days on the list': '9' },
      },
      { Reason: 'Loose', Fault: 'REPAIRED', 'Days on the list': '2' },
    ]);
    expect(records[0]).toMatchObject({ Entry: 'AVAILABILITY', Fault: '', 'Days on the list': '' });
  });
});

describe('a shift', () => {
  it('hands over sensors with a fault, also those that work, with the worst first', async () => {
    const { id: works, apiKey } = await register({ name: 'Works with a fault' });
    await ask('sensors.heartbeat', { apiKey });
    await report(works, { text: 'Cracked glass', ticket: 'T-6' });
    const { id: down } = await register({ name: 'Down with a fault' });
    await report(down, { text: 'No power' });
    const { id } = await ask<{ id: string }>('shifts.start', { desk: randomUUID() });
    const { summary } = await ask<{ summary: { sensors: { items: { id: string; fault: unknown }[] } } }>(
      'shifts.prepare',
      { id },
    );
    const { items } = summary.sensors;
    expect(items.find((each) => each.id === works)).toMatchObject({
      status: 'ONLINE',
      fault: { state: 'FOUND', text: 'Cracked glass', ticket: 'T-6', code: null },
    });
    const order = items.map((each) => each.id);
    expect(order.indexOf(down)).toBeLessThan(order.indexOf(works));
    await ask('shifts.handOver', { id });
    expect(await ask('shifts.getById', { id })).toMatchObject({ summary: { sensors: { items } } });
  });
});

describe('the images of a fault', () => {
  const asPng = (shade: number): string => dataUrl(png({ shade }), 'image/png');
  const addressOf = (shade: number): string =>
    `/images/${createHash('sha256').update(png({ shade })).digest('hex')}`;
  const statusOf = async (address: string, who: Who): Promise<number> =>
    (await fetch(gantry.url + address, { headers: { authorization: `Bearer ${tokens[who]}` } })).status;
  const addresses = ({ images }: FaultDetail): string[] => images.map(({ address }) => address);

  it('are attached with the report and later, in their order, and all users can read them', async () => {
    const { id: sensorId } = await register();
    const found = await report(sensorId, { images: [asPng(201), asPng(202), asPng(201)] }, 'FIELD');
    expect(addresses(found)).toEqual([addressOf(201), addressOf(202)]);
    expect(found.images[0]?.by.name).toBe('FIELD Tester');
    const changed = await update(found.id, { images: [asPng(202), asPng(203)], version: 1 });
    expect(addresses(changed)).toEqual([201, 202, 203].map(addressOf));
    expect(changed).toMatchObject({ version: 2, imageCount: 3, state: 'FOUND' });
    expect(changed.images[2]?.by.name).toBe('OPERATOR Tester');
    expect(await list({ sensorId })).toMatchObject([{ imageCount: 3 }]);
    for (const shade of [201, 202, 203]) expect(await statusOf(addressOf(shade), 'VIEWER')).toBe(200);
    const none = await report(sensorId);
    expect(none).toMatchObject({ imageCount: 0, images: [] });
  });

  it('are refused as a whole for data that is not an image, or more than a fault may have', async () => {
    const { id: sensorId } = await register();
    const before = await gantry.count('images');
    const input = { sensorId, text: 'x' };
    expect(
      (await refuse('faults.report', { ...input, images: ['https://example.org/a.jpg'] })).message,
    ).toContain('in base64');
    const six = Array.from({ length: 6 }, (_, n) => asPng(100 + n));
    expect((await refuse('faults.report', { ...input, images: six })).message).toContain('at most 5 images');
    const unknown = { ...input, sensorId: randomUUID(), images: [asPng(100)] };
    expect((await refuse('faults.report', unknown)).message).toContain('No sensor has this id');
    expect(await gantry.count('images')).toBe(before);
    const { id } = await report(sensorId);
    for (let n = 0; n < MAX_FAULT_IMAGES; n += 5)
      await update(id, { images: Array.from({ length: 5 }, (_, m) => asPng(100 + n + m)) });
    expect((await refuse('faults.update', { id, images: [asPng(199)] })).message).toContain(
      'at most 20 images',
    );
    expect((await ask<FaultDetail>('faults.getById', { id })).imageCount).toBe(MAX_FAULT_IMAGES);
  });

  it('are those of the first of several reports with one key', async () => {
    const { id: sensorId } = await register();
    const input = { images: [asPng(204)], idempotencyKey: randomUUID() };
    const all = await Promise.all(Array.from({ length: 4 }, () => report(sensorId, input)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await report(sensorId, input)).toMatchObject({ id: all[0]?.id, imageCount: 1 });
  });

  it('are kept as long as the fault, also after their sensor and the events with them are deleted', async () => {
    const { id: sensorId, apiKey } = await register();
    const { id } = await report(sensorId, { images: [asPng(205), asPng(206)] });
    const eventId = await gantry.ingest(apiKey, { images: [asPng(206)] });
    await gantry.ok('events.delete', { id: eventId }, { token: tokens.ADMIN });
    await gantry.pool.query(`UPDATE images SET touched_at = touched_at - interval '70 minutes'`);
    const carryOut = async () => {
      const run = await ask<{ id: string }>('storage.runRetention', undefined, 'ADMIN');
      await eventually(
        async () =>
          (
            await ask<{ runs: { id: string; status: string }[] }>('storage.getRetentionRuns', {}, 'ADMIN')
          ).runs.find((each) => each.id === run.id),
        (each) => each?.status === 'COMPLETED',
      );
    };
    const stored = () => Promise.all([205, 206].map((shade) => statusOf(addressOf(shade), 'ADMIN')));
    await ask('storage.setRetention', { images: 1 }, 'ADMIN');
    await carryOut();
    expect(await stored()).toEqual([200, 200]);
    await ask('sensors.delete', { id: sensorId }, 'ADMIN');
    await carryOut();
    expect(await stored()).toEqual([200, 200]);
    await gantry.pool.query('DELETE FROM faults WHERE id = $1', [id]);
    await carryOut();
    expect(await stored()).toEqual([404, 404]);
  });
});
