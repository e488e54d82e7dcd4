import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { devicePayload } from './formats/reading.ts';
import { connect, eventOf, pathOf, processed, sendJson } from './gateway-calls.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';

let gantry: Gantry;
let token: string;
beforeAll(async () => {
  gantry = await startGantry();
  token = await gantry.tokenFor('ADMIN');
});
afterAll(() => gantry.stop());

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
    // A late one, and all of them again, create nothing.
    await sendJson(gantry, pathOf(made.url), car('lost', 'HWR6677', carID));
    await gantry.ok('connections.replay', { connectionId: made.id }, { token });
    const again = await eventually(
      () => processed(gantry, made.id, 4),
      (all) => all.every(({ status }) => status === 'DUPLICATE'),
    );
    expect(new Set(again.flatMap(({ eventIds }) => eventIds))).toEqual(ids);
    expect(await gantry.count('events')).toBe(before + 1);
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
    await sendJson(gantry, pathOf(made.url), { ...results, uuid: 'frame-1' });
    await sendJson(gantry, pathOf(made.url), { ...results, uuid: 'frame-2' });
    await processed(gantry, made.id, 2);
    const whole = {
      ...group,
      camera_id: results.camera_id,
      best_uuid: 'frame-2',
      uuids: ['frame-1', 'frame-2'],
    };
    await sendJson(gantry, pathOf(made.url), whole);
    await sendJson(gantry, pathOf(made.url), whole);
    await sendJson(gantry, pathOf(made.url), { ...results, uuid: 'frame-1' });
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
    // As if a process had closed it and were about to store its event.
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
