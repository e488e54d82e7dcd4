import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/platform/config.ts';
import type { Timings } from '../../src/platform/timings.ts';
import { createApp } from '../../src/programs/app.ts';
import { ADMIN, Gantry } from '../harness.ts';
import { suiteLog } from '../leaks.ts';

/** Starts the whole service on the database, which it migrates. */
export const startGantryOn = async (url: string, timings: Partial<Timings> = {}): Promise<Gantry> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gantry-data-'));
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    ALLOW_UNSAFE_DATABASE: 'true',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    HEARTBEAT_TIMEOUT_SECONDS: '2',
    EVENT_RATE_FACTOR: '1000',
  });
  const app = await createApp(config, suiteLog(), null, {
    passwordCost: { memoryCost: 64, timeCost: 1, parallelism: 1 },
    timings,
  });
  return new Gantry(app, await app.listen(), async () => {
    await app[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
  });
};
