/** The parameters of a statement whose text is built once and run often. */
export interface Parameters<Input> {
  /**
   * Adds a parameter.
   * @param value computes its value for one run
   * @returns the reference for the text of the statement: `$1`, `$2`, …
   */
  add(value: (input: Input) => unknown): string;
  /** The values for one run, in order. */
  valuesOf(input: Input): unknown[];
}

/** Numbers the parameters of a statement in the order in which they are added. */
export function createParameters<Input>(): Parameters<Input> {
  const values: ((input: Input) => unknown)[] = [];
  return {
    add: (value) => `$${values.push(value)}`,
    valuesOf: (input) => values.map((value) => value(input)),
  };
}
