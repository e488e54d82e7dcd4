import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { devicePayload } from './device-messages.ts';
import {
  type Created,
  connect,
  event,
  eventOf,
  newSensor,
  pathOf,
  processed,
  send,
  sendJson,
} from './gateway-calls.ts';
import { eventually, sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

describe('an NVR', () => {
  /** Sends the report of a vehicle by a camera of the NVR. */
  const seen = async (nvr: Created, channel: string, plate: string): Promise<void> => {
    const xml = (await devicePayload('hikvision-anpr-deepinview-v58.xml')).toString();
    const body = xml
      .replace('<channelID>1<', `<channelID>${channel}<`)
      .replace('WX1234A', plate)
      .replace(/<UUID>[^<]*</, `<UUID>${randomUUID()}<`);
    await send(gantry, pathOf(nvr.url), body, { 'content-type': 'application/xml' });
  };
  const discoveries = async (connectionId: string): Promise<{ id: string; device: string }[]> =>
    (await gantry.ok('connections.getDiscoveries', { connectionId }, { token })).discoveries;
  const discovered = async (connectionId: string, device: string): Promise<{ id: string }> => {
    const found = (await discoveries(connectionId)).find((each) => each.device === device);
    if (!found) throw new Error(`${device} was not discovered`);
    return found;
  };
  const eventsOf = async (sensorId: string): Promise<number> =>
    (await gantry.ok('events.getAll', { sensorId }, { token })).total;

  it('has devices that are discovered and registered, including their earlier messages', async () => {
    const made = await connect(gantry, 'gantry', { options: { sensors: {} } });
    const nvr = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    const xml = await devicePayload('hikvision-anpr-deepinview-v58.xml');
    const headers = { 'content-type': 'application/xml' };
    await send(gantry, pathOf(nvr.url), xml, headers);
    expect((await processed(gantry, nvr.id))[0]).toMatchObject({
      status: 'UNKNOWN_DEVICE',
      eventIds: [],
    });
    const { discoveries } = await gantry.ok(
      'connections.getDiscoveries',
      { connectionId: nvr.id },
      { token },
    );
    expect(discoveries).toMatchObject([{ connectionId: nvr.id, messages: 1 }]);
    const registered = await gantry.ok(
      'connections.register',
      { id: discoveries[0].id, name: 'Lane 1' },
      { token },
    );
    expect(registered).toMatchObject({ success: true, replayed: 1 });
    const [message] = await eventually(
      () => processed(gantry, nvr.id),
      ([only]) => only?.status === 'STORED',
    );
    expect(await eventOf(gantry, message?.eventIds[0])).toMatchObject({
      sensorId: registered.sensorId,
      sensorName: 'Lane 1',
    });
    expect((await gantry.ok('connections.getDiscoveries', { connectionId: nvr.id }, { token })).total).toBe(
      0,
    );
    // A message that names no device belongs to the sensor of the connection.
    await sendJson(gantry, pathOf(made.url), event());
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'STORED' });
  });

  it('names the sensor of a discovered device after the NVR, since channels are only numbers', async () => {
    const name = 'NVR of the bus station';
    const sensorId = await newSensor(gantry, { name });
    const nvr = await connect(gantry, 'hikvision', { sensorId, options: { sensors: {} } });
    const xml = (await devicePayload('hikvision-anpr-deepinview-v58.xml')).toString();
    const long = 'c'.repeat(60);
    for (const channel of ['1', long]) {
      const body = xml
        .replace('<channelID>1<', `<channelID>${channel}<`)
        .replace('WX1234A', `W${channel.length}`);
      await send(gantry, pathOf(nvr.url), body, { 'content-type': 'application/xml' });
    }
    await processed(gantry, nvr.id, 2);
    const { discoveries } = await gantry.ok(
      'connections.getDiscoveries',
      { connectionId: nvr.id },
      { token },
    );
    expect(new Set(discoveries.map(({ device }: { device: string }) => device))).toEqual(
      new Set(['1', long]),
    );
    for (const { id, device } of discoveries) {
      expect(await gantry.refusal('connections.register', { id, name: 'ab' }, { token })).toMatchObject({
        status: 400,
      });
      const made = await gantry.ok('connections.register', { id }, { token });
      const sensor = await gantry.ok('sensors.getById', { id: made.sensorId }, { token });
      expect(sensor.name).toBe(`${name} ${device}`.slice(0, 50));
    }
  });

  it('has all earlier messages of a registered device read again, however many others have sent', async () => {
    const nvr = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    for (const plate of ['W1', 'W2', 'W3']) await seen(nvr, '1', plate);
    await seen(nvr, 'İkitelli 2', 'W4');
    const [newest] = await processed(gantry, nvr.id, 4);
    const copied = 10_001;
    await gantry.pool.query(
      `INSERT INTO device_messages (id, connection_id, received_at, status, reason, method, path, content_type, bytes, parts)
       SELECT ('ffffffff-ffff-7fff-8fff-' || lpad(to_hex(n), 12, '0'))::uuid,
         connection_id, received_at, status, reason, method, path, content_type, bytes, parts
       FROM device_messages, generate_series(1, $2::integer) AS n WHERE id = $1`,
      [newest?.id, copied],
    );
    const first = await gantry.ok(
      'connections.register',
      { id: (await discovered(nvr.id, '1')).id },
      { token },
    );
    expect(first).toMatchObject({ replayed: 3 });
    await eventually(
      () => eventsOf(first.sensorId),
      (n) => n === 3,
    );
    const second = await gantry.ok(
      'connections.register',
      { id: (await discovered(nvr.id, 'İkitelli 2')).id },
      { token },
    );
    await gantry.pool.query(`DELETE FROM device_messages WHERE id > 'ffffffff-ffff-7fff-8fff-000000000000'`);
    expect(second).toMatchObject({ replayed: copied + 1 });
    expect(await discoveries(nvr.id)).toEqual([]);
  });

  it('is named as such when two cameras of Frigate report over a connection without sensors', async () => {
    const made = await connect(gantry, 'frigate');
    const sentBy = async (camera: string, id: string) => {
      const after = {
        id,
        camera,
        label: 'car',
        start_time: Date.now() / 1_000,
        recognized_license_plate: 'AB123',
      };
      await sendJson(gantry, pathOf(made.url), { type: 'end', before: {}, after });
    };
    await sentBy('gate', '1700170460.1-a');
    await sentBy('gate', '1700170461.1-b');
    await eventually(
      () => processed(gantry, made.id),
      (messages) => messages.every(({ status }) => status === 'STORED'),
    );
    expect(await discoveries(made.id)).toEqual([]);
    await sentBy('driveway', '1700170462.1-c');
    const [last] = await eventually(
      () => processed(gantry, made.id),
      ([newest]) => newest?.status === 'STORED' && newest.reason !== null,
    );
    expect(last?.reason).toMatch(/device driveway is not the only one.*options\.sensors/);
    expect((await discoveries(made.id)).map(({ device }) => device).sort()).toEqual(['driveway', 'gate']);
  });

  it('has a device registered once, when two users do it at once', async () => {
    const nvr = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    await seen(nvr, '1', 'W1');
    await processed(gantry, nvr.id);
    const { id } = await discovered(nvr.id, '1');
    const before = await gantry.count('sensors');
    const answers = await Promise.all(
      [1, 2].map(() => gantry.call('connections.register', { id }, { token })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await gantry.count('sensors')).toBe(before + 1);
  });

  it('has a device discovered again after its sensor was deleted, and can be changed', async () => {
    const nvr = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    await seen(nvr, '1', 'W1');
    await processed(gantry, nvr.id);
    const { sensorId } = await gantry.ok(
      'connections.register',
      { id: (await discovered(nvr.id, '1')).id },
      { token },
    );
    await eventually(
      () => processed(gantry, nvr.id),
      ([only]) => only?.status === 'STORED',
    );
    await gantry.ok('sensors.delete', { id: sensorId }, { token });
    expect(await gantry.ok('connections.getById', { id: nvr.id }, { token })).toMatchObject({
      options: { sensors: {} },
    });
    await eventually(
      () => gantry.app.context.connections.byId(nvr.id),
      (known) => Object.keys(known?.options.sensors ?? {}).length === 0,
    );
    await seen(nvr, '1', 'W2');
    expect((await processed(gantry, nvr.id, 2))[0]).toMatchObject({ status: 'UNKNOWN_DEVICE' });
    expect(await discoveries(nvr.id)).toMatchObject([{ device: '1', messages: 1 }]);
  });

  it('that still names a deleted sensor can be changed, and has its device discovered', async () => {
    const nvr = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    const options = { sensors: { 1: randomUUID() } };
    await gantry.pool.query('UPDATE connections SET options = $2 WHERE id = $1', [nvr.id, options]);
    const update = (changed: object) => ({ id: nvr.id, options: changed });
    await gantry.ok('connections.update', update({ ...options, speedUnit: 'mph' }), { token });
    const other = update({ sensors: { ...options.sensors, 2: randomUUID() } });
    expect(await gantry.refusal('connections.update', other, { token })).toMatchObject({ status: 400 });
    await seen(nvr, '1', 'W1');
    expect((await processed(gantry, nvr.id))[0]).toMatchObject({ status: 'UNKNOWN_DEVICE' });
    expect(await discoveries(nvr.id)).toMatchObject([{ device: '1' }]);
    expect(await gantry.ok('connections.tryReading', { id: nvr.id }, { token })).toMatchObject({
      status: 'UNKNOWN_DEVICE',
      reason: 'The device 1 is not assigned to a sensor',
      events: [],
    });
  });

  it('has a liveness signal of an unknown device shown as such, also when it is only tried', async () => {
    const nvr = await connect(gantry, 'dahua', { options: { sensors: {} } });
    await sendJson(gantry, pathOf(nvr.url), { Active: 'keepAlive', DeviceID: 'nvr' });
    const [message] = await processed(gantry, nvr.id);
    expect(message).toMatchObject({ status: 'UNKNOWN_DEVICE' });
    const tried = await gantry.ok('connections.tryReading', { id: nvr.id }, { token });
    expect(tried).toMatchObject({ status: 'UNKNOWN_DEVICE', reason: message?.reason });
  });

  it('keeps a registration that somebody makes while another changes the options', async () => {
    const nvr = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    const { updatedAt, options } = await gantry.ok('connections.getById', { id: nvr.id }, { token });
    await seen(nvr, '1', 'W1');
    await processed(gantry, nvr.id);
    const { id } = await discovered(nvr.id, '1');
    const { sensorId } = await gantry.ok('connections.register', { id }, { token });
    const change = { id: nvr.id, options: { ...options, speedUnit: 'mph' } };
    expect(
      await gantry.refusal('connections.update', { ...change, expectedUpdatedAt: updatedAt }, { token }),
    ).toMatchObject({ status: 409 });
    const now = await gantry.ok('connections.getById', { id: nvr.id }, { token });
    expect(now.options).toEqual({ sensors: { 1: sensorId } });
    await gantry.ok(
      'connections.update',
      { ...change, options: { ...now.options, speedUnit: 'mph' }, expectedUpdatedAt: now.updatedAt },
      { token },
    );
  });
});

