import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import type { FirstAdministrator } from '../../accounts/first-administrator.ts';
import { type FromPrimary, type FromWorker, PendingRequests } from './messages.ts';

/** Time limit for the metrics of a worker, in milliseconds. */
const METRICS_WAIT_MS = 2_000;

/** The message of a worker that serves requests. */
export interface Listening {
  readonly url: string;
  /** The administrator that its start created, if any. */
  readonly firstAdministrator: FirstAdministrator | null;
}

/** A worker, as the primary sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number;
  /** Resolves when it is ready to listen; null when it ended before. */
  readonly prepared: Promise<true | null>;
  /** Resolves when it is listening; null when it ended before. */
  readonly listening: Promise<Listening | null>;
  /** Whether it serves requests now. */
  readonly isServing: boolean;
  /** Counts one more beat of this process, and returns how many there were since the last liveness signal of the worker; 0 while it loads. */
  countBeat(): number;
  /** Resolves when it has ended, with its exit code or the signal or error that ended it. */
  readonly ended: Promise<string>;
  /** Lets it listen, once it is prepared. */
  letListen(): void;
  /** Its metrics in Prometheus' text format; null when they do not arrive in time. */
  askMetrics(): Promise<string | null>;
  /** Asks it to finish the requests it accepted, and to end. */
  askToStop(): void;
  kill(): void;
}

/**
 * Starts a worker: the same program, with `environment` added to the environment of this process.
 * @param gatherMetrics collects the metrics of all workers, for a worker that is asked for them
 */
export function startWorkerProcess(
  environment: Readonly<Record<string, string>>,
  gatherMetrics: () => Promise<string>,
): WorkerProcess {
  const worker = cluster.fork(environment);
  closeHandedConnection(worker);
  const requests = new PendingRequests();
  const messages = new EventEmitter<{ prepared: []; listening: [Listening] }>();
  const ended = howItEnded(worker);
  const prepared = once(messages, 'prepared').then(() => true as const);
  const listening = new Promise<Listening>((resolve) => messages.once('listening', resolve));
  const unlessEnded = <Answer>(answer: Promise<Answer>) => Promise.race([answer, ended.then(() => null)]);
  // A message to a worker that is gone is lost; its end is reported separately.
  const send = (message: FromPrimary): boolean => worker.send(message, () => undefined);

  let silentBeats: number | null = null;
  let isServing = false;
  void ended.then(() => {
    isServing = false;
  });
  worker.on('message', (message: FromWorker) => {
    silentBeats = 0;
    switch (message.type) {
      case 'beat':
        break;
      case 'prepared':
        messages.emit('prepared');
        break;
      case 'listening':
        isServing = true;
        messages.emit('listening', message);
        break;
      case 'metrics':
        requests.answer(message.request, message.text);
        break;
      case 'getAllMetrics': {
        const { request } = message;
        void gatherMetrics().then((text) => send({ type: 'allMetrics', request, text }));
      }
    }
  });

  return {
    pid: worker.process.pid,
    startedAt: performance.now(),
    prepared: unlessEnded(prepared),
    listening: unlessEnded(listening),
    get isServing() {
      return isServing;
    },
    countBeat() {
      if (silentBeats !== null) silentBeats++;
      return silentBeats ?? 0;
    },
    ended,
    letListen: () => send({ type: 'listen' }),
    askMetrics: () =>
      unlessEnded(requests.ask(METRICS_WAIT_MS, (request) => send({ type: 'getMetrics', request }))),
    askToStop: () => send({ type: 'stop' }),
    kill: () => worker.process.kill('SIGKILL'),
  };
}

function howItEnded(worker: Worker): Promise<string> {
  return once(worker, 'exit').then(
    ([code, signal]) => (signal === null ? `exit code ${code}` : String(signal)),
    (error: unknown) => String(error),
  );
}

interface Closable {
  close(): void;
}

/**
 * Closes the connection that the primary was passing to a worker when the worker died. Node forgets it (seen in 20
 * and 24), and its client would wait forever; closing one that did arrive has no effect.
 */
function closeHandedConnection({ process }: Worker): void {
  const send = process.send.bind(process) as (...args: unknown[]) => boolean;
  let handed: Closable | null = null;
  process.send = (...args: unknown[]): boolean => {
    const [message, handle] = args;
    if (handsOver(message) && isClosable(handle)) handed = handle;
    return send(...args);
  };
  process.once('exit', () => handed?.close());
}

function isClosable(handle: unknown): handle is Closable {
  return (
    typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function'
  );
}

function handsOver(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn';
}
