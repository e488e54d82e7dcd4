/** The parameters of a statement whose text is written once and run often. */
export interface Parameters<Input> {
  /**
   * Adds a parameter.
   * @param value computes it for one run
   * @returns how the text of the statement refers to it: `$1`, `$2`, …
   */
  add(value: (input: Input) => unknown): string;
  /** The values for one run, in the order of their numbers. */
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
