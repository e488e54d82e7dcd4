/**
 * A value that is read when it is needed and kept for some time. A failure is not kept, and callers at the same time share
 * one reading.
 * @param keptMs in milliseconds
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
