/** A value that is used often and changes rarely, so it is kept in memory. */
export interface Latest<Value> {
  current(): Value;
  /** Reads the value again. If that fails, the promise is rejected and the value stays as it was. */
  refresh(): Promise<void>;
}

/**
 * Reads a value and keeps it. If several reads overlap, one that began earlier never replaces the result of one that
 * began later, because it may not have seen the last change.
 */
export async function keepLatest<Value>(read: () => Promise<Value>): Promise<Latest<Value>> {
  let value = await read();
  let started = 0;
  let newest = 0;
  return {
    current: () => value,
    async refresh() {
      const turn = ++started;
      const fresh = await read();
      if (turn < newest) return;
      newest = turn;
      value = fresh;
    },
  };
}
