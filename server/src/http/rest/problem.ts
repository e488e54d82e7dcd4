import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from '@gantry/contract/envelope';

/** The media type of RFC 9457. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** An error in the form of RFC 9457. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The code of the error, as in answers of /trpc. */
  readonly code: string;
  readonly requestId: string;
  readonly issues?: readonly { path: string; message: string }[];
}

/** Converts the body of an error to a problem. */
export function problemOf({ message, data }: ErrorBody, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: STATUS_CODES[data.httpStatus] ?? 'Error',
    status: data.httpStatus,
    detail: message,
    code: data.code,
    requestId,
    ...(data.issues && { issues: data.issues }),
  };
}
