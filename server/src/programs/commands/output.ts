import { isIsoTime } from '@gantry/contract/time';
import { InvalidArgumentError } from 'commander';
import { RoadsRefused } from '../../map/road-file.ts';
import { BackupRefused } from '../../operations/backup/refusal.ts';
import { ConfigError } from '../../platform/config.ts';
import { sqlState } from '../../platform/database/failure.ts';
import { UnsuitableDatabase } from '../../platform/database/wait.ts';
import { describeError, safeText, withCauses } from '../../platform/describe-error.ts';

/** Writes a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes the result of a command for programs (`--json`). */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** A number of bytes for people. */
export function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

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

/** A parser of a time, for an option. @throws InvalidArgumentError */
export function isoTime(text: string): string {
  if (isIsoTime(text)) return text;
  throw new InvalidArgumentError('Use a time such as 2026-01-31T08:15:00Z or 2026-01-31.');
}

/** The exit codes of all commands. */
export const exitCodes = {
  done: 0,
  /** It failed, or it found something that has to be corrected. */
  failed: 1,
  /** The arguments are wrong and nothing was done, or a command that checks something could not check it. */
  usage: 2,
} as const;

/** A command cannot do what was asked. The message is a sentence that says what to do. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** The arguments contradict each other or name something that does not exist. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** SQLSTATEs for missing tables, columns and functions. */
const MISSING = /^42(P01|703|883)$/;

/** Errors whose messages are written for people. */
const OURS = [CommandFailed, WrongUsage, ConfigError, BackupRefused, RoadsRefused, UnsuitableDatabase];

/** The message of an error for people: without a stack, and without values of statements. */
export function messageOf(error: unknown): string {
  // Our own messages may repeat what the caller gave, such as an e-mail address.
  if (OURS.some((type) => error instanceof type)) return (error as Error).message;
  if (MISSING.test(sqlState(error) ?? ''))
    return 'The schema is not that of this version: start the service once to update it.';
  if (!(error instanceof Error)) return safeText(error);
  return withCauses(describeError(error).message, error);
}

/** How the failure of a command is reported. */
export interface FailureReport {
  /** A sentence before the reason, such as `Not checked.` */
  readonly what?: string;
  /** The exit code, unless the arguments are wrong. */
  readonly code?: number;
}

/** Prints the reason of a failure, and sets the exit code. */
export function reportFailure(error: unknown, { what, code = exitCodes.failed }: FailureReport = {}): void {
  process.stderr.write(`${what === undefined ? '' : `${what} `}${messageOf(error)}\n`);
  process.exitCode = error instanceof WrongUsage ? exitCodes.usage : code;
}

/** An action of a command, whose failure is reported in this way. */
export function reporting<Arguments extends readonly unknown[]>(
  report: FailureReport,
  action: (...args: Arguments) => Promise<void>,
): (...args: Arguments) => Promise<void> {
  return (...args) => action(...args).catch((error: unknown) => reportFailure(error, report));
}
