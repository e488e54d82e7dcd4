/**
 * The function with its results, which are kept as long as the objects that they are of. Every vehicle of a message is read
 * together with the whole message, which may be large and does not change.
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
