import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { dropIncomplete } from './spool.ts';
import type { Refused } from './target.ts';

/** Two files of at most this size are kept. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Appends messages that the service refused to `refused.jsonl`, one in a line with its reason. If it fails, the file is as
 * it was, and the same messages can be appended again.
 */
export function createRefusals(folder: string, log: (message: string) => void) {
  const path = join(folder, 'refused.jsonl');
  let count = 0;
  /** Inputs and the uplink append, one after the other. */
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
