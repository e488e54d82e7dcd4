import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { addressOf } from './connection.ts';
import { ignoreErrno } from './errno.ts';
import { NotWritten, watchGrownFiles } from './grown-files.ts';
import {
  crashPostmaster,
  forgetPostmaster,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import { isAlive } from './processes.ts';

/** Milliseconds between two checks of the server, and the maximum wait before another attempt to restart it. */
const WATCH_MS = 500;
const MAX_WAIT_MS = 15_000;
/** Milliseconds between two rounds in which grown files are written to the disk. */
const WRITE_OUT_MS = 2_000;

/** A running server. It is restarted on its port whenever it ends, until it is disposed of. */
export class SupervisedServer implements AsyncDisposable {
  readonly connectionString: string;
  readonly #cluster: Cluster;
  readonly #port: number;
  readonly #claim: AsyncDisposable | undefined;
  readonly #log: (line: string) => void;
  readonly #ending = new AbortController();
  readonly #working: Promise<unknown>;
  /** Undefined while the server is down. */
  #current: Postmaster | undefined;
  #ended: Promise<void> | undefined;

  /** @param claim on the folder of a database outside the data folder; released at the end */
  constructor(
    cluster: Cluster,
    postmaster: Postmaster,
    claim: AsyncDisposable | undefined,
    log: (line: string) => void,
  ) {
    this.connectionString = addressOf(cluster, postmaster.port, cluster.application.database);
    this.#cluster = cluster;
    this.#port = postmaster.port;
    this.#current = postmaster;
    this.#claim = claim;
    this.#log = log;
    this.#working = Promise.all([this.#watch(), process.platform === 'linux' && this.#writeOut()]);
  }

  /** Stops the server. Further calls wait for the first. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    try {
      await this.#working;
      if (this.#current) await stopPostmaster(this.#current.pid);
      this.#log('PostgreSQL is stopped');
    } finally {
      await this.#claim?.[Symbol.asyncDispose]();
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await pause(WATCH_MS, signal);
      if (signal.aborted || (this.#current && (await isAlive(this.#current.pid)))) continue;
      this.#log(`PostgreSQL died: bringing it back on port ${this.#port}`);
      if (this.#current) forgetPostmaster(this.#current.pid);
      this.#current = undefined;
      this.#current = await this.#bringBack();
    }
  }

  /** Restarts the server, with growing delays between attempts, until it runs. Undefined if disposal begins first. */
  async #bringBack(): Promise<Postmaster | undefined> {
    const { signal } = this.#ending;
    for (let wait = WATCH_MS; !signal.aborted; wait = Math.min(2 * wait, MAX_WAIT_MS)) {
      try {
        const postmaster = await startPostmaster(this.#cluster, this.#port, signal);
        this.#log(`PostgreSQL is back on port ${this.#port} (pid ${postmaster.pid})`);
        return postmaster;
      } catch (error) {
        if (signal.aborted) return undefined;
        this.#log(`PostgreSQL did not come back, trying again in ${wait} ms: ${String(error)}`);
      }
      await pause(wait, signal);
    }
    return undefined;
  }

  async #writeOut(): Promise<void> {
    const { signal } = this.#ending;
    const grown = watchGrownFiles(this.#cluster.folder);
    let isReported = false;
    while (!signal.aborted) {
      await pause(WRITE_OUT_MS, signal);
      try {
        await grown.writeOut();
        isReported = false;
      } catch (error) {
        if (error instanceof NotWritten) {
          this.#log(`PostgreSQL is stopped, so that it recovers from its log: ${error.message}`);
          if (this.#current) crashPostmaster(this.#current.pid);
        } else if (!isReported) {
          this.#log(`Files that grow are left to the system, trying again: ${String(error)}`);
          isReported = true;
        }
      }
    }
  }
}

/** Waits, at most until the signal is aborted. The wait does not keep the process alive. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await ignoreErrno(sleep(milliseconds, undefined, { signal, ref: false }), 'ABORT_ERR');
}
