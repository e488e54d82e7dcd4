import { setTimeout as sleep } from 'node:timers/promises';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Logger } from 'pino';
import type { FirstAdministrator } from '../../accounts/first-administrator.ts';
import { BEAT_MS, MAX_SILENT_BEATS } from '../../platform/process/watchdog.ts';
import { type Listening, startWorkerProcess, type WorkerProcess } from './worker-process.ts';

/** Pause before a worker that ended is restarted, in milliseconds; doubled each time until one runs long enough. */
const INITIAL_PAUSE_MS = 200;
const MAX_PAUSE_MS = 15_000;
const LONG_ENOUGH_MS = 30_000;

/** Workers are killed this long before this process ends itself, in milliseconds. */
const KILLED_BEFORE_MS = 2_000;

/** A worker ends itself when its event loop is blocked, and logs where. The others, such as a stopped one, are killed later. */
const MAX_SILENT_BEATS_OF_WORKER = MAX_SILENT_BEATS + 4;

/** The environment variable that contains the number of a worker. */
export const WORKER_NUMBER = 'GANTRY_WORKER';

export interface WorkersOptions {
  readonly count: number;
  /** Settings that all workers share. */
  readonly environment: Readonly<Record<string, string>>;
  /** The time after which this process ends itself when it is asked to stop, in milliseconds. */
  readonly stopDeadlineMs: number;
  readonly log: Logger;
}

/** Processes that serve one port together. Workers that end are restarted until this is disposed of. */
export class Workers implements AsyncDisposable {
  readonly #options: WorkersOptions;
  /** The time after which workers that are asked to stop are killed, in milliseconds. */
  readonly #stopMs: number;
  readonly #ending = new AbortController();
  readonly #alive = new Set<WorkerProcess>();
  readonly #kept: Promise<void>[] = [];
  readonly #monitoring: NodeJS.Timeout;
  /** The number of workers that were killed while they were asked to stop. */
  #killed = 0;
  #firstAdministrator: FirstAdministrator | null = null;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#stopMs = options.stopDeadlineMs - KILLED_BEFORE_MS;
    this.#monitoring = setInterval(() => this.#killSilent(), BEAT_MS).unref();
  }

  /** The administrator that the start of the workers created, if any. */
  get firstAdministrator(): FirstAdministrator | null {
    return this.#firstAdministrator;
  }

  /**
   * Starts the workers.
   * @returns the address, once all of them are listening
   * @throws Error when one of them cannot start
   */
  async listen(): Promise<string> {
    // The first one starts alone: it migrates the schema, and a problem is reported only once. All begin to listen
    // together, because clients keep their connections and the first listener would get all of them.
    const first = this.#start(1);
    await orFail(first.prepared);
    this.#ending.signal.throwIfAborted();
    const others = Array.from({ length: this.#options.count - 1 }, (_, index) => this.#start(index + 2));
    await Promise.all(others.map(({ prepared }) => orFail(prepared)));
    const listening = await this.#letListen(first, 1);
    this.#firstAdministrator = listening.firstAdministrator;
    await Promise.all(others.map((worker, index) => this.#letListen(worker, index + 2)));
    return listening.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    for (const worker of this.#alive) worker.askToStop();
    const deadline = setTimeout(() => {
      for (const worker of this.#alive) this.#kill(worker);
    }, this.#stopMs);
    await Promise.all([...this.#kept, ...[...this.#alive].map(({ ended }) => ended)]);
    clearTimeout(deadline);
    clearInterval(this.#monitoring);
    if (this.#killed > 0)
      throw new Error(
        `${this.#killed} worker processes did not stop within ${this.#stopMs / 1_000} s, or did not respond, and were killed.`,
      );
  }

  /** Beats of this process are counted, not time: a machine that was suspended does not kill its workers. */
  #killSilent(): void {
    for (const worker of this.#alive) {
      if (worker.countBeat() !== MAX_SILENT_BEATS_OF_WORKER) continue;
      const fields = { process: worker.pid };
      this.#options.log.error(fields, 'a worker does not turn its event loop and is killed');
      this.#kill(worker);
    }
  }

  #kill(worker: WorkerProcess): void {
    if (this.#ending.signal.aborted) this.#killed++;
    worker.kill();
  }

  async #gatherMetrics(): Promise<string> {
    const serving = [...this.#alive].filter(({ isServing }) => isServing);
    const texts = await Promise.all(serving.map((worker) => worker.askMetrics()));
    return joinMetrics(texts.filter((text) => text !== null));
  }

  #start(number: number): WorkerProcess {
    const { environment, log } = this.#options;
    const own = { ...environment, [WORKER_NUMBER]: String(number) };
    const worker = startWorkerProcess(own, () => this.#gatherMetrics());
    this.#alive.add(worker);
    void worker.listening.then(
      (now) => now && log.info({ worker: number, process: worker.pid, url: now.url }, 'a worker serves'),
    );
    void worker.ended.then(() => this.#alive.delete(worker));
    return worker;
  }

  async #letListen(worker: WorkerProcess, number: number): Promise<Listening> {
    worker.letListen();
    const listening = await orFail(worker.listening);
    this.#kept.push(this.#keep(number, worker));
    return listening;
  }

  /** Restarts the worker whenever it has ended, with growing pauses until one runs long enough. */
  async #keep(number: number, first: WorkerProcess): Promise<void> {
    const { signal } = this.#ending;
    let pause = INITIAL_PAUSE_MS;
    for (let worker = first; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      const reason = await worker.ended;
      if (signal.aborted) return;
      if (performance.now() - worker.startedAt > LONG_ENOUGH_MS) pause = INITIAL_PAUSE_MS;
      const fields = { worker: number, process: worker.pid, reason, pause };
      this.#options.log.error(fields, 'a worker ended and is being replaced');
      await ignoreErrno(sleep(pause, undefined, { signal }), 'ABORT_ERR');
      if (signal.aborted) return;
      const next = this.#start(number);
      void next.prepared.then(() => next.letListen());
      worker = next;
    }
  }
}

async function orFail<Answer>(answer: Promise<Answer | null>): Promise<Answer> {
  const given = await answer;
  if (given === null) throw new Error('A worker process ended before it was ready; see its message.');
  return given;
}

/**
 * Merges the metrics of several processes in Prometheus' text format: each metric is described once, with the samples
 * of all. The samples must differ in a label.
 */
export function joinMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, { about: Set<string>; samples: string[] }>();
  for (const text of texts) {
    let current = { about: new Set<string>(), samples: [] as string[] };
    for (const line of text.split('\n')) {
      const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        current = metrics.get(name) ?? { about: new Set(), samples: [] };
        metrics.set(name, current);
        current.about.add(line);
      } else if (line !== '') current.samples.push(line);
    }
  }
  const parts = [...metrics.values()].map(({ about, samples }) => [...about, ...samples, ''].join('\n'));
  return parts.join('\n');
}
