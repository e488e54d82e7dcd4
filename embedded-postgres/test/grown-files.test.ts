import { appendFile, mkdir, mkdtemp, open, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type GrownFiles, NotWritten, watchGrownFiles } from '../src/grown-files.ts';

let folder: string;
let grown: GrownFiles;
/** The number of calls of fdatasync. */
let written: () => number;

const pathOf = (name: string) => join(folder, 'base', '5', name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-grown-'));
  await mkdir(join(folder, 'base', '5'), { recursive: true });
  const file = await open(folder);
  const spy = vi.spyOn(Object.getPrototypeOf(file), 'datasync');
  await file.close();
  written = () => spy.mock.calls.length;
  grown = watchGrownFiles(folder);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

describe('files of the database that grow', () => {
  it('are written to the disk each time after they have grown', async () => {
    await writeFile(pathOf('16384'), 'a');
    await grown.writeOut();
    expect(written()).toBe(1);
    await grown.writeOut();
    expect(written()).toBe(1);
    await appendFile(pathOf('16384'), 'b');
    await grown.writeOut();
    expect(written()).toBe(2);
  });

  it('do not include files of other kinds, and those that nobody has written to for a minute', async () => {
    await writeFile(pathOf('t3_16384'), 'temporary');
    await mkdir(join(folder, 'base', 'pgsql_tmp'));
    await writeFile(join(folder, 'base', 'PG_VERSION'), '18');
    await writeFile(pathOf('16385'), 'old');
    await utimes(pathOf('16385'), new Date(), new Date(Date.now() - 120_000));
    await grown.writeOut();
    expect(written()).toBe(0);
  });

  it('may be removed in between, as when a partition is dropped', async () => {
    await writeFile(pathOf('16384'), 'a');
    await writeFile(pathOf('16386'), 'a');
    await grown.writeOut();
    await rm(pathOf('16384'));
    await appendFile(pathOf('16386'), 'b');
    await grown.writeOut();
    expect(written()).toBe(3);
  });

  it('are not searched for while less than a segment of the log is written', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    await grown.writeOut();
    await mkdir(join(folder, 'pg_wal'));
    const [first, second] = ['000000010000000000000001', '000000010000000000000002'].map((name) =>
      join(folder, 'pg_wal', name),
    ) as [string, string];
    await writeFile(first, 'a');
    await writeFile(pathOf('16384'), 'a');
    vi.advanceTimersByTime(20_000);
    await grown.writeOut();
    expect(written()).toBe(0);
    await writeFile(second, 'a');
    await grown.writeOut();
    expect(written()).toBe(0);
    vi.advanceTimersByTime(20_000);
    await grown.writeOut();
    expect(written()).toBe(1);
    vi.useRealTimers();
  });

  it('need no folder yet', async () => {
    await rm(join(folder, 'base'), { recursive: true });
    await expect(grown.writeOut()).resolves.toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('are reported once when the disk does not accept them', async () => {
    await symlink('/proc/self/oom_score', pathOf('16384')); // fdatasync fails with EINVAL
    await expect(grown.writeOut()).rejects.toThrow(NotWritten);
    await expect(grown.writeOut()).resolves.toBeUndefined();
  });
});
