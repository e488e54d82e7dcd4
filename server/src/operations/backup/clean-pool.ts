import { join } from 'node:path';
import type { Logger } from 'pino';
import { readCompressed } from './archive-file.ts';
import { listBackups, POOL } from './folder.ts';
import { readPictureList, removeUnlisted } from './pictures.ts';
import { readManifest } from './verify.ts';

/** Removes the pictures that no backup of the folder names. If a backup cannot be read, all stay. */
export async function cleanPool(folder: string, log: Pick<Logger, 'warn'>): Promise<void> {
  try {
    const lists = [];
    for (const name of await listBackups(folder)) {
      const path = join(folder, name);
      const { pictures } = await readManifest(path);
      lists.push(readPictureList(readCompressed(path, pictures.file)));
    }
    await removeUnlisted(join(folder, POOL), lists);
  } catch (err) {
    log.warn({ err }, 'pictures of old backups are kept, because a backup cannot be read');
  }
}
