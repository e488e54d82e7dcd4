import { type DestinationStream, type Logger, pino } from 'pino';
import { describeError } from './describe-error.ts';

/**
 * The log of the service: JSON lines, by default on standard output. Errors under the keys `err`, `error`, `reason`
 * and `cause` are described without values of statements and input.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    serializers: { err: describeError, error: describeReason, reason: describeReason, cause: describeReason },
    hooks: {
      // Without a text pino would use the message of the error unchanged.
      logMethod(this: Logger, args: unknown[], method: (...args: unknown[]) => void): void {
        const [first, ...rest] = args;
        method.apply(this, first instanceof Error && rest.length === 0 ? [first, 'an error'] : args);
      },
    },
  };
  return destination ? pino(options as never, destination) : pino(options as never);
}

function describeReason(value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  return typeof value === 'string' ? describeError(value).message : value;
}
