import { InvalidArgumentError } from 'commander';

/**
 * A parser of a whole number in these bounds, for an option or argument.
 * @throws InvalidArgumentError from the parser
 */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `Use a whole number from ${min}.`
        : `Use a whole number from ${min} to ${max}.`,
    );
  };
}
