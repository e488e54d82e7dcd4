import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '@gantry/embedded-postgres';
import { inject } from 'vitest';
import { dataFolderAt } from '../../src/platform/database/open.ts';
import { copyDataFolder } from '../data-folders.ts';

/** A PostgreSQL server for one test file, which may suspend it. */
export interface OwnDatabase extends AsyncDisposable {
  readonly url: string;
  /** Suspends every process of the server (SIGSTOP): its connections stay open, and nothing answers. */
  freeze(): Promise<void>;
  /** Resumes the suspended processes (SIGCONT). */
  thaw(): Promise<void>;
}

const parentOf = async (pid: string): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
};

const childrenOf = async (parent: number): Promise<number[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(pids.map(parentOf));
  return pids.filter((_, index) => parents[index] === parent).map(Number);
};

/** Starts a server with an empty database in a folder of its own. */
export const startOwnDatabase = async (): Promise<OwnDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-own-database-'));
  await copyDataFolder(inject('dataFolderTemplate'), folder);
  const server: EmbeddedDatabase = await startEmbeddedDatabase({
    folder: dataFolderAt(folder),
    log: () => undefined,
  });
  const lock = join(folder, 'postgres', 'postmaster.pid');
  const postmaster = Number((await readFile(lock, 'utf8')).split('\n')[0]);
  let frozen: number[] = [];
  const send = (pids: readonly number[], signal: NodeJS.Signals): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // The process has ended in the meantime.
      }
    }
  };
  const thaw = async (): Promise<void> => {
    send(frozen, 'SIGCONT');
    frozen = [];
  };
  return {
    url: server.connectionString,
    async freeze() {
      // The postmaster first, so that it starts no further processes.
      send([postmaster], 'SIGSTOP');
      const children = await childrenOf(postmaster);
      send(children, 'SIGSTOP');
      frozen = [...children, postmaster];
    },
    thaw,
    async [Symbol.asyncDispose]() {
      await thaw();
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
};
