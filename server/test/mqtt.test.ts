import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { connectDevice, startBroker } from './mqtt-broker.ts';

const QUICK = { timings: { leadershipMs: 100, refreshCachesMs: 500, sweepPassagesMs: 100 } };

const closing: (() => Promise<unknown>)[] = [];

const broker = await startBroker(0, ['gantry', 'secret']);
const gantry = await sharedGantry({
  config: { MQTT_URL: `mqtt://gantry:secret@127.0.0.1:${broker.port}` },
  overrides: QUICK,
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await broker.kill();
});

const device = async () => {
  const client = await connectDevice(`mqtt://gantry:secret@127.0.0.1:${broker.port}`);
  closing.push(() => client.endAsync());
  return (topic: string, message: unknown) => client.publishAsync(topic, JSON.stringify(message), { qos: 1 });
};

/** A sensor that is connected over MQTT, once the service listens to its topics. */
const connect = async (format: string, options: object = {}, deviceId = `mqtt-${randomUUID()}`) => {
  const token = await gantry.tokenFor('ADMIN');
  const sensor = await gantry.ok(
    'sensors.create',
    { name: 'Over MQTT', deviceId, type: 'CAMERA' },
    { token },
  );
  const connection = await gantry.ok(
    'connections.create',
    { sensorId: sensor.id, format, options },
    { token },
  );
  const { id: connectionId, topicsWarning } = connection;
  return { deviceId, sensorId: sensor.id, connectionId, topicsWarning };
};

const eventsOf = async (sensorId: string) => {
  const token = await gantry.tokenFor('ADMIN');
  return (await gantry.ok('events.getAll', { sensorId, take: 100 }, { token })).events;
};
const messagesOf = async (connectionId: string) => {
  const token = await gantry.tokenFor('ADMIN');
  return (await gantry.ok('connections.getMessages', { connectionId, take: 100 }, { token })).messages;
};

