import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { programPath } from '../../../server/test/build-programs.ts';
import { eventually, expectBetween, type Gantry, startGantry } from '../../../server/test/harness.ts';
import { lengthOf } from '../../../server/test/test-length.ts';

/** How often the program is killed while it is sent events. */
const LIVES = lengthOf({ gate: 3, full: 6 });

const PROGRAM = programPath('edge');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const scratch = await mkdtemp(join(tmpdir(), 'gantry-edge-'));
let folders = 0;
const newFolder = (): string => join(scratch, String(folders++));

/** The bytes of the messages that the spool in this folder holds. A file that is removed meanwhile has none. */
const spooledBytes = async (folder: string): Promise<number> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.spool'));
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((total, size) => total + size, 0);
};

const running: ChildProcess[] = [];
const startEdge = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  wrapper: readonly string[] = [],
) => {
  const [command = '', ...rest] = [...wrapper, process.execPath, PROGRAM, ...args];
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  running.push(child);
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  child.stdin.on('error', () => undefined);
  return { child, log: () => log, ended: once(child, 'exit') };
};
type Edge = ReturnType<typeof startEdge>;

const addressOf = async (edge: Edge): Promise<string> =>
  (await eventually(async () => /listens on (\S+)/.exec(edge.log())?.[1] ?? '', Boolean)) ?? '';

const post = (address: string, body: string): Promise<Response> =>
  fetch(`${address}/events`, { method: 'POST', body });

const servers: Server[] = [];

/**
 * A service that passes the events of each request to `answer`, and responds with the status that it returns, in the format
 * of `events.ingestBatch`.
 */
