import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Spool, SpoolFull } from '../src/spool.ts';

const scratch = await mkdtemp(join(tmpdir(), 'spool-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(scratch, String(folders++));
const MAX_READ = { records: 100, bytes: 1_000 };
const noDamage = (position: number): never => {
  throw new Error(`damage at ${position}`);
};

const readAll = async (folder: string, onDamage: (position: number) => void = noDamage) => {
  await using spool = await Spool.open(folder, 1e9, onDamage);
  const records: string[] = [];
  for (let at = spool.start; at < spool.end; ) {
    const read = await spool.read(at, spool.end, MAX_READ);
    records.push(...read.records.map(String));
    at = read.end;
  }
  return records;
};

const write = async (folder: string, records: readonly string[]): Promise<void> => {
  await using spool = await Spool.open(folder, 1e9, noDamage);
  await Promise.all(records.map((record) => spool.append([record])));
};

describe('the spool', () => {
  it('returns records in the order in which they were appended, also after it was opened again', async () => {
    const folder = newFolder();
    await write(folder, ['a', 'ü'.repeat(2_000), 'b']);
    await write(folder, ['c']);
    expect(await readAll(folder)).toEqual(['a', 'ü'.repeat(2_000), 'b', 'c']);
  });

  it('continues over many files, and removes those that are sent', async () => {
    const folder = newFolder();
    await using spool = await Spool.open(folder, 1e9, noDamage);
    const big = 'x'.repeat(3_000_000);
    for (let n = 0; n < 7; n++) await spool.append([`${n}${big}`]);
    expect((await readdir(folder)).length).toBe(3);
    const { records, end } = await spool.read(0, spool.end, MAX_READ);
    expect(records.map((record) => String(record).charAt(0))).toEqual(['0']);
    await spool.removeBefore(end);
    expect((await readdir(folder)).length).toBe(3);
    const rest: string[] = [];
    for (let at = end; at < spool.end; ) {
      const read = await spool.read(at, spool.end, MAX_READ);
      rest.push(...read.records.map((record) => String(record).charAt(0)));
      at = read.end;
    }
    expect(rest).toEqual(['1', '2', '3', '4', '5', '6']);
    await spool.removeBefore(spool.end);
    expect((await readdir(folder)).length).toBe(1);
  });

  it('makes room on a full disk when everything is sent', async () => {
    const folder = newFolder();
    await using spool = await Spool.open(folder, 1e9, noDamage);
    await spool.append(['a', 'b']);
    const sent = spool.end;
    await spool.append(['c']);
    await spool.removeBefore(sent, true);
    expect(await readdir(folder)).toHaveLength(1);
    const sizes = async () =>
      Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
    expect(await sizes()).toEqual([spool.end]);
    await Promise.all([spool.removeBefore(spool.end, true), spool.append(['d']), spool.append(['e'])]);
    await spool.append(['f']);
    const { records } = await spool.read(spool.start, spool.end, MAX_READ);
    expect(records.map(String)).toEqual(['d', 'e', 'f']);
    await spool.removeBefore(spool.end, true);
    expect(await sizes()).toEqual([0]);
    await spool.append(['g']);
    await spool[Symbol.asyncDispose]();
    expect(await readAll(folder)).toEqual(['g']);
  });

  it('drops a record that a power failure left incomplete, reports it, and appends after it', async () => {
    const folder = newFolder();
    await write(folder, ['a', 'b']);
    const [file = ''] = await readdir(folder);
    await appendFile(join(folder, file), '12345678 {"half":');
    const damage: number[] = [];
    expect(await readAll(folder, (position) => damage.push(position))).toEqual(['a', 'b']);
    expect(damage).toEqual([22]);
    await write(folder, ['c']);
    expect(await readAll(folder)).toEqual(['a', 'b', 'c']);
  });

  it('reports the last record when its line break is damaged', async () => {
    const folder = newFolder();
    await write(folder, ['a', 'b']);
    const [file = ''] = await readdir(folder);
    const text = await readFile(join(folder, file), 'latin1');
    await writeFile(join(folder, file), `${text.slice(0, -1)}\v`, 'latin1');
    const damage: number[] = [];
    expect(await readAll(folder, (position) => damage.push(position))).toEqual(['a']);
    expect(damage).toEqual([11]);
  });

  it('skips a damaged record and reports its position', async () => {
    const folder = newFolder();
    await write(folder, ['first', 'second', 'third']);
    const [file = ''] = await readdir(folder);
    const text = await readFile(join(folder, file), 'utf8');
    await writeFile(join(folder, file), text.replace('second', 'sec0nd'));
    const damage: number[] = [];
    expect(await readAll(folder, (position) => damage.push(position))).toEqual(['first', 'third']);
    expect(damage).toEqual([15]);
  });

  it('skips what a file has lost at its end, and reports its position', async () => {
    const folder = newFolder();
    const big = 'x'.repeat(3_000_000);
    for (let n = 0; n < 4; n++) await write(folder, [`${n}${big}`]);
    const [first = '', second] = (await readdir(folder)).toSorted();
    expect(second).toBeDefined();
    await truncate(join(folder, first), 4_000_000);
    const damaged: number[] = [];
    const records = await readAll(folder, (position) => damaged.push(position));
    expect(records.map((record) => record.charAt(0))).toEqual(['0', '3']);
    expect(damaged).toEqual([3_000_011]);
  });

  it('refuses what exceeds its size, and accepts again after everything was sent', async () => {
    const folder = newFolder();
    await using spool = await Spool.open(folder, 100, noDamage);
    await spool.append(['x'.repeat(80)]);
    await expect(spool.append(['y'.repeat(80)])).rejects.toThrow(SpoolFull);
    expect((await spool.read(0, spool.end, MAX_READ)).records).toHaveLength(1);
    await spool.removeBefore(spool.end);
    await spool.append(['y'.repeat(80)]);
  });

  it('stays below a small maximum size, however much is sent', async () => {
    const folder = newFolder();
    await using spool = await Spool.open(folder, 1_000_000, noDamage);
    for (let n = 0; n < 50; n++) {
      await spool.append(['x'.repeat(100_000)]);
      await spool.removeBefore(spool.end);
    }
    const sizes = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))));
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(1_000_000);
  });
});
