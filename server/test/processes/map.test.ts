import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MapState } from '@gantry/contract/map';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GANTRY } from '../build-programs.ts';
import { ADMIN, createTestDatabase, eventually } from '../harness.ts';
import { endlessGeoPackage, featureOf, geoJsonOf, ROADS, shapefileOf } from '../road-files.ts';
import { runGantry } from './gantry-command.ts';
import { type ServiceProcess, spawnService, untilItServes } from './service-process.ts';

// Two services that share a data folder, as processes of one service do, and the commands beside them.

const SECRET = 'a secret of the tests that is long enough';
let folder: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let services: ServiceProcess[];
let settings: Record<string, string>;
const start = async () => untilItServes(spawnService(folder, settings));
const map = (...args: string[]) => runGantry(folder, settings, ['map', ...args]);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-map-'));
  database = await createTestDatabase();
  settings = { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data'), JWT_SECRET: SECRET };
  services = [await start(), await start()];
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const shown = () =>
  Promise.all(
    services.map(async (service) => {
      const { roads } = (await service.fetch('/console.json')).body as {
        roads: { attribution: string } | null;
      };
      return roads?.attribution ?? null;
    }),
  );
const file = async (name: string, content: string | Buffer): Promise<string> => {
  await writeFile(join(folder, name), content);
  return name;
};

describe('gantry map', () => {
  it('changes the map of all processes once the user agrees, and not before', async () => {
    const roads = await file('roads.geojson', geoJsonOf(ROADS.map(featureOf)));
    expect(await map('show')).toMatchObject({ code: 0, out: expect.stringContaining('no roads on the map') });
    // Without a terminal nobody can agree.
    const { code, out } = await map('import', roads, '--attribution', 'City');
    expect(code).toBe(0);
    expect(out).toContain('GEOJSON, WGS 84: 2 features');
    expect(out).toContain('Nothing was changed');
    expect(await shown()).toEqual([null, null]);
    expect(await map('import', roads, '--attribution', 'City', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('The roads are on the map.'),
    });
    expect(await shown()).toEqual(['City', 'City']);
    const { current } = JSON.parse((await map('show', '--json')).out) as MapState;
    expect(current).toMatchObject({ fileName: 'roads.geojson', report: { kept: 2, format: 'GEOJSON' } });
    expect(await readdir(join(folder, 'data', 'map'))).toEqual(['roads.pmtiles']);
  });

  it('reads a shapefile beside its other parts', async () => {
    for (const [name, content] of Object.entries(shapefileOf(ROADS))) await file(name, content);
    expect(JSON.parse((await map('import', 'roads.shp', '--json')).out)).toMatchObject({
      applied: false,
      report: { format: 'SHAPEFILE', kept: 2 },
    });
  });

  it('says what is wrong with a file, and changes nothing', async () => {
    const broken = await file('broken.geojson', '{"type":"FeatureCollection","features":[{');
    expect(await map('import', broken, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Nothing was changed\. The file ends in the middle of a value/),
    });
    expect(await map('import', 'nothing.geojson')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no file'),
    });
    expect(await map('import', '.')).toMatchObject({ code: 2, err: expect.stringContaining('is a folder') });
    expect(await shown()).toEqual(['City', 'City']);
    expect(await readdir(join(folder, 'data', 'map'))).toEqual(['roads.pmtiles']);
  });

  it('takes the roads off again', async () => {
    expect(await map('remove')).toMatchObject({ code: 0 });
    expect(await shown()).toEqual([null, null]);
    expect(await map('remove')).toMatchObject({ code: 1, err: expect.stringContaining('no roads') });
  });
});

it('a file that one process received is applied by another, and lost with a process that is killed while it reads', async () => {
  const [one, other] = services as [ServiceProcess, ServiceProcess];
  const { token } = await one.ok('auth.login', ADMIN);
  const stateOf = (service: ServiceProcess) =>
    service.ok('map.get', undefined, { token }) as Promise<MapState>;
  const send = (service: ServiceProcess, body: string) =>
    service.fetch('/map/file?attribution=Sent', {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body,
    });
  expect((await send(one, geoJsonOf(ROADS.map(featureOf)))).status).toBe(201);
  const { staged } = await eventually(
    () => stateOf(other),
    (now) => now.staged?.state === 'READY',
  );
  await other.ok('map.applyFile', { id: staged?.id }, { token });
  expect(await shown()).toEqual(['Sent', 'Sent']);

  const many = Array.from({ length: 30_000 }, (_, n) =>
    featureOf({
      name: `Road ${n}`,
      highway: 'residential',
      points: Array.from({ length: 20 }, (__, at) => [16 + n / 1e4 + at / 1e5, 48 + at / 1e3] as const),
    }),
  );
  expect((await send(one, geoJsonOf(many))).status).toBe(201);
  one.process.kill('SIGKILL');
  await one.ended;
  // As if nothing had been heard of it for half a minute.
  await utimes(join(folder, 'data', 'map', 'staged.json'), 0, 0);
  services[0] = await start();
  const after = await eventually(
    () => stateOf(other),
    (now) => now.staged?.state === 'REFUSED',
  );
  expect(after.staged?.problem).toContain('has ended: send the file again');
  expect(after.current?.attribution).toBe('Sent');
  expect((await send(other, geoJsonOf(ROADS.map(featureOf)))).status).toBe(201);
});

it('no process reads on after the service or the command was ended', async () => {
  const children = (pid: number | undefined): number[] => {
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return stdout.trim().split(/\s+/).filter(Boolean).map(Number);
  };
  const isRunning = (pid: number): boolean => spawnSync('kill', ['-0', String(pid)]).status === 0;
  const endless = await endlessGeoPackage();
  const [, other] = services as [ServiceProcess, ServiceProcess];
  const { token } = await other.ok('auth.login', ADMIN);
  const { staged } = (await other.ok('map.get', undefined, { token })) as MapState;
  if (staged) await other.ok('map.discardFile', { id: staged.id }, { token });
  const before = children(other.process.pid);
  const { status } = await other.fetch('/map/file', {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}` },
    body: endless,
  });
  expect(status).toBe(201);
  const [reader = 0] = await eventually(
    async () => children(other.process.pid).filter((pid) => !before.includes(pid)),
    (found) => found.length > 0,
  );
  await sleep(3_000);
  other.process.kill('SIGKILL');
  await other.ended;
  await eventually(
    async () => isRunning(reader),
    (runs) => !runs,
  );
  services[1] = await start();

  const path = await file('endless.gpkg', endless);
  const { PATH, HOME } = process.env;
  const command = spawn(process.execPath, [GANTRY, 'map', 'import', path], {
    cwd: folder,
    env: { PATH, HOME, ...settings },
  });
  const [child = 0] = await eventually(
    async () => children(command.pid),
    (found) => found.length > 0,
  );
  await sleep(3_000);
  command.kill('SIGINT');
  expect(await once(command, 'exit')).toEqual([130, null]);
  await eventually(
    async () => isRunning(child),
    (runs) => !runs,
  );
}, 120_000);
