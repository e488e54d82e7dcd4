import { DatabaseError } from 'pg';
import { ZodError } from 'zod';

/** An error as described in the log and to administrators, without values of statements or input. */
export interface DescribedError {
  readonly type: string;
  readonly message: string;
  /** The SQLSTATE of a PostgreSQL error, or the code of a Node error, such as `ECONNREFUSED`. */
  readonly code?: string;
  /** The name of the prepared statement that failed, if any. */
  readonly statement?: string;
  /** The frames of the stack, without the message. */
  readonly stack?: string;
  readonly cause?: DescribedError;
  /** The errors within an AggregateError. */
  readonly errors?: readonly DescribedError[];
}

const MAX_CAUSES = 6;
const MAX_FRAMES = 40;
const MAX_MESSAGE = 4_000;

/** Secrets that are recognizable by their form: a last resort for messages of libraries. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi, '[64 hexadecimal digits]'],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, '[token]'],
  [/\$argon2[\w$=,+/.-]+/g, '[password hash]'],
  [/\bwhsec_[\w+/=-]+/g, '[secret]'],
  [/(\/\/)[^/\s:@]*:[^/\s@]*@/g, '$1[credentials]@'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, '[e-mail address]'],
  // Node repeats the beginning of an argument of the wrong type.
  [/(\. Received )[\s\S]*/, '$1[value]'],
];

/** Classes of SQLSTATE whose primary messages contain names of the schema or the server, but no values. */
const MESSAGES_WITHOUT_VALUES = /^(?:08|0A|23|25|28|2B|3D|3F|40|42|53|54|55|57|58|F0|XX)/;

const STATEMENT_FAILED = 'A statement failed';

const FRAME = /^ {4}at [^\n]*(?::\d+:\d+\)?|\(<anonymous>\)|\(native\))$/;

/** Describes a thrown value without values of statements and input, see {@link DescribedError}. */
export function describeError(thrown: unknown, depth = 0): DescribedError {
  if (!(thrown instanceof Error)) {
    return {
      type: typeof thrown,
      message: typeof thrown === 'string' ? scrub(thrown) : 'Something that is no error was thrown',
    };
  }
  const { code: givenCode, statement: givenStatement } = thrown as Error & {
    code?: unknown;
    statement?: unknown;
  };
  const code = shortText(givenCode);
  const statement = shortText(givenStatement);
  const stack = framesOf(thrown);
  const isDeep = depth >= MAX_CAUSES;
  return {
    type: typeOf(thrown),
    message: messageOf(thrown),
    ...(code !== undefined && { code }),
    ...(statement !== undefined && { statement }),
    ...(stack !== undefined && { stack }),
    ...(thrown.cause !== undefined && !isDeep && { cause: describeError(thrown.cause, depth + 1) }),
    ...(thrown instanceof AggregateError &&
      !isDeep && {
        errors: thrown.errors.slice(0, 5).map((each: unknown) => describeError(each, depth + 1)),
      }),
  };
}

/**
 * An error as one or two sentences that may be stored and shown to users: its message and those of its causes, as far
 * as they contain no values.
 */
export function safeText(thrown: unknown): string {
  const sentences: string[] = [];
  for (let at: DescribedError | undefined = describeError(thrown); at; at = at.cause ?? at.errors?.[0]) {
    const code = at.code !== undefined && /^[0-9A-Z]{5}$/.test(at.code) ? ` (SQLSTATE ${at.code})` : '';
    const sentence = `${at.message || at.type}${code}`;
    if (!sentences.includes(sentence)) sentences.push(sentence);
  }
  return sentences.join(': ');
}

/** A message about an error, followed by a line for each of its causes that the message does not repeat. */
export function withCauses(message: string, error: unknown): string {
  const causes: unknown[] =
    error instanceof AggregateError ? error.errors : [error instanceof Error && error.cause];
  const because = causes.filter((cause) => cause instanceof Error).map(safeText);
  const more = because.filter((text) => !message.includes(text));
  return message + more.map((text) => `\n  because: ${text}`).join('');
}

function scrub(text: string): string {
  return SECRETS.reduce(
    (kept, [secret, replacement]) => kept.replace(secret, replacement),
    text.slice(0, MAX_MESSAGE),
  ).toWellFormed();
}

/** The parts of an input's path that the schema names; other keys are chosen by the sender and may contain anything. */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) =>
      typeof part === 'number' || /^[a-z]+(?:[A-Z][a-z]+)*$/.test(String(part)) ? String(part) : '*',
    )
    .join('.');
}

function isStatementError(error: Error): boolean {
  return 'query' in error && 'params' in error;
}

/** A replacement for a message that may contain values; null if the error's own message is safe. */
function replacementOf(error: Error): string | null {
  if (error instanceof DatabaseError) {
    return MESSAGES_WITHOUT_VALUES.test(error.code ?? '') ? null : 'PostgreSQL refused a value';
  }
  if (isStatementError(error)) return STATEMENT_FAILED;
  if (error instanceof ZodError) {
    const issues = error.issues
      .slice(0, 5)
      .map(({ code, path }) => `${code} at ${pathOf(path) || 'the root'}`);
    return `The value does not fit its schema: ${issues.join(', ')}`;
  }
  // The JSON parser repeats a part of the text.
  return error instanceof SyntaxError ? 'The text could not be parsed' : null;
}

function causesOf(error: Error): Error[] {
  const causes: Error[] = [];
  for (let at = error.cause; at instanceof Error && causes.length < MAX_CAUSES; at = at.cause)
    causes.push(at);
  return causes;
}

function messageOf(error: Error): string {
  const replacement = replacementOf(error);
  if (replacement !== null) return replacement;
  // A wrapping error often repeats the message of its cause.
  for (const cause of causesOf(error)) {
    const instead = replacementOf(cause);
    if (instead !== null && cause.message !== '' && error.message.includes(cause.message)) return instead;
  }
  return error.message.includes('Failed query:') ? STATEMENT_FAILED : scrub(error.message);
}

function framesOf({ stack, message }: Error): string | undefined {
  if (typeof stack !== 'string') return undefined;
  // The message may contain lines that look like frames, so it is removed first.
  const at = stack.indexOf(message);
  const frames = (at === -1 ? stack : stack.slice(at + message.length))
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES);
  return frames.length === 0 ? undefined : frames.join('\n');
}

function typeOf(error: Error): string {
  return /^error$/i.test(error.name) ? error.constructor.name || 'Error' : error.name;
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w-]{1,100}$/.test(value) ? value : undefined;
}
