import { type DestinationStream, type Logger, pino } from 'pino';
import { describeError } from './describe-error.ts';
import type { OutageFilter } from './outages.ts';

/** The filters of the logs that have one, see {@link filterOutages}. */
const filters = new WeakMap<Logger, { outages: OutageFilter | null }>();

const KEYS_OF_ERRORS = ['err', 'error', 'reason', 'cause'] as const;

const FATAL = 60;

/**
 * The log of the service: JSON lines, by default on standard output. Errors under the keys `err`, `error`, `reason`
 * and `cause` are described without values of statements and input.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const filter: { outages: OutageFilter | null } = { outages: null };
  const options = {
    level,
    serializers: { err: describeError, error: describeReason, reason: describeReason, cause: describeReason },
    hooks: {
      logMethod(
        this: Logger,
        args: unknown[],
        method: (...args: unknown[]) => void,
        recordLevel: number,
      ): void {
        const [first, ...rest] = args;
        // Without a text pino would use the message of the error unchanged.
        const given = first instanceof Error && rest.length === 0 ? [first, 'an error'] : args;
        const write = (): void => method.apply(this, given);
        const error = filter.outages === null || recordLevel >= FATAL ? null : errorIn(first);
        // Somebody who reads the debug log wants every record.
        if (error !== null && !this.isLevelEnabled('debug') && filter.outages?.take(error, write)) return;
        write();
      },
    },
  };
  const log = destination ? pino(options as never, destination) : pino(options as never);
  filters.set(log, filter);
  return log;
}

/**
 * Lets a filter keep records of errors out of a log that `createLog` made, and out of its children. Other logs stay as
 * they are.
 * @param outages null to remove the filter
 */
export function filterOutages(log: Logger, outages: OutageFilter | null): void {
  const filter = filters.get(log);
  if (filter) filter.outages = outages;
}

function errorIn(record: unknown): Error | null {
  if (record instanceof Error) return record;
  if (typeof record !== 'object' || record === null) return null;
  for (const key of KEYS_OF_ERRORS) {
    const value: unknown = Reflect.get(record, key);
    if (value instanceof Error) return value;
  }
  return null;
}

function describeReason(value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  return typeof value === 'string' ? describeError(value).message : value;
}
