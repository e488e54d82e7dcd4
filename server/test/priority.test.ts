import { execFile } from 'node:child_process';
import { getPriority } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../src/platform/process/own-process.ts', import.meta.url).href;

async function priorityOf(nice: number): Promise<number> {
  const program = `
    import { getPriority } from 'node:os';
    import { lowerPriorityTo } from '${MODULE}';
    lowerPriorityTo(10);
    console.log(getPriority());`;
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)('nice', ['-n', String(nice), ...node]);
  return Number(stdout);
}

describe('the priority of work that others come before', () => {
  it('is lowered, and not raised where the whole service has a lower one', async () => {
    const usual = getPriority();
    const expected = [Math.max(10, usual), Math.min(usual + 15, 19)];
    expect(await Promise.all([priorityOf(0), priorityOf(15)])).toEqual(expected);
  });
});
