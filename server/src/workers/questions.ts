/** Questions to another process whose answers are still to come, by their number. */
export class PendingRequests {
  readonly #open = new Map<number, (answer: string | null) => void>();
  #last = 0;

  /**
   * Puts a question, with a number by which the answer is known.
   * @param patience how long to wait for the answer, in milliseconds
   * @returns the answer; null when none came in time
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

  /** Hands the answer to whoever asked, unless they no longer wait. */
  answer(question: number, answer: string): void {
    this.#settle(question, answer);
  }

  #settle(question: number, answer: string | null): void {
    this.#open.get(question)?.(answer);
    this.#open.delete(question);
  }
}
