import type { FirstAdministrator } from '../../accounts/first-administrator.ts';

// The messages between the processes of one service. The primary starts the workers, and the workers serve requests.

/** Messages of a worker. */
export type FromWorker =
  /** Its event loop turns. Sent with each beat (`BEAT_MS`). */
  | { readonly type: 'beat' }
  | { readonly type: 'prepared' }
  | {
      readonly type: 'listening';
      readonly url: string;
      readonly firstAdministrator: FirstAdministrator | null;
    }
  | { readonly type: 'getAllMetrics'; readonly request: number }
  | { readonly type: 'metrics'; readonly request: number; readonly text: string };

/** Messages of the primary. The number of a request is repeated in its answer. */
export type FromPrimary =
  | { readonly type: 'listen' }
  | { readonly type: 'stop' }
  | { readonly type: 'getMetrics'; readonly request: number }
  | { readonly type: 'allMetrics'; readonly request: number; readonly text: string };

/** Requests to another process that have not been answered, by number. */
export class PendingRequests {
  readonly #open = new Map<number, (answer: string | null) => void>();
  #last = 0;

  /**
   * Sends a request with a number that identifies its answer.
   * @param patience time limit for the answer, in milliseconds
   * @param send sends the request
   * @returns the answer; null when there was none in time
   */
  ask(patience: number, send: (request: number) => void): Promise<string | null> {
    const request = ++this.#last;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(request, null), patience);
      this.#open.set(request, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      send(request);
    });
  }

  /** Resolves the request, unless it has timed out. */
  answer(request: number, answer: string): void {
    this.#settle(request, answer);
  }

  #settle(request: number, answer: string | null): void {
    this.#open.get(request)?.(answer);
    this.#open.delete(request);
  }
}
