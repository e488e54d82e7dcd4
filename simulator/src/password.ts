import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SimulationError } from './simulation.ts';

/**
 * The password that the service generated for its first administrator; null if there is no file with it.
 * @throws SimulationError when the file cannot be read
 */
export async function readInitialPassword(dataDir: string): Promise<string | null> {
  const path = join(dataDir, 'initial-admin-password');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new SimulationError(`Cannot read ${path} (${code}): make it readable, or give the password`);
  }
}
