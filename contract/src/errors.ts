/**
 * All error codes of calls, with their numbers and HTTP statuses. The numbers are those of tRPC, which follow
 * JSON-RPC 2.0; the specification also prescribes that of UNAUTHORIZED.
 */
export const errorCodes = {
  PARSE_ERROR: { code: -32700, httpStatus: 400 },
  BAD_REQUEST: { code: -32600, httpStatus: 400 },
  UNAUTHORIZED: { code: -32001, httpStatus: 401 },
  FORBIDDEN: { code: -32003, httpStatus: 403 },
  NOT_FOUND: { code: -32004, httpStatus: 404 },
  METHOD_NOT_SUPPORTED: { code: -32005, httpStatus: 405 },
  TIMEOUT: { code: -32008, httpStatus: 408 },
  CONFLICT: { code: -32009, httpStatus: 409 },
  PAYLOAD_TOO_LARGE: { code: -32013, httpStatus: 413 },
  UNSUPPORTED_MEDIA_TYPE: { code: -32015, httpStatus: 415 },
  TOO_MANY_REQUESTS: { code: -32029, httpStatus: 429 },
  INTERNAL_SERVER_ERROR: { code: -32603, httpStatus: 500 },
  /** A stored image is not the one that was received. */
  IMAGE_DAMAGED: { code: -32603, httpStatus: 502 },
  SERVICE_UNAVAILABLE: { code: -32603, httpStatus: 503 },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** An error in the input: its path, with dots, and a message. */
export interface InputIssue {
  path: string;
  message: string;
}

/** Maximum number of issues in one answer. */
export const MAX_ISSUES = 20;

/**
 * Names, in an answer, the fields of the input that are unknown and were ignored: paths with dots, percent-encoded and
 * separated by commas. In the answer to a batch, each begins with the position of its call.
 */
export const IGNORED_HEADER = 'x-gantry-ignored';

/** Maximum length of the value of `IGNORED_HEADER`, in characters. Paths beyond it are left out. */
const MAX_IGNORED_LENGTH = 2_000;

/** The value of `IGNORED_HEADER` for some paths. */
export function ignoredHeader(paths: readonly string[]): string {
  let value = '';
  for (const path of paths) {
    const more = `${value === '' ? '' : ', '}${encodeURIComponent(path.toWellFormed())}`;
    if (value.length + more.length > MAX_IGNORED_LENGTH) break;
    value += more;
  }
  return value;
}

/** The paths that a value of `IGNORED_HEADER` names. */
export function ignoredPaths(value: string): string[] {
  return value
    .split(',')
    .map((path) => decodeURIComponent(path.trim()))
    .filter((path) => path !== '');
}
