import { InvalidArgumentError } from 'commander';

/**
 * Returns a parser for an option of a command that is a number from `min` to `max`.
 * The parser throws an InvalidArgumentError that names the range for any other text.
 */
export function numberBetween(min: number, max: number, whole: boolean) {
  return (text: string) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max && (!whole || Number.isInteger(value)))
      return value;
    throw new InvalidArgumentError(`Use a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`);
  };
}
