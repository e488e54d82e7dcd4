import type { InputIssue } from '@gantry/contract/errors';

/** The ways in which a request can fail for reasons that the client may know. */
export type ErrorKind =
  | 'badRequest'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'tooManyRequests'
  | 'tooSlow'
  | 'damaged'
  | 'unavailable';

/** A failure that is reported to the client. The message is shown unchanged. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  /** The invalid parts of the input, for `badRequest`. */
  readonly issues: readonly InputIssue[] | undefined;
  /** The number of seconds after which to try again, for `tooManyRequests` and `unavailable`. */
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

/** The error for an id that no object of this kind has. @param noun the kind, such as `Sensor` */
export function notFound(noun: string): AppError {
  return new AppError('notFound', `${noun} not found`);
}

/** The first of the rows. @throws AppError `notFound` when there is none, about an object of this kind */
export function found<Row>(rows: readonly Row[], noun: string): Row {
  const [row] = rows;
  if (row === undefined) throw notFound(noun);
  return row;
}

/** A field of the input breaks a rule that its schema cannot express. */
export function invalidInput(path: string, message: string): AppError {
  return new AppError('badRequest', message, { issues: [{ path, message }] });
}

/** The service cannot do this now but expects to be able to soon. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { retryAfterSeconds: 1, cause });
}
