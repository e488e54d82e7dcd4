import { mkdtemp, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGantryClient } from '@gantry/client';
import { expect, it } from 'vitest';
import { createTestDatabase, eventually } from '../../server/test/harness.ts';
import { run } from './process.ts';

const findFreePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

it('the demo fills a service, lets people in, and comes back as it was', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'gantry-demo-'));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { DATA_DIR: dataDir, DATABASE_URL: database.url, PORT: String(port) };

  const demo = run('demo.ts', [], env);
  await demo.until(/The demo is ready/);
  await demo.until(/Ctrl-C stops everything/);
  const logins = [...demo.text().matchAll(/^ {2}(\w+@gantry\.local) +([A-Z]+) +(\S+)$/gm)].map(
    ([, email = '', role, password = '']) => ({ email, role, password }),
  );
  expect(logins.map(({ role }) => role)).toEqual(['OPERATOR', 'ANALYST', 'FIELD', 'VIEWER']);
  for (const { email, role, password } of logins) {
    expect((await createGantryClient(url).login(email, password)).role).toBe(role);
  }
  expect((await stat(join(dataDir, 'demo-users'))).mode & 0o777).toBe(0o600);

  const operator = createGantryClient(url);
  await operator.login(logins[0]?.email ?? '', logins[0]?.password ?? '');
  const { events, sensors } = operator.api;
  const stats = await events.getStats.query();
  expect(stats.total).toBeGreaterThan(20_000);
  expect(stats.total).toBeLessThan(32_000);
  expect(stats.byType).toHaveLength(6);
  expect(stats.archived).toBeGreaterThan(300);
  expect(stats.processed).toBeGreaterThan(stats.archived);
  const [reviewed] = (await events.getAll.query({ processed: true, take: 1 })).events;
  const { processedBy } = await events.getById.query({ id: reviewed?.id ?? '' });
  expect(processedBy?.name).toBe('Olivia Park');
  const online = async () => (await sensors.getAll.query({ status: 'ONLINE' })).total;
  await eventually(online, (now) => now === 12);

  demo.interrupt();
  expect(await demo.ended).toBe(0);
  await expect(fetch(`${url}/ready`)).rejects.toThrow();

  const again = run('demo.ts', [], env);
  await again.until(/Ctrl-C stops everything/);
  expect(again.text()).not.toContain(logins[0]?.password);
  await operator.login(logins[0]?.email ?? '', logins[0]?.password ?? '');
  const later = await events.getStats.query();
  expect(later.total).toBeGreaterThanOrEqual(stats.total);
  expect(later.total - stats.total).toBeLessThan(1_000);
  expect((await sensors.getAll.query()).total).toBe(12);
  again.interrupt();
  expect(await again.ended).toBe(0);

  await database.drop();
  await rm(dataDir, { recursive: true });
}, 90_000);
