import { z } from 'zod';
import { type ErrorCode, errorCodes, type InputIssue } from './errors.ts';

/** superjson's annotations of dates and other types, which accompany the JSON. */
export const superjsonMeta = z.object({
  values: z.unknown().optional(),
  v: z.number().optional(),
});
export type SuperjsonMeta = z.infer<typeof superjsonMeta>;

/** The body of an error within its envelope. */
export const errorBody = z.object({
  message: z.string(),
  code: z.number(),
  data: z.object({
    code: z.string(),
    httpStatus: z.number(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
});
export interface ErrorBody {
  message: string;
  code: (typeof errorCodes)[ErrorCode]['code'];
  data: { code: ErrorCode; httpStatus: number; issues?: InputIssue[] };
}

/** The documented error object, with exactly its keys. */
export function errorBodyFor(code: ErrorCode, message: string, issues?: readonly InputIssue[]): ErrorBody {
  const { code: number, httpStatus } = errorCodes[code];
  return {
    message,
    code: number,
    data: issues ? { code, httpStatus, issues: [...issues] } : { code, httpStatus },
  };
}

/** Maximum number of calls in a batch. */
export const MAX_BATCH = 50;

/** Maximum size of a request body, in bytes. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** With this type in the Accept header, a batch is answered as an array, which tRPC's standard batch link expects. */
export const BATCH_ARRAY_TYPE = 'application/vnd.trpc.batch+json';

/** Time limit for answering a request, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 30_000;

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