const startReceiver = async (answer: (events: readonly { n: number }[]) => Promise<number> | number) => {
  const server = createServer(async (request, response) => {
    const { json } = JSON.parse(await textOf(request));
    const status = await answer(json.events.map(({ metadata }: { metadata: { n: number } }) => metadata));
    const results = json.events.map(() => ({ eventId: 'x', duplicate: false }));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ result: { data: { json: { success: true, results } } } }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe('the edge buffer, with a service', () => {
  let service: Gantry;
  let apiKey: string;

  beforeAll(async () => {
    service = await startGantry();
    apiKey = await service.registerSensor();
  });
  afterAll(async () => {
    await service.stop();
    await rm(scratch, { recursive: true, force: true });
  });

  const stored = async (): Promise<number> => Number(await service.count('events'));

  const eventOf = (n: number): string =>
    JSON.stringify({ eventType: 'SPEED_DETECTION', vehicleSpeed: 30 + (n % 50), metadata: { n } });

  it('forwards its standard input, and ends with it', async () => {
    const before = await stored();
    const { child, ended, log } = startEdge(['--url', service.url, '--spool', newFolder()], {
      GANTRY_API_KEY: apiKey,
    });
    child.stdin.end(`${Array.from({ length: 500 }, (_, n) => eventOf(n)).join('\n')}\nno JSON\n`);
    expect(await ended).toEqual([0, null]);
    expect(await stored()).toBe(before + 500);
    expect(log()).toMatch(/1 messages were refused .*This is not JSON/);
  });

  it('loses and duplicates nothing when it is killed repeatedly', async () => {
    const before = await stored();
    const folder = newFolder();
    const args = ['--url', service.url, '--spool', folder, '--listen', '0', '--no-stdin'];
    let accepted = 0;
    let next = 1_000_000;
    for (let life = 0; life < LIVES; life++) {
      const edge = startEdge(args, { GANTRY_API_KEY: apiKey });
      const address = await addressOf(edge);
      const before = accepted;
      const kill = async (): Promise<void> => {
        await sleep(150 + life * 70);
        await eventually(
          async () => accepted - before,
          (count) => count >= 40,
        );
        edge.child.kill('SIGKILL');
      };
      const killed = kill();
      let isAlive = true;
      void killed.then(() => (isAlive = false));
      while (isAlive) {
        const events = Array.from({ length: 20 }, () => eventOf(next++));
        // A request without an answer may have been stored; a device would repeat it with its own key.
        const keyed = events.map((event, n) =>
          JSON.stringify({
            ...JSON.parse(event),
            timestamp: new Date().toISOString(),
            idempotencyKey: `k${next}-${n}`,
          }),
        );
        for (let isAnswered = false; !isAnswered && isAlive; ) {
          isAnswered = await post(address, keyed.join('\n')).then(
            (response) => response.ok,
            () => false,
          );
          if (isAnswered) accepted += events.length;
        }
      }
      await killed;
      await edge.ended;
    }
    const last = startEdge(args, { GANTRY_API_KEY: apiKey });
    const address = await addressOf(last);
    const waiting = async () =>
      ((await (await fetch(`${address}/status`)).json()) as { waitingBytes: number }).waitingBytes;
    await eventually(waiting, (bytes) => bytes === 0, 60_000);
    expect(accepted).toBeGreaterThan(100);
    const count = (await stored()) - before;
    // Each life may have stored one request that it did not answer.
    expect(count).toBeGreaterThanOrEqual(accepted);
    expect(count).toBeLessThanOrEqual(accepted + LIVES * 20);
    const keys = "(SELECT DISTINCT metadata -> 'n' FROM events WHERE (metadata ->> 'n')::int >= 1000000)";
    expect(Number(await service.count(keys))).toBe(count);
    last.child.kill('SIGTERM');
    expect(await last.ended).toEqual([0, null]);
  });

  it('says of which time it sends everything, but not across a restart', async () => {
    const token = await service.tokenFor('ADMIN');
    const { id: sensorId, apiKey: key } = await service.ok(
      'sensors.create',
      { name: 'Radar', deviceId: 'edge-observed', type: 'RADAR' },
      { token },
    );
    const times = async (): Promise<number[]> =>
      (await service.ok('events.getAll', { sensorId, sortOrder: 'asc' }, { token })).events.map(
        ({ timestamp }: { timestamp: string }) => Date.parse(timestamp),
      );
    const folder = newFolder();
    for (const before of [0, 3]) {
      const { child, ended } = startEdge(['--url', service.url, '--spool', folder], { GANTRY_API_KEY: key });
      for (const n of [1, 2, 3]) {
        child.stdin.write(`${eventOf(n)}\n`);
        await eventually(times, (all) => all.length === before + n);
      }
      child.stdin.end();
      expect(await ended).toEqual([0, null]);
    }
    const { rows } = await service.pool.query(
      'SELECT since, until FROM traffic_observed WHERE sensor_id = $1 ORDER BY since',
      [sensorId],
    );
    const [first = 0, , third = 0, fourth = 0, , sixth = 0] = await times();
    expect(rows.map(({ since, until }) => [since.getTime(), until.getTime()])).toEqual([
      [first, third],
      [fourth, sixth],
    ]);
  });

  it('is not held up by a clock that is ahead', async () => {
    const before = await stored();
    const folder = newFolder();
    const ahead = 'const now = Date.now; Date.now = () => now() + 3600000;';
    const edge = startEdge(['--url', service.url, '--spool', folder], {
      GANTRY_API_KEY: apiKey,
      NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(ahead)}"`,
    });
    edge.child.stdin.write(`${eventOf(1)}\n`);
    const refused = () => readFile(join(folder, 'refused.jsonl'), 'utf8').catch(() => '');
    await eventually(refused, (text) => text.includes('timestamp'));
    const own = { ...JSON.parse(eventOf(2)), timestamp: new Date().toISOString() };
    edge.child.stdin.end(`${JSON.stringify(own)}\n`);
    expect(await edge.ended).toEqual([0, null]);
    expect(await stored()).toBe(before + 1);
  });

  it('keeps refused events with the reason, and forwards the others', async () => {
    const before = await stored();
    const folder = newFolder();
    const { child, ended } = startEdge(['--url', service.url, '--spool', folder], { GANTRY_API_KEY: apiKey });
    child.stdin.end(`{"eventType":"NONSENSE"}\n${eventOf(1)}\n`);
    expect(await ended).toEqual([0, null]);
    expect(await stored()).toBe(before + 1);
    const refused = JSON.parse(await readFile(join(folder, 'refused.jsonl'), 'utf8'));
    expect(refused).toMatchObject({
      event: { eventType: 'NONSENSE' },
      reason: expect.stringContaining('eventType'),
    });
  });

  it('keeps a line that is too long with the refused ones, and forwards the others', async () => {
    const before = await stored();
    const folder = newFolder();
    const { child, ended, log } = startEdge(['--url', service.url, '--spool', folder], {
      GANTRY_API_KEY: apiKey,
    });
    const long = JSON.stringify({ eventType: 'VEHICLE_DETECTION', images: ['x'.repeat(1_000_000)] });
    child.stdin.end(`${long}\n${eventOf(1)}\n`);
    expect(await ended).toEqual([0, null]);
    expect(await stored()).toBe(before + 1);
    const reason = `The line of ${long.length} characters is longer than 1000000`;
    expect(log()).toContain(reason);
    const refused = JSON.parse(await readFile(join(folder, 'refused.jsonl'), 'utf8'));
    expect(refused).toMatchObject({ text: long, reason });
  });

  it('forwards lines with any character but a line break, and reads on after a line without end', async () => {
    const before = await stored();
    const folder = newFolder();
    const { child, ended } = startEdge(['--url', service.url, '--spool', folder], {
      GANTRY_API_KEY: apiKey,
    });
    const description = 'one\u2028two\u2029three\u0085four Zürich';
    for (let n = 0; n < 12; n++) child.stdin.write('x'.repeat(1_000_000));
    const event = { eventType: 'VEHICLE_DETECTION', description };
    child.stdin.end(`\r\n${JSON.stringify(event)}\r\n`);
    expect(await ended).toEqual([0, null]);
    expect(await stored()).toBe(before + 1);
    const { rows } = await service.pool.query(
      'SELECT count(*)::int AS n FROM events WHERE description = $1',
      [description],
    );
    expect(rows).toEqual([{ n: 1 }]);
    const refused = JSON.parse(await readFile(join(folder, 'refused.jsonl'), 'utf8'));
    expect(refused).toMatchObject({
      text: 'x'.repeat(8_000_000),
      reason: 'The line of 8000000 or more characters is longer than 1000000',
    });
  });

  it('forwards what comes after an event for which the service refuses the whole request', async () => {
    const before = await stored();
    const folder = newFolder();
    const { child, ended } = startEdge(['--url', service.url, '--spool', folder], { GANTRY_API_KEY: apiKey });
    const deep = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
    const refusable = `{"eventType":"VEHICLE_DETECTION","metadata":${deep}}`;
    child.stdin.end(`${eventOf(1)}\n${refusable}\n${eventOf(2)}\n`);
    expect(await ended).toEqual([0, null]);
    expect(await stored()).toBe(before + 2);
    expect(JSON.parse(await readFile(join(folder, 'refused.jsonl'), 'utf8'))).toMatchObject({
      event: { eventType: 'VEHICLE_DETECTION' },
      reason: expect.stringMatching(/answered 400: The JSON nests deeper/),
    });
  });

  it('forwards the lines of a radar to a connection, each once', async () => {
    const token = await service.tokenFor('ADMIN');
    const input = { name: 'Radar', deviceId: 'edge-radar', type: 'RADAR' };
    const sensor = await service.ok('sensors.create', input, { token });
    const connection = await service.ok(
      'connections.create',
      { sensorId: sensor.id, format: 'ops243' },
      { token },
    );
    const address = `${service.url}${new URL(connection.url).pathname}`;
    const folder = newFolder();
    const lines = Array.from({ length: 30 }, (_, n) =>
      JSON.stringify({
        classifier: 'object_outbound',
        end_time: `${n}`,
        object_max_speed_mps: `${10 + n}`,
        max_speed_mps: 10 + n,
      }),
    );
    const { child, ended } = startEdge(['--connection', address, '--spool', folder]);
    child.stdin.end(`${lines.join('\n')}\n`);
    expect(await ended).toEqual([0, null]);
    const messages = async () =>
      (await service.ok('connections.getMessages', { connectionId: connection.id, take: 100 }, { token }))
        .messages;
    await eventually(
      messages,
      (all) => all.length === 30 && all.every(({ status }: { status: string }) => status !== 'RECEIVED'),
    );
    // Everything is sent again, as after a lost answer.
    await rm(join(folder, 'progress.json'));
    const again = startEdge(['--connection', address, '--spool', folder]);
    again.child.stdin.end();
    expect(await again.ended).toEqual([0, null]);
    expect(await messages()).toHaveLength(30);
    const events = await service.ok('events.getAll', { sensorId: sensor.id, take: 100 }, { token });
    expect(events.total).toBe(
      (await messages()).filter(({ status }: { status: string }) => status === 'STORED').length,
    );
    expect(events.total).toBeGreaterThan(0);
  });

  it('sends nothing while the clock of the machine is not set, and then with the true times', async () => {
    const token = await service.tokenFor('ADMIN');
    const input = { name: 'Camera', deviceId: 'edge-without-clock', type: 'CAMERA' };
    const { id: sensorId } = await service.ok('sensors.create', input, { token });
    const connection = await service.ok('connections.create', { sensorId, format: 'gantry' }, { token });
    const address = `${service.url}${new URL(connection.url).pathname}`;
    const start = Date.now();
    const set = join(scratch, 'clock-is-set');
    const unset = `import { existsSync } from 'node:fs';
      const now = Date.now; Date.now = () => existsSync(${JSON.stringify(set)}) ? now() : now() - ${start};`;
    const folder = newFolder();
    const edge = startEdge(['--connection', address, '--spool', folder], {
      NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(unset)}"`,
    });
    edge.child.stdin.end(`${eventOf(1)}\n`);
    await eventually(
      async () => edge.log(),
      (log) => /the clock of this machine is not set; messages are kept/.test(log),
    );
    await eventually(
      () => spooledBytes(folder),
      (bytes) => bytes > 0,
    );
    const setAt = Date.now();
    await writeFile(set, '');
    expect(await edge.ended).toEqual([0, null]);
    const [event] = await eventually(
      async () => (await service.ok('events.getAll', { sensorId }, { token })).events,
      (all) => all.length === 1,
    );
    expectBetween(event.timestamp, start, setAt);
  });

  it('reads a serial line', async () => {
    const before = await stored();
    const path = join(scratch, 'serial');
    execFileSync('mkfifo', [path]);
    const args = ['--url', service.url, '--spool', newFolder(), '--serial', path, '--no-stdin'];
    startEdge(args, { GANTRY_API_KEY: apiKey });
    const line = createWriteStream(path);
    line.write(`${eventOf(1)}\r\n\r\n${eventOf(2)}\r\n`);
    await eventually(stored, (count) => count === before + 2, 30_000);
    line.end();
  });
});

