import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Copies a data folder whose database is stopped, with the owners of its files, into a folder that may exist. */
export const copyDataFolder = async (from: string, to: string): Promise<void> => {
  await promisify(execFile)('cp', ['-a', `${from}/.`, to]);
};
