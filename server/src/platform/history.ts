/** What held from a moment on (Unix milliseconds). */
export interface Since<Value> {
  readonly since: number;
  readonly value: Value;
}

/** What held one after another, in order; the first since ever, `Number.NEGATIVE_INFINITY`. */
export type History<Value> = readonly Since<Value>[];

/** What has always been so. */
export function always<Value>(value: Value): History<Value> {
  return [{ since: Number.NEGATIVE_INFINITY, value }];
}

/** What held at a moment; what was first before there is anything, undefined for an empty history. */
export function heldAt<Value>(history: History<Value>, time: number): Value | undefined {
  return (history.findLast(({ since }) => since <= time) ?? history[0])?.value;
}
