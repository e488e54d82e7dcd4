import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GANTRY } from '../build-programs.ts';
import { createTestDatabase } from '../harness.ts';
import { runGantry } from './gantry-command.ts';
import { spawnService, untilItServes } from './service-process.ts';

// gantry privacy, and gantry backup with recipients, as commands beside a service.

const PLATE = '34 ABC 123';
const READS = 3_000;

let folder: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: pg.Client;
let settings: Record<string, string>;
const gantry = (...args: string[]) => runGantry(folder, settings, args);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-privacy-'));
  database = await createTestDatabase();
  settings = {
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'data'),
    BACKUP_DIR: join(folder, 'backups'),
    BACKUP_SCHEDULE: 'manual',
    JWT_SECRET: 'a secret of the tests that is long enough',
  };
  const service = await untilItServes(spawnService(folder, settings));
  await service.stop();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `INSERT INTO events (id, event_type, plate, plate_key, description, created_at)
     SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - n), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid,
       'PLATE_RECOGNITION', $1, '34ABC123', 'read ' || $1, now() FROM generate_series(1, $2::int) AS n`,
    [PLATE, READS],
  );
  await client.query(
    `INSERT INTO changes (topic, body) SELECT 'x', jsonb_build_object('note', 'of ' || $1) FROM generate_series(1, 1500)`,
    [PLATE],
  );
});
afterAll(async () => {
  await client.end();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const left = async (): Promise<number> =>
  (
    await client.query(`SELECT (SELECT count(*) FROM events WHERE plate_key = '34ABC123' OR description LIKE '%ABC%')
      + (SELECT count(*) FROM changes WHERE body::text LIKE '%ABC%') AS n`)
  ).rows[0].n;

describe('gantry privacy', () => {
  it('refuses what is no whole plate, and an erasure without a reason or a confirmation', async () => {
    for (const plate of ['', '*', '34 A*', 'AB'])
      expect(await gantry('privacy', 'find', '--plate', plate)).toMatchObject({ code: 2, out: '' });
    expect((await gantry('privacy', 'find')).err).toContain('--plate');
    expect((await gantry('privacy', 'erase', '--plate', PLATE, '--yes')).err).toContain('--reason');
    const unconfirmed = await gantry('privacy', 'erase', '--plate', PLATE, '--reason', 'request 17');
    expect(unconfirmed).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    expect(Number(await left())).toBe(READS + 1_500);
  });

  it('finds and exports what is stored, and names the backups that contain it', async () => {
    expect((await gantry('backup')).code).toBe(0);
    const found = await gantry('privacy', 'find', '--plate', '34-abc-123', '--json');
    expect(found.code).toBe(0);
    const { places, backups } = JSON.parse(found.out);
    expect(places).toMatchObject([
      { place: 'events', count: READS },
      { place: 'changes', count: 1_500 },
    ]);
    expect(backups).toMatchObject([{ backupsLeft: 7 }]);
    const shown = (await gantry('privacy', 'find', '--plate', PLATE)).out;
    expect(shown).toMatch(/events +3000/);
    expect(shown).toMatch(/Backup .*gantry-\d+T\d+Z contains it and is kept until 7 more have been made/);
    const exported = await gantry('privacy', 'export', 'out', '--plate', PLATE, '--reason', 'request 16');
    expect(exported).toMatchObject({ code: 0, out: expect.stringContaining(`${READS} events`) });
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(['data.json', 'images', 'manifest.json']);
    expect(JSON.parse(await readFile(join(folder, 'out', 'data.json'), 'utf8')).events).toHaveLength(READS);
  }, 600_000);

  it('erases everything although it is killed again and again, as one erasure', async () => {
    const args = ['privacy', 'erase', '--plate', PLATE, '--reason', 'request 17', '--yes', '--json'];
    const { PATH, HOME } = process.env;
    let kills = 0;
    for (let before = Number(await left()); kills < 6; kills++) {
      const child = spawn(process.execPath, [GANTRY, ...args], {
        cwd: folder,
        env: { PATH, HOME, ...settings },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      // It is killed once it has erased something, wherever that was.
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (!isOver && Number(await left()) >= before) await sleep(5);
      child.kill('SIGKILL');
      await ended;
      before = Number(await left());
      if (before === 0) break;
    }
    expect(kills).toBeGreaterThan(1);
    const last = await gantry(...args);
    expect(last).toMatchObject({ code: 0 });
    expect(Number(await left())).toBe(0);
    const { rows } = await client.query('SELECT counts FROM erasures');
    expect(rows).toMatchObject([{ counts: { events: READS, changes: 1_500 } }, ...rows.slice(1)]);
    const again = await gantry('privacy', 'erase', '--plate', PLATE, '--reason', 'request 18', '--yes');
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('Nothing to erase') });
    const found = await gantry('privacy', 'find', '--plate', PLATE);
    expect(found.out).toContain('Nothing is stored about this plate.');
    expect(found.out).toMatch(/Erased .* by .*: erasure /);
    expect(found.out).toContain('contains it and is kept until');
    expect((await gantry('evidence', 'check')).code).toBe(0);
  }, 600_000);
});

describe('gantry backup', () => {
  it('encrypts for a recipient, and restores with the identity only', async () => {
    const identity = await generateIdentity();
    await writeFile(join(folder, 'key'), `${identity}\n`);
    const recipient = await identityToRecipient(identity);
    const made = await gantry('backup', '--json', '--encrypt-to', recipient, 'encrypted');
    expect(made).toMatchObject({ code: 0 });
    const unread = await gantry('restore', '--verify-only', 'encrypted');
    expect(unread).toMatchObject({ code: 0, out: expect.stringContaining('Their content was not checked') });
    const verified = await gantry('restore', '--verify-only', '--identity', 'key', 'encrypted');
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('complete and undamaged') });
    expect(await gantry('restore', 'encrypted')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--identity'),
    });
    const target = await createTestDatabase('template1');
    const into = {
      ...settings,
      DATABASE_URL: target.url,
      DATA_DIR: join(folder, 'restored'),
      ALLOW_UNSAFE_DATABASE: 'true',
    };
    const restored = await runGantry(folder, into, ['restore', '--identity', 'key', 'encrypted']);
    expect(restored).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`${READS} events`) });
    await target.drop();
  });
});
