import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { query, sibling } from '../database.ts';
import { BenchmarkFailed } from '../failure.ts';
import { findFreePort } from '../free-port.ts';
import { embeddedDatabaseUrl } from '../service.ts';
import type { Fault, Scene } from './fault.ts';
import { startProxy } from './proxy.ts';
import { createTarget, type Target } from './target.ts';

/** The processes of a scene and the proxies between them; the service is not started yet. */
type Stand = Pick<
  Scene,
  'target' | 'second' | 'databaseUrl' | 'postmaster' | 'databaseProxy' | 'deviceProxy'
>;

/** Sets up the processes as the fault requires. */
export function arrange(
  fault: Fault,
  folder: string,
  dataDir: string,
  onEnd: Scene['onEnd'],
): Promise<Stand> {
  return fault.proxies ? standApart(fault, folder, dataDir, onEnd) : standAlone(fault, dataDir);
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function throughPort(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl);
  url.port = String(port);
  return url.href;
}

/** Returns a function that returns the process id of a service's embedded PostgreSQL, and throws if it does not run. */
function postmasterOf(target: Target) {
  return async (): Promise<number> => {
    const pid = await target.postmaster();
    if (pid === null) throw new BenchmarkFailed('PostgreSQL is not running');
    return pid;
  };
}

/** One service with its embedded database. */
async function standAlone(fault: Fault, dataDir: string): Promise<Stand> {
  const target = createTarget({ ...fault.options, dataDir, port: await findFreePort() });
  return {
    target,
    second: null,
    databaseUrl: () => embeddedDatabaseUrl(dataDir),
    postmaster: postmasterOf(target),
    databaseProxy: null,
    deviceProxy: null,
  };
}

/** A service, or two processes of it, with a separate database server, and proxies in front of service and database. */
async function standApart(
  fault: Fault,
  folder: string,
  dataDir: string,
  onEnd: Scene['onEnd'],
): Promise<Stand> {
  const hostData = join(folder, 'host');
  await mkdir(hostData);
  const host = createTarget({ dataDir: hostData, port: await findFreePort() });
  onEnd(() => host.stop());
  await host.start();
  const hostUrl = await embeddedDatabaseUrl(hostData);
  await query(hostUrl, 'CREATE DATABASE faults');
  const databaseUrl = sibling(hostUrl, 'faults');
  const databaseProxy = await startProxy(() => portOf(databaseUrl));
  onEnd(() => databaseProxy[Symbol.asyncDispose]());
  const env = {
    ...fault.options?.env,
    DATABASE_URL: throughPort(databaseUrl, databaseProxy.port),
    JWT_SECRET: 'only-for-faults-'.repeat(3),
  };
  const make = async (folderOfIt: string): Promise<Target> => {
    await mkdir(folderOfIt, { recursive: true });
    return createTarget({ ...fault.options, env, dataDir: folderOfIt, port: await findFreePort() });
  };
  const target = await make(dataDir);
  const second = fault.isDouble ? await make(join(folder, 'second')) : null;
  if (second) {
    // Several processes share the folder of images.
    await mkdir(join(dataDir, 'images'), { recursive: true });
    await symlink(join(dataDir, 'images'), join(second.dataDir, 'images'));
  }
  let turn = 0;
  const deviceProxy = await startProxy(() => {
    const serving = [target, second].filter((each) => each?.pid);
    const next = serving[turn++ % Math.max(1, serving.length)];
    return next ? portOf(next.url) : null;
  });
  onEnd(() => deviceProxy[Symbol.asyncDispose]());
  return {
    target,
    second,
    databaseUrl: async () => databaseUrl,
    postmaster: postmasterOf(host),
    databaseProxy,
    deviceProxy,
  };
}