it.runIf(hasPython)(
  'reads whole lines of a serial line, and not the rest of the one that was being sent when it was opened',
  async () => {
    const received: number[] = [];
    const url = await startReceiver((events) => {
      received.push(...events.map(({ n }) => n));
      return 200;
    });
    const lineOf = (n: number) => JSON.stringify({ eventType: 'SPEED_DETECTION', metadata: { n } });
    // A pseudo-terminal. The device has written to it before it is opened, and closes it in the middle of a line.
    const device = spawn('python3', [
      '-c',
      `import os, pty, sys, tty
master, slave = pty.openpty()
tty.setraw(slave)
os.write(master, sys.argv[1].encode())
print(os.ttyname(slave), flush=True)
sys.stdin.readline()
os.write(master, sys.argv[2].encode())
sys.stdin.readline()`,
      `${lineOf(1)}\r\n${lineOf(2)}\r\n`,
      `${lineOf(3)}\r\n${lineOf(4)}`,
    ]);
    running.push(device);
    const [path] = await once(device.stdout, 'data');
    startEdge(
      ['--url', url, '--spool', newFolder(), '--serial', String(path).trim(), '--baud', '9600', '--no-stdin'],
      { GANTRY_API_KEY: 'k' },
    );
    await eventually(async () => received.length, Boolean, 30_000);
    device.stdin.write('\n');
    await eventually(
      async () => received.length,
      (count) => count > 1,
      30_000,
    );
    expect(received).toEqual([2, 3]);
  },
);

