import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readProgress } from '../src/progress.ts';

const scratch = await mkdtemp(join(tmpdir(), 'gantry-edge-progress-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('the progress', () => {
  it('separates waiting records from new ones, and survives a restart', async () => {
    const folder = await mkdtemp(join(scratch, 'spool-'));
    const progress = await readProgress(folder, 0, 1_001);
    progress.divideAt(1_000);
    expect(progress.ranges).toEqual([
      { from: 0, to: 1_000 },
      { from: 1_000, to: Number.POSITIVE_INFINITY },
    ]);
    await progress.advance(progress.ranges[1] ?? { from: 0, to: 0 }, 1_001);
    await progress.advance(progress.ranges[0] ?? { from: 0, to: 0 }, 300);
    const again = await readProgress(folder, 0, 1_001);
    expect(again.ranges).toEqual([
      { from: 300, to: 1_000 },
      { from: 1_001, to: Number.POSITIVE_INFINITY },
    ]);
    expect(again.sentBefore).toBe(300);
    await again.advance(again.ranges[0] ?? { from: 0, to: 0 }, 1_000);
    expect(again.sentBefore).toBe(1_001);
  });

  it('starts from the beginning when its file is damaged', async () => {
    const folder = await mkdtemp(join(scratch, 'spool-'));
    await writeFile(join(folder, 'progress.json'), '[[1');
    expect((await readProgress(folder, 0, 11)).ranges).toEqual([{ from: 0, to: Number.POSITIVE_INFINITY }]);
  });
});
