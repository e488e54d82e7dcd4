import { InvalidArgumentError } from 'commander';

/**
 * Parses the value of an option of a command.
 * @throws InvalidArgumentError with the range, for anything else than a number in it
 */
export function numberBetween(min: number, max: number, whole: boolean) {
  return (text: string) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max && (!whole || Number.isInteger(value)))
      return value;
    throw new InvalidArgumentError(`Use a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`);
  };
}
