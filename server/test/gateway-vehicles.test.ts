import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { recordResults } from '../src/devices/messages-store.ts';
import { Passages } from '../src/devices/passages.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { devicePayload } from './device-messages.ts';
import { connect, eventOf, pathOf, processed, sendJson } from './gateway-calls.ts';
import { eventually, sharedGantry, WAITING_LOCKS } from './harness.ts';
import { jpeg } from './sample-images.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

describe('several reports about one vehicle', () => {
  const car = (state: string, plate: string, carID: string, plateConfidence = '0.9') => ({
    packetCounter: '1',
    capture_timestamp: String(Date.now()),
    plateText: plate,
    plateUTF8: plate,
    plateConfidence,
    carState: state,
    carID,
    camera_info: { SerialNumber: 'ACCC8E123456' },
  });

  it('become one event with the best plate when the last report has arrived', async () => {
    const made = await connect(gantry, 'axis-lpv');
    const before = await gantry.count('events');
    const carID = randomUUID();
    for (const [state, plate] of [
      ['new', 'MWR6677'],
      ['update', 'HWR6677'],
    ] as const) {
      await sendJson(gantry, pathOf(made.url), car(state, plate, carID));
    }
    expect((await processed(gantry, made.id, 2)).map(({ status }) => status)).toEqual(['HELD', 'HELD']);
    expect(await gantry.count('events')).toBe(before);
    await sendJson(gantry, pathOf(made.url), car('lost', 'HWR6677', carID));
    const messages = await eventually(
      () => processed(gantry, made.id, 3),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    const ids = new Set(messages.flatMap(({ eventIds }) => eventIds));
    expect(ids.size).toBe(1);
    expect(await eventOf(gantry, [...ids][0])).toMatchObject({ licensePlateNumber: 'HWR6677' });
    // A late report, and a replay of all reports, create nothing.
    await sendJson(gantry, pathOf(made.url), car('lost', 'HWR6677', carID));
    await gantry.ok('connections.replay', { connectionId: made.id }, { token });
    const again = await eventually(
      () => processed(gantry, made.id, 4),
      (all) => all.every(({ status }) => status === 'DUPLICATE'),
    );
    expect(new Set(again.flatMap(({ eventIds }) => eventIds))).toEqual(ids);
    expect(await gantry.count('events')).toBe(before + 1);
  });

  it.each([
    ['NUL', '\0'],
    ['an unpaired surrogate', '\ud800'],
  ])('become one event when the id of the vehicle contains %s', async (_, char) => {
    const made = await connect(gantry, 'axis-lpv');
    const carID = `${randomUUID()}${char}`;
    for (const state of ['new', 'lost']) {
      const sent = { ...car(state, 'B AB 1', carID), lpImage: `https://example.org/${char}.jpg` };
      await sendJson(gantry, pathOf(made.url), sent);
    }
    const messages = await eventually(
      () => processed(gantry, made.id, 2),
      (all) => all.every(({ status }) => status !== 'HELD'),
    );
    expect(messages.map(({ status }) => status)).toEqual(['STORED', 'STORED']);
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(1);
  });

  it('become one event with the plate that was read with enough confidence', async () => {
    const made = await connect(gantry, 'axis-lpv', { options: { minConfidence: 0.8 } });
    const [clear, unclear] = [randomUUID(), randomUUID()];
    await sendJson(gantry, pathOf(made.url), car('update', 'HWR6677', clear, '0.9'));
    await sendJson(gantry, pathOf(made.url), car('lost', 'HWR66', clear, '0.5'));
    await sendJson(gantry, pathOf(made.url), car('update', 'MWR6677', unclear, '0.6'));
    await sendJson(gantry, pathOf(made.url), car('lost', 'MWR6677', unclear, '0.7'));
    const messages = await eventually(
      () => processed(gantry, made.id, 4),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    const leftOut = 'The plate was left out: its confidence of 0.7 is less than 0.8';
    expect(messages.map(({ reason }) => reason)).toEqual([leftOut, leftOut, null, null]);
    const plates = await Promise.all(
      [messages[0], messages[3]].map(
        async (each) => (await eventOf(gantry, each?.eventIds[0])).licensePlateNumber,
      ),
    );
    expect(plates).toEqual([null, 'HWR6677']);
  });

  it('become one event when the group of a Dahua camera crosses a full hour', async () => {
    const made = await connect(gantry, 'dahua');
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600;
    for (const [index, plate] of ['', 'B2'].entries()) {
      const group = { GroupID: 77, CountInGroup: 2, IndexInGroup: index + 1, RealUTC: hour - 1 + index };
      const data = { ...group, TrafficCar: { PlateNumber: plate } };
      await sendJson(gantry, pathOf(made.url), { Events: [{ Code: 'TrafficJunction', Data: data }] });
      await processed(gantry, made.id, index + 1);
    }
    const messages = await eventually(
      () => processed(gantry, made.id, 2),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    const ids = new Set(messages.flatMap(({ eventIds }) => eventIds));
    expect(ids.size).toBe(1);
    const { licensePlateNumber, timestamp } = await eventOf(gantry, [...ids][0]);
    expect([licensePlateNumber, Date.parse(timestamp) / 1_000]).toEqual(['B2', hour - 1]);
  });

  it('become one event when a later report joins reports that are held under other ids', async () => {
    const made = await connect(gantry, 'openalpr');
    const before = await gantry.count('events');
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const group = JSON.parse(String(await devicePayload('openalpr-alpr_group-v2.json')));
    const frame = { ...results, results: results.results.slice(0, 1) };
    await sendJson(gantry, pathOf(made.url), { ...frame, uuid: 'frame-1' });
    await sendJson(gantry, pathOf(made.url), { ...frame, uuid: 'frame-2' });
    await processed(gantry, made.id, 2);
    const whole = {
      ...group,
      camera_id: results.camera_id,
      best_uuid: 'frame-2',
      uuids: ['frame-1', 'frame-2'],
    };
    await sendJson(gantry, pathOf(made.url), whole);
    await sendJson(gantry, pathOf(made.url), whole);
    await sendJson(gantry, pathOf(made.url), { ...frame, uuid: 'frame-1' });
    const messages = await eventually(
      () => processed(gantry, made.id, 5),
      (all) => all.every(({ status }) => ['STORED', 'DUPLICATE'].includes(status)),
    );
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(1);
    expect(await gantry.count('events')).toBe(before + 1);
  });

  it('become one event when one joins what is being stored under another id', async () => {
    const made = await connect(gantry, 'openalpr');
    const before = await gantry.count('events');
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const group = JSON.parse(String(await devicePayload('openalpr-alpr_group-v2.json')));
    const frame = { ...results, results: [{ ...results.results[0], plate_index: 0 }] };
    await sendJson(gantry, pathOf(made.url), { ...frame, uuid: 'frame-1' });
    await processed(gantry, made.id);
    // As if a process had closed the passage and were about to store its event.
    await gantry.pool.query(
      `UPDATE device_passages SET closed_at = now(), due_at = now() + interval '1 hour' WHERE connection_id = $1`,
      [made.id],
    );
    const whole = {
      ...group,
      camera_id: results.camera_id,
      best_uuid: 'frame-2',
      uuids: ['frame-1', 'frame-2'],
      plate_indexes: [0, 0],
    };
    await sendJson(gantry, pathOf(made.url), whole);
    expect((await processed(gantry, made.id, 2)).map(({ status }) => status)).toEqual(['HELD', 'HELD']);
    await gantry.pool.query(
      `UPDATE device_passages SET due_at = now() WHERE connection_id = $1 AND due_at IS NOT NULL`,
      [made.id],
    );
    const messages = await eventually(
      () => processed(gantry, made.id, 2),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(1);
    await sendJson(gantry, pathOf(made.url), whole);
    expect((await processed(gantry, made.id, 3))[0]).toMatchObject({ status: 'DUPLICATE' });
    expect(await gantry.count('events')).toBe(before + 1);
  });

  it('become one event when a report arrives again under an id that is part of a passage by now', async () => {
    const made = await connect(gantry, 'openalpr');
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const group = JSON.parse(String(await devicePayload('openalpr-alpr_group-v2.json')));
    const frame = { ...results, agent_uid: 'a', results: [{ ...results.results[0], plate_index: 0 }] };
    const whole = {
      ...group,
      camera_id: results.camera_id,
      best_uuid: 'frame-2',
      uuids: ['frame-1', 'frame-2'],
      plate_indexes: [0, 0],
    };
    const sent = [
      { ...frame, uuid: 'frame-1' },
      { ...whole, is_preview: true },
      { ...frame, uuid: 'frame-1', epoch_time: results.epoch_time + 1 },
      whole,
    ];
    for (const [index, message] of sent.entries()) {
      await sendJson(gantry, pathOf(made.url), message);
      await processed(gantry, made.id, index + 1);
    }
    const messages = await eventually(
      () => processed(gantry, made.id, 4),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(1);
  });

  it('are all the events of a message with several vehicles, and what was left out of it remains known', async () => {
    const made = await connect(gantry, 'openalpr');
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const [first, second] = results.results;
    const truncated = jpeg({ comment: 'a'.repeat(300) })
      .subarray(0, 200)
      .toString('base64');
    const frame = { ...results, agent_uid: 'a', results: [{ ...first, plate_crop_jpeg: truncated }, second] };
    await sendJson(gantry, pathOf(made.url), frame);
    const reason = 'An image in the message is truncated and was left out';
    expect(await processed(gantry, made.id)).toMatchObject([{ status: 'HELD', reason }]);
    await gantry.pool.query('UPDATE device_passages SET due_at = now() WHERE closed_at IS NULL');
    const [message] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED' && only.eventIds.length === 2,
    );
    expect(message?.reason).toBe(reason);
    const plates = await Promise.all(
      (message?.eventIds ?? []).map(async (id) => (await eventOf(gantry, id)).licensePlateNumber),
    );
    expect(plates.sort()).toEqual(['CG3L5Y', 'D2651BF']);
  });

  it('have their event, whether it is stored before or while the result of a message is recorded', async () => {
    const made = await connect(gantry, 'axis-lpv');
    const { context } = gantry.app;
    await sendJson(gantry, pathOf(made.url), car('new', 'ABC123', randomUUID()));
    const [{ id = '' } = {}] = await processed(gantry, made.id);
    const held = { id, claim: 0, status: 'HELD', reason: null, eventIds: [], retryMs: null } as const;
    // As if the process that received the message had not recorded its result yet.
    const processAgain = () =>
      gantry.pool.query(
        `UPDATE device_messages SET status = 'RECEIVED', event_ids = '{}', due_at = now() + interval '1 hour'
         WHERE id = $1`,
        [id],
      );
    await processAgain();
    const passage = async () =>
      (
        await gantry.pool.query(
          `SELECT sensor_id AS "sensorId", passage, event_id AS "eventId",
             EXISTS (${WAITING_LOCKS}) AS "isWaiting"
           FROM device_passages WHERE connection_id = $1`,
          [made.id],
        )
      ).rows[0];
    await inTransaction(context.gateways, async (tx) => {
      await recordResults(tx, [held]);
      await gantry.pool.query('UPDATE device_passages SET due_at = now() WHERE closed_at IS NULL');
      await eventually(passage, ({ eventId, isWaiting }) => eventId !== null || isWaiting);
    });
    const [stored] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED',
    );
    await processAgain();
    const key = { connectionId: made.id, ...(await passage()) };
    await new Passages(context).record([{ ...held, passages: [key] }]);
    expect(await processed(gantry, made.id)).toEqual([stored]);
    expect(stored?.eventIds).toHaveLength(1);
  });

  it('have their results recorded in the order of their messages, whatever the plan of the query', async () => {
    const made = await connect(gantry, 'gantry');
    for (const n of [1, 2])
      await sendJson(gantry, pathOf(made.url), { eventType: 'VEHICLE_DETECTION', tags: [`${n}`] });
    const [second = '', first = ''] = (await processed(gantry, made.id, 2)).map(({ id }) => id);
    // The first message is now behind the second one in the table.
    await gantry.pool.query('UPDATE device_messages SET reason = reason WHERE id = $1', [first]);
    const rest = { claim: 0, status: 'STORED', reason: null, eventIds: [], retryMs: null } as const;
    const holder = await gantry.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM device_messages WHERE id = $1 FOR NO KEY UPDATE', [first]);
      const recording = inTransaction(gantry.app.context.gateways, async (tx) => {
        await tx.execute(sql`SET LOCAL enable_nestloop = off`);
        await tx.execute(sql`SET LOCAL enable_mergejoin = off`);
        await tx.execute(sql`SET LOCAL enable_indexscan = off`);
        await tx.execute(sql`SET LOCAL enable_bitmapscan = off`);
        await recordResults(
          tx,
          [first, second].map((id) => ({ ...rest, id })),
        );
      });
      await eventually(
        async () => (await gantry.pool.query(WAITING_LOCKS)).rowCount,
        (waiting) => waiting === 1,
      );
      const { rowCount } = await holder.query(
        'SELECT FROM device_messages WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED',
        [second],
      );
      expect(rowCount).toBe(1);
      await holder.query('ROLLBACK');
      await recording;
    } finally {
      holder.release();
    }
  });

  it('become one event when no further report arrives', async () => {
    const made = await connect(gantry, 'axis-lpv');
    await sendJson(gantry, pathOf(made.url), car('new', 'ABC123', randomUUID()));
    await processed(gantry, made.id);
    await gantry.pool.query('UPDATE device_passages SET due_at = now() WHERE closed_at IS NULL');
    const [message] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED',
    );
    expect(await eventOf(gantry, message?.eventIds[0])).toMatchObject({ licensePlateNumber: 'ABC123' });
  });
});
