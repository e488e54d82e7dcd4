import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DAY_MS } from '@gantry/contract/durations';
import { query } from '../../database.ts';
import type { Fault } from '../fault.ts';

const SHIFTED_CLOCK = fileURLToPath(new URL('../shifted-clock.mjs', import.meta.url));

/** Relative to the data folder, which is the working directory of the service. */
const OFFSET_FILE = 'clock-offset';

const SHIFTS = [
  { name: 'day-ahead', title: 'a day ahead', ms: DAY_MS },
  { name: 'day-behind', title: 'a day behind', ms: -DAY_MS },
  { name: 'year-ahead', title: 'a year ahead', ms: 366 * DAY_MS },
  { name: 'year-behind', title: 'a year behind', ms: -366 * DAY_MS },
] as const;

async function countEvents(databaseUrl: string): Promise<number> {
  return Number((await query<{ n: string }>(databaseUrl, 'SELECT count(*) AS n FROM events'))[0]?.n);
}

export const clock: readonly Fault[] = SHIFTS.map(({ name, title, ms }) => ({
  name: `clock-${name}`,
  title: `the clock of the service moved ${title}, and back; retention runs meanwhile`,
  recoversWithin: 10,
  isQuick: false,
  options: { nodeArguments: ['--import', SHIFTED_CLOCK], env: { GANTRY_CLOCK_OFFSET_FILE: OFFSET_FILE } },
  async run({ target, client, databaseUrl, breach }) {
    await client.api.storage.setRetention.mutate({ events: { default: 90 } });
    const file = join(target.dataDir, OFFSET_FILE);
    await writeFile(file, String(ms));
    await sleep(1_000);
    const before = await countEvents(await databaseUrl());
    // Retention may run, be refused, or stop with an error, but no recent data may be removed. If the clock is a year ahead,
    // the token has expired.
    await client.api.storage.runRetention.mutate().catch(() => undefined);
    await sleep(4_000);
    if ((await countEvents(await databaseUrl())) < before)
      breach('retention removed events that were minutes old');
    await writeFile(file, '0');
  },
}));
