import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, lutimes, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataFolder, DataFolderInUse, DataFolderUnusable } from '../../src/data-folder.ts';
import { processSpace, startTimeOf } from '../../src/processes.ts';
import { WEATHER } from '../application.ts';

const sourceUrl = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
const CLAIMANT = `
  import { DataFolder } from ${sourceUrl('../../src/data-folder.ts')};
  import { WEATHER } from ${sourceUrl('../application.ts')};
  new DataFolder(process.argv[2], WEATHER).claim().then(
    () => { process.stdout.write('claimed'); setInterval(() => {}, 1000); },
    (error) => { process.stdout.write(error.name + ': ' + error.message); },
  );
`;

/** The intervals of an installation, shortened. Even on a busy machine, a liveness signal falls within the watch. */
const PACE = { beatMs: 100, watchMs: 2_000 };

let scratch: string;
let dataDir: string;
let folder: DataFolder;
const children: ChildProcess[] = [];

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'gantry-claim-'));
  dataDir = join(scratch, 'data');
  folder = new DataFolder(dataDir, WEATHER);
  await writeFile(join(scratch, 'claimant.mts'), CLAIMANT);
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(scratch, { recursive: true, force: true });
});

async function startClaimant(): Promise<{ child: ChildProcess; says: string }> {
  const words = ['--import', 'tsx', join(scratch, 'claimant.mts'), dataDir];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [says] = await once(child.stdout, 'data');
  return { child, says: String(says) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A claim left by another process, perhaps on another machine. */
async function plantClaim(number: number, holder: { pid: number; space?: string; startTime?: string }) {
  const space = holder.space ?? (await processSpace());
  const path = join(dataDir, `claim-${number}`);
  await symlink(`pid ${holder.pid} in ${space} since ${holder.startTime ?? '1'}`, path);
  return path;
}

describe('the claim on a data folder', () => {
  it('creates the folder, and can be taken over once released', async () => {
    for (let round = 0; round < 3; round++) {
      await using _claim = await folder.claim();
    }
    expect(await readdir(dataDir)).toHaveLength(1);
  });

  it('refuses a second one in the same process, and names the holder and the remedy', async () => {
    await using _claim = await folder.claim();
    await expect(folder.claim()).rejects.toThrow(DataFolderInUse);
    await expect(folder.claim()).rejects.toThrow(
      `The data folder ${dataDir} is in use by another Weather process (pid ${process.pid}). Stop that process first`,
    );
  });

  it('can be released twice without affecting a later holder', async () => {
    const first = await folder.claim();
    await first[Symbol.asyncDispose]();
    await using _second = await folder.claim();
    await first[Symbol.asyncDispose]();
    await expect(folder.claim()).rejects.toThrow(DataFolderInUse);
  });

  it('refuses while another process is alive, and succeeds as soon as that was killed', async () => {
    const { child, says } = await startClaimant();
    expect(says).toBe('claimed');
    await expect(folder.claim()).rejects.toThrow(`(pid ${child.pid})`);
    await kill(child);
    await using _claim = await folder.claim();
  });

  it('goes to exactly one of several processes that start at the same instant', async () => {
    await using _made = await folder.claim();
    await _made[Symbol.asyncDispose]();
    const claimants = await Promise.all(Array.from({ length: 5 }, startClaimant));
    const said = claimants.map(({ says }) => says.split(':')[0]).sort();
    expect(said).toEqual([...Array(4).fill('DataFolderInUse'), 'claimed']);
  });

  it('goes to exactly one of many that find the claim of a dead process', async () => {
    for (let round = 0; round < 20; round++) {
      await using _made = await folder.claim();
      await _made[Symbol.asyncDispose]();
      await plantClaim(1_000 * (round + 1), { pid: process.pid, startTime: 'long ago' });
      const results = await Promise.allSettled(Array.from({ length: 30 }, () => folder.claim()));
      const won = results.filter((result) => result.status === 'fulfilled');
      expect(won).toHaveLength(1);
      await Promise.all(won.map(({ value }) => value[Symbol.asyncDispose]()));
    }
  });

  it('of a dead process is invalid when its number belongs to another process', async () => {
    await folder.keepSecret('any', () => 'thing');
    await plantClaim(7, { pid: process.ppid, startTime: 'not when the parent of this process began' });
    await using _claim = await folder.claim();
  });

  it('stays valid while the process that it names is alive', async () => {
    await folder.keepSecret('any', () => 'thing');
    await plantClaim(7, { pid: process.ppid, startTime: (await startTimeOf(process.ppid)) ?? '' });
    await expect(folder.claim()).rejects.toThrow(`(pid ${process.ppid})`);
  });

  it('from another container stays valid while its holder touches it', async () => {
    await folder.keepSecret('any', () => 'thing');
    const path = await plantClaim(7, { pid: 1, space: 'elsewhere' });
    const touching = setInterval(() => lutimes(path, new Date(), new Date()), PACE.beatMs);
    try {
      await expect(folder.claim(PACE)).rejects.toThrow('(pid 1 in another container or on another machine)');
    } finally {
      clearInterval(touching);
    }
    await using _claim = await folder.claim(PACE);
  });

  it('is touched by its holder', async () => {
    await using _claim = await folder.claim(PACE);
    const path = join(dataDir, (await readdir(dataDir))[0] ?? '');
    const before = (await lstat(path)).mtimeMs;
    await expect.poll(async () => (await lstat(path)).mtimeMs).toBeGreaterThan(before);
  });

  it('explains what to do when the folder cannot be created', async () => {
    await writeFile(dataDir, 'a file, not a folder');
    await expect(folder.claim()).rejects.toThrow(/cannot be used .* choose another folder with WEATHER_DIR/);
  });

  it('asks for space where the disk is full', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, mkdir'), { code: 'ENOSPC' });
    expect(new DataFolderUnusable(folder, full).message).toMatch(/\)\. Free space there, or choose/);
  });

  it.skipIf(process.getuid?.() === 0)('says what to do when the folder belongs to another user', async () => {
    await expect(new DataFolder('/', WEATHER).claim()).rejects.toThrow(
      /cannot be used .* Give it to the user that runs Weather/,
    );
  });
});

describe('a stored secret', () => {
  it('is created once, readable by its owner only', async () => {
    expect(await folder.keepSecret('jwt-secret', () => 'first')).toBe('first');
    expect(await folder.keepSecret('jwt-secret', () => 'second')).toBe('first');
    expect((await stat(join(dataDir, 'jwt-secret'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dataDir, 'jwt-secret'), 'utf8')).toBe('first\n');
    expect(await readdir(dataDir)).toEqual(['jwt-secret']);
  });

  it('is the same for concurrent callers', async () => {
    let made = 0;
    const asked = Array.from({ length: 20 }, () => folder.keepSecret('secret', () => `number ${++made}`));
    expect(new Set(await Promise.all(asked)).size).toBe(1);
  });

  it('is not created again when its file is empty', async () => {
    await folder.keepSecret('secret', () => 'value');
    await writeFile(join(dataDir, 'secret'), '');
    await expect(folder.keepSecret('secret', () => 'other')).rejects.toThrow(/is empty. Restore it/);
  });

  it('leaves nothing behind when it cannot be created', async () => {
    const failing = folder.keepSecret('secret', () => {
      throw new Error('no entropy');
    });
    await expect(failing).rejects.toThrow('no entropy');
    expect(await readdir(dataDir)).toEqual([]);
  });
});
