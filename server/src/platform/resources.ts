/** Resources that were opened one after another. Disposing closes all of them in reverse order, even if one fails. */
export class Resources implements AsyncDisposable {
  readonly #closers: (() => Promise<unknown> | unknown)[] = [];

  onClose(close: () => Promise<unknown> | unknown): void {
    this.#closers.push(close);
  }

  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    this.onClose(() => resource[Symbol.asyncDispose]());
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be closed');
  }
}
