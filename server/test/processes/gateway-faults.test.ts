import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import {
  type AddressInfo,
  createServer,
  connect as openConnection,
  type Server,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSpoolState } from '../../src/platform/spool-folder.ts';
import {
  type Created,
  connect,
  eventOf,
  messagesOf,
  newSensor,
  pathOf,
  processed,
  sendJson,
} from '../gateway-calls.ts';
import { challengeOf, digestHeader } from '../gateway-digest.ts';
import { ADMIN, createTestDatabase, eventually, startGantry } from '../harness.ts';
import { jpeg } from '../sample-images.ts';
import { type StartedProcess, spawnService, untilItServes } from './service-process.ts';

/** A TCP proxy in front of the database, which can be closed and opened again on the same port. */
const startGate = async (url: string) => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let port = 0;
  let server: Server | null = null;
  const open = async (): Promise<void> => {
    server = createServer((near) => {
      const far = openConnection(Number(target.port), target.hostname);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.pipe(to);
        from.on('error', () => undefined);
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      }
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    const closing = server;
    closing?.close();
    for (const socket of sockets) socket.destroy();
    if (closing) await once(closing, 'close');
    server = null;
  };
  await open();
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String(port);
  return { url: own.href, open, close };
};

const plateReading = (plate: string, at = new Date().toISOString()) => ({
  hook: { target: 'x', id: 'camera-1', event: 'recognition', filename: `${plate}.jpg` },
  data: {
    camera_id: 'camera-1',
    filename: `${plate}.jpg`,
    timestamp: at,
    results: [{ plate, score: 0.9, dscore: 0.9, box: { xmin: 1, xmax: 2, ymin: 1, ymax: 2 } }],
  },
});

