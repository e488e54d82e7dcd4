import { type Command, InvalidArgumentError } from 'commander';

/** Returns a parser for an option that is a number from `min` to `max`, by default an integer. */
export function numberBetween(min: number, max: number, { whole = true } = {}) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max && (!whole || Number.isInteger(value)))
      return value;
    throw new InvalidArgumentError(`Use a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`);
  };
}

/** Returns a parser for an option that is a list of values separated by commas. The result is sorted, without duplicates. */
export function listOf(parse: (text: string) => number) {
  return (text: string): number[] => [...new Set(text.split(',').map(parse))].sort((a, b) => a - b);
}

/** Adds the options that most benchmarks have: the database, the folder of the data, and the output of the results. */
export function addCommonOptions(command: Command): Command {
  return command
    .option(
      '--database-url <address>',
      'a PostgreSQL server on which databases may be created',
      databaseAddress,
    )
    .option('--folder <path>', 'folder for temporary data, on a disk')
    .option('--json', 'print the results as JSON', false)
    .option('--save', 'keep the results in bench/results', false);
}

/** Parses an option that is the address of a PostgreSQL server. */
function databaseAddress(text: string): string {
  if (/^postgres(ql)?:\/\/.+/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('Use an address such as postgres://user:password@host:5432/postgres.');
}
