import { z } from 'zod';
import { type ErrorCode, errorCodes, type InputIssue } from './errors.ts';

/** What superjson puts beside the JSON so that dates and other types survive the journey. */
export const superjsonMeta = z.object({
  values: z.unknown().optional(),
  v: z.number().optional(),
});
export type SuperjsonMeta = z.infer<typeof superjsonMeta>;

/** The body of an error answer, inside its envelope. */
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

/** The documented error object, exact to the key. */
export function errorBodyFor(code: ErrorCode, message: string, issues?: readonly InputIssue[]): ErrorBody {
  const { code: number, httpStatus } = errorCodes[code];
  return {
    message,
    code: number,
    data: issues ? { code, httpStatus, issues: [...issues] } : { code, httpStatus },
  };
}

/** Most calls that one batch may carry. */
export const MAX_BATCH = 50;

/** Largest request body, in bytes. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** A caller that accepts this type gets a batch answered as an array, as stock tRPC batch links expect. */
export const BATCH_ARRAY_TYPE = 'application/vnd.trpc.batch+json';

/** A request is answered within this time, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 30_000;
