import { open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Refused } from './target.ts';

/** Two files of at most this size are kept. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Appends messages that the service refused to `refused.jsonl`, one in a line with its reason. */
export function createRefusals(folder: string, log: (message: string) => void) {
  const path = join(folder, 'refused.jsonl');
  let count = 0;
  return {
    get count() {
      return count;
    },
    async keep(refused: readonly Refused[]): Promise<void> {
      const size = await stat(path).then(
        (found) => found.size,
        () => 0,
      );
      if (size > MAX_BYTES) await rename(path, join(folder, 'refused.1.jsonl'));
      const file = await open(path, 'a');
      try {
        await file.appendFile(
          refused.map(({ kept, reason }) => `${JSON.stringify({ reason, ...kept })}\n`).join(''),
        );
        await file.datasync();
      } finally {
        await file.close();
      }
      count += refused.length;
      log(`${refused.length} messages were refused and are kept in ${path}: ${refused[0]?.reason ?? ''}`);
    },
  };
}
