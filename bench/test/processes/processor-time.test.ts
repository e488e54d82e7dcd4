import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDatabase, startOwnDatabase } from '../../../server/test/processes/own-database.ts';
import { query } from '../../src/database.ts';
import { processorTimesOf, usedBetween } from '../../src/processor-time.ts';

const WORK = 'const end = Date.now() + 300; while (Date.now() < end);';
const NOWHERE = 'postgres://nobody@127.0.0.1:9/none';

describe.runIf(process.platform === 'linux')('processor time', () => {
  let database: OwnDatabase;
  beforeAll(async () => {
    database = await startOwnDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  it('is that of a process with its children, also of those that have ended', async () => {
    const program = `
      const { spawnSync } = require('node:child_process');
      process.once('message', () => {
        spawnSync(process.execPath, ['-e', ${JSON.stringify(WORK)}]);
        ${WORK}
        process.send('done');
      });
      // Until it is killed, so that its time can be read.
      setInterval(() => undefined, 1000);
      process.send('ready');`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    try {
      await once(child, 'message');
      const read = await processorTimesOf(child.pid ?? Number.NaN, NOWHERE);
      const before = await read();
      child.send('work');
      await once(child, 'message');
      const { nodeMicros, postgresMicros, idle } = usedBetween(before, await read(), 2);
      // Both parts ran for 0.3 s of elapsed time. On a busy machine, the process got less processor time than that.
      expect(nodeMicros).toBeGreaterThan(20_000);
      expect(postgresMicros).toBeNull();
      expect(idle).toBeGreaterThanOrEqual(0);
      expect(idle).toBeLessThanOrEqual(1);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('of a PostgreSQL that is a child process is counted separately', async () => {
    // The server is a child of this process.
    const read = await processorTimesOf(process.pid, database.url);
    const began = process.cpuUsage();
    const before = await read();
    await query(database.url, 'SELECT sum(sqrt(n)) FROM generate_series(1, 3000000) AS n');
    const after = await read();
    const { user, system } = process.cpuUsage(began);
    const { nodeMicros, postgresMicros } = usedBetween(before, after, 1);
    expect(postgresMicros).toBeGreaterThan(100_000);
    // The kernel counts in hundredths of a second.
    expect(nodeMicros).toBeLessThan(user + system + 50_000);
  });

  it('is unknown, and not NaN, for a process that does not exist', async () => {
    const unknown = { server: Number.NaN, postgresql: Number.NaN, idle: 1, stolen: 0, total: 2 };
    expect(usedBetween(unknown, { ...unknown, idle: 2, total: 6 }, 1)).toEqual({
      nodeMicros: null,
      postgresMicros: null,
      idle: 0.25,
    });
  });
});
