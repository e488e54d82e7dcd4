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
  const log = pino(options as never, destination ?? standardOutput());
  filters.set(log, filter);
  return log;
}

/** Maximum length of records that wait for standard output, in characters. Further ones are dropped. */
const MAX_WAITING = 1_000_000;

/**
 * Standard output. Where it cannot be written, such as to a full disk or a terminal that was closed, records wait for the
 * next attempt: the service must not end because nobody can read its log.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, maxLength: MAX_WAITING });
  let isFailing = false;
  output.on('error', () => {
    isFailing = true;
  });
  output.on('write', () => {
    isFailing = false;
  });
  // After a fatal record, pino waits until everything is written, for as long as that takes.
  const flush = output.flushSync.bind(output);
  output.flushSync = () => {
    if (!isFailing) flush();
  };
  return output;
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

const WINDOW_MS = 60_000;

/** Kinds logged within one minute. Further ones are only counted. */
const MAX_KINDS = 50;

interface Kind {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  repeats: number;
}

/** Logs refusals of logins and of devices, limited in rate, because those who are refused decide how many there are. */
export class RefusalLog implements Disposable {
  readonly #log: Logger;
  readonly #windowMs: number;
  readonly #kinds = new Map<string, Kind>();
  #others = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param windowMs how long repetitions are counted, in milliseconds; tests shorten it */
  constructor(log: Logger, windowMs = WINDOW_MS) {
    this.#log = log;
    this.#windowMs = windowMs;
  }

  /**
   * Logs the first refusal of its kind at once. Further ones within a minute are counted and logged together when the
   * minute is over.
   * @param kind identifies refusals that differ in nothing that is logged
   * @param describe called only for a refusal that is logged
   */
  note(kind: string, message: string, describe: () => Readonly<Record<string, unknown>>): void {
    this.#timer ??= setTimeout(() => this.#closeWindow(), this.#windowMs).unref();
    const known = this.#kinds.get(kind);
    if (known) known.repeats++;
    else if (this.#kinds.size >= MAX_KINDS) this.#others++;
    else {
      const fields = describe();
      this.#kinds.set(kind, { message, fields, repeats: 0 });
      this.#log.info(fields, message);
    }
  }

  [Symbol.dispose](): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#closeWindow();
  }

  #closeWindow(): void {
    this.#timer = null;
    for (const { message, fields, repeats } of this.#kinds.values()) {
      if (repeats > 0) this.#log.info({ ...fields, repeats }, `${message}, repeatedly`);
    }
    if (this.#others > 0)
      this.#log.info({ refusals: this.#others }, 'further refusals were not logged one by one');
    this.#kinds.clear();
    this.#others = 0;
  }
}
