import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const pathOf = (dataDir: string): string => join(dataDir, 'demo-until');

/** Up to when the demo in this folder has events (Unix milliseconds); null when that is not known. */
export const readMark = async (dataDir: string): Promise<number | null> => {
  const text = await readFile(pathOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const time = Date.parse(text.trim());
  return Number.isNaN(time) ? null : time;
};

export const writeMark = async (dataDir: string, time: number): Promise<void> => {
  await writeFile(pathOf(dataDir), `${new Date(time).toISOString()}\n`);
};
