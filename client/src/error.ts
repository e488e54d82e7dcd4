import type { ErrorBody } from '@gantry/contract/envelope';
import { type ErrorCode, errorCodes, type InputIssue } from '@gantry/contract/errors';
import type { AppRouter } from '@gantry/server/router';
import { TRPCClientError } from '@trpc/client';
import type { Answer } from './answer.ts';

/** The reason of a failed call: the error code of the service, or why there was no answer of a Gantry service. */
export type GantryErrorCode = ErrorCode | 'UNREACHABLE' | 'INVALID_RESPONSE' | 'ABORTED';

interface ErrorDetail {
  httpStatus?: number | undefined;
  issues?: readonly InputIssue[] | undefined;
  retryAfter?: number | undefined;
  requestId?: string | undefined;
  cause?: unknown;
}

/** The error that every failed call throws. */
export class GantryError extends TRPCClientError<AppRouter> {
  readonly code: GantryErrorCode;
  /** HTTP status of the answer; undefined without an answer. */
  readonly httpStatus: number | undefined;
  /** The errors in the input by field; empty unless the code is BAD_REQUEST. */
  readonly issues: readonly InputIssue[];
  /** The number of seconds after which to try again, if the service provided it. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the log of the service, if there was an answer. */
  readonly requestId: string | undefined;

  constructor(code: GantryErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause instanceof Error ? { cause: detail.cause } : {});
    // The base class sets its own prototype.
    Object.setPrototypeOf(this, GantryError.prototype);
    this.name = 'GantryError';
    this.code = code;
    this.httpStatus = detail.httpStatus;
    this.issues = detail.issues ?? [];
    this.retryAfter = detail.retryAfter;
    this.requestId = detail.requestId;
  }
}

/** The value of a Retry-After header in seconds; undefined if it is missing or a date. */
export function secondsOf(header: unknown): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
}

/** Converts an error of tRPC to a `GantryError`. */
export function gantryErrorOf(error: TRPCClientError<AppRouter>): GantryError {
  if (error instanceof GantryError) return error;
  if (error.cause?.name === 'AbortError') return new GantryError('ABORTED', 'The call was aborted');
  const { message, meta } = error;
  const data = (error.data ?? undefined) as ErrorBody['data'] | undefined;
  const answer = meta?.response as Partial<Answer> | undefined;
  const retryAfter = secondsOf(answer?.retryAfter);
  const requestId = answer?.requestId ?? undefined;
  if (!isKnown(data)) {
    return new GantryError('INVALID_RESPONSE', `Not an answer of a Gantry service: ${message}`, {
      httpStatus: answer?.status,
      retryAfter,
      requestId,
      cause: error,
    });
  }
  const { code, httpStatus, issues } = data;
  return new GantryError(code, message, { httpStatus, issues, retryAfter, requestId, cause: error });
}

function isKnown(data: ErrorBody['data'] | undefined): data is ErrorBody['data'] & { code: ErrorCode } {
  return data !== undefined && Object.hasOwn(errorCodes, data.code);
}
