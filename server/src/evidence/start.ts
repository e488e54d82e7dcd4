import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { SealMode } from '@gantry/contract/evidence';
import { readDatabaseTime } from '../platform/database/moment.ts';
import type { DescribedError } from '../platform/describe-error.ts';
import { sealingThread } from '../platform/installation.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { endThread } from '../platform/process/own-process.ts';
import type { Foundation } from '../platform/start.ts';
import { dailyAt } from '../platform/time.ts';
import { openSealingKey, type SealingKey } from './seals.ts';
import { beginCheck } from './store.ts';

/** The folder of checkpoints within the data folder. */
export const CHECKPOINTS = 'seals';

/** The hour of the day, in the service's time zone, at which seals are checked, after the run of retention. */
const HOUR = 4;
const LOOK_MS = 600_000;

const HEAP_MB = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 8 };

/** What the thread is to do: to seal what was written, or the check of the night at a time in Unix milliseconds. */
export type SealingOrder = { readonly do: 'seal' } | { readonly do: 'check'; readonly now: number };

/** The settings of the thread that makes seals and checks them. */
export interface SealingSettings {
  readonly connectionString: string;
  readonly dataDir: string;
  /** The folder of checkpoints. */
  readonly folder: string;
  readonly mode: SealMode;
}

/** The answer to each order. */
export type SealingResult = { readonly count: number | null } | { readonly failure: DescribedError };

/** How often, and after how many milliseconds, records are sealed at once while another process seals. */
const MAX_TRIES = 50;
const TRY_MS = 100;

/** The services of evidence that the application context contains. */
export interface EvidenceServices {
  readonly sealMode: SealMode;
  readonly sealingKey: SealingKey;
  /** Seals what was recorded until now, if anything is sealed; what another process is sealing may be left out. */
  readonly sealNow: () => Promise<void>;
}

/**
 * Makes seals, and checks them every night, unless `SEAL` is off. The work is done in a thread, which takes one order at a
 * time, so that events do not wait for it.
 */
export async function startEvidence(
  { core, resources }: Foundation,
  connectionString: string,
): Promise<EvidenceServices> {
  const { config, db, log, timings, settings } = core;
  const mode = config.SEAL;
  const dataDir = config.DATA_DIR;
  const sealingKey = await openSealingKey(dataDir);
  if (mode === 'off') return { sealMode: mode, sealingKey, sealNow: async () => undefined };
  const thread = new SealingThread({ connectionString, dataDir, folder: join(dataDir, CHECKPOINTS), mode });
  resources.use(
    startPeriodic(
      { everyMs: timings.sealMs, log, failure: 'records cannot be sealed now; the next round continues' },
      () => thread.perform({ do: 'seal' }),
    ),
  );
  resources.use(
    startPeriodic(
      { everyMs: LOOK_MS, log, failure: 'the seals cannot be checked now; trying again tomorrow' },
      async () => {
        const now = await readDatabaseTime(db);
        const { last } = dailyAt(HOUR, now, settings.current().timezone);
        if (!(await beginCheck(db, last))) return;
        const faults = await thread.perform({ do: 'check', now });
        if (faults)
          log.error(
            { faults },
            'seals, or records that were sealed, were changed: gantry evidence check names them',
          );
      },
    ),
  );
  // Closed before the rounds, which wait for what the thread does.
  resources.use(thread);
  return {
    sealMode: mode,
    sealingKey,
    async sealNow() {
      // Another process that seals may have started before the latest records were written.
      for (let tries = 0; tries < MAX_TRIES && !thread.isEnding; tries++) {
        if ((await thread.perform({ do: 'seal' })) !== null) return;
        await sleep(TRY_MS);
      }
    },
  };
}

/** The thread, which starts with the first order. */
class SealingThread implements AsyncDisposable {
  readonly #settings: SealingSettings;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isEnding = false;

  constructor(settings: SealingSettings) {
    this.#settings = settings;
  }

  /** Whether it takes no more orders. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** @returns the number of seals or of faults; null where another process makes seals, or the service stops */
  perform(order: SealingOrder): Promise<number | null> {
    const result = this.#last.then(() => (this.#isEnding ? null : this.#ask(order)));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #ask(order: SealingOrder): Promise<number | null> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    let leave = (): void => undefined;
    const answer = new Promise<SealingResult>((resolve, reject) => {
      const end = () => reject(new Error('The thread that makes seals ended early'));
      worker.once('message', resolve).once('error', reject).once('exit', end);
      // Not all listeners: without those of Node.js itself, no further message arrives.
      leave = () => {
        worker.off('message', resolve).off('error', reject).off('exit', end);
      };
    });
    worker.postMessage(order);
    try {
      const result = await answer;
      if ('count' in result) return result.count;
      throw result.failure;
    } catch (failure) {
      if (this.#isEnding) return null;
      throw failure;
    } finally {
      leave();
    }
  }

  #start(): Worker {
    const worker = new Worker(sealingThread, { workerData: this.#settings, resourceLimits: HEAP_MB });
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    if (this.#worker) await endThread(this.#worker);
  }
}
