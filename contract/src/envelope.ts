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
  code: z.number().describe('The number of the error.'),
  data: z.object({
    code: z.string(),
    httpStatus: z.number().describe('The HTTP status.'),
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
