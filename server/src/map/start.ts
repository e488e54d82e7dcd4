import type { Core } from '../platform/context.ts';
import type { Foundation } from '../platform/start.ts';
import { RoadsFolder, type StagedRecord } from './folder.ts';
import { makeRoadsInProcess } from './process.ts';
import { RoadsRefused } from './road-file.ts';

/** How often the progress is recorded, in milliseconds. */
const NOTE_MS = 1_000;

/** Reads files with roads, one at a time in this process, until it is disposed of, which ends the one in progress. */
export class RoadsReading implements AsyncDisposable {
  readonly #folder: RoadsFolder;
  readonly #log: Core['log'];
  readonly #ending = new AbortController();
  #reading: { readonly id: string; readonly stop: AbortController; readonly done: Promise<void> } | null =
    null;

  constructor(folder: RoadsFolder, log: Core['log']) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Begins to read a file that was received. Its record says how far it is. */
  async begin(record: StagedRecord): Promise<void> {
    await this.#folder.note(record);
    const stop = new AbortController();
    const done = this.#read(record, AbortSignal.any([stop.signal, this.#ending.signal])).catch(
      (err: unknown) => this.#log.error({ err }, 'the state of the roads of the map cannot be written'),
    );
    this.#reading = { id: record.id, stop, done };
  }

  /** Stops reading a file, if this process reads it. */
  async stop(id: string): Promise<void> {
    if (this.#reading?.id !== id) return;
    this.#reading.stop.abort();
    await this.#reading.done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#reading?.done;
  }

  async #read(record: StagedRecord, signal: AbortSignal): Promise<void> {
    const { id, fileName, attribution, at } = record;
    let [progress, noted] = [0, Promise.resolve()];
    const note = (change: Partial<StagedRecord>): Promise<void> => {
      noted = noted.then(async () => {
        // Another process may have discarded it, or received another file.
        if ((await this.#folder.staged())?.id === id) await this.#folder.note({ ...record, ...change });
      });
      return noted;
    };
    // It also says that this process is alive.
    const timer = setInterval(() => void note({ progress }).catch(() => undefined), NOTE_MS);
    try {
      const target = this.#folder.tilesOf(id);
      const job = { path: this.#folder.uploadOf(id), target, origin: { id, fileName, attribution, at } };
      const onProgress = (share: number): void => {
        progress = share;
      };
      const report = await makeRoadsInProcess(job, { signal, onProgress });
      clearInterval(timer);
      await note({ state: 'READY', progress: 1, report });
    } catch (error) {
      clearInterval(timer);
      if (signal.aborted) return;
      if (!(error instanceof RoadsRefused))
        this.#log.error({ err: error }, 'a file with roads could not be read');
      const problem =
        error instanceof RoadsRefused
          ? error.message
          : 'The file could not be read: see the log of the service';
      await note({ state: 'REFUSED', problem });
    } finally {
      await this.#folder.removeUpload(id);
    }
  }
}

/** The services of this module. */
export interface MapServices {
  readonly roadsFolder: RoadsFolder;
  readonly roadsReading: RoadsReading;
}

/** Starts what makes the map of a city's own roads. */
export function startMap({ core, resources }: Pick<Foundation, 'core' | 'resources'>): MapServices {
  const roadsFolder = new RoadsFolder(core.config.DATA_DIR);
  return { roadsFolder, roadsReading: resources.use(new RoadsReading(roadsFolder, core.log)) };
}
