import type { DeviceZone, Zone } from './device-time.ts';
import { MAPPING_LIMITS, type MappingAnswer, type MappingJob } from './mapping-messages.ts';
import { type MappingProcess, startMappingProcess } from './mapping-process.ts';

/**
 * The result of a mapping, undefined if it has none, and what it could not read in the message, as sentences; or why it
 * failed, as a sentence. `isTemporary` says that the mapping
 * is to be tried again later.
 */
export type Mapped =
  | { readonly value: unknown; readonly flaws?: readonly string[] }
  | { readonly refusal: string; readonly isTemporary?: true };

/**
 * Evaluates a JSONata expression within limits of processor time and memory.
 * @param zone of the local times that `$time` reads; by default UTC
 */
export type MapInput = (expression: string, input: unknown, zone?: Zone) => Promise<Mapped>;

/** Evaluates the expressions of users in a separate process, which starts with the first one. */
export interface Mapper extends Disposable {
  /**
   * @throws Error when too many evaluations are waiting, or when the process cannot be started or ends unexpectedly: the
   * message should be tried again
   */
  readonly map: MapInput;
  /** Why an expression cannot be compiled, as a sentence with the position; null if it can. */
  check(expression: string): Promise<string | null>;
}

/** Maximum number of evaluations that wait. */
const MAX_WAITING = 1_000;

/** After this many consecutive evaluations that had to be stopped, an expression is not evaluated for a while. */
const MAX_STOPS = 3;
const PAUSE_MS = 30_000;
/** Maximum number of expressions whose stops are counted. */
const MAX_REMEMBERED = 1_000;
/** The zone of expressions that are evaluated without a message. No time is ahead of it. */
const UTC: DeviceZone = { name: 'utc', receivedAt: 8.64e15 };
const PAUSED = `The mapping was stopped ${MAX_STOPS} times in a row and is tried again after ${PAUSE_MS / 1000} s`;

interface Waiting extends MappingJob {
  readonly resolve: (answer: MappingAnswer) => void;
  readonly reject: (error: unknown) => void;
}

interface Stops {
  readonly count: number;
  /** When the expression is evaluated again, in the time of `performance.now`; 0 if it is not paused. */
  readonly until: number;
}

/**
 * Creates a mapper.
 * @param start starts the process; tests replace it
 */
export function createMapper(start: () => MappingProcess = startMappingProcess): Mapper {
  /** The waiting evaluations by expression. Expressions take turns, so that a slow one does not delay others. */
  const waiting = new Map<string, Waiting[]>();
  const stops = new Map<string, Stops>();
  let waits = 0;
  let process: MappingProcess | null = null;
  let isRunning = false;
  let isDisposed = false;

  const take = (): Waiting | undefined => {
    for (const [expression, jobs] of waiting) {
      const job = jobs.shift();
      if (jobs.length === 0) waiting.delete(expression);
      if (job) {
        waits--;
        return job;
      }
    }
    return undefined;
  };

  /** Has other expressions evaluated before the next evaluation of this one. */
  const putLast = (expression: string): void => {
    const jobs = waiting.get(expression);
    if (!jobs) return;
    waiting.delete(expression);
    waiting.set(expression, jobs);
  };

  const note = (expression: string, isStopped: boolean): void => {
    const count = isStopped ? (stops.get(expression)?.count ?? 0) + 1 : 0;
    stops.delete(expression);
    if (count === 0) return;
    const until = count >= MAX_STOPS ? performance.now() + PAUSE_MS : 0;
    stops.set(expression, { count: until === 0 ? count : 0, until });
    for (const [oldest] of stops) if (stops.size > MAX_REMEMBERED) stops.delete(oldest);
  };

  const evaluate = async (job: Waiting): Promise<MappingAnswer> => {
    const isCheck = job.input === null;
    if (!isCheck && (stops.get(job.expression)?.until ?? 0) > performance.now()) return { refusal: PAUSED };
    process ??= start();
    const current = process;
    try {
      const { answer, hasEnded } = await current.run({
        expression: job.expression,
        input: job.input,
        zone: job.zone,
      });
      if (hasEnded && process === current) process = null;
      if (!isCheck) note(job.expression, 'refusal' in answer && /was stopped$/.test(answer.refusal));
      return answer;
    } catch (error) {
      current.end();
      if (process === current) process = null;
      throw error;
    }
  };

  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (let job = take(); job; job = take()) {
      await evaluate(job).then(job.resolve, job.reject);
      putLast(job.expression);
    }
    isRunning = false;
  };

  const ask = (expression: string, input: string | null, zone: DeviceZone = UTC): Promise<MappingAnswer> =>
    new Promise((resolve, reject) => {
      if (isDisposed || waits >= MAX_WAITING) {
        reject(new Error(isDisposed ? 'mappings have ended' : 'too many mappings are waiting'));
        return;
      }
      const jobs = waiting.get(expression) ?? [];
      jobs.push({ expression, input, zone, resolve, reject });
      waiting.set(expression, jobs);
      waits++;
      void run();
    });

  return {
    async map(expression, input, zone = UTC) {
      const json = JSON.stringify(input);
      if (json.length > MAPPING_LIMITS.inputMax) {
        return {
          refusal: `The message is too large for a mapping: more than ${MAPPING_LIMITS.inputMax / 1e6} MB`,
        };
      }
      const known = typeof zone === 'string' ? { ...UTC, name: zone } : zone;
      const answer = await ask(expression, json, known);
      if ('refusal' in answer) return answer.refusal === PAUSED ? { ...answer, isTemporary: true } : answer;
      const value: unknown = answer.result === null ? undefined : JSON.parse(answer.result);
      return answer.flaws.length > 0 ? { value, flaws: answer.flaws } : { value };
    },
    async check(expression) {
      const answer = await ask(expression, null);
      return 'refusal' in answer ? answer.refusal : null;
    },
    [Symbol.dispose]() {
      isDisposed = true;
      process?.end();
      for (const job of [...waiting.values()].flat()) job.reject(new Error('mappings have ended'));
      waiting.clear();
    },
  };
}
