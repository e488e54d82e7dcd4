import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSegment, writeSegment } from '../src/segment.ts';
import { Spool } from '../src/spool.ts';

const scratch = await mkdtemp(join(tmpdir(), 'spool-segment-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const RECORDS = [
  Buffer.alloc(0),
  Buffer.from('text'),
  Buffer.from('\n\x1b\x1bn\x1be\n'),
  randomBytes(5_000),
  Buffer.from([...Array(256).keys()]),
];

describe('a segment', () => {
  it('contains records of arbitrary bytes', async () => {
    const path = join(scratch, 'any.segment');
    const size = await writeSegment(path, RECORDS);
    expect(await readSegment(path)).toEqual({ records: RECORDS, damaged: [] });
    expect(size).toBeGreaterThan(5_000);
    expect(await readdir(scratch)).toEqual(['any.segment']);
  });

  it('is refused in a folder that does not exist', async () => {
    await expect(writeSegment(join(scratch, 'no', 'folder'), ['a'])).rejects.toThrow('ENOENT');
  });

  it('shows what is damaged, and what is left of an incomplete record', async () => {
    const path = join(scratch, 'damaged.segment');
    await writeSegment(path, ['first']);
    await appendFile(path, '00000000 second\n12345678 th');
    const { records, damaged } = await readSegment(path);
    expect(records.map(String)).toEqual(['first']);
    expect(damaged.map(String)).toEqual(['00000000 second', '12345678 th']);
  });

  it('has the format of those that a spool appends to', async () => {
    const folder = join(scratch, 'spool');
    await using spool = await Spool.open(folder, 1e9, () => undefined);
    await spool.append(RECORDS);
    const [name = ''] = await readdir(folder);
    expect(await readSegment(join(folder, name))).toEqual({ records: RECORDS, damaged: [] });
    expect((await spool.read(0, spool.end, { records: 10, bytes: 1e6 })).records).toEqual(RECORDS);
  });
});
