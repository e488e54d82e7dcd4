import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { dropIncomplete } from '@gantry/spool/segment';
import type { Refused } from './target.ts';

/**
 * When `refused.jsonl` is larger than this, in bytes, it is renamed to `refused.1.jsonl`, replacing the previous one, before
 * the next messages are appended.
 */
const MAX_BYTES = 16 * 1024 * 1024;

export type Refusals = ReturnType<typeof createRefusals>;

/**
 * Appends refused messages to `refused.jsonl`, one per line with the reason. If appending fails, the file is truncated to its
 * previous size, so that the same messages can be appended again.
 */
export function createRefusals(folder: string, log: (message: string) => void) {
  const path = join(folder, 'refused.jsonl');
  let count = 0;
  /** The last append. Inputs and the uplink append concurrently, so each append waits for the previous one. */
  let last: Promise<void> = Promise.resolve();

  const openFile = async () => {
    const file = await open(path, 'a+');
    const size = await dropIncomplete(file);
    if (size <= MAX_BYTES) return { file, size };
    await file.close();
    await rename(path, join(folder, 'refused.1.jsonl'));
    return { file: await open(path, 'a+'), size: 0 };
  };

  const append = async (refused: readonly Refused[]): Promise<void> => {
    const { file, size } = await openFile();
    try {
      await file.appendFile(
        refused.map(({ kept, reason }) => `${JSON.stringify({ reason, ...kept })}\n`).join(''),
      );
      await file.datasync();
    } catch (error) {
      await file.truncate(size).catch(() => undefined);
      throw error;
    } finally {
      await file.close();
    }
    count += refused.length;
    log(`${refused.length} messages were refused and are kept in ${path}: ${refused[0]?.reason ?? ''}`);
  };

  return {
    get count() {
      return count;
    },
    keep(refused: readonly Refused[]): Promise<void> {
      const kept = last.then(() => append(refused));
      last = kept.catch(() => undefined);
      return kept;
    },
  };
}
