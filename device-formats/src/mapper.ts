import type { DeviceZone, Zone } from './device-time.ts';
import { MAPPING_LIMITS, type MappingAnswer, type MappingJob, type TimeLimits } from './mapping-messages.ts';
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

/** Evaluates the expressions of users in a separate process, which starts with the first one. */
export class Mapper implements Disposable {
  readonly #start: () => MappingProcess;
  /** The waiting evaluations by expression. Expressions take turns, so that a slow one does not delay others. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #stops = new Map<string, Stops>();
  #waits = 0;
  #process: MappingProcess | null = null;
  #isRunning = false;
  #isDisposed = false;

  /**
   * @param program the built `mapping-program`
   * @param limits of one evaluation; tests have shorter ones
   */
  constructor(program: URL, limits: TimeLimits = MAPPING_LIMITS) {
    this.#start = () => startMappingProcess(program, limits);
  }

  /**
   * @throws Error when too many evaluations are waiting, or when the process cannot be started or ends unexpectedly: the
   * message should be tried again
   */
  readonly map: MapInput = async (expression, input, zone = UTC) => {
    const json = JSON.stringify(input);
    if (json.length > MAPPING_LIMITS.inputMax) {
      return {
        refusal: `The message is too large for a mapping: more than ${MAPPING_LIMITS.inputMax / 1e6} MB`,
      };
    }
    const known = typeof zone === 'string' ? { ...UTC, name: zone } : zone;
    const answer = await this.#ask(expression, json, known);
    if ('refusal' in answer) return answer.refusal === PAUSED ? { ...answer, isTemporary: true } : answer;
    const value: unknown = answer.result === null ? undefined : JSON.parse(answer.result);
    return answer.flaws.length > 0 ? { value, flaws: answer.flaws } : { value };
  };

  /** Why an expression cannot be compiled, as a sentence with the position; null if it can. @throws Error as `map` does */
  async check(expression: string): Promise<string | null> {
    const answer = await this.#ask(expression, null, UTC);
    return 'refusal' in answer ? answer.refusal : null;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#process?.end();
    for (const job of [...this.#waiting.values()].flat()) job.reject(new Error('mappings have ended'));
    this.#waiting.clear();
  }

  #ask(expression: string, input: string | null, zone: DeviceZone): Promise<MappingAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isDisposed || this.#waits >= MAX_WAITING) {
        reject(new Error(this.#isDisposed ? 'mappings have ended' : 'too many mappings are waiting'));
        return;
      }
      const jobs = this.#waiting.get(expression) ?? [];
      jobs.push({ expression, input, zone, resolve, reject });
      this.#waiting.set(expression, jobs);
      this.#waits++;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let job = this.#take(); job; job = this.#take()) {
      await this.#evaluate(job).then(job.resolve, job.reject);
      this.#putLast(job.expression);
    }
    this.#isRunning = false;
  }

  #take(): Waiting | undefined {
    for (const [expression, jobs] of this.#waiting) {
      const job = jobs.shift();
      if (jobs.length === 0) this.#waiting.delete(expression);
      if (job) {
        this.#waits--;
        return job;
      }
    }
    return undefined;
  }

  /** Has other expressions evaluated before the next evaluation of this one. */
  #putLast(expression: string): void {
    const jobs = this.#waiting.get(expression);
    if (!jobs) return;
    this.#waiting.delete(expression);
    this.#waiting.set(expression, jobs);
  }

  async #evaluate({ expression, input, zone }: MappingJob): Promise<MappingAnswer> {
    const isCheck = input === null;
    if (!isCheck && (this.#stops.get(expression)?.until ?? 0) > performance.now()) return { refusal: PAUSED };
    this.#process ??= this.#start();
    const current = this.#process;
    try {
      const { answer, hasEnded } = await current.run({ expression, input, zone });
      if (hasEnded && this.#process === current) this.#process = null;
      if (!isCheck) this.#note(expression, 'refusal' in answer && /was stopped$/.test(answer.refusal));
      return answer;
    } catch (error) {
      current.end();
      if (this.#process === current) this.#process = null;
      throw error;
    }
  }

  #note(expression: string, isStopped: boolean): void {
    const count = isStopped ? (this.#stops.get(expression)?.count ?? 0) + 1 : 0;
    this.#stops.delete(expression);
    if (count === 0) return;
    const until = count >= MAX_STOPS ? performance.now() + PAUSE_MS : 0;
    this.#stops.set(expression, { count: until === 0 ? count : 0, until });
    for (const [oldest] of this.#stops) if (this.#stops.size > MAX_REMEMBERED) this.#stops.delete(oldest);
  }
}