describe('while the database is unavailable', () => {
  it('messages of devices that do not repeat them are kept on disk and stored in order', async () => {
    const database = await createTestDatabase();
    const gate = await startGate(database.url);
    const dataDir = await mkdtemp(join(tmpdir(), 'gantry-spool-'));
    const gantry = await startGantry({ config: { DATABASE_URL: gate.url, DATA_DIR: dataDir } });
    const spool = join(dataDir, 'gateway-spool');
    try {
      const forgetful = await connect(gantry, 'platerecognizer');
      const patient = await connect(gantry, 'gantry');
      const digesting = await connect(gantry, 'dahua');
      const beat = { Active: 'keepAlive', DeviceID: 'a' };
      const uri = '/NotificationInfo/KeepAlive';
      const asked = await sendJson(gantry, uri, beat);
      const authorization = digestHeader({
        algorithm: 'MD5',
        challenge: challengeOf(asked.headers.get('www-authenticate') ?? '', 'MD5'),
        username: digesting.username,
        password: digesting.password,
        method: 'POST',
        uri,
      });
      await gate.close();
      const plates = ['aaa111', 'bbb222', 'ccc333'];
      for (const plate of plates) {
        expect((await sendJson(gantry, pathOf(forgetful.url), plateReading(plate))).status).toBe(503);
      }
      expect((await sendJson(gantry, uri, beat, { authorization })).status).toBe(503);
      // An eavesdropper cannot use the same answer again.
      expect((await sendJson(gantry, uri, beat, { authorization })).status).toBe(401);
      const answer = await sendJson(gantry, pathOf(patient.url), { eventType: 'VEHICLE_DETECTION' });
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect((await readSpoolState(spool)).messages).toBe(4);
      // A file of an earlier build that was cut off by a power failure is set aside.
      await writeFile(join(spool, `000000000000001-${randomUUID()}.message`), 'half a me');
      await gate.open();
      const messages = await processed(gantry, forgetful.id, 3);
      const read = await Promise.all(messages.map(({ eventIds }) => eventOf(gantry, eventIds[0])));
      expect(read.map(({ licensePlateNumber }) => licensePlateNumber.toLowerCase())).toEqual(
        [...plates].reverse(),
      );
      expect(await messagesOf(gantry, patient.id)).toEqual([]);
      expect((await processed(gantry, digesting.id))[0]).toMatchObject({ status: 'ALIVE' });
      await eventually(
        () => readdir(spool),
        (names) => names.length === 1 && names[0]?.endsWith('.damaged') === true,
      );
    } finally {
      await gate.open().catch(() => undefined);
      await gantry.stop();
      await gate.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

const running = new Set<StartedProcess>();
afterAll(async () => {
  for (const service of running) service.process.kill('SIGKILL');
  await Promise.all([...running].map(({ ended }) => ended));
});

const startProcess = async (settings: Record<string, string>) => {
  const started = spawnService(tmpdir(), { ADMIN_EMAIL: ADMIN.email, ...settings });
  running.add(started);
  void started.ended.then(() => running.delete(started));
  return untilItServes(started);
};

describe('a service that is killed or stopped', () => {
  it('loses no message that was answered, and stores none twice', async () => {
    const database = await createTestDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'gantry-killed-'));
    const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir, JWT_SECRET: 's'.repeat(40) };
    try {
      let service = await startProcess(settings);
      const made = await connect(service, 'platerecognizer');
      const path = pathOf(made.url);
      const answered = new Set<string>();
      for (let round = 0; round < 3; round++) {
        let sent = 0;
        const sending = Array.from({ length: 4 }, async (_, lane) => {
          for (let n = 0; n < 50; n++) {
            const plate = round === 2 ? `r${round}n${n}` : `r${round}l${lane}n${n}`;
            try {
              const answer = await sendJson(service, path, plateReading(plate, '2026-03-01T10:00:00Z'));
              if (answer.status === 200) answered.add(plate);
              sent++;
            } catch {
              return;
            }
          }
        });
        await eventually(
          async () => sent,
          (count) => count >= 10 + round * 7,
        );
        // In the last round, the service is stopped in an orderly way, while all senders are sending the same messages.
        service.process.kill(round === 2 ? 'SIGTERM' : 'SIGKILL');
        await Promise.all([...sending, service.ended]);
        // As if the leases of messages in progress, of half a minute, had ended.
        await query(database.url, 'UPDATE device_messages SET due_at = now() WHERE due_at IS NOT NULL');
        service = await startProcess(settings);
        // As a sender that repeats messages although they were answered.
        for (const plate of [...answered].slice(-3)) {
          await sendJson(service, path, plateReading(plate, '2026-03-01T10:00:00Z'));
        }
      }
      const messages = await eventually(
        async () => {
          const { rows } = await query(database.url, 'SELECT status FROM device_messages');
          return rows.map(({ status }) => String(status));
        },
        (statuses) => statuses.every((status) => ['STORED', 'DUPLICATE'].includes(status)),
        90_000,
      );
      expect(messages.length).toBeGreaterThanOrEqual(answered.size);
      const { rows } = await query(
        database.url,
        'SELECT lower(plate) AS plate, count(*)::int AS n FROM events GROUP BY 1',
      );
      expect(rows.filter(({ n }) => n !== 1)).toEqual([]);
      const stored = new Set(rows.map(({ plate }) => plate));
      expect([...answered].filter((plate) => !stored.has(plate))).toEqual([]);
      await service.stop();
    } finally {
      await rm(dataDir, { recursive: true, force: true });
      await database.drop();
    }
  });
});

describe('several processes', () => {
  it('accept messages of a new connection at once, and each Digest answer once', async () => {
    const database = await createTestDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'gantry-workers-'));
    const service = await startProcess({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      JWT_SECRET: 's'.repeat(40),
      WORKERS: '2',
    });
    try {
      const sensorId = await newSensor(service);
      const made: Created[] = [];
      for (let n = 0; n < 4; n++) made.push(await connect(service, 'dahua', { sensorId }));
      const uri = '/NotificationInfo/KeepAlive';
      const beat = { Active: 'keepAlive', DeviceID: 'a' };
      // Each request uses a connection of its own, so that both processes receive some.
      const apart = { connection: 'close' };
      for (const { url, username, password } of made) {
        const answers = await Promise.all(
          Array.from({ length: 6 }, () => sendJson(service, `${pathOf(url)}${uri}`, beat, apart)),
        );
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
        const asked = await sendJson(service, uri, beat, apart);
        const challenge = challengeOf(asked.headers.get('www-authenticate') ?? '', 'SHA-256');
        const authorization = digestHeader({
          algorithm: 'SHA-256',
          challenge,
          username,
          password,
          method: 'POST',
          uri,
        });
        const statuses = await Promise.all(
          Array.from(
            { length: 6 },
            async () => (await sendJson(service, uri, beat, { ...apart, authorization })).status,
          ),
        );
        expect(statuses.sort()).toEqual([200, 401, 401, 401, 401, 401]);
      }
      await service.ok('connections.rotate', { id: made[0]?.id }, { token: await service.tokenFor('ADMIN') });
      await eventually(
        () => sendJson(service, pathOf(made[0]?.url ?? ''), beat, apart),
        ({ status }) => status === 404,
      );
      const image = jpeg({ comment: 'c'.repeat(300) }).toString('base64');
      const own = await connect(service, 'gantry', { sensorId });
      const event = {
        eventType: 'VEHICLE_DETECTION',
        idempotencyKey: 'k',
        images: [`data:image/jpeg;base64,${image}`],
      };
      await Promise.all(Array.from({ length: 8 }, () => sendJson(service, pathOf(own.url), event, apart)));
      const messages = await processed(service, own.id, 8);
      expect(messages.filter(({ status }) => status === 'STORED')).toHaveLength(1);
      expect(messages.filter(({ status }) => status === 'DUPLICATE')).toHaveLength(7);
      expect(existsSync(join(dataDir, 'gateway-spool'))).toBe(false);
    } finally {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
      await database.drop();
    }
  });
});

const query = async (url: string, text: string): Promise<{ rows: Record<string, unknown>[] }> => {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
};
