import { type ChildProcess, fork } from 'node:child_process';
import {
  MAPPING_LIMITS,
  type MappingAnswer,
  type MappingJob,
  OUT_OF_TIME,
  READY,
  type TimeLimits,
  tookMoreThan,
} from './mapping-messages.ts';

/** How a process that has run out of memory ends: the signal, and the exit code on Windows. */
const OUT_OF_MEMORY = ['SIGABRT', 134];

const TOO_MUCH_MEMORY = 'The mapping exceeded its memory limit and was stopped';

/**
 * A process that evaluates one mapping at a time. It is not a thread, because a thread that runs out of memory can
 * end the whole service in spite of its `resourceLimits`.
 */
export interface MappingProcess {
  /**
   * @returns the answer, and whether the process had to be ended for it
   * @throws Error when the process cannot be started, or ends for a reason other than its limits
   */
  run(job: MappingJob): Promise<{ answer: MappingAnswer; hasEnded: boolean }>;
  end(): void;
}

/**
 * Starts a process, which does not keep this one from exiting while it is idle.
 * @param program the built `mapping-program`
 * @param limits of one evaluation
 */
export function startMappingProcess(program: URL, { timeMs, killMs }: TimeLimits): MappingProcess {
  const child = fork(program, [String(timeMs), String(killMs)], {
    env: {},
    execArgv: [
      `--max-old-space-size=${MAPPING_LIMITS.heapMb}`,
      '--max-semi-space-size=8',
      '--disallow-code-generation-from-strings',
      '--disable-proto=delete',
    ],
    // Output is discarded, because a process that runs out of memory writes a report of many lines.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ready = nextMessage(child).then(({ answer }) => {
    if (answer !== READY) throw new Error('the mapping process did not start');
    hold(child, false);
  });
  ready.catch(() => undefined);
  return {
    async run(job) {
      await ready;
      hold(child, true);
      const received = nextMessage(child, MAPPING_LIMITS.silentMs);
      child.send(job, () => undefined);
      const { answer, end } = await received;
      hold(child, false);
      if (answer !== undefined) return { answer: answer as MappingAnswer, hasEnded: false };
      if (end === OUT_OF_TIME) return { answer: { refusal: tookMoreThan(timeMs) }, hasEnded: true };
      if (end === 'late') {
        child.kill('SIGKILL');
        throw new Error('the mapping process does not answer');
      }
      if (!OUT_OF_MEMORY.includes(end ?? '')) throw new Error(`the mapping process ended with ${end}`);
      return { answer: { refusal: TOO_MUCH_MEMORY }, hasEnded: true };
    },
    end: () => void child.kill('SIGKILL'),
  };
}

/** The next message of the child, or how it ended, or `late` after a time limit. */
function nextMessage(
  child: ChildProcess,
  limitMs?: number,
): Promise<{ readonly answer?: unknown; readonly end?: string | number }> {
  return new Promise((resolve) => {
    const settle = (outcome: { readonly answer?: unknown; readonly end?: string | number }): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      child.off('error', onError);
      resolve(outcome);
    };
    const onMessage = (answer: unknown): void => settle({ answer });
    const onExit = (code: number | null, signal: string | null): void =>
      settle({ end: signal ?? code ?? 'none' });
    const onError = (error: Error): void => settle({ end: error.message });
    // An answer that has arrived is read first, so that a busy service does not treat it as late.
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => setImmediate(() => settle({ end: 'late' })), limitMs);
    child.on('message', onMessage);
    child.on('exit', onExit);
    child.on('error', onError);
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode);
  });
}

function hold(child: ChildProcess, isHeld: boolean): void {
  for (const each of [child, child.channel]) {
    if (isHeld) each?.ref();
    else each?.unref();
  }
}
