/**
 * Returns a function that reads a value when it is needed and caches it for some time. Failures are not cached, and
 * concurrent callers share one call of `read`.
 * @param keptMs how long the value is cached, in milliseconds
 */
export function keptFor<Value>(read: () => Promise<Value>, keptMs: number): () => Promise<Value> {
  let kept: { readonly value: Promise<Value>; readonly until: number } | null = null;
  return () => {
    if (kept && performance.now() < kept.until) return kept.value;
    const reading = { value: read(), until: performance.now() + keptMs };
    kept = reading;
    reading.value.catch(() => {
      if (kept === reading) kept = null;
    });
    return reading.value;
  };
}
