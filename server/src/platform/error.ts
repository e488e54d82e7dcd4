import type { InputIssue } from '@gantry/contract/errors';

/** The ways in which a request can fail for reasons that its sender may know. */
export type ErrorKind =
  | 'badRequest'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'tooManyRequests'
  | 'tooSlow'
  | 'unavailable';

/** A failure with a meaning for whoever asked. Its message is shown to them as it is. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  /** What exactly is wrong with the input, for `badRequest`. */
  readonly issues: readonly InputIssue[] | undefined;
  /** After how many seconds trying again makes sense, for `tooManyRequests` and `unavailable`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    detail: { issues?: readonly InputIssue[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.issues = detail.issues;
    this.retryAfterSeconds = detail.retryAfterSeconds;
  }
}

/** No thing of this noun has the id. */
export function notFound(noun: string): AppError {
  return new AppError('notFound', `${noun} not found`);
}

/** One field of the input breaks a rule that only the service can know. */
export function invalidInput(path: string, message: string): AppError {
  return new AppError('badRequest', message, { issues: [{ path, message }] });
}

/** The service cannot do this now but expects to soon. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { retryAfterSeconds: 1, cause });
}