describe('messages over MQTT', () => {
  it('become events of the sensor whose device ID the topic contains, once', async () => {
    const { deviceId, sensorId, connectionId } = await connect('gantry');
    const other = await connect('gantry');
    const publish = await device();
    const event = {
      eventType: 'SPEED_DETECTION',
      vehicleSpeed: 61,
      timestamp: new Date().toISOString(),
      idempotencyKey: randomUUID(),
    };
    // Until the subscription exists, the broker has no recipient for the message.
    await eventually(
      async () => {
        await publish(`gantry/${deviceId}/events`, event);
        return (await eventsOf(sensorId)).length;
      },
      (count) => count > 0,
    );
    await publish(`gantry/${deviceId}/events`, event);
    await eventually(
      () => messagesOf(connectionId),
      (messages) => messages.some(({ status }: { status: string }) => status === 'DUPLICATE'),
    );
    expect(await eventsOf(sensorId)).toMatchObject([{ eventType: 'SPEED_DETECTION', vehicleSpeed: 61 }]);
    expect(await eventsOf(other.sensorId)).toEqual([]);
    expect(await messagesOf(other.connectionId)).toEqual([]);
  });

  it('that cannot arrive, or arrive from every device, are announced by a warning', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const wild = await connect('gantry', {}, 'lane/+/camera');
    expect(wild.topicsWarning).toBe('NO_TOPIC');
    const { topicsWarning } = await gantry.ok('connections.getById', { id: wild.connectionId }, { token });
    expect(topicsWarning).toBe('NO_TOPIC');
    const axis = await connect('axis-lpv');
    expect(axis.topicsWarning).toBe('EVERY_DEVICE');
    const listed = await gantry.ok('connections.getAll', { sensorId: axis.sensorId }, { token });
    expect(listed.connections).toMatchObject([{ topicsWarning: 'EVERY_DEVICE' }]);
    const topics = ['axis/B8A44F/event/tns:axis/CameraApplicationPlatform/ALPV.AllPlates'];
    const changed = await gantry.ok(
      'connections.update',
      { id: axis.connectionId, options: { topics } },
      { token },
    );
    expect(changed.topicsWarning).toBeNull();
    for (const [format, options] of [
      ['gantry', {}],
      ['axis-aoa', { sensors: { B8A44F: axis.sensorId } }],
      ['hikvision', {}],
      ['ops243', {}],
    ] as const)
      expect([format, (await connect(format, options)).topicsWarning]).toEqual([format, null]);

    // The wildcard in the device ID of the first connection must not make it receive from this one.
    const neighbour = await connect('gantry', {}, 'lane/1/camera');
    const publish = await device();
    await eventually(
      async () => {
        await publish('gantry/lane/1/camera/heartbeat', {});
        return (await messagesOf(neighbour.connectionId)).length;
      },
      (count) => count > 0,
    );
    expect(await messagesOf(wild.connectionId)).toEqual([]);
  });

  it('are refused above 10 MB, as over HTTP, and do not delay others', async () => {
    const { deviceId, connectionId } = await connect('gantry');
    const client = await connectDevice(`mqtt://gantry:secret@127.0.0.1:${broker.port}`);
    closing.push(() => client.endAsync());
    const publish = (body: string | Buffer) =>
      client.publishAsync(`gantry/${deviceId}/heartbeat`, body, { qos: 1 });
    await eventually(
      async () => {
        await publish('a');
        return (await messagesOf(connectionId)).length;
      },
      (count) => count > 0,
    );
    await publish(Buffer.alloc(10 * 1024 * 1024 + 1, 'x'));
    await publish('next');
    const messages = await eventually(
      () => messagesOf(connectionId),
      (all) => all.some(({ bytes }: { bytes: number }) => bytes === 4),
    );
    expect(messages.every(({ bytes }: { bytes: number }) => bytes <= 4)).toBe(true);
  });

  it('are kept by the broker while the service is stopped, and stored once after its start', async () => {
    const own = await startBroker();
    closing.push(() => own.kill());
    const config = { MQTT_URL: own.url, MQTT_CLIENT_ID: 'gantry-restarted', DATABASE_URL: '' };
    const first = await startGantry({
      config: { MQTT_URL: config.MQTT_URL, MQTT_CLIENT_ID: 'r' },
      overrides: QUICK,
    });
    closing.push(() => first.stop());
    const client = await connectDevice(own.url);
    closing.push(() => client.endAsync());
    const token = await first.tokenFor('ADMIN');
    const sensor = await first.ok(
      'sensors.create',
      { name: 'Away', deviceId: 'away', type: 'CAMERA' },
      { token },
    );
    await first.ok('connections.create', { sensorId: sensor.id, format: 'gantry' }, { token });
    const publish = (n: number) =>
      client.publishAsync(
        'gantry/away/events',
        JSON.stringify({
          eventType: 'VEHICLE_DETECTION',
          timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
          idempotencyKey: `n${n}`,
        }),
        { qos: 1 },
      );
    const stored = async (): Promise<number> => Number(await first.count('events'));
    await eventually(
      async () => {
        await publish(0);
        return stored();
      },
      (count) => count === 1,
    );
    // The writer is held up, so that a message is received and not stored.
    const lock = await first.pool.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE device_messages IN ACCESS EXCLUSIVE MODE');
    await publish(1);
    await publish(2);
    await lock.query('ROLLBACK');
    lock.release();
    await eventually(stored, (count) => count === 3);
  });

  it('of a device that does not send again are stored once after the database was unavailable', async () => {
    const topic = `radar/${randomUUID()}`;
    const { sensorId, connectionId } = await connect('ops243', { topics: [topic] });
    const sender = await connectDevice(`mqtt://gantry:secret@127.0.0.1:${broker.port}`);
    closing.push(() => sender.endAsync());
    const publish = (line: string) => sender.publishAsync(topic, line, { qos: 1 });
    await eventually(
      async () => {
        await publish('A+033');
        return (await eventsOf(sensorId)).length;
      },
      (count) => count > 0,
    );
    const { gateways } = gantry.app.context as never as { gateways: { $client: { query: unknown } } };
    const { query } = gateways.$client;
    let refusals = 0;
    gateways.$client.query = async () => {
      refusals++;
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    };
    try {
      await publish('A+077');
      await eventually(
        async () => refusals,
        (count) => count > 1,
      );
    } finally {
      gateways.$client.query = query;
    }
    const withLine = async () => {
      const token = await gantry.tokenFor('ADMIN');
      const messages: { id: string }[] = await messagesOf(connectionId);
      const details = await Promise.all(
        messages.map(({ id }) => gantry.ok('connections.getMessage', { id }, { token })),
      );
      return details.filter(({ parts }) => parts[0].text === 'A+077').length;
    };
    await eventually(withLine, (count) => count > 0);
    // Longer than it takes to store the messages that are on disk.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await withLine()).toBe(1);
    expect(
      (await eventsOf(sensorId)).filter(({ vehicleSpeed }: { vehicleSpeed: number }) => vehicleSpeed === 77),
    ).toHaveLength(1);
  });

  it('of Frigate about one vehicle become one event', async () => {
    const { sensorId } = await connect('frigate');
    const publish = await device();
    const id = `${Date.now() / 1000}-abcdef`;
    const seen = (type: string, plate: string | null) => ({
      type,
      before: {},
      after: {
        id,
        camera: 'front',
        label: 'car',
        start_time: Date.now() / 1000,
        frame_time: Date.now() / 1000,
        ...(plate && { recognized_license_plate: plate, recognized_license_plate_score: 0.9 }),
      },
    });
    await eventually(
      async () => {
        await publish('frigate/events', seen('new', null));
        const { rows } = await gantry.pool.query('SELECT 1 FROM device_passages WHERE sensor_id = $1', [
          sensorId,
        ]);
        return rows.length;
      },
      (count) => count > 0,
    );
    await publish('frigate/events', seen('update', 'AB 123'));
    await publish('frigate/events', seen('end', 'AB 123'));
    const events = await eventually(
      () => eventsOf(sensorId),
      (found) => found.length > 0,
      60_000,
    );
    expect(events).toMatchObject([{ licensePlateNumber: 'AB 123' }]);
  });
});
