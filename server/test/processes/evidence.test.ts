import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CaseDetail, CaseExport } from '@gantry/contract/cases';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { Parts, readEntries, Verifiers, verdictOf } from '../evidence-package.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { jpeg } from '../sample-images.ts';
import { lengthOf } from '../test-length.ts';
import { type Ended, runGantry } from './gantry-command.ts';
import { type ServiceProcess, spawnWithTimings, untilItServes } from './service-process.ts';

// Packages of a service in a process of its own, the commands that verify them, and what kill -9 leaves.

let folder: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: ReturnType<typeof createPool>;
let service: ServiceProcess;
let people: Verifiers;
let opened: CaseDetail;

const start = () =>
  untilItServes(
    spawnWithTimings(
      folder,
      {
        DATABASE_URL: database.url,
        DATA_DIR: join(folder, 'data'),
        JWT_SECRET: 'a secret of the tests that is long enough',
      },
      { sweepReportsMs: 100 },
    ),
  );

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-evidence-'));
  database = await createTestDatabase();
  pool = createPool(database.url, 1, () => undefined);
  service = await start();
  people = await Verifiers.begin(service);
  opened = await people.openVerified('PROCESS');
});
afterAll(async () => {
  await service.stop();
  await pool.end();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** A program, in an empty folder without settings. */
const runNode = (args: readonly string[], cwd: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env: {} }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err }),
    );
  });

describe('the downloaded program', () => {
  it('gives the verdict of gantry evidence verify, in a folder with nothing else', async () => {
    const work = join(folder, 'verifying');
    await mkdir(work);
    const answer = await fetch(`${service.url}/evidence/gantry-verify.mjs`);
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const program = await answer.text();
    const imported = program.matchAll(/^import .* from "([^"]+)";$/gm);
    expect(new Set([...imported].map(([, from]) => from))).toEqual(
      new Set(['node:fs', 'node:crypto', 'node:zlib']),
    );
    await writeFile(join(work, 'gantry-verify.mjs'), program);
    const archive = await people.export(opened);
    await writeFile(join(work, 'right.zip'), archive);
    const parts = new Parts(await readEntries(archive));
    await writeFile(join(work, 'wrong.zip'), parts.flip('events.json', 50).pack());
    const keys = await (await fetch(`${service.url}/.well-known/gantry-seal.json`)).text();
    await writeFile(join(work, 'keys.json'), keys);
    await writeFile(join(work, 'key.pem'), new Parts(await readEntries(archive)).entry('key.pem').content);

    const calls: readonly (readonly [args: readonly string[], code: number, said: string])[] = [
      [['right.zip'], 0, 'VERIFIED'],
      [['--key', 'keys.json', 'right.zip'], 0, 'VERIFIED'],
      [['--key', 'key.pem', 'right.zip'], 0, 'VERIFIED'],
      [['--key', '00'.repeat(16), 'right.zip'], 1, 'NOT VERIFIED'],
      [['wrong.zip'], 1, 'CONTENT     events.json: It is not the file that the manifest names'],
      [['--json', 'wrong.zip'], 1, '"verified": false'],
      [['keys.json'], 1, 'NOT VERIFIED'],
      [['missing.zip'], 2, ''],
      [['--key', 'missing.pem', 'right.zip'], 2, ''],
      [[], 2, ''],
    ];
    for (const [args, code, said] of calls) {
      const own = await runNode(['gantry-verify.mjs', ...args], work);
      const command = await runGantry(work, {}, ['evidence', 'verify', ...args]);
      expect([args, own.code, command.code]).toEqual([args, code, code]);
      expect(command.out).toBe(own.out);
      expect(own.out).toContain(said);
      if (code === 2) expect([own.out, own.err === '', command.err === '']).toEqual(['', false, false]);
    }
  });
});

describe('kill -9 while a package is made', () => {
  it('leaves the case and its package as they were, and the next start makes it', async () => {
    const images = Array.from({ length: 4 }, (_, n) => {
      const image = jpeg({ width: 64, height: 48, comment: `KILLED ${n}` });
      // Large enough that writing them takes a moment.
      return Buffer.concat([image.subarray(0, -2), Buffer.alloc(1_700_000, n + 1), image.subarray(-2)]);
    });
    const killed = await people.open('KILLED', images);
    await people.verify(killed);
    const ids: string[] = [];
    for (let round = 0; round < lengthOf({ gate: 2, full: 4 }); round++) {
      const { exportId } = await people.gantry.ok<{ exportId: string }>(
        'cases.export',
        { id: killed.id, redacted: false },
        { token: people.second },
      );
      ids.push(exportId);
      await eventually(
        () => people.gantry.ok<CaseExport>('cases.getExport', { exportId }, { token: people.second }),
        ({ status }) => status === 'RUNNING' || status === 'DONE',
      );
      service.process.kill('SIGKILL');
      await service.ended;
      // As if it had been silent for long enough.
      await pool.query(
        `UPDATE case_exports SET alive_at = alive_at - interval '1 hour' WHERE status = 'RUNNING'`,
      );
      service = await start();
      people = people.at(service.url);
    }
    for (const id of ids) expect(await people.finished(id)).toMatchObject({ status: 'DONE', error: null });
    const detail = await people.gantry.ok<CaseDetail>(
      'cases.getById',
      { id: killed.id },
      { token: people.second },
    );
    expect(detail.state).toBe('EXPORTED');
    // One entry for each package, however often it was started.
    const exported = detail.log.flatMap(({ action, details }) =>
      action === 'exported' ? [details.exportId] : [],
    );
    expect([...exported].sort()).toEqual([...ids].sort());
    for (const made of detail.exports) {
      const answer = await people.fetch(made);
      expect(await verdictOf(Buffer.from(await answer.arrayBuffer()))).toMatchObject({ verified: true });
    }
    // Drafts of processes that ended are removed an hour later.
    const names = await readdir(join(folder, 'data', 'packages'));
    expect(names.filter((name) => name.endsWith('.zip')).length).toBeGreaterThanOrEqual(ids.length);
  });
});
