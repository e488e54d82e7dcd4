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
