import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The time up to which the demo in this folder has events (Unix milliseconds); null if unknown. */
export async function readMark(dataDir: string): Promise<number | null> {
  const text = await readFile(pathOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const time = Date.parse(text.trim());
  return Number.isNaN(time) ? null : time;
}

export async function writeMark(dataDir: string, time: number): Promise<void> {
  await writeFile(pathOf(dataDir), `${new Date(time).toISOString()}\n`);
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'demo-until');
}
