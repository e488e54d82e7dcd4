import { type ErrorBody, errorBodyFor } from '@gantry/contract/envelope';
import { type ErrorCode, errorCodes, type InputIssue, MAX_ISSUES } from '@gantry/contract/errors';
import { TRPCError } from '@trpc/server';
import { ZodError } from 'zod';
import { isDatabaseAway, isForeignKeyViolation, isTransient } from '../platform/database/failure.ts';
import { AppError, type ErrorKind } from '../platform/error.ts';

/** A refusal by the layer that carries calls over HTTP, such as that of an invalid input or of too large an answer. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly code: ErrorCode;
  readonly issues: readonly InputIssue[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    detail: { issues?: readonly InputIssue[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.issues = detail.issues;
    this.headers = detail.headers ?? {};
  }
}

const codeOfKind = {
  badRequest: 'BAD_REQUEST',
  unauthorized: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  notFound: 'NOT_FOUND',
  conflict: 'CONFLICT',
  tooManyRequests: 'TOO_MANY_REQUESTS',
  tooSlow: 'TIMEOUT',
  damaged: 'IMAGE_DAMAGED',
  unavailable: 'SERVICE_UNAVAILABLE',
} as const satisfies Record<ErrorKind, ErrorCode>;

/** What the client receives for a failure, and whether the operator should know about it. */
export interface Failure {
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
  /** An internal error, which is logged with its cause; the client does not see the cause. */
  readonly unexpected: boolean;
}

const MAX_MESSAGE = 500;

const PREFIX = 'Invalid input: ';

/** The refusal of an input that does not match its schema. */
export function inputFailure(error: ZodError): WireError {
  const told = error.issues.filter((issue, index, all) => !isRepeated(issue, all[index + 1]));
  const issues = issuesOf(told);
  return new WireError('BAD_REQUEST', sentenceOf(issues, told.length), { issues });
}

/** Maps an error to the error table. Errors that are not meant for the client become internal errors. */
export function failureOf(thrown: unknown): Failure {
  const cause = thrown instanceof TRPCError && thrown.cause ? thrown.cause : thrown;
  const error = cause instanceof ZodError && isInputError(thrown) ? inputFailure(cause) : cause;
  if (error instanceof SyntaxError && isInputError(thrown)) {
    return failureWith('PARSE_ERROR', 'The request is not valid JSON');
  }
  if (error instanceof WireError) return failureWith(error.code, error.message, error.issues, error.headers);
  if (error instanceof AppError) {
    return failureWith(
      codeOfKind[error.kind],
      error.message,
      error.issues,
      retryAfter(error.retryAfterSeconds),
    );
  }
  if (isDatabaseAway(error) || isTransient(error)) {
    const body = errorBodyFor('SERVICE_UNAVAILABLE', 'The database cannot answer now: try again in a moment');
    return { body, headers: retryAfter(1), unexpected: true };
  }
  // What is referred to was there when it was checked.
  if (isForeignKeyViolation(error)) {
    const message =
      'Something that this refers to was deleted at the same time: read it again, and try again';
    return { body: errorBodyFor('CONFLICT', message), headers: {}, unexpected: true };
  }
  if (thrown instanceof TRPCError && thrown.code !== 'INTERNAL_SERVER_ERROR' && thrown.code in errorCodes) {
    return failureWith(thrown.code as ErrorCode, shorten(thrown.message));
  }
  return {
    body: errorBodyFor('INTERNAL_SERVER_ERROR', 'Internal server error'),
    headers: {},
    unexpected: true,
  };
}

function shorten(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE).toWellFormed()}…`;
}

type Issue = ZodError['issues'][number];

/** Whether an issue only says that a number is no safe integer, and the next one names the limit of the field. */
function isRepeated(issue: Issue, next: Issue | undefined): boolean {
  const isUnsafe =
    (issue.code === 'too_big' && issue.maximum === Number.MAX_SAFE_INTEGER) ||
    (issue.code === 'too_small' && issue.minimum === Number.MIN_SAFE_INTEGER);
  return isUnsafe && next?.code === issue.code && next.path.join() === issue.path.join();
}

function issuesOf(issues: readonly Issue[]): InputIssue[] {
  return issues.slice(0, MAX_ISSUES).map((issue) => ({
    path: shorten(issue.path.map(String).join('.')),
    message: shorten(issue.message),
  }));
}

function sentenceOf(issues: readonly InputIssue[], total: number): string {
  const [first] = issues;
  if (!first) return 'Invalid input';
  const { path, message } = first;
  const more = total > 1 ? ` (and ${total - 1} more)` : '';
  if (path === '') return `${PREFIX}${message}${more}`;
  // "take must be at most 100", but "name: Use at least 3 characters".
  const isAboutPath = /^(?:Must|Has|Is) /.test(message);
  const what = isAboutPath ? ` ${message[0]?.toLowerCase()}${message.slice(1)}` : `: ${message}`;
  return `${PREFIX}${path}${what}${more}`;
}

function failureWith(
  code: ErrorCode,
  message: string,
  issues?: readonly InputIssue[],
  headers = {},
): Failure {
  return {
    body: errorBodyFor(code, message, issues),
    headers,
    unexpected: false,
  };
}

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
}

// tRPC reports input that does not match its schema as a bad request; output that does not match is an internal
// error.
function isInputError(thrown: unknown): boolean {
  return thrown instanceof TRPCError && thrown.code === 'BAD_REQUEST';
}