describe('the edge buffer, without a link', () => {
  it('sends the backlog oldest first, and new events in parallel', async () => {
    let isUp = false;
    const batches: number[][] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const url = await startReceiver(async (events) => {
      if (!isUp) return 503;
      batches.push(events.map(({ n }) => n));
      // The first batch after the outage takes long enough for new events to arrive.
      if (batches.length === 1) await held;
      return 200;
    });
    const edge = startEdge(['--url', url, '--spool', newFolder(), '--listen', '0', '--no-stdin'], {
      GANTRY_API_KEY: 'k',
    });
    const address = await addressOf(edge);
    const send = async (from: number, count: number) => {
      const lines = Array.from({ length: count }, (_, at) =>
        JSON.stringify({
          eventType: 'VEHICLE_DETECTION',
          description: 'x'.repeat(200),
          metadata: { n: from + at },
        }),
      );
      expect((await post(address, lines.join('\n'))).status).toBe(200);
    };
    await send(0, 3_000);
    await eventually(
      async () => edge.log(),
      (log) => log.includes('kept on the disk'),
    );
    isUp = true;
    await eventually(
      async () => batches.length,
      (count) => count > 0,
      60_000,
    );
    await send(10_000, 5);
    release();
    const status = async () =>
      ((await (await fetch(`${address}/status`)).json()) as { waitingBytes: number }).waitingBytes;
    await eventually(status, (bytes) => bytes === 0, 60_000);
    const all = batches.flat();
    expect(all.filter((n) => n < 10_000)).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
    const live = batches.findIndex((batch) => batch.includes(10_000));
    expect(batches[live]).toEqual([10_000, 10_001, 10_002, 10_003, 10_004]);
    expect(live).toBeLessThanOrEqual(3);
    expect(edge.log().match(/kept on the disk/g)).toHaveLength(1);
  });

  it('keeps everything when it ends, and sends it after the next start', async () => {
    const folder = newFolder();
    const first = startEdge(
      ['--url', 'http://127.0.0.1:9', '--spool', folder, '--listen', '0', '--no-stdin'],
      {
        GANTRY_API_KEY: 'k',
      },
    );
    await post(
      await addressOf(first),
      '[{"eventType":"VEHICLE_DETECTION","metadata":{"n":1}},{"metadata":{"n":2}}]',
    );
    first.child.kill('SIGTERM');
    expect(await first.ended).toEqual([0, null]);
    expect(first.log()).toMatch(/bytes of messages that are not sent/);
    const received: number[] = [];
    const url = await startReceiver((events) => {
      received.push(...events.map(({ n }) => n));
      return 200;
    });
    const second = startEdge(['--url', url, '--spool', folder, '--listen', '0', '--no-stdin'], {
      GANTRY_API_KEY: 'k',
    });
    await eventually(
      async () => received,
      (events) => events.length === 2,
      30_000,
    );
    expect(received).toEqual([1, 2]);
    second.child.kill('SIGKILL');
  });

  it('keeps a message that is too large for a proxy with the refused ones, and sends the others', async () => {
    const received: number[] = [];
    const url = await startReceiver((events) => {
      if (events.some(({ n }) => n === 2)) return 413;
      received.push(...events.map(({ n }) => n));
      return 200;
    });
    const folder = newFolder();
    const { child, ended } = startEdge(['--url', url, '--spool', folder], { GANTRY_API_KEY: 'k' });
    child.stdin.end('{"metadata":{"n":1}}\n{"metadata":{"n":2}}\n{"metadata":{"n":3}}\n');
    expect(await ended).toEqual([0, null]);
    expect(received).toEqual([1, 3]);
    expect(JSON.parse(await readFile(join(folder, 'refused.jsonl'), 'utf8'))).toMatchObject({
      event: { metadata: { n: 2 } },
      reason: expect.stringContaining('answered 413'),
    });
  });

  it('keeps a line for a connection until an answer is that of Gantry', async () => {
    const page = '<html>Log in to the modem</html>';
    const answers = [
      (response: ServerResponse) => response.end(page),
      (response: ServerResponse) => response.writeHead(302, { location: '/login' }).end(),
      (response: ServerResponse) => response.end('{"stored": 2}'),
      (response: ServerResponse) => {
        const send = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(1_000_000, ' ')));
        };
        response.on('drain', send);
        send();
      },
      (response: ServerResponse) => response.end('{"stored": 1}'),
    ];
    let given = 0;
    const server = createServer(async (request, response) => {
      await textOf(request);
      if (request.method === 'GET') response.end(page);
      else answers[Math.min(given++, answers.length - 1)]?.(response);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const connection = `http://127.0.0.1:${port}/gateway/ops243/token`;
    const folder = newFolder();
    const { child, log } = startEdge(['--connection', connection, '--listen', '0', '--spool', folder]);
    child.stdin.write('{"speed": 1}\n');
    await eventually(
      async () => given,
      (times) => times === answers.length,
      60_000,
    );
    expect(log()).toContain('does not answer as Gantry does');
    await eventually(
      async () => log(),
      (text) => text.includes('can be reached again'),
    );
  });

  it('answers 503 when the spool is full, and 400 for what is not JSON', async () => {
    const args = [
      '--url',
      'http://127.0.0.1:9',
      '--spool',
      newFolder(),
      '--listen',
      '0',
      '--no-stdin',
      '--max-megabytes',
      '1',
    ];
    const edge = startEdge(args, { GANTRY_API_KEY: 'k' });
    const address = await addressOf(edge);
    const big = JSON.stringify({ description: 'x'.repeat(600_000) });
    expect((await post(address, big)).status).toBe(200);
    expect((await post(address, big)).status).toBe(503);
    expect((await post(address, '{"a":')).status).toBe(400);
    expect((await post(address, '1')).status).toBe(400);
    const status = await (await fetch(`${address}/status`)).json();
    expect(status).toMatchObject({ maxBytes: 1_048_576, refused: 0 });
  });

  it('answers 503 when the disk does not take an event, and stores what it takes', async () => {
    const args = ['--url', 'http://127.0.0.1:9', '--spool', newFolder(), '--listen', '0', '--no-stdin'];
    const edge = startEdge(args, { GANTRY_API_KEY: 'k' }, ['sh', '-c', 'ulimit -f 64; exec "$0" "$@"']);
    const address = await addressOf(edge);
    const big = JSON.stringify({ description: 'x'.repeat(40_000) });
    for (let n = 0; n < 2; n++) {
      const refused = await post(address, big);
      expect(refused.status).toBe(503);
      expect(await refused.text()).toMatch(/could not be stored \(EFBIG.*\): send them again later/);
      expect((await post(address, '{"metadata":{"n":1}}')).status).toBe(200);
    }
    expect(edge.log()).toMatch(/could not be stored \(EFBIG.*\); POST \/events is answered 503/);
  });

  it('waits while a refused line cannot be kept, as on a full disk, and keeps whole lines', async () => {
    const received: number[] = [];
    const url = await startReceiver((events) => {
      received.push(...events.map(({ n }) => n));
      return 200;
    });
    const folder = newFolder();
    const path = join(folder, 'refused.jsonl');
    await mkdir(path, { recursive: true });
    const start = () => startEdge(['--url', url, '--spool', folder], { GANTRY_API_KEY: 'k' });
    const first = start();
    first.child.stdin.end('no JSON\n{"metadata":{"n":1}}\n');
    await eventually(
      async () => first.log(),
      (log) => /could not be stored \(.*EISDIR.*\); input waits/.test(log),
    );
    await rm(path, { recursive: true });
    expect(await first.ended).toEqual([0, null]);
    // An incomplete line, as after a power failure.
    await appendFile(path, '{"reason":"This is');
    const second = start();
    second.child.stdin.end('no JSON either\n');
    expect(await second.ended).toEqual([0, null]);
    const kept = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(kept.map((line) => JSON.parse(line).text)).toEqual(['no JSON', 'no JSON either']);
    expect(received).toEqual([1]);
  });

  it('goes on when its progress cannot be stored, as on a full disk', async () => {
    const received: number[] = [];
    const url = await startReceiver((events) => {
      received.push(...events.map(({ n }) => n));
      return 200;
    });
    const folder = newFolder();
    await mkdir(join(folder, 'progress.json.new'), { recursive: true });
    const args = ['--url', url, '--spool', folder, '--listen', '0', '--no-stdin'];
    const edge = startEdge(args, { GANTRY_API_KEY: 'k' });
    const address = await addressOf(edge);
    for (const n of [1, 2]) {
      expect((await post(address, `{"metadata":{"n":${n}}}`)).status).toBe(200);
      await eventually(
        async () => received,
        (events) => events.includes(n),
      );
    }
    await eventually(
      async () => edge.log(),
      (log) => log.includes('the disk cannot be used'),
    );
    // Sent messages are removed from the disk, so that there is room to store the progress again.
    await eventually(
      () => spooledBytes(folder),
      (bytes) => bytes === 0,
    );
    await rm(join(folder, 'progress.json.new'), { recursive: true });
    await post(address, '{"metadata":{"n":3}}');
    await eventually(
      () => readFile(join(folder, 'progress.json'), 'utf8').catch(() => ''),
      (text) => text !== '',
    );
    expect(received).toEqual([1, 2, 3]);
  });

  it('has room again after everything was sent, also after it was started again', async () => {
    const url = await startReceiver(() => 200);
    const folder = newFolder();
    const args = ['--url', url, '--spool', folder, '--listen', '0', '--no-stdin', '--max-megabytes', '1'];
    const big = JSON.stringify({ description: 'x'.repeat(600_000), metadata: { n: 1 } });
    for (let start = 0; start < 2; start++) {
      const edge = startEdge(args, { GANTRY_API_KEY: 'k' });
      const address = await addressOf(edge);
      for (let n = 0; n < 2; n++) {
        await eventually(
          async () => (await post(address, big)).status,
          (status) => status === 200,
        );
      }
      edge.child.kill('SIGTERM');
      await edge.ended;
    }
  });

  it('lets one of several processes take over the folder of a dead one', async () => {
    const claimed = Array.from({ length: 40 }, newFolder);
    for (const folder of claimed) {
      await mkdir(folder);
      await writeFile(join(folder, 'owner'), '999999999 1');
    }
    // All begin with a folder in the same millisecond.
    const program = `
      import { claimFolder } from ${JSON.stringify(new URL('../../src/lock.ts', import.meta.url).href)};
      let own = 0;
      for (const [at, folder] of ${JSON.stringify(claimed)}.entries()) {
        while (Date.now() < ${Date.now() + 5_000} + at * 100);
        own += await claimFolder(folder).then(() => 1, () => 0);
      }
      console.log(own);
      setInterval(() => undefined, 1_000);`;
    const children = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program]),
    );
    running.push(...children);
    const counts = await Promise.all(children.map(async ({ stdout }) => Number(await once(stdout, 'data'))));
    expect(counts.reduce((sum, own) => sum + own)).toBe(claimed.length);
  }, 60_000);

  it('refuses a folder that another process uses, and takes over that of a dead one', async () => {
    const folder = newFolder();
    const args = ['--url', 'http://127.0.0.1:9', '--spool', folder, '--listen', '0', '--no-stdin'];
    const first = startEdge(args, { GANTRY_API_KEY: 'k' });
    await addressOf(first);
    const second = startEdge(args, { GANTRY_API_KEY: 'k' });
    expect(await second.ended).toEqual([1, null]);
    expect(second.log()).toMatch(/is used by process \d+: give each device a folder of its own/);
    first.child.kill('SIGKILL');
    await first.ended;
    await addressOf(startEdge(args, { GANTRY_API_KEY: 'k' }));
  });

  it.each([
    [['--url', 'http://x'], /give --url with GANTRY_API_KEY, or --connection/],
    [['--connection', 'ftp://x'], /is not an http or https address/],
    [['--connection', 'http://x', '--max-megabytes', '0'], /whole number above 0/],
  ])('explains what is wrong with %s', async (args, sentence) => {
    const edge = startEdge(args);
    expect((await edge.ended)[0]).toBe(1);
    expect(edge.log()).toMatch(sentence);
  });
});
