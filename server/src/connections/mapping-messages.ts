/** A request to the mapping process to evaluate an expression, or only to compile it. */
export interface MappingJob {
  readonly expression: string;
  /** The input as JSON; null to compile only. */
  readonly input: string | null;
}

/** The result as JSON, null for none; or why there is none, as a sentence. */
export type MappingAnswer = { readonly result: string | null } | { readonly refusal: string };

/** The message that says that the program is loaded. */
export const READY = 'ready';

/** How long one evaluation may take. */
export interface TimeLimits {
  /** Milliseconds of evaluation after which the program stops it itself. */
  readonly timeMs: number;
  /** Milliseconds after which the process is killed: regular expressions cannot be stopped otherwise. */
  readonly killMs: number;
}

/** Limits of one evaluation. The program receives `timeMs` as its argument. */
export const MAPPING_LIMITS = {
  timeMs: 1_000,
  killMs: 1_500,
  /** Heap of the process, in MB. */
  heapMb: 96,
  /** Length of the input, in characters of JSON. */
  inputMax: 5_000_000,
  /** Length of the result, in characters of JSON. */
  resultMax: 1_000_000,
} as const;

/** Why an evaluation was stopped, as a sentence. */
export function tookMoreThan(timeMs: number): string {
  return `The mapping took more than ${timeMs / 1000} s and was stopped`;
}
