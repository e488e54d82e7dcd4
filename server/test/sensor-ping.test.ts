import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDeviceAddress } from '../src/sensors/ping.ts';
import { expectBetween, type Gantry, startGantry } from './harness.ts';

describe('the address of a device', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', null],
    [' 10.0.0.1 ', '10.0.0.1', null],
    ['10.0.0.1:8080', '10.0.0.1', 8080],
    ['camera-7', 'camera-7', null],
    ['camera_7.example.org.', 'camera_7.example.org.', null],
    ['camera.example.org:1', 'camera.example.org', 1],
    ['camera.example.org:65535', 'camera.example.org', 65_535],
    ['::1', '::1', null],
    ['fe80::1%eth0', 'fe80::1%eth0', null],
    ['2001:db8::1', '2001:db8::1', null],
    ['[2001:db8::1]', '2001:db8::1', null],
    ['[2001:db8::1]:554', '2001:db8::1', 554],
  ])('%j is parsed', (text, host, port) => {
    expect(parseDeviceAddress(text)).toEqual({ host, port });
  });

  it.each([
    '',
    ':80',
    'host:',
    'host:0',
    'host:65536',
    'host:123456',
    'host:http',
    'host:-1',
    '10.0.0.1/24',
    'http://10.0.0.1',
    'rtsp://10.0.0.1:554/live',
    'two words',
    'a..b',
    '-a',
    'a-',
    '.',
    'user@host',
    '[10.0.0.1]:80',
    '[::1',
    '[::1]x',
    '[]:80',
    '1:2:3',
    'a\u0000b',
    'a\nb',
    'käse',
    'h'.repeat(64),
    'h.'.repeat(127),
  ])('%j is invalid', (text) => {
    expect(parseDeviceAddress(text)).toBeNull();
  });

  it('in any other form causes no error, and is the same after formatting and parsing again', () => {
    const piece = fc.constantFrom(
      '10.0.0.1',
      '::1',
      'cam',
      '.',
      ':',
      '[',
      ']',
      '80',
      '%',
      '-',
      ' ',
      '99999',
      '\u0000',
      '😀',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (address) => {
        const read = parseDeviceAddress(address);
        if (read === null) return;
        expect(
          parseDeviceAddress(`[${read.host}]:${read.port ?? 80}`) ??
            parseDeviceAddress(`${read.host}:${read.port ?? 80}`),
        ).toEqual({ host: read.host, port: read.port ?? 80 });
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('sensors.ping', () => {
  let gantry: Gantry;
  let token: string;
  let device: Server;
  let port: number;
  beforeAll(async () => {
    gantry = await startGantry({ config: { PING_ALLOW_HOSTS: '127.0.0.1,localhost' } });
    token = await gantry.tokenFor('OPERATOR');
    device = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(device, 'listening');
    port = (device.address() as AddressInfo).port;
  });
  afterAll(async () => {
    device.close();
    await gantry.stop();
  });

  const create = (ipAddress: string | null) =>
    gantry.ok(
      'sensors.create',
      { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', ipAddress },
      { token },
    );
  const ping = (id: string) => gantry.call('sensors.ping', { id }, { token });

  it('records when a device answered, and how fast', async () => {
    const { id } = await create(`127.0.0.1:${port}`);
    const asked = Date.now();
    const { body } = await ping(id);
    expect(body.result.data.json).toEqual({
      id,
      reachable: true,
      latencyMs: expect.any(Number),
      lastPing: expect.stringMatching(/Z$/),
    });
    expect(body.result.data.json.latencyMs).toBeGreaterThanOrEqual(0);
    expect(body.result.data.meta.values).toEqual({ lastPing: ['Date'] });
    expectBetween(body.result.data.json.lastPing, asked, Date.now());
    expect(await gantry.ok('sensors.getById', { id })).toMatchObject({
      lastPing: body.result.data.json.lastPing,
      lastHeartbeat: null,
      lastCommunication: null,
      status: 'OFFLINE',
    });
  });

  it('counts a refused connection as an answer', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port: closed } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    for (const address of [`127.0.0.1:${closed}`, `localhost:${closed}`]) {
      expect((await ping((await create(address)).id)).body.result.data.json).toMatchObject({
        reachable: true,
      });
    }
  });

  it('tries the usual ports when the address contains none', async () => {
    expect((await ping((await create('127.0.0.1')).id)).body.result.data.json.reachable).toBe(true);
  });

  it.each(['no-such-host.invalid', 'no-such-host.invalid:80', '255.255.255.255', '999.999.1.1'])(
    'reports in time that %s does not answer, and keeps the time of the last answer',
    async (address) => {
      const { id } = await create(`127.0.0.1:${port}`);
      const { lastPing } = (await ping(id)).body.result.data.json;
      await gantry.ok('sensors.update', { id, ipAddress: address }, { token });
      expect((await ping(id)).body.result.data.json).toEqual({
        id,
        reachable: false,
        latencyMs: null,
        lastPing,
      });
    },
  );

  it('refuses a sensor without an address, or with one that cannot be connected to', async () => {
    const { status, body } = await ping((await create(null)).id);
    expect({ status, message: body.error.json.message }).toEqual({
      status: 400,
      message: 'This sensor has no ipAddress: set one, then ping it',
    });
    for (const address of ['http://10.0.0.1/', '10.0.0.0/24', '😀', 'host:99999', 'a b', '"; --']) {
      const answer = await ping((await create(address)).id);
      expect(answer.status, address).toBe(400);
      expect(answer.body.error.json.message).toContain(address);
    }
  });
});

describe('sensors.ping to the machine of the service or its link', () => {
  let gantry: Gantry;
  let token: string;
  beforeAll(async () => {
    gantry = await startGantry({ config: { PING_ALLOW_HOSTS: '127.0.0.7:8080,[::1]' } });
    token = await gantry.tokenFor('OPERATOR');
  });
  afterAll(() => gantry.stop());

  const ping = async (ipAddress: string) => {
    const sensor = { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', ipAddress };
    const { id } = await gantry.ok('sensors.create', sensor, { token });
    return gantry.call('sensors.ping', { id }, { token });
  };

  it.each([
    '127.0.0.1',
    '127.0.0.1:5432',
    '127.8.9.10',
    'localhost',
    'localhost:22',
    '0.0.0.0',
    '0.0.0.0:80',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '::',
    '[::ffff:127.0.0.1]:80',
    '::ffff:7f00:1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '::127.0.0.1',
    '169.254.169.254',
    '169.254.1.1:80',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%eth0',
    '[febf::1]:80',
    'fd00:ec2::254',
    '168.63.129.16',
    '127.0.0.7:8081',
    '127.0.0.7',
  ])('is refused for %s, with the setting that allows it', async (address) => {
    const { status, body } = await ping(address);
    expect(status).toBe(400);
    expect(body.error.json.message).toContain(`"${address}" leads to the machine of this service`);
    expect(body.error.json.message).toContain('PING_ALLOW_HOSTS');
  });

  it.each(['127.0.0.7:8080', '::1', '[::1]:80', '[0:0::1]:80'])(
    'is made to %s, which is allowed',
    async (address) => {
      expect((await ping(address)).status).toBe(200);
    },
  );

  it('is made to devices in private networks', async () => {
    const addresses = ['10.255.255.1:9', '192.168.255.254:9', 'fd12:3456::1'];
    const answers = await Promise.all(addresses.map(ping));
    expect(answers.map(({ status }) => status)).toEqual(addresses.map(() => 200));
  }, 60_000);
});
