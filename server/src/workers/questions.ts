/** Requests to another process that have not been answered, by number. */
export class PendingRequests {
  readonly #open = new Map<number, (answer: string | null) => void>();
  #last = 0;

  /**
   * Sends a request with a number that identifies its answer.
   * @param patience time limit for the answer, in milliseconds
   * @param put sends the request
   * @returns the answer; null when there was none in time
   */
  ask(patience: number, put: (question: number) => void): Promise<string | null> {
    const question = ++this.#last;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(question, null), patience);
      this.#open.set(question, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      put(question);
    });
  }

  /** Resolves the request, unless it has timed out. */
  answer(question: number, answer: string): void {
    this.#settle(question, answer);
  }

  #settle(question: number, answer: string | null): void {
    this.#open.get(question)?.(answer);
    this.#open.delete(question);
  }
}
