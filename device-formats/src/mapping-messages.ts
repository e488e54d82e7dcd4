import type { DeviceZone } from './device-time.ts';

/** A request to the mapping process to evaluate an expression, or only to compile it. */
export interface MappingJob {
  readonly expression: string;
  /** The input as JSON; null to compile only. */
  readonly input: string | null;
  /** The zone of the local times that `$time` reads. */
  readonly zone: DeviceZone;
}

/**
 * The result as JSON, null for none, and what the expression could not read in the message, as sentences; or why there is
 * no result, as a sentence.
 */
export type MappingAnswer =
  | { readonly result: string | null; readonly flaws: readonly string[] }
  | { readonly refusal: string };

/** The message that says that the program is loaded. */
export const READY = 'ready';

/** How much processor time one evaluation may take: elapsed time would depend on what else the machine does. */
export interface TimeLimits {
  /** Milliseconds of processor time after which the program stops the evaluation itself. */
  readonly timeMs: number;
  /** Milliseconds of processor time after which it ends: regular expressions cannot be stopped otherwise. */
  readonly killMs: number;
}

/** The signal with which the program ends when an evaluation exceeds `killMs`. */
export const OUT_OF_TIME = 'SIGXCPU';

/** Limits of one evaluation. The program receives the limits of time as its arguments. */
export const MAPPING_LIMITS = {
  timeMs: 1_000,
  killMs: 1_500,
  /** Elapsed milliseconds after which the program counts as stuck, and is started anew. */
  silentMs: 60_000,
  /** Heap of the process, in MB. */
  heapMb: 96,
  /** Length of the input, in characters of JSON. */
  inputMax: 5_000_000,
  /** Length of the result, in characters of JSON. */
  resultMax: 1_000_000,
} as const;

/** Why an evaluation was stopped, as a sentence. */
export function tookMoreThan(timeMs: number): string {
  return `The mapping took more than ${timeMs / 1000} s of processor time and was stopped`;
}
