/**
 * Returns the function with a cache: each result is kept as long as the object for which it was computed. Each vehicle of
 * a message is read together with the whole message, which may be large and does not change.
 */
export function remembered<Result>(compute: (value: object) => Result): (value: object) => Result {
  const results = new WeakMap<object, Result>();
  return (value) => {
    const known = results.get(value);
    if (known !== undefined) return known;
    const result = compute(value);
    results.set(value, result);
    return result;
  };
}
