import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { BlobStore } from './blobs.ts';

const KEY = /^[0-9a-f]{64}$/;

/** Files in 65,536 nested folders: the key `abcd…` is stored in `ab/cd`. */
export function createDiskBlobs(folder: string): BlobStore {
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error(`Not a key: ${key}`);
    return join(folder, key.slice(0, 2), key.slice(2, 4), key);
  };

  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await makeFolder(dirname(path));
      const draft = `${path}.${randomUUID()}`;
      try {
        await writeDurably(draft, bytes);
        await rename(draft, path);
      } finally {
        await rm(draft, { force: true });
      }
      await syncFolder(dirname(path));
    },

    async get(key) {
      const file = await ignoreErrno(open(pathOf(key), 'r'), 'ENOENT');
      return file === undefined ? null : createReadStream('', { fd: file });
    },

    async stat(key) {
      const found = await ignoreErrno(stat(pathOf(key)), 'ENOENT');
      return found === undefined ? null : { bytes: found.size };
    },

    delete: (key) => rm(pathOf(key), { force: true }),

    async *list() {
      for (const first of await namesIn(folder)) {
        for (const second of await namesIn(join(folder, first))) {
          for (const key of await namesIn(join(folder, first, second))) {
            if (!KEY.test(key)) continue;
            const found = await ignoreErrno(stat(pathOf(key)), 'ENOENT');
            if (found !== undefined) yield { key, bytes: found.size };
          }
        }
      }
    },

    async [Symbol.asyncDispose]() {},
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ignoreErrno(readdir(folder), 'ENOENT')) ?? [];
}

/** Creates a folder and its missing parents so that they survive a power failure. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
