import { IGNORED_HEADER, ignoredPaths } from '@gantry/contract/errors';
import type { Answer } from './answer.ts';
import { GantryError, secondsOf } from './error.ts';

type Fetch = typeof globalThis.fetch;

/** Called with the fields of an input that the service does not know and ignored, as paths with dots, and the URL. */
export type OnIgnored = (fields: readonly string[], url: string) => void;

/** Names ignored fields on the console, except in production: they are mistakes of the program, not of its user. */
export const warnOfIgnored: OnIgnored = (fields, url) => {
  if (isProduction()) return;
  const [path] = url.split('?', 1);
  // biome-ignore lint/suspicious/noConsole: developers look for mistakes of their program on the console
  console.warn(`Gantry does not know these fields and ignored them: ${fields.join(', ')} (${path})`);
};

function isProduction(): boolean {
  try {
    // Bundlers replace this expression, so that it works in browsers, too.
    return process.env.NODE_ENV === 'production';
  } catch {
    return false;
  }
}

/** Returns a `fetch` that throws a `GantryError` if the call is aborted, there is no answer in time, or it is not JSON. */
export function speakingFetch(base: string, fetch: Fetch, timeoutMs: number, onIgnored: OnIgnored) {
  return async (url: Parameters<Fetch>[0], init: RequestInit = {}): Promise<Answer> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const attempt = async () => {
      const response = await fetch(url, { ...init, signal });
      return { response, text: await response.text() };
    };
    const { response, text } = await attempt().catch((cause: unknown) => {
      if (init.signal?.aborted) throw new GantryError('ABORTED', 'The call was aborted', { cause });
      const reason = timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(cause);
      throw new GantryError('UNREACHABLE', `Cannot reach ${base}: ${reason}`, { cause });
    });
    const ignored = response.headers.get(IGNORED_HEADER);
    if (ignored !== null) onIgnored(ignoredPaths(ignored), String(url instanceof Request ? url.url : url));
    const retryAfter = response.headers.get('retry-after');
    const requestId = response.headers.get('x-request-id');
    try {
      const body: unknown = JSON.parse(text);
      return { ok: response.ok, status: response.status, retryAfter, requestId, json: async () => body };
    } catch (cause) {
      const { status: httpStatus } = response;
      const message = `${base} answered ${httpStatus} with something that is not JSON: is it a Gantry service?`;
      const detail = {
        httpStatus,
        retryAfter: secondsOf(retryAfter),
        requestId: requestId ?? undefined,
        cause,
      };
      throw new GantryError('INVALID_RESPONSE', message, detail);
    }
  };
}

/** The reason why a fetch failed, in the words of the operating system. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  return cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : message) : message;
}
