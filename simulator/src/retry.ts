import { setTimeout as sleep } from 'node:timers/promises';
import { GantryError } from '@gantry/client';
import type { Random } from './random.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

const TEMPORARY = new Set<string>([
  'UNREACHABLE',
  'TIMEOUT',
  'TOO_MANY_REQUESTS',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
]);

/** Whether trying the same again may succeed, by the code of an error. */
export function isTemporaryCode(code: string): boolean {
  return TEMPORARY.has(code);
}

/** Whether trying the same again may succeed. A proxy in between may say 502 or 504 in its own words. */
export function isTemporary(error: unknown): error is GantryError {
  return (
    error instanceof GantryError &&
    (isTemporaryCode(error.code) || (error.code === 'INVALID_RESPONSE' && (error.httpStatus ?? 0) >= 500))
  );
}

/**
 * How long to wait before the next attempt, in milliseconds: doubling, half of it by chance so that a fleet does
 * not come back all at once, and never less than the service asked for (`retryAfter`, seconds).
 */
export function waitBefore(attempt: number, random: Random, retryAfter = 0): number {
  const doubled = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 16));
  const jittered = doubled / 2 + (doubled / 2) * random.next();
  return Math.max(jittered, retryAfter * 1000 * (1 + 0.25 * random.next()));
}

/** Waits, but not beyond the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await sleep(Math.max(0, ms), undefined, { signal }).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
}

/** What `keepTrying` needs: when to give up, its dice, and whom to tell of each failed attempt. */
export interface Persistence {
  readonly signal: AbortSignal;
  readonly random: Random;
  onRetry(error: GantryError): void;
}

/**
 * Does the work, again after every temporary failure.
 * @returns what it returned; undefined when the signal came first
 * @throws whatever failure is not temporary
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
