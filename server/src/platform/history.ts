/** A value with the time from which it applied (Unix milliseconds). */
export interface Since<Value> {
  readonly since: number;
  readonly value: Value;
}

/** Successive values in order; the first one applies since `Number.NEGATIVE_INFINITY`. */
export type History<Value> = readonly Since<Value>[];

/** A history of a single value. */
export function always<Value>(value: Value): History<Value> {
  return [{ since: Number.NEGATIVE_INFINITY, value }];
}

/** The value at a time; undefined for an empty history. */
export function heldAt<Value>(history: History<Value>, time: number): Value | undefined {
  return (history.findLast(({ since }) => since <= time) ?? history[0])?.value;
}