describe('counts of intervals', () => {
  const publication = () => devicePayload('datex2-v3-measureddata-nl-ndw.xml');
  const SITE = 'GAD02_Amstd_31_0';
  const xml = { 'content-type': 'application/xml' };

  it('of several sites need a sensor for each', async () => {
    const made = await connect(gantry, 'datex2', { options: { periodSeconds: 60 } });
    await send(gantry, pathOf(made.url), await publication(), xml);
    expect((await processed(gantry, made.id))[0]).toMatchObject({
      status: 'AGGREGATE',
      reason:
        '4 counts of intervals were read; The counts are of 3 devices, and were not stored: assign each to a sensor in options.sensors',
      eventIds: [],
    });
  });

  it('of sites without a sensor are named, and not listed as discoveries', async () => {
    const sensorId = await newSensor(gantry);
    const options = { periodSeconds: 60, sensors: { [SITE]: sensorId } };
    const made = await connect(gantry, 'datex2', { options });
    await send(gantry, pathOf(made.url), await publication(), xml);
    const [message] = await processed(gantry, made.id);
    expect(message).toMatchObject({ status: 'AGGREGATE', eventIds: [] });
    expect(message?.reason).toMatch(/these devices are not assigned to a sensor: RWS01\S+, RWS01\S+$/);
    const { rows } = await gantry.pool.query(
      `SELECT DISTINCT seconds, content -> 'status' AS status FROM traffic_periods WHERE sensor_id = $1`,
      [sensorId],
    );
    expect(rows).toEqual([expect.objectContaining({ seconds: 60 })]);
    const { total } = await gantry.ok('connections.getDiscoveries', { connectionId: made.id }, { token });
    expect(total).toBe(0);
  });
});
