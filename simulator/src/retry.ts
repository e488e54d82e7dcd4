import { setTimeout as sleep } from 'node:timers/promises';
import { GantryError } from '@gantry/client';
import type { Random } from './random.ts';

const INITIAL_WAIT_MS = 250;
const MAX_WAIT_MS = 15_000;

const TEMPORARY = new Set<string>([
  'UNREACHABLE',
  'TIMEOUT',
  'TOO_MANY_REQUESTS',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
]);

/** Whether repeating a call may succeed, by its error code. */
export function isTemporaryCode(code: string): boolean {
  return TEMPORARY.has(code);
}

/** Whether repeating a call may succeed. A proxy may answer 502 or 504 in its own format. */
export function isTemporary(error: unknown): error is GantryError {
  return (
    error instanceof GantryError &&
    (isTemporaryCode(error.code) || (error.code === 'INVALID_RESPONSE' && (error.httpStatus ?? 0) >= 500))
  );
}

/**
 * The wait before the next attempt, in milliseconds: it doubles, half of it is random so that a fleet does not retry
 * all at once, and it is never less than the service requested (`retryAfter`, seconds).
 */
export function waitBefore(attempt: number, random: Random, retryAfter = 0): number {
  const doubled = Math.min(MAX_WAIT_MS, INITIAL_WAIT_MS * 2 ** Math.min(attempt, 16));
  const jittered = doubled / 2 + (doubled / 2) * random.next();
  return Math.max(jittered, retryAfter * 1000 * (1 + 0.25 * random.next()));
}

/** Waits for a time in milliseconds, or until the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await sleep(Math.max(0, ms), undefined, { signal }).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
}

/** The parameters of `keepTrying`: when to give up, random numbers, and a callback for each failed attempt. */
export interface Persistence {
  readonly signal: AbortSignal;
  readonly random: Random;
  onRetry(error: GantryError): void;
}

/**
 * Runs the work, and repeats it after every temporary failure until the signal is aborted.
 * @returns its result; undefined if the signal was aborted before it succeeded
 * @throws the first failure that is not temporary
 */
export async function keepTrying<Result>(
  work: () => Promise<Result>,
  { signal, random, onRetry }: Persistence,
): Promise<Result | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      onRetry(error);
      await pause(waitBefore(attempt, random, error.retryAfter), signal);
      if (signal.aborted) return undefined;
    }
  }
}
