import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer as createPlainServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { appRouter } from '../../src/api/router.ts';
import { closeServer, createServer } from '../../src/http/server.ts';
import { copyDataFolder } from '../data-folders.ts';
import { createTestDatabase, eventually, startGantry } from '../harness.ts';
import { isLong } from '../test-length.ts';
import { startOwnDatabase } from './own-database.ts';
import { MAIN, ServiceProcess, spawnService, untilItServes } from './service-process.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gantry-stopping-'));
// If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
chmodSync(scratch, 0o711);
afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

describe('a service that fails while it stops', () => {
  it('reports that, and not a failed start', async () => {
    const dataDir = join(scratch, 'data');
    mkdirSync(dataDir, { mode: 0o711 });
    await copyDataFolder(inject('dataFolderTemplate'), dataDir);
    const service = await untilItServes(spawnService(scratch, { DATA_DIR: dataDir }));
    const claim = readdirSync(dataDir).find((name) => name.startsWith('claim-')) ?? '';
    rmSync(join(dataDir, claim));
    // A folder in the place of the claim cannot be removed in the same way.
    mkdirSync(join(dataDir, claim));
    expect(await service.stop()).toBe(1);
    expect(service.output()).toMatch(/Gantry did not shut down cleanly\..*\n {2}because: .*claim-/);
    expect(service.output()).not.toContain('cannot start');
  });
});

describe.runIf(existsSync('/dev/full'))('a service whose log cannot be written', () => {
  /** Writes to a disk that is full. */
  const TO_FULL_DISK = `const { closeSync, openSync } = require('node:fs');
    closeSync(1); openSync('/dev/full', 'w'); void import(${JSON.stringify(MAIN)});`;

  it('serves, and ends in an orderly way', async () => {
    const database = await createTestDatabase();
    onTestFinished(database.drop);
    const free = createPlainServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const settings = { DATABASE_URL: database.url, PORT: String(port), LOG_LEVEL: 'info' };
    const started = spawnService(scratch, settings, ['-e', TO_FULL_DISK]);
    const service = new ServiceProcess(`http://127.0.0.1:${port}`, started);
    await eventually(
      () => service.fetch('/ready').catch(() => null),
      (answer) => answer?.status === 200 || started.process.exitCode !== null,
    );
    await service.registerSensor();
    expect(await service.stop()).toBe(0);
  });
});

// Each of these tests takes 40 s.
describe.runIf(isLong)('a service that stops while its database does not answer', () => {
  it.each(['1', '2'])(
    'ends after 40 s, and says so, with %s workers',
    async (WORKERS) => {
      await using database = await startOwnDatabase();
      const settings = { DATABASE_URL: database.url, WORKERS };
      const service = await untilItServes(spawnService(scratch, settings));
      const apiKey = await service.registerSensor();
      await database.freeze();
      const answer = service
        .call('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })
        .catch(() => null);
      expect(await service.stop()).toBe(1);
      expect(service.output()).toMatch(
        /because it took too long|did not stop within 38 s, or did not respond, and were killed/,
      );
      expect((await answer)?.status).toBe(503);
    },
    120_000,
  );
});

describe('a service that was asked to stop', () => {
  it('is not ready, but still answers', async () => {
    await using gantry = await startGantry({ config: { DRAIN_SECONDS: '0' } });
    expect((await gantry.fetch('/ready')).status).toBe(200);
    await gantry.app.drain();
    expect((await gantry.fetch('/ready')).status).toBe(503);
    await gantry.registerSensor();
  });
});

describe('a server that closes', () => {
  it('does not wait for a connection without a request', async () => {
    await using gantry = await startGantry();
    const server = await createServer(gantry.app.context, appRouter);
    await server.listen({ host: '127.0.0.1', port: 0 });
    const accepted = once(server.server, 'connection');
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    await accepted;
    const ended = once(socket.resume(), 'close');
    // Otherwise it would take the hour after which all connections are closed.
    await closeServer(server, 3_600_000);
    await ended;
  });

  it('does not wait for a client whose request never ends', async () => {
    await using gantry = await startGantry();
    const server = await createServer(gantry.app.context, appRouter);
    await server.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      'POST /trpc/events.ingest HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{',
    );
    await once(server.server, 'request');
    // Otherwise it would not end, because a request may now take any time to arrive.
    server.server.requestTimeout = 0;
    await closeServer(server, 300);
  });
});
